//! How a client stands: what of ours is there, what is missing, what was changed since.

use super::hook_trust::HookTrust;
use super::plan::{check_entries_fit, has_plugin, is_foreign, is_read_by_client, parse_file};
use super::record::{InstallRecord, InstallRecordFile};
use super::{
    InstallError, InstallOptions, InstallScope, SERVER, TargetContent, TargetFile, codex, skill,
    target_files,
};
use crate::sys::ids::sha256;
use crate::workspace::settings::Environment;
use midstride_core::session::Client;
use serde_json::Value;
use std::path::PathBuf;

/// What one client has of ours for one scope.
#[derive(Debug)]
pub struct InstallStatus {
    /// The client.
    pub client: Client,
    /// For whom.
    pub scope: InstallScope,
    /// Every file in which something of ours belongs.
    pub files: Vec<FileInstallStatus>,
    /// Whether a receipt tells that it was installed from here.
    pub has_record: bool,
    /// What the user chose when it was installed.
    pub options: InstallOptions,
    /// Every hook that belongs there, in the order of a session.
    pub hooks: Vec<HookStatus>,
    /// Whether the client knows our MCP server.
    pub has_server: bool,
    /// How many of our skills are there, of how many.
    pub skills: (usize, usize),
    /// Whether the plugin of Claude Code, which has all of it, is enabled there.
    pub has_plugin: bool,
}

/// One hook of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookStatus {
    /// The moment as the client names it.
    pub event: String,
    /// Whether it is there.
    pub is_installed: bool,
    /// How the client stands to it, where it asks its user at all.
    pub trust: Option<HookTrust>,
    /// The seconds after which the client gives up, where that is not what midstride wrote.
    pub other_timeout: Option<u64>,
}

/// What one file has of ours.
#[derive(Debug)]
pub struct FileInstallStatus {
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
    pub is_ignored: bool,
    /// Why it could not be looked at.
    pub problem: Option<InstallError>,
}

impl InstallStatus {
    /// Whether something of ours is there. Without a receipt a skill or a permission alone may be
    /// anybody's; what calls midstride is not.
    pub fn is_installed(&self) -> bool {
        let has_something = || self.files.iter().any(|file| !file.present.is_empty());
        self.has_hooks() || self.has_server || (self.has_record && has_something())
    }

    /// Whether there is room for our MCP server, and nothing in it.
    pub fn lacks_server(&self) -> bool {
        self.files.iter().flat_map(|file| &file.missing).any(|name| is_server(name))
    }

    /// How many of our skills are not there, nor anything of their names.
    pub fn missing_skills(&self) -> usize {
        let is_lacking = |file: &&FileInstallStatus| file.is_skill() && !file.missing.is_empty();
        self.files.iter().filter(is_lacking).count()
    }

    /// How many of our hooks the client trusts, of how many; none where it does not ask its user.
    pub fn trusted_hooks(&self) -> Option<(usize, usize)> {
        let trusts: Vec<HookTrust> = self.hooks.iter().filter_map(|hook| hook.trust).collect();
        let trusted = trusts.iter().filter(|trust| **trust == HookTrust::Trusted).count();
        (!trusts.is_empty()).then_some((trusted, trusts.len()))
    }

    /// Whether hooks of ours are there.
    pub fn has_hooks(&self) -> bool {
        self.hooks.iter().any(|hook| hook.is_installed)
    }

    /// Whether the client runs the hooks of both, where both have them. Claude Code runs a command once
    /// that stands in two files; Codex runs each. In the home of the user both are one file.
    pub fn duplicates_hooks_of(&self, other: &Self) -> bool {
        let file = |one: &Self| one.files.first().map(|file| file.path.clone());
        self.client == Client::Codex && file(self) != file(other)
    }

    /// Whether everything of ours is there.
    pub fn is_complete(&self) -> bool {
        self.files.iter().all(FileInstallStatus::is_complete)
    }
}

impl FileInstallStatus {
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
pub fn read_install_status(
    environment: &Environment,
    client: Client,
    scope: &InstallScope,
) -> Result<InstallStatus, InstallError> {
    let receipt = InstallRecordFile::for_client(environment, client, scope)?.read()?;
    let wishes = receipt.as_ref().map(InstallRecord::options).unwrap_or_default();
    let wanted = target_files(environment, client, scope, wishes)?;
    let trust = match client {
        Client::ClaudeCode => None,
        Client::Codex => {
            wanted.first().and_then(|file| codex::read_hook_trust(environment, &file.file))
        }
    };
    let files: Vec<FileInstallStatus> =
        wanted.iter().map(|wanted| check_file(client, wanted, receipt.as_ref())).collect();
    let ours = |(wanted, file): (&TargetFile, &FileInstallStatus)| match &wanted.content {
        TargetContent::Entries(_) => None,
        TargetContent::WholeFile(_) => Some(!file.present.is_empty()),
    };
    let skills: Vec<bool> = wanted.iter().zip(&files).filter_map(ours).collect();
    Ok(InstallStatus {
        client,
        scope: scope.clone(),
        has_record: receipt.is_some(),
        options: wishes,
        hooks: hooks(&wanted, &files, &trust.unwrap_or_default()),
        has_server: files.iter().any(|file| file.present.iter().any(|name| is_server(name))),
        skills: (skills.iter().filter(|is_there| **is_there).count(), skills.len()),
        has_plugin: client == Client::ClaudeCode && wanted.first().is_some_and(enables_plugin),
        files,
    })
}

/// The hooks that belong into the first file, where all clients have them.
fn hooks(
    wanted: &[TargetFile],
    files: &[FileInstallStatus],
    trust: &[(&str, HookTrust)],
) -> Vec<HookStatus> {
    let (Some(first @ TargetFile { content: TargetContent::Entries(entries), .. }), Some(file)) =
        (wanted.first(), files.first())
    else {
        return Vec::new();
    };
    let text = first.file.read().ok().flatten();
    let settings = parse_file(first.file.path(), text.as_deref()).unwrap_or_default();
    let hook = |entry: &super::ConfigEntry| match &entry.keys[..] {
        [top, event] if top == "hooks" => Some(HookStatus {
            event: event.clone(),
            is_installed: file.present.contains(&entry.name()),
            trust: trust.iter().find(|(of, _)| of == event).map(|(_, trust)| *trust),
            other_timeout: other_timeout(entry, &settings),
        }),
        _ => None,
    };
    entries.iter().filter_map(hook).collect()
}

/// The timeout of a hook of ours, where somebody changed it.
fn other_timeout(entry: &super::ConfigEntry, top: &Value) -> Option<u64> {
    let ours = entry.value().pointer("/hooks/0")?;
    let there = entry.find(top)?["hooks"].as_array()?;
    let hook = there.iter().find(|hook| hook["command"] == ours["command"])?;
    hook["timeout"].as_u64().filter(|seconds| ours["timeout"].as_u64() != Some(*seconds))
}

fn enables_plugin(settings: &TargetFile) -> bool {
    let text = settings.file.read().ok().flatten();
    parse_file(settings.file.path(), text.as_deref()).is_ok_and(|top| has_plugin(&top))
}

fn check_file(
    client: Client,
    wanted: &super::TargetFile,
    receipt: Option<&InstallRecord>,
) -> FileInstallStatus {
    let path = wanted.file.path().to_owned();
    let mut file = FileInstallStatus {
        path,
        present: Vec::new(),
        missing: Vec::new(),
        others: Vec::new(),
        is_changed: false,
        is_ignored: false,
        problem: None,
    };
    if let Err(problem) = check_contents(&mut file, client, wanted, receipt) {
        file.problem = Some(problem);
    }
    file
}

fn check_contents(
    file: &mut FileInstallStatus,
    client: Client,
    wanted: &super::TargetFile,
    receipt: Option<&InstallRecord>,
) -> Result<(), InstallError> {
    let text = wanted.file.read()?;
    let ours = receipt.and_then(|receipt| receipt.insertion_in(&file.path));
    let hash = text.as_ref().map(|text| sha256(text.as_bytes()));
    file.is_changed = ours.is_some_and(|ours| hash.as_ref() != Some(&ours.after));
    match &wanted.content {
        TargetContent::Entries(entries) => {
            let top = parse_file(&file.path, text.as_deref())?;
            let is_left_out = |text: &str| !is_read_by_client(client, &file.path, text);
            file.is_ignored = text.as_deref().is_some_and(is_left_out);
            for entry in entries {
                let list = match entry.find(&top) {
                    Some(there) if is_foreign(entry, there) => &mut file.others,
                    Some(_) => &mut file.present,
                    None => &mut file.missing,
                };
                list.push(entry.name());
            }
            if !file.missing.is_empty() {
                check_entries_fit(&file.path, text.as_deref(), entries)?;
            }
        }
        TargetContent::WholeFile(skill) => {
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
