//! Moves a handoff from the private folder to the committed one.

use crate::journal::{JournalError, RevisionInfo};
use crate::store::Store;
use crate::sys::files::FileError;
use crate::workspace::{SetupMode, StoredHandoff};
use midstride_core::format::header::RevisionVerb;
use std::path::PathBuf;

/// Why a handoff was not moved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShareError {
    /// It is not in the private folder.
    #[error("`{}` is not in the private folder", .0.display())]
    NotPrivate(PathBuf),
    /// The project has no committed folder.
    #[error("this project has no committed folder")]
    CommitsNothing,
    /// It could not be recorded.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A file could not be written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Moves the handoff and returns its new path. If killed halfway, the handoff is in both folders,
/// and nothing is lost.
pub fn share(
    store: &Store,
    stored: &StoredHandoff,
    by: Option<String>,
) -> Result<PathBuf, ShareError> {
    let workspace = store.workspace();
    if workspace.setup() != SetupMode::Committed {
        return Err(ShareError::CommitsNothing);
    }
    let private = workspace.private_folder_of(stored);
    let private = private.ok_or_else(|| ShareError::NotPrivate(stored.path.clone()))?;
    let committed = workspace.committed_folder();
    let path = committed.path_of(&stored.handoff(workspace).key());
    // Check that the path is free before anything is written.
    if committed.exists(&path) {
        let problem = crate::sys::files::FileProblem::Exists;
        return Err(FileError { path: committed.root_path().join(path), problem }.into());
    }
    let change = RevisionInfo::by_verb(RevisionVerb::Share, "shared", by);
    store.record(stored, &stored.document, &change, &|_| ())?;
    let now = workspace.reread(stored)?;
    committed.root()?.create(&path, &now.bytes)?;
    private.root()?.remove(now.relative_path(), &now.bytes)?;
    Ok(path)
}
