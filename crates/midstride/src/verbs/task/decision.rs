//! What is decided on a stream: it is appended after all that it was decided on, or decided again.

use crate::store::ledger::{AppendError, ExpectedVersion, Ledger, StreamId, StreamVersion};
use crate::sys::clock::Deadline;
use crate::sys::ids::new_uid;
use crate::verbs::task::TaskError;
use crate::workspace::project::Project;
use jiff::Timestamp;
use midstride_core::work::event::{Envelope, Event, timestamp_after};
use std::time::Duration;

/// Of many who change one thing at once one is always done, and the others decide again. Who is
/// overtaken for so long is told.
const RETRY_TIMEOUT: Duration = Duration::from_mins(1);

/// What happens, and what it was decided on.
pub(in crate::verbs) struct DecidedEvent {
    /// Where it happens.
    pub(in crate::verbs) stream: StreamId,
    /// Where the stream stood.
    pub(in crate::verbs) version: Option<StreamVersion>,
    /// When the last thing happened to it.
    pub(in crate::verbs) last: Option<Timestamp>,
    /// What happens.
    pub(in crate::verbs) event: Event,
}

/// When something happens that is decided on what happened at `last`: after it, or not at all.
pub(in crate::verbs) fn next_moment(
    project: &Project,
    last: Option<Timestamp>,
) -> Result<Timestamp, TaskError> {
    let moment = timestamp_after(last, project.environment().clock.now());
    moment.ok_or_else(|| TaskError::EndOfTime(last.unwrap_or(Timestamp::MAX)))
}

/// Appends what is decided; where somebody else was faster, what is decided then.
pub(in crate::verbs) fn append_decided<E: From<TaskError>>(
    project: &Project,
    ledger: &dyn Ledger,
    by: &str,
    mut decide: impl FnMut() -> Result<DecidedEvent, E>,
) -> Result<Envelope, E> {
    let deadline = Deadline::after(RETRY_TIMEOUT);
    loop {
        let DecidedEvent { stream, version, last, event } = decide()?;
        let time = next_moment(project, last)?;
        let envelope = Envelope { id: new_uid(time), time, source: by.to_owned(), event };
        let expected = ExpectedVersion::after(version);
        match ledger.append(&stream, expected, std::slice::from_ref(&envelope)) {
            Err(AppendError::Conflict { .. }) if !deadline.has_passed() => {}
            appended => {
                appended.map_err(TaskError::from)?;
                return Ok(envelope);
            }
        }
    }
}
