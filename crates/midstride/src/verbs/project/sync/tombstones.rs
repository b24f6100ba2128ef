//! Exchanges tombstones, so that other clones can forget a text too and no clone restores it.

use super::SyncError;
use super::events::{self, EventSyncOutcome, EventsByPath, SyncChannel, is_event_id};
use crate::store::Store;
use crate::store::ledger::{Ledger, LedgerError, StreamId};
use crate::sys::git::Repository;
use crate::workspace::SetupMode;
use midstride_core::text::id::BlobHash;
use midstride_core::work::event::{Event, TextEvent};

/// The reference for tombstones in another repository. Older versions ignore it.
const REFERENCE: &str = "refs/midstride/forgotten";

/// Sends the tombstones of this clone, and records those of others as proposals. Anyone who can push
/// to the remote can write one, so the user decides what is removed here.
pub(super) fn exchange(
    store: &Store,
    repository: &Repository,
    remote: &str,
) -> Result<EventSyncOutcome, SyncError> {
    let workspace = store.workspace();
    if workspace.setup() == SetupMode::NotSetUp {
        return Ok(EventSyncOutcome::default());
    }
    let kind = SyncChannel {
        reference: REFERENCE,
        local_events,
        parse_path,
        fits,
        recording_stream,
        may_send,
        is_withheld: workspace.setup() == SetupMode::Private,
    };
    events::exchange(store, repository, remote, &kind)
}

/// All shared tombstones and proposals, by path.
fn local_events(ledger: &dyn Ledger) -> Result<EventsByPath, LedgerError> {
    let mut records = ledger.read_with_prefix(StreamId::PROPOSALS)?;
    // If a proposal was confirmed, the tombstone of this clone may have the same path.
    records.extend(ledger.read_with_prefix(StreamId::TEXTS)?);
    let events = records.into_iter().flat_map(|record| {
        let stream = record.stream;
        record.events.into_iter().map(move |envelope| (stream.clone(), envelope))
    });
    let shared = events.filter(|(stream, envelope)| fits(&envelope.event, stream));
    let placed = shared.filter_map(|(stream, envelope)| {
        Some((path_of(&stream, &envelope.id)?, (stream, envelope)))
    });
    Ok(placed.collect())
}

fn recording_stream(stream: StreamId) -> StreamId {
    stream.text_hash().map_or(stream, |hash| StreamId::proposal(&hash))
}

fn may_send(stream: &StreamId) -> bool {
    stream.as_str().starts_with(StreamId::TEXTS)
}

fn fits(event: &Event, stream: &StreamId) -> bool {
    match event {
        Event::Text(TextEvent::Forgotten { hash, shared, .. }) => {
            *shared && stream.text_hash().as_ref() == Some(hash)
        }
        Event::Text(_)
        | Event::Handoff(_)
        | Event::Proof(_)
        | Event::Task(_)
        | Event::Mission(_)
        | Event::Session(_)
        | Event::Workflow(_)
        | Event::Instruction(_) => false,
        // An event from a newer version of midstride. It is sent on, but not received.
        Event::Unknown(_) | _ => event.kind().starts_with("text."),
    }
}

/// The path `<first two digits of the id>/<id>/<event>`.
fn path_of(stream: &StreamId, event: &str) -> Option<String> {
    let hash = stream.text_hash().filter(|_| is_event_id(event))?;
    Some(format!("{}/{hash}/{event}", &hash.as_str()[..2]))
}

/// Parses a path. `None` if it does not have this form.
fn parse_path(path: &str) -> Option<(StreamId, &str)> {
    let mut parts = path.splitn(3, '/');
    let (folder, hash, event) = (parts.next()?, parts.next()?, parts.next()?);
    let stream = StreamId::text(&BlobHash::new(hash));
    let is_ours = stream.text_hash().is_some_and(|hash| &hash.as_str()[..2] == folder);
    (is_ours && is_event_id(event)).then_some((stream, event))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_well_formed_tombstone_paths_are_parsed() {
        let hash = "1a".repeat(20);
        let stream = StreamId::text(&BlobHash::new(hash.as_str()));
        let path = path_of(&stream, "0a-1").unwrap();
        assert_eq!(path, format!("1a/{hash}/0a-1"));
        assert_eq!(parse_path(&path), Some((stream.clone(), "0a-1")));
        assert_eq!(path_of(&stream, "../../x"), None);
        assert_eq!(path_of(&StreamId::text(&BlobHash::new("../x")), "a"), None);
        for odd in ["", "x", "1a/../b", "1a/x/y"] {
            assert_eq!(parse_path(odd), None, "{odd}");
        }
        assert_eq!(parse_path(&format!("1b/{hash}/0a")), None, "the wrong folder");
        assert_eq!(parse_path(&format!("1a/{hash}/0a/more")), None);
        assert_eq!(parse_path(&format!("1A/{}/0a", hash.to_uppercase())), None);
    }
}
