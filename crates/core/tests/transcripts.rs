//! Tests of transcripts: fixtures in detail, and the corpus against an independent count.

mod counted;

pub(crate) use counted::client_of;

use counted::{Counted, Indexed, counted_by_python, start};
use midstride_core::session::checkpoint::{
    Checkpoint, CheckpointContext, CheckpointMode, HighlightKind, SessionSummary,
};
use midstride_core::session::transcript::{
    CURSOR_VERSION, CursorPosition, LineSplitter, TranscriptCursor, WINDOW_BYTES,
};
use midstride_core::session::{
    AgentState, Attribution, CommandStatus, Correction, PlanState, Session,
};
use midstride_core::text::id::SessionId;
use midstride_core::text::redact::CleanText;
use midstride_testkit::{assert_page, corpus, cursor, fixtures, parse_cursor};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The clients whose transcripts are read.
const CLIENTS: [&str; 3] = ["claude-code", "codex", "qwen-code"];

/// Reads what is new up to `end`, as a capture does.
fn read_on(cursor: &mut TranscriptCursor, bytes: &[u8], end: usize, chunk: usize) {
    let mut lines = LineSplitter::default();
    let from = usize::try_from(cursor.offset).unwrap();
    for part in bytes[from.min(end)..end].chunks(chunk.max(1)) {
        lines.feed(part, &mut |piece| cursor.take(piece));
    }
    cursor.offset += lines.complete_bytes();
    cursor.session.settle();
}

pub(crate) fn read(client: &str, bytes: &[u8]) -> Session {
    let mut cursor = cursor(client);
    read_on(&mut cursor, bytes, bytes.len(), 64 << 10);
    cursor.session
}

pub(crate) fn fixture(client: &str, name: &str) -> Vec<u8> {
    let folder = fixtures("transcripts").join(client);
    std::fs::read(folder.join(name)).unwrap()
}

pub(crate) fn jsonl_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(jsonl_below(&path));
        } else if path.extension().is_some_and(|ending| ending == "jsonl") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn counted(session: &Session) -> Counted {
    Counted {
        records: session.counts.seen,
        tool_calls: session.counts.tool_calls,
        commands: session.commands.iter().map(|command| start(&command.text)).collect(),
        agents: session
            .agents
            .iter()
            .map(|agent| start(agent.prompt.as_deref().unwrap_or_default()))
            .collect(),
        compactions: session.compactions.total(),
        tasks: session
            .tasks
            .iter()
            .map(|task| (task.subject.clone(), task.status.as_str().to_owned()))
            .collect(),
        changed: session.files.changed().map(|(path, _)| path.to_owned()).collect(),
    }
}

#[test]
#[ignore = "needs MIDSTRIDE_CORPUS"]
fn every_corpus_transcript_matches_an_independent_count() {
    let folder = corpus("transcripts");
    let all: Vec<(&'static str, PathBuf)> = jsonl_below(&folder)
        .into_iter()
        .filter_map(|path| Some((client_of(&path, &std::fs::read(&path).unwrap())?, path)))
        .collect();
    let of = |client| all.iter().filter(|(of, _)| *of == client).count();
    assert!(of("claude-code") > 25 && of("codex") > 12, "{}", all.len());
    let Some(expected) = counted_by_python(&all) else { return };
    for ((client, path), expected) in all.iter().zip(expected) {
        let session = read(client, &std::fs::read(path).unwrap());
        assert_eq!(counted(&session), expected, "{}", path.display());
        let counts = &session.counts;
        let all = counts.understood + counts.duplicates;
        let all = all + counts.total_skipped() + counts.total_unknown();
        assert_eq!(all, counts.seen, "{}: {counts:?}", path.display());
    }
}

#[test]
#[ignore = "needs MIDSTRIDE_CORPUS"]
fn every_corpus_transcript_matches_its_index() {
    let folder = corpus("transcripts");
    let all = Indexed::all(&folder);
    assert!(all.len() > 40, "{}", all.len());
    for indexed in all {
        let bytes = std::fs::read(&indexed.path).unwrap();
        let client = client_of(&indexed.path, &bytes).unwrap();
        let session = read(client, &bytes);
        // The index counts only agents of Claude Code, and counts summaries in addition to the
        // boundaries before them.
        let compactions = session.compactions.iter();
        let summaries = compactions.filter(|one| one.summary_hash.is_some()).count() as u64;
        let (agents, summaries) = match client {
            "claude-code" => (session.agents.total(), summaries),
            _ => (0, 0),
        };
        let counted = (session.counts.seen, session.compactions.total() + summaries, agents);
        // The index counts a last line without a line break; midstride treats it as still being
        // written.
        let open = u64::from(bytes.last() != Some(&b'\n'));
        let expected = (indexed.records - open, indexed.compactions, indexed.agents);
        assert_eq!(counted, expected, "{}", indexed.path.display());
    }
}

#[test]
fn fixture_transcripts_match_an_independent_count() {
    let folder = fixtures("transcripts");
    let ours = [
        ("claude-code", folder.join("claude-code/cache.jsonl")),
        ("codex", folder.join("codex/login.jsonl")),
        ("qwen-code", folder.join("qwen-code/totals.jsonl")),
    ];
    let Some(expected) = counted_by_python(&ours) else { return };
    for ((client, path), expected) in ours.iter().zip(expected) {
        let session = read(client, &std::fs::read(path).unwrap());
        assert_eq!(counted(&session), expected, "{}", path.display());
    }
}

#[test]
fn a_claude_code_session_is_captured_in_full() {
    let session = read("claude-code", &fixture("claude-code", "cache.jsonl"));
    assert_eq!(session.id.as_ref().map(SessionId::as_str), Some("5e55-0001"));
    assert_eq!(session.cwd.as_deref(), Some("/home/dev/shop"));
    assert_eq!(session.branch.as_deref(), Some("fix-cache"));
    let asked: Vec<(&str, Option<Correction>)> =
        session.requests.iter().map(|request| (&*request.text, request.correction)).collect();
    assert_eq!(
        asked,
        [
            ("Make the market pages fast again; the cache is purged on every deploy.", None),
            ("Do not touch the pages, only the cache.", Some(Correction::AfterInterrupt)),
            ("Keep it in one file", Some(Correction::AfterRejection)),
            ("Also rename the shop.", None),
            ("Now write the report.", None),
        ]
    );
    assert!(session.requests.iter().all(|request| request.seen.source == Attribution::User));
    let abandoned = session.abandoned();
    let left: Vec<&str> = session
        .requests
        .iter()
        .filter(|request| abandoned.has(&request.seen))
        .map(|request| &*request.text)
        .collect();
    assert_eq!(left, ["Also rename the shop."]);

    let failed: Vec<_> =
        session.commands.iter().filter(|c| c.exit == CommandStatus::Failed).collect();
    assert_eq!(
        failed.iter().map(|c| (&*c.text, c.code)).collect::<Vec<_>>(),
        [("npm test", Some(1)), ("grep -rn purge src", Some(2)), ("npm run build", Some(7))]
    );
    assert!(failed[0].error.as_deref().unwrap().ends_with("expected 1, got 14"));
    let passed = failed[0].passed_later.as_ref().unwrap();
    assert_eq!(
        (&*passed.seen.record, &*passed.changed),
        ("a11", &["/home/dev/shop/src/cache.ts".to_owned()][..])
    );
    assert_eq!(failed[1].seen.agent.as_deref(), Some("ag1"));
    let running: Vec<&str> = session
        .commands
        .iter()
        .filter(|command| command.exit == CommandStatus::Running)
        .map(|command| &*command.text)
        .collect();
    assert_eq!(running, ["npm run measure"]);
    assert_eq!(session.in_flight().iter().map(|(tool, _)| *tool).collect::<Vec<_>>(), ["Bash"]);

    let reverted: Vec<&str> = session
        .files
        .changed()
        .filter(|(_, file)| !file.reverted.is_empty())
        .map(|(path, _)| path)
        .collect();
    assert_eq!(reverted, ["/home/dev/shop/src/page.tsx"]);
    assert_eq!(session.answers.items[0].answer, "Redis");
    let plans: Vec<_> = session.plans.iter().map(|p| (p.path.as_deref(), p.state)).collect();
    assert_eq!(
        plans,
        [
            (Some("/home/dev/shop/docs/cache-plan.md"), PlanState::Written),
            (Some("/home/dev/.claude/plans/calm-river.md"), PlanState::Approved),
        ]
    );
    let tasks: Vec<_> = session.tasks.iter().map(|t| (&*t.subject, t.status.as_str())).collect();
    assert_eq!(tasks, [("Warm the cache", "in progress"), ("Measure again", "pending")]);
    let agents: Vec<_> = session.agents.iter().map(|a| (a.id.as_deref(), a.state)).collect();
    assert_eq!(agents, [(Some("ag1"), AgentState::Ended), (Some("ag2"), AgentState::InFlight)]);
    assert_eq!(session.rejections.items[0].tool, "Write");
    assert_eq!(session.compactions.items[0].tokens_before, Some(20_323));
    assert!(session.compactions.items[0].summary_hash.is_some());
    assert_eq!(session.api_errors.items[0].status, Some(500));
    let skills: Vec<&str> = session.skills.iter().map(|skill| &*skill.name).collect();
    assert_eq!(skills, ["/compact", "report"]);
    let words = session.last_words.as_ref().unwrap();
    assert!(words.text.starts_with("The report is in docs"), "{}", words.text);
    assert_eq!(session.context_percent(), Some(11));
    let counts = &session.counts;
    assert_eq!((counts.duplicates, counts.mended), (1, 1));
    assert_eq!(counts.unknown.keys().collect::<Vec<_>>(), ["weather-report"]);
    assert_eq!(counts.total_skipped(), 3, "{:?}", counts.skipped);
}

/// A line of the queue, of a prompt, or of a prompt that reaches the agent while it works.
fn queue_line(operation: &str, text: Option<&str>) -> String {
    let content = text.map(|text| format!(r#","content":{text:?}"#)).unwrap_or_default();
    match (operation, text) {
        ("user", Some(text)) => {
            format!(r#"{{"type":"user","uuid":"u-{text}","message":{{"content":{text:?}}}}}"#)
        }
        ("attachment", Some(text)) => format!(
            r#"{{"type":"attachment","uuid":"a-{text}","attachment":{{"type":"queued_command","prompt":{text:?}}}}}"#
        ),
        _ => format!(r#"{{"type":"queue-operation","operation":"{operation}"{content}}}"#),
    }
}

/// The requests and the waiting prompts after these lines.
fn after_queue(lines: &[(&str, Option<&str>)]) -> (Vec<String>, Vec<String>) {
    let text: String = lines.iter().map(|(op, text)| queue_line(op, *text) + "\n").collect();
    let session = read("claude-code", text.as_bytes());
    let asked = session.requests.iter().map(|request| request.text.clone()).collect();
    (asked, session.queued.iter().map(|queued| queued.text.clone()).collect())
}

/// The queue and what follows it, the requests, and what is still waiting.
type Case<'t> = (&'t [(&'t str, Option<&'t str>)], &'t [&'t str], &'t [&'t str]);

#[test]
fn queued_prompts_become_requests_when_they_reach_the_agent() {
    const NOTICE: Option<&str> =
        Some("<task-notification><task-id>b1</task-id><status>completed</status>");
    let enqueue = |text| ("enqueue", Some(text));
    let user = |text| ("user", Some(text));
    let cases: [Case<'_>; 10] = [
        // Added to the running turn; the notice before it keeps waiting.
        (&[("enqueue", NOTICE), enqueue("go"), ("remove", None), ("user", NOTICE)], &["go"], &[]),
        // A record says when it reached the agent. Whether that is before or after, it is one
        // request.
        (&[enqueue("go"), ("remove", None), ("attachment", Some("go"))], &["go"], &[]),
        (&[enqueue("go"), ("attachment", Some("go")), ("remove", None)], &["go"], &[]),
        // Typed twice counts twice.
        (&[enqueue("go"), ("remove", None), user("go")], &["go", "go"], &[]),
        // The next turn starts with it, verbatim or in another form.
        (&[enqueue("go"), ("dequeue", None), user("go")], &["go"], &[]),
        (&[enqueue("[Pasted]"), ("dequeue", None), user("a b")], &["a b"], &[]),
        // The notice was next in the queue.
        (&[("enqueue", NOTICE), enqueue("go"), ("dequeue", None), ("user", NOTICE)], &[], &["go"]),
        // Commands of the client are not requests; what follows them keeps waiting.
        (&[enqueue("/mcp"), ("remove", None), enqueue("go")], &[], &["go"]),
        (&[enqueue("/compact"), enqueue("go"), ("dequeue", None)], &[], &["go"]),
        // The user takes back what they typed.
        (&[enqueue("one"), enqueue("two"), ("popAll", Some("one"))], &[], &["two"]),
    ];
    for (lines, asked, queued) in cases {
        let told = after_queue(lines);
        assert_eq!((&*told.0, &*told.1), (&*owned(asked), &*owned(queued)), "{lines:?}");
    }
    assert_eq!(after_queue(&[enqueue("one"), enqueue("two"), ("popAll", None)]).1, [""; 0]);
}

#[test]
fn a_fork_names_its_parent_session() {
    let line = r#"{"type":"user","uuid":"a","sessionId":"new","forkedFrom":{"sessionId":"old","messageUuid":"b"},"message":{"content":"go"}}"#;
    let session = read("claude-code", format!("{line}\n").as_bytes());
    assert_eq!(session.forked_from.as_ref().map(SessionId::as_str), Some("old"));
    assert_eq!(session.id.as_ref().map(SessionId::as_str), Some("new"));
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
#[ignore = "needs MIDSTRIDE_CORPUS"]
fn a_corpus_session_has_everything_its_user_typed() {
    let folder = corpus("transcripts");
    let name = "marot+spotter/test/fixtures/transcripts/258c7280-ae70-4798-800f-63464d01a85d.jsonl";
    let session = read("claude-code", &std::fs::read(folder.join(name)).unwrap());
    let asked: Vec<&str> = session.requests.iter().map(|request| &*request.text).collect();
    assert_eq!(
        asked,
        [
            "Implement spotter-gqc",
            "check again",
            "new beads for the epic were added. tackle them",
            "did you push?",
        ]
    );
    assert!(session.queued.is_empty(), "{:?}", session.queued);
}

#[test]
fn a_codex_session_is_captured_in_full() {
    let session = read("codex", &fixture("codex", "login.jsonl"));
    assert_eq!(session.id.as_ref().map(SessionId::as_str), Some("c0de-0001"));
    assert_eq!(session.model.as_deref(), Some("gpt-test"));
    let asked: Vec<(&str, Option<Correction>)> =
        session.requests.iter().map(|request| (&*request.text, request.correction)).collect();
    assert_eq!(
        asked,
        [
            ("Fix the login loop.", None),
            ("No, keep the redirect for admins.", Some(Correction::AfterInterrupt)),
        ]
    );
    let commands: Vec<_> = session.commands.iter().map(|c| (&*c.text, c.exit, c.code)).collect();
    assert_eq!(
        commands,
        [
            ("cargo test login", CommandStatus::Failed, Some(101)),
            ("cargo test login", CommandStatus::Passed, None),
            ("ls", CommandStatus::Passed, None),
        ]
    );
    let passed = session.commands.items[0].passed_later.as_ref().unwrap();
    assert!(passed.changed.contains(&"/home/dev/shop/src/login.rs".to_owned()));
    assert_eq!(session.files.by_path["/home/dev/shop/src/login.rs"].edits, 1);
    assert_eq!(session.tasks.len(), 2);
    assert_eq!(session.agents.items[0].id.as_deref(), Some("child-1"));
    assert_eq!(session.agents.items[0].state, AgentState::InFlight);
    assert_eq!(session.compactions.total(), 1);
    assert_eq!(session.api_errors.items[0].text, "stream disconnected");
    assert_eq!((session.usage.output, session.context_percent()), (1_000, Some(25)));
    assert_eq!(session.last_words.as_ref().unwrap().text, "Understood: admins stay.");
    assert_eq!(session.counts.unknown.keys().collect::<Vec<_>>(), ["event_msg/sunrise"]);
}

#[test]
fn a_qwen_code_session_is_captured_in_full() {
    let session = read("qwen-code", &fixture("qwen-code", "totals.jsonl"));
    assert_eq!(session.id.as_ref().map(SessionId::as_str), Some("9e55-0001"));
    assert_eq!(session.cwd.as_deref(), Some("/home/dev/shop"));
    assert_eq!(session.branch.as_deref(), Some("fix-totals"));
    assert_eq!(session.model.as_deref(), Some("qwen-test"));
    let asked: Vec<&str> = session.requests.iter().map(|request| &*request.text).collect();
    assert_eq!(
        asked,
        [
            "Round the totals of the shop.",
            "/report for the auditors",
            "No, keep the cents in the report.",
        ]
    );
    let commands: Vec<_> = session.commands.iter().map(|c| (&*c.text, c.exit, c.code)).collect();
    assert_eq!(
        commands,
        [
            ("npm test", CommandStatus::Failed, Some(1)),
            ("npm test", CommandStatus::Passed, None),
            ("rm -rf dist", CommandStatus::NotAllowed, None),
            ("npm run watch", CommandStatus::Running, None),
            ("npm run report", CommandStatus::Interrupted, None),
        ]
    );
    let failed = &session.commands.items[0];
    assert!(failed.error.as_deref().unwrap().ends_with("expected 1, got 14"), "{failed:?}");
    let changed = &failed.passed_later.as_ref().unwrap().changed;
    assert!(changed.contains(&"/home/dev/shop/src/total.ts".to_owned()), "{changed:?}");
    let changed: Vec<&str> = session.files.changed().map(|(path, _)| path).collect();
    assert_eq!(changed, ["/home/dev/shop/docs/totals.md", "/home/dev/shop/src/total.ts"]);
    let tasks: Vec<_> = session.tasks.iter().map(|t| (&*t.subject, t.status.as_str())).collect();
    assert_eq!(tasks, [("Find it", "completed"), ("Round it", "in progress")]);
    let agents: Vec<_> = session.agents.iter().map(|a| (a.id.as_deref(), a.state)).collect();
    assert_eq!(
        agents,
        [(Some("general-purpose-c10"), AgentState::Ended), (Some(""), AgentState::Ended)]
    );
    let skills: Vec<&str> = session.skills.iter().map(|skill| &*skill.name).collect();
    assert_eq!(skills, ["/report", "handoff"]);
    assert_eq!(session.compactions.items[0].tokens_before, Some(90_000));
    assert!(session.compactions.items[0].summary_hash.is_some());
    assert_eq!(session.api_errors.items[0].status, Some(500));
    assert_eq!(session.last_words.as_ref().unwrap().text, "The report keeps the cents.");
    let counts = &session.counts;
    assert_eq!(counts.unknown.keys().collect::<Vec<_>>(), ["weather"]);
    assert_eq!(counts.total_skipped(), 3, "{:?}", counts.skipped);
}

#[test]
fn a_killed_session_keeps_every_complete_record() {
    let bytes = fixture("claude-code", "cache.jsonl");
    let whole: Vec<u8> =
        bytes.split_inclusive(|byte| *byte == b'\n').take(30).flatten().copied().collect();
    for cut in [0, 1, 7, 200] {
        // The next record was being written.
        let next = &bytes[whole.len()..whole.len() + cut];
        let session = read("claude-code", &[&whole, next].concat());
        assert_eq!(session, read("claude-code", &whole), "{cut}");
        assert_eq!(session.counts.seen, 30);
        assert_eq!(session.last_record.as_deref(), Some("a29"));
    }
}

#[test]
fn a_late_prompt_is_not_a_correction() {
    let line = |text: &str| format!("{text}\n");
    let user = |id: &str, text: &str| {
        line(&format!(
            r#"{{"type":"user","uuid":"{id}","message":{{"role":"user","content":"{text}"}}}}"#
        ))
    };
    let call = line(
        r#"{"type":"assistant","uuid":"c","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]}}"#,
    );
    let stop = user("s", "[Request interrupted by user]");
    let corrections = |text: String| {
        let session = read("claude-code", text.as_bytes());
        session.requests.iter().filter(|request| request.correction.is_some()).count()
    };
    let (one, two) = (user("1", "Begin."), user("2", "Push it to the fork."));
    assert_eq!(corrections([&*one, &stop, &two].concat()), 1);
    assert_eq!(corrections([&*one, &stop, &call, &two].concat()), 0);
}

#[test]
fn captured_sessions_contain_no_secrets() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let body = "MIIEpAIBAAKCAQEAx7Vt3fQ9bLwK2nYdR5sHcJ8gPzUeXoTi6mAqDvCkBhNl1yFr";
    let key = &format!("-----BEGIN RSA PRIVATE KEY-----\\n{body}\\n-----END RSA PRIVATE KEY-----");
    for (client, file) in
        [("claude-code", "cache.jsonl"), ("codex", "login.jsonl"), ("qwen-code", "totals.jsonl")]
    {
        let text = String::from_utf8(fixture(client, file)).unwrap();
        let mut planted = 0;
        // Put a secret into every text.
        for (place, secret) in [("the", &*token), ("login", &token), ("src", &token), ("npm", key)]
        {
            planted += text.matches(place).count();
            let text = text.replace(place, &format!("{place} {secret} "));
            let mut cursor = cursor(client);
            read_on(&mut cursor, text.as_bytes(), text.len(), 1000);
            let stored = cursor.to_json().unwrap();
            for part in ["ghp_a1", "MIIEpAIB"] {
                let at = stored.find(part).map(|at| &stored[at.saturating_sub(200)..at]);
                assert_eq!(at, None, "{place}");
            }
            let value: serde_json::Value = serde_json::from_str(&stored).unwrap();
            each_text(&value, &mut |text| assert!(CleanText::redact(text).1.is_empty(), "{text}"));
        }
        assert!(planted > 10);
    }
}

fn each_text(value: &serde_json::Value, look: &mut dyn FnMut(&str)) {
    match value {
        serde_json::Value::String(text) => look(text),
        serde_json::Value::Array(list) => list.iter().for_each(|item| each_text(item, look)),
        serde_json::Value::Object(map) => map.iter().for_each(|(key, item)| {
            look(key);
            each_text(item, look);
        }),
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {}
    }
}

/// Core's own tests start from this session, because core has no reader.
#[test]
fn the_stored_session_is_what_its_transcript_says() {
    let session = read("claude-code", &fixture("claude-code", "cache.jsonl"));
    let stored = serde_json::to_string_pretty(&session).unwrap() + "\n";
    assert_page("fixtures/sessions/cache.json", &stored);
    assert_eq!(serde_json::from_str::<Session>(&stored).unwrap(), session);
}

#[test]
fn the_start_of_a_stored_cursor_is_enough_for_its_position() {
    for client in CLIENTS {
        let mut cursor = cursor(client);
        (cursor.offset, cursor.lines) = (u64::MAX, u64::MAX);
        cursor.set_windows(&[1; WINDOW_BYTES], &[2; WINDOW_BYTES]);
        let stored = cursor.to_json().unwrap();
        let length = usize::try_from(CursorPosition::BYTES_MAX).unwrap().min(stored.len());
        let start = &stored.as_bytes()[..length];
        assert_eq!(CursorPosition::parse(start), Some(cursor.position()));
        assert_eq!(parse_cursor(&stored).unwrap().to_json().unwrap(), stored);
    }
}

#[test]
fn positions_that_are_broken_or_of_another_version_are_rejected() {
    let mut other = cursor("codex");
    other.version += 1;
    let other = other.to_json().unwrap();
    let other = other.as_bytes();
    for bytes in [&b""[..], b"{", b"{\"version\":2,\"reader\":1}", b"\xff,\"reader\":", other] {
        assert_eq!(CursorPosition::parse(bytes), None);
    }
}

#[test]
fn a_cursor_is_stored_with_the_state_of_its_reader() {
    let bytes = fixture("claude-code", "cache.jsonl");
    let mut cursor = cursor("claude-code");
    read_on(&mut cursor, &bytes, bytes.len() / 2, 1000);
    let stored = cursor.to_json().unwrap();
    let value: serde_json::Value = serde_json::from_str(&stored).unwrap();
    let readers: Vec<&String> = value["reader"].as_object().unwrap().keys().collect();
    assert_eq!(readers, ["claude-code"]);
    assert!(
        parse_cursor(&stored.replace("\"reader\":{\"claude-code\"", "\"reader\":{\"x\"")).is_none()
    );
}

#[test]
fn a_replaced_transcript_file_is_detected() {
    let mut cursor = cursor("claude-code");
    assert!(cursor.position().is_same_file(b"", b""));
    cursor.set_windows(b"start", b"end");
    assert!(cursor.position().is_same_file(b"start", b"end"));
    for (start, end) in
        [(&b"stare"[..], &b"end"[..]), (b"start", b"emd"), (b"star", b"end"), (b"", b"")]
    {
        assert!(!cursor.position().is_same_file(start, end));
    }
    let stored = cursor.to_json().unwrap();
    assert_eq!(parse_cursor(&stored).unwrap().to_json().unwrap(), stored);
    let version = |version: u32| format!("\"version\":{version},");
    let other = stored.replace(&version(CURSOR_VERSION), &version(CURSOR_VERSION + 1));
    assert_ne!(other, stored);
    assert!(parse_cursor(&other).is_none());
    assert!(parse_cursor("{}").is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn reading_in_pieces_captures_the_same_session(
        which in 0..CLIENTS.len(),
        cuts in prop::collection::vec(0.0..1.0_f64, 0..6),
        chunk in 1..5_000_usize,
    ) {
        let client = CLIENTS[which];
        let bytes = fixture(client, ["cache.jsonl", "login.jsonl", "totals.jsonl"][which]);
        let mut at_once = cursor(client);
        read_on(&mut at_once, &bytes, bytes.len(), 64 << 10);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place in a small file")]
        let mut ends: Vec<usize> = cuts.iter().map(|cut| (cut * bytes.len() as f64) as usize).collect();
        ends.sort_unstable();
        ends.push(bytes.len());
        let mut cursor = cursor(client);
        for end in ends {
            read_on(&mut cursor, &bytes, end, chunk);
            cursor = parse_cursor(&cursor.to_json().unwrap()).unwrap();
        }
        prop_assert_eq!(&cursor.session, &at_once.session);
        prop_assert_eq!(cursor.to_json().unwrap(), at_once.to_json().unwrap());
    }

    #[test]
    fn arbitrary_bytes_do_no_harm(
        codex in any::<bool>(),
        lines in prop::collection::vec(any_line(), 0..40),
    ) {
        let client = if codex { "codex" } else { "claude-code" };
        let bytes = [lines.join(&b'\n'), b"\n".to_vec()].concat();
        let session = read(client, &bytes);
        let counts = &session.counts;
        let told = counts.understood + counts.duplicates + counts.total_skipped() + counts.total_unknown();
        prop_assert_eq!(told, counts.seen);
        let _ = (session.abandoned(), session.in_flight(), session.context_percent());
    }
}

/// Arbitrary lines, and fixture records with something broken in them.
fn any_line() -> impl Strategy<Value = Vec<u8>> {
    let known = || {
        let texts = [fixture("claude-code", "cache.jsonl"), fixture("codex", "login.jsonl")];
        let lines: BTreeSet<Vec<u8>> =
            texts.iter().flat_map(|text| text.split(|b| *b == b'\n')).map(<[u8]>::to_vec).collect();
        prop::sample::select(lines.into_iter().collect::<Vec<_>>())
    };
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..80),
        known(),
        (known(), any::<prop::sample::Index>(), any::<u8>()).prop_map(|(mut line, at, byte)| {
            if !line.is_empty() {
                let at = at.index(line.len());
                line[at] = byte;
            }
            line
        }),
        (known(), any::<prop::sample::Index>()).prop_map(|(mut line, at)| {
            line.truncate(at.index(line.len() + 1));
            line
        }),
    ]
}

#[test]
fn files_of_an_abandoned_branch_are_marked() {
    let record = |id: &str, parent: Option<&str>, kind: &str, content: serde_json::Value| {
        serde_json::json!({
            "sessionId": "5e55", "cwd": "/shop", "version": "2.1.200", "type": kind, "uuid": id,
            "parentUuid": parent, "timestamp": "2026-03-20T09:00:00.000Z",
            "message": {"role": kind, "content": content},
        })
        .to_string()
    };
    let edit = |call: &str, path: &str| {
        let input = serde_json::json!({"file_path": path, "old_string": "a", "new_string": "b"});
        serde_json::json!([{"type": "tool_use", "id": call, "name": "Edit", "input": input}])
    };
    let done = |call: &str| serde_json::json!([{"type": "tool_result", "tool_use_id": call, "content": "ok"}]);
    let lines = [
        record("u0", None, "user", "Make it fast.".into()),
        record("a1", Some("u0"), "assistant", edit("t1", "/shop/src/left.rs")),
        record("u2", Some("a1"), "user", done("t1")),
        // The user rewound to the beginning.
        record("u3", Some("u0"), "user", "Only the cache, please.".into()),
        record("a4", Some("u3"), "assistant", edit("t2", "/shop/src/kept.rs")),
        record("u5", Some("a4"), "user", done("t2")),
    ];
    let around = CheckpointContext {
        at: "2026-03-20T12:00:00Z".parse().unwrap(),
        commit: None,
        branch: None,
        plan_documents: Vec::new(),
        on_disk: BTreeMap::new(),
        ..CheckpointContext::default()
    };
    let session = read("claude-code", format!("{}\n", lines.join("\n")).as_bytes());
    let gist = SessionSummary::from_checkpoint(&Checkpoint::new(
        session,
        "t.jsonl".to_owned(),
        1,
        CheckpointMode::Auto,
        around,
    ));
    let changed: Vec<(&str, Option<&str>)> = gist
        .of_kind(HighlightKind::Changed)
        .map(|item| (&*item.text, item.state.as_deref()))
        .collect();
    // The file was changed on disk, and may still be.
    let left = "in a part that the user rewound; check the file on disk";
    assert_eq!(changed, [("src/kept.rs", None), ("src/left.rs", Some(left))]);
}

#[test]
fn a_compaction_summary_is_not_the_last_agent_message() {
    let said = |text: &str| {
        format!(
            r#"{{"type": "response_item", "payload": {{"type": "message", "role": "assistant", "content": [{{"type": "output_text", "text": "{text}"}}]}}}}"#
        )
    };
    let long = "All of it, word by word. ".repeat(1_000);
    for summary in ["The session was about files.", &long] {
        let compacted = format!(
            r#"{{"type": "compacted", "payload": {{"message": "Here is a summary:\n{summary}"}}}}"#
        );
        let lines =
            [said("The importer is broken."), said("The importer is broken."), said(summary)];
        let text = format!("{}\n{compacted}\n", lines.join("\n"));
        let last = read("codex", text.as_bytes()).last_words.unwrap();
        assert_eq!(last.text, "The importer is broken.");
    }
}

#[test]
fn failed_commands_are_counted_if_not_all_are_kept() {
    let record = |kind: &str, content: serde_json::Value| {
        let message = serde_json::json!({"role": kind, "content": content});
        format!("{}\n", serde_json::json!({"type": kind, "message": message}))
    };
    let mut text = record("user", "Try until it builds.".into());
    for number in 0..10_500 {
        let input = serde_json::json!({"command": format!("make part-{number}")});
        let call = serde_json::json!({"type": "tool_use", "id": number.to_string(), "name": "Bash", "input": input});
        let result = serde_json::json!({
            "type": "tool_result", "tool_use_id": number.to_string(), "content": "Exit code 2", "is_error": true,
        });
        text.push_str(&record("assistant", serde_json::json!([call])));
        text.push_str(&record("user", serde_json::json!([result])));
    }
    let session = read("claude-code", text.as_bytes());
    assert_eq!((session.commands.total(), session.commands.left_out), (10_500, 1_000));
    assert_eq!(session.failed_left_out, Some(1_000));
    let kept = session.commands.iter().filter(|command| command.exit == CommandStatus::Failed);
    assert_eq!(kept.count(), 9_500);
}
