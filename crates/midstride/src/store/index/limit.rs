//! Limits on how much of the index one call may build, and the progress it reports.

use crate::sys::clock::Deadline;
use std::fmt;
use std::time::Duration;

/// How many documents are read between two commits while a client waits. A call that is killed
/// loses no more than this.
const BATCH: usize = 64;
/// The same when no client waits: fewer, larger commits build the index faster.
const LARGE_BATCH: usize = 1024;

/// How much a refresh may read. What it read is kept, and the next refresh continues from there.
#[derive(Clone, Copy, Debug, Default)]
pub struct RefreshLimit {
    /// Maximum documents.
    pub documents: Option<usize>,
    /// No batch is started that would likely end after this.
    pub until: Option<Deadline>,
}

impl RefreshLimit {
    /// At most this many documents.
    pub fn documents(most: usize) -> Self {
        Self { documents: Some(most), until: None }
    }

    /// Until this moment.
    pub fn until(moment: Deadline) -> Self {
        Self { documents: None, until: Some(moment) }
    }

    /// Whether there is a limit.
    pub(crate) fn is_set(&self) -> bool {
        self.documents.is_some() || self.until.is_some()
    }

    /// This limit, and at most this many documents.
    pub(super) fn at_most(self, most: usize) -> Self {
        let documents = self.documents.map_or(most, |documents| documents.min(most));
        Self { documents: Some(documents), ..self }
    }

    /// How many documents to read next, given how many were read and how long the last batch took;
    /// 0 when it is time to stop. The first batch is always read, so every call makes progress.
    pub(super) fn next_batch(&self, done: usize, took: Duration) -> usize {
        if !self.is_set() {
            return LARGE_BATCH;
        }
        let is_late = done > 0 && self.until.is_some_and(|until| until.remaining() <= took);
        let left = self.documents.map_or(BATCH, |most| most.saturating_sub(done));
        if is_late { 0 } else { left.min(BATCH) }
    }
}

/// Progress of an index that does not have every document yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexProgress {
    /// Documents that were read.
    pub read: usize,
    /// All documents.
    pub documents: usize,
}

impl IndexProgress {
    /// Returns `None` once every document was read.
    pub(super) fn new(documents: usize, left: usize) -> Option<Self> {
        (left > 0).then(|| Self { read: documents.saturating_sub(left), documents })
    }
}

impl fmt::Display for IndexProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (read, all) = (group_thousands(self.read), group_thousands(self.documents));
        write!(f, "read the newest {read} of {all} handoffs")
    }
}

/// Formats a number with commas between thousands.
fn group_thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_small_while_a_client_waits_and_large_otherwise() {
        let none = Duration::ZERO;
        assert_eq!(RefreshLimit::default().next_batch(5_000, none), LARGE_BATCH);
        let limit = RefreshLimit::documents(80);
        assert_eq!([0, 64, 80].map(|done| limit.next_batch(done, none)), [64, 16, 0]);
    }

    #[test]
    fn no_batch_is_started_that_would_end_after_the_deadline() {
        let over = RefreshLimit::until(Deadline::after(Duration::ZERO));
        assert_eq!(over.next_batch(0, Duration::ZERO), BATCH, "the first one is always read");
        assert_eq!(over.next_batch(BATCH, Duration::ZERO), 0);
        let hour = RefreshLimit::until(Deadline::after(Duration::from_hours(1)));
        assert_eq!(hour.next_batch(BATCH, Duration::from_secs(1)), BATCH);
        assert_eq!(hour.next_batch(BATCH, Duration::from_hours(2)), 0);
    }

    #[test]
    fn an_incomplete_index_reports_its_progress() {
        let line = |documents, left| IndexProgress::new(documents, left).map(|one| one.to_string());
        let text = "read the newest 400 of 12,000 handoffs";
        assert_eq!(line(12_000, 11_600).as_deref(), Some(text));
        assert_eq!(line(12_000, 0), None);
        assert_eq!(
            [0, 999, 1_000, 1_234_567].map(group_thousands),
            ["0", "999", "1,000", "1,234,567"]
        );
    }
}
