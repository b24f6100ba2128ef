//! Tests of the status line of a client.

use super::session::put;
use crate::sandbox;
use midstride_testkit::Sandbox;
use serde_json::json;

const SESSION: &str = "5e550001-4c00-7000-8000-00000000cccc";

/// What the client calls with, with some of its other fields.
fn call(sandbox: &Sandbox) -> String {
    let folder = sandbox.root().to_str().unwrap();
    json!({
        "session_id": SESSION,
        "cwd": folder,
        "workspace": {"current_dir": folder, "project_dir": folder},
        "context_window": {"used_percentage": 2},
        "exceeds_200k_tokens": false,
    })
    .to_string()
}

#[track_caller]
fn line(sandbox: &Sandbox, call: &str) -> String {
    let run = sandbox.run_with_input(&["statusline"], call).exits(0);
    assert_eq!(run.stderr, "");
    run.stdout
}

#[test]
fn the_status_line_shows_handoffs_the_last_check_and_the_briefing() {
    let sandbox = sandbox().repository();
    assert_eq!(line(&sandbox, &call(&sandbox)), "\n");
    sandbox.run(["new", "Market", "--id", "market", "--no-edit", "--private"]).exits(0);
    assert_eq!(line(&sandbox, &call(&sandbox)), "midstride: 1 open handoff\n");
    let start = json!({
        "hook_event_name": "SessionStart", "source": "startup",
        "session_id": SESSION, "cwd": sandbox.root().to_str().unwrap(),
    });
    let sandbox = sandbox.with_variable("MIDSTRIDE_BRIEF", "1");
    sandbox.run_with_input(&["hook", "claude-code"], &start.to_string()).exits(0);
    let shown = line(&sandbox, &call(&sandbox));
    assert!(shown.starts_with("midstride: 1 open handoff · briefed with "), "{shown}");
    let record = |more: serde_json::Value| {
        let mut record = json!({
            "sessionId": SESSION, "cwd": sandbox.root(), "timestamp": "2026-03-20T10:00:00Z",
        });
        record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        record.to_string()
    };
    let tool =
        json!({"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "cargo test"}});
    let failed = json!({
        "type": "tool_result", "tool_use_id": "t1", "is_error": true,
        "content": "Exit code 101\ntest result: FAILED. 1 passed; 1 failed; 0 ignored",
    });
    let records = [
        json!({"type": "user", "uuid": "u1", "message": {"role": "user", "content": "Test it."}}),
        json!({"type": "assistant", "uuid": "u2", "parentUuid": "u1",
            "message": {"role": "assistant", "content": [tool]}}),
        json!({"type": "user", "uuid": "u3", "parentUuid": "u2",
            "message": {"role": "user", "content": [failed]}}),
    ];
    let lines: Vec<String> = records.into_iter().map(record).collect();
    put(&sandbox, SESSION, &format!("{}\n", lines.join("\n")));
    sandbox.run(["checkpoint", "--session", SESSION]).exits(0);
    let shown = line(&sandbox, &call(&sandbox));
    assert!(
        shown.starts_with("midstride: 1 open handoff · cargo test failed · briefed"),
        "{shown}"
    );
    assert_eq!(shown.lines().count(), 1);
    sandbox.run(["off"]).exits(0);
    assert_eq!(line(&sandbox, &call(&sandbox)), "\n");
}

#[test]
fn documents_that_are_not_trusted_are_not_counted() {
    let sandbox = sandbox().repository();
    sandbox.write(
        ".midstride/handoffs/trap.md",
        "---\nhandoff:\n  id: trap\n  title: A trap\n  status: in_progress\n---\n",
    );
    assert_eq!(line(&sandbox, &call(&sandbox)), "\n");
    sandbox.as_user().run(["trust", "--yes"]).exits(0);
    assert_eq!(line(&sandbox, &call(&sandbox)), "midstride: 1 open handoff\n");
}

#[test]
fn a_call_that_cannot_be_read_gets_an_empty_line() {
    let sandbox = sandbox();
    for call in ["", "{", "[]", "null", "{\"cwd\": 5}", "{\"cwd\": \"/nonexistent\"}"] {
        assert_eq!(line(&sandbox, call), "\n", "{call}");
    }
}
