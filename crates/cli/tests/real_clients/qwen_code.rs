//! Tests of Qwen Code: what its hooks tell the model, what is captured of its sessions, and work that goes
//! on in it and from it.

use super::chain::Terminal;
use super::hooks::{claude_code, did, finish, handoff, last};
use super::talk::sessions;
use super::{commands, kill, project, recovered, start};
use midstride_testkit::{ModelServer, Sandbox, Turn, real_client};
use serde_json::{Value, json};
use std::process::Command;

const EVENTS: [&str; 8] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreCompact",
    "PostCompact",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "SessionEnd",
];

/// A headless Qwen Code with hooks and every permission.
fn qwen_code(sandbox: &Sandbox, model: &ModelServer) -> Command {
    let mut client = with_hooks(sandbox, model);
    client.args(["-y", "-o", "stream-json"]);
    client
}

/// Qwen Code with hooks as an installation writes them, with a generous timeout for busy machines.
fn with_hooks(sandbox: &Sandbox, model: &ModelServer) -> Command {
    let client = real_client::qwen_code(sandbox, model);
    let file = sandbox.home().join(".qwen/settings.json");
    let mut settings: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let program = env!("CARGO_BIN_EXE_midstride");
    let command = format!("MIDSTRIDE_HOOK_MILLISECONDS=60000 '{program}' hook qwen-code");
    let hook = json!([{"hooks": [{"type": "command", "command": command, "timeout": 60_000}]}]);
    let hooks = EVENTS.map(|event| (event.to_owned(), hook.clone()));
    settings["mcpServers"] = json!({"midstride": {"command": program, "args": ["mcp"]}});
    settings["hooks"] = Value::Object(hooks.into_iter().collect());
    std::fs::write(file, settings.to_string()).unwrap();
    client
}

fn shell(command: &str) -> Turn {
    Turn::calls("run_shell_command", json!({"command": command, "is_background": false}))
}

/// The sessions of the project, each with its client and its first prompt.
fn known(sandbox: &Sandbox) -> Vec<(String, String)> {
    let text = |one: &Value, name: &str| one[name].as_str().unwrap_or_default().to_owned();
    sessions(sandbox).iter().map(|one| (text(one, "client"), text(one, "about"))).collect()
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn work_continues_from_claude_code_to_qwen_code_and_back() {
    let sandbox = project();
    let model = ModelServer::start([
        Turn::calls("Bash", json!({"command": "echo two > b.txt; exit 3"})),
        Turn::says("The importer still fails."),
    ]);
    let mut client = claude_code(&sandbox, &model);
    finish(&sandbox, client.args(["-p", "Repair the importer of invoices"]));
    let file = sandbox.root().join("c.txt");
    model.then([
        Turn::calls("write_file", json!({"file_path": file, "content": "three\n"})),
        shell("cat c.txt"),
        Turn::says("The importer is repaired, the report is not."),
    ]);
    let mut client = qwen_code(&sandbox, &model);
    finish(&sandbox, client.arg("Go on, and write a report for the auditors"));
    // The client escapes the angle brackets of a briefing.
    let asked = last(&model);
    assert_eq!(asked.says_times("midstride briefing · branch"), 1, "{:#}", asked.body);
    assert!(asked.says("&gt; Repair the importer of invoices"), "{:#}", asked.body);
    assert!(asked.says("&gt; The importer still fails."), "{:#}", asked.body);
    model.then([Turn::says("I know.")]);
    let mut client = claude_code(&sandbox, &model);
    finish(&sandbox, client.args(["-p", "Go on"]));
    let asked = last(&model);
    assert!(asked.says("write a report for the auditors"), "{:#}", asked.body);
    assert!(asked.says("> The importer is repaired, the report is not."), "{:#}", asked.body);
    assert!(asked.says("c.txt"), "{:#}", asked.body);
    did(&sandbox);
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn a_headless_qwen_code_session_is_captured_when_it_stops() {
    let sandbox = project();
    handoff(&sandbox);
    let model = ModelServer::start([
        shell("echo two > b.txt"),
        shell("echo no >&2; exit 3"),
        Turn::says("The pages are slow because of the balance."),
    ]);
    let mut client = qwen_code(&sandbox, &model);
    finish(&sandbox, client.arg("Why are the pages slow, is the balance looked up?"));
    let asked = last(&model);
    // The hook of the prompt runs again after each tool result, and says nothing more.
    assert_eq!(asked.says_times("The balance is looked up on every page"), 1, "{:#}", asked.body);
    let did = did(&sandbox);
    assert_eq!(did.first().unwrap(), "SessionStart: briefed", "{did:?}");
    assert!(did.last().unwrap().starts_with("Stop: "), "{did:?}");
    assert!(did.last().unwrap().contains("captured"), "{did:?}");
    assert_eq!(did.iter().filter(|one| one.contains("briefed")).count(), 1, "{did:?}");
    let session = recovered(&sandbox);
    assert_eq!(
        commands(&session),
        [("echo two > b.txt", "passed"), ("echo no >&2; exit 3", "failed")]
    );
    let facts = &session["session"];
    assert_eq!(facts["requests"]["items"].as_array().unwrap().len(), 1, "{facts:#}");
    assert_eq!(facts["commands"]["items"][1]["code"], 3, "{facts:#}");
    assert_eq!(facts["last_words"]["text"], "The pages are slow because of the balance.");
    assert_eq!(facts["counts"]["skipped"], json!({}), "{facts:#}");
    assert_eq!(facts["counts"]["unknown"], json!({}), "{facts:#}");
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn a_headless_qwen_code_session_is_briefed_only_on_request() {
    let sandbox = project();
    handoff(&sandbox);
    let model = ModelServer::start([Turn::says("I see.")]);
    let mut client = qwen_code(&sandbox, &model);
    finish(&sandbox, client.arg("Hello").env_remove("MIDSTRIDE_BRIEF"));
    assert!(!last(&model).says("midstride briefing"));
    assert_eq!(did(&sandbox).first().unwrap(), "SessionStart: started without a briefing");
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn qwen_code_in_a_terminal_is_briefed_without_the_variable() {
    let sandbox = project();
    handoff(&sandbox);
    let tmux = real_client::tmux(&sandbox);
    let model = ModelServer::start([Turn::says("I know.")]);
    let mut client = with_hooks(&sandbox, &model);
    let terminal =
        Terminal::start(tmux, &sandbox, client.args(["--prompt-interactive", "What is open?"]));
    model.wait_for_requests(1);
    let asked = last(&model);
    assert!(asked.says("What is open?"), "{:#}", asked.body);
    assert!(asked.says("The balance is looked up on every page"), "{:#}", asked.body);
    drop(terminal);
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn a_killed_qwen_code_session_is_recovered() {
    let sandbox = project();
    let model = ModelServer::start([
        shell("echo two > b.txt"),
        shell("echo no >&2; exit 3"),
        shell("cat b.txt"),
        Turn::hangs(),
    ]);
    let mut client = qwen_code(&sandbox, &model);
    let child = start(client.arg("Bring b.txt up to date"));
    model.wait_for_requests(4);
    // A running session is left alone.
    let at_work = sandbox.run(["session", "recover"]).exits(0);
    assert!(at_work.stderr.contains("1 session still running"), "{at_work}");
    kill(child);
    let session = recovered(&sandbox);
    let asked = &session["session"]["requests"]["items"][0]["text"];
    assert_eq!(asked, "Bring b.txt up to date");
    let ran = commands(&session);
    assert_eq!(ran[0], ("echo two > b.txt", "passed"), "{session:#}");
    assert_eq!(session["session"]["counts"]["skipped"], json!({}), "{session:#}");
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn a_resumed_qwen_code_session_is_briefed_once() {
    let sandbox = project();
    handoff(&sandbox);
    let model = ModelServer::start([Turn::says("I see."), Turn::says("It goes on.")]);
    let mut client = qwen_code(&sandbox, &model);
    finish(&sandbox, client.arg("Repair the importer"));
    let id = sessions(&sandbox)[0]["session"].as_str().unwrap().to_owned();
    let printed = sandbox.run([""; 0]).exits(0).stdout;
    assert!(printed.contains("qwen --resume [UID]"), "{printed}");
    let mut client = qwen_code(&sandbox, &model);
    finish(&sandbox, client.args(["--resume", &id, "And test it"]));
    assert!(last(&model).says("Repair the importer"));
    let asked = [("qwen-code".to_owned(), "Repair the importer".to_owned())];
    assert_eq!(known(&sandbox), asked);
    let session = recovered(&sandbox);
    let requests = session["session"]["requests"]["items"].as_array().unwrap();
    assert_eq!(requests.len(), 2, "{session:#}");
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn a_compacted_qwen_code_session_is_briefed_again() {
    const SESSION: &str = "11111111-1111-4111-8111-111111111111";
    const MUCH: u64 = 90_000;
    let sandbox = project();
    let long = "word ".repeat(4_000);
    let model = ModelServer::start([
        Turn::says(format!("I began. {long}")).using(MUCH, 50),
        Turn::says(format!("I leave them alone. {long}")).using(MUCH, 50),
        Turn::says("I know."),
    ]);
    model.summarises("The session was about files.");
    let on = |more: &[&str], text: &str| {
        let mut client = qwen_code(&sandbox, &model);
        finish(&sandbox, client.args(more).arg(text));
    };
    on(&["--session-id", SESSION], "Repair the importer");
    on(&["--resume", SESSION], "No, do not touch the fixtures of the auditors");
    on(&["--resume", SESSION], "/compress");
    let events = did(&sandbox);
    let compact: Vec<&String> = events.iter().filter(|one| one.contains("Compact")).collect();
    assert_eq!(compact.len(), 2, "{events:?}");
    let is_briefed = |one: &String| one.starts_with("SessionStart") && one.ends_with("briefed");
    let again = events.iter().rposition(is_briefed);
    assert!(!events.iter().any(|one| one.contains("recovered")), "{events:?}");
    let before = events.iter().position(|one| one.starts_with("PostCompact"));
    assert!(before.is_some() && before < again, "{events:?}");
    let session = recovered(&sandbox);
    let compactions = session["session"]["compactions"]["items"].as_array().unwrap();
    assert_eq!(compactions.len(), 1, "{session:#}");
    assert_eq!(compactions[0]["tokens_before"], MUCH, "{session:#}");
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn an_agent_of_qwen_code_is_captured_with_its_report() {
    let sandbox = project();
    let task = json!({"description": "Find callers", "prompt": "Find the callers of the totals",
                      "subagent_type": "general-purpose", "run_in_background": false});
    let model = ModelServer::start([
        Turn::calls("agent", task),
        shell("echo two > b.txt"),
        Turn::says("The totals have two callers."),
        Turn::says("Two callers."),
    ]);
    let mut client = qwen_code(&sandbox, &model);
    finish(&sandbox, client.arg("Who calls the totals?"));
    let session = recovered(&sandbox);
    let agent = &session["session"]["agents"]["items"][0];
    assert_eq!(agent["state"], "ended", "{session:#}");
    assert!(agent.to_string().contains("The totals have two callers."), "{session:#}");
    assert_eq!(commands(&session), [("echo two > b.txt", "passed")], "{session:#}");
}
