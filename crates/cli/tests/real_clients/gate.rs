//! Tests of the stop gate and the reminder, in the real clients.

use super::hooks::{claude_code, codex, did, finish, last};
use super::project;
use super::talk::{Talk, heard, times};
use midstride_testkit::{ModelServer, Sandbox, Turn};
use serde_json::{Value, json};
use std::process::Command;

const CORRECTION: &str = "No, do not touch the fixtures of the auditors";
const NUDGE: &str = "midstride: The user corrected the agent once in this session.";

fn set(sandbox: &Sandbox, setting: &str) {
    sandbox.write(".midstride/config.toml", format!("[hooks]\n{setting}\n"));
}

/// A turn that waits until the transcript has the correction, because the client writes it with a
/// delay.
fn is_written() -> Turn {
    let command = format!("until grep -qs '{CORRECTION}' ~/.claude/projects/*/*.jsonl; do :; done");
    Turn::calls("Bash", json!({ "command": command }))
}

/// Claude Code with the save tool.
fn with_tools(client: &mut Command) -> &mut Command {
    let program = env!("CARGO_BIN_EXE_midstride");
    let servers = json!({"mcpServers": {"midstride": {"command": program, "args": ["mcp"]}}});
    client.env("MCP_CONNECTION_NONBLOCKING", "0").args([
        "--strict-mcp-config",
        "--mcp-config",
        &servers.to_string(),
    ])
}

fn count(did: &[String], what: &str) -> usize {
    did.iter().filter(|one| one.ends_with(what)).count()
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn claude_code_is_kept_from_stopping_at_most_twice() {
    let sandbox = project();
    set(&sandbox, "stop_gate = true");
    let model = ModelServer::start([Turn::says("I begin."), is_written()]);
    model.then([(); 6].map(|()| Turn::says("I am done.")));
    let mut client = claude_code(&sandbox, &model);
    let mut talk = Talk::start(&mut client);
    talk.say("Repair the importer");
    assert_eq!(model.requests().len(), 1, "nothing is worth telling yet");
    talk.say(CORRECTION);
    assert_eq!(model.requests().len(), 5, "{:?}", did(&sandbox));
    let heard = heard(&last(&model));
    assert_eq!(times(&heard, "Stop hook feedback"), 2, "{heard:#?}");
    let why = "The user corrected the agent once in this session, and no complete handoff explains why. \
               Save it with `midstride save`";
    assert_eq!(times(&heard, why), 2, "{heard:#?}");
    let what = format!("- correction: {CORRECTION} (record ");
    let add = "): quote it, or say what the user wants (as a constraint or a decision)";
    assert_eq!((times(&heard, &what), times(&heard, add)), (2, 2), "{heard:#?}");
    // The count restarts with the user's next prompt.
    talk.say("Go on");
    assert_eq!(model.requests().len(), 8);
    talk.end();
    assert_eq!(count(&did(&sandbox), "blocked"), 4);
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn claude_code_stops_once_it_saved_what_was_missing() {
    let sandbox = project();
    set(&sandbox, "stop_gate = true");
    let first =
        json!({"title": "Importer", "summary": "The importer of invoices is half repaired."});
    let rest = json!({
        "handoff": "importer",
        "decisions": ["Leave the fixtures of the auditors alone because the auditors compare them"],
        "constraints": ["Do not touch the fixtures of the auditors"],
        "next": ["Repair the reader of dates in the importer"],
        "inherit": "yes",
        "finds_plans": "yes",
    });
    let model = ModelServer::start([
        Turn::says("I begin."),
        is_written(),
        Turn::says("I leave them alone."),
        Turn::calls("mcp__midstride__save", first),
        Turn::says("It is saved."),
        Turn::calls("mcp__midstride__save", rest),
        Turn::says("All of it is saved."),
    ]);
    let mut client = claude_code(&sandbox, &model);
    let mut talk = Talk::start(with_tools(&mut client));
    talk.say("Repair the importer");
    talk.say(CORRECTION);
    talk.end();
    let asked = model.requests();
    assert_eq!(asked.len(), 7, "{:?}", did(&sandbox));
    // The second time, the agent gets what its own handoff lacks.
    let heard = heard(&asked[5]);
    let lacks = "and handoff `importer` did not pass the quality gate. Save it with `midstride save --id importer`";
    assert_eq!(times(&heard, lacks), 1, "{heard:#?}");
    assert_eq!(count(&did(&sandbox), "blocked"), 2);
    let document = sandbox.read(".git/midstride/handoffs/importer.md");
    assert!(document.contains("passed: true"), "{document}");
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn codex_is_kept_from_stopping_at_most_twice() {
    let sandbox = project();
    set(&sandbox, "stop_gate = true");
    sandbox.write("tests.sh", "echo 'importer_reads_dates: wrong year' && exit 3\n");
    let fails = || Turn::calls("exec_command", json!({"cmd": "sh tests.sh"}));
    let model = ModelServer::start([fails(), fails(), fails()]);
    model.then([(); 3].map(|()| Turn::says("I am done.")));
    let mut client = codex(&sandbox, &model);
    // A headless agent is asked only if it may save.
    let configuration = sandbox.home().join(".codex/config.toml");
    let mut text = std::fs::read_to_string(&configuration).unwrap();
    text.push_str("\n[mcp_servers.midstride]\ncommand = \"true\"\n");
    text.push_str("default_tools_approval_mode = \"approve\"\n");
    std::fs::write(&configuration, text).unwrap();
    finish(&sandbox, client.arg("Repair the importer"));
    assert_eq!(model.requests().len(), 6, "{:?}", did(&sandbox));
    let heard = heard(&last(&model));
    let why = "A command failed 3 times in this session, and no complete handoff explains why";
    assert_eq!(times(&heard, why), 2, "{heard:#?}");
    assert_eq!(times(&heard, "say why it fails"), 2, "{heard:#?}");
    assert_eq!(count(&did(&sandbox), "blocked"), 2);
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn without_the_gate_a_session_stops_and_is_reminded_once() {
    let sandbox = project();
    set(&sandbox, "nudge = true");
    let model = ModelServer::start([Turn::says("I begin."), is_written()]);
    model.then([(); 4].map(|()| Turn::says("I am done.")));
    let mut client = claude_code(&sandbox, &model);
    let mut talk = Talk::start(&mut client);
    talk.say("Repair the importer");
    let id = talk.say(CORRECTION);
    talk.say("Go on");
    talk.say("And on");
    talk.end();
    // A resumed session does not get the reminder again.
    let mut client = claude_code(&sandbox, &model);
    finish(&sandbox, client.args(["-p", "And on", "--resume", &id]));
    let heard = heard(&last(&model));
    assert_eq!(times(&heard, NUDGE), 1, "{heard:#?}");
    assert_eq!(model.requests().len(), 6);
    let did = did(&sandbox);
    assert_eq!((count(&did, "nudged"), count(&did, "blocked")), (1, 0), "{did:?}");
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn no_reminder_unless_enabled() {
    let sandbox = project();
    set(&sandbox, "nudge = false");
    let model = ModelServer::start([Turn::says("I begin."), is_written()]);
    model.then([(); 2].map(|()| Turn::says("I am done.")));
    let mut client = claude_code(&sandbox, &model);
    let mut talk = Talk::start(&mut client);
    for prompt in ["Repair the importer", CORRECTION, "Go on"] {
        talk.say(prompt);
    }
    talk.end();
    assert!(!last(&model).says(NUDGE));
    assert_eq!(count(&did(&sandbox), "nudged"), 0);
}

/// Runs two prompts; the model answers the first with these turns. Returns the reason of the
/// reminder.
fn reminded_after(sandbox: &Sandbox, turns: Vec<Turn>) -> String {
    set(sandbox, "nudge = true");
    let model = ModelServer::start(turns);
    model.then([Turn::says("Done."), Turn::says("I go on.")]);
    let mut talk = Talk::start(&mut claude_code(sandbox, &model));
    talk.say("Repair the importer");
    talk.say("Go on");
    talk.end();
    let heard = heard(&last(&model));
    let told = heard.iter().find_map(|one| one.split_once("midstride: "));
    let why = told.and_then(|(_, told)| told.split_once(" What was done is captured"));
    assert_eq!(count(&did(sandbox), "nudged"), usize::from(why.is_some()), "{heard:#?}");
    why.map(|(why, _)| why.to_owned()).unwrap_or_default()
}

/// A call that waits until the transcript has a text on a number of lines, because the client
/// writes it with a delay.
fn waits_for(text: &str, lines: usize) -> Turn {
    let count = format!("cat ~/.claude/projects/*/*.jsonl | grep -c '{text}'");
    Turn::calls("Bash", json!({"command": format!("until [ $({count}) -ge {lines} ]; do :; done")}))
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn repeated_failures_trigger_a_reminder() {
    let fails = || Turn::calls("Bash", json!({"command": "exit 3"}));
    let why = reminded_after(&project(), vec![fails(), fails()]);
    assert_eq!(why, "");
    let waits = waits_for("\"is_error\":true", 3);
    let why = reminded_after(&project(), vec![fails(), fails(), fails(), waits]);
    assert_eq!(why, "A command failed 3 times in this session.");
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn reverted_edits_trigger_a_reminder() {
    let sandbox = project();
    let file = sandbox.root().join("a.txt");
    let edit = |old: &str, new: &str| -> Value {
        json!({"file_path": file, "old_string": old, "new_string": new})
    };
    let turns = vec![
        Turn::calls("Read", json!({ "file_path": file })),
        Turn::calls("Edit", edit("one", "two")),
        Turn::calls("Edit", edit("two", "one")),
        waits_for("\"tool_result\"", 3),
    ];
    let why = reminded_after(&sandbox, turns);
    assert_eq!(why, "Changes to 1 file were reverted in this session.");
}
