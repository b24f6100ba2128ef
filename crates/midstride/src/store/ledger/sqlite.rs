//! The ledger in SQLite: embedded, one file, any number of processes.

use super::append_queue::{AppendQueue, QueuedAppend};
use super::schema::{NEWEST_VERSION, damaged, migrate, version as schema_version};
use super::{
    Append, AppendError, Blob, Cursor, DatabaseError, Lease, LeaseError, Ledger, LedgerError,
    LedgerRecord, LocalLedger, Page, RecordOutcome, StreamId, Version, WaitPolicy, bell,
    large_blobs, lease, project,
};
use crate::store::sqlite_log;
use crate::sys::clock::Deadline;
use crate::sys::files::{self, Root};
use crate::sys::ids::sha256;
use jiff::Timestamp;
use midstride_core::text::id::{BlobHash, SessionId};
use midstride_core::text::redact::RedactionRules;
use midstride_core::work::event::{Envelope, Event};
use midstride_ledger::redaction::state_blobs;
use midstride_ledger::{LedgerRedaction, LedgerWatch, decode_record, encode_record};
use rusqlite::{Connection, ErrorCode, OptionalExtension as _, Transaction, TransactionBehavior};
use serde_json::Value;
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(crate) const FILE: &str = "ledger.db";
/// The mark that is written once the database is set up, so a database without a schema beside it has
/// lost its content.
pub(super) const SET_UP: &str = "ledger-ready";
/// A log of this many pages is written back even while the database is open.
const LOG_PAGES_MAX: u32 = 500;
/// How many streams `append_missing` writes in one transaction.
const STREAMS_AT_ONCE: usize = 500;

/// The bytes stored under a hash; empty bytes are a tombstone.
const BLOB_QUERY: &str = "SELECT bytes FROM blobs WHERE hash = ?1";

/// A ledger in a folder.
#[derive(Debug)]
pub struct SqliteLedger {
    folder: Arc<Root>,
    path: PathBuf,
    wait_policy: WaitPolicy,
    connection: Mutex<Connection>,
    queue: AppendQueue,
    /// Whether the database has its schema. Until then, its log is not truncated.
    is_ready: bool,
}

impl SqliteLedger {
    /// Opens the ledger in a folder.
    pub fn open_in(
        folder: impl Into<Arc<Root>>,
        wait_policy: WaitPolicy,
    ) -> Result<Self, LedgerError> {
        let folder = folder.into();
        let path = folder.path().join(FILE);
        let size = require_database(&path)?;
        if size.is_none() && !folder.try_exists(Path::new(FILE))? {
            // The user moved a damaged database away to start a new one.
            files::remove_if_exists(&folder.path().join(SET_UP))?;
        }
        // SQLite gives its log and its shared memory the mode of the database.
        folder.prepare_private(Path::new(FILE))?;
        let connection = connect(&path, wait_policy).map_err(|error| damaged(&path, &error))?;
        let mut ledger = Self {
            folder,
            path,
            wait_policy,
            connection: Mutex::new(connection),
            queue: AppendQueue::default(),
            is_ready: false,
        };
        ledger.prepare()?;
        ledger.is_ready = true;
        Ok(ledger)
    }

    /// Sets up a new database or upgrades an older one. A lock makes processes that start at once take
    /// turns: SQLite does not wait for other processes when the journal mode changes, and a database
    /// without a schema beside the mark must not be one that another process is setting up.
    fn prepare(&self) -> Result<(), LedgerError> {
        let mut connection = self.connection();
        let failed = |error: rusqlite::Error| damaged(&self.path, &error);
        connection.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
        let has_wal = uses_wal(&connection).map_err(failed)?;
        if has_wal && schema_version(&connection).map_err(failed)? == NEWEST_VERSION {
            return self.mark_as_set_up();
        }
        let _turn = project::lock(&self.folder, "ledger", self.wait_policy)?;
        self.require_content(&connection)?;
        if !has_wal {
            let deadline = Deadline::after(self.wait_policy.timeout());
            while let Err(error) = connection.pragma_update(None, "journal_mode", "WAL") {
                // A process that opened the database earlier may still be reading it.
                if !is_busy(&error) || deadline.has_passed() {
                    return Err(failed(error));
                }
                std::thread::yield_now();
            }
        }
        migrate(&mut connection, &self.path)?;
        self.mark_as_set_up()
    }

    fn mark_as_set_up(&self) -> Result<(), LedgerError> {
        match self.folder.try_exists(Path::new(SET_UP))? {
            true => Ok(()),
            false => Ok(self.folder.put(Path::new(SET_UP), b"")?),
        }
    }

    /// Fails if the database was set up before and has no schema now. SQLite would take an empty file for
    /// a new database, and so it does if the log that had everything was deleted or damaged. A damaged
    /// log that leaves an earlier state with a schema is not noticed.
    fn require_content(&self, connection: &Connection) -> Result<(), LedgerError> {
        let version = schema_version(connection).map_err(|error| damaged(&self.path, &error))?;
        if version > 0 || !self.folder.try_exists(Path::new(SET_UP))? {
            return Ok(());
        }
        Err(DatabaseError::Emptied { path: self.path.clone() }.into())
    }

    pub(super) fn folder(&self) -> &Root {
        &self.folder
    }

    pub(super) fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn unreadable(&self, error: &rusqlite::Error) -> LedgerError {
        damaged(&self.path, error)
    }

    /// Stores a blob in the database.
    fn insert_blob(&self, blob: &Blob<'_>) -> Result<(), LedgerError> {
        let connection = self.connection();
        let store = || -> rusqlite::Result<usize> {
            // No sync here: the log is one file, so the record that refers to the blob syncs the
            // blob too.
            connection.pragma_update(None, "synchronous", "NORMAL")?;
            let sql = "INSERT OR IGNORE INTO blobs (hash, bytes) VALUES (?1, ?2)";
            let stored = connection.execute(sql, (blob.hash().as_str(), blob.bytes()));
            connection.pragma_update(None, "synchronous", "FULL")?;
            stored
        };
        let is_new = store().map_err(|error| self.unreadable(&error))? > 0;
        drop(connection);
        if !is_new && self.get_blob(blob.hash())?.is_none() {
            return Err(LedgerError::Forgotten(blob.hash().clone()));
        }
        Ok(())
    }

    /// The bytes stored in the database under a hash; empty bytes are a tombstone.
    fn blob_row(&self, hash: &BlobHash) -> Result<Option<Vec<u8>>, LedgerError> {
        let row = self.connection().query_row(BLOB_QUERY, [hash.as_str()], |row| row.get(0));
        let found = row.optional();
        found.map_err(|error| self.unreadable(&error))
    }
}

/// Fails if a database is missing or empty and its log has data, which may be the only copy: SQLite
/// deletes the log of an empty database when it opens it, even to read. Returns the size of the
/// database. Looks at the log first, because a process that sets up a ledger writes the database first.
pub(in crate::store) fn require_database(path: &Path) -> Result<Option<u64>, LedgerError> {
    let has_log = sqlite_log::has_data(path);
    let size = files::size(path);
    match size {
        None | Some(0) if has_log => {
            let (path, log) = (path.to_owned(), sqlite_log::path(path));
            Err(DatabaseError::OrphanedLog { path, log, is_missing: size.is_none() }.into())
        }
        _ => Ok(size),
    }
}

/// Whether the ledger in a folder was set up.
pub(super) fn is_set_up(folder: &Path) -> bool {
    files::is_file(&folder.join(SET_UP))
}

fn connect(path: &Path, wait_policy: WaitPolicy) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(wait_policy.timeout())?;
    sqlite_log::keep_on_close(&connection)?;
    connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES_MAX)?;
    Ok(connection)
}

fn uses_wal(connection: &Connection) -> rusqlite::Result<bool> {
    let mode: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
    Ok(mode == "wal")
}

fn is_busy(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

impl Drop for SqliteLedger {
    fn drop(&mut self) {
        // The log of a damaged database may be all there is to recover.
        if !self.is_ready {
            return;
        }
        sqlite_log::truncate_if_long(&self.connection(), &self.path);
    }
}

impl SqliteLedger {
    /// The records of a query, whose columns are position, stream, number and events.
    fn records(
        &self,
        sql: &str,
        parameters: impl rusqlite::Params,
    ) -> Result<Vec<RecordRow>, LedgerError> {
        let connection = self.connection();
        let mut statement = connection.prepare_cached(sql).map_err(|e| self.unreadable(&e))?;
        let rows = statement.query_map(parameters, RecordRow::from_row);
        rows.and_then(Iterator::collect).map_err(|error| self.unreadable(&error))
    }

    /// Records appends that wait, in one transaction.
    fn record(&self, queued: &[Arc<QueuedAppend>]) {
        if append_all(&mut self.connection(), queued) > 0 {
            // The records are stored whether or not a watcher wakes up.
            let _ = bell::ring(&self.folder);
        }
    }
}

impl Ledger for SqliteLedger {
    fn append_all(&self, appends: &[Append<'_>]) -> Vec<Result<Version, AppendError>> {
        let queued: Vec<Result<Arc<QueuedAppend>, AppendError>> =
            appends.iter().map(QueuedAppend::new).collect();
        let valid: Vec<Arc<QueuedAppend>> =
            queued.iter().filter_map(|one| one.as_ref().ok().cloned()).collect();
        let mut results = self.queue.append(&valid, |batch| self.record(batch)).into_iter();
        let missing = || AppendError::Ambiguous("the append has no result".to_owned());
        let result =
            |one: Result<_, _>| one.and_then(|_| results.next().unwrap_or_else(|| Err(missing())));
        queued.into_iter().map(result).collect()
    }

    fn read_page(
        &self,
        stream: &StreamId,
        after: Option<Version>,
        max: usize,
    ) -> Result<Vec<LedgerRecord>, LedgerError> {
        let after = after.map_or(0, |version| version.to_engine().cast_signed());
        let sql = "SELECT position, stream, number, events FROM records
                   WHERE stream = ?1 AND number > ?2 ORDER BY number LIMIT ?3";
        let records = self.records(sql, (stream.as_str(), after, limit(max)))?;
        Ok(records.into_iter().map(RecordRow::decode).collect())
    }

    fn read_all(&self, after: &Cursor, max: usize) -> Result<Page, LedgerError> {
        let place = after.to_engine().unwrap_or("0");
        let position: i64 = place.parse().map_err(|_| LedgerError::Cursor(place.to_owned()))?;
        let sql = "SELECT position, stream, number, events FROM records
                   WHERE position > ?1 ORDER BY position LIMIT ?2";
        let records = self.records(sql, (position, limit(max)))?;
        let place = |last: &RecordRow| last.position.to_string();
        Ok(page(records, after, place))
    }

    fn read_prefix_page(
        &self,
        prefix: &str,
        after: &Cursor,
        max: usize,
    ) -> Result<Page, LedgerError> {
        let place = after.to_engine().and_then(|place| place.split_once(' '));
        // No record has a number below 1.
        let (number, stream) = place.unwrap_or(("0", prefix));
        let number: i64 = number.parse().unwrap_or_default();
        // Range comparisons, so that SQLite uses the index on streams.
        let sql = "SELECT position, stream, number, events FROM records
                   WHERE (stream, number) > (?1, ?2) AND stream < ?3 || char(1114111)
                   ORDER BY stream, number LIMIT ?4";
        let records = self.records(sql, (stream, number, prefix, limit(max)))?;
        let place = |last: &RecordRow| format!("{} {}", last.number, last.stream);
        Ok(page(records, after, place))
    }

    fn last_per_stream_page(
        &self,
        prefix: &str,
        after: &Cursor,
        max: usize,
    ) -> Result<Page, LedgerError> {
        // The first name after the one where the last page ended.
        let first = after.to_engine().map_or(prefix.to_owned(), |stream| format!("{stream}\0"));
        // The subquery reads only the index on streams.
        let sql = "SELECT position, stream, number, events FROM records WHERE (stream, number) IN
                   (SELECT stream, max(number) FROM records
                    WHERE stream >= ?1 AND stream < ?2 || char(1114111)
                    GROUP BY stream ORDER BY stream LIMIT ?3)
                   ORDER BY stream";
        let records = self.records(sql, (first, prefix, limit(max)))?;
        Ok(page(records, after, |last: &RecordRow| last.stream.clone()))
    }

    fn watch(&self) -> Result<Box<dyn LedgerWatch>, LedgerError> {
        Ok(Box::new(bell::BellWatch::new(self.folder.path())))
    }

    fn acquire_lease(&self, name: &str) -> Result<Lease, LeaseError> {
        lease::acquire(&self.folder, name)
    }

    fn store_blob(&self, blob: &Blob<'_>) -> Result<(), LedgerError> {
        if !large_blobs::is_large(blob) {
            return self.insert_blob(blob);
        }
        if self.blob_row(blob.hash())?.is_none() {
            large_blobs::put(&self.folder, blob)?;
        }
        // Another process may have forgotten the blob meanwhile.
        if self.blob_row(blob.hash())?.is_some_and(|bytes| is_tombstone(blob.hash(), &bytes)) {
            large_blobs::remove(&self.folder, blob.hash())?;
            return Err(LedgerError::Forgotten(blob.hash().clone()));
        }
        Ok(())
    }

    fn get_blob(&self, hash: &BlobHash) -> Result<Option<Vec<u8>>, LedgerError> {
        if let Some(bytes) = self.blob_row(hash)? {
            return Ok(Some(bytes).filter(|bytes| !is_tombstone(hash, bytes)));
        }
        if let Some(bytes) = large_blobs::get(&self.folder, hash)? {
            return Ok(Some(bytes));
        }
        match self.redacted_as(hash)? {
            Some(clean) => self.get_blob(&clean),
            None => Ok(None),
        }
    }
}

impl LocalLedger for SqliteLedger {
    fn append_missing(
        &self,
        streams: &[(StreamId, Vec<Envelope>)],
    ) -> Result<RecordOutcome, AppendError> {
        let mut new = 0;
        // Other processes wait for each transaction, so transactions are short.
        for some in streams.chunks(STREAMS_AT_ONCE) {
            new += append_missing(&mut self.connection(), some)?;
        }
        if new > 0 {
            let _ = bell::ring(&self.folder);
        }
        Ok(RecordOutcome::New(new))
    }

    fn latest_with_prefix(
        &self,
        prefix: &str,
        max: usize,
    ) -> Result<Vec<LedgerRecord>, LedgerError> {
        // The subquery reads only the index on streams; events are read only for the rows returned.
        let sql = "SELECT position, stream, number, events FROM records WHERE position IN (
                       SELECT position FROM records
                       WHERE stream >= ?1 AND stream < ?1 || char(1114111)
                       ORDER BY +position DESC LIMIT ?2
                   ) ORDER BY position DESC";
        let records = self.records(sql, (prefix, limit(max)))?;
        Ok(records.into_iter().map(RecordRow::decode).collect())
    }

    fn forgotten_blobs(&self) -> Result<BTreeSet<BlobHash>, LedgerError> {
        let sql = "SELECT hash FROM blobs WHERE length(bytes) = 0 AND hash != ?1";
        let connection = self.connection();
        let mut statement = connection.prepare_cached(sql).map_err(|e| self.unreadable(&e))?;
        let rows = statement
            .query_map([sha256(b"")], |row| row.get::<_, String>(0).map(BlobHash::new))
            .and_then(Iterator::collect);
        rows.map_err(|error| self.unreadable(&error))
    }

    fn redact(
        &self,
        rules: &RedactionRules,
        now: Timestamp,
    ) -> Result<LedgerRedaction, LedgerError> {
        let records = self.redact_records(rules)?;
        let states = state_blobs(self.read_with_prefix(StreamId::WORKFLOWS)?);
        let mut blobs = 0;
        for hash in self.blobs_with_prefix("")? {
            blobs += usize::from(self.redact_blob(&hash, rules, states.contains(&hash), now)?);
        }
        Ok(LedgerRedaction { records, blobs, waiting: 0 })
    }

    fn erase_unused(&self) -> Result<(), LedgerError> {
        self.rewrite_pages(&self.connection())
    }

    fn blobs_with_prefix(&self, beginning: &str) -> Result<Vec<BlobHash>, LedgerError> {
        let sql = "SELECT hash FROM blobs WHERE hash >= ?1 AND hash < ?1 || 'g'
                   AND (length(bytes) > 0 OR hash = ?2) ORDER BY hash";
        let connection = self.connection();
        let mut statement = connection.prepare_cached(sql).map_err(|e| self.unreadable(&e))?;
        let rows = statement
            .query_map((beginning, sha256(b"")), |row| row.get::<_, String>(0).map(BlobHash::new));
        let inside: rusqlite::Result<BTreeSet<BlobHash>> = rows.and_then(Iterator::collect);
        let mut hashes = inside.map_err(|error| self.unreadable(&error))?;
        // A process killed while forgetting a blob leaves its file; the tombstone row identifies
        // it.
        let is_kept = |hash: &BlobHash| {
            connection.prepare_cached(BLOB_QUERY)?.exists([hash.as_str()]).map(|it| !it)
        };
        for hash in large_blobs::with_prefix(&self.folder, beginning)? {
            if is_kept(&hash).map_err(|error| self.unreadable(&error))? {
                hashes.insert(hash);
            }
        }
        Ok(hashes.into_iter().collect())
    }

    fn forget_blob(&self, hash: &BlobHash) -> Result<(), LedgerError> {
        let clean = self.redacted_as(hash)?;
        let mut connection = self.connection();
        let failed = |error: rusqlite::Error| self.unreadable(&error);
        for hash in clean.iter().chain([hash]) {
            erase_blob(&mut connection, hash).map_err(failed)?;
            large_blobs::remove(&self.folder, hash)?;
        }
        self.rewrite_pages(&connection)
    }

    fn forget_session(&self, client: &str, session: &SessionId) -> Result<usize, LedgerError> {
        let mut connection = self.connection();
        let forgotten = erase_session_quotes(&mut connection, client, session)
            .map_err(|error| self.unreadable(&error))?;
        self.rewrite_pages(&connection)?;
        Ok(forgotten)
    }
}

impl SqliteLedger {
    /// Rewrites all pages, because the bytes of a moved row stay in its old page, and empties the
    /// log, which has the old pages.
    pub(super) fn rewrite_pages(&self, connection: &Connection) -> Result<(), LedgerError> {
        let failed = |error: rusqlite::Error| self.unreadable(&error);
        connection.execute_batch("VACUUM").map_err(failed)?;
        let emptied = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0));
        let is_in_use: bool = emptied.map_err(failed)?;
        if is_in_use {
            let message =
                "other processes keep reading it, so its log still contains what was forgotten";
            return Err(LedgerError::Unavailable(message.to_owned()));
        }
        Ok(())
    }
}

/// Whether a row is a tombstone: empty bytes under a hash that is not the hash of empty bytes.
/// Older versions do not overwrite it either.
fn is_tombstone(hash: &BlobHash, bytes: &[u8]) -> bool {
    bytes.is_empty() && hash.as_str() != sha256(b"")
}

/// Replaces bytes with a tombstone and removes what events quote from them.
fn erase_blob(connection: &mut Connection, hash: &BlobHash) -> rusqlite::Result<()> {
    connection.pragma_update(None, "secure_delete", "ON")?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let sql = "INSERT INTO blobs (hash, bytes) VALUES (?1, x'')
               ON CONFLICT (hash) DO UPDATE SET bytes = x''";
    transaction.execute(sql, [hash.as_str()])?;
    rewrite(&transaction, hash.as_str(), |event| event.without_text(hash))?;
    transaction.commit()
}

/// Removes what events quote from a session.
fn erase_session_quotes(
    connection: &mut Connection,
    client: &str,
    session: &SessionId,
) -> rusqlite::Result<usize> {
    connection.pragma_update(None, "secure_delete", "ON")?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let rewritten =
        rewrite(&transaction, session.as_str(), |event| event.without_session(client, session))?;
    transaction.commit()?;
    Ok(rewritten)
}

/// Rewrites the events that quote something and counts them. Records that do not contain the needle
/// are not read.
fn rewrite(
    transaction: &Transaction<'_>,
    needle: &str,
    without: impl Fn(&Event) -> Option<Event>,
) -> rusqlite::Result<usize> {
    let sql = "SELECT position, stream, number, events FROM records WHERE instr(events, ?1) > 0";
    let records: Vec<RecordRow> = {
        let mut statement = transaction.prepare(sql)?;
        let rows = statement.query_map([needle], RecordRow::from_row)?;
        rows.collect::<rusqlite::Result<_>>()?
    };
    let mut rewritten = 0;
    for stored in records {
        let (before, position) = (rewritten, stored.position);
        let record = stored.decode();
        let mut encoded = Vec::new();
        for envelope in record.events {
            let event = without(&envelope.event);
            rewritten += usize::from(event.is_some());
            let event = event.unwrap_or_else(|| envelope.event.clone());
            encoded.push(Envelope { event, ..envelope }.to_cloud_event(record.stream.as_str()));
        }
        if rewritten > before {
            let text = Value::Array(encoded).to_string();
            let sql = "UPDATE records SET events = ?1 WHERE position = ?2";
            transaction.execute(sql, (text, position))?;
        }
    }
    Ok(rewritten)
}

/// Decides queued appends in order and records the winners in one transaction. Returns how many records
/// are new.
fn append_all(connection: &mut Connection, queued: &[Arc<QueuedAppend>]) -> usize {
    let mut decided = || -> rusqlite::Result<(Vec<Result<Version, AppendError>>, usize)> {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut new = 0;
        let decide = |one: &Arc<QueuedAppend>| {
            let (result, is_new) = append_one(&transaction, one)?;
            new += usize::from(is_new);
            Ok(result)
        };
        let results = queued.iter().map(decide).collect::<rusqlite::Result<Vec<_>>>()?;
        if new > 0 {
            transaction.commit()?;
        }
        Ok((results, new))
    };
    match decided() {
        Ok((results, new)) => {
            for (one, result) in queued.iter().zip(results) {
                one.set_result(result);
            }
            new
        }
        Err(error) => {
            // One that lost may have lost to a record that was not stored either.
            for one in queued {
                one.set_result(Err(unavailable(&error)));
            }
            0
        }
    }
}

/// Decides one append as part of a transaction; returns whether its record is new.
fn append_one(
    transaction: &Transaction<'_>,
    queued: &QueuedAppend,
) -> rusqlite::Result<(Result<Version, AppendError>, bool)> {
    let QueuedAppend { stream, expected, ids, text, .. } = queued;
    let version = |number: i64| Version::from_engine(number.cast_unsigned());
    let last: Option<i64> = transaction
        .prepare_cached("SELECT max(number) FROM records WHERE stream = ?1")?
        .query_row([stream.as_str()], |row| row.get(0))?;
    let wanted = expected.cast_signed();
    let next = wanted + 1;
    // Checked before the version, because otherwise a retry would conflict with its own record.
    if last.is_some_and(|last| last >= next) && ids_at(transaction, stream, next)? == *ids {
        return Ok((Ok(version(next)), false));
    }
    if last.unwrap_or(0) != wanted {
        return Ok((Err(AppendError::Conflict { actual: last.map(version) }), false));
    }
    transaction
        .prepare_cached("INSERT INTO records (stream, number, events) VALUES (?1, ?2, ?3)")?
        .execute((stream.as_str(), next, text))?;
    Ok((Ok(version(next)), true))
}

/// Appends the events that streams do not have yet, all or none.
fn append_missing(
    connection: &mut Connection,
    streams: &[(StreamId, Vec<Envelope>)],
) -> Result<usize, AppendError> {
    let failed = |error: rusqlite::Error| unavailable(&error);
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let mut new = 0;
    for (stream, events) in streams {
        new += append_missing_in(&transaction, stream, events)?;
    }
    transaction.commit().map_err(failed)?;
    Ok(new)
}

/// Appends the events that a stream does not have yet, as part of a transaction.
pub(super) fn append_missing_in(
    transaction: &Transaction<'_>,
    stream: &StreamId,
    events: &[Envelope],
) -> Result<usize, AppendError> {
    let failed = |error: rusqlite::Error| unavailable(&error);
    let (last, mut known) = stream_state(transaction, stream).map_err(failed)?;
    let mut insert = transaction
        .prepare_cached("INSERT INTO records (stream, number, events) VALUES (?1, ?2, ?3)")
        .map_err(failed)?;
    let missing = events.iter().filter(|event| known.insert(event.id.clone()));
    let mut new = 0;
    for (number, event) in (last + 1..).zip(missing) {
        let text = encode_record(stream, std::slice::from_ref(event))?;
        insert.execute((stream.as_str(), number, text)).map_err(failed)?;
        new += 1;
    }
    Ok(new)
}

/// The version of a stream and the ids of its events.
fn stream_state(
    connection: &Connection,
    stream: &StreamId,
) -> rusqlite::Result<(i64, HashSet<String>)> {
    let sql = "SELECT position, stream, number, events FROM records WHERE stream = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let records: Vec<RecordRow> = statement
        .query_map([stream.as_str()], RecordRow::from_row)?
        .collect::<rusqlite::Result<_>>()?;
    let last = records.iter().map(|record| record.number).max().unwrap_or_default();
    let ids = records.into_iter().flat_map(|record| record.decode().events).map(|event| event.id);
    Ok((last, ids.collect()))
}

fn ids_at(
    connection: &Connection,
    stream: &StreamId,
    number: i64,
) -> rusqlite::Result<Vec<String>> {
    let sql =
        "SELECT position, stream, number, events FROM records WHERE stream = ?1 AND number = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row((stream.as_str(), number), RecordRow::from_row).optional()?;
    let events = found.map(|found| found.decode().events).unwrap_or_default();
    Ok(events.into_iter().map(|event| event.id).collect())
}

/// A record as it is stored.
struct RecordRow {
    position: i64,
    stream: String,
    number: i64,
    events: String,
}

impl RecordRow {
    fn from_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            position: row.get(0)?,
            stream: row.get(1)?,
            number: row.get(2)?,
            events: row.get(3)?,
        })
    }

    fn decode(self) -> LedgerRecord {
        LedgerRecord {
            cursor: Cursor::from_engine(self.position.to_string()),
            stream: StreamId::from_name(&self.stream),
            version: Version::from_engine(self.number.cast_unsigned()),
            events: decode_record(&self.events),
        }
    }
}

fn limit(max: usize) -> i64 {
    i64::try_from(max).unwrap_or(i64::MAX)
}

/// A page of records, which ends at the place of the last one.
fn page(records: Vec<RecordRow>, after: &Cursor, place: impl Fn(&RecordRow) -> String) -> Page {
    let next = records.last().map(|last| Cursor::from_engine(place(last)));
    let records = records.into_iter().map(RecordRow::decode).collect();
    Page { records, next: next.unwrap_or_else(|| after.clone()) }
}

/// A failed commit is rolled back; only an I/O error leaves the outcome unknown.
fn unavailable(error: &rusqlite::Error) -> AppendError {
    match error.sqlite_error_code() {
        Some(ErrorCode::SystemIoFailure) => AppendError::Ambiguous(error.to_string()),
        _ if is_busy(error) => AppendError::Busy(error.to_string()),
        _ => AppendError::Unavailable(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::ledger::ExpectedVersion;
    use crate::sys::files::ScratchFolder;
    use midstride_core::work::event::TaskEvent;

    const THREADS: usize = 32;

    fn event(id: usize) -> Envelope {
        Envelope {
            id: id.to_string(),
            time: Timestamp::UNIX_EPOCH,
            source: "test".to_owned(),
            received_from: None,
            event: Event::Task(TaskEvent::Noted { text: "x".to_owned() }),
        }
    }

    fn append(ledger: &SqliteLedger, id: usize) {
        let stream = StreamId::from_name(&format!("stream-{id}"));
        ledger.append(&stream, ExpectedVersion::NoStream, &[event(id)]).unwrap();
    }

    /// How many transactions a write-ahead log has: a frame that ends one names the size of the database.
    fn transactions(log: &[u8]) -> usize {
        const HEADER: usize = 32;
        const FRAME_HEADER: usize = 24;
        let page = u32::from_be_bytes(log[8..12].try_into().unwrap()) as usize;
        let frames = log[HEADER..].chunks(FRAME_HEADER + page);
        frames.filter(|frame| frame[4..8] != [0; 4]).count()
    }

    #[test]
    fn appends_that_wait_share_a_transaction() {
        let folder = ScratchFolder::new("midstride-queue").unwrap();
        let ledger =
            SqliteLedger::open_in(Root::open(folder.path()).unwrap(), WaitPolicy::Command).unwrap();
        let root = Root::open(folder.path()).unwrap();
        let log = || transactions(&root.read(Path::new("ledger.db-wal")).unwrap());
        let before = log();
        let other = Connection::open(folder.path().join("ledger.db")).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| append(&ledger, 0));
            // The first append has left the queue, and waits for the other process.
            while ledger.queue.progress() != (0, true) {
                std::thread::yield_now();
            }
            for id in 1..THREADS {
                let ledger = &ledger;
                scope.spawn(move || append(ledger, id));
            }
            while ledger.queue.progress() != (THREADS - 1, true) {
                std::thread::yield_now();
            }
            other.execute_batch("COMMIT").unwrap();
        });
        assert_eq!(log() - before, 2, "the first append, and all others together");
        let records = ledger.read_with_prefix("stream-").unwrap();
        assert_eq!(records.len(), THREADS);
        drop(ledger);
        folder.remove().unwrap();
    }
}
