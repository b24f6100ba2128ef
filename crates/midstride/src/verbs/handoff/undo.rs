//! Undoes the last change of a handoff, as a new revision.

use crate::journal::{JournalError, OUTSIDE_EDIT_REASON, RecordedRevision, RevisionInfo};
use crate::store::Store;
use crate::workspace::StoredHandoff;
use midstride_core::format::document::Document;
use midstride_core::format::header::RevisionVerb;
use midstride_core::handoff::lifecycle::{self, UndoStep};

/// Why nothing was undone.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UndoError {
    /// All changes are already undone.
    #[error("nothing is left to undo in `{0}`")]
    Nothing(String),
    /// Changes before this one cannot be undone.
    #[error("changes made to `{key}` before the {} cannot be undone", verb.word())]
    NotUndoable {
        /// The handoff.
        key: String,
        /// The change that blocks the undo.
        verb: RevisionVerb,
    },
    /// It could not be recorded.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Goes back to the text before the last change that is not undone. The history is kept.
pub fn undo(
    store: &Store,
    stored: &StoredHandoff,
    by: Option<&str>,
) -> Result<(RecordedRevision, String), UndoError> {
    let (earlier, reason) = previous_text(store, stored)?;
    // Only the text goes back; the history stays. A concurrent change is an error here, not a
    // retry, because it is then the last change.
    let next = Document::parse(&earlier);
    let change = RevisionInfo::by_verb(RevisionVerb::Undo, reason.clone(), by.map(str::to_owned));
    let recorded = store.record(stored, &next, &change, &|_| ())?;
    Ok((recorded, reason))
}

/// The text to go back to, and the reason. An edit outside midstride counts as the last change
/// although the history does not have it yet. It becomes the next entry, and the undo the one after
/// it.
fn previous_text(store: &Store, stored: &StoredHandoff) -> Result<(Vec<u8>, String), UndoError> {
    let workspace = store.workspace();
    let handoff = stored.handoff(workspace);
    if let Some(written) = store.read_before_outside_edit(stored)? {
        let edited = handoff.replaced_texts().len() + 2;
        return Ok((written, lifecycle::undo_reason(edited, OUTSIDE_EDIT_REASON)));
    }
    match lifecycle::next_undo(&handoff) {
        UndoStep::To(number, reason) => {
            Ok((store.revision_text(stored, number).map_err(JournalError::from)?, reason))
        }
        UndoStep::Nothing => Err(UndoError::Nothing(handoff.key().to_string())),
        UndoStep::Blocked(verb) => {
            Err(UndoError::NotUndoable { key: handoff.key().to_string(), verb })
        }
    }
}
