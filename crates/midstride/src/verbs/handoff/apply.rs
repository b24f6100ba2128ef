//! Take a handoff a step further in its life: what core decided is recorded.

use crate::journal::{JournalError, JournalResult, RecordedRevision, RevisionInfo};
use crate::verbs::handoff::deliveries::acknowledge_by_change;
use crate::workspace::project::{Project, StoredHandoff};
use midstride_core::handoff::Handoff;
use midstride_core::handoff::lifecycle::LifecycleRefusal;
use midstride_core::text::edit::Edit;

/// Why a handoff stays as it is.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
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
pub fn apply(
    project: &Project,
    shelved: &StoredHandoff,
    decide: &dyn Fn(&Handoff<'_>) -> Result<Vec<Edit>, LifecycleRefusal>,
    change: &RevisionInfo,
) -> Result<RecordedRevision, ApplyError> {
    apply_in_place(project, shelved, &|now| decide(&now.handoff(project)), change)
}

/// The same for a decision that depends on where the document lies.
pub(in crate::verbs) fn apply_in_place(
    project: &Project,
    shelved: &StoredHandoff,
    decide: &dyn Fn(&StoredHandoff) -> Result<Vec<Edit>, LifecycleRefusal>,
    change: &RevisionInfo,
) -> Result<RecordedRevision, ApplyError> {
    let recorded =
        project.record_with_retry(shelved, |now| apply_once(project, now, decide, change))?;
    acknowledge_by_change(project, shelved, change);
    Ok(recorded)
}

fn apply_once(
    project: &Project,
    shelved: &StoredHandoff,
    decide: &dyn Fn(&StoredHandoff) -> Result<Vec<Edit>, LifecycleRefusal>,
    change: &RevisionInfo,
) -> Result<JournalResult, ApplyError> {
    let key = shelved.handoff(project).key().to_string();
    let edits = decide(shelved).map_err(|why| ApplyError::Refused { key, why })?;
    if shelved.document.handoff_header().is_none() {
        return Err(JournalError::NoHeader(shelved.path.clone()).into());
    }
    let (next, _) = shelved.document.edit(&edits).map_err(JournalError::from)?;
    Ok(project.record(shelved, &next, change, &|_| ()))
}

/// The whole id of a commit that a person named.
pub fn commit_id(project: &Project, named: &str) -> Result<String, ApplyError> {
    let found = project.repository().and_then(|repository| repository.resolve_commit(named));
    found.ok_or_else(|| ApplyError::NoCommit(named.to_owned()))
}
