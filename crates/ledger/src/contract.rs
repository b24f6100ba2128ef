//! What every engine promises, on one machine or over a network.

use crate::{
    AppendError, Blob, Cursor, ExpectedVersion, Lease, LeaseError, LedgerError, LedgerRecord, Page,
    StreamId, Version,
};
use midstride_core::text::id::BlobHash;
use midstride_core::work::event::Envelope;
use std::time::Duration;

/// How many records the methods that read everything ask for at once.
const PAGE_SIZE: usize = 1_000;

/// Events for one stream, to be recorded together if the stream is at the expected version.
#[derive(Clone, Copy, Debug)]
pub struct Append<'a> {
    /// The stream.
    pub stream: &'a StreamId,
    /// The version it must have.
    pub expected: ExpectedVersion,
    /// The events.
    pub events: &'a [Envelope],
}

/// Waits for new records. A wake-up is only a hint: read the ledger to find out.
pub trait LedgerWatch: Send {
    /// Waits until something may have been recorded, or until the time is up.
    fn wait(&mut self, at_most: Duration);
}

/// An append-only log with streams, blobs and leases.
pub trait Ledger: Send + Sync {
    /// Appends a batch; returns one result for each append, in order.
    ///
    /// The appends are decided one by one, and a later one sees an earlier one of the same batch. Each of
    /// them is atomic, and nothing is promised across them. If recording them fails as a whole, every
    /// append that would have won answers [`AppendError::Ambiguous`] or [`AppendError::Unavailable`].
    /// Appending the same event ids at the same version again succeeds without a second record, so a
    /// batch can be repeated.
    fn append_all(&self, appends: &[Append<'_>]) -> Vec<Result<Version, AppendError>>;

    /// Appends events as one record: a batch of one.
    fn append(
        &self,
        stream: &StreamId,
        expected: ExpectedVersion,
        events: &[Envelope],
    ) -> Result<Version, AppendError> {
        let mut results = self.append_all(&[Append { stream, expected, events }]);
        results
            .pop()
            .unwrap_or_else(|| Err(AppendError::Ambiguous("the engine gave no result".to_owned())))
    }

    /// At most `max` records of a stream after a version, in order.
    fn read_page(
        &self,
        stream: &StreamId,
        after: Option<Version>,
        max: usize,
    ) -> Result<Vec<LedgerRecord>, LedgerError>;

    /// All records of a stream after a version, in order, read page by page.
    fn read(
        &self,
        stream: &StreamId,
        after: Option<Version>,
    ) -> Result<Vec<LedgerRecord>, LedgerError> {
        let (mut all, mut after) = (Vec::new(), after);
        loop {
            let page = self.read_page(stream, after, PAGE_SIZE)?;
            let is_last = page.len() < PAGE_SIZE;
            after = page.last().map(|record| record.version).or(after);
            all.extend(page);
            if is_last {
                return Ok(all);
            }
        }
    }

    /// At most `max` records after a cursor, in log order. A reader that continues where its last page
    /// ended sees every record once.
    fn read_all(&self, after: &Cursor, max: usize) -> Result<Page, LedgerError>;

    /// At most `max` records of the streams whose names start with `prefix`, each stream in order; the
    /// engine chooses the order of the streams.
    fn read_prefix_page(
        &self,
        prefix: &str,
        after: &Cursor,
        max: usize,
    ) -> Result<Page, LedgerError>;

    /// All records of the streams whose names start with `prefix`, sorted by stream, each stream in order,
    /// read page by page.
    fn read_with_prefix(&self, prefix: &str) -> Result<Vec<LedgerRecord>, LedgerError> {
        let page = |after: &Cursor| self.read_prefix_page(prefix, after, PAGE_SIZE);
        let mut all = every_page(page)?;
        // Stable, so each stream stays in order.
        all.sort_by(|one, other| one.stream.cmp(&other.stream));
        Ok(all)
    }

    /// At most `max` last records of streams whose names start with `prefix`, one for each stream, sorted
    /// by name. The cost depends on the number of these streams, not on how many records they or others
    /// have.
    fn last_per_stream_page(
        &self,
        prefix: &str,
        after: &Cursor,
        max: usize,
    ) -> Result<Page, LedgerError>;

    /// The last record of each stream whose name starts with `prefix`, sorted by name, read page by page.
    fn last_per_stream(&self, prefix: &str) -> Result<Vec<LedgerRecord>, LedgerError> {
        every_page(|after| self.last_per_stream_page(prefix, after, PAGE_SIZE))
    }

    /// Watches for records appended from now on.
    fn watch(&self) -> Result<Box<dyn LedgerWatch>, LedgerError>;

    /// Takes a lease that ends when it is dropped or this process exits. Each name is a separate lease:
    /// names are not folded.
    fn acquire_lease(&self, name: &str) -> Result<Lease, LeaseError>;

    /// Stores bytes. They are durable at the latest when the next record is.
    fn store_blob(&self, blob: &Blob<'_>) -> Result<(), LedgerError>;

    /// Like `store_blob`, and returns the SHA-256 in hexadecimal.
    fn put_blob(&self, bytes: &[u8]) -> Result<BlobHash, LedgerError> {
        let blob = Blob::new(bytes);
        self.store_blob(&blob)?;
        Ok(blob.hash().clone())
    }

    /// The stored bytes of a hash; `None` if there are none.
    fn get_blob(&self, hash: &BlobHash) -> Result<Option<Vec<u8>>, LedgerError>;
}

/// Reads pages until one is empty.
fn every_page(
    page: impl Fn(&Cursor) -> Result<Page, LedgerError>,
) -> Result<Vec<LedgerRecord>, LedgerError> {
    let (mut all, mut cursor) = (Vec::new(), Cursor::START);
    loop {
        let Page { records, next } = page(&cursor)?;
        let is_last = records.len() < PAGE_SIZE;
        all.extend(records);
        cursor = next;
        if is_last {
            return Ok(all);
        }
    }
}
