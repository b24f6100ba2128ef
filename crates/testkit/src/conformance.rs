//! The conformance suite that every ledger implementation must pass.

use midstride::store::ledger::{
    AppendError, ExpectedVersion, LeaseError, Ledger, LedgerError, LedgerRecord, LogPosition,
    RECORD_BYTES_MAX, StreamId, StreamVersion,
};
use midstride_core::text::id::{BlobHash, SessionId};
use midstride_core::work::event::{Envelope, Event, InstructionEvent, SessionEvent, UnknownEvent};
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;

/// Provides an empty ledger that can be opened several times, each time as another process would.
pub trait World: Sync {
    /// Opens the ledger again.
    fn open(&self) -> Box<dyn Ledger + Send>;
}

/// An event with the given id.
pub fn event(id: &str) -> Envelope {
    with_data(id, "x")
}

fn with_data(id: &str, data: &str) -> Envelope {
    let unknown = UnknownEvent { kind: "test.happened".to_owned(), version: 7, data: json!(data) };
    Envelope {
        id: id.to_owned(),
        time: crate::NOW.parse().expect("it is a time"),
        source: "conformance".to_owned(),
        received_from: None,
        event: Event::Unknown(unknown),
    }
}

fn ids(records: &[LedgerRecord]) -> Vec<&str> {
    records.iter().flat_map(|record| &record.events).map(|event| event.id.as_str()).collect()
}

/// A test of the suite.
pub type Test = fn(&dyn World);

/// All tests of the suite with their names.
pub const SUITE: [(&str, Test); 15] = [
    ("what is appended is read in order", order),
    ("whoever expects another version conflicts", conflicts),
    ("the same events at the same place are fine again", retries),
    ("a record is whole and numbers have no gap", whole_records),
    ("what does not fit is refused", limits),
    ("the whole log is read in pages", pages),
    ("streams are read by how their names start", below),
    ("what comes from elsewhere is appended once", uniting),
    ("blobs are found by their hash", blobs),
    ("what is forgotten is gone and never stored again", forgetting),
    ("much that is forgotten is gone and never stored again", forgetting_much),
    ("words of a forgotten session are gone and do not come in again", forgetting_a_session),
    ("a lease has one holder and ends with it", leases),
    ("who waits is woken, and never for ever", waiting),
    ("of many at once each wins exactly once", many),
];

fn below(world: &dyn World) {
    let ledger = world.open();
    for (stream, id) in [("task/b", "1"), ("handoff/a", "2"), ("task/a", "3"), ("task", "4")] {
        ledger
            .append(&StreamId::from_name(stream), ExpectedVersion::NoStream, &[event(id)])
            .unwrap();
    }
    let first = ledger.read(&StreamId::from_name("task/b"), None).unwrap()[0].version;
    ledger
        .append(&StreamId::from_name("task/b"), ExpectedVersion::Exact(first), &[event("5")])
        .unwrap();
    assert_eq!(ids(&ledger.read_with_prefix("task/").unwrap()), ["3", "1", "5"]);
    assert_eq!(ledger.read_with_prefix("relay/").unwrap(), []);
    assert_eq!(ids(&ledger.last_per_stream("task/").unwrap()), ["3", "5"]);
    assert_eq!(ids(&ledger.last_per_stream("").unwrap()), ["2", "4", "3", "5"]);
    assert_eq!(ledger.last_per_stream("relay/").unwrap(), []);
    assert_eq!(ids(&ledger.latest_with_prefix("task/", 2).unwrap()), ["5", "3"]);
    assert_eq!(ids(&ledger.latest_with_prefix("task/", 9).unwrap()), ["5", "3", "1"]);
    assert_eq!(ledger.latest_with_prefix("relay/", 9).unwrap(), []);
}

fn uniting(world: &dyn World) {
    let (ledger, a, b) = (world.open(), StreamId::from_name("a"), StreamId::from_name("b"));
    let first = ledger.append(&a, ExpectedVersion::NoStream, &[event("1")]).unwrap();
    let many: Vec<Envelope> = (0..200).map(|number| event(&format!("b{number}"))).collect();
    let streams = [(a.clone(), vec![event("2"), event("1"), event("2")]), (b.clone(), many)];
    assert_eq!(ledger.append_missing(&streams).unwrap(), 201);
    assert_eq!(world.open().append_missing(&streams).unwrap(), 0, "it is there already");
    assert_eq!(ids(&ledger.read(&a, None).unwrap()), ["1", "2"]);
    assert_eq!(ids(&ledger.read(&b, None).unwrap()).len(), 200);
    let refused = ledger.append(&a, ExpectedVersion::Exact(first), &[event("3")]).unwrap_err();
    assert!(matches!(refused, AppendError::Conflict { .. }), "the stream has moved on: {refused}");
    let huge = with_data("huge", &"x".repeat(RECORD_BYTES_MAX));
    let refused =
        ledger.append_missing(&[(StreamId::from_name("c"), vec![event("4"), huge])]).unwrap_err();
    assert!(matches!(refused, AppendError::TooLarge(_)), "{refused}");
    assert_eq!(ledger.read(&StreamId::from_name("c"), None).unwrap(), []);
}

fn order(world: &dyn World) {
    let (ledger, stream) = (world.open(), StreamId::from_name("a"));
    assert_eq!(ledger.read(&stream, None).unwrap(), []);
    let first = ledger.append(&stream, ExpectedVersion::NoStream, &[event("1")]).unwrap();
    let second = ledger.append(&stream, ExpectedVersion::Exact(first), &[event("2")]).unwrap();
    ledger.append(&StreamId::from_name("b"), ExpectedVersion::NoStream, &[event("3")]).unwrap();
    // Another process sees the same records.
    let ledger = world.open();
    let records = ledger.read(&stream, None).unwrap();
    assert_eq!(ids(&records), ["1", "2"]);
    assert_eq!(records[0].events[0], event("1"), "an event comes back as it was");
    assert_eq!(records[1].version, second);
    assert_eq!(ids(&ledger.read(&stream, Some(first)).unwrap()), ["2"]);
    assert_eq!(ledger.read(&stream, Some(second)).unwrap(), []);
}

fn conflicts(world: &dyn World) {
    let (ledger, stream) = (world.open(), StreamId::from_name("a"));
    let nowhere = ExpectedVersion::Exact(StreamVersion(41));
    let refused = ledger.append(&stream, nowhere, &[event("0")]).unwrap_err();
    assert!(matches!(refused, AppendError::Conflict { actual: None }), "{refused}");
    let first = ledger.append(&stream, ExpectedVersion::NoStream, &[event("1")]).unwrap();
    let refused =
        world.open().append(&stream, ExpectedVersion::NoStream, &[event("2")]).unwrap_err();
    assert!(matches!(refused, AppendError::Conflict { actual: Some(v) } if v == first));
    let second = ledger.append(&stream, ExpectedVersion::Exact(first), &[event("2")]).unwrap();
    let refused = ledger.append(&stream, ExpectedVersion::Exact(first), &[event("3")]).unwrap_err();
    assert!(matches!(refused, AppendError::Conflict { actual: Some(v) } if v == second));
    assert_eq!(ids(&ledger.read(&stream, None).unwrap()), ["1", "2"]);
}

fn retries(world: &dyn World) {
    let (ledger, stream) = (world.open(), StreamId::from_name("a"));
    let both = [event("1"), event("2")];
    let first = ledger.append(&stream, ExpectedVersion::NoStream, &both).unwrap();
    assert_eq!(world.open().append(&stream, ExpectedVersion::NoStream, &both).unwrap(), first);
    ledger.append(&stream, ExpectedVersion::Exact(first), &[event("3")]).unwrap();
    // A retry also succeeds after later appends.
    assert_eq!(ledger.append(&stream, ExpectedVersion::NoStream, &both).unwrap(), first);
    let part = ledger.append(&stream, ExpectedVersion::NoStream, &[event("1")]).unwrap_err();
    assert!(matches!(part, AppendError::Conflict { .. }), "a part of a record is another record");
    assert_eq!(ids(&ledger.read(&stream, None).unwrap()), ["1", "2", "3"]);
}

fn whole_records(world: &dyn World) {
    let (ledger, stream) = (world.open(), StreamId::from_name("a"));
    let mut version = None;
    for number in 0..5 {
        let events = [event(&format!("{number}a")), event(&format!("{number}b"))];
        version = Some(ledger.append(&stream, ExpectedVersion::after(version), &events).unwrap());
    }
    let records = ledger.read(&stream, None).unwrap();
    let numbers: Vec<u64> = records.iter().map(|record| record.number).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    assert!(records.iter().all(|record| record.events.len() == 2));
    assert!(records.is_sorted_by(|a, b| a.position < b.position && a.version < b.version));
}

fn limits(world: &dyn World) {
    let (ledger, stream) = (world.open(), StreamId::from_name("a"));
    let refused = ledger.append(&stream, ExpectedVersion::NoStream, &[]).unwrap_err();
    assert!(matches!(refused, AppendError::Empty));
    let large = with_data("1", &"x".repeat(RECORD_BYTES_MAX));
    let refused = ledger.append(&stream, ExpectedVersion::NoStream, &[large]).unwrap_err();
    assert!(matches!(refused, AppendError::TooLarge(size) if size > RECORD_BYTES_MAX));
    let fits = with_data("1", &"x".repeat(RECORD_BYTES_MAX - 1000));
    ledger.append(&stream, ExpectedVersion::NoStream, std::slice::from_ref(&fits)).unwrap();
    assert_eq!(ledger.read(&stream, None).unwrap()[0].events, [fits]);
}

fn pages(world: &dyn World) {
    let ledger = world.open();
    for number in 0..7 {
        let stream = StreamId::from_name(&format!("stream-{number}"));
        ledger.append(&stream, ExpectedVersion::NoStream, &[event(&number.to_string())]).unwrap();
    }
    let mut cursor = LogPosition::default();
    let mut seen = Vec::new();
    loop {
        let page = ledger.read_all(cursor, 3).unwrap();
        assert!(page.len() <= 3);
        let Some(last) = page.last() else { break };
        cursor = last.position;
        seen.extend(ids(&page).into_iter().map(str::to_owned));
    }
    assert_eq!(seen, ["0", "1", "2", "3", "4", "5", "6"]);
}

fn blobs(world: &dyn World) {
    let ledger = world.open();
    let large = vec![7_u8; 3 * RECORD_BYTES_MAX];
    let hash = ledger.put_blob(&large).unwrap();
    assert_eq!(ledger.put_blob(&large).unwrap(), hash, "twice is once");
    assert_eq!(world.open().get_blob(&hash).unwrap(), Some(large));
    for none in ["00", "", "../ledger.db", &"0".repeat(64)] {
        assert_eq!(ledger.get_blob(&BlobHash::new(none)).unwrap(), None);
    }
    assert_eq!(ledger.blobs_with_prefix(&hash.as_str()[..9]).unwrap(), std::slice::from_ref(&hash));
    let empty = ledger.put_blob(b"").unwrap();
    assert_eq!(empty.as_str(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

fn forgetting(world: &dyn World) {
    forgetting_of(world, b"the password is hunter2");
}

fn forgetting_much(world: &dyn World) {
    forgetting_of(world, &b"the password is hunter2. ".repeat(RECORD_BYTES_MAX / 8));
}

fn forgetting_of(world: &dyn World, secret: &[u8]) {
    let (ledger, stream) = (world.open(), StreamId::session("codex", &SessionId::new("s")));
    let (hash, other) = (ledger.put_blob(secret).unwrap(), ledger.put_blob(b"other").unwrap());
    let checkpointed = |blob: &BlobHash, about: Option<&str>| Envelope {
        event: Event::Session(SessionEvent::Checkpointed {
            client: "codex".to_owned(),
            session: SessionId::new("s"),
            last_record: None,
            digest: "d".to_owned(),
            blob: blob.clone(),
            mode: "auto".to_owned(),
            agents_bytes: None,
            bytes: 7,
            began: None,
            ended: None,
            about: about.map(str::to_owned),
            folder: None,
            gist: None,
            branch: None,
            worked: None,
            open: None,
            edited_below: None,
        }),
        ..event(blob.as_str())
    };
    let said = [checkpointed(&hash, Some("hunter2")), checkpointed(&other, Some("more"))];
    ledger.append(&stream, ExpectedVersion::NoStream, &said).unwrap();
    assert_eq!(ledger.blobs_with_prefix(&hash.as_str()[..4]).unwrap(), std::slice::from_ref(&hash));
    for _ in 0..2 {
        ledger.forget_blob(&hash).unwrap();
        let ledger = world.open();
        assert_eq!(ledger.get_blob(&hash).unwrap(), None);
        assert_eq!(ledger.blobs_with_prefix("").unwrap(), std::slice::from_ref(&other));
        let refused = ledger.put_blob(secret).unwrap_err();
        assert!(matches!(refused, LedgerError::Forgotten(refused) if refused == hash));
    }
    assert_eq!(ledger.get_blob(&other).unwrap(), Some(b"other".to_vec()));
    let left = [checkpointed(&hash, None), checkpointed(&other, Some("more"))];
    assert_eq!(ledger.read(&stream, None).unwrap()[0].events, left);
    // A hash can be forgotten before its blob was ever stored.
    let never = BlobHash::new(midstride::sys::ids::sha256(b"never"));
    ledger.forget_blob(&never).unwrap();
    assert!(matches!(ledger.put_blob(b"never"), Err(LedgerError::Forgotten(_))));
}

fn forgetting_a_session(world: &dyn World) {
    let (ledger, stream) = (world.open(), StreamId::instructions());
    let given = |id: &str, session: &str| {
        let given = InstructionEvent::Given {
            id: id.to_owned(),
            text: format!("never touch {id}"),
            branch: None,
            client: "codex".to_owned(),
            session: SessionId::new(session),
            record: "r".to_owned(),
            headless: false,
        };
        Envelope { event: Event::Instruction(given), ..event(id) }
    };
    let events = vec![given("a", "s1"), given("b", "s2")];
    ledger.append_missing(&[(stream.clone(), events.clone())]).unwrap();
    assert_eq!(ledger.forget_session("claude-code", &SessionId::new("s1")).unwrap(), 0);
    assert_eq!(ledger.forget_session("codex", &SessionId::new("s1")).unwrap(), 1);
    assert_eq!(ledger.forget_session("codex", &SessionId::new("s1")).unwrap(), 0);
    assert_eq!(ledger.append_missing(&[(stream.clone(), events.clone())]).unwrap(), 0);
    let left: Vec<Envelope> =
        world.open().read(&stream, None).unwrap().into_iter().flat_map(|one| one.events).collect();
    assert_eq!(left[1], events[1]);
    assert_eq!(left[0].id, "a");
    assert!(!left[0].event.data().to_string().contains("touch"), "{left:?}");
}

fn leases(world: &dyn World) {
    let (one, other) = (world.open(), world.open());
    let lease = one.acquire_lease("run/1").unwrap();
    assert!(
        matches!(other.acquire_lease("run/1").unwrap_err(), LeaseError::Taken(name) if name == "run/1")
    );
    let another = other.acquire_lease("run/2").unwrap();
    drop(lease);
    let again = other.acquire_lease("run/1").unwrap();
    drop((again, another));
}

fn waiting(world: &dyn World) {
    let ledger = world.open();
    let mut watch = ledger.watch().unwrap();
    // The wait returns even if nothing happens.
    watch.wait(Duration::from_millis(10));
    let stream = StreamId::from_name("a");
    world.open().append(&stream, ExpectedVersion::NoStream, &[event("1")]).unwrap();
    // A wake-up is only a hint, so look again after each one.
    for _ in 0..1000 {
        if !ledger.read_all(LogPosition::default(), 1).unwrap().is_empty() {
            return;
        }
        watch.wait(Duration::from_secs(5));
    }
    panic!("nobody was woken");
}

fn many(world: &dyn World) {
    const WRITERS: usize = 4;
    const EACH: usize = 25;
    let stream = StreamId::from_name("a");
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let stream = &stream;
            scope.spawn(move || {
                let ledger = world.open();
                for number in 0..EACH {
                    append_behind(&*ledger, stream, &event(&format!("{writer}-{number}")));
                }
            });
        }
    });
    let records = world.open().read(&stream, None).unwrap();
    let seen: BTreeSet<&str> = ids(&records).into_iter().collect();
    assert_eq!((records.len(), seen.len()), (WRITERS * EACH, WRITERS * EACH));
    let last = u64::try_from(records.len()).expect("a few");
    assert_eq!(records.last().map(|record| record.number), Some(last));
}

/// Appends an event after whatever other writers have appended.
fn append_behind(ledger: &dyn Ledger, stream: &StreamId, event: &Envelope) {
    let mut expected = ExpectedVersion::NoStream;
    loop {
        match ledger.append(stream, expected, std::slice::from_ref(event)) {
            Ok(_) => return,
            Err(AppendError::Conflict { actual }) => expected = ExpectedVersion::after(actual),
            Err(error) => panic!("{error}"),
        }
    }
}
