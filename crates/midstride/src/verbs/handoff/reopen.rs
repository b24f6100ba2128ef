//! Reopens a closed handoff.

use crate::journal::{RecordedRevision, RevisionInfo};
use crate::store::Store;
use crate::verbs::handoff::apply::{ApplyError, apply};
use crate::workspace::StoredHandoff;
use midstride_core::format::header::{RevisionVerb, Status};
use midstride_core::handoff::lifecycle;

/// A handoff that was reopened.
#[derive(Debug)]
pub struct ReopenOutcome {
    /// The revision with the new status.
    pub recorded: RecordedRevision,
    /// Its reason.
    pub reason: String,
    /// The status it had.
    pub was: Status,
    /// The status it has now.
    pub status: Status,
    /// What its resolution said: the outcome, or why it was abandoned.
    pub resolution: Option<String>,
}

/// Reopens a closed handoff. The resolution is removed from the header; the text that had it is in
/// the history.
pub fn reopen(
    store: &Store,
    stored: &StoredHandoff,
    reason: Option<&str>,
    by: Option<String>,
) -> Result<ReopenOutcome, ApplyError> {
    let workspace = store.workspace();
    let handoff = stored.handoff(workspace);
    let was = handoff.status();
    let resolution = handoff.resolution();
    let resolution = resolution.and_then(|said| said.outcome.or(said.reason));
    let resolution = resolution.map(|text| text.value.to_owned());
    let reason = match reason {
        Some(reason) => format!("reopened: {reason}"),
        None => "reopened".to_owned(),
    };
    let change = RevisionInfo::by_verb(RevisionVerb::Reopen, reason, by);
    let recorded = apply(store, stored, &lifecycle::reopen, &change)?;
    let status = stored.with_document(recorded.document.as_ref().clone());
    let status = status.handoff(workspace).status();
    Ok(ReopenOutcome { recorded, reason: change.reason, was, status, resolution })
}
