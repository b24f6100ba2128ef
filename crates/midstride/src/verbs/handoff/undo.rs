//! Take back the last change of a handoff, as a change of its own.

use crate::journal::{JournalError, OUTSIDE_EDIT_REASON, RecordedRevision, RevisionInfo};
use crate::workspace::project::{Project, StoredHandoff};
use midstride_core::format::document::Document;
use midstride_core::format::header::RevisionVerb;
use midstride_core::handoff::lifecycle::{self, UndoStep};

/// Why nothing was undone.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    /// There is no change that still stands.
    #[error("nothing is left to undo in `{0}`")]
    Nothing(String),
    /// What comes before cannot be undone.
    #[error("what lies behind the {} of `{key}` is not undone", verb.word())]
    NotUndoable {
        /// The handoff.
        key: String,
        /// What it lies behind.
        verb: RevisionVerb,
    },
    /// It could not be recorded.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Goes back to the text before the last change that still stands. The history stays.
pub fn undo(
    project: &Project,
    shelved: &StoredHandoff,
    by: Option<&str>,
) -> Result<(RecordedRevision, String), UndoError> {
    let (earlier, reason) = previous_text(project, shelved)?;
    // What is taken back is the text; the journal keeps what happened to it. Whoever is overtaken is
    // told: the last change is another one then.
    let next = Document::parse(&earlier);
    let change = RevisionInfo::by_verb(RevisionVerb::Undo, reason.clone(), by.map(str::to_owned));
    let recorded = project.record(shelved, &next, &change, &|_| ())?;
    Ok((recorded, reason))
}

/// The text to go back to, and the reason. An edit made outside is the last change, though the
/// history does not tell it yet: it becomes the next entry, and the undo the one behind it.
fn previous_text(
    project: &Project,
    shelved: &StoredHandoff,
) -> Result<(Vec<u8>, String), UndoError> {
    let handoff = shelved.handoff(project);
    if let Some(written) = project.read_before_outside_edit(shelved)? {
        let edited = handoff.replaced_texts().len() + 2;
        return Ok((written, lifecycle::undo_reason(edited, OUTSIDE_EDIT_REASON)));
    }
    match lifecycle::next_undo(&handoff) {
        UndoStep::To(number, reason) => {
            Ok((project.revision_text(shelved, number).map_err(JournalError::from)?, reason))
        }
        UndoStep::Nothing => Err(UndoError::Nothing(handoff.key().to_string())),
        UndoStep::Blocked(verb) => {
            Err(UndoError::NotUndoable { key: handoff.key().to_string(), verb })
        }
    }
}
