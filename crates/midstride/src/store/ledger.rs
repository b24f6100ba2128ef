//! The ledger: an append-only event log, divided into streams. All shared state is a fold over it.
//!
//! The compare-and-set of an append is the only lock: the first writer at the expected version
//! wins, and every later one gets a conflict. Each engine is one file and passes one conformance
//! suite.

mod bell;
mod folder;
mod health;
pub(crate) mod large_blobs;
mod lease;
mod redaction;
mod schema;
mod spool;
mod sqlite;

pub(crate) use folder::LedgerFolder;
pub use health::{LedgerHealth, LedgerState};
pub use lease::{Lease, LeaseError};
pub use schema::NEWEST_VERSION;
pub(crate) use sqlite::FILE as LEDGER_FILE;
pub(in crate::store) use sqlite::require_database;
pub use sqlite::{SqliteLedger, WaitPolicy};

/// What the engine stores in its folder: all of it is read through the ledger.
pub(crate) const LEDGER_FILES: [&str; 7] = [
    LEDGER_FILE,
    "ledger.db-wal",
    "ledger.db-shm",
    "ledger.bell",
    sqlite::SET_UP,
    large_blobs::FOLDER,
    spool::FOLDER,
];

use crate::sys::ids::sha256;
use midstride_core::text::id::{BlobHash, HandoffId, SessionId, TaskId, Uid};
use midstride_core::work::event::Envelope;
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Size limit of a record. A larger payload is stored as a blob that the record refers to.
pub const RECORD_BYTES_MAX: usize = 64 << 10;

/// The name of a stream, such as `handoff/<uid>`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(String);

impl StreamId {
    /// The stream of a handoff.
    pub fn handoff(uid: &Uid) -> Self {
        Self(format!("handoff/{uid}"))
    }

    /// The stream of a task.
    pub fn task(id: &TaskId) -> Self {
        Self(format!("{}{}", Self::TASKS, id.as_str()))
    }

    /// Name prefix of all task streams.
    pub(crate) const TASKS: &str = "task/";

    /// The stream of a stored text, by the text's id.
    pub fn text(hash: &BlobHash) -> Self {
        Self(format!("{}{hash}", Self::TEXTS))
    }

    /// Name prefix of all streams of stored texts.
    pub const TEXTS: &str = "text/";

    /// The stream of what other clones propose for a stored text.
    pub(crate) fn proposal(hash: &BlobHash) -> Self {
        Self(format!("{}{hash}", Self::PROPOSALS))
    }

    /// Name prefix of all streams of proposals.
    pub(crate) const PROPOSALS: &str = "proposed/text/";

    /// Whether this is the stream of what other clones propose for a stored text.
    pub fn is_proposal(&self) -> bool {
        self.0.starts_with(Self::PROPOSALS)
    }

    /// The stream of where a redacted text is stored now.
    pub(crate) fn redaction(hash: &BlobHash) -> Self {
        Self(format!("{}{hash}", Self::REDACTIONS))
    }

    /// Name prefix of all streams of redactions. They are not exchanged with other clones.
    pub(crate) const REDACTIONS: &str = "redacted/text/";

    /// The hash of the text, if this is the stream of a text or of a proposal about one.
    pub(crate) fn text_hash(&self) -> Option<BlobHash> {
        let name = self.0.strip_prefix(Self::TEXTS).or(self.0.strip_prefix(Self::PROPOSALS));
        BlobHash::parse(name?)
    }

    /// The stream of the user's standing instructions.
    pub fn instructions() -> Self {
        Self("instructions".to_owned())
    }

    /// The stream of the mission.
    pub fn mission() -> Self {
        Self("mission".to_owned())
    }

    /// The task id, if this is the stream of a task.
    pub fn task_id(&self) -> Option<TaskId> {
        TaskId::parse(self.0.strip_prefix(Self::TASKS)?)
    }

    /// The stream of a session.
    pub fn session(client: &str, id: &SessionId) -> Self {
        Self(format!("{}{client}/{id}", Self::SESSIONS))
    }

    /// Name prefix of all session streams.
    pub(crate) const SESSIONS: &str = "session/";

    /// The stream of what was delivered to a session and what the session picked up.
    pub(crate) fn deliveries(client: &str, session: &SessionId) -> Self {
        Self(format!("{}{client}/{session}", Self::DELIVERIES))
    }

    /// Name prefix of all delivery streams.
    pub(crate) const DELIVERIES: &str = "receipt/";

    /// The stream of a workflow.
    pub fn workflow(name: &HandoffId) -> Self {
        Self(format!("{}{name}", Self::WORKFLOWS))
    }

    /// Name prefix of all workflow streams.
    pub(crate) const WORKFLOWS: &str = "workflow/";

    /// A stream by its full name.
    pub fn from_name(name: &str) -> Self {
        Self(name.to_owned())
    }

    /// The name of the stream.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The version of a stream. Only the engine interprets the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamVersion(pub u64);

/// A position in the whole log; later records have higher positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogPosition(pub u64);

/// The stream version that an append expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedVersion {
    /// The stream does not exist yet.
    NoStream,
    /// Exactly this version.
    Exact(StreamVersion),
}

impl ExpectedVersion {
    /// Expects the version that a read ended with.
    pub fn after(version: Option<StreamVersion>) -> Self {
        version.map_or(Self::NoStream, Self::Exact)
    }
}

/// One append: one or more events that were recorded together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerRecord {
    /// Its position in the whole log.
    pub position: LogPosition,
    /// The stream it belongs to.
    pub stream: StreamId,
    /// Its number in the stream, counted from 1 without gaps.
    pub number: u64,
    /// The stream version after this record.
    pub version: StreamVersion,
    /// The recorded events.
    pub events: Vec<Envelope>,
}

/// Why nothing was appended, or why the outcome is unknown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppendError {
    /// Another writer appended first.
    #[error("another writer appended to the stream first")]
    Conflict {
        /// The current version of the stream.
        actual: Option<StreamVersion>,
    },
    /// The engine failed midway. Append the same events again to find out.
    #[error("the change may not have been recorded: {0}")]
    Ambiguous(String),
    /// Other writers held the lock for too long. Nothing was recorded.
    #[error("the ledger cannot be written: {0}")]
    Busy(String),
    /// The engine cannot be reached or refuses the record. Nothing was recorded.
    #[error("the ledger cannot be written: {0}")]
    Unavailable(String),
    /// The record is over [`RECORD_BYTES_MAX`].
    #[error("a record of {0} bytes is too large; the maximum is {RECORD_BYTES_MAX}")]
    TooLarge(usize),
    /// There are no events to record.
    #[error("a record must have at least one event")]
    Empty,
}

/// Encodes events as one record, or fails if they cannot be one. All engines share these limits.
pub fn encode_record(stream: &StreamId, events: &[Envelope]) -> Result<String, AppendError> {
    if events.is_empty() {
        return Err(AppendError::Empty);
    }
    let events: Vec<Value> =
        events.iter().map(|event| event.to_cloud_event(stream.as_str())).collect();
    let text = Value::Array(events).to_string();
    if text.len() > RECORD_BYTES_MAX { Err(AppendError::TooLarge(text.len())) } else { Ok(text) }
}

/// Why a ledger cannot be opened or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// A newer midstride created it; it was left untouched.
    #[error("`{}` has version {found}; this midstride supports {known}", path.display())]
    Newer {
        /// The database.
        path: PathBuf,
        /// The version of the database.
        found: u32,
        /// The newest version this midstride supports.
        known: u32,
    },
    /// The file is not a ledger or is damaged.
    #[error("`{}` cannot be read: {message}", path.display())]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// The database was set up before and has no schema now.
    #[error("`{}` was set up earlier and is now empty", path.display())]
    Emptied {
        /// The database.
        path: PathBuf,
    },
    /// The database is missing or empty, and its log has data. Neither was touched.
    #[error(
        "`{}` is {}, but its log `{}` has data",
        path.display(),
        if *is_missing { "missing" } else { "empty" },
        log.display()
    )]
    OrphanedLog {
        /// The database.
        path: PathBuf,
        /// Its write-ahead log.
        log: PathBuf,
        /// Whether the database is missing; otherwise it is empty.
        is_missing: bool,
    },
    /// The engine cannot be reached or did not answer in time.
    #[error("the ledger cannot be used: {0}")]
    Unavailable(String),
    /// Exactly these bytes were forgotten and cannot be stored again.
    #[error("`{0}` was forgotten and cannot be stored again")]
    Forgotten(BlobHash),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] crate::sys::files::FileError),
}

/// Waits for new records. A wake-up is only a hint: read the ledger to find out.
pub trait LedgerWatch {
    /// Waits until something may have been recorded, or until the time is up.
    fn wait(&mut self, at_most: Duration);
}

/// Bytes with their hash, computed once because hashing megabytes takes a millisecond.
#[derive(Debug)]
pub struct Blob<'b> {
    hash: BlobHash,
    bytes: Cow<'b, [u8]>,
}

impl<'b> Blob<'b> {
    /// Computes the hash of the bytes.
    pub fn new(bytes: impl Into<Cow<'b, [u8]>>) -> Self {
        let bytes = bytes.into();
        Self { hash: BlobHash::new(sha256(&bytes)), bytes }
    }

    /// The SHA-256 in hexadecimal.
    pub fn hash(&self) -> &BlobHash {
        &self.hash
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// An append-only log with streams, blobs and leases.
pub trait Ledger {
    /// Appends events as one record, if the stream is at the expected version. Appending the same
    /// event ids at the same version again succeeds without a second record.
    fn append(
        &self,
        stream: &StreamId,
        expected: ExpectedVersion,
        events: &[Envelope],
    ) -> Result<StreamVersion, AppendError>;

    /// The records of a stream after a version, in order.
    fn read(
        &self,
        stream: &StreamId,
        after: Option<StreamVersion>,
    ) -> Result<Vec<LedgerRecord>, LedgerError>;

    /// At most `max` records after a position, in log order.
    fn read_all(&self, after: LogPosition, max: usize) -> Result<Vec<LedgerRecord>, LedgerError>;

    /// The records of all streams whose names start with `prefix`, each stream in order.
    fn read_with_prefix(&self, prefix: &str) -> Result<Vec<LedgerRecord>, LedgerError>;

    /// The last record of each stream whose name starts with `prefix`, sorted by name. The cost
    /// depends on the number of matching streams, not on how many records they or others have.
    fn last_per_stream(&self, prefix: &str) -> Result<Vec<LedgerRecord>, LedgerError>;
    /// The newest records of all streams whose names start with `prefix`, newest first, at most
    /// `max`.
    fn latest_with_prefix(
        &self,
        prefix: &str,
        max: usize,
    ) -> Result<Vec<LedgerRecord>, LedgerError>;

    /// Appends the events whose ids are not yet in their stream, one record each, at whatever
    /// version the stream has; returns how many were new. This is for events from other machines
    /// and for events that do not depend on state. An event that depends on the state of its stream
    /// needs `append` with the expected version.
    fn append_missing(&self, streams: &[(StreamId, Vec<Envelope>)]) -> Result<usize, AppendError>;

    /// Watches for records appended from now on.
    fn watch(&self) -> Result<Box<dyn LedgerWatch>, LedgerError>;

    /// Takes a lease that ends when the guard is dropped or this process exits.
    fn acquire_lease(&self, name: &str) -> Result<Lease, LeaseError>;

    /// Stores bytes. They are durable at the latest when the next record is.
    fn store_blob(&self, blob: &Blob<'_>) -> Result<(), LedgerError>;

    /// Like `store_blob`, and returns the SHA-256 in hexadecimal.
    fn put_blob(&self, bytes: &[u8]) -> Result<BlobHash, LedgerError> {
        let blob = Blob::new(bytes);
        self.store_blob(&blob)?;
        Ok(blob.hash)
    }

    /// The stored bytes of a hash; `None` if there are none.
    fn get_blob(&self, hash: &BlobHash) -> Result<Option<Vec<u8>>, LedgerError>;

    /// The hashes of all stored bytes that start with `beginning`.
    fn blobs_with_prefix(&self, beginning: &str) -> Result<Vec<BlobHash>, LedgerError>;

    /// Deletes stored bytes for good, together with what events quote from them, and refuses to
    /// store them again. No file of the engine keeps any of them. Forgetting them twice is not an
    /// error.
    fn forget_blob(&self, hash: &BlobHash) -> Result<(), LedgerError>;

    /// Deletes the words that events quote from a session for good; returns how many events quoted
    /// any. The events keep their ids, so the same words are not appended again. Forgetting a
    /// session twice is not an error.
    fn forget_session(&self, client: &str, session: &SessionId) -> Result<usize, LedgerError>;
}
