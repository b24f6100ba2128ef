//! Change a document in the user's editor.

use crate::journal::RevisionInfo;
use crate::sys::files::{self, FileError, ScratchFolder};
use crate::sys::process;
use crate::verbs::handoff::revise::{ReviseError, ReviseOutcome, revise_in_place};
use crate::workspace::project::{Project, StoredHandoff};
use midstride_core::format::document::Document;
use midstride_core::text::redact::Redaction;
use std::path::PathBuf;

/// What came of it.
#[derive(Debug)]
pub enum EditOutcome {
    /// The text was saved as it was.
    Unchanged,
    /// A note, or a handoff in the making, has the new text, without these secrets.
    Saved(Vec<Redaction>),
    /// A handoff has the new text, and a revision more.
    Revised(crate::journal::RecordedRevision),
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
        why: Box<ReviseError>,
        /// The text that was not written.
        kept: PathBuf,
    },
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Opens a copy in the editor and puts it in the place of the document when the editor is done. The
/// change of a handoff is a revision; a note has no history to keep.
pub fn edit(
    project: &Project,
    shelved: &StoredHandoff,
    change: &RevisionInfo,
) -> Result<EditOutcome, EditError> {
    let draft = open_draft(project, shelved)?;
    if draft.text.as_bytes() == shelved.bytes {
        draft.discard()?;
        return Ok(EditOutcome::Unchanged);
    }
    let is_handoff = |document: &Document| document.handoff_header().is_some();
    if !is_handoff(&shelved.document) && !is_handoff(&Document::parse(draft.text.as_bytes())) {
        return draft.save(project, shelved);
    }
    match revise_in_place(project, shelved, &draft.text, change) {
        Ok(revised) => {
            draft.discard()?;
            Ok(match revised {
                ReviseOutcome::Unchanged => EditOutcome::Unchanged,
                ReviseOutcome::Recorded(recorded) => EditOutcome::Revised(recorded),
            })
        }
        Err(why) => Err(EditError::NotSaved { why: Box::new(why), kept: draft.path }),
    }
}

/// Lets the author fill in a document that was just made: what it replaces is nobody's text.
pub fn fill_in(project: &Project, shelved: &StoredHandoff) -> Result<EditOutcome, EditError> {
    let draft = open_draft(project, shelved)?;
    if draft.text.as_bytes() == shelved.bytes {
        draft.discard()?;
        return Ok(EditOutcome::Unchanged);
    }
    draft.save(project, shelved)
}

/// A copy of a document as the editor left it. The file stays until it is discarded.
#[derive(Debug)]
pub struct EditorDraft {
    /// What it says.
    pub text: String,
    /// Where it is kept.
    pub path: PathBuf,
    scratch: ScratchFolder,
}

/// Opens a copy in the editor; the document stays as it is.
pub fn open_draft(project: &Project, shelved: &StoredHandoff) -> Result<EditorDraft, EditError> {
    let editor = project.environment().editor.clone().ok_or(EditError::NoEditor)?;
    let scratch = ScratchFolder::new("midstride-edit")?;
    let path = scratch.write(shelved.path.file_name().unwrap_or_default(), &shelved.bytes)?;
    let failed =
        |message| EditError::Editor { editor: editor.clone(), message, kept: path.clone() };
    let status = process::edit(&editor, &path).map_err(|error| failed(error.to_string()))?;
    if !status.success() {
        return Err(failed(status.to_string()));
    }
    let text = String::from_utf8(files::read_named(&path)?);
    let text = text.map_err(|_| EditError::NotUtf8 { kept: path.clone() })?;
    Ok(EditorDraft { text, path, scratch })
}

impl EditorDraft {
    /// Removes the copy: its text is written.
    pub fn discard(self) -> Result<(), FileError> {
        self.scratch.remove()
    }

    /// Puts it in the place of the document without a word about it.
    fn save(self, project: &Project, shelved: &StoredHandoff) -> Result<EditOutcome, EditError> {
        let (text, redacted) = project.clean(&self.text);
        if let Err(why) = project.replace(shelved, &text) {
            let why = Box::new(ReviseError::Journal(why.into()));
            return Err(EditError::NotSaved { why, kept: self.path });
        }
        self.discard()?;
        Ok(EditOutcome::Saved(redacted))
    }
}
