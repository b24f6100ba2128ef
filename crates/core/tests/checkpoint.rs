//! Tests of checkpoints of sessions read from a transcript.

use crate::transcripts::{fixture, read};
use midstride_core::session::checkpoint::{
    ArtifactState, Checkpoint, CheckpointContext, CheckpointMode, Highlight, HighlightKind,
    SessionSummary,
};
use midstride_core::session::repository::{ReflogCommit, ReflogCommitState, WorkTreeState};
use midstride_core::session::{Session, hash};
use midstride_core::text::id::{ClientName, CommitId};

fn session() -> Session {
    read("claude-code", &fixture("claude-code", "cache.jsonl"))
}

fn around(at: &str, plan: Option<(u64, u64)>) -> CheckpointContext {
    let plan_path = "/home/dev/shop/docs/cache-plan.md".to_owned();
    CheckpointContext {
        at: at.parse().unwrap(),
        commit: None,
        branch: Some("main".into()),
        plan_documents: Vec::new(),
        on_disk: [(plan_path, plan)].into(),
        ..CheckpointContext::default()
    }
}

fn checkpoint(at: &str, plan: Option<(u64, u64)>) -> Checkpoint {
    Checkpoint::new(session(), "t.jsonl".into(), 1, CheckpointMode::Auto, around(at, plan))
}

#[test]
fn the_digest_does_not_depend_on_the_observation_time() {
    let one = checkpoint("2026-03-20T09:02:00Z", None);
    let later = checkpoint("2026-03-20T12:00:00Z", None);
    assert_eq!(one.digest, later.digest);
    assert!(!one.git.late && later.git.late);
    assert_ne!(one.digest, checkpoint("2026-03-20T12:00:00Z", Some((1, 1))).digest);
    let stored = serde_json::to_vec(&one).unwrap();
    assert_eq!(Checkpoint::parse(&stored), Some(one));
}

#[test]
fn git_facts_are_late_more_than_five_minutes_after_the_last_record() {
    let is_late = |ended: Option<&str>| {
        let mut session = Session::new(ClientName::new("claude-code"));
        session.ended = ended.map(|ended| ended.parse().unwrap());
        let around = around("2026-03-20T09:05:00Z", None);
        let taken = Checkpoint::new(session, "t.jsonl".into(), 1, CheckpointMode::Auto, around);
        taken.git.late
    };
    assert!(!is_late(Some("2026-03-20T09:00:00Z")));
    assert!(is_late(Some("2026-03-20T08:59:59Z")));
    assert!(!is_late(None), "a session without times");
}

#[test]
fn work_without_a_client_session_has_a_page() {
    let context = CheckpointContext {
        commit: Some(CommitId::new("4f2c9d1")),
        plan_documents: vec!["docs/cache-plan.md".to_owned()],
        ..around("2026-03-20T09:02:00Z", None)
    };
    assert_eq!(
        context.page(),
        "### Facts\n\n- Done without an agent client\n- Commit 4f2c9d1 on main\n- Plan document `docs/cache-plan.md`\n"
    );
}

fn made(at: &str) -> ReflogCommit {
    ReflogCommit {
        id: CommitId::new("c".repeat(40)),
        subject: "Warm the cache".into(),
        at: at.parse().unwrap(),
        branch: None,
        state: ReflogCommitState::Exists,
        pushed: false,
    }
}

#[test]
fn only_commits_made_while_the_session_is_active_count() {
    // The session is active for one minute, starting at nine.
    let check = |at: &str, is_its: bool| {
        let around =
            CheckpointContext { reflog: vec![made(at)], ..around("2026-03-20T11:00:00Z", None) };
        let taken = Checkpoint::new(session(), "t.jsonl".into(), 1, CheckpointMode::Auto, around);
        assert_eq!(!taken.reflog.is_empty(), is_its, "{at}");
    };
    check("2026-03-20T09:00:30Z", true);
    check("2026-03-20T09:08:00Z", true);
    check("2026-03-20T08:59:30Z", false);
    check("2026-03-20T10:30:00Z", false);
}

#[test]
fn commits_change_the_digest_and_the_working_tree_does_not() {
    let taken = |around: CheckpointContext| {
        Checkpoint::new(session(), "t.jsonl".into(), 1, CheckpointMode::Auto, around)
    };
    let plain = taken(around("2026-03-20T09:02:00Z", None));
    let state = WorkTreeState { stashes: 1, ..WorkTreeState::default() };
    let looked =
        taken(CheckpointContext { work_tree: Some(state), ..around("2026-03-20T09:02:00Z", None) });
    assert_eq!(plain.digest, looked.digest);
    assert_ne!(plain.work_tree, looked.work_tree);
    let reflog = vec![made("2026-03-20T09:00:30Z")];
    let commits = taken(CheckpointContext { reflog, ..around("2026-03-20T09:02:00Z", None) });
    assert_ne!(plain.digest, commits.digest);
    let stored = serde_json::to_vec(&commits).unwrap();
    assert_eq!(Checkpoint::parse(&stored), Some(commits));
    let stored = serde_json::to_string(&plain).unwrap();
    assert!(!stored.contains("reflog") && !stored.contains("work_tree"), "as it was before");
}

#[test]
fn files_on_disk_are_compared_with_the_expected_content() {
    let state = |plan| {
        let found = checkpoint("2026-03-20T09:02:00Z", plan);
        let plan = found.artifacts.iter().find(|one| one.path.ends_with("cache-plan.md"));
        plan.unwrap().state
    };
    let text = b"# Plan\n\n1. Warm the cache.\n";
    assert_eq!(state(Some((hash(text), text.len() as u64))), ArtifactState::Match);
    assert_eq!(state(Some((1, 1))), ArtifactState::Partial);
    assert_eq!(state(None), ArtifactState::Missing);
}

#[test]
fn the_summary_has_what_the_next_session_needs() {
    let summary = SessionSummary::from_checkpoint(&checkpoint("2026-03-20T09:02:00Z", None));
    assert_eq!(
        SessionSummary::parse(&serde_json::to_vec(&summary).unwrap()).as_ref(),
        Some(&summary)
    );
    let lines = |sort| -> Vec<String> {
        let line = |item: &Highlight| match &item.detail {
            Some(detail) => format!("{} ({detail})", item.text),
            None => item.text.clone(),
        };
        summary.of_kind(sort).map(line).collect()
    };
    assert_eq!(
        lines(HighlightKind::Goal),
        ["Make the market pages fast again; the cache is purged on every deploy."]
    );
    let open = lines(HighlightKind::OpenRequest);
    assert_eq!(open, ["Now write the report."], "the rename was taken back");
    assert_eq!(
        lines(HighlightKind::Correction),
        ["Keep it in one file", "Do not touch the pages, only the cache."]
    );
    assert_eq!(lines(HighlightKind::Answer), ["Redis (Which store?)"]);
    assert_eq!(lines(HighlightKind::Task), ["Warm the cache", "Measure again"]);
    assert_eq!(lines(HighlightKind::Agent), ["bench (ag2)"]);
    assert_eq!(lines(HighlightKind::Reverted), ["src/page.tsx"]);
    let failed: Vec<&str> =
        summary.of_kind(HighlightKind::Failed).map(|one| one.text.as_str()).collect();
    assert_eq!(failed, ["npm run build"], "npm test passed later, and a search is no check");
}

/// A session whose user went back before a prompt or before an answer.
fn rewound(to: &str) -> Checkpoint {
    let record = |kind: &str, id: &str, parent: &str, content: &str| {
        let parent = if parent.is_empty() { "null".into() } else { format!("{parent:?}") };
        format!(
            r#"{{"type":"{kind}","uuid":"{id}","parentUuid":{parent},"sessionId":"s","message":{{"content":{content}}}}}"#
        ) + "\n"
    };
    let call = |id: &str, tool: &str, input: &str| {
        format!(r#"[{{"type":"tool_use","id":"{id}","name":"{tool}","input":{input}}}]"#)
    };
    let result = |id: &str, is_error: bool| {
        format!(
            r#"[{{"type":"tool_result","tool_use_id":"{id}","is_error":{is_error},"content":"Exit code 1"}}]"#
        )
    };
    let lines = [
        record("user", "a", "", r#""Warm the cache""#),
        record("assistant", "b", "a", r#"[{"type":"text","text":"Yes."}]"#),
        record("user", "c", "b", r#""Rename the shop""#),
        record("assistant", "d", "c", &call("t1", "Bash", r#"{"command":"make shop"}"#)),
        record("user", "e", "d", &result("t1", true)),
        record("assistant", "f", "e", &call("t2", "Read", r#"{"file_path":"/shop/x"}"#)),
        record("user", "g", "f", &result("t2", true)),
        record("assistant", "h", "g", &call("t3", "Task", r#"{"prompt":"look"}"#)),
        record(
            "assistant",
            "i",
            "h",
            &call("t4", "Write", r#"{"file_path":"/shop/y","content":"y"}"#),
        ),
        record("user", "j", "i", &result("t4", false)),
        record("user", "k", to, r#""Write the report""#),
        record("assistant", "l", "k", r#"[{"type":"text","text":"Done."}]"#),
    ];
    let session = read("claude-code", lines.concat().as_bytes());
    let around = around("2026-03-20T09:02:00Z", None);
    Checkpoint::new(session, "t.jsonl".into(), 1, CheckpointMode::Auto, around)
}

#[test]
fn abandoned_records_do_not_count_as_open() {
    for (to, first) in [("b", "c"), ("c", "d")] {
        let rewound = rewound(to);
        let left = ["c", "d", "e", "g", "h", "j"].into_iter().filter(|record| *record >= first);
        assert_eq!(rewound.abandoned, left.collect::<Vec<_>>());
        let page = rewound.page();
        for name in ["make shop", "Read on `/shop/x`", "/shop/y"] {
            let line = page.lines().find(|line| line.contains(name)).unwrap();
            assert!(line.contains("in a part that the user rewound"), "{line}");
        }
        assert!(!page.contains("Agents in flight") && !page.contains("has not returned"));
        let summary = SessionSummary::from_checkpoint(&rewound);
        for sort in [HighlightKind::Failed, HighlightKind::Agent] {
            assert_eq!(summary.of_kind(sort).count(), 0, "{sort:?}");
        }
        let state = format!("{:?}", rewound.state(None, &[]));
        assert!(!state.contains("\"look\"") && !state.contains("\"Task\""), "{state}");
    }
}

#[test]
fn abandoned_items_are_marked() {
    let value = checkpoint("2026-03-20T09:02:00Z", None).to_marked_value();
    let requests = value["session"]["requests"]["items"].as_array().unwrap();
    let left: Vec<bool> = requests.iter().map(|item| item["abandoned"] == true).collect();
    assert_eq!(left, [false, false, false, true, false]);
    assert!(value["session"].get("chain").is_none());
}
