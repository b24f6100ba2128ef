//! Appends to the ledger what a document's own history has and the ledger lacks. This covers a
//! crash between writing the document and the ledger, an edit made outside midstride, and a merge.

use crate::store::Store;
use crate::store::ledger::{
    AppendDecision, AppendError, ExpectedVersion, Ledger, LedgerError, StreamId, decide,
};
use crate::sys::ids::sha256;
use crate::workspace::StoredHandoff;
use midstride_core::handoff::Handoff;
use midstride_core::text::id::{BlobHash, Uid};
use midstride_core::text::time::Time;
use midstride_core::text::yaml::YamlNode;
use midstride_core::work::event::{Envelope, Event, HandoffEvent};
use std::collections::HashSet;
use std::path::Path;

/// How often to retry when another process appends to the same stream.
const TRIES_MAX: usize = 20;
/// Many events are split into records of this size, to stay below the record size limit.
const EVENTS_PER_RECORD: usize = 50;

/// Why the ledger could not be updated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReconcileError {
    /// A newer midstride wrote an event that may change the meaning of the others.
    #[error("the ledger contains `{0}`, which was written by a newer version of midstride")]
    Newer(String),
    /// The ledger cannot be read.
    #[error(transparent)]
    Read(#[from] LedgerError),
    /// The ledger cannot be written.
    #[error(transparent)]
    Append(#[from] AppendError),
}

impl Store {
    /// Appends the history of a handoff that the ledger lacks; returns the number of events.
    pub fn reconcile(
        &self,
        ledger: &dyn Ledger,
        stored: &StoredHandoff,
    ) -> Result<usize, ReconcileError> {
        self.reconcile_text(ledger, &stored.handoff(self.workspace()), &stored.path)
    }

    /// Like `reconcile`, for a text that was just written.
    pub(crate) fn reconcile_text(
        &self,
        ledger: &dyn Ledger,
        handoff: &Handoff<'_>,
        path: &Path,
    ) -> Result<usize, ReconcileError> {
        let Some(uid) = handoff.uid() else { return Ok(0) };
        let stream = StreamId::handoff(&uid);
        let events = self.history(handoff, path, &uid);
        let mut appended = 0;
        loop {
            let mut tries = 0;
            let may_retry = || {
                tries += 1;
                tries < TRIES_MAX
            };
            match decide(ledger, may_retry, || decide_new(ledger, &stream, &events))? {
                0 => return Ok(appended),
                count => appended += count,
            }
        }
    }

    /// The history in the document, as events.
    fn history(&self, handoff: &Handoff<'_>, path: &Path, uid: &Uid) -> Vec<Envelope> {
        // A document without secrets has none in its parts, so the parts are only redacted if it
        // has any.
        let spotless = self.workspace().clean(handoff.document().text()).1.is_empty();
        let clean = |text: &str| match spotless {
            true => text.to_owned(),
            false => self.workspace().clean(text).0.as_str().to_owned(),
        };
        let (key, path) = (clean(&handoff.key().to_string()), clean(&path.display().to_string()));
        let now = self.workspace().environment().clock.now();
        let captured = Envelope {
            id: event_id(&[uid.as_str(), "captured"]),
            time: handoff.created().map_or(now, |time| time.moment),
            source: clean(handoff.from().unwrap_or("midstride")),
            received_from: None,
            event: Event::Handoff(HandoffEvent::Captured { key: key.clone(), path: path.clone() }),
        };
        let revised = handoff.revision_nodes().into_iter().map(|entry| {
            let text_of =
                |name: &str| entry.get(name).and_then(YamlNode::text).map(|t| clean(t.value));
            let (at, by, verb, was) =
                (text_of("at"), text_of("by"), text_of("verb"), text_of("was"));
            let reason = text_of("reason").or_else(|| entry.text().map(|text| clean(text.value)));
            let parts =
                [&at, &by, &verb, &reason, &was].map(|part| part.as_deref().unwrap_or_default());
            Envelope {
                id: event_id(&[&[uid.as_str()][..], &parts].concat()),
                time: at.as_deref().and_then(Time::parse).map_or(now, |time| time.moment),
                source: by.clone().unwrap_or_else(|| "midstride".to_owned()),
                received_from: None,
                event: Event::Handoff(HandoffEvent::Revised {
                    key: key.clone(),
                    path: path.clone(),
                    at,
                    by,
                    verb,
                    reason,
                    was: was.map(BlobHash::new),
                }),
            }
        });
        std::iter::once(captured).chain(revised).collect()
    }
}

/// An id that is the same on every machine, so that a revision is recorded only once.
fn event_id(parts: &[&str]) -> String {
    sha256(parts.join("\0").as_bytes())[..32].to_owned()
}

/// Decides to append the next events that the ledger lacks; the outcome is their number.
fn decide_new(
    ledger: &dyn Ledger,
    stream: &StreamId,
    history: &[Envelope],
) -> Result<AppendDecision<usize>, ReconcileError> {
    let records = ledger.read(stream, None)?;
    let events = || records.iter().flat_map(|record| &record.events);
    if let Some(kind) = events().find_map(|envelope| envelope.event.newer_kind()) {
        return Err(ReconcileError::Newer(kind.to_owned()));
    }
    let known: HashSet<&str> = events().map(|envelope| envelope.id.as_str()).collect();
    let mut seen = HashSet::new();
    let new = history
        .iter()
        .filter(|envelope| !known.contains(envelope.id.as_str()) && seen.insert(&envelope.id));
    let new: Vec<Envelope> = new.take(EVENTS_PER_RECORD).cloned().collect();
    let expected = ExpectedVersion::after(records.last().map(|record| record.version));
    let count = new.len();
    Ok(AppendDecision::new(stream.clone(), expected, new, count))
}
