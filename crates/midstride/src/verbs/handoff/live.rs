//! Take a handoff a step further in its life: what core decided is recorded.

use crate::journal::{Attempt, Change, JournalError, Recorded};
use crate::verbs::handoff::receipts::acknowledge_by_doing;
use crate::workspace::project::{Project, Shelved};
use midstride_core::handoff::Handoff;
use midstride_core::handoff::life::LifecycleRefusal;
use midstride_core::text::edit::Edit;

/// Why a handoff stays as it is.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// The step does not fit.
    #[error("`{key}` stays as it is: {why}")]
    Refused {
        /// The handoff.
        key: String,
        /// Why.
        why: LifecycleRefusal,
    },
    /// The commit is not in this repository.
    #[error("there is no commit `{0}` here")]
    NoCommit(String),
    /// It could not be recorded.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Records what is decided. Where somebody else was faster it is decided again, on what is there
/// now.
pub fn live(
    project: &Project,
    shelved: &Shelved,
    decide: &dyn Fn(&Handoff<'_>) -> Result<Vec<Edit>, LifecycleRefusal>,
    change: &Change,
) -> Result<Recorded, LiveError> {
    live_in_place(project, shelved, &|now| decide(&now.handoff(project)), change)
}

/// The same for a decision that depends on where the document lies.
pub(in crate::verbs) fn live_in_place(
    project: &Project,
    shelved: &Shelved,
    decide: &dyn Fn(&Shelved) -> Result<Vec<Edit>, LifecycleRefusal>,
    change: &Change,
) -> Result<Recorded, LiveError> {
    let recorded = project.record_in_turn(shelved, |now| once(project, now, decide, change))?;
    acknowledge_by_doing(project, shelved, change);
    Ok(recorded)
}

fn once(
    project: &Project,
    shelved: &Shelved,
    decide: &dyn Fn(&Shelved) -> Result<Vec<Edit>, LifecycleRefusal>,
    change: &Change,
) -> Result<Attempt, LiveError> {
    let key = shelved.handoff(project).key().to_string();
    let edits = decide(shelved).map_err(|why| LiveError::Refused { key, why })?;
    if shelved.document.handoff_header().is_none() {
        return Err(JournalError::Note(shelved.path.clone()).into());
    }
    let (next, _) = shelved.document.edit(&edits).map_err(JournalError::from)?;
    Ok(project.record(shelved, &next, change, &|_| ()))
}

/// The whole id of a commit that a person named.
pub fn commit_id(project: &Project, named: &str) -> Result<String, LiveError> {
    let found = project.repository().and_then(|repository| repository.commit(named));
    found.ok_or_else(|| LiveError::NoCommit(named.to_owned()))
}
