//! The one retry loop of decisions.

use crate::{AppendError, ExpectedVersion, Ledger, StreamId};
use midstride_core::work::event::Envelope;

/// How often an append whose outcome is unknown is repeated. An engine that fails every time ends the
/// decision, however long the caller would retry.
const REPEATS_MAX: usize = 5;

/// What was decided on the state of a stream.
#[derive(Clone, Debug)]
pub struct AppendDecision<T> {
    /// The events to record, with the stream and the version that the decision was made on; `None` if
    /// there is nothing to record.
    append: Option<(StreamId, ExpectedVersion, Vec<Envelope>)>,
    outcome: T,
}

impl<T> AppendDecision<T> {
    /// Events to record if the stream still has the version that was read. Without events there is nothing
    /// to record.
    pub fn new(
        stream: StreamId,
        expected: ExpectedVersion,
        events: Vec<Envelope>,
        outcome: T,
    ) -> Self {
        let append = (!events.is_empty()).then_some((stream, expected, events));
        Self { append, outcome }
    }

    /// A decision that records nothing.
    pub fn nothing(outcome: T) -> Self {
        Self { append: None, outcome }
    }
}

/// Decides, appends, and decides again if another writer was faster, as long as `may_retry` allows it.
/// Of several concurrent decisions one always succeeds. An append whose outcome is unknown is repeated a
/// few times, which records it at most once.
pub fn decide<T, E: From<AppendError>>(
    ledger: &dyn Ledger,
    mut may_retry: impl FnMut() -> bool,
    mut decide: impl FnMut() -> Result<AppendDecision<T>, E>,
) -> Result<T, E> {
    loop {
        let AppendDecision { append, outcome } = decide()?;
        let Some((stream, expected, events)) = append else { return Ok(outcome) };
        let mut appended = ledger.append(&stream, expected, &events);
        for _ in 0..REPEATS_MAX {
            if !matches!(appended, Err(AppendError::Ambiguous(_))) {
                break;
            }
            appended = ledger.append(&stream, expected, &events);
        }
        match appended {
            Ok(_) => return Ok(outcome),
            Err(AppendError::Conflict { .. }) if may_retry() => {}
            Err(error) => return Err(error.into()),
        }
    }
}
