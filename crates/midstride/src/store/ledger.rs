//! The ledger: an append-only log of what happened, in streams. All coordination is a fold of it.
//!
//! The compare-and-set of an append is the only lock: whoever appends at the expected version wins,
//! whoever comes later conflicts. Engines are one file each and pass one conformance suite.

mod bell;
mod folder;
mod health;
pub(crate) mod large_blobs;
mod lease;
mod schema;
mod spool;
mod sqlite;

pub use folder::LedgerFolder;
pub use health::{LedgerHealth, LedgerState};
pub use lease::{Lease, LeaseError};
pub use schema::NEWEST_VERSION;
pub use sqlite::{SqliteLedger, WaitPolicy};

use crate::sys::ids::sha256;
use midstride_core::text::id::{HandoffId, TaskId};
use midstride_core::work::event::Envelope;
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// A larger record goes to a blob first, and names it.
pub const RECORD_BYTES_MAX: usize = 64 << 10;

/// What a stream is about: `handoff/<uid>`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(String);

impl StreamId {
    /// The stream of a handoff.
    pub fn handoff(uid: &str) -> Self {
        Self(format!("handoff/{uid}"))
    }

    /// The stream of a task.
    pub fn task(id: &TaskId) -> Self {
        Self(format!("{}{}", Self::TASKS, id.as_str()))
    }

    /// What the names of all streams of tasks start with.
    pub const TASKS: &str = "task/";

    /// The stream of a kept text, by its id.
    pub fn text(hash: &str) -> Self {
        Self(format!("{}{hash}", Self::TEXTS))
    }

    /// What the names of all streams of kept texts start with.
    pub const TEXTS: &str = "text/";

    /// The text that a stream is about.
    pub fn text_hash(&self) -> Option<&str> {
        let hash = self.0.strip_prefix(Self::TEXTS)?;
        let plain = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        (matches!(hash.len(), 40 | 64) && hash.bytes().all(plain)).then_some(hash)
    }

    /// The stream of the user's standing instructions.
    pub fn instructions() -> Self {
        Self("instructions".to_owned())
    }

    /// The stream of the mission.
    pub fn mission() -> Self {
        Self("mission".to_owned())
    }

    /// The task that a stream is about.
    pub fn task_id(&self) -> Option<TaskId> {
        TaskId::parse(self.0.strip_prefix(Self::TASKS)?)
    }

    /// The stream of a session.
    pub fn session(client: &str, id: &str) -> Self {
        Self(format!("{}{client}/{id}", Self::SESSIONS))
    }

    /// What the names of all streams of sessions start with.
    pub const SESSIONS: &str = "session/";

    /// The stream of what a session was told and took over.
    pub fn deliveries(client: &str, session: &str) -> Self {
        Self(format!("{}{client}/{session}", Self::DELIVERIES))
    }

    /// What the names of all streams of receipts start with.
    pub const DELIVERIES: &str = "receipt/";

    /// The stream of a workflow.
    pub fn workflow(name: &HandoffId) -> Self {
        Self(format!("{}{name}", Self::WORKFLOWS))
    }

    /// What the names of all streams of workflows start with.
    pub const WORKFLOWS: &str = "workflow/";

    /// A stream by its whole name.
    pub fn from_name(name: &str) -> Self {
        Self(name.to_owned())
    }

    /// Its name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where a stream stands. What it says is the engine's business.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamVersion(pub u64);

/// A place in the whole log; what was recorded later stands behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogPosition(pub u64);

/// Where an append expects the stream to stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedVersion {
    /// Nothing was appended to it yet.
    NoStream,
    /// Exactly here.
    Exact(StreamVersion),
}

impl ExpectedVersion {
    /// The version that a read ended with, as what the next append expects.
    pub fn after(version: Option<StreamVersion>) -> Self {
        version.map_or(Self::NoStream, Self::Exact)
    }
}

/// One append: one or more events that were recorded together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerRecord {
    /// Its place in the whole log.
    pub position: LogPosition,
    /// The stream.
    pub stream: StreamId,
    /// Counted from one, without a gap, in its stream.
    pub number: u64,
    /// Where the stream stands with it.
    pub version: StreamVersion,
    /// What happened.
    pub events: Vec<Envelope>,
}

/// Why nothing was appended, or why nobody knows whether it was.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// Somebody else was faster.
    #[error("the stream has moved on")]
    Conflict {
        /// Where it stands now.
        actual: Option<StreamVersion>,
    },
    /// The engine was lost on the way; append the same events again to know.
    #[error("whether it was recorded is not known: {0}")]
    Ambiguous(String),
    /// Others write all the time. Nothing was recorded.
    #[error("the ledger cannot be written: {0}")]
    Busy(String),
    /// The engine cannot be reached, or does not take it. Nothing was recorded.
    #[error("the ledger cannot be written: {0}")]
    Unavailable(String),
    /// The record is over [`RECORD_BYTES_MAX`].
    #[error("a record of {0} bytes is too large; at most {RECORD_BYTES_MAX} fit")]
    TooLarge(usize),
    /// Nothing to record.
    #[error("a record has at least one event")]
    Empty,
}

/// Events as one record is written, if they may be one; the same limits hold for every engine.
pub fn encode_record(stream: &StreamId, events: &[Envelope]) -> Result<String, AppendError> {
    if events.is_empty() {
        return Err(AppendError::Empty);
    }
    let events: Vec<Value> =
        events.iter().map(|event| event.to_cloud_event(stream.as_str())).collect();
    let text = Value::Array(events).to_string();
    if text.len() > RECORD_BYTES_MAX { Err(AppendError::TooLarge(text.len())) } else { Ok(text) }
}

/// Why a ledger cannot be read or opened.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// A newer midstride made it; it was not touched.
    #[error("`{}` is of version {found}; this midstride knows {known}", path.display())]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest one known here.
        known: u32,
    },
    /// The file is no ledger, or is damaged.
    #[error("`{}` cannot be read: {message}", path.display())]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// The engine cannot be reached, or did not answer in time.
    #[error("the ledger cannot be used: {0}")]
    Unavailable(String),
    /// Exactly these bytes were forgotten; they are not stored again.
    #[error("`{0}` was forgotten, and is not stored again")]
    Forgotten(String),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] crate::sys::files::FileError),
}

/// Waits for news. A wake-up is a hint, never the truth: read again to know.
pub trait LedgerWatch {
    /// Waits until something may have been recorded, or the time is over.
    fn wait(&mut self, at_most: Duration);
}

/// Bytes with their hash, which is taken once: that of megabytes takes a millisecond.
#[derive(Debug)]
pub struct Blob<'b> {
    hash: String,
    bytes: Cow<'b, [u8]>,
}

impl<'b> Blob<'b> {
    /// Takes the hash of bytes.
    pub fn new(bytes: impl Into<Cow<'b, [u8]>>) -> Self {
        let bytes = bytes.into();
        Self { hash: sha256(&bytes), bytes }
    }

    /// Their SHA-256 in hexadecimal.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// An append-only log with streams, blobs and leases.
pub trait Ledger {
    /// Appends events as one record, if the stream stands where it is expected. The same ids at the
    /// same place are fine again.
    fn append(
        &self,
        stream: &StreamId,
        expected: ExpectedVersion,
        events: &[Envelope],
    ) -> Result<StreamVersion, AppendError>;

    /// The records of a stream behind a version, in order.
    fn read(
        &self,
        stream: &StreamId,
        after: Option<StreamVersion>,
    ) -> Result<Vec<LedgerRecord>, LedgerError>;

    /// At most `max` records behind a cursor, in the order of the log.
    fn read_all(&self, after: LogPosition, max: usize) -> Result<Vec<LedgerRecord>, LedgerError>;

    /// The records of all streams whose names start like this, each stream in order.
    fn read_with_prefix(&self, prefix: &str) -> Result<Vec<LedgerRecord>, LedgerError>;

    /// The last record of each stream whose name starts like this, by name. It costs what there are
    /// streams of, however much happened in them and in others.
    fn last_per_stream(&self, prefix: &str) -> Result<Vec<LedgerRecord>, LedgerError>;
    /// The last records of all streams whose names start like this, the latest first, at most `max`.
    fn latest_with_prefix(
        &self,
        prefix: &str,
        max: usize,
    ) -> Result<Vec<LedgerRecord>, LedgerError>;

    /// Appends the events that a stream does not know by their ids yet, a record each, wherever it
    /// stands; gives back how many those were. Events from elsewhere come in here, and those that hang
    /// on no state: what is decided on a stream is appended at the expected version.
    fn append_missing(&self, streams: &[(StreamId, Vec<Envelope>)]) -> Result<usize, AppendError>;

    /// Waits for what is recorded from now on.
    fn watch(&self) -> Result<Box<dyn LedgerWatch>, LedgerError>;

    /// Takes a lease that ends with the guard, or with this process.
    fn acquire_lease(&self, name: &str) -> Result<Lease, LeaseError>;

    /// Stores bytes. They last as soon as anything that is recorded later does.
    fn store_blob(&self, blob: &Blob<'_>) -> Result<(), LedgerError>;

    /// The same, and gives back their SHA-256 in hexadecimal.
    fn put_blob(&self, bytes: &[u8]) -> Result<String, LedgerError> {
        let blob = Blob::new(bytes);
        self.store_blob(&blob)?;
        Ok(blob.hash)
    }

    /// Stored bytes; `None` where there are none of that hash.
    fn get_blob(&self, hash: &str) -> Result<Option<Vec<u8>>, LedgerError>;

    /// The hashes that start like this, of all stored bytes.
    fn blobs_with_prefix(&self, beginning: &str) -> Result<Vec<String>, LedgerError>;

    /// Takes stored bytes away for good, with what events quote of them, and never stores them again.
    /// Nothing of them is left in any file of the engine. Doing it again is fine.
    fn forget_blob(&self, hash: &str) -> Result<(), LedgerError>;

    /// Takes the words away for good that events quote of a session; gives back how many events did. The
    /// events keep their ids, so that the same words do not come in again. Doing it again is fine.
    fn forget_session(&self, client: &str, session: &str) -> Result<usize, LedgerError>;
}
