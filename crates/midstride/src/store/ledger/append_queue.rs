//! Appends of several threads of one process that wait for one transaction. There is no extra thread: one
//! of them records everything that waits by then, and the others wait for their results, not for the
//! connection.

use super::{Append, AppendError, ExpectedVersion, StreamId, Version};
use midstride_ledger::encode_record;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

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

    fn result(&self) -> Option<Result<Version, AppendError>> {
        self.result.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The appends that wait, and the thread that records.
#[derive(Debug, Default)]
pub(super) struct AppendQueue {
    state: Mutex<QueueState>,
    recorded: Condvar,
}

#[derive(Debug, Default)]
struct QueueState {
    waiting: Vec<Arc<QueuedAppend>>,
    /// Whether a thread records what waited before.
    is_recording: bool,
}

impl AppendQueue {
    /// Adds appends, which are decided one after the other, and returns their results. The thread that
    /// finds no other one recording records everything that waits by then; `record` sets the results.
    pub(super) fn append(
        &self,
        appends: &[Arc<QueuedAppend>],
        record: impl Fn(&[Arc<QueuedAppend>]),
    ) -> Vec<Result<Version, AppendError>> {
        let mut state = self.state();
        state.waiting.extend(appends.iter().cloned());
        loop {
            let results: Option<Vec<_>> = appends.iter().map(|one| one.result()).collect();
            if let Some(results) = results {
                return results;
            }
            if state.is_recording {
                state = self.recorded.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            state.is_recording = true;
            let batch = mem::take(&mut state.waiting);
            drop(state);
            let turn = RecordingTurn { queue: self, batch };
            record(&turn.batch);
            drop(turn);
            state = self.state();
        }
    }

    /// How many appends wait, and whether a thread records others.
    #[cfg(test)]
    pub(super) fn progress(&self) -> (usize, bool) {
        let state = self.state();
        (state.waiting.len(), state.is_recording)
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The turn of the thread that records. It ends even if the thread panics, so that no other thread waits
/// forever.
struct RecordingTurn<'q> {
    queue: &'q AppendQueue,
    batch: Vec<Arc<QueuedAppend>>,
}

impl Drop for RecordingTurn<'_> {
    fn drop(&mut self) {
        for one in self.batch.iter().filter(|one| one.result().is_none()) {
            let interrupted = "the thread that recorded it was interrupted".to_owned();
            one.set_result(Err(AppendError::Ambiguous(interrupted)));
        }
        self.queue.state().is_recording = false;
        self.queue.recorded.notify_all();
    }
}
