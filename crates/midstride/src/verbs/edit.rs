//! Change a document in the user's editor.

use crate::files::{self, FileError, Problem};
use crate::process;
use crate::project::{Project, Shelved};
use std::path::PathBuf;

/// What came of it.
#[derive(Debug)]
pub enum Edited {
    /// The text was saved as it was.
    Unchanged,
    /// The document has the new text.
    Changed,
}

/// Why a document was not changed.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// No editor is set.
    #[error("no editor is set")]
    NoEditor,
    /// The editor could not be started, or gave up.
    #[error("the editor `{editor}` failed: {message}")]
    Editor {
        /// The command.
        editor: String,
        /// What happened.
        message: String,
    },
    /// Somebody else changed the document meanwhile; the new text is kept.
    #[error("`{}` was changed by somebody else meanwhile; your text is in `{}`", path.display(), kept.display())]
    Changed {
        /// The document.
        path: PathBuf,
        /// The text that was not written.
        kept: PathBuf,
    },
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Opens a copy in the editor and puts it in the place of the document when the editor is done.
pub fn edit(project: &Project, shelved: &Shelved) -> Result<Edited, EditError> {
    let editor = project.environment().editor.clone().ok_or(EditError::NoEditor)?;
    let folder = files::scratch_folder("midstride-edit")?;
    let copy = folder.join(shelved.path.file_name().unwrap_or_default());
    files::write_scratch(&copy, &shelved.bytes)?;
    let failed = |message: String| EditError::Editor { editor: editor.clone(), message };
    let status = process::edit(&editor, &copy).map_err(|error| failed(error.to_string()))?;
    if !status.success() {
        return Err(failed(format!("{status}; your text is in `{}`", copy.display())));
    }
    let bytes = files::read_named(&copy)?;
    if bytes == shelved.bytes {
        files::remove_scratch(&folder)?;
        return Ok(Edited::Unchanged);
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| failed(format!("the text in `{}` is not UTF-8", copy.display())))?;
    match project.replace(shelved, &text) {
        Ok(()) => {
            files::remove_scratch(&folder)?;
            Ok(Edited::Changed)
        }
        Err(FileError { problem: Problem::Changed, path }) => {
            Err(EditError::Changed { path, kept: copy })
        }
        Err(other) => Err(other.into()),
    }
}
