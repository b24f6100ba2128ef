//! Bring the ledger up to a document that is ahead of it. A crash between writing and telling, an
//! edit made outside midstride and a merge are one case: the document's own history says what is
//! missing.

use crate::store::ledger::{AppendError, ExpectedVersion, Ledger, LedgerError, StreamId};
use crate::sys::ids::sha256;
use crate::workspace::project::{Project, StoredHandoff};
use midstride_core::handoff::Handoff;
use midstride_core::text::time::Time;
use midstride_core::text::yaml::YamlNode;
use midstride_core::work::event::{Envelope, Event, HandoffEvent};
use std::collections::HashSet;
use std::path::Path;

/// Somebody else may tell the same again and again; not for ever.
const TRIES_MAX: usize = 20;
/// Many entries at once are told in parts that fit a record.
const EVENTS_PER_RECORD: usize = 50;

/// Why the ledger stays behind.
#[derive(Debug, thiserror::Error)]
pub enum ReconcileError {
    /// A newer midstride wrote something that may change what the rest means.
    #[error("the ledger has `{0}`, which a newer midstride wrote")]
    Newer(String),
    /// The ledger cannot be read.
    #[error(transparent)]
    Read(#[from] LedgerError),
    /// The ledger cannot be written.
    #[error(transparent)]
    Append(#[from] AppendError),
}

impl Project {
    /// Tells the ledger what the history of a handoff says and it does not know yet; gives back how
    /// much that was.
    pub fn reconcile(
        &self,
        ledger: &dyn Ledger,
        shelved: &StoredHandoff,
    ) -> Result<usize, ReconcileError> {
        self.reconcile_text(ledger, &shelved.handoff(self), &shelved.path)
    }

    /// The same with a text that was just put in its place.
    pub(crate) fn reconcile_text(
        &self,
        ledger: &dyn Ledger,
        handoff: &Handoff<'_>,
        path: &Path,
    ) -> Result<usize, ReconcileError> {
        let Some(uid) = handoff.uid().map(|uid| uid.value.trim()) else { return Ok(0) };
        let stream = StreamId::handoff(uid);
        let told = self.history(handoff, path, uid);
        let mut last = Ok(0);
        for _ in 0..TRIES_MAX {
            match append_new(ledger, &stream, &told) {
                Err(ReconcileError::Append(conflict @ AppendError::Conflict { .. })) => {
                    last = Err(conflict.into());
                }
                done => return done,
            }
        }
        last
    }

    /// What the document tells about itself, as events.
    fn history(&self, handoff: &Handoff<'_>, path: &Path, uid: &str) -> Vec<Envelope> {
        // A document without secrets has none in its parts; each is looked through only where not.
        let spotless = self.clean(handoff.document().text()).1.is_empty();
        let clean = |text: &str| match spotless {
            true => text.to_owned(),
            false => self.clean(text).0.as_str().to_owned(),
        };
        let (key, path) = (clean(&handoff.key().to_string()), clean(&path.display().to_string()));
        let now = self.environment().clock.now();
        let captured = Envelope {
            id: event_id(&[uid, "captured"]),
            time: handoff.created().map_or(now, |time| time.moment),
            source: clean(handoff.from().unwrap_or("midstride")),
            event: Event::Handoff(HandoffEvent::Captured { key: key.clone(), path: path.clone() }),
        };
        let revised = handoff.revision_nodes().into_iter().map(|entry| {
            let said =
                |name: &str| entry.get(name).and_then(YamlNode::text).map(|t| clean(t.value));
            let (at, by, verb, was) = (said("at"), said("by"), said("verb"), said("was"));
            let reason = said("reason").or_else(|| entry.text().map(|text| clean(text.value)));
            let parts =
                [&at, &by, &verb, &reason, &was].map(|part| part.as_deref().unwrap_or_default());
            Envelope {
                id: event_id(&[&[uid][..], &parts].concat()),
                time: at.as_deref().and_then(Time::parse).map_or(now, |time| time.moment),
                source: by.clone().unwrap_or_else(|| "midstride".to_owned()),
                event: Event::Handoff(HandoffEvent::Revised {
                    key: key.clone(),
                    path: path.clone(),
                    at,
                    by,
                    verb,
                    reason,
                    was,
                }),
            }
        });
        std::iter::once(captured).chain(revised).collect()
    }
}

/// The same on every machine, so that nobody tells a revision twice.
fn event_id(parts: &[&str]) -> String {
    sha256(parts.join("\0").as_bytes())[..32].to_owned()
}

fn append_new(
    ledger: &dyn Ledger,
    stream: &StreamId,
    told: &[Envelope],
) -> Result<usize, ReconcileError> {
    let records = ledger.read(stream, None)?;
    let events = || records.iter().flat_map(|record| &record.events);
    if let Some(kind) = events().find_map(|envelope| envelope.event.newer_kind()) {
        return Err(ReconcileError::Newer(kind.to_owned()));
    }
    let known: HashSet<&str> = events().map(|envelope| envelope.id.as_str()).collect();
    let mut seen = HashSet::new();
    let new: Vec<Envelope> = told
        .iter()
        .filter(|envelope| !known.contains(envelope.id.as_str()) && seen.insert(&envelope.id))
        .cloned()
        .collect();
    let mut version = records.last().map(|record| record.version);
    for part in new.chunks(EVENTS_PER_RECORD) {
        version = Some(ledger.append(stream, ExpectedVersion::after(version), part)?);
    }
    Ok(new.len())
}
