//! Applies a lifecycle change that core decided on, and records it.

use crate::journal::{JournalError, JournalResult, RecordedRevision, RevisionInfo};
use crate::store::Store;
use crate::verbs::handoff::deliveries::acknowledge_by_change;
use crate::workspace::{StoredHandoff, Workspace};
use midstride_core::handoff::Handoff;
use midstride_core::handoff::lifecycle::LifecycleRefusal;
use midstride_core::text::edit::Edit;
use midstride_core::text::id::CommitId;

/// Why a handoff was not changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// The change does not fit the handoff's status.
    #[error("{}", refusal_message(key, why))]
    Refused {
        /// The handoff.
        key: String,
        /// The reason.
        why: LifecycleRefusal,
    },
    /// The question is for the user.
    #[error("only the user can answer {question}")]
    RequiresUser {
        /// The question, as it was given.
        question: String,
    },
    /// The commit is not in this repository.
    #[error("there is no commit `{0}` in this repository")]
    NoCommit(String),
    /// It could not be recorded.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

fn refusal_message(key: &str, why: &LifecycleRefusal) -> String {
    let is_about_status = matches!(
        why,
        LifecycleRefusal::AlreadyClosed(_)
            | LifecycleRefusal::AlreadyStarted
            | LifecycleRefusal::NotClosed(_)
    );
    if is_about_status {
        format!("`{key}` is {why}")
    } else {
        format!("`{key}` was not changed: {why}")
    }
}

/// Records what `decide` returns. If the document changed meanwhile, decides again on its current
/// text.
pub fn apply(
    store: &Store,
    stored: &StoredHandoff,
    decide: &dyn Fn(&Handoff<'_>) -> Result<Vec<Edit>, LifecycleRefusal>,
    change: &RevisionInfo,
) -> Result<RecordedRevision, ApplyError> {
    let workspace = store.workspace();
    apply_in_place(store, stored, &|now| decide(&now.handoff(workspace)), change)
}

/// Like [`apply`], for a decision that depends on the path of the document.
pub(in crate::verbs) fn apply_in_place(
    store: &Store,
    stored: &StoredHandoff,
    decide: &dyn Fn(&StoredHandoff) -> Result<Vec<Edit>, LifecycleRefusal>,
    change: &RevisionInfo,
) -> Result<RecordedRevision, ApplyError> {
    let recorded = store.record_with_retry(stored, |now| apply_once(store, now, decide, change))?;
    acknowledge_by_change(store, stored, change);
    Ok(recorded)
}

fn apply_once(
    store: &Store,
    stored: &StoredHandoff,
    decide: &dyn Fn(&StoredHandoff) -> Result<Vec<Edit>, LifecycleRefusal>,
    change: &RevisionInfo,
) -> Result<JournalResult, ApplyError> {
    let workspace = store.workspace();
    let key = stored.handoff(workspace).key().to_string();
    let edits = decide(stored).map_err(|why| ApplyError::Refused { key, why })?;
    if stored.document.handoff_header().is_none() {
        return Err(JournalError::NoHeader(stored.path.clone()).into());
    }
    let (next, _) = stored.document.edit(&edits).map_err(JournalError::from)?;
    Ok(store.record(stored, &next, change, &|_| ()))
}

/// The full id of a commit the user named.
pub fn commit_id(workspace: &Workspace, named: &str) -> Result<CommitId, ApplyError> {
    let found = workspace.repository().and_then(|repository| repository.resolve_commit(named));
    found.ok_or_else(|| ApplyError::NoCommit(named.to_owned()))
}
