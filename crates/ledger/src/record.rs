//! Records, versions and pages.

use crate::StreamId;
use midstride_core::work::event::Envelope;

/// Size limit of a record. A larger payload is stored as a blob that the record refers to.
pub const RECORD_BYTES_MAX: usize = 64 << 10;

/// The version of a stream. Later versions of one stream are higher; nothing else can be said about the
/// number, which only the engine interprets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(u64);

impl Version {
    /// A version, for engines.
    pub fn from_engine(number: u64) -> Self {
        Self(number)
    }

    /// The number that the engine chose.
    pub fn to_engine(self) -> u64 {
        self.0
    }
}

/// The stream version that an append expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedVersion {
    /// The stream does not exist yet.
    NoStream,
    /// Exactly this version.
    Exact(Version),
}

impl ExpectedVersion {
    /// Expects the version that a read ended with.
    pub fn after(version: Option<Version>) -> Self {
        version.map_or(Self::NoStream, Self::Exact)
    }
}

/// Where a reader continues. A reader keeps it and hands it back; only the engine and the call that returned
/// it give it a meaning.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cursor(Option<String>);

impl Cursor {
    /// Before the first record.
    pub const START: Self = Self(None);

    /// A cursor, for engines.
    pub fn from_engine(place: impl Into<String>) -> Self {
        Self(Some(place.into()))
    }

    /// What the engine wrote into it; `None` before the first record.
    pub fn to_engine(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

/// Some records, and where to continue. A page without records is the end for now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The records, in order.
    pub records: Vec<LedgerRecord>,
    /// Where the next page begins.
    pub next: Cursor,
}

/// One append: one or more events that were recorded together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerRecord {
    /// Where a reader of the whole log continues after it.
    pub cursor: Cursor,
    /// The stream it belongs to.
    pub stream: StreamId,
    /// The stream version after this record.
    pub version: Version,
    /// The recorded events. One that this version cannot read is `Event::Unknown`.
    pub events: Vec<Envelope>,
}
