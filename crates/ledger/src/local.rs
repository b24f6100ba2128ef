//! What a ledger on one machine can do in addition. A log over a network cannot promise it.

use crate::{AppendError, Ledger, LedgerError, LedgerRecord, LedgerRedaction, StreamId, redaction};
use jiff::Timestamp;
use midstride_core::text::id::{BlobHash, SessionId};
use midstride_core::text::redact::RedactionRules;
use midstride_core::work::event::Envelope;
use std::collections::BTreeSet;

/// The result for events that do not depend on the state of their streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordOutcome {
    /// This number of them were new and are recorded.
    New(usize),
    /// They are on disk, and the next command records those that are new.
    Later,
}

/// A ledger that stays on one machine.
pub trait LocalLedger: Ledger {
    /// Appends the events whose ids are not yet in their stream, one record each, at any version of the
    /// stream. This is for events from other machines and for events that do not depend on state. An
    /// event that depends on the state of its stream needs `append` with the expected version.
    fn append_missing(
        &self,
        streams: &[(StreamId, Vec<Envelope>)],
    ) -> Result<RecordOutcome, AppendError>;

    /// The newest records of all streams whose names start with `prefix`, newest first, at most `max`.
    fn latest_with_prefix(
        &self,
        prefix: &str,
        max: usize,
    ) -> Result<Vec<LedgerRecord>, LedgerError>;

    /// The hashes of all stored bytes that start with `beginning`.
    fn blobs_with_prefix(&self, beginning: &str) -> Result<Vec<BlobHash>, LedgerError>;

    /// The hashes of the bytes that were forgotten.
    fn forgotten_blobs(&self) -> Result<BTreeSet<BlobHash>, LedgerError>;

    /// Deletes stored bytes for good, together with what events quote from them, and refuses to store
    /// them again. No file of the engine keeps any of them. Forgetting them twice is not an error.
    fn forget_blob(&self, hash: &BlobHash) -> Result<(), LedgerError>;

    /// Deletes the words that events quote from a session for good; returns how many events quoted any.
    /// The events keep their ids, so the same words are not appended again. Forgetting a session twice is
    /// not an error.
    fn forget_session(&self, client: &str, session: &SessionId) -> Result<usize, LedgerError>;

    /// Redacts all records and blobs with these rules. A blob is stored again under the hash of its clean
    /// text, and a `text.redacted` event leads from the old hash to the new one, so a reference to the old
    /// hash reads the clean text. What is replaced may stay in unused space until
    /// [`LocalLedger::erase_unused`].
    fn redact(
        &self,
        rules: &RedactionRules,
        now: Timestamp,
    ) -> Result<LedgerRedaction, LedgerError>;

    /// The hash under which a redacted blob or text is stored now; `None` if it was not redacted.
    fn redacted_as(&self, hash: &BlobHash) -> Result<Option<BlobHash>, LedgerError> {
        redaction::redacted_as(hash, |stream| self.read(stream, None))
    }

    /// Records that a text that is stored elsewhere has another hash now.
    fn record_redaction(
        &self,
        hash: &BlobHash,
        clean: &BlobHash,
        now: Timestamp,
    ) -> Result<(), LedgerError> {
        let (stream, event) = redaction::redaction_event(hash, clean, now);
        let recorded = self.append_missing(&[(stream, vec![event])]);
        recorded.map(drop).map_err(|error| LedgerError::Unavailable(error.to_string()))
    }

    /// How many blobs and texts were redacted after they were stored.
    fn count_redacted(&self) -> Result<usize, LedgerError> {
        Ok(self.last_per_stream(StreamId::REDACTIONS)?.len())
    }

    /// Overwrites what deleted bytes left behind.
    fn erase_unused(&self) -> Result<(), LedgerError>;
}
