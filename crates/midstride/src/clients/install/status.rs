//! The install status of a client: what is present, missing, or changed.

use super::plan::{check_entries_fit, is_foreign, is_read_by_client, parse_file};
use super::record::{InstallRecord, InstallRecordFile};
use super::target_files;
use crate::clients::client::Client;
use crate::clients::config::{
    ConfigEntry, HookTrust, InstallError, InstallOptions, InstallScope, SERVER, TargetContent,
    TargetFile, skill,
};
use crate::sys::env::Environment;
use crate::sys::ids::sha256;
use serde_json::Value;
use std::path::PathBuf;

/// What one client has installed for one scope.
#[derive(Debug)]
pub struct InstallStatus {
    /// The client.
    pub client: &'static dyn Client,
    /// Who it is for.
    pub scope: InstallScope,
    /// All files with something to install.
    pub files: Vec<FileInstallStatus>,
    /// Whether there is an install record.
    pub has_record: bool,
    /// The options chosen at installation.
    pub options: InstallOptions,
    /// All hooks, in the order of a session.
    pub hooks: Vec<HookStatus>,
    /// Whether the client has midstride's MCP server.
    pub has_server: bool,
    /// Number of installed skills, and number of all skills.
    pub skills: (usize, usize),
    /// Whether the plugin, which contains everything, is enabled.
    pub has_plugin: bool,
}

/// One of midstride's hooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookStatus {
    /// The event name that the client uses.
    pub event: String,
    /// Whether it is installed.
    pub is_installed: bool,
    /// Its trust, if the client asks the user for it.
    pub trust: Option<HookTrust>,
    /// The client's timeout in its own unit, if it differs from midstride's.
    pub other_timeout: Option<u64>,
}

/// What one file has installed.
#[derive(Debug)]
pub struct FileInstallStatus {
    /// The file.
    pub path: PathBuf,
    /// Names of installed items.
    pub present: Vec<String>,
    /// Names of missing items.
    pub missing: Vec<String>,
    /// Items with midstride's name and other content: the user's own, or changed by the user.
    pub others: Vec<String>,
    /// Whether the file was edited since the installation.
    pub is_changed: bool,
    /// Whether the client skips the file because of comments or trailing commas.
    pub is_ignored: bool,
    /// Why the file could not be checked.
    pub problem: Option<InstallError>,
}

impl InstallStatus {
    /// Whether anything is installed. Without a record, a skill or permission alone may be the
    /// user's own; an entry that calls midstride is not.
    pub fn is_installed(&self) -> bool {
        let has_something = || self.files.iter().any(|file| !file.present.is_empty());
        self.has_hooks() || self.has_server || (self.has_record && has_something())
    }

    /// Whether midstride's MCP server is missing and could be added.
    pub fn lacks_server(&self) -> bool {
        self.files.iter().flat_map(|file| &file.missing).any(|name| is_server(name))
    }

    /// Number of missing skills, not counting those whose name is taken.
    pub fn missing_skills(&self) -> usize {
        let is_lacking = |file: &&FileInstallStatus| file.is_skill() && !file.missing.is_empty();
        self.files.iter().filter(is_lacking).count()
    }

    /// Number of trusted hooks and of all hooks; `None` if the client does not ask the user.
    pub fn trusted_hooks(&self) -> Option<(usize, usize)> {
        let trusts: Vec<HookTrust> = self.hooks.iter().filter_map(|hook| hook.trust).collect();
        let trusted = trusts.iter().filter(|trust| **trust == HookTrust::Trusted).count();
        (!trusts.is_empty()).then_some((trusted, trusts.len()))
    }

    /// Whether any hooks are installed.
    pub fn has_hooks(&self) -> bool {
        self.hooks.iter().any(|hook| hook.is_installed)
    }

    /// Whether the client runs the hooks twice if both scopes have them. In the user's home folder
    /// both scopes are the same file.
    pub fn duplicates_hooks_of(&self, other: &Self) -> bool {
        let file = |one: &Self| one.files.first().map(|file| file.path.clone());
        self.client.profile().runs_hooks_of_both_scopes && file(self) != file(other)
    }

    /// Whether everything is installed.
    pub fn is_complete(&self) -> bool {
        self.files.iter().all(FileInstallStatus::is_complete)
    }
}

impl FileInstallStatus {
    /// Whether nothing is missing. A skill of the user with the name of midstride's counts: it works, and
    /// is what the user wants under that name.
    fn is_complete(&self) -> bool {
        self.missing.is_empty()
            && (self.others.is_empty() || self.is_skill())
            && self.problem.is_none()
    }

    /// Whether the file is a skill.
    pub fn is_skill(&self) -> bool {
        self.path.ends_with(skill::FILE)
    }
}

fn is_server(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, last)| last == SERVER)
}

/// Reads the install status of a client.
pub(crate) fn read_install_status(
    environment: &Environment,
    client: &'static dyn Client,
    scope: &InstallScope,
) -> Result<InstallStatus, InstallError> {
    let record = InstallRecordFile::for_client(environment, client, scope)?.read()?;
    let options = record.as_ref().map(InstallRecord::options).unwrap_or_default();
    let wanted = target_files(environment, client, scope, options)?;
    let trust = wanted.first().and_then(|file| client.hook_trust(environment, &file.file));
    let files: Vec<FileInstallStatus> =
        wanted.iter().map(|wanted| check_file(client, wanted, record.as_ref())).collect();
    let ours = |(wanted, file): (&TargetFile, &FileInstallStatus)| match &wanted.content {
        TargetContent::Entries(_) => None,
        TargetContent::WholeFile(_) => Some(!file.present.is_empty()),
    };
    let skills: Vec<bool> = wanted.iter().zip(&files).filter_map(ours).collect();
    Ok(InstallStatus {
        client,
        scope: scope.clone(),
        has_record: record.is_some(),
        options,
        hooks: hooks(&wanted, &files, &trust.unwrap_or_default()),
        has_server: files.iter().any(|file| file.present.iter().any(|name| is_server(name))),
        skills: (skills.iter().filter(|is_there| **is_there).count(), skills.len()),
        has_plugin: wanted.first().is_some_and(|settings| enables_plugin(client, settings)),
        files,
    })
}

/// The status of the hooks, which are in the first file for all clients.
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
    let hook = |entry: &ConfigEntry| match &entry.keys[..] {
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

/// The timeout of a hook, if the user changed it.
fn other_timeout(entry: &ConfigEntry, top: &Value) -> Option<u64> {
    let ours = entry.value().pointer("/hooks/0")?;
    let there = entry.find(top)?["hooks"].as_array()?;
    let hook = there.iter().find(|hook| hook["command"] == ours["command"])?;
    hook["timeout"].as_u64().filter(|timeout| ours["timeout"].as_u64() != Some(*timeout))
}

fn enables_plugin(client: &'static dyn Client, settings: &TargetFile) -> bool {
    let text = settings.file.read().ok().flatten();
    parse_file(settings.file.path(), text.as_deref()).is_ok_and(|top| client.has_plugin(&top))
}

fn check_file(
    client: &'static dyn Client,
    wanted: &TargetFile,
    record: Option<&InstallRecord>,
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
    if let Err(problem) = check_contents(&mut file, client, wanted, record) {
        file.problem = Some(problem);
    }
    file
}

fn check_contents(
    file: &mut FileInstallStatus,
    client: &'static dyn Client,
    wanted: &TargetFile,
    record: Option<&InstallRecord>,
) -> Result<(), InstallError> {
    let text = wanted.file.read()?;
    let ours = record.and_then(|record| record.insertion_in(&file.path));
    let hash = text.as_ref().map(|text| sha256(text.as_bytes()));
    file.is_changed = ours.is_some_and(|ours| hash.as_ref() != Some(&ours.after));
    match &wanted.content {
        TargetContent::Entries(entries) => {
            let top = parse_file(&file.path, text.as_deref())?;
            let is_skipped = |text: &str| !is_read_by_client(client, &file.path, text);
            file.is_ignored = text.as_deref().is_some_and(is_skipped);
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
            // An unchanged skill may be from an older version.
            let is_unchanged = ours.is_some() && !file.is_changed;
            let list = match text {
                Some(text) if text == *skill || is_unchanged => &mut file.present,
                Some(_) => &mut file.others,
                None => &mut file.missing,
            };
            list.push(name);
        }
    }
    Ok(())
}
