//! Tests of hooks in the real clients: what the model received, and what was recorded.

use super::{kill, project, start};
use midstride_testkit::real_client::ClaudeCode;
use midstride_testkit::{ModelServer, Request, Run, Sandbox, Turn, real_client};
use serde_json::{Value, json};
use std::process::Command;

const SESSION: &str = "11111111-1111-4111-8111-111111111111";

/// Hooks as an installation writes them, with a generous timeout for busy machines.
fn hooks(client: &str, events: &[&str]) -> String {
    let program = env!("CARGO_BIN_EXE_midstride");
    let command = format!("MIDSTRIDE_HOOK_MILLISECONDS=60000 '{program}' hook {client}");
    let hook = json!([{"hooks": [{"type": "command", "command": command, "timeout": 60}]}]);
    let hooks: serde_json::Map<String, Value> =
        events.iter().map(|event| ((*event).to_owned(), hook.clone())).collect();
    json!({ "hooks": hooks }).to_string()
}

pub(super) fn claude_code(sandbox: &Sandbox, model: &ModelServer) -> Command {
    claude_code_of(ClaudeCode::Older, sandbox, model)
}

pub(super) fn claude_code_of(
    version: ClaudeCode,
    sandbox: &Sandbox,
    model: &ModelServer,
) -> Command {
    let mut client = claude_code_that_asks(version, sandbox, model);
    client.arg("--dangerously-skip-permissions");
    client
}

/// Claude Code with hooks and without any permission.
pub(super) fn claude_code_that_asks(
    version: ClaudeCode,
    sandbox: &Sandbox,
    model: &ModelServer,
) -> Command {
    let events = [
        "SessionStart",
        "UserPromptSubmit",
        "PreCompact",
        "PostCompact",
        "SubagentStart",
        "SubagentStop",
        "TaskCreated",
        "TaskCompleted",
        "Stop",
        "SessionEnd",
    ];
    let folder = sandbox.home().join(".claude");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("settings.json"), hooks("claude-code", &events)).unwrap();
    real_client::claude_code_of(version, sandbox, model)
}

pub(super) fn codex(sandbox: &Sandbox, model: &ModelServer) -> Command {
    let mut client = codex_with_hooks(sandbox, model);
    client.args(["exec", "--dangerously-bypass-hook-trust", "--json", "-s", "workspace-write"]);
    client
}

/// Codex with hooks, without other arguments.
pub(super) fn codex_with_hooks(sandbox: &Sandbox, model: &ModelServer) -> Command {
    let events = [
        "SessionStart",
        "UserPromptSubmit",
        "PreCompact",
        "PostCompact",
        "Stop",
        "SessionEnd",
        "Interrupt",
    ];
    let client = real_client::codex(sandbox, model);
    let file = sandbox.home().join(".codex/hooks.json");
    std::fs::write(file, hooks("codex", &events)).unwrap();
    client
}

pub(super) fn finish(sandbox: &Sandbox, client: &mut Command) -> Run {
    sandbox.finish(client).exits(0)
}

pub(super) fn last(model: &ModelServer) -> Request {
    model.requests().pop().expect("the model was asked")
}

/// What hooks did. Asserts that none failed.
pub(super) fn did(sandbox: &Sandbox) -> Vec<String> {
    let log = std::fs::read_to_string(sandbox.root().join(".git/midstride/hooks.log")).unwrap();
    let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let text = |line: &Value, name: &str| line[name].as_str().unwrap_or_default().to_owned();
    lines
        .map(|line| {
            assert!(line["error"].is_null(), "{line}");
            format!("{}: {}", text(&line, "event"), text(&line, "did"))
        })
        .collect()
}

pub(super) fn handoff(sandbox: &Sandbox) {
    let text = "---\nhandoff:\n  id: slow-pages\n  title: Pages are slow\n  status: planned\n  \
                context_summary: Cold renders load everything.\n  landmines:\n    \
                - The balance is looked up on every page\n---\n## Continuation\n\nPaginate first.\n";
    sandbox.write(".midstride/handoffs/slow-pages.md", text);
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn a_first_claude_code_session_is_briefed_on_open_handoffs() {
    let sandbox = project();
    handoff(&sandbox);
    let model = ModelServer::start([Turn::says("I see.")]);
    let mut client = claude_code(&sandbox, &model);
    finish(&sandbox, client.args(["-p", "Hello"]));
    let asked = last(&model);
    assert!(asked.says("midstride briefing · branch"), "{:#}", asked.body);
    assert!(asked.says("The balance is looked up on every page"), "{:#}", asked.body);
    let did = did(&sandbox);
    assert_eq!(did.first().unwrap(), "SessionStart: briefed", "{did:?}");
    assert_eq!(did.last().unwrap(), "SessionEnd: captured", "{did:?}");
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn a_first_codex_session_is_briefed_on_open_handoffs() {
    let sandbox = project();
    handoff(&sandbox);
    let model = ModelServer::start([Turn::says("I see.")]);
    let mut client = codex(&sandbox, &model);
    finish(&sandbox, client.arg("Hello"));
    let asked = last(&model);
    assert!(asked.says("midstride briefing · branch"), "{:#}", asked.body);
    assert!(asked.says("The balance is looked up on every page"), "{:#}", asked.body);
    let did = did(&sandbox);
    assert_eq!(did.first().unwrap(), "SessionStart: briefed", "{did:?}");
    assert_eq!(did.last().unwrap(), "SessionEnd: captured", "{did:?}");
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn work_continues_from_one_client_to_the_other_and_back() {
    let sandbox = project();
    let model = ModelServer::start([
        Turn::calls("Bash", json!({"command": "echo two > b.txt; exit 3"})),
        Turn::says("The importer still fails."),
    ]);
    let mut client = claude_code(&sandbox, &model);
    finish(&sandbox, client.args(["-p", "Repair the importer of invoices"]));
    model.then([
        Turn::calls("exec_command", json!({"cmd": "echo three > c.txt"})),
        Turn::says("The importer is repaired, the report is not."),
    ]);
    let mut client = codex(&sandbox, &model);
    finish(&sandbox, client.arg("Go on, and write a report for the auditors"));
    let asked = last(&model);
    assert!(asked.says("> Repair the importer of invoices"), "{:#}", asked.body);
    assert!(asked.says("> The importer still fails."), "{:#}", asked.body);
    model.then([Turn::says("I know.")]);
    let mut client = claude_code(&sandbox, &model);
    finish(&sandbox, client.args(["-p", "Go on"]));
    let asked = last(&model);
    assert!(asked.says("write a report for the auditors"), "{:#}", asked.body);
    assert!(asked.says("> The importer is repaired, the report is not."), "{:#}", asked.body);
    did(&sandbox);
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn what_a_compaction_lost_is_restored() {
    let sandbox = project();
    let model = ModelServer::start([Turn::says("I began."), Turn::says("I leave them alone.")]);
    model.summarises("The session was about files.");
    let mut client = claude_code(&sandbox, &model);
    finish(&sandbox, client.args(["-p", "Repair the importer", "--session-id", SESSION]));
    let on = |text: &str| {
        let mut client = claude_code(&sandbox, &model);
        finish(&sandbox, client.args(["-p", text, "--resume", SESSION]));
    };
    on("No, do not touch the fixtures of the auditors");
    on("/compact");
    let all = model.all_requests();
    let summary = all.iter().rev().find(|request| request.aside).expect("a summary was asked for");
    assert!(summary.says("The summary must include the following"), "{:#}", summary.body);
    model.then([Turn::says("I know.")]);
    on("Go on");
    let asked = last(&model);
    assert!(asked.says("The session was about files."), "{:#}", asked.body);
    assert!(asked.says("midstride · after compaction"), "{:#}", asked.body);
    assert!(asked.says("> No, do not touch the fixtures of the auditors"), "{:#}", asked.body);
    let did = did(&sandbox);
    // The end of the previous session captured everything so far; the client may have written
    // since.
    let before = did.iter().find_map(|one| one.strip_prefix("PreCompact: ")).unwrap();
    assert!(["nothing new", "captured"].contains(&before), "{did:?}");
    assert!(did.contains(&"PostCompact: compared the summary".to_owned()), "{did:?}");
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn a_killed_session_is_briefed_to_the_next() {
    let sandbox = project();
    let model = ModelServer::start([
        Turn::says("First the file.").and_calls("Bash", json!({"command": "echo two > b.txt"})),
        Turn::calls("Bash", json!({"command": "cat b.txt"})),
        Turn::calls("Bash", json!({"command": "ls"})),
        Turn::hangs(),
    ]);
    let mut client = claude_code(&sandbox, &model);
    let child = start(client.args(["-p", "Repair the importer of invoices"]));
    // The client writes with a delay; after a few turns, the prompt is in the transcript.
    model.wait_for_requests(4);
    kill(child);
    model.then([Turn::says("I know.")]);
    let mut client = claude_code(&sandbox, &model);
    finish(&sandbox, client.args(["-p", "What happened?"]));
    let asked = last(&model);
    assert!(asked.says("> Repair the importer of invoices"), "{:#}", asked.body);
    let did = did(&sandbox);
    assert!(did.contains(&"SessionStart: recovered 1, briefed".to_owned()), "{did:?}");
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn a_repository_that_was_never_set_up_is_captured_unless_excluded() {
    for is_excluded in [false, true] {
        let sandbox = crate::sandbox();
        sandbox.finish(sandbox.command("git").args(["init", "-q"])).exits(0);
        if is_excluded {
            let root = sandbox.root().to_str().unwrap();
            sandbox.as_user().run(["config", "set", "capture.exclude", root]).exits(0);
        }
        let model = ModelServer::start([Turn::says("Hello.")]);
        let mut client = claude_code(&sandbox, &model);
        finish(&sandbox, client.args(["-p", "Hello"]));
        assert!(!last(&model).says("midstride briefing"));
        assert_eq!(sandbox.root().join(".git/midstride").exists(), !is_excluded);
        assert!(!sandbox.root().join(".midstride").exists());
        let status = sandbox.git(&["status", "--porcelain", "--ignored"]);
        assert_eq!(status, "");
    }
}
