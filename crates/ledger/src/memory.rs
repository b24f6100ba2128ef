//! A ledger in memory, for tests of code that uses a ledger.

use crate::redaction::{redact_bytes, redact_record, redacted_as, redaction_event, state_blobs};
use crate::{
    Append, AppendError, Blob, Cursor, ExpectedVersion, Lease, LeaseError, LeaseGuard, LeaseOwner,
    Ledger, LedgerError, LedgerRecord, LedgerRedaction, LedgerWatch, LocalLedger, Page,
    RecordOutcome, StreamId, Version, decode_record, encode_record,
};
use jiff::Timestamp;
use midstride_core::text::id::{BlobHash, SessionId};
use midstride_core::text::redact::RedactionRules;
use midstride_core::work::event::Envelope;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A ledger in memory. Clones share their records, as processes share a database.
#[derive(Clone, Debug, Default)]
pub struct MemoryLedger {
    shared: Arc<SharedLog>,
}

#[derive(Debug, Default)]
struct SharedLog {
    log: Mutex<Log>,
    appended: Condvar,
}

#[derive(Debug, Default)]
struct Log {
    records: Vec<MemoryRecord>,
    /// Blobs by hash; `None` is a tombstone.
    blobs: BTreeMap<BlobHash, Option<Vec<u8>>>,
    /// The holders of leases, by name. A number distinguishes a lost lease from a later one.
    held: BTreeMap<String, (u64, LeaseOwner)>,
    leases: u64,
}

/// A record as an engine stores it: as text.
#[derive(Clone, Debug)]
struct MemoryRecord {
    /// Its place in the log, counted from 1.
    position: usize,
    stream: StreamId,
    number: u64,
    events: String,
}

impl MemoryRecord {
    fn read(&self) -> LedgerRecord {
        LedgerRecord {
            cursor: Cursor::from_engine(self.position.to_string()),
            stream: self.stream.clone(),
            version: Version::from_engine(self.number),
            events: decode_record(&self.events),
        }
    }

    fn key(&self) -> (&StreamId, u64) {
        (&self.stream, self.number)
    }
}

impl SharedLog {
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Log {
    fn of<'l>(&'l self, stream: &'l StreamId) -> impl Iterator<Item = &'l MemoryRecord> {
        self.records.iter().filter(move |record| record.stream == *stream)
    }

    fn last_number(&self, stream: &StreamId) -> u64 {
        self.of(stream).map(|record| record.number).max().unwrap_or_default()
    }

    /// The records of some streams, sorted by stream, each stream in order.
    fn below(&self, prefix: &str) -> Vec<&MemoryRecord> {
        let is_below = |record: &&MemoryRecord| record.stream.as_str().starts_with(prefix);
        let mut below: Vec<&MemoryRecord> = self.records.iter().filter(is_below).collect();
        below.sort_by_key(|record| record.key());
        below
    }

    fn push(&mut self, stream: &StreamId, events: String) -> u64 {
        let number = self.last_number(stream) + 1;
        let position = self.records.len() + 1;
        self.records.push(MemoryRecord { position, stream: stream.clone(), number, events });
        number
    }

    fn append(&mut self, append: &Append<'_>) -> Result<Version, AppendError> {
        let Append { stream, expected, events } = *append;
        let text = encode_record(stream, events)?;
        let wanted = match expected {
            ExpectedVersion::NoStream => 0,
            ExpectedVersion::Exact(version) => version.to_engine(),
        };
        let next = self.of(stream).find(|record| record.number == wanted + 1);
        if next.is_some_and(|record| ids(&record.read().events) == ids(events)) {
            return Ok(Version::from_engine(wanted + 1));
        }
        let last = self.last_number(stream);
        if last != wanted {
            let actual = (last > 0).then(|| Version::from_engine(last));
            return Err(AppendError::Conflict { actual });
        }
        Ok(Version::from_engine(self.push(stream, text)))
    }

    /// Appends the events of a stream that it does not have yet; returns how many were new.
    fn append_missing(
        &mut self,
        stream: &StreamId,
        events: &[Envelope],
    ) -> Result<usize, AppendError> {
        let mut known: BTreeSet<String> =
            self.of(stream).flat_map(|record| record.read().events).map(|it| it.id).collect();
        let missing = events.iter().filter(|event| known.insert(event.id.clone()));
        let texts = missing.map(|event| encode_record(stream, std::slice::from_ref(event)));
        let texts: Vec<String> = texts.collect::<Result<_, _>>()?;
        let count = texts.len();
        for text in texts {
            self.push(stream, text);
        }
        Ok(count)
    }

    /// Rewrites the events that `without` changes, and counts them.
    fn rewrite(&mut self, without: impl Fn(&Envelope) -> Option<Envelope>) -> usize {
        let mut rewritten = 0;
        for record in &mut self.records {
            let mut events = decode_record(&record.events);
            let before = rewritten;
            for envelope in &mut events {
                if let Some(changed) = without(envelope) {
                    *envelope = changed;
                    rewritten += 1;
                }
            }
            if rewritten > before {
                record.events = encode_record(&record.stream, &events)
                    .expect("a record gets smaller without its quotes");
            }
        }
        rewritten
    }
}

fn ids(events: &[Envelope]) -> Vec<&str> {
    events.iter().map(|event| event.id.as_str()).collect()
}

impl MemoryLedger {
    /// Records text that is not what an engine writes, as a newer or a damaged one would have.
    #[cfg(feature = "conformance")]
    pub fn push_text(&self, stream: &StreamId, events: &str) {
        self.shared.log().push(stream, events.to_owned());
    }

    /// Takes a lease away from its holder, as a network does when the holder is silent for too long.
    #[cfg(feature = "conformance")]
    pub fn lose_lease(&self, name: &str) {
        self.shared.log().held.remove(name);
    }
}

impl Ledger for MemoryLedger {
    fn append_all(&self, appends: &[Append<'_>]) -> Vec<Result<Version, AppendError>> {
        let mut log = self.shared.log();
        let results = appends.iter().map(|append| log.append(append)).collect();
        self.shared.appended.notify_all();
        results
    }

    fn read_page(
        &self,
        stream: &StreamId,
        after: Option<Version>,
        max: usize,
    ) -> Result<Vec<LedgerRecord>, LedgerError> {
        let log = self.shared.log();
        let mut later: Vec<LedgerRecord> = log.of(stream).map(MemoryRecord::read).collect();
        later.retain(|record| Some(record.version) > after);
        later.sort_by_key(|record| record.version);
        later.truncate(max);
        Ok(later)
    }

    fn read_all(&self, after: &Cursor, max: usize) -> Result<Page, LedgerError> {
        let place = after.to_engine().unwrap_or("0");
        let place: usize = place.parse().map_err(|_| LedgerError::Cursor(place.to_owned()))?;
        let log = self.shared.log();
        let some = log.records.iter().skip(place).take(max);
        let records: Vec<LedgerRecord> = some.map(MemoryRecord::read).collect();
        let next = records.last().map_or(after, |last| &last.cursor).clone();
        Ok(Page { records, next })
    }

    fn read_prefix_page(
        &self,
        prefix: &str,
        after: &Cursor,
        max: usize,
    ) -> Result<Page, LedgerError> {
        let place = after.to_engine().and_then(|place| place.split_once(' '));
        let place = place.map(|(number, stream)| {
            (StreamId::from_name(stream), number.parse::<u64>().unwrap_or_default())
        });
        let log = self.shared.log();
        let below = log.below(prefix).into_iter();
        let is_later = |record: &&MemoryRecord| {
            place.as_ref().is_none_or(|(stream, number)| record.key() > (stream, *number))
        };
        let some: Vec<&MemoryRecord> = below.filter(is_later).take(max).collect();
        let next =
            some.last().map(|last| Cursor::from_engine(format!("{} {}", last.number, last.stream)));
        let records = some.into_iter().map(MemoryRecord::read).collect();
        Ok(Page { records, next: next.unwrap_or_else(|| after.clone()) })
    }

    fn last_per_stream_page(
        &self,
        prefix: &str,
        after: &Cursor,
        max: usize,
    ) -> Result<Page, LedgerError> {
        let log = self.shared.log();
        let mut last: BTreeMap<&StreamId, &MemoryRecord> = BTreeMap::new();
        for record in log.below(prefix) {
            last.insert(&record.stream, record);
        }
        let after = after.to_engine().map(StreamId::from_name);
        let later = last.into_values().filter(|record| Some(&record.stream) > after.as_ref());
        let records: Vec<LedgerRecord> = later.take(max).map(MemoryRecord::read).collect();
        let next = records.last().map(|record| record.stream.clone()).or(after);
        let next = next.map_or(Cursor::START, |stream| Cursor::from_engine(stream.as_str()));
        Ok(Page { records, next })
    }

    fn watch(&self) -> Result<Box<dyn LedgerWatch>, LedgerError> {
        let seen = self.shared.log().records.len();
        Ok(Box::new(MemoryWatch { shared: Arc::clone(&self.shared), seen }))
    }

    fn acquire_lease(&self, name: &str) -> Result<Lease, LeaseError> {
        let mut log = self.shared.log();
        if let Some((_, owner)) = log.held.get(name) {
            let owner = Some(owner.clone());
            return Err(LeaseError::Taken { name: name.to_owned(), owner });
        }
        log.leases += 1;
        let number = log.leases;
        let owner = LeaseOwner {
            host: "memory".to_owned(),
            boot: String::new(),
            pid: u32::try_from(number).unwrap_or(u32::MAX),
            since: Timestamp::UNIX_EPOCH,
        };
        log.held.insert(name.to_owned(), (number, owner.clone()));
        let shared = Arc::clone(&self.shared);
        Ok(Lease::new(owner, MemoryLease { shared, name: name.to_owned(), number }))
    }

    fn store_blob(&self, blob: &Blob<'_>) -> Result<(), LedgerError> {
        let mut log = self.shared.log();
        let hash = blob.hash().clone();
        let kept = log.blobs.entry(hash.clone()).or_insert_with(|| Some(blob.bytes().to_vec()));
        if kept.is_some() { Ok(()) } else { Err(LedgerError::Forgotten(hash)) }
    }

    fn get_blob(&self, hash: &BlobHash) -> Result<Option<Vec<u8>>, LedgerError> {
        if let Some(kept) = self.shared.log().blobs.get(hash) {
            return Ok(kept.clone());
        }
        match redacted_as(hash, |stream| self.read(stream, None))? {
            Some(clean) => Ok(self.shared.log().blobs.get(&clean).cloned().flatten()),
            None => Ok(None),
        }
    }
}

impl LocalLedger for MemoryLedger {
    fn append_missing(
        &self,
        streams: &[(StreamId, Vec<Envelope>)],
    ) -> Result<RecordOutcome, AppendError> {
        let mut log = self.shared.log();
        let mut new = 0;
        for (stream, events) in streams {
            new += log.append_missing(stream, events)?;
        }
        self.shared.appended.notify_all();
        Ok(RecordOutcome::New(new))
    }

    fn latest_with_prefix(
        &self,
        prefix: &str,
        max: usize,
    ) -> Result<Vec<LedgerRecord>, LedgerError> {
        let log = self.shared.log();
        let newest = log.records.iter().rev();
        let below = newest.filter(|record| record.stream.as_str().starts_with(prefix));
        Ok(below.take(max).map(MemoryRecord::read).collect())
    }

    fn blobs_with_prefix(&self, beginning: &str) -> Result<Vec<BlobHash>, LedgerError> {
        let log = self.shared.log();
        let kept = log.blobs.iter().filter(|(_, kept)| kept.is_some());
        let fitting = kept.filter(|(hash, _)| hash.as_str().starts_with(beginning));
        Ok(fitting.map(|(hash, _)| hash.clone()).collect())
    }

    fn forgotten_blobs(&self) -> Result<BTreeSet<BlobHash>, LedgerError> {
        let log = self.shared.log();
        let forgotten = log.blobs.iter().filter(|(_, kept)| kept.is_none());
        Ok(forgotten.map(|(hash, _)| hash.clone()).collect())
    }

    fn forget_blob(&self, hash: &BlobHash) -> Result<(), LedgerError> {
        let clean = redacted_as(hash, |stream| self.read(stream, None))?;
        let mut log = self.shared.log();
        for hash in clean.iter().chain([hash]) {
            log.blobs.insert(hash.clone(), None);
            log.rewrite(|envelope| {
                let event = envelope.event.without_text(hash)?;
                Some(Envelope { event, ..envelope.clone() })
            });
        }
        Ok(())
    }

    fn forget_session(&self, client: &str, session: &SessionId) -> Result<usize, LedgerError> {
        Ok(self.shared.log().rewrite(|envelope| {
            let event = envelope.event.without_session(client, session)?;
            Some(Envelope { event, ..envelope.clone() })
        }))
    }

    fn redact(
        &self,
        rules: &RedactionRules,
        now: Timestamp,
    ) -> Result<LedgerRedaction, LedgerError> {
        let states = state_blobs(self.read_with_prefix(StreamId::WORKFLOWS)?);
        let mut log = self.shared.log();
        let mut done = LedgerRedaction::default();
        for place in 0..log.records.len() {
            let MemoryRecord { stream, events, .. } = &log.records[place];
            let Some((clean, events)) = redact_record(stream.as_str(), events, rules) else {
                continue;
            };
            let (clean, is_moved) = (StreamId::from_name(&clean), clean != stream.as_str());
            let number = log.last_number(&clean) + 1;
            let record = &mut log.records[place];
            record.events = events;
            if is_moved {
                (record.stream, record.number) = (clean, number);
            }
            done.records += 1;
        }
        let kept = log.blobs.iter().filter_map(|(hash, kept)| Some((hash, kept.as_ref()?)));
        let dirty = kept.filter_map(|(hash, bytes)| {
            Some((hash.clone(), redact_bytes(bytes, rules, states.contains(hash))?))
        });
        for (hash, clean) in dirty.collect::<Vec<_>>() {
            let blob = Blob::new(clean);
            log.blobs.remove(&hash);
            log.blobs.entry(blob.hash().clone()).or_insert_with(|| Some(blob.bytes().to_vec()));
            let (stream, event) = redaction_event(&hash, blob.hash(), now);
            log.append_missing(&stream, &[event])
                .map_err(|error| LedgerError::Unavailable(error.to_string()))?;
            done.blobs += 1;
        }
        Ok(done)
    }

    fn erase_unused(&self) -> Result<(), LedgerError> {
        Ok(())
    }
}

struct MemoryWatch {
    shared: Arc<SharedLog>,
    /// How many records there were at the last wake-up, so that one that came since is not missed.
    seen: usize,
}

impl LedgerWatch for MemoryWatch {
    fn wait(&mut self, at_most: Duration) {
        let log = self.shared.log();
        let seen = self.seen;
        let is_quiet = |log: &mut Log| log.records.len() <= seen;
        let waited = self.shared.appended.wait_timeout_while(log, at_most, is_quiet);
        let (log, _) = waited.unwrap_or_else(PoisonError::into_inner);
        self.seen = log.records.len();
    }
}

struct MemoryLease {
    shared: Arc<SharedLog>,
    name: String,
    number: u64,
}

impl LeaseGuard for MemoryLease {
    fn is_lost(&self) -> bool {
        self.shared.log().held.get(&self.name).is_none_or(|(number, _)| *number != self.number)
    }
}

impl Drop for MemoryLease {
    fn drop(&mut self) {
        if !self.is_lost() {
            self.shared.log().held.remove(&self.name);
        }
    }
}
