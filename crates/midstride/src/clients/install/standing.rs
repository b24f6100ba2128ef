//! How a client stands: what of ours is there, what is missing, what was changed since.

use super::hook_trust::HookTrust;
use super::plan::{has_plugin, has_room, is_read, is_somebody_elses, value_of};
use super::receipt::{Receipt, Receipts};
use super::{Form, InstallError, SERVER, Scope, Wanted, Wishes, codex, skill, wanted};
use crate::sys::ids::sha256;
use crate::workspace::settings::Environment;
use midstride_core::session::Client;
use serde_json::Value;
use std::path::PathBuf;

/// What one client has of ours for one scope.
#[derive(Debug)]
pub struct Standing {
    /// The client.
    pub client: Client,
    /// For whom.
    pub scope: Scope,
    /// Every file in which something of ours belongs.
    pub files: Vec<FileStanding>,
    /// Whether a receipt tells that it was installed from here.
    pub has_receipt: bool,
    /// What the user chose when it was installed.
    pub wishes: Wishes,
    /// Every hook that belongs there, in the order of a session.
    pub hooks: Vec<HookStanding>,
    /// Whether the client knows our MCP server.
    pub has_server: bool,
    /// How many of our skills are there, of how many.
    pub skills: (usize, usize),
    /// Whether the plugin of Claude Code, which has all of it, is enabled there.
    pub has_plugin: bool,
}

/// One hook of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookStanding {
    /// The moment as the client names it.
    pub event: String,
    /// Whether it is there.
    pub is_there: bool,
    /// How the client stands to it, where it asks its user at all.
    pub trust: Option<HookTrust>,
    /// The seconds after which the client gives up, where that is not what midstride wrote.
    pub other_timeout: Option<u64>,
}

/// What one file has of ours.
#[derive(Debug)]
pub struct FileStanding {
    /// The file.
    pub path: PathBuf,
    /// What is there.
    pub present: Vec<String>,
    /// What is not.
    pub missing: Vec<String>,
    /// What is called like ours and is not: somebody else's, or ours that somebody changed.
    pub others: Vec<String>,
    /// Whether somebody wrote it since.
    pub is_changed: bool,
    /// Whether the client leaves it out, for comments or trailing commas that somebody wrote.
    pub is_left_out: bool,
    /// Why it could not be looked at.
    pub problem: Option<InstallError>,
}

impl Standing {
    /// Whether something of ours is there. Without a receipt a skill or a permission alone may be
    /// anybody's; what calls midstride is not.
    pub fn is_installed(&self) -> bool {
        let has_something = || self.files.iter().any(|file| !file.present.is_empty());
        self.has_hooks() || self.has_server || (self.has_receipt && has_something())
    }

    /// Whether there is room for our MCP server, and nothing in it.
    pub fn lacks_server(&self) -> bool {
        self.files.iter().flat_map(|file| &file.missing).any(|name| is_server(name))
    }

    /// How many of our skills are not there, nor anything of their names.
    pub fn lacking_skills(&self) -> usize {
        let is_lacking = |file: &&FileStanding| file.is_skill() && !file.missing.is_empty();
        self.files.iter().filter(is_lacking).count()
    }

    /// How many of our hooks the client trusts, of how many; none where it does not ask its user.
    pub fn trusted(&self) -> Option<(usize, usize)> {
        let trusts: Vec<HookTrust> = self.hooks.iter().filter_map(|hook| hook.trust).collect();
        let trusted = trusts.iter().filter(|trust| **trust == HookTrust::Trusted).count();
        (!trusts.is_empty()).then_some((trusted, trusts.len()))
    }

    /// Whether hooks of ours are there.
    pub fn has_hooks(&self) -> bool {
        self.hooks.iter().any(|hook| hook.is_there)
    }

    /// Whether the client runs the hooks of both, where both have them. Claude Code runs a command once
    /// that stands in two files; Codex runs each. In the home of the user both are one file.
    pub fn adds_to(&self, other: &Self) -> bool {
        let file = |one: &Self| one.files.first().map(|file| file.path.clone());
        self.client == Client::Codex && file(self) != file(other)
    }

    /// Whether everything of ours is there.
    pub fn is_complete(&self) -> bool {
        self.files.iter().all(FileStanding::is_complete)
    }
}

impl FileStanding {
    fn is_complete(&self) -> bool {
        self.missing.is_empty() && self.others.is_empty() && self.problem.is_none()
    }

    /// Whether all of the file is a skill.
    pub fn is_skill(&self) -> bool {
        self.path.ends_with(skill::FILE)
    }
}

fn is_server(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, last)| last == SERVER)
}

/// Looks at a client.
pub fn standing(
    environment: &Environment,
    client: Client,
    scope: &Scope,
) -> Result<Standing, InstallError> {
    let receipt = Receipts::of(environment, client, scope)?.read()?;
    let wishes = receipt.as_ref().map(Receipt::wishes).unwrap_or_default();
    let wanted = wanted(environment, client, scope, wishes)?;
    let trust = match client {
        Client::ClaudeCode => None,
        Client::Codex => {
            wanted.first().and_then(|file| codex::trust_of_each(environment, &file.place))
        }
    };
    let files: Vec<FileStanding> =
        wanted.iter().map(|wanted| look(client, wanted, receipt.as_ref())).collect();
    let ours = |(wanted, file): (&Wanted, &FileStanding)| match &wanted.form {
        Form::Entries(_) => None,
        Form::Whole(_) => Some(!file.present.is_empty()),
    };
    let skills: Vec<bool> = wanted.iter().zip(&files).filter_map(ours).collect();
    Ok(Standing {
        client,
        scope: scope.clone(),
        has_receipt: receipt.is_some(),
        wishes,
        hooks: hooks(&wanted, &files, &trust.unwrap_or_default()),
        has_server: files.iter().any(|file| file.present.iter().any(|name| is_server(name))),
        skills: (skills.iter().filter(|is_there| **is_there).count(), skills.len()),
        has_plugin: client == Client::ClaudeCode && wanted.first().is_some_and(enables_plugin),
        files,
    })
}

/// The hooks that belong into the first file, where all clients have them.
fn hooks(
    wanted: &[Wanted],
    files: &[FileStanding],
    trust: &[(&str, HookTrust)],
) -> Vec<HookStanding> {
    let (Some(first @ Wanted { form: Form::Entries(entries), .. }), Some(file)) =
        (wanted.first(), files.first())
    else {
        return Vec::new();
    };
    let text = first.place.read().ok().flatten();
    let settings = value_of(first.place.path(), text.as_deref()).unwrap_or_default();
    let hook = |entry: &super::Entry| match &entry.keys[..] {
        [top, event] if top == "hooks" => Some(HookStanding {
            event: event.clone(),
            is_there: file.present.contains(&entry.name()),
            trust: trust.iter().find(|(of, _)| of == event).map(|(_, trust)| *trust),
            other_timeout: other_timeout(entry, &settings),
        }),
        _ => None,
    };
    entries.iter().filter_map(hook).collect()
}

/// The timeout of a hook of ours, where somebody changed it.
fn other_timeout(entry: &super::Entry, top: &Value) -> Option<u64> {
    let ours = entry.value().pointer("/hooks/0")?;
    let there = entry.find(top)?["hooks"].as_array()?;
    let hook = there.iter().find(|hook| hook["command"] == ours["command"])?;
    hook["timeout"].as_u64().filter(|seconds| ours["timeout"].as_u64() != Some(*seconds))
}

fn enables_plugin(settings: &Wanted) -> bool {
    let text = settings.place.read().ok().flatten();
    value_of(settings.place.path(), text.as_deref()).is_ok_and(|top| has_plugin(&top))
}

fn look(client: Client, wanted: &super::Wanted, receipt: Option<&Receipt>) -> FileStanding {
    let path = wanted.place.path().to_owned();
    let mut file = FileStanding {
        path,
        present: Vec::new(),
        missing: Vec::new(),
        others: Vec::new(),
        is_changed: false,
        is_left_out: false,
        problem: None,
    };
    if let Err(problem) = fill(&mut file, client, wanted, receipt) {
        file.problem = Some(problem);
    }
    file
}

fn fill(
    file: &mut FileStanding,
    client: Client,
    wanted: &super::Wanted,
    receipt: Option<&Receipt>,
) -> Result<(), InstallError> {
    let text = wanted.place.read()?;
    let ours = receipt.and_then(|receipt| receipt.of(&file.path));
    let hash = text.as_ref().map(|text| sha256(text.as_bytes()));
    file.is_changed = ours.is_some_and(|ours| hash.as_ref() != Some(&ours.after));
    match &wanted.form {
        Form::Entries(entries) => {
            let top = value_of(&file.path, text.as_deref())?;
            let is_left_out = |text: &str| !is_read(client, &file.path, text);
            file.is_left_out = text.as_deref().is_some_and(is_left_out);
            for entry in entries {
                let list = match entry.find(&top) {
                    Some(there) if is_somebody_elses(entry, there) => &mut file.others,
                    Some(_) => &mut file.present,
                    None => &mut file.missing,
                };
                list.push(entry.name());
            }
            if !file.missing.is_empty() {
                has_room(&file.path, text.as_deref(), entries)?;
            }
        }
        Form::Whole(skill) => {
            let name = file.path.parent().and_then(|folder| folder.file_name());
            let name = name.unwrap_or_default().to_string_lossy().into_owned();
            // One of ours that nobody touched may be of an older version.
            let is_as_it_came = ours.is_some() && !file.is_changed;
            let list = match text {
                Some(text) if text == *skill || is_as_it_came => &mut file.present,
                Some(_) => &mut file.others,
                None => &mut file.missing,
            };
            list.push(name);
        }
    }
    Ok(())
}
