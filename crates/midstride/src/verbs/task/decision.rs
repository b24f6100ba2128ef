//! Appends a decided event to a stream, or decides again if the stream changed meanwhile.

use crate::store::ledger::{
    AppendDecision, AppendError, ExpectedVersion, Ledger, StreamId, Version, decide,
};
use crate::sys::clock::Deadline;
use crate::sys::ids::new_uid;
use crate::verbs::task::TaskError;
use crate::workspace::Workspace;
use jiff::Timestamp;
use midstride_core::work::event::{Envelope, Event, timestamp_after};
use std::time::Duration;

/// How long to retry. Of several concurrent changes one always succeeds, and the others decide
/// again. After this time the caller gets an error.
const RETRY_TIMEOUT: Duration = Duration::from_mins(1);

/// An event, and the state it was decided on.
pub(in crate::verbs) struct DecidedEvent {
    /// Its stream.
    pub(in crate::verbs) stream: StreamId,
    /// The version of the stream.
    pub(in crate::verbs) version: Option<Version>,
    /// The time of the last event.
    pub(in crate::verbs) last: Option<Timestamp>,
    /// The event.
    pub(in crate::verbs) event: Event,
}

/// The time for an event that must come after `last`. Fails if there is no later time.
pub(in crate::verbs) fn next_moment(
    workspace: &Workspace,
    last: Option<Timestamp>,
) -> Result<Timestamp, TaskError> {
    let moment = timestamp_after(last, workspace.environment().clock.now());
    moment.ok_or_else(|| TaskError::EndOfTime(last.unwrap_or(Timestamp::MAX)))
}

/// Appends the decided event. If another process was faster, decides again.
pub(in crate::verbs) fn append_decided<E: From<TaskError> + From<AppendError>>(
    workspace: &Workspace,
    ledger: &dyn Ledger,
    by: &str,
    mut decide_event: impl FnMut() -> Result<DecidedEvent, E>,
) -> Result<Envelope, E> {
    let deadline = Deadline::after(RETRY_TIMEOUT);
    decide(
        ledger,
        || !deadline.has_passed(),
        || {
            let DecidedEvent { stream, version, last, event } = decide_event()?;
            let time = next_moment(workspace, last)?;
            let envelope = Envelope {
                id: new_uid(time),
                time,
                source: by.to_owned(),
                received_from: None,
                event,
            };
            let expected = ExpectedVersion::after(version);
            Ok(AppendDecision::new(stream, expected, vec![envelope.clone()], envelope))
        },
    )
}
