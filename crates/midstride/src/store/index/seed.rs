//! The first index of a worktree: a copy of the index of another worktree of the repository.
//!
//! Most documents are the same in both, so they only have to be compared, not parsed and split into
//! words again. A row of a copy is not used before its file was compared in this worktree.

use super::root::decode_root;
use super::{IndexError, index_name, schema};
use crate::store::ledger::{LedgerFolder, WaitPolicy};
use crate::sys::files::{self, Lock, Root};
use crate::workspace::{DocumentPlace, Workspace};
use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Copying a larger index (about 2,500 documents) takes too long while a client waits.
const BYTES_IN_HOOK_MAX: u64 = 8 << 20;

/// Copies the index of another worktree, if this one has none and there is one. In a hook, fails
/// with `TimedOut` if the copy would take too long; the background process started after the hook
/// makes it.
pub(super) fn copy_from_worktree(
    workspace: &Workspace,
    folder: &Root,
    name: &str,
    patience: WaitPolicy,
) -> Result<(), IndexError> {
    if files::exists(&folder.path().join(name)) {
        return Ok(());
    }
    let Some((bytes, from)) = largest_other_index(workspace, folder.path(), name) else {
        return Ok(());
    };
    if patience == WaitPolicy::Hook && bytes > BYTES_IN_HOOK_MAX {
        return Err(IndexError::TimedOut);
    }
    let _turn = match patience {
        WaitPolicy::Command => Lock::acquire(folder, name)?,
        WaitPolicy::Hook => Lock::try_acquire(folder, name)?.ok_or(IndexError::TimedOut)?,
    };
    if files::exists(&folder.path().join(name)) {
        return Ok(());
    }
    // Named like an index, so that cleanup removes it if this process is killed.
    let draft = format!("{}seed.db", name.trim_end_matches("db"));
    schema::remove(folder, &draft);
    let root = workspace.root().path().as_os_str().as_bytes();
    match copy_to(&from, &folder.path().join(&draft), root) {
        Ok(true) => Ok(folder.rename(Path::new(&draft), Path::new(name))?),
        // Without a copy, the refresh reads every document.
        Ok(false) | Err(_) => {
            schema::remove(folder, &draft);
            Ok(())
        }
    }
}

/// The largest index of this project in other worktrees: its size and path.
fn largest_other_index(workspace: &Workspace, folder: &Path, name: &str) -> Option<(u64, PathBuf)> {
    let repository = workspace.repository()?;
    let below = workspace.root().path().strip_prefix(repository.work_tree()).ok()?;
    let names = repository.work_trees().into_iter().map(|top| index_name(&top.join(below)));
    let paths = names.filter(|other| other != name).map(|other| folder.join(other));
    let known = paths.filter(|path| schema::count_documents(path).is_some());
    known.filter_map(|path| Some((files::size(&path)?, path))).max()
}

/// The handoffs that are open in another worktree, as places in this one. If there is no time to
/// copy its index, these are worth reading first.
pub(super) fn open_in_other_worktrees(workspace: &Workspace) -> HashSet<DocumentPlace> {
    let name = index_name(workspace.root().path());
    let other = largest_other_index(workspace, LedgerFolder::for_project(workspace).path(), &name);
    let open = other.and_then(|(_, path)| read_open_handoffs(workspace, &path).ok());
    open.unwrap_or_default()
}

fn read_open_handoffs(
    workspace: &Workspace,
    path: &Path,
) -> rusqlite::Result<HashSet<DocumentPlace>> {
    let index = schema::connect_to_read(path)?;
    let sql = "SELECT root, inside FROM documents WHERE waits IS NOT NULL";
    let mut statement = index.prepare(sql)?;
    let spots = statement.query_map([], |row| {
        let root = decode_root(workspace, row.get_ref(0)?.as_blob()?);
        let inside = Path::new(OsStr::from_bytes(row.get_ref(1)?.as_blob()?));
        Ok(workspace.place_below(root, inside))
    })?;
    spots.filter_map(Result::transpose).collect()
}

/// Copies a consistent snapshot of a database, even while others write to it. It skips syncing: a
/// copy damaged by a system crash is deleted like any damaged index.
fn copy_to(from: &Path, to: &Path, root: &[u8]) -> rusqlite::Result<bool> {
    let source = schema::connect_to_read(from)?;
    let mut copy = Connection::open(to)?;
    copy.pragma_update(None, "synchronous", "OFF")?;
    let all_pages = -1;
    let step = Backup::new(&source, &mut copy)?.step(all_pages)?;
    if step != StepResult::Done {
        return Ok(false);
    }
    // Without saved settings, the index counts as incomplete.
    copy.execute_batch(
        "DELETE FROM folders; DELETE FROM judged; DELETE FROM facts WHERE name = 'settings'",
    )?;
    copy.execute("INSERT OR REPLACE INTO facts VALUES ('root', ?1)", [root])?;
    Ok(true)
}
