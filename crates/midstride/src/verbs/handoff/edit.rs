//! Changes a document in the user's editor.

use crate::journal::{JournalError, RecordedRevision, RevisionInfo};
use crate::store::Store;
use crate::sys::files::{self, FileError, ScratchFolder};
use crate::sys::process;
use crate::verbs::handoff::revise::{ReviseError, ReviseOutcome, revise_in_place};
use crate::workspace::{StoredHandoff, Workspace};
use midstride_core::format::document::Document;
use midstride_core::text::redact::Redaction;
use std::path::PathBuf;

/// The result of an edit.
#[derive(Debug)]
pub enum EditOutcome {
    /// The text did not change.
    Unchanged,
    /// A note or a new handoff got the new text, without these secrets.
    Saved(Vec<Redaction>),
    /// A handoff got the new text as a new revision.
    Revised {
        /// The revision.
        recorded: RecordedRevision,
        /// Its reason.
        reason: String,
    },
}

/// Why a document was not changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// No editor is set.
    #[error("no editor is set")]
    NoEditor,
    /// The editor could not start, or failed.
    #[error("editor `{editor}` failed: {message}")]
    Editor {
        /// The command.
        editor: String,
        /// The error.
        message: String,
        /// The text as the editor left it.
        kept: PathBuf,
    },
    /// The editor was closed without a change, so the new document was deleted.
    #[error("the template was not changed, so no handoff was created")]
    Untouched,
    /// The new text is not UTF-8. A copy is kept.
    #[error("the text saved by the editor is not UTF-8")]
    NotUtf8 {
        /// The text that was not saved.
        kept: PathBuf,
    },
    /// The new text was not saved. A copy is kept.
    #[error("{why}")]
    NotSaved {
        /// The reason.
        why: Box<ReviseError>,
        /// The text that was not saved.
        kept: PathBuf,
    },
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Opens a copy in the editor and replaces the document when the editor exits. A changed handoff
/// gets a new revision; a note has no history.
pub fn edit(
    store: &Store,
    stored: &StoredHandoff,
    change: &RevisionInfo,
) -> Result<EditOutcome, EditError> {
    let workspace = store.workspace();
    let draft = open_draft(workspace, stored)?;
    if draft.text.as_bytes() == stored.bytes {
        draft.discard()?;
        return Ok(EditOutcome::Unchanged);
    }
    let is_handoff = |document: &Document| document.handoff_header().is_some();
    if !is_handoff(&stored.document) && !is_handoff(&Document::parse(draft.text.as_bytes())) {
        return draft.save(workspace, stored).map(EditOutcome::Saved);
    }
    match revise_in_place(store, stored, &draft.text, change) {
        Ok(revised) => {
            draft.discard()?;
            Ok(match revised {
                ReviseOutcome::Unchanged => EditOutcome::Unchanged,
                ReviseOutcome::Recorded(recorded) => {
                    EditOutcome::Revised { recorded, reason: change.reason.clone() }
                }
            })
        }
        Err(why) => Err(EditError::NotSaved { why: Box::new(why), kept: draft.path }),
    }
}

/// Lets the author fill in a new document, and returns the secrets that were not written. Its skeleton
/// is not worth a revision. If the author leaves it as it is, or the editor fails, it is deleted.
pub fn fill_in(workspace: &Workspace, stored: &StoredHandoff) -> Result<Vec<Redaction>, EditError> {
    match open_draft(workspace, stored) {
        Ok(draft) if draft.text.as_bytes() != stored.bytes => draft.save(workspace, stored),
        Ok(draft) => {
            draft.discard()?;
            workspace.remove(stored)?;
            Err(EditError::Untouched)
        }
        Err(error) => {
            workspace.remove(stored)?;
            Err(error)
        }
    }
}

/// A copy of a document as the editor left it. The file stays until it is discarded.
#[derive(Debug)]
pub struct EditorDraft {
    /// Its text.
    pub text: String,
    /// Its path.
    pub path: PathBuf,
    scratch: ScratchFolder,
}

/// Opens a copy in the editor and leaves the document unchanged.
pub fn open_draft(workspace: &Workspace, stored: &StoredHandoff) -> Result<EditorDraft, EditError> {
    let editor = workspace.environment().editor().ok_or(EditError::NoEditor)?;
    let scratch = ScratchFolder::new("midstride-edit")?;
    let path = scratch.write(stored.path.file_name().unwrap_or_default(), &stored.bytes)?;
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
    /// Removes the copy once its text is saved.
    pub fn discard(self) -> Result<(), FileError> {
        self.scratch.remove()
    }

    /// Replaces the document without recording a revision, and returns the secrets that were not written.
    fn save(
        self,
        workspace: &Workspace,
        stored: &StoredHandoff,
    ) -> Result<Vec<Redaction>, EditError> {
        let write = || -> Result<Vec<Redaction>, JournalError> {
            let clean = workspace.redact(&Document::parse(self.text.as_bytes()))?;
            workspace.replace(stored, &clean.text)?;
            Ok(clean.redacted)
        };
        match write() {
            Ok(redacted) => {
                self.discard()?;
                Ok(redacted)
            }
            Err(why) => {
                let why = Box::new(ReviseError::Journal(why));
                Err(EditError::NotSaved { why, kept: self.path })
            }
        }
    }
}
