//! Appends of several threads of one process that wait for one transaction. There is no thread for it:
//! the first one to get the connection records everything that waits by then.

use super::{Append, AppendError, ExpectedVersion, StreamId, Version};
use midstride_ledger::encode_record;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

/// An append that waits, and its result once it was decided.
#[derive(Debug)]
pub(super) struct QueuedAppend {
    pub(super) stream: StreamId,
    /// The number of the last record of the stream, 0 if there must be none.
    pub(super) expected: u64,
    pub(super) ids: Vec<String>,
    pub(super) text: String,
    result: Mutex<Option<Result<Version, AppendError>>>,
}

impl QueuedAppend {
    /// Encodes the events, or fails if they cannot be a record.
    pub(super) fn new(append: &Append<'_>) -> Result<Arc<Self>, AppendError> {
        let Append { stream, expected, events } = *append;
        let text = encode_record(stream, events)?;
        Ok(Arc::new(Self {
            stream: stream.clone(),
            expected: match expected {
                ExpectedVersion::NoStream => 0,
                ExpectedVersion::Exact(version) => version.to_engine(),
            },
            ids: events.iter().map(|event| event.id.clone()).collect(),
            text,
            result: Mutex::default(),
        }))
    }

    pub(super) fn set_result(&self, result: Result<Version, AppendError>) {
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    }

    /// The result. There is none only if the thread that was about to record it failed.
    pub(super) fn take_result(&self) -> Result<Version, AppendError> {
        let result = self.result.lock().unwrap_or_else(PoisonError::into_inner).take();
        let lost = || AppendError::Ambiguous("another thread was interrupted".to_owned());
        result.unwrap_or_else(|| Err(lost()))
    }
}

/// The appends that wait.
#[derive(Debug, Default)]
pub(super) struct AppendQueue(Mutex<Vec<Arc<QueuedAppend>>>);

impl AppendQueue {
    /// Adds appends that are decided one after the other.
    pub(super) fn add<'q>(&self, appends: impl Iterator<Item = &'q Arc<QueuedAppend>>) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.extend(appends.cloned());
    }

    /// How many appends wait.
    #[cfg(test)]
    pub(super) fn length(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Takes everything that waits.
    pub(super) fn take(&self) -> Vec<Arc<QueuedAppend>> {
        mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
