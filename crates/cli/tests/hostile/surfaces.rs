//! Every way to call midstride: its commands, the hooks of the clients, and the tools of the MCP
//! server.

use super::hooks::{CLAUDE_CODE, CODEX};
use midstride_testkit::Sandbox;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

/// The session of the planted transcript.
pub(super) const SESSION: &str = "5e550001-4c00-7000-8000-00000000cccc";

/// At least one call of every command: first those that need the repository as it came, and last
/// the one that removes midstride from it.
const COMMANDS: [&[&str]; 99] = [
    &[],
    &["--json"],
    &["check"],
    &["check", "--all", "--json"],
    &["check", "--at", "HEAD"],
    &["check", "--staged"],
    &["check", "--fix"],
    &["check", "market", "--session", SESSION],
    &["list", "--all", "--json"],
    &["search", "pelican", "--fresh"],
    &["search", "--prompt", "why are market pages slow"],
    &["show", "market"],
    &["show", "market@1"],
    &["show", "market", "--history"],
    &["show", "market", "--as", "pr"],
    &["diff", "market"],
    &["diff", "market@1", "market@2", "--words"],
    &["undo", "market"],
    &["brief"],
    &["brief", "--json"],
    &["brief", "--last"],
    &["brief", "--as", "mission"],
    &["brief", "--as", "markdown"],
    &["brief", "market", "--as", "prompt"],
    &["continue", "--print"],
    &["continue", "market", "--in", "codex", "--json"],
    &["dismiss"],
    &["list", "--graph", "--all"],
    &["events"],
    &["session", "state"],
    &["why", "HEAD~1"],
    &["why", "body.md:1", "--json"],
    &["session", "list"],
    &["session", "show", SESSION],
    &["session", "recover"],
    &["session", "capture", "--session", SESSION],
    &["save", "--session", SESSION, "--id", "promoted"],
    &["save", "--no-session", "--title", "Saved", "--summary", "Half done"],
    &["save", "--session", SESSION, "--summary", "Half done", "--accept", "a test"],
    &["setup", "--yes", "--diff"],
    &["setup", "--undo", "--yes"],
    &["init"],
    &["init", "--merge-driver"],
    &["trust", "--list"],
    &["trust"],
    &["trust", "--yes"],
    &["trust", "--list"],
    &["trust", "market", "--all", "--yes"],
    &["verify", "market"],
    &["verify", "market", "--record"],
    &["new", "Another", "--id", "another", "--no-edit"],
    &["new", "Private", "--id", "private", "--no-edit", "--private"],
    &["share", "private"],
    &["edit", "another"],
    &["start", "another"],
    &["answer", "market", "q1", "Yes"],
    &["review", "market", "--by", "me", "--challenged", "The cause", "--verdict", "held"],
    &["edit", "market", "--reason", "Again", "--body", "body.md"],
    &["advance", "feature", "--to", "spec", "--force", "--reason", "test"],
    &["merge", "src/conflict.md"],
    &["merge", "--driver", "body.md", "body.md", "body.md", "body.md"],
    &["fmt", "--check"],
    &["fmt"],
    &["task", "add", "A task"],
    &["task", "list"],
    &["task", "ready"],
    &["task", "mission", "--decision", "Ship it"],
    &["sync"],
    &["sync", "promisor"],
    &["forget", "market@1", "--yes"],
    &["forget", "--review", "--yes"],
    &["forget", "--session", SESSION, "--yes"],
    &["forget", "--all", "--yes"],
    &["data"],
    &["resolve", "market", "--commit", "HEAD"],
    &["resolve", "another", "--outcome", "Done"],
    &["reopen", "market", "--reason", "Again"],
    &["redact", "body.md"],
    &["off"],
    &["on"],
    &["status", "--all"],
    &["log", "--since", "2020-01-01"],
    &["log", "--all", "--json"],
    &["log", "--as", "markdown"],
    &["doctor"],
    &["doctor", "--reindex", "--no-simulation", "--json"],
    &["client", "list"],
    &["config", "list"],
    &["config", "get", "capture.exclude"],
    &["config", "set", "capture.retention", "30"],
    &["client", "add", "--all", "--project", "--yes"],
    &["client", "remove", "--all", "--project", "--yes"],
    &["help", "--all"],
    &["explain"],
    &["schema"],
    &["man"],
    &["completions", "bash"],
    &["reference", "cli"],
    &["client", "remove", "--all", "--purge", "--yes"],
];

/// What a shell asks to complete, an argument of each kind.
const COMPLETED: [&[&str]; 6] = [
    &["show", ""],
    &["show", "market@"],
    &["list", "--stage", ""],
    &["session", "show", ""],
    &["task", "show", ""],
    &["explain", ""],
];

/// Files that are called below, and one with arguments that commands share.
const ELSEWHERE: [&str; 3] = ["hook", "statusline", "entries"];

/// Runs every command. `note` gets its name and what it printed.
pub(super) fn run_commands(sandbox: &Sandbox, note: &mut dyn FnMut(&str, &str)) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/commands");
    for file in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let is_run = COMMANDS.iter().any(|words| words.first() == Some(&name));
        assert!(is_run || ELSEWHERE.contains(&name), "no call of `{name}` is here");
    }
    for words in COMPLETED {
        let mut command = sandbox.command(sandbox.program());
        command.env("MIDSTRIDE_COMPLETE", "fish").args(["--", "midstride"]).args(words);
        note(
            &format!("completion of {}", words.join(" ")),
            &sandbox.finish(&mut command).to_string(),
        );
    }
    note("midstride demo", &sandbox.run(["demo"]).to_string());
    note("midstride demo --here", &sandbox.run(["demo", "--here"]).to_string());
    for arguments in COMMANDS {
        // At a terminal, so that commands that need the user's consent run too.
        let run = sandbox.as_user().env("EDITOR", "true").run(arguments.iter());
        assert!(!run.stderr.contains("--help"), "not a call: {arguments:?}: {run}");
        note(&format!("midstride {}", arguments.join(" ")), &run.to_string());
    }
}

/// Makes every hook call of every client, and what hooks do in the background.
pub(super) fn run_hooks(sandbox: &Sandbox, note: &mut dyn FnMut(&str, &str)) {
    let calls = [("claude-code", &CLAUDE_CODE[..]), ("codex", &CODEX[..])];
    for (client, events) in calls {
        for (event, more) in events {
            let mut call: Value = serde_json::from_str(more).unwrap();
            call["hook_event_name"] = (*event).into();
            call["session_id"] = SESSION.into();
            call["cwd"] = sandbox.root().to_str().unwrap().into();
            let run = sandbox.run_with_input(&["hook", client], &call.to_string());
            assert_eq!(run.code, Some(0), "{client} {event}: {run}");
            note(&format!("hook {client} {event}"), &run.to_string());
        }
    }
    let call = json!({"session_id": SESSION, "cwd": sandbox.root().to_str().unwrap()});
    let run = sandbox.run_with_input(&["statusline"], &call.to_string());
    assert_eq!(run.code, Some(0), "{run}");
    note("statusline", &run.to_string());
    for word in ["observe", "recover", "index", "redact", "retain"] {
        let run = sandbox.run(["hook", word]);
        note(&format!("hook {word}"), &run.to_string());
    }
}

/// Calls every tool of the MCP server and reads every resource.
pub(super) fn run_tools(sandbox: &Sandbox, note: &mut dyn FnMut(&str, &str)) {
    let calls = [
        ("brief", json!({})),
        ("get", json!({"handoff": "market"})),
        ("get", json!({"handoff": "market@1"})),
        ("why", json!({"commit": "HEAD~1"})),
        ("check", json!({})),
        ("check", json!({"handoff": "market"})),
        ("search", json!({"query": "pelican"})),
        ("tasks", json!({"subject": "A task"})),
        ("tasks", json!({})),
        ("save", json!({"title": "Saved", "summary": "Half done"})),
        ("revise", json!({"handoff": "market", "text": "## Diagnosis\n\nNew.\n", "reason": "y"})),
        ("answer", json!({"handoff": "market", "which": "q1", "text": "Yes"})),
        ("state_save", json!({"name": "a", "state": {"step": 1}})),
        ("state_load", json!({"name": "a"})),
        ("state_update", json!({"name": "a", "patch": {"step": 2}})),
        ("resolve", json!({"handoff": "saved", "outcome": "y"})),
    ];
    let listed = ask(sandbox, "tools/list", json!({}));
    let listed = listed["result"]["tools"].as_array().unwrap().iter();
    let known: BTreeSet<&str> = calls.iter().map(|(tool, _)| *tool).collect();
    let all: Vec<String> = listed.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    assert!(all.iter().all(|tool| known.contains(tool.as_str())), "{all:?} {known:?}");
    for (tool, arguments) in calls {
        let answer = ask(sandbox, "tools/call", json!({"name": tool, "arguments": arguments}));
        assert!(answer["error"].is_null(), "{tool}: {answer:#}");
        note(&format!("MCP {tool}"), &answer.to_string());
    }
    let resources = ask(sandbox, "resources/list", json!({}));
    for resource in resources["result"]["resources"].as_array().unwrap() {
        let answer = ask(sandbox, "resources/read", json!({"uri": resource["uri"]}));
        note("MCP resources", &answer.to_string());
    }
}

/// The answer of a new server to one request.
fn ask(sandbox: &Sandbox, method: &str, mut parameters: Value) -> Value {
    parameters["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
    });
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters});
    let file = sandbox.home().join("request");
    std::fs::write(&file, format!("{request}\n")).unwrap();
    let mut server = sandbox.command(sandbox.program());
    let run = sandbox.finish(server.arg("mcp").stdin(File::open(&file).unwrap()));
    serde_json::from_str(run.stdout.lines().next().unwrap_or_default())
        .unwrap_or_else(|error| panic!("{method}: {error}: {run}"))
}
