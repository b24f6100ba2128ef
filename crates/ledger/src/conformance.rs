//! The suite that every engine passes.
//!
//! [`SUITE`] is for every engine, and [`LOCAL_SUITE`] is for those on one machine. Each test gets a world of
//! its own with an empty ledger.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::{
    Append, AppendError, Cursor, ExpectedVersion, LeaseError, Ledger, LedgerError, LedgerRecord,
    LocalLedger, Page, RECORD_BYTES_MAX, RecordOutcome, StreamId, Version,
};
use midstride_core::text::id::{BlobHash, SessionId};
use midstride_core::text::redact::{CustomRule, RedactionRules};
use midstride_core::work::event::{Envelope, Event, InstructionEvent, SessionEvent, UnknownEvent};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Provides an empty ledger that can be opened several times, each time as another process would.
pub trait World: Sync {
    /// Opens the ledger again.
    fn open(&self) -> Box<dyn Ledger>;

    /// Stores text as a record, without the engine.
    fn push_text(&self, stream: &StreamId, events: &str);

    /// Takes a lease away from its holder. Returns whether leases of this engine can be lost.
    fn lose_lease(&self, name: &str) -> bool;
}

/// A world whose ledger is on one machine.
pub trait LocalWorld: World {
    /// Opens the ledger again.
    fn open_local(&self) -> Box<dyn LocalLedger>;
}

/// An event with the given id.
pub fn event(id: &str) -> Envelope {
    with_data(id, "x")
}

fn with_data(id: &str, data: &str) -> Envelope {
    let unknown = UnknownEvent { kind: "test.happened".to_owned(), version: 7, data: json!(data) };
    Envelope {
        id: id.to_owned(),
        time: "2026-03-21T17:24:00Z".parse().expect("it is a time"),
        source: "conformance".to_owned(),
        received_from: None,
        event: Event::Unknown(unknown),
    }
}

fn ids(records: &[LedgerRecord]) -> Vec<&str> {
    records.iter().flat_map(|record| &record.events).map(|event| event.id.as_str()).collect()
}

fn stream(name: &str) -> StreamId {
    StreamId::from_name(name)
}

/// A test of the suite.
pub type Test = fn(&dyn World);

/// A test of the suite for one machine.
pub type LocalTest = fn(&dyn LocalWorld);

/// What every engine passes, with names.
pub const SUITE: [(&str, Test); 18] = [
    ("appended events are read in order", order),
    ("a writer that expects another version conflicts", conflicts),
    ("the same events at the same version succeed again", retries),
    ("a record is whole and versions grow", whole_records),
    ("a record that is empty or too large is refused", limits),
    ("a batch has winners and losers", batches),
    ("a later append of a batch sees an earlier one", batches_in_order),
    ("a batch can be repeated", repeated_batches),
    ("the whole log is read in pages", pages),
    ("a stream is read in pages", stream_pages),
    ("streams are read by how their names start", below),
    ("an event that cannot be read stays in its record", unreadable),
    ("blobs are found by their hash", blobs),
    ("a lease has one holder and ends with it", leases),
    ("a lost lease says so, and another holder keeps it", lost_leases),
    ("a watcher is woken, and never waits forever", waiting),
    ("of concurrent writers each wins exactly once", many),
    ("followers of the log miss nothing", followers),
];

/// What every engine on one machine passes, with names.
pub const LOCAL_SUITE: [(&str, LocalTest); 8] = [
    ("the newest records are read newest first", latest),
    ("events from elsewhere are appended once", uniting),
    ("an unreadable event survives a rewrite of its record", rewriting_unreadable),
    ("blobs are found by how their hash starts", blob_prefixes),
    ("a forgotten blob is deleted and never stored again", forgetting),
    ("a large forgotten blob is deleted and never stored again", forgetting_much),
    ("words of a forgotten session are deleted and are not appended again", forgetting_a_session),
    ("records and blobs are redacted, and old hashes read the clean text", redacting),
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
    let mut cursor = Cursor::START;
    let mut paged = Vec::new();
    loop {
        let Page { records, next } = ledger.read_prefix_page("task/", &cursor, 2).unwrap();
        assert!(records.len() <= 2);
        if records.is_empty() {
            break;
        }
        paged.extend(records);
        cursor = next;
    }
    assert_eq!(ids(&paged).into_iter().collect::<BTreeSet<_>>(), ["1", "3", "5"].into());
    assert!(
        ids(&paged).iter().position(|id| *id == "1") < ids(&paged).iter().position(|id| *id == "5")
    );
    let first = ledger.last_per_stream_page("task/", &Cursor::START, 1).unwrap();
    let second = ledger.last_per_stream_page("task/", &first.next, 1).unwrap();
    let third = ledger.last_per_stream_page("task/", &second.next, 1).unwrap();
    assert_eq!((ids(&first.records), ids(&second.records)), (vec!["3"], vec!["5"]));
    assert_eq!(third.records, []);
}

fn latest(world: &dyn LocalWorld) {
    let ledger = world.open_local();
    let append = |name: &str, expected, id: &str| {
        ledger.append(&stream(name), expected, &[event(id)]).unwrap()
    };
    let first = append("task/b", ExpectedVersion::NoStream, "1");
    append("handoff/a", ExpectedVersion::NoStream, "2");
    append("task/a", ExpectedVersion::NoStream, "3");
    append("task/b", ExpectedVersion::Exact(first), "4");
    assert_eq!(ids(&ledger.latest_with_prefix("task/", 2).unwrap()), ["4", "3"]);
    assert_eq!(ids(&ledger.latest_with_prefix("task/", 9).unwrap()), ["4", "3", "1"]);
    assert_eq!(ledger.latest_with_prefix("relay/", 9).unwrap(), []);
}

fn uniting(world: &dyn LocalWorld) {
    let (ledger, a, b) = (world.open_local(), StreamId::from_name("a"), StreamId::from_name("b"));
    let first = ledger.append(&a, ExpectedVersion::NoStream, &[event("1")]).unwrap();
    let many: Vec<Envelope> = (0..200).map(|number| event(&format!("b{number}"))).collect();
    let streams = [(a.clone(), vec![event("2"), event("1"), event("2")]), (b.clone(), many)];
    assert_eq!(ledger.append_missing(&streams).unwrap(), RecordOutcome::New(201));
    assert_eq!(world.open_local().append_missing(&streams).unwrap(), RecordOutcome::New(0));
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
    let nowhere = ExpectedVersion::Exact(Version::from_engine(41));
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
    assert_eq!(records.len(), 5);
    assert!(records.iter().all(|record| record.events.len() == 2));
    assert!(records.is_sorted_by(|a, b| a.version < b.version));
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
        let stream = stream(&format!("stream-{number}"));
        ledger.append(&stream, ExpectedVersion::NoStream, &[event(&number.to_string())]).unwrap();
    }
    let mut cursor = Cursor::START;
    let mut seen = Vec::new();
    loop {
        let Page { records, next } = ledger.read_all(&cursor, 3).unwrap();
        assert!(records.len() <= 3);
        cursor = next;
        if records.is_empty() {
            break;
        }
        seen.extend(ids(&records).into_iter().map(str::to_owned));
    }
    assert_eq!(seen, ["0", "1", "2", "3", "4", "5", "6"]);
    // Each record has a cursor too.
    let all = ledger.read_all(&Cursor::START, 9).unwrap().records;
    assert_eq!(ids(&ledger.read_all(&all[4].cursor, 9).unwrap().records), ["5", "6"]);
    let refused = ledger.read_all(&Cursor::from_engine("no place"), 9).unwrap_err();
    assert!(matches!(refused, LedgerError::Cursor(place) if place == "no place"));
    // A cursor outlives its handle, and a later record comes after it.
    ledger.append(&stream("late"), ExpectedVersion::NoStream, &[event("late")]).unwrap();
    assert_eq!(ids(&world.open().read_all(&cursor, 3).unwrap().records), ["late"]);
}

fn stream_pages(world: &dyn World) {
    let (ledger, stream) = (world.open(), stream("a"));
    let mut version = None;
    for number in 0..5 {
        let events = [event(&number.to_string())];
        version = Some(ledger.append(&stream, ExpectedVersion::after(version), &events).unwrap());
    }
    let first = ledger.read_page(&stream, None, 2).unwrap();
    assert_eq!(ids(&first), ["0", "1"]);
    let second = ledger.read_page(&stream, first.last().map(|it| it.version), 2).unwrap();
    assert_eq!(ids(&second), ["2", "3"]);
    assert_eq!(ids(&ledger.read_page(&stream, Some(second[1].version), 2).unwrap()), ["4"]);
    assert_eq!(ledger.read_page(&stream, version, 2).unwrap(), []);
}

fn batches(world: &dyn World) {
    let ledger = world.open();
    let [a, b, c] = ["a", "b", "c"].map(stream);
    let old = ledger.append(&a, ExpectedVersion::NoStream, &[event("1")]).unwrap();
    let [two, three, four] = ["2", "3", "4"].map(|id| [event(id)]);
    let large = [with_data("5", &"x".repeat(RECORD_BYTES_MAX))];
    let no_stream = ExpectedVersion::NoStream;
    let results = ledger.append_all(&[
        Append { stream: &a, expected: no_stream, events: &two },
        Append { stream: &b, expected: no_stream, events: &three },
        Append { stream: &c, expected: no_stream, events: &large },
        Append { stream: &a, expected: ExpectedVersion::Exact(old), events: &four },
        Append { stream: &c, expected: no_stream, events: &[] },
    ]);
    assert_eq!(results.len(), 5);
    assert_eq!(results[0], Err(AppendError::Conflict { actual: Some(old) }));
    assert!(matches!(results[2], Err(AppendError::TooLarge(_))));
    assert_eq!(results[4], Err(AppendError::Empty));
    let ledger = world.open();
    for (stream, expected, result) in
        [(&a, vec!["1", "4"], &results[3]), (&b, vec!["3"], &results[1])]
    {
        let records = ledger.read(stream, None).unwrap();
        assert_eq!(ids(&records), expected);
        assert_eq!(records.last().map(|record| record.version), result.clone().ok());
    }
    assert_eq!(ledger.read(&c, None).unwrap(), []);
    assert_eq!(ledger.append_all(&[]), []);
}

fn batches_in_order(world: &dyn World) {
    let (ledger, stream) = (world.open(), stream("a"));
    let [one, other] = ["1", "2"].map(|id| [event(id)]);
    let append = |events| Append { stream: &stream, expected: ExpectedVersion::NoStream, events };
    let results = ledger.append_all(&[append(&one), append(&other), append(&one)]);
    let first = results[0].clone().unwrap();
    assert_eq!(results[1], Err(AppendError::Conflict { actual: Some(first) }));
    assert_eq!(results[2], Ok(first), "the same events at the same version");
    assert_eq!(ids(&world.open().read(&stream, None).unwrap()), ["1"]);
}

fn repeated_batches(world: &dyn World) {
    let [a, b] = ["a", "b"].map(stream);
    let [one, other] = ["1", "2"].map(|id| [event(id)]);
    let expected = ExpectedVersion::NoStream;
    let batch = [
        Append { stream: &a, expected, events: &one },
        Append { stream: &b, expected, events: &other },
    ];
    let first = world.open().append_all(&batch);
    assert!(first.iter().all(Result::is_ok), "{first:?}");
    assert_eq!(world.open().append_all(&batch), first);
    assert_eq!(ids(&world.open().read_with_prefix("").unwrap()), ["1", "2"]);
}

fn unreadable(world: &dyn World) {
    let (ledger, stream) = (world.open(), stream("a"));
    let first = ledger.append(&stream, ExpectedVersion::NoStream, &[event("1")]).unwrap();
    let whole = event("2").to_cloud_event("a");
    let foreign = json!({ "id": "3", "type": "other.event" });
    world.push_text(&stream, &json!([whole, foreign]).to_string());
    world.push_text(&stream, "[torn");
    let records = world.open().read(&stream, Some(first)).unwrap();
    assert_eq!(ids(&records), ["2", "3", ""]);
    let is_readable = |event: &Envelope| event.is_readable();
    let readable: Vec<bool> =
        records.iter().flat_map(|record| &record.events).map(is_readable).collect();
    assert_eq!(readable, [true, false, false]);
    // The stream goes on.
    let last = records.last().map(|record| record.version);
    ledger.append(&stream, ExpectedVersion::after(last), &[event("4")]).unwrap();
    let all = ledger.read_all(&Cursor::START, 9).unwrap().records;
    assert_eq!(ids(&all), ["1", "2", "3", "", "4"]);
}

fn rewriting_unreadable(world: &dyn LocalWorld) {
    let (ledger, stream) = (world.open_local(), StreamId::instructions());
    let whole = instruction("1", "s").to_cloud_event(stream.as_str());
    let foreign = json!({ "id": "2", "type": "other.event", "session": "s" });
    world.push_text(&stream, &json!([whole, foreign]).to_string());
    assert_eq!(ledger.forget_session("client", &SessionId::new("s")).unwrap(), 1);
    let records = ledger.read(&stream, None).unwrap();
    assert_eq!(ids(&records), ["1", "2"]);
    assert_eq!(records[0].events[1].to_cloud_event("any"), foreign);
    assert!(!records[0].events[0].event.data().to_string().contains("touch"));
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
    let empty = ledger.put_blob(b"").unwrap();
    assert_eq!(empty.as_str(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

fn blob_prefixes(world: &dyn LocalWorld) {
    let ledger = world.open_local();
    for bytes in [vec![7_u8; 3 * RECORD_BYTES_MAX], b"short".to_vec(), Vec::new()] {
        let hash = ledger.put_blob(&bytes).unwrap();
        let found = world.open_local().blobs_with_prefix(&hash.as_str()[..9]).unwrap();
        assert_eq!(found, std::slice::from_ref(&hash));
    }
    assert_eq!(ledger.blobs_with_prefix("").unwrap().len(), 3);
    assert_eq!(ledger.forgotten_blobs().unwrap(), BTreeSet::new());
}

fn forgetting(world: &dyn LocalWorld) {
    forgetting_of(world, b"the password is hunter2");
}

fn forgetting_much(world: &dyn LocalWorld) {
    forgetting_of(world, &b"the password is hunter2. ".repeat(RECORD_BYTES_MAX / 8));
}

fn forgetting_of(world: &dyn LocalWorld, secret: &[u8]) {
    let (ledger, stream) = (world.open_local(), StreamId::session("client", &SessionId::new("s")));
    let (hash, other) = (ledger.put_blob(secret).unwrap(), ledger.put_blob(b"other").unwrap());
    let checkpointed = |blob: &BlobHash, about: Option<&str>| Envelope {
        event: Event::Session(SessionEvent::Checkpointed {
            client: "client".to_owned(),
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
        let ledger = world.open_local();
        assert_eq!(ledger.get_blob(&hash).unwrap(), None);
        assert_eq!(ledger.blobs_with_prefix("").unwrap(), std::slice::from_ref(&other));
        let refused = ledger.put_blob(secret).unwrap_err();
        assert!(matches!(refused, LedgerError::Forgotten(refused) if refused == hash));
        assert_eq!(ledger.forgotten_blobs().unwrap(), [hash.clone()].into());
    }
    assert_eq!(ledger.get_blob(&other).unwrap(), Some(b"other".to_vec()));
    let left = [checkpointed(&hash, None), checkpointed(&other, Some("more"))];
    assert_eq!(ledger.read(&stream, None).unwrap()[0].events, left);
    // A hash can be forgotten before its blob was ever stored.
    let never = BlobHash::new(crate::blob::sha256(b"never"));
    ledger.forget_blob(&never).unwrap();
    assert!(matches!(ledger.put_blob(b"never"), Err(LedgerError::Forgotten(_))));
}

fn instruction(id: &str, session: &str) -> Envelope {
    let given = InstructionEvent::Given {
        id: id.to_owned(),
        text: format!("never touch {id}"),
        branch: None,
        client: "client".to_owned(),
        session: SessionId::new(session),
        record: "r".to_owned(),
        headless: false,
    };
    Envelope { event: Event::Instruction(given), ..event(id) }
}

fn forgetting_a_session(world: &dyn LocalWorld) {
    let (ledger, stream) = (world.open_local(), StreamId::instructions());
    let events = vec![instruction("a", "s1"), instruction("b", "s2")];
    ledger.append_missing(&[(stream.clone(), events.clone())]).unwrap();
    assert_eq!(ledger.forget_session("another client", &SessionId::new("s1")).unwrap(), 0);
    assert_eq!(ledger.forget_session("client", &SessionId::new("s1")).unwrap(), 1);
    assert_eq!(ledger.forget_session("client", &SessionId::new("s1")).unwrap(), 0);
    let again = ledger.append_missing(&[(stream.clone(), events.clone())]).unwrap();
    assert_eq!(again, RecordOutcome::New(0));
    let left: Vec<Envelope> = world
        .open_local()
        .read(&stream, None)
        .unwrap()
        .into_iter()
        .flat_map(|one| one.events)
        .collect();
    assert_eq!(left[1], events[1]);
    assert_eq!(left[0].id, "a");
    assert!(!left[0].event.data().to_string().contains("touch"), "{left:?}");
}

fn redacting(world: &dyn LocalWorld) {
    const TOKEN: &str = "acme_q7w2e9r4t1y6u3i8";
    let rule = CustomRule {
        kind: "acme-token".to_owned(),
        begins: "acme_".to_owned(),
        then: "[a-z0-9]{16}".to_owned(),
        multiline: false,
    };
    let rules = RedactionRules::with_custom(&[rule]).expect("a rule");
    let (ledger, now) = (world.open_local(), event("1").time);
    let dirty = ledger.put_blob(format!("use {TOKEN} here").as_bytes()).unwrap();
    let plain = ledger.put_blob(b"nothing to hide").unwrap();
    let sessions = stream(&format!("session/client/{TOKEN}"));
    ledger.append(&sessions, ExpectedVersion::NoStream, &[with_data("1", TOKEN)]).unwrap();
    ledger.append(&stream("a"), ExpectedVersion::NoStream, &[event("2")]).unwrap();
    let done = ledger.redact(&rules, now).unwrap();
    assert_eq!((done.records, done.blobs), (1, 1));
    ledger.erase_unused().unwrap();
    let ledger = world.open_local();
    let clean = ledger.get_blob(&dirty).unwrap().expect("the old hash reads the clean text");
    assert_eq!(String::from_utf8(clean).unwrap(), "use REDACTED-acme-token here");
    assert_eq!(ledger.get_blob(&plain).unwrap(), Some(b"nothing to hide".to_vec()));
    let records = ledger.read_with_prefix("session/").unwrap();
    assert_eq!(ids(&records), ["1"]);
    let all: Vec<String> = records
        .iter()
        .flat_map(|record| record.events.iter().map(|it| it.to_cloud_event(record.stream.as_str())))
        .map(|event| event.to_string())
        .collect();
    assert!(all.iter().all(|event| !event.contains(TOKEN)), "{all:?}");
    let again = ledger.redact(&rules, now).unwrap();
    assert_eq!((again.records, again.blobs), (0, 0));
    // What was redacted can be forgotten by its old hash.
    ledger.forget_blob(&dirty).unwrap();
    assert_eq!(ledger.get_blob(&dirty).unwrap(), None);
}

fn leases(world: &dyn World) {
    let (one, other) = (world.open(), world.open());
    let lease = one.acquire_lease("run/1").unwrap();
    let LeaseError::Taken { name, owner } = other.acquire_lease("run/1").unwrap_err() else {
        panic!("it is taken");
    };
    assert_eq!((name.as_str(), owner.as_ref()), ("run/1", Some(lease.owner())));
    // Names are not folded.
    let others = ["run_1", "run/2", "RUN/1", "run%2F1", "run/1 "];
    let others = others.map(|name| other.acquire_lease(name).unwrap());
    assert!(!lease.is_lost());
    drop(lease);
    let again = other.acquire_lease("run/1").unwrap();
    drop((again, others));
}

fn lost_leases(world: &dyn World) {
    let (one, other) = (world.open(), world.open());
    let lease = one.acquire_lease("run/1").unwrap();
    if !world.lose_lease("run/1") {
        assert!(!lease.is_lost());
        return;
    }
    assert!(lease.is_lost());
    let next = other.acquire_lease("run/1").unwrap();
    assert!(lease.is_lost() && !next.is_lost());
    drop(lease);
    assert!(!next.is_lost(), "dropping a lost lease does not end the next one");
    assert!(one.acquire_lease("run/1").is_err());
}

/// Follows the log until this number of records.
fn follow(ledger: &dyn Ledger, count: usize) -> Vec<String> {
    let mut watch = ledger.watch().unwrap();
    let (mut cursor, mut seen) = (Cursor::START, Vec::new());
    while seen.len() < count {
        let Page { records, next } = ledger.read_all(&cursor, 7).unwrap();
        if records.is_empty() {
            watch.wait(Duration::from_secs(5));
        }
        seen.extend(ids(&records).into_iter().map(str::to_owned));
        cursor = next;
    }
    seen
}

fn followers(world: &dyn World) {
    const FOLLOWERS: usize = 20;
    const WRITERS: usize = 16;
    const EACH: usize = 10;
    let followed = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            scope.spawn(move || {
                let (ledger, stream) = (world.open(), stream(&format!("writer-{}", writer % 4)));
                for number in 0..EACH {
                    append_behind(&*ledger, &stream, &event(&format!("{writer}-{number}")));
                }
            });
        }
        for _ in 0..FOLLOWERS {
            let followed = &followed;
            scope.spawn(move || {
                let seen = follow(&*world.open(), WRITERS * EACH);
                let different: BTreeSet<&String> = seen.iter().collect();
                assert_eq!((seen.len(), different.len()), (WRITERS * EACH, WRITERS * EACH));
                followed.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
    assert_eq!(followed.into_inner(), FOLLOWERS);
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
        if !ledger.read_all(&Cursor::START, 1).unwrap().records.is_empty() {
            return;
        }
        watch.wait(Duration::from_secs(5));
    }
    panic!("the watcher was not woken");
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
    assert!(records.is_sorted_by(|a, b| a.version < b.version));
}

/// Appends an event after those of other writers.
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
