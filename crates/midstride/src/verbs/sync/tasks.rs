//! Tasks on their way to another repository and from there: a file per event in one tree, so that
//! clones meet by union. What comes is looked at before it is believed.

use super::super::task::{TaskError, ledger_of};
use super::SyncError;
use crate::files::Lock;
use crate::git::{Fetched, Filed, Repository};
use crate::ledger::{Ledger, LedgerError, RECORD_BYTES_MAX, StreamId, written};
use crate::project::{Project, SetUp};
use midstride_core::event::{Envelope, Event};
use midstride_core::id::TaskId;
use midstride_core::redact::Rules;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Where tasks are in another repository.
const REFERENCE: &str = "refs/midstride/tasks";
/// The folder of the mission's events; the others are called after two digits.
const MISSION: &str = "mission";
/// Somebody else may push at the same moment, again and again; not for ever.
const TRIES_MAX: usize = 10;
/// Ids of events are shorter.
const EVENT_ID_LENGTH_MAX: usize = 64;

/// What became of the tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TasksSynced {
    /// Tasks of which the other repository learned something.
    pub sent: usize,
    /// Tasks of which something was learned here.
    pub received: usize,
    /// How many tasks are here now.
    pub here: usize,
    /// Files there that are no events; they were left alone.
    pub skipped: usize,
    /// Events there whose time has not come yet; they were left alone.
    pub early: usize,
    /// Whether nothing was sent because the project shares nothing.
    pub withheld: bool,
}

/// Events by their path in the tree.
type ByPath = BTreeMap<String, (StreamId, Envelope)>;

/// Brings the ledger here and the tree there to the union of both.
pub(super) fn exchange(
    project: &Project,
    repository: &Repository,
    remote: &str,
) -> Result<TasksSynced, SyncError> {
    if project.set_up() == SetUp::Not {
        return Ok(TasksSynced::default());
    }
    let ledger = ledger_of(project)?;
    let _alone = Lock::hold(&project.make_private().map_err(TaskError::from)?, "sync")?;
    let withheld = project.set_up() == SetUp::Private;
    let mut done = TasksSynced { withheld, ..TasksSynced::default() };
    let mut received = BTreeSet::new();
    let mut last = None;
    for _ in 0..TRIES_MAX {
        let fetched = repository.fetch_tree(remote, REFERENCE)?;
        let tree = fetched.as_ref().and_then(|fetched| fetched.tree.as_deref());
        let files = tree.map_or(Ok(Vec::new()), |tree| repository.files_of(tree))?;
        let before = events_here(&ledger)?;
        let (theirs, skipped) = learn(project.rules(), repository, &files, &before)?;
        let now = project.environment().clock.now();
        let (early, theirs): (Vec<_>, Vec<_>) =
            theirs.into_iter().partition(|(_, envelope)| envelope.is_ahead_of(now));
        done.early = early.len();
        done.skipped = skipped + usize::from(fetched.is_some() && tree.is_none());
        let streams = by_stream(theirs);
        received.extend(streams.iter().map(|(stream, _)| stream.clone()));
        ledger.unite(&streams).map_err(TaskError::from)?;
        let mine = events_here(&ledger)?;
        done.received = count(&received);
        done.here = count(mine.values().map(|(stream, _)| stream).collect::<BTreeSet<_>>());
        let there: HashSet<&str> = files.iter().filter_map(|file| file.path.as_deref()).collect();
        let missing = mine.into_iter().filter(|(path, _)| !there.contains(path.as_str()));
        let missing: ByPath = missing.filter(|_| !withheld).collect();
        // A reference to something else than a tree is somebody else's.
        if missing.is_empty() || (fetched.is_some() && tree.is_none()) {
            return Ok(done);
        }
        match send(repository, remote, fetched.as_ref(), &missing) {
            Ok(()) => {
                let streams: BTreeSet<_> = missing.values().map(|(stream, _)| stream).collect();
                done.sent = count(streams);
                return Ok(done);
            }
            // Whoever pushed meanwhile is fetched and met again.
            Err(error) if error.is_overtaken() => last = Some(error),
            Err(error) => return Err(error.into()),
        }
    }
    Err(last.expect("there is at least one try").into())
}

fn count<'s>(streams: impl IntoIterator<Item = &'s StreamId>) -> usize {
    streams.into_iter().filter(|stream| stream.task_id().is_some()).count()
}

fn send(
    repository: &Repository,
    remote: &str,
    fetched: Option<&Fetched>,
    missing: &ByPath,
) -> Result<(), crate::git::GitError> {
    let file = |(path, (stream, envelope)): (&String, &(StreamId, Envelope))| {
        (path.clone(), envelope.cloud_event(stream.as_str()).to_string().into_bytes())
    };
    let files: Vec<(String, Vec<u8>)> = missing.iter().map(file).collect();
    let base = fetched.and_then(|fetched| fetched.tree.as_deref());
    let after = repository.tree_with(base, &files)?;
    repository.push_tree(remote, REFERENCE, fetched, &after)
}

/// Every event that may travel, by its path.
fn events_here(ledger: &dyn Ledger) -> Result<ByPath, LedgerError> {
    let records = ledger.read_below(StreamId::TASKS)?;
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

/// What is there and not here, and how many files there are no events.
fn learn(
    rules: &Rules,
    repository: &Repository,
    files: &[Filed],
    known: &ByPath,
) -> Result<(Vec<(StreamId, Envelope)>, usize), SyncError> {
    let new = |file: &&Filed| file.path.as_ref().is_none_or(|path| !known.contains_key(path));
    let new: Vec<&Filed> = files.iter().filter(new).collect();
    // By the path and the size first: what cannot be one of ours is not even read.
    let placed = new.iter().filter_map(|file| {
        let path = file.path.as_deref()?;
        let (stream, id) = place_of(path)?;
        let blob = file.blob.clone().filter(|_| file.size <= RECORD_BYTES_MAX)?;
        Some((blob, (stream, id)))
    });
    let (blobs, places): (Vec<String>, Vec<(StreamId, &str)>) = placed.unzip();
    let texts: BTreeMap<String, Vec<u8>> = repository.blobs(&blobs)?.into_iter().collect();
    let read = |(blob, (stream, id)): (&String, (StreamId, &str))| {
        let envelope = read_event(rules, texts.get(blob)?, &stream, id)?;
        Some((stream, envelope))
    };
    let events: Vec<(StreamId, Envelope)> = blobs.iter().zip(places).filter_map(read).collect();
    let skipped = new.len() - events.len();
    Ok((events, skipped))
}

/// An event as another repository has it, if it is what its path says.
fn read_event(rules: &Rules, bytes: &[u8], stream: &StreamId, id: &str) -> Option<Envelope> {
    let (text, _) = rules.clean(std::str::from_utf8(bytes).ok()?);
    let value: serde_json::Value = serde_json::from_str(text.as_str()).ok()?;
    let subject = value.get("subject").and_then(serde_json::Value::as_str);
    let envelope = Envelope::read(&value).filter(|envelope| envelope.id == id)?;
    let family = envelope.event.kind().split('.').next();
    let fits = match &envelope.event {
        Event::Task(_) => stream.task_id().is_some(),
        Event::Mission(_) => stream.task_id().is_none(),
        // A newer midstride's word about the same thing; nothing is decided on it here.
        Event::Unknown(_) => family == stream.as_str().split('/').next(),
        Event::Handoff(_) | Event::Proof(_) | Event::Session(_) => false,
    };
    // Written here it may be a little longer than it was there.
    let small = written(stream, std::slice::from_ref(&envelope)).is_ok();
    (fits && small && subject == Some(stream.as_str())).then_some(envelope)
}

fn by_stream(events: Vec<(StreamId, Envelope)>) -> Vec<(StreamId, Vec<Envelope>)> {
    let mut streams: BTreeMap<StreamId, Vec<Envelope>> = BTreeMap::new();
    for (stream, envelope) in events {
        streams.entry(stream).or_default().push(envelope);
    }
    streams.into_iter().collect()
}

/// `<last two digits of the uid>/<uid>/<event>`, or `mission/<event>`.
fn path_of(stream: &StreamId, event: &str) -> Option<String> {
    if !is_event_id(event) {
        return None;
    }
    match stream.task_id() {
        Some(id) => Some(format!("{}/{}/{event}", shard(&id), id.as_str())),
        None => (*stream == StreamId::mission()).then(|| format!("{MISSION}/{event}")),
    }
}

/// What a path says; `None` where it is none of ours.
fn place_of(path: &str) -> Option<(StreamId, &str)> {
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

/// The folder of a task: by the end of its uid, which is random.
fn shard(id: &TaskId) -> &str {
    &id.as_str()[id.as_str().len() - 2..]
}

fn is_event_id(text: &str) -> bool {
    let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    !text.is_empty() && text.len() <= EVENT_ID_LENGTH_MAX && text.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    const UID: &str = "0198c0f2-4c00-7000-8000-0000ffffff1a";

    #[test]
    fn a_path_is_one_of_ours_or_none() {
        let stream = StreamId::task(&TaskId::parse(UID).unwrap());
        let path = path_of(&stream, "0a-1").unwrap();
        assert_eq!(path, format!("1a/{UID}/0a-1"));
        assert_eq!(place_of(&path), Some((stream.clone(), "0a-1")));
        let mission = path_of(&StreamId::mission(), "b").unwrap();
        assert_eq!(place_of(&mission), Some((StreamId::mission(), "b")));
        assert_eq!(path_of(&stream, "../../x"), None);
        for odd in ["", "x", "mission", "mission/../x", "1b/", "1a/../b", "1a/x/y", "mission/A"] {
            assert_eq!(place_of(odd), None, "{odd}");
        }
        assert_eq!(place_of(&format!("1b/{UID}/0a")), None, "the wrong folder");
        assert_eq!(place_of(&format!("1a/{UID}/0a/more")), None);
    }

    #[test]
    fn an_event_is_believed_only_where_it_is_what_its_path_says() {
        let stream = StreamId::task(&TaskId::parse(UID).unwrap());
        let event = |kind: &str, subject: &str, data: &str| {
            format!(
                r#"{{"specversion":"1.0","id":"e","source":"s","type":"midstride.{kind}.v1",
                "subject":"{subject}","time":"2026-03-21T17:24:00Z","data":{data}}}"#
            )
        };
        let read = |text: &str| read_event(Rules::shipped(), text.as_bytes(), &stream, "e");
        let subject = format!("task/{UID}");
        assert!(read(&event("task.noted", &subject, r#"{"text":"x"}"#)).is_some());
        assert!(read(&event("task.split", &subject, "[1]")).is_some(), "a newer one is kept");
        assert!(read(&event("task.noted", "task/other", r#"{"text":"x"}"#)).is_none());
        assert!(read(&event("mission.stated", &subject, "{}")).is_none());
        assert!(read(&event("handoff.captured", &subject, r#"{"key":"k","path":"p"}"#)).is_none());
        assert!(read(&event("proof.run", &subject, "{}")).is_none());
        assert!(read("[[[[").is_none() && read("").is_none() && read("{}").is_none());
        assert!(read_event(Rules::shipped(), b"\xff\xfe", &stream, "e").is_none());
        let long = format!(r#"{{"text":"{}"}}"#, "x".repeat(RECORD_BYTES_MAX - 100));
        assert!(read(&event("task.noted", &subject, &long)).is_none(), "too long for a record");
        let other = event("task.noted", &subject, r#"{"text":"x"}"#);
        assert!(read_event(Rules::shipped(), other.as_bytes(), &stream, "f").is_none());
    }
}
