//! Lists what midstride stores, for each repository and for this user.

use crate::clients::hook_log::user_folder;
use crate::store::Store;
use crate::store::ledger::WaitPolicy;
use crate::sys::env::Environment;
use crate::sys::files::{FolderEntry, Root};
use crate::verbs::handoff::forget::ForgetError;
use crate::verbs::project::doctor::idle_cost::stored_bytes;
use crate::verbs::project::forget_sessions::{SessionSelection, captured_sessions};
use crate::workspace::user_settings::{self, Retention};
use crate::workspace::{StoreOwner, Workspace, recorded_projects};
use jiff::Timestamp;
use std::path::{Path, PathBuf};

/// How deep the user's own folder is searched.
const DEPTH_MAX: usize = 4;

/// Some stored files of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredData {
    /// What it is.
    pub kind: &'static str,
    /// How many there are.
    pub count: usize,
    /// Their size.
    pub bytes: u64,
    /// The time of the oldest.
    pub oldest: Option<Timestamp>,
    /// Where they are.
    pub path: PathBuf,
}

/// What is stored for a repository.
#[derive(Debug)]
pub struct ProjectData {
    /// Its folder.
    pub folder: PathBuf,
    /// What is stored, or why that is unknown.
    pub stored: Result<Vec<StoredData>, String>,
}

/// Everything that is stored on this machine.
#[derive(Debug)]
pub struct DataReport {
    /// The repositories on record that still exist.
    pub projects: Vec<ProjectData>,
    /// Data of the user, outside of repositories.
    pub user: Vec<StoredData>,
    /// How long captured sessions are kept.
    pub retention: Retention,
}

/// Lists what is stored.
pub fn data(environment: &Environment) -> DataReport {
    let projects = recorded_projects(environment).into_iter().map(|folder| {
        let stored = project_data(environment, &folder);
        ProjectData { folder, stored }
    });
    let retention = Workspace::discover_ignoring_settings(environment.clone());
    DataReport {
        projects: projects.collect(),
        user: user_data(environment),
        retention: retention.map(|workspace| workspace.retention()).unwrap_or_default(),
    }
}

/// Opens every repository on record in which the user's store is. The others have the reason.
pub fn recorded_stores(environment: &Environment) -> Vec<(PathBuf, Result<Store, String>)> {
    let open = |folder: PathBuf| {
        let store = open_store(environment, &folder);
        (folder, store)
    };
    recorded_projects(environment).into_iter().map(open).collect()
}

fn open_store(environment: &Environment, folder: &Path) -> Result<Store, String> {
    let there = Environment { folder: folder.to_owned(), session: None, ..environment.clone() };
    let workspace = Workspace::discover_ignoring_settings(there);
    let workspace = workspace.map_err(|error| error.to_string())?;
    match workspace.store_owner() {
        StoreOwner::User | StoreOwner::Missing => Ok(Store::new(workspace, WaitPolicy::Command)),
        StoreOwner::Unknown | StoreOwner::Unrecorded => {
            Err("its private store is not trusted; run `midstride trust` there".to_owned())
        }
    }
}

fn project_data(environment: &Environment, folder: &Path) -> Result<Vec<StoredData>, String> {
    let store = open_store(environment, folder)?;
    let workspace = store.workspace();
    let path = workspace.private_path();
    let Some(private) = workspace.private().map_err(|error| error.to_string())? else {
        return Ok(Vec::new());
    };
    let sizes = stored_bytes(workspace);
    let sessions = captured_sessions(&store, SessionSelection::All);
    let sessions = sessions.map_err(|error: ForgetError| error.to_string())?;
    let handoffs = entries(&private, Path::new("handoffs"));
    let handoff_bytes = handoffs.iter().map(|entry| entry.bytes).sum();
    let data = |kind, count, bytes, oldest, path| StoredData { kind, count, bytes, oldest, path };
    let oldest = sessions.iter().map(|one| one.ended).min();
    let mut stored = vec![
        data("sessions", sessions.len(), sizes.ledger + sizes.cursors, oldest, path.clone()),
        data(
            "private handoffs",
            handoffs.len(),
            handoff_bytes,
            handoffs.iter().filter_map(|entry| entry.changed).min(),
            path.join("handoffs"),
        ),
        data("index", usize::from(sizes.index > 0), sizes.index, None, path.clone()),
        data("hook log", usize::from(sizes.log > 0), sizes.log, None, path.clone()),
        data("other", 1, sizes.other.saturating_sub(handoff_bytes), None, path),
    ];
    stored.retain(|one| one.bytes > 0);
    Ok(stored)
}

/// The files in a folder.
fn entries(root: &Root, folder: &Path) -> Vec<FolderEntry> {
    let entries = root.entries(folder).unwrap_or_default();
    entries.into_iter().filter(|entry| !entry.is_folder).collect()
}

/// The files in a folder and its folders.
fn entries_below(root: &Root, folder: &Path, depth: usize) -> Vec<FolderEntry> {
    let mut found = Vec::new();
    for entry in root.entries(folder).unwrap_or_default() {
        match entry.is_folder {
            true if depth > 0 => {
                found.extend(entries_below(root, &folder.join(&entry.name), depth - 1));
            }
            true => {}
            false => found.push(entry),
        }
    }
    found
}

/// Settings, and the records of trust, permissions and installations.
fn user_data(environment: &Environment) -> Vec<StoredData> {
    let state =
        user_folder(environment).map(|folder| ("trust, permissions, installations", folder));
    let settings = user_settings::user_file(environment);
    let settings = settings.and_then(|file| Some(("settings", file.parent()?.to_owned())));
    let mut stored = Vec::new();
    for (kind, path) in [state, settings].into_iter().flatten() {
        let Ok(root) = Root::open(&path) else { continue };
        let files = entries_below(&root, Path::new(""), DEPTH_MAX);
        if !files.is_empty() {
            let (count, bytes) = (files.len(), files.iter().map(|file| file.bytes).sum());
            let oldest = files.iter().filter_map(|file| file.changed).min();
            stored.push(StoredData { kind, count, bytes, oldest, path });
        }
    }
    stored
}
