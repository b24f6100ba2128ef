//! Tests of the real clients, whose model saves its session through MCP until nothing is missing.

mod inspector;

use crate::sandbox;
use midstride_testkit::{ModelServer, Sandbox, Turn, real_client};
use serde_json::{Value, json};
use std::process::Command;

fn project() -> Sandbox {
    let sandbox = sandbox().repository();
    sandbox.as_user().run(["init"]).exits(0);
    sandbox
}

/// The first save of the model, and what it adds when it learns what is missing.
fn saves() -> [Value; 2] {
    let first = json!({"title": "Cache purge", "summary": "Purging the cache works."});
    let rest = json!({
        "handoff": "cache-purge",
        "summary": "The purge of the market cache works; the list of cities is still stale.",
        "decisions": ["Purge by tag because paths change with every release"],
        "next": ["Purge the list of cities by tag, and measure a cold page again"],
        "inherit": "yes",
        "finds_plans": "yes",
    });
    [first, rest]
}

/// Runs a client to its end and compares what its model received with what is on disk.
fn completes(sandbox: &Sandbox, model: &ModelServer, client: &mut Command, name: &str) {
    let run = sandbox.finish(client);
    assert_eq!(run.code, Some(0), "{run}");
    let asked = model.requests();
    let told = |text: &str| asked.iter().position(|request| request.says(text));
    let missing = told("needed before the next session can resume this");
    let complete = told("## Handoff Complete");
    assert!(missing.is_some() && missing < complete, "{missing:?} {complete:?} {run}");
    let document = sandbox.read(".git/midstride/handoffs/cache-purge.md");
    assert!(document.contains("Purge by tag"), "{document}");
    assert!(document.contains(&format!("by: {name}\n")), "{document}");
    // The session is the client's own: its prompt is among the facts, and it is identified.
    assert!(document.contains("Purge the cache, then hand over"), "{document}");
    let events = sandbox.run(["events"]).exits(0).stdout;
    assert!(events.contains(&format!("{name} session picked up: cache-purge (get)")), "{events}");
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn claude_code_saves_its_session_until_nothing_is_missing() {
    let sandbox = project();
    let [first, rest] = saves();
    // The client writes its transcript with a delay; a session that keeps working has one.
    let written = "until grep -qs 'Purge the cache' ~/.claude/projects/*/*.jsonl; do :; done";
    let model = ModelServer::start([
        Turn::calls("Bash", json!({ "command": written })),
        Turn::calls("mcp__midstride__save", first),
        Turn::calls("mcp__midstride__save", rest),
        Turn::calls("mcp__midstride__get", json!({"handoff": "cache-purge"})),
        Turn::says("It is saved."),
    ]);
    let mut client = real_client::claude_code(&sandbox, &model);
    let servers = json!({"mcpServers": {"midstride": {
        "command": env!("CARGO_BIN_EXE_midstride"), "args": ["mcp"],
    }}});
    client
        .env("MCP_CONNECTION_NONBLOCKING", "0")
        .args(["-p", "Purge the cache, then hand over", "--dangerously-skip-permissions"])
        .args(["--strict-mcp-config", "--mcp-config", &servers.to_string()]);
    completes(&sandbox, &model, &mut client, "claude-code");
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn qwen_code_saves_its_session_until_nothing_is_missing() {
    let sandbox = project();
    let [first, rest] = saves();
    // The client defers tools of servers, so the model calls them through another tool.
    let call = |name: &str, given: Value| {
        let name = format!("mcp__midstride__{name}");
        Turn::calls("tool_call", json!({"name": name, "arguments": given}))
    };
    let model = ModelServer::start([
        Turn::calls("tool_search", json!({"query": "midstride"})),
        call("save", first),
        call("save", rest),
        call("get", json!({"handoff": "cache-purge"})),
        Turn::says("It is saved."),
    ]);
    let mut client = real_client::qwen_code(&sandbox, &model);
    let servers = json!({"mcpServers": {"midstride": {
        "command": env!("CARGO_BIN_EXE_midstride"), "args": ["mcp"],
    }}});
    client.args(["-y", "--mcp-config", &servers.to_string(), "Purge the cache, then hand over"]);
    completes(&sandbox, &model, &mut client, "qwen-code");
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn codex_saves_its_session_until_nothing_is_missing() {
    let sandbox = project();
    let [first, rest] = saves();
    let model = ModelServer::start([
        Turn::calls("midstride/save", first),
        Turn::calls("midstride/save", rest),
        Turn::calls("midstride/get", json!({"handoff": "cache-purge"})),
        Turn::says("It is saved."),
    ]);
    let mut client = real_client::codex(&sandbox, &model);
    let program = format!("mcp_servers.midstride.command={:?}", env!("CARGO_BIN_EXE_midstride"));
    client
        .args(["exec", "--json", "-s", "workspace-write", "-c", &program])
        .args(["-c", "mcp_servers.midstride.args=[\"mcp\"]"])
        .args(["-c", "mcp_servers.midstride.default_tools_approval_mode=\"approve\""])
        .arg("Purge the cache, then hand over");
    completes(&sandbox, &model, &mut client, "codex");
}
