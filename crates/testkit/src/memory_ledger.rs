//! An in-memory ledger for tests.

use midstride::store::ledger::{
    AppendError, Blob, ExpectedVersion, Lease, LeaseError, Ledger, LedgerError, LedgerRecord,
    LedgerWatch, LogPosition, StreamId, StreamVersion, encode_record,
};
use midstride_core::text::id::{BlobHash, SessionId};
use midstride_core::work::event::Envelope;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A ledger in memory. Clones share their records, as processes share a database.
#[derive(Clone, Debug, Default)]
pub struct MemoryLedger {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    log: Mutex<Log>,
    rung: Condvar,
}

#[derive(Debug, Default)]
struct Log {
    records: Vec<LedgerRecord>,
    /// Blobs by hash; `None` is a tombstone.
    blobs: BTreeMap<BlobHash, Option<Vec<u8>>>,
    held: BTreeSet<String>,
}

impl Shared {
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Log {
    fn of<'l>(&'l self, stream: &'l StreamId) -> impl Iterator<Item = &'l LedgerRecord> {
        self.records.iter().filter(move |record| record.stream == *stream)
    }
}

fn ids(events: &[Envelope]) -> Vec<&str> {
    events.iter().map(|event| event.id.as_str()).collect()
}

impl Ledger for MemoryLedger {
    fn append(
        &self,
        stream: &StreamId,
        expected: ExpectedVersion,
        events: &[Envelope],
    ) -> Result<StreamVersion, AppendError> {
        encode_record(stream, events)?;
        let mut log = self.shared.log();
        let wanted = match expected {
            ExpectedVersion::NoStream => 0,
            ExpectedVersion::Exact(version) => version.0,
        };
        let number = wanted + 1;
        let there = log.of(stream).find(|record| record.number == number);
        if there.is_some_and(|record| ids(&record.events) == ids(events)) {
            return Ok(StreamVersion(number));
        }
        let last = log.of(stream).last().map(|record| record.number);
        if last.unwrap_or(0) != wanted {
            return Err(AppendError::Conflict { actual: last.map(StreamVersion) });
        }
        let cursor = LogPosition(u64::try_from(log.records.len()).expect("a few") + 1);
        log.records.push(LedgerRecord {
            position: cursor,
            stream: stream.clone(),
            number,
            version: StreamVersion(number),
            events: events.to_vec(),
        });
        self.shared.rung.notify_all();
        Ok(StreamVersion(number))
    }

    fn read(
        &self,
        stream: &StreamId,
        after: Option<StreamVersion>,
    ) -> Result<Vec<LedgerRecord>, LedgerError> {
        let later = |record: &&LedgerRecord| Some(record.version) > after;
        Ok(self.shared.log().of(stream).filter(later).cloned().collect())
    }

    fn read_all(&self, after: LogPosition, max: usize) -> Result<Vec<LedgerRecord>, LedgerError> {
        let log = self.shared.log();
        let later = log.records.iter().filter(|record| record.position > after);
        Ok(later.take(max).cloned().collect())
    }

    fn read_with_prefix(&self, prefix: &str) -> Result<Vec<LedgerRecord>, LedgerError> {
        let log = self.shared.log();
        let below = log.records.iter().filter(|record| record.stream.as_str().starts_with(prefix));
        let mut below: Vec<LedgerRecord> = below.cloned().collect();
        below.sort_by_key(|record| (record.stream.clone(), record.number));
        Ok(below)
    }

    fn last_per_stream(&self, prefix: &str) -> Result<Vec<LedgerRecord>, LedgerError> {
        let mut last: Vec<LedgerRecord> = Vec::new();
        for record in self.read_with_prefix(prefix)? {
            if last.last().is_some_and(|known| known.stream == record.stream) {
                last.pop();
            }
            last.push(record);
        }
        Ok(last)
    }

    fn latest_with_prefix(
        &self,
        prefix: &str,
        max: usize,
    ) -> Result<Vec<LedgerRecord>, LedgerError> {
        let mut below = self.read_with_prefix(prefix)?;
        below.sort_by_key(|record| std::cmp::Reverse(record.position));
        below.truncate(max);
        Ok(below)
    }

    fn append_missing(&self, streams: &[(StreamId, Vec<Envelope>)]) -> Result<usize, AppendError> {
        let mut new = 0;
        for (stream, events) in streams {
            let records: Vec<LedgerRecord> = self.shared.log().of(stream).cloned().collect();
            let mut known: BTreeSet<String> =
                records.iter().flat_map(|record| &record.events).map(|e| e.id.clone()).collect();
            let missing: Vec<Envelope> =
                events.iter().filter(|event| known.insert(event.id.clone())).cloned().collect();
            for event in &missing {
                encode_record(stream, std::slice::from_ref(event))?;
            }
            let mut last = records.last().map(|record| record.version);
            for event in &missing {
                let event = std::slice::from_ref(event);
                last = Some(self.append(stream, ExpectedVersion::after(last), event)?);
            }
            new += missing.len();
        }
        Ok(new)
    }

    fn watch(&self) -> Result<Box<dyn LedgerWatch>, LedgerError> {
        Ok(Box::new(MemoryWatch(Arc::clone(&self.shared))))
    }

    fn acquire_lease(&self, name: &str) -> Result<Lease, LeaseError> {
        if !self.shared.log().held.insert(name.to_owned()) {
            return Err(LeaseError::Taken(name.to_owned()));
        }
        Ok(Lease::new(MemoryLease { shared: Arc::clone(&self.shared), name: name.to_owned() }))
    }

    fn store_blob(&self, blob: &Blob<'_>) -> Result<(), LedgerError> {
        let mut log = self.shared.log();
        let hash = blob.hash().clone();
        let kept = log.blobs.entry(hash.clone()).or_insert_with(|| Some(blob.bytes().to_vec()));
        if kept.is_some() { Ok(()) } else { Err(LedgerError::Forgotten(hash)) }
    }

    fn get_blob(&self, hash: &BlobHash) -> Result<Option<Vec<u8>>, LedgerError> {
        Ok(self.shared.log().blobs.get(hash).cloned().flatten())
    }

    fn blobs_with_prefix(&self, beginning: &str) -> Result<Vec<BlobHash>, LedgerError> {
        let log = self.shared.log();
        let fitting = log
            .blobs
            .iter()
            .filter(|(hash, kept)| hash.as_str().starts_with(beginning) && kept.is_some());
        Ok(fitting.map(|(hash, _)| hash.clone()).collect())
    }

    fn forget_blob(&self, hash: &BlobHash) -> Result<(), LedgerError> {
        let mut log = self.shared.log();
        log.blobs.insert(hash.clone(), None);
        for envelope in log.records.iter_mut().flat_map(|record| &mut record.events) {
            if let Some(event) = envelope.event.without_text(hash) {
                envelope.event = event;
            }
        }
        Ok(())
    }

    fn forget_session(&self, client: &str, session: &SessionId) -> Result<usize, LedgerError> {
        let mut log = self.shared.log();
        let mut forgotten = 0;
        for envelope in log.records.iter_mut().flat_map(|record| &mut record.events) {
            if let Some(event) = envelope.event.without_session(client, session) {
                envelope.event = event;
                forgotten += 1;
            }
        }
        Ok(forgotten)
    }
}

struct MemoryWatch(Arc<Shared>);

impl LedgerWatch for MemoryWatch {
    fn wait(&mut self, at_most: Duration) {
        let log = self.0.log();
        drop(self.0.rung.wait_timeout(log, at_most));
    }
}

struct MemoryLease {
    shared: Arc<Shared>,
    name: String,
}

impl Drop for MemoryLease {
    fn drop(&mut self) {
        self.shared.log().held.remove(&self.name);
    }
}
