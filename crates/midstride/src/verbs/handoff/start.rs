//! Starts work on a handoff, and imports the tasks it stores.

use crate::journal::{RecordedRevision, RevisionInfo};
use crate::store::Store;
use crate::verbs::handoff::apply::{ApplyError, apply};
use crate::verbs::handoff::blocking::{BlockingQuestion, blocking_questions};
use crate::verbs::task::TaskError;
use crate::verbs::task::transfer::{TaskImport, import_tasks};
use crate::workspace::StoredHandoff;
use midstride_core::format::header::RevisionVerb;
use midstride_core::handoff::lifecycle;

/// A handoff that was started.
#[derive(Debug)]
pub struct StartOutcome {
    /// The revision with the new status.
    pub recorded: RecordedRevision,
    /// Its reason.
    pub reason: String,
    /// The open questions that block the work, here and upstream.
    pub blocking: Vec<BlockingQuestion>,
    /// The imported tasks, or why they could not be imported. The handoff is started either way.
    pub imported: Result<TaskImport, TaskError>,
}

/// Starts work on a planned handoff.
pub fn start(
    store: &Store,
    stored: &StoredHandoff,
    by: Option<String>,
) -> Result<StartOutcome, ApplyError> {
    let change = RevisionInfo::by_verb(RevisionVerb::Start, "started", by);
    let recorded = apply(store, stored, &lifecycle::start, &change)?;
    Ok(StartOutcome {
        recorded,
        reason: change.reason,
        blocking: blocking_questions(store.workspace(), stored),
        imported: import_tasks(store, stored),
    })
}
