//! The ledger: an append-only event log, divided into streams. All shared state is a fold over it.
//!
//! The compare-and-set of an append is the only lock: the first writer at the expected version
//! wins, and every later one gets a conflict. This crate has no input or output. It says what an engine
//! promises, what a ledger that stays on one machine can do in addition, and how a decision is retried.
//! Engines are elsewhere, except the one in memory; each of them passes the suite in `conformance`.

mod blob;
#[cfg(feature = "conformance")]
pub mod conformance;
mod contract;
mod decide;
mod encoding;
mod error;
mod lease;
mod local;
mod memory;
mod record;
pub mod redaction;
mod stream;

pub use blob::Blob;
pub use contract::{Append, Ledger, LedgerWatch};
pub use decide::{AppendDecision, decide};
pub use encoding::{decode_record, encode_record};
pub use error::{AppendError, EngineError, LedgerError};
pub use lease::{Lease, LeaseError, LeaseGuard, LeaseOwner};
pub use local::{LocalLedger, RecordOutcome};
pub use memory::MemoryLedger;
pub use record::{Cursor, ExpectedVersion, LedgerRecord, Page, RECORD_BYTES_MAX, Version};
pub use redaction::LedgerRedaction;
pub use stream::StreamId;
