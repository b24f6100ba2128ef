//! Why a ledger cannot be read or written.

use crate::{RECORD_BYTES_MAX, Version};
use midstride_core::text::id::BlobHash;

/// Why nothing was appended, or why the outcome is unknown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AppendError {
    /// Another writer appended first.
    #[error("another writer appended to the stream first")]
    Conflict {
        /// The current version of the stream.
        actual: Option<Version>,
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

/// An error of one engine. Surfaces that know the engine look at its type.
pub type EngineError = Box<dyn std::error::Error + Send + Sync>;

/// Why a ledger cannot be opened or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// The engine cannot be reached or did not answer in time.
    #[error("the ledger cannot be used: {0}")]
    Unavailable(String),
    /// Exactly these bytes were forgotten and cannot be stored again.
    #[error("`{0}` was forgotten and cannot be stored again")]
    Forgotten(BlobHash),
    /// It is not a cursor of this ledger.
    #[error("`{0}` is not a position in the ledger")]
    Cursor(String),
    /// Something that only this engine knows.
    #[error("{0}")]
    Engine(#[source] EngineError),
}

impl LedgerError {
    /// The error of the engine, if it is of this type.
    pub fn engine<E: std::error::Error + 'static>(&self) -> Option<&E> {
        match self {
            Self::Engine(error) => error.downcast_ref(),
            Self::Unavailable(_) | Self::Forgotten(_) | Self::Cursor(_) => None,
        }
    }
}
