//! Change a document in the user's editor.

use crate::files::{self, FileError, Scratch};
use crate::process;
use crate::project::{Project, Shelved};
use midstride_core::redact::{Clean, Redaction};
use std::path::{Path, PathBuf};

/// What came of it.
#[derive(Debug)]
pub enum Edited {
    /// The text was saved as it was.
    Unchanged,
    /// The document has the new text, without these secrets.
    Changed(Vec<Redaction>),
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
        /// The text as it was left.
        kept: PathBuf,
    },
    /// The new text is no text; it is kept.
    #[error("what the editor saved is not UTF-8")]
    NotUtf8 {
        /// The text that was not written.
        kept: PathBuf,
    },
    /// The new text was not written; it is kept.
    #[error("{why}")]
    NotSaved {
        /// Why.
        why: FileError,
        /// The text that was not written.
        kept: PathBuf,
    },
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Opens a copy in the editor and puts it in the place of the document when the editor is done.
pub fn edit(project: &Project, shelved: &Shelved) -> Result<Edited, EditError> {
    let (scratch, kept) = open_editor(project, shelved)?;
    let text = read_back(&kept)?;
    let unchanged = text.as_bytes() == shelved.bytes;
    let (text, redacted) = Clean::of(&text);
    if !unchanged {
        let saved = project.replace(shelved, &text);
        saved.map_err(|why| EditError::NotSaved { why, kept: kept.clone() })?;
    }
    scratch.remove()?;
    Ok(if unchanged { Edited::Unchanged } else { Edited::Changed(redacted) })
}

/// What the user makes of a document in the editor; the document stays as it is.
pub fn edited_text(project: &Project, shelved: &Shelved) -> Result<String, EditError> {
    let (scratch, kept) = open_editor(project, shelved)?;
    let text = read_back(&kept)?;
    scratch.remove()?;
    Ok(text)
}

fn open_editor(project: &Project, shelved: &Shelved) -> Result<(Scratch, PathBuf), EditError> {
    let editor = project.environment().editor.clone().ok_or(EditError::NoEditor)?;
    let scratch = Scratch::new("midstride-edit")?;
    let kept = scratch.write(shelved.path.file_name().unwrap_or_default(), &shelved.bytes)?;
    let failed =
        |message| EditError::Editor { editor: editor.clone(), message, kept: kept.clone() };
    let status = process::edit(&editor, &kept).map_err(|error| failed(error.to_string()))?;
    if status.success() { Ok((scratch, kept)) } else { Err(failed(status.to_string())) }
}

fn read_back(kept: &Path) -> Result<String, EditError> {
    String::from_utf8(files::read_named(kept)?)
        .map_err(|_| EditError::NotUtf8 { kept: kept.to_owned() })
}
