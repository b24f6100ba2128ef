//! Move a handoff from the private shelf to the committed one.

use crate::journal::{JournalError, RevisionInfo};
use crate::sys::files::FileError;
use crate::workspace::project::{Project, SetupMode, StoredHandoff};
use midstride_core::format::header::RevisionVerb;
use std::path::PathBuf;

/// Why a handoff stays where it is.
#[derive(Debug, thiserror::Error)]
pub enum ShareError {
    /// It is no private one.
    #[error("`{}` is not on the private shelf", .0.display())]
    NotPrivate(PathBuf),
    /// There is no committed shelf.
    #[error("this project commits nothing")]
    CommitsNothing,
    /// It could not be recorded.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A file could not be written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Moves it, and gives back where it lies now. Killed half-way it lies on both shelves, and nothing
/// is lost.
pub fn share(
    project: &Project,
    shelved: &StoredHandoff,
    by: Option<String>,
) -> Result<PathBuf, ShareError> {
    if project.setup() != SetupMode::Committed {
        return Err(ShareError::CommitsNothing);
    }
    let private = project.private_folder_of(shelved);
    let private = private.ok_or_else(|| ShareError::NotPrivate(shelved.path.clone()))?;
    let committed = &project.folders()[0];
    let path = committed.path_of(&shelved.handoff(project).key());
    // A place that is taken is found before anything is written.
    if committed.root().exists(&path) {
        let problem = crate::sys::files::FileProblem::Exists;
        return Err(FileError { path: committed.root().path().join(path), problem }.into());
    }
    let change = RevisionInfo::by_verb(RevisionVerb::Share, "shared", by);
    project.record(shelved, &shelved.document, &change, &|_| ())?;
    let now = project.reread(shelved)?;
    committed.root().create(&path, &now.bytes)?;
    private.root().remove(now.relative_path(), &now.bytes)?;
    Ok(path)
}
