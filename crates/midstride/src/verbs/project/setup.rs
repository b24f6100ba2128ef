//! Sets up midstride for this user: installs it into the clients on this machine, and undoes that.

use crate::clients::hook_log::user_folder;
use crate::clients::install::{
    ClientProgram, InstallError, InstallOptions, InstallPlan, InstallScope, find_client_program,
};
use crate::clients::{self, Client};
use crate::sys::env::Environment;
use crate::sys::files::{self, FileError, Root};
use crate::sys::ids::sha256;
use crate::verbs::client::{add_to_client, client_status, find_clients, remove_from_client};
use crate::verbs::project::config::{ConfigError, ConfigFile, SettingKey};
use crate::workspace::consent::UserConsent;
use crate::workspace::permission::PermissionError;
use crate::workspace::{Access, Workspace};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The setting that limits midstride to some repositories.
const ONLY: &str = "capture.only";
/// The record of what setup changed in the user's settings.
const RECORD: &str = "setup.json";

/// A client on this machine, and what setup changes in its files.
#[derive(Debug)]
pub struct SetupClient {
    /// The client.
    pub client: &'static dyn Client,
    /// Its program, if it is on the PATH.
    pub program: Option<ClientProgram>,
    /// Whether anything of midstride is installed.
    pub is_installed: bool,
    /// The changes; none if midstride is installed.
    pub plan: InstallPlan,
}

/// Why setup failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// No client was found.
    #[error("no supported client was found on this machine")]
    NoClient,
    /// A client's files could not be read or changed.
    #[error(transparent)]
    Install(#[from] InstallError),
    /// The user's settings could not be changed.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The trust could not be recorded.
    #[error(transparent)]
    Permission(#[from] PermissionError),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// What setup changed in the user's settings, to undo it.
#[derive(Debug, Serialize, Deserialize)]
struct SetupRecord {
    version: u32,
    /// The settings before; `None` if there was no file.
    before: Option<String>,
    /// The hash of the settings after.
    after: String,
}

/// What happened to the user's settings when setup was undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingsUndo {
    /// Setup had not changed them.
    Unchanged,
    /// They are as before.
    Restored,
    /// They were edited since, so they stay.
    Kept(PathBuf),
}

/// Plans the installation into these clients, or into all that are found. Writes nothing yet.
pub fn plan_setup(
    environment: &Environment,
    wanted: &[&'static dyn Client],
    status_line: bool,
) -> Result<Vec<SetupClient>, SetupError> {
    let mut planned = Vec::new();
    for (client, _, has_folder) in find_clients(environment) {
        if !wanted.is_empty() && !wanted.contains(&client) {
            continue;
        }
        let program = find_client_program(client);
        if has_folder || program.is_some() || !wanted.is_empty() {
            let options = InstallOptions { status_line, ..InstallOptions::default() };
            let plan = add_to_client(environment, client, &InstallScope::User, options)?;
            let status = client_status(environment, client, &InstallScope::User)?;
            let is_installed = status.is_installed();
            planned.push(SetupClient { client, program, is_installed, plan });
        }
    }
    if planned.is_empty() { Err(SetupError::NoClient) } else { Ok(planned) }
}

/// Installs midstride into the clients.
pub fn apply_setup(environment: &Environment, planned: &[SetupClient]) -> Result<(), SetupError> {
    for one in planned {
        one.plan.apply(environment)?;
    }
    Ok(())
}

/// Limits midstride to this repository, and to others that were chosen like it. Only the user may.
pub fn limit_to_repository(workspace: &Workspace) -> Result<(), SetupError> {
    let environment = workspace.environment();
    let mut config = ConfigFile::read_user(environment)?;
    let before = files::read_small(config.path())?;
    let key = SettingKey::find(ONLY)?;
    let mut folders = config.get(key)?;
    let folder = files::canonical(workspace.root().path()).display().to_string();
    if folders.contains(&folder) {
        return Ok(());
    }
    folders.push(folder);
    config.set(key, &folders)?;
    let after = files::read_small(config.path())?.unwrap_or_default();
    let earlier = read_record(environment)?;
    let before = earlier.map_or(before, |earlier| earlier.before);
    save_record(environment, &SetupRecord { version: 1, before, after: sha256(after.as_bytes()) })
}

/// How many handoffs and notes are in a project.
pub fn count_documents(workspace: &Workspace) -> usize {
    workspace.document_places().into_iter().flatten().count()
}

/// Records that the user trusts the documents in a project, if there are some of others.
pub fn trust_documents(workspace: &Workspace, consent: &UserConsent) -> Result<(), SetupError> {
    let needs_trust = matches!(workspace.access(), Access::Own { .. });
    if needs_trust && workspace.environment().state.is_some() {
        workspace.record_trust(consent)?;
    }
    Ok(())
}

/// Plans the removal from these clients, or from all. Writes nothing yet.
pub fn plan_undo(
    environment: &Environment,
    wanted: &[&'static dyn Client],
) -> Result<Vec<InstallPlan>, SetupError> {
    let mut plans = Vec::new();
    for client in clients::ALL {
        if wanted.is_empty() || wanted.contains(&client) {
            plans.push(remove_from_client(environment, client, &InstallScope::User)?);
        }
    }
    Ok(plans)
}

/// Restores the user's settings as they were before setup, unless they were edited since.
pub fn undo_limit(environment: &Environment) -> Result<SettingsUndo, SetupError> {
    let Some(record) = read_record(environment)? else { return Ok(SettingsUndo::Unchanged) };
    let config = ConfigFile::read_user(environment)?;
    let path = config.path().to_owned();
    let present = files::read_small(&path)?.unwrap_or_default();
    let undone = match sha256(present.as_bytes()) == record.after {
        true => {
            restore(&path, &present, record.before.as_deref())?;
            SettingsUndo::Restored
        }
        false => SettingsUndo::Kept(path),
    };
    if let Some(state) = user_folder(environment) {
        let root = Root::open(&state)?;
        let text = root.read(Path::new(RECORD))?;
        root.remove(Path::new(RECORD), &text)?;
    }
    Ok(undone)
}

fn restore(path: &Path, present: &str, before: Option<&str>) -> Result<(), FileError> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
    let root = Root::open(folder)?;
    match before {
        Some(before) => root.put(Path::new(name), before.as_bytes()),
        None => {
            root.remove(Path::new(name), present.as_bytes())?;
            files::remove_empty_folder(folder);
            Ok(())
        }
    }
}

fn read_record(environment: &Environment) -> Result<Option<SetupRecord>, SetupError> {
    let Some(state) = user_folder(environment) else { return Ok(None) };
    let text = files::read_small(&state.join(RECORD))?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}

fn save_record(environment: &Environment, record: &SetupRecord) -> Result<(), SetupError> {
    let Some(state) = user_folder(environment) else { return Ok(()) };
    let text = serde_json::to_vec_pretty(record).expect("a record of texts is JSON");
    Root::make_owner_only(&state)?.put(Path::new(RECORD), &text)?;
    Ok(())
}
