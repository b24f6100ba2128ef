//! Exchanges events with another repository. Each event is one file in a tree, so clones merge by
//! union. Received events are validated before they are recorded.

use super::SyncError;
use crate::store::Store;
use crate::store::ledger::{
    Ledger, LedgerError, LocalLedger as _, RECORD_BYTES_MAX, StreamId, encode_record,
};
use crate::sys::git::{FetchedTree, GitError, Repository, TreeFile};
use crate::verbs::task::{TaskError, open_ledger};
use midstride_core::text::id::BlobHash;
use midstride_core::text::redact::RedactionRules;
use midstride_core::work::event::{Envelope, Event, TaskEvent};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// How often a push is retried if others push at the same time.
const TRIES_MAX: usize = 10;
/// The maximum length of an event id.
const EVENT_ID_LENGTH_MAX: usize = 64;

/// Events by their path in the tree.
pub(super) type EventsByPath = BTreeMap<String, (StreamId, Envelope)>;

/// Which events are exchanged together, and how.
pub(super) struct SyncChannel {
    /// Their reference in the other repository.
    pub(super) reference: &'static str,
    /// The local events.
    pub(super) local_events: fn(&dyn Ledger) -> Result<EventsByPath, LedgerError>,
    /// Parses a path into the stream and the event id.
    pub(super) parse_path: fn(&str) -> Option<(StreamId, &str)>,
    /// Whether an event belongs in a stream.
    pub(super) fits: fn(&Event, &StreamId) -> bool,
    /// The stream that records a received event, given the stream it has there.
    pub(super) recording_stream: fn(StreamId) -> StreamId,
    /// Whether the events of a stream are sent.
    pub(super) may_send: fn(&StreamId) -> bool,
    /// Whether nothing is sent.
    pub(super) is_withheld: bool,
}

/// The result of an exchange.
#[derive(Debug, Default)]
pub(super) struct EventSyncOutcome {
    /// The streams that have events new to the other repository.
    pub(super) sent: BTreeSet<StreamId>,
    /// The streams that have events new here.
    pub(super) received: BTreeSet<StreamId>,
    /// The local streams with events that may be sent.
    pub(super) here: BTreeSet<StreamId>,
    /// Remote files that are not events, or that add a task again. They are left unchanged.
    pub(super) skipped: usize,
    /// Remote events of types that this version does not know. They are left for a newer one.
    pub(super) newer: usize,
    /// Remote events dated in the future. They are left unchanged.
    pub(super) early: usize,
}

/// Brings the local ledger and the remote tree to the union of both.
pub(super) fn exchange(
    store: &Store,
    repository: &Repository,
    remote: &str,
    kind: &SyncChannel,
) -> Result<EventSyncOutcome, SyncError> {
    let workspace = store.workspace();
    let ledger = open_ledger(store)?;
    let mut met = EventSyncOutcome::default();
    let mut last = None;
    for _ in 0..TRIES_MAX {
        let fetched = repository.fetch_tree(remote, kind.reference)?;
        let tree = fetched.as_ref().and_then(|fetched| fetched.tree.as_deref());
        let files = tree.map_or(Ok(Vec::new()), |tree| repository.files_in_tree(tree))?;
        let before = (kind.local_events)(ledger)?;
        let reader = EventReader { rules: workspace.rules(), remote };
        let RemoteEvents { events: theirs, skipped, newer } =
            learn(&reader, repository, kind, &files, &before)?;
        let now = workspace.environment().clock.now();
        let (early, theirs): (Vec<_>, Vec<_>) =
            theirs.into_iter().partition(|(_, envelope)| envelope.is_ahead_of(now));
        (met.early, met.newer) = (early.len(), newer);
        met.skipped = skipped + usize::from(fetched.is_some() && tree.is_none());
        let place = |(stream, envelope)| ((kind.recording_stream)(stream), envelope);
        let streams = by_stream(theirs.into_iter().map(place).collect());
        met.received.extend(streams.iter().map(|(stream, _)| stream.clone()));
        ledger.append_missing(&streams).map_err(TaskError::from)?;
        let mut mine = (kind.local_events)(ledger)?;
        mine.retain(|_, (stream, _)| (kind.may_send)(stream));
        met.here = mine.values().map(|(stream, _)| stream.clone()).collect();
        let there: HashSet<&str> = files.iter().filter_map(|file| file.path.as_deref()).collect();
        let missing = mine.into_iter().filter(|(path, _)| !there.contains(path.as_str()));
        let missing: EventsByPath = missing.filter(|_| !kind.is_withheld).collect();
        // A reference to something other than a tree is not from midstride.
        if missing.is_empty() || (fetched.is_some() && tree.is_none()) {
            return Ok(met);
        }
        match send(repository, remote, kind.reference, fetched.as_ref(), &missing) {
            Ok(()) => {
                met.sent = missing.into_values().map(|(stream, _)| stream).collect();
                return Ok(met);
            }
            // If others pushed meanwhile, fetch and try again.
            Err(error) if error.is_concurrent_update() => last = Some(error),
            Err(error) => return Err(error.into()),
        }
    }
    Err(last.expect("there is at least one try").into())
}

fn send(
    repository: &Repository,
    remote: &str,
    reference: &str,
    fetched: Option<&FetchedTree>,
    missing: &EventsByPath,
) -> Result<(), GitError> {
    let file = |(path, (stream, envelope)): (&String, &(StreamId, Envelope))| {
        // The name of a remote means nothing to others.
        let envelope = Envelope { received_from: None, ..envelope.clone() };
        (path.clone(), envelope.to_cloud_event(stream.as_str()).to_string().into_bytes())
    };
    let files: Vec<(String, Vec<u8>)> = missing.iter().map(file).collect();
    let base = fetched.and_then(|fetched| fetched.tree.as_deref());
    let after = repository.tree_with(base, &files)?;
    repository.push_tree(remote, reference, fetched, &after)
}

/// The remote events that are new here.
struct RemoteEvents {
    /// Those to record.
    events: Vec<(StreamId, Envelope)>,
    /// How many remote files are not events, or add a task again.
    skipped: usize,
    /// How many events this version does not know.
    newer: usize,
}

/// Reads the remote events that are new here. Anyone who can push writes there, so two kinds are not
/// recorded: a second addition of a task, which would replace its subject if it is dated earlier, and an
/// event of an unknown type, with which a task cannot be changed.
fn learn(
    reader: &EventReader<'_>,
    repository: &Repository,
    kind: &SyncChannel,
    files: &[TreeFile],
    known: &EventsByPath,
) -> Result<RemoteEvents, SyncError> {
    let new = |file: &&TreeFile| file.path.as_ref().is_none_or(|path| !known.contains_key(path));
    let new: Vec<&TreeFile> = files.iter().filter(new).collect();
    // Check path and size first, so that files that cannot be events are not read.
    let placed = new.iter().filter_map(|file| {
        let path = file.path.as_deref()?;
        let (stream, id) = (kind.parse_path)(path)?;
        let blob = file.blob.clone().filter(|_| file.size <= RECORD_BYTES_MAX)?;
        Some((blob, (stream, id)))
    });
    let (blobs, places): (Vec<BlobHash>, Vec<(StreamId, &str)>) = placed.unzip();
    let texts: BTreeMap<BlobHash, Vec<u8>> = repository.blobs(&blobs)?.into_iter().collect();
    let read = |(blob, (stream, id)): (&BlobHash, (StreamId, &str))| {
        let envelope = reader.read(texts.get(blob)?, &stream, id)?;
        (kind.fits)(&envelope.event, &stream).then_some((stream, envelope))
    };
    let events: Vec<(StreamId, Envelope)> = blobs.iter().zip(places).filter_map(read).collect();
    let (unknown, mut events): (Vec<_>, Vec<_>) =
        events.into_iter().partition(|(_, envelope)| envelope.event.newer_kind().is_some());
    let added = known.values().filter(|(_, envelope)| is_addition(envelope));
    let added: HashSet<&StreamId> = added.map(|(stream, _)| stream).collect();
    // Every clone gives the addition of a task the same id, so another one is not from midstride.
    events.retain(|(stream, envelope)| !(is_addition(envelope) && added.contains(stream)));
    let skipped = new.len() - events.len() - unknown.len();
    Ok(RemoteEvents { events, skipped, newer: unknown.len() })
}

fn is_addition(envelope: &Envelope) -> bool {
    matches!(envelope.event, Event::Task(TaskEvent::Added { .. }))
}

/// Reads events from another repository.
pub(super) struct EventReader<'r> {
    pub(super) rules: &'r RedactionRules,
    /// The remote they come from, which is recorded with them.
    pub(super) remote: &'r str,
}

impl EventReader<'_> {
    /// Reads an event. `None` if it does not match its path.
    pub(super) fn read(&self, bytes: &[u8], stream: &StreamId, id: &str) -> Option<Envelope> {
        let (text, _) = self.rules.clean(std::str::from_utf8(bytes).ok()?);
        let value: serde_json::Value = serde_json::from_str(text.as_str()).ok()?;
        let subject = value.get("subject").and_then(serde_json::Value::as_str);
        let envelope = Envelope::from_cloud_event(&value).filter(|envelope| envelope.id == id)?;
        let envelope = Envelope { received_from: Some(self.remote.to_owned()), ..envelope };
        // Encoded here, it may be slightly longer than it was there.
        let small = encode_record(stream, std::slice::from_ref(&envelope)).is_ok();
        (small && subject == Some(stream.as_str())).then_some(envelope)
    }
}

fn by_stream(events: Vec<(StreamId, Envelope)>) -> Vec<(StreamId, Vec<Envelope>)> {
    let mut streams: BTreeMap<StreamId, Vec<Envelope>> = BTreeMap::new();
    for (stream, envelope) in events {
        streams.entry(stream).or_default().push(envelope);
    }
    streams.into_iter().collect()
}

/// Whether a text can be an event id, and thus a file name.
pub(super) fn is_event_id(text: &str) -> bool {
    let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    !text.is_empty() && text.len() <= EVENT_ID_LENGTH_MAX && text.bytes().all(plain)
}
