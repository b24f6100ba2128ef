//! Take back the last change of a handoff, as a change of its own.

use crate::journal::{Change, JournalError, OUTSIDE, Recorded};
use crate::workspace::project::{Project, Shelved};
use midstride_core::format::document::Document;
use midstride_core::format::header::RevisionVerb;
use midstride_core::handoff::life::{self, UndoStep};

/// Why nothing was undone.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    /// There is no change that still stands.
    #[error("nothing is left to undo in `{0}`")]
    Nothing(String),
    /// What comes before cannot be undone.
    #[error("what lies behind the {} of `{key}` is not undone", verb.word())]
    Behind {
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
    shelved: &Shelved,
    by: Option<&str>,
) -> Result<(Recorded, String), UndoError> {
    let (earlier, reason) = earlier(project, shelved)?;
    // What is taken back is the text; the journal keeps what happened to it. Whoever is overtaken is
    // told: the last change is another one then.
    let next = Document::parse(&earlier);
    let change = Change::by_verb(RevisionVerb::Undo, reason.clone(), by.map(str::to_owned));
    let recorded = project.record(shelved, &next, &change, &|_| ())?;
    Ok((recorded, reason))
}

/// The text to go back to, and the reason. An edit made outside is the last change, though the
/// history does not tell it yet: it becomes the next entry, and the undo the one behind it.
fn earlier(project: &Project, shelved: &Shelved) -> Result<(Vec<u8>, String), UndoError> {
    let handoff = shelved.handoff(project);
    if let Some(written) = project.before_outside_edit(shelved)? {
        let edited = handoff.replaced_texts().len() + 2;
        return Ok((written, life::undo_reason(edited, OUTSIDE)));
    }
    match life::next_undo(&handoff) {
        UndoStep::To(number, reason) => {
            Ok((project.text_of(shelved, number).map_err(JournalError::from)?, reason))
        }
        UndoStep::Nothing => Err(UndoError::Nothing(handoff.key().to_string())),
        UndoStep::Blocked(verb) => Err(UndoError::Behind { key: handoff.key().to_string(), verb }),
    }
}
