//! Exchanges tasks with another repository, as the events that make them up.

use super::SyncError;
use super::events::{self, EventsByPath, SyncChannel, is_event_id};
use crate::store::Store;
use crate::store::ledger::{Ledger, LedgerError, StreamId};
use crate::sys::git::Repository;
use crate::workspace::SetupMode;
use midstride_core::text::id::TaskId;
use midstride_core::work::event::Event;
use std::collections::BTreeSet;

/// The reference for tasks in another repository.
const REFERENCE: &str = "refs/midstride/tasks";
/// The folder of the mission's events. All other folders are named by two digits.
const MISSION: &str = "mission";

/// The result of exchanging tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskSyncOutcome {
    /// How many tasks have events new to the other repository.
    pub sent: usize,
    /// How many tasks have events new here.
    pub received: usize,
    /// How many tasks are here now.
    pub here: usize,
    /// Remote files that are not events, or that add a task again. They are left unchanged.
    pub skipped: usize,
    /// Remote events, tombstones included, of types that this version does not know. They are left for
    /// a newer one.
    pub newer: usize,
    /// Remote events dated in the future. They are left unchanged.
    pub early: usize,
    /// Whether nothing was sent because the project is private.
    pub is_withheld: bool,
}

/// Brings the local and remote tasks to the union of both.
pub(super) fn exchange(
    store: &Store,
    repository: &Repository,
    remote: &str,
) -> Result<TaskSyncOutcome, SyncError> {
    let workspace = store.workspace();
    if workspace.setup() == SetupMode::NotSetUp {
        return Ok(TaskSyncOutcome::default());
    }
    let withheld = workspace.setup() == SetupMode::Private;
    let kind = SyncChannel {
        reference: REFERENCE,
        local_events,
        parse_path,
        fits,
        recording_stream: |stream| stream,
        may_send: |_| true,
        is_withheld: withheld,
    };
    let met = events::exchange(store, repository, remote, &kind)?;
    Ok(TaskSyncOutcome {
        sent: count_tasks(&met.sent),
        received: count_tasks(&met.received),
        here: count_tasks(&met.here),
        skipped: met.skipped,
        newer: met.newer,
        early: met.early,
        is_withheld: withheld,
    })
}

fn count_tasks(streams: &BTreeSet<StreamId>) -> usize {
    streams.iter().filter(|stream| stream.task_id().is_some()).count()
}

/// All events that may be sent, by path.
fn local_events(ledger: &dyn Ledger) -> Result<EventsByPath, LedgerError> {
    let records = ledger.read_with_prefix(StreamId::TASKS)?;
    let mission = ledger.read(&StreamId::mission(), None)?;
    let events = records.into_iter().chain(mission).flat_map(|record| {
        let stream = record.stream;
        record.events.into_iter().map(move |envelope| (stream.clone(), envelope))
    });
    let placed = events.filter_map(|(stream, envelope)| {
        Some((path_of(&stream, &envelope.id)?, (stream, envelope)))
    });
    Ok(placed.collect())
}

/// Whether an event belongs in its stream.
fn fits(event: &Event, stream: &StreamId) -> bool {
    match event {
        Event::Task(_) => stream.task_id().is_some(),
        Event::Mission(_) => stream.task_id().is_none(),
        Event::Handoff(_)
        | Event::Proof(_)
        | Event::Session(_)
        | Event::Text(_)
        | Event::Workflow(_)
        | Event::Instruction(_) => false,
        // An event from a newer version of midstride. It is sent on, but not received.
        Event::Unknown(_) | _ => {
            event.kind().split('.').next() == stream.as_str().split('/').next()
        }
    }
}

/// The path `<last two digits of the uid>/<uid>/<event>`, or `mission/<event>`.
fn path_of(stream: &StreamId, event: &str) -> Option<String> {
    if !is_event_id(event) {
        return None;
    }
    match stream.task_id() {
        Some(id) => Some(format!("{}/{}/{event}", shard(&id), id.as_str())),
        None => (*stream == StreamId::mission()).then(|| format!("{MISSION}/{event}")),
    }
}

/// Parses a path. `None` if it does not have this form.
fn parse_path(path: &str) -> Option<(StreamId, &str)> {
    let (stream, event) = match path.split('/').collect::<Vec<_>>().as_slice() {
        [MISSION, event] => (StreamId::mission(), *event),
        [folder, uid, event] => {
            let id = TaskId::parse(uid).filter(|id| shard(id) == *folder)?;
            (StreamId::task(&id), *event)
        }
        _ => return None,
    };
    is_event_id(event).then_some((stream, event))
}

/// The folder of a task: the last digits of its uid, because they are random.
fn shard(id: &TaskId) -> &str {
    &id.as_str()[id.as_str().len() - 2..]
}

#[cfg(test)]
mod tests {
    use super::super::events::EventReader;
    use super::*;
    use crate::store::ledger::RECORD_BYTES_MAX;
    use midstride_core::text::redact::RedactionRules;

    const UID: &str = "0198c0f2-4c00-7000-8000-0000ffffff1a";

    #[test]
    fn only_well_formed_event_paths_are_parsed() {
        let stream = StreamId::task(&TaskId::parse(UID).unwrap());
        let path = path_of(&stream, "0a-1").unwrap();
        assert_eq!(path, format!("1a/{UID}/0a-1"));
        assert_eq!(parse_path(&path), Some((stream.clone(), "0a-1")));
        let mission = path_of(&StreamId::mission(), "b").unwrap();
        assert_eq!(parse_path(&mission), Some((StreamId::mission(), "b")));
        assert_eq!(path_of(&stream, "../../x"), None);
        for odd in ["", "x", "mission", "mission/../x", "1b/", "1a/../b", "1a/x/y", "mission/A"] {
            assert_eq!(parse_path(odd), None, "{odd}");
        }
        assert_eq!(parse_path(&format!("1b/{UID}/0a")), None, "the wrong folder");
        assert_eq!(parse_path(&format!("1a/{UID}/0a/more")), None);
    }

    #[test]
    fn an_event_that_does_not_match_its_path_is_rejected() {
        let stream = StreamId::task(&TaskId::parse(UID).unwrap());
        let event = |kind: &str, subject: &str, data: &str| {
            format!(
                r#"{{"specversion":"1.0","id":"e","source":"s","type":"midstride.{kind}.v1",
                "subject":"{subject}","time":"2026-03-21T17:24:00Z","data":{data}}}"#
            )
        };
        let reader = EventReader { rules: RedactionRules::shipped(), remote: "origin" };
        let read = |text: &str| {
            reader
                .read(text.as_bytes(), &stream, "e")
                .filter(|envelope| fits(&envelope.event, &stream))
        };
        let subject = format!("task/{UID}");
        assert!(read(&event("task.noted", &subject, r#"{"text":"x"}"#)).is_some());
        assert!(read(&event("task.split", &subject, "[1]")).is_some(), "a newer one is counted");
        let forged = event("task.noted", &subject, r#"{"text":"x"},"receivedfrom":"elsewhere""#);
        assert_eq!(read(&forged).unwrap().author(), "origin, as `s`");
        assert!(read(&event("task.noted", "task/other", r#"{"text":"x"}"#)).is_none());
        assert!(read(&event("mission.stated", &subject, "{}")).is_none());
        assert!(read(&event("handoff.captured", &subject, r#"{"key":"k","path":"p"}"#)).is_none());
        assert!(read(&event("proof.run", &subject, "{}")).is_none());
        assert!(read("[[[[").is_none() && read("").is_none() && read("{}").is_none());
        assert!(reader.read(b"\xff\xfe", &stream, "e").is_none());
        let long = format!(r#"{{"text":"{}"}}"#, "x".repeat(RECORD_BYTES_MAX - 100));
        assert!(read(&event("task.noted", &subject, &long)).is_none(), "too long for a record");
        let other = event("task.noted", &subject, r#"{"text":"x"}"#);
        assert!(reader.read(other.as_bytes(), &stream, "f").is_none());
    }
}
