//! Tombstones: records of texts that were deleted for good. A tombstone keeps its text from being
//! stored again and says why it is missing.

use crate::store::ledger::{AppendError, Ledger, LedgerError, LedgerRecord, LocalLedger, StreamId};
use crate::store::{ProjectLedger, Store};
use crate::sys::ids::sha256;
use jiff::Timestamp;
use midstride_core::text::id::BlobHash;
use midstride_core::work::event::{Envelope, Event, TextEvent, attribute};
use std::collections::BTreeMap;
use std::fmt;

/// The origin of a proposal whose remote was not recorded.
const UNKNOWN_REMOTE: &str = "a remote";

/// What a forgotten text was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TombstoneKind {
    /// An earlier text of a handoff.
    Revision,
    /// A checkpoint of a session.
    Checkpoint,
    /// Something else that was in the ledger.
    Blob,
}

impl TombstoneKind {
    const ALL: [Self; 3] = [Self::Revision, Self::Checkpoint, Self::Blob];

    /// The word used in the ledger and in messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::Revision => "revision",
            Self::Checkpoint => "checkpoint",
            Self::Blob => "blob",
        }
    }
}

/// The record of a deleted text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tombstone {
    /// The id under which the text was stored.
    pub hash: BlobHash,
    /// What it was; `None` if a newer midstride uses a kind unknown here.
    pub kind: Option<TombstoneKind>,
    /// The handoff or session it belonged to.
    pub owner: Option<String>,
    /// Whether `midstride sync` shares the tombstone.
    pub is_shared: bool,
    /// Whether our references kept it here. Other objects of the repository are never removed.
    pub was_kept: bool,
    /// When it was forgotten.
    pub forgotten_at: Timestamp,
    /// Who forgot it. For a proposal, the name that was claimed in the remote.
    pub forgotten_by: String,
    /// The remote that proposes it; `None` if it was forgotten here.
    pub received_from: Option<String>,
    /// The reason given.
    pub reason: Option<String>,
}

/// `on 2026-03-21 by tester: a password was in it`, or by ``origin, as `tester` ``.
impl fmt::Display for Tombstone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = attribute(&self.forgotten_by, self.received_from.as_deref());
        write!(f, "on {} by {by}", self.forgotten_at.strftime("%Y-%m-%d"))?;
        match &self.reason {
            Some(reason) => write!(f, ": {reason}"),
            None => Ok(()),
        }
    }
}

impl Tombstone {
    /// Collects the tombstones in records, keyed by the id of the text. If a text was forgotten
    /// more than once, the earliest event counts.
    fn collect(records: Vec<LedgerRecord>) -> BTreeMap<BlobHash, Self> {
        let mut events: Vec<Envelope> = Vec::new();
        for record in records {
            let is_proposal = record.stream.is_proposal();
            events.extend(record.events.into_iter().map(|mut envelope| {
                // Earlier versions did not record which remote it came from.
                if is_proposal && envelope.received_from.is_none() {
                    envelope.received_from = Some(UNKNOWN_REMOTE.to_owned());
                }
                envelope
            }));
        }
        events.sort_by(|one, other| (one.time, &one.id).cmp(&(other.time, &other.id)));
        let mut all: BTreeMap<BlobHash, Self> = BTreeMap::new();
        for tombstone in events.into_iter().filter_map(Self::from_envelope) {
            let first = all.entry(tombstone.hash.clone()).or_insert_with(|| tombstone.clone());
            first.is_shared |= tombstone.is_shared;
            first.was_kept |= tombstone.was_kept;
        }
        all
    }

    /// The tombstone of one text.
    pub(crate) fn find(ledger: &dyn Ledger, hash: &BlobHash) -> Result<Option<Self>, LedgerError> {
        Ok(Self::collect(ledger.read(&StreamId::text(hash), None)?).remove(hash))
    }

    /// The tombstone of a text, which may have been redacted before it was forgotten.
    pub(crate) fn find_any(
        ledger: &ProjectLedger,
        hash: &BlobHash,
    ) -> Result<Option<Self>, LedgerError> {
        if let Some(found) = Self::find(ledger, hash)? {
            return Ok(Some(found));
        }
        match ledger.redacted_as(hash)? {
            Some(redacted) => Self::find(ledger, &redacted),
            None => Ok(None),
        }
    }

    fn from_envelope(envelope: Envelope) -> Option<Self> {
        let Event::Text(TextEvent::Forgotten { hash, what, of, shared, kept, reason }) =
            envelope.event
        else {
            return None;
        };
        let kind = TombstoneKind::ALL.into_iter().find(|kind| kind.word() == what);
        let (at, by, received_from) = (envelope.time, envelope.source, envelope.received_from);
        Some(Self {
            hash,
            kind,
            owner: of,
            is_shared: shared,
            was_kept: kept,
            forgotten_at: at,
            forgotten_by: by,
            received_from,
            reason,
        })
    }

    /// Records the tombstone in the ledger. Recording the same one again changes nothing.
    pub(crate) fn record(&self, ledger: &dyn LocalLedger) -> Result<(), AppendError> {
        let event = TextEvent::Forgotten {
            hash: self.hash.clone(),
            what: self.kind.map_or_else(String::new, |kind| kind.word().to_owned()),
            of: self.owner.clone(),
            shared: self.is_shared,
            kept: self.was_kept,
            reason: self.reason.clone(),
        };
        let time = self.forgotten_at.to_string();
        let shared = if self.is_shared { "shared" } else { "" };
        let kept = if self.was_kept { "kept" } else { "" };
        let parts = [self.hash.as_str(), "forgotten", &self.forgotten_by, &time, shared, kept];
        let envelope = Envelope {
            id: sha256(parts.join("\0").as_bytes())[..32].to_owned(),
            time: self.forgotten_at,
            source: self.forgotten_by.clone(),
            received_from: None,
            event: Event::Text(event),
        };
        ledger.append_missing(&[(StreamId::text(&self.hash), vec![envelope])]).map(|_| ())
    }
}

impl Store {
    /// All tombstones, keyed by the id of the text.
    pub fn tombstones(&self) -> Result<BTreeMap<BlobHash, Tombstone>, LedgerError> {
        let Some(ledger) = self.existing_ledger()? else {
            return Ok(BTreeMap::new());
        };
        Ok(Tombstone::collect(ledger.read_with_prefix(StreamId::TEXTS)?))
    }

    /// The texts that other clones forgot and this one did not, keyed by the id of the text. Nothing
    /// happens to them here before the user confirms it.
    pub fn forget_proposals(&self) -> Result<BTreeMap<BlobHash, Tombstone>, LedgerError> {
        let Some(ledger) = self.existing_ledger()? else {
            return Ok(BTreeMap::new());
        };
        let mut proposed = Tombstone::collect(ledger.read_with_prefix(StreamId::PROPOSALS)?);
        if !proposed.is_empty() {
            let forgotten = self.tombstones()?;
            proposed.retain(|hash, _| !forgotten.contains_key(hash));
        }
        Ok(proposed)
    }

    /// The tombstone of one text; `None` if there is none or the ledger cannot be read.
    pub(crate) fn tombstone(&self, hash: &BlobHash) -> Option<Tombstone> {
        Tombstone::find_any(self.existing_ledger().ok()??, hash).ok()?
    }

    /// All tombstones, or none if the ledger cannot be read: documents can be written without a
    /// ledger.
    pub(crate) fn known_tombstones(&self) -> BTreeMap<BlobHash, Tombstone> {
        self.tombstones().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_forget_event_counts_and_any_shared_one_shares_it() {
        let event = |id: &str, time: &str, shared: bool| Envelope {
            id: id.to_owned(),
            time: time.parse().unwrap(),
            source: id.to_owned(),
            received_from: None,
            event: Event::Text(TextEvent::Forgotten {
                hash: BlobHash::new("aa"),
                what: "revision".to_owned(),
                of: None,
                shared,
                kept: false,
                reason: (id == "one").then(|| "a key".to_owned()),
            }),
        };
        let (one, two) = ("2026-03-21T17:24:00Z", "2026-03-22T17:24:00Z");
        let record = |events| LedgerRecord {
            cursor: crate::store::ledger::Cursor::START,
            stream: StreamId::text(&BlobHash::new("aa")),
            version: crate::store::ledger::Version::from_engine(1),
            events,
        };
        let events = [event("two", two, true), event("one", one, false)];
        let forwards = Tombstone::collect(vec![record(events.to_vec())]);
        let backwards: Vec<Envelope> = events.into_iter().rev().collect();
        assert_eq!(forwards, Tombstone::collect(vec![record(backwards)]));
        assert_eq!(forwards["aa"].to_string(), "on 2026-03-21 by one: a key");
        assert!(forwards["aa"].is_shared);
    }
}
