//! Tests of forked sessions: copied records still belong to the original session.

use crate::set_up;
use midstride::clients;
use midstride::clients::capture::{CaptureOutcome, capture, remove_cursors};
use midstride::store::Store;
use midstride::store::ledger::WaitPolicy;
use midstride::verbs::{self, SessionChoice};
use midstride::workspace::Workspace;
use midstride_core::session::checkpoint::{CheckpointMode, HighlightKind, SessionSummary};
use midstride_core::session::{Correction, Session};
use midstride_core::text::id::SessionId;
use midstride_testkit::Sandbox;
use midstride_testkit::client;
use serde_json::{Value, json};
use std::path::PathBuf;

const FIRST: &str = "0195b9d2-4c00-7000-8000-0000000000a1";
const SECOND: &str = "0195b9d2-4c00-7000-8000-0000000000b2";
const THIRD: &str = "0195b9d2-4c00-7000-8000-0000000000c3";

struct Shop(Sandbox);

impl Shop {
    fn new() -> Self {
        let shop = Self(Sandbox::new("none").repository());
        set_up(&shop.open());
        shop
    }

    fn open(&self) -> Store {
        Store::new(
            Workspace::discover(crate::environment(&self.0, self.0.root())).unwrap(),
            WaitPolicy::Command,
        )
    }

    fn place(&self, session: &str) -> PathBuf {
        let path = self.0.root().display().to_string();
        let slug = path.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        self.0.home().join(".claude/projects").join(slug).join(format!("{session}.jsonl"))
    }

    fn put(&self, session: &str, records: &[Value]) {
        let path = self.place(session);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
        std::fs::write(path, lines).unwrap();
    }

    fn captured(&self, session: &str) -> CaptureOutcome {
        let found = clients::read_transcript(&self.place(session), None).unwrap();
        assert_eq!(found.session.as_str(), session);
        capture(self.open().workspace(), &found).unwrap()
    }

    fn session(&self, session: &str) -> Session {
        self.captured(session).session.without_reading_state()
    }

    /// The records of one turn, as the client writes them.
    fn turn(
        &self,
        session: &str,
        name: &str,
        minute: u32,
        asked: &str,
        parent: Value,
    ) -> Vec<Value> {
        let root = self.0.root().display().to_string();
        let time = |second: u32| format!("2026-03-22T10:{minute:02}:{second:02}Z");
        let linked = |kind: &str, number: u32, parent: Value, message: Value| {
            json!({"type": kind, "uuid": format!("{name}{number}"), "parentUuid": parent,
                "sessionId": session, "cwd": root, "timestamp": time(number), "message": message})
        };
        let usage = json!({"input_tokens": 10, "output_tokens": 5});
        let answer = |number: u32, content: Value| {
            json!({"id": format!("msg-{name}-{number}"), "model": "claude-opus-4-5",
                "role": "assistant", "usage": usage, "content": [content]})
        };
        let call = |number: u32, tool: &str, input: Value| json!({"type": "tool_use", "id": format!("call-{name}-{number}"), "name": tool, "input": input});
        let back = |number: u32| {
            json!({"role": "user", "content": [{"type": "tool_result",
                "tool_use_id": format!("call-{name}-{number}"), "content": "ok"}]})
        };
        let file = format!("{root}/{name}.txt");
        vec![
            json!({"type": "queue-operation", "operation": "dequeue", "sessionId": session, "timestamp": time(0)}),
            linked("user", 1, parent, json!({"role": "user", "content": asked})),
            linked(
                "assistant",
                2,
                json!(format!("{name}1")),
                answer(2, call(2, "Bash", json!({"command": format!("make {name}")}))),
            ),
            linked("user", 3, json!(format!("{name}2")), back(2)),
            linked(
                "assistant",
                4,
                json!(format!("{name}3")),
                answer(4, call(4, "Write", json!({"file_path": file, "content": "x\n"}))),
            ),
            linked("user", 5, json!(format!("{name}4")), back(4)),
            linked(
                "assistant",
                6,
                json!(format!("{name}5")),
                answer(6, json!({"type": "text", "text": format!("Done {name}.")})),
            ),
            json!({"type": "last-prompt", "sessionId": session, "lastPrompt": asked}),
        ]
    }

    fn first(&self) -> Vec<Value> {
        self.turn(FIRST, "a", 0, "Bring it up to date.", Value::Null)
    }

    /// A session that continues from records of another one: its own notes, the copies, and a turn.
    fn fork(
        &self,
        session: &str,
        of: &[Value],
        name: &str,
        minute: u32,
        asked: &str,
    ) -> Vec<Value> {
        let copies = copies(of, session);
        let parent = copies.last().unwrap()["uuid"].clone();
        let mut turn = self.turn(session, name, minute, asked, parent);
        let mut records = vec![json!({"type": "mode", "mode": "normal", "sessionId": session})];
        records.push(turn.remove(0));
        records.extend(copies);
        records.extend(turn);
        records
    }
}

/// What the client copies: records with an id, which keep their id and time.
fn copies(of: &[Value], session: &str) -> Vec<Value> {
    let linked = of.iter().filter(|record| record["uuid"].is_string()).cloned();
    linked
        .map(|mut record| {
            record["sessionId"] = json!(session);
            record
        })
        .collect()
}

fn asked(session: &Session) -> Vec<&str> {
    session.requests.iter().map(|request| &*request.text).collect()
}

fn ran(session: &Session) -> Vec<&str> {
    session.commands.iter().map(|command| &*command.text).collect()
}

fn forked(session: &Session) -> (Option<&str>, Option<&str>) {
    (session.forked_from.as_ref().map(SessionId::as_str), session.forked_after.as_deref())
}

/// Asserts that nothing is counted twice or lost.
fn adds_up(session: &Session, records: &[Value], copied: u64) {
    let counts = &session.counts;
    assert_eq!(counts.seen, records.len() as u64);
    assert_eq!((counts.duplicates, counts.understood), (copied, counts.seen - copied));
}

#[test]
fn a_fork_is_not_captured_while_its_source_cannot_be_read() {
    let shop = Shop::new();
    shop.put(FIRST, &shop.first());
    shop.put(SECOND, &shop.fork(SECOND, &shop.first(), "b", 30, "Now the rest."));
    let (source, away) = (shop.place(FIRST), shop.0.home().join("away.jsonl"));
    std::fs::rename(&source, &away).unwrap();
    // Reading the start of this file fails with an I/O error, as on a broken disk.
    std::os::unix::fs::symlink("/proc/self/mem", &source).unwrap();
    let found = clients::read_transcript(&shop.place(SECOND), None).unwrap();
    let error = capture(shop.open().workspace(), &found).unwrap_err().to_string();
    assert!(error.contains(FIRST), "{error}");
    std::fs::remove_file(&source).unwrap();
    std::fs::rename(&away, &source).unwrap();
    assert_eq!(shop.session(SECOND).forked_from.unwrap().as_str(), FIRST);
}

#[test]
fn copied_records_belong_to_the_original_session() {
    let shop = Shop::new();
    let first = shop.first();
    let second = shop.fork(SECOND, &first, "b", 10, "No, the other way.");
    shop.put(SECOND, &second);
    shop.put(FIRST, &first);
    let session = shop.session(SECOND);
    assert_eq!(session.id.as_ref().map(SessionId::as_str), Some(SECOND));
    assert_eq!(forked(&session), (Some(FIRST), Some("a6")));
    assert_eq!(asked(&session), ["No, the other way."]);
    assert_eq!(session.requests.items[0].correction, Some(Correction::Worded));
    assert_eq!(ran(&session), ["make b"]);
    let changed: Vec<&str> = session.files.changed().map(|(path, _)| path).collect();
    assert_eq!(changed.len(), 1, "{changed:?}");
    assert!(changed[0].ends_with("/b.txt"));
    assert_eq!((session.usage.input, session.usage.output), (30, 15));
    assert_eq!(session.counts.tool_calls, 2);
    assert_eq!(session.began, "2026-03-22T10:10:00Z".parse().ok());
    adds_up(&session, &second, 6);
    let session = shop.session(FIRST);
    assert_eq!(forked(&session), (None, None));
    assert_eq!((asked(&session), ran(&session)), (vec!["Bring it up to date."], vec!["make a"]));
    adds_up(&session, &first, 0);
}

#[test]
fn user_instructions_before_the_fork_still_apply() {
    let shop = Shop::new();
    let mut first = shop.first();
    let parent = first.last().unwrap()["uuid"].clone();
    first.extend(shop.turn(FIRST, "c", 5, "No, do not touch the fixtures.", parent));
    shop.put(FIRST, &first);
    shop.put(SECOND, &shop.fork(SECOND, &first, "b", 10, "Now the report."));
    let session = shop.session(SECOND);
    assert_eq!(asked(&session), ["Now the report."]);
    let store = shop.open();
    let which = SessionChoice::Id(SECOND.to_owned());
    let done = verbs::checkpoint(&store, &which, None, CheckpointMode::Auto).unwrap();
    let gist = SessionSummary::from_checkpoint(&done.checkpoint);
    let said = |sort| -> Vec<(String, Option<String>)> {
        gist.of_kind(sort).map(|item| (item.text.clone(), item.state.clone())).collect()
    };
    let before = || Some("before this session forked".to_owned());
    assert_eq!(said(HighlightKind::Goal), [("Bring it up to date.".to_owned(), before())]);
    assert_eq!(
        said(HighlightKind::Correction),
        [("No, do not touch the fixtures.".to_owned(), before())]
    );
    assert_eq!(said(HighlightKind::Request), [("Now the report.".to_owned(), None)]);
    assert!(done.checkpoint.page().contains(", before this session forked"));
}

#[test]
fn the_order_and_number_of_captures_do_not_matter() {
    let whole = Shop::new();
    let first = whole.first();
    let second = whole.fork(SECOND, &first, "b", 10, "The other way.");
    whole.put(FIRST, &first);
    whole.put(SECOND, &second);
    let expected = whole.session(SECOND);
    for order in [[FIRST, SECOND], [SECOND, FIRST]] {
        // The client writes while the file is read, and may stop anywhere.
        for cut in 0..=second.len() {
            whole.put(SECOND, &second[..cut]);
            remove_cursors(
                whole.open().workspace(),
                client("claude-code"),
                &SessionId::new(SECOND),
            )
            .unwrap();
            for session in order {
                whole.captured(session);
            }
            whole.put(SECOND, &second);
            assert_eq!(whole.session(SECOND), expected, "cut after {cut}");
            let again = whole.captured(SECOND);
            assert_eq!(again.new_bytes, 0, "cut after {cut}");
            assert_eq!(again.session.without_reading_state(), expected, "cut after {cut}");
        }
        for session in order {
            remove_cursors(
                whole.open().workspace(),
                client("claude-code"),
                &SessionId::new(session),
            )
            .unwrap();
        }
    }
}

#[test]
fn a_session_can_continue_after_a_fork() {
    let shop = Shop::new();
    let mut first = shop.first();
    shop.put(FIRST, &first);
    let second = shop.fork(SECOND, &first, "b", 10, "The other way.");
    shop.put(SECOND, &second);
    shop.captured(FIRST);
    first.extend(shop.turn(FIRST, "d", 20, "And now?", json!("a6")));
    shop.put(FIRST, &first);
    assert_eq!(ran(&shop.session(FIRST)), ["make a", "make d"]);
    assert_eq!(forked(&shop.session(SECOND)), (Some(FIRST), Some("a6")));
    // Nothing of either session is reported twice or lost.
    adds_up(&shop.session(FIRST), &first, 0);
    adds_up(&shop.session(SECOND), &second, 6);
}

#[test]
fn the_parent_of_a_nested_fork_is_the_session_it_shares_most_with() {
    let shop = Shop::new();
    let first = shop.first();
    let second = shop.fork(SECOND, &first, "b", 10, "The other way.");
    let third = shop.fork(THIRD, &second, "c", 20, "A third way.");
    // Another session forked from the first where the second did.
    let beside = "0195b9d2-4c00-7000-8000-000000000001";
    let fourth = shop.fork(beside, &first, "e", 30, "A fourth way.");
    for (session, records) in
        [(beside, &fourth), (THIRD, &third), (SECOND, &second), (FIRST, &first)]
    {
        shop.put(session, records);
    }
    assert_eq!(forked(&shop.session(THIRD)), (Some(SECOND), Some("b6")));
    assert_eq!(forked(&shop.session(SECOND)), (Some(FIRST), Some("a6")));
    assert_eq!(forked(&shop.session(beside)), (Some(FIRST), Some("a6")));
    assert_eq!(forked(&shop.session(FIRST)), (None, None));
    let all = [FIRST, SECOND, THIRD, beside].map(|session| shop.session(session));
    let ran: Vec<&str> = all.iter().flat_map(ran).collect();
    assert_eq!(ran, ["make a", "make b", "make c", "make e"]);
}

#[test]
fn copies_after_a_summary_may_start_in_the_middle() {
    let shop = Shop::new();
    let mut first = shop.first();
    let note = |uuid: &str, parent: Value, more: Value| {
        let mut record = json!({"uuid": uuid, "parentUuid": parent, "sessionId": FIRST,
            "timestamp": "2026-03-22T10:01:00Z"});
        record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        record
    };
    let boundary = note(
        "s1",
        Value::Null,
        json!({"type": "system", "subtype": "compact_boundary",
        "logicalParentUuid": "a6", "compactMetadata": {"trigger": "manual", "preTokens": 9}}),
    );
    let summary = note(
        "s2",
        json!("s1"),
        json!({"type": "user", "isCompactSummary": true,
        "message": {"role": "user", "content": "All that was."}}),
    );
    first.extend([boundary, summary]);
    let last = first.iter().find(|record| record["uuid"] == "a6").cloned().unwrap();
    let tail = shop.turn(FIRST, "d", 5, "Go on.", json!("s2"));
    first.extend(tail.clone());
    shop.put(FIRST, &first);
    // The client writes what it keeps after the summary.
    let mut copied: Vec<Value> = first
        .iter()
        .filter(|record| record["uuid"].as_str().is_some_and(|id| id.starts_with('s')))
        .cloned()
        .collect();
    copied.push(last);
    copied.extend(tail);
    let second = shop.fork(SECOND, &copied, "b", 10, "The other way.");
    shop.put(SECOND, &second);
    // An unrelated session.
    shop.put(THIRD, &shop.turn(THIRD, "c", 0, "Something else.", Value::Null));
    let session = shop.session(SECOND);
    assert_eq!(forked(&session), (Some(FIRST), Some("d6")));
    assert_eq!((asked(&session), ran(&session)), (vec!["The other way."], vec!["make b"]));
    assert!(session.compactions.is_empty());
    adds_up(&session, &second, 9);
    assert_eq!(shop.session(FIRST).compactions.total(), 1);
    assert_eq!(forked(&shop.session(THIRD)), (None, None));
}

#[test]
fn copies_of_a_deleted_session_are_kept() {
    let shop = Shop::new();
    let first = shop.first();
    let mut second = shop.fork(SECOND, &first, "b", 10, "The other way.");
    // Some versions name the source of a copy.
    for record in second
        .iter_mut()
        .filter(|record| record["uuid"].as_str().is_some_and(|id| id.starts_with('a')))
    {
        record["forkedFrom"] = json!({"sessionId": FIRST, "messageUuid": record["uuid"]});
    }
    shop.put(SECOND, &second);
    let session = shop.session(SECOND);
    assert_eq!(forked(&session), (Some(FIRST), None));
    assert_eq!(ran(&session), ["make a", "make b"]);
    adds_up(&session, &second, 0);
    // What was captured while the original existed stays captured.
    let other = Shop::new();
    let first = other.first();
    let mut second = other.fork(SECOND, &first, "b", 10, "The other way.");
    other.put(FIRST, &first);
    other.put(SECOND, &second);
    other.captured(SECOND);
    std::fs::remove_file(other.place(FIRST)).unwrap();
    second.extend(other.turn(SECOND, "d", 20, "Go on.", json!("b6")));
    other.put(SECOND, &second);
    let session = other.session(SECOND);
    assert_eq!(forked(&session), (Some(FIRST), Some("a6")));
    assert_eq!(ran(&session), ["make b", "make d"]);
}

#[test]
fn a_copy_marker_identifies_the_fork() {
    let shop = Shop::new();
    // Neither has notes before its first record, and the fork has the lower id.
    let linked = |records: Vec<Value>| copies(&records, SECOND);
    let first = linked(shop.turn(SECOND, "a", 0, "Bring it up to date.", Value::Null));
    let mut fork = copies(&first, FIRST);
    for record in &mut fork {
        record["forkedFrom"] = json!({"sessionId": SECOND, "messageUuid": record["uuid"]});
    }
    fork.extend(shop.turn(FIRST, "b", 10, "The other way.", json!("a6")));
    shop.put(FIRST, &fork);
    shop.put(SECOND, &first);
    assert_eq!(forked(&shop.session(FIRST)), (Some(SECOND), Some("a6")));
    assert_eq!(forked(&shop.session(SECOND)), (None, None));
    assert_eq!(ran(&shop.session(SECOND)), ["make a"]);
}

#[test]
fn unmarked_shared_records_belong_to_exactly_one_session() {
    let shop = Shop::new();
    let first = copies(&shop.first(), FIRST);
    let mut second = copies(&first, SECOND);
    second.extend(shop.turn(SECOND, "b", 10, "The other way.", json!("a6")).split_off(1));
    shop.put(FIRST, &first);
    shop.put(SECOND, &second);
    let all = [SECOND, FIRST].map(|session| shop.session(session));
    let mut ran: Vec<&str> = all.iter().flat_map(ran).collect();
    ran.sort_unstable();
    assert_eq!(ran, ["make a", "make b"]);
}

/// Marks copies with the session they are from, as some versions do.
fn marked(mut records: Vec<Value>, from: &str) -> Vec<Value> {
    for record in &mut records {
        record["forkedFrom"] = json!({"sessionId": from, "messageUuid": record["uuid"]});
    }
    records
}

/// Asserts that exactly one session reports each turn.
fn told_once(sessions: &[Session], expected: &[&str]) {
    let mut ran: Vec<&str> = sessions.iter().flat_map(ran).collect();
    ran.sort_unstable();
    assert_eq!(ran, expected);
}

#[test]
fn a_fork_without_records_of_its_own_is_captured() {
    let shop = Shop::new();
    let first = shop.first();
    let second = marked(copies(&first, SECOND), FIRST);
    shop.put(FIRST, &first);
    shop.put(SECOND, &second);
    let store = shop.open();
    let which = SessionChoice::Id(SECOND.to_owned());
    let done = verbs::checkpoint(&store, &which, None, CheckpointMode::Auto).unwrap();
    assert!(done.is_new);
    let session = &done.checkpoint.session;
    assert_eq!(forked(session), (Some(FIRST), Some("a6")));
    let sentence = format!("forked from {FIRST} after record a6; nothing new yet");
    assert_eq!(session.fork_description(), Some(sentence));
    assert!(session.requests.is_empty() && session.commands.is_empty());
    let before: Vec<&str> = session.asked_before.iter().map(|request| &*request.text).collect();
    assert_eq!(before, ["Bring it up to date."]);
    adds_up(session, &second, 6);
    assert!(verbs::session(&store, SECOND, None).unwrap().is_stored);
    // What follows is its own.
    let mut further = second.clone();
    further.extend(shop.turn(SECOND, "b", 10, "The other way.", json!("a6")));
    shop.put(SECOND, &further);
    let done = verbs::checkpoint(&store, &which, None, CheckpointMode::Auto).unwrap();
    assert_eq!(ran(&done.checkpoint.session), ["make b"]);
    let sentence = format!("forked from {FIRST} after record a6");
    assert_eq!(done.checkpoint.session.fork_description(), Some(sentence));
}

#[test]
fn a_session_with_only_shared_records_is_the_original() {
    let shop = Shop::new();
    // No notes help here, and the fork has the lower id and the older file, as after a restore.
    let first = copies(&shop.turn(SECOND, "a", 0, "Bring it up to date.", Value::Null), SECOND);
    let mut fork = copies(&first, FIRST);
    fork.extend(shop.turn(FIRST, "b", 10, "The other way.", json!("a6")));
    shop.put(FIRST, &fork);
    shop.put(SECOND, &first);
    assert_eq!(forked(&shop.session(FIRST)), (Some(SECOND), Some("a6")));
    assert_eq!(forked(&shop.session(SECOND)), (None, None));
    told_once(&[FIRST, SECOND].map(|session| shop.session(session)), &["make a", "make b"]);
}

#[test]
fn the_session_with_the_earlier_note_is_the_original() {
    let shop = Shop::new();
    // Both continued, and the fork was made before the last shared record was written.
    let mut first = shop.turn(SECOND, "a", 0, "Bring it up to date.", Value::Null);
    let mut fork = shop.turn(FIRST, "b", 0, "The other way.", json!("a6"));
    fork[0]["timestamp"] = json!("2026-03-22T10:00:03Z");
    fork.splice(1..1, copies(&first, FIRST));
    first.extend(shop.turn(SECOND, "c", 20, "And now?", json!("a6")));
    shop.put(FIRST, &fork);
    shop.put(SECOND, &first);
    assert_eq!(forked(&shop.session(FIRST)), (Some(SECOND), Some("a6")));
    assert_eq!(forked(&shop.session(SECOND)), (None, None));
}

#[test]
fn records_captured_as_own_stay_own() {
    let shop = Shop::new();
    let mut first = copies(&shop.first(), FIRST);
    first.extend(copies(&shop.turn(FIRST, "d", 20, "And now?", json!("a6")), FIRST));
    let second = copies(&shop.first(), SECOND);
    let both = || [SECOND, FIRST].map(|session| shop.session(session));
    // The only evidence that the longer one came first is that it was captured.
    shop.put(FIRST, &first);
    shop.captured(FIRST);
    shop.put(SECOND, &second);
    assert_eq!(forked(&shop.session(SECOND)), (Some(FIRST), Some("a6")));
    told_once(&both(), &["make a", "make d"]);
    for session in [FIRST, SECOND] {
        remove_cursors(shop.open().workspace(), client("claude-code"), &SessionId::new(session))
            .unwrap();
    }
    told_once(&both(), &["make a", "make d"]);
}

#[test]
fn a_copy_of_a_copy_can_name_the_first_session() {
    let shop = Shop::new();
    let first = shop.first();
    let mut second = marked(copies(&first, SECOND), FIRST);
    second.extend(shop.turn(SECOND, "b", 10, "The other way.", json!("a6")));
    let mut third = copies(&second, THIRD);
    third.extend(shop.turn(THIRD, "c", 20, "A third way.", json!("b6")));
    // An unrelated session with the same beginning.
    let beside = "0195b9d2-4c00-7000-8000-000000000001";
    let fourth = shop.fork(beside, &first, "e", 30, "A fourth way.");
    for (session, records) in
        [(THIRD, &third), (beside, &fourth), (SECOND, &second), (FIRST, &first)]
    {
        shop.put(session, records);
    }
    assert_eq!(forked(&shop.session(THIRD)), (Some(SECOND), Some("b6")));
    assert_eq!(forked(&shop.session(SECOND)), (Some(FIRST), Some("a6")));
    let all = [THIRD, SECOND, FIRST, beside].map(|session| shop.session(session));
    told_once(&all, &["make a", "make b", "make c", "make e"]);
}
