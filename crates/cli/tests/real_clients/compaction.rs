//! Tests of compaction, by the client or by the user, and of the briefing after it.

use super::hooks::{claude_code, claude_code_of, codex, did, finish, handoff, last};
use super::project;
use super::talk::{Running, Server, Talk, heard, ids, quotes, times};
use midstride_testkit::real_client::ClaudeCode;
use midstride_testkit::{ModelServer, Turn};
use serde_json::json;

/// A constraint of the user that no summary mentions.
const CONSTRAINT: &str = "No, do not touch the fixtures of the auditors";
/// More than the smallest window of Claude Code can hold.
const MUCH: u64 = 90_000;

/// Asserts that the model gets the summary and what that lost.
fn is_told_again(model: &ModelServer, summary: &str) {
    let heard = heard(&last(model));
    assert_eq!(times(&heard, summary), 1, "{heard:#?}");
    let told = heard.iter().filter(|one| one.contains("midstride · after compaction"));
    let told: Vec<&String> = told.collect();
    assert!(told.len() == 1 && told[0].contains(CONSTRAINT), "{heard:#?}");
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn claude_code_is_briefed_again_after_an_automatic_compaction() {
    let sandbox = project();
    let model = ModelServer::start([
        Turn::says("I began."),
        Turn::says("I leave them alone."),
        Turn::says("I read much.").using(MUCH, 50),
        Turn::says("I go on."),
        Turn::calls("Bash", json!({"command": "echo two > b.txt"})).using(MUCH, 50),
        Turn::says("It is done."),
    ]);
    model.summarises("The session was about files.");
    let mut client = claude_code(&sandbox, &model);
    let mut talk = Talk::start(client.env("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "100000"));
    talk.say("Repair the importer");
    talk.say(CONSTRAINT);
    talk.say("Read all of it");
    let summaries = || model.all_requests().into_iter().filter(|one| one.aside);
    assert_eq!(summaries().count(), 0);
    // Between two prompts.
    talk.say("Go on");
    let summary = summaries().next_back().unwrap();
    assert!(summary.says("The summary must include the following"), "{:#}", summary.body);
    is_told_again(&model, "The session was about files.");
    // In mid-turn, and for the second time.
    model.summarises("It is about a file.");
    talk.say("Write it");
    assert_eq!(summaries().count(), 2);
    is_told_again(&model, "It is about a file.");
    talk.end();
    let did = did(&sandbox);
    let times = |what: &str| did.iter().filter(|one| *one == what).count();
    assert_eq!(times("PreCompact: captured"), 2, "{did:?}");
    assert_eq!(times("PostCompact: compared the summary"), 2, "{did:?}");
    assert_eq!(did.last().unwrap(), "SessionEnd: captured", "{did:?}");
    assert_eq!(ids(&sandbox).len(), 1);
}

/// Compacts a headless session after another session worked. One run of the client calls the hooks
/// of a resumed session and of a compacted one.
fn compacts_headless(version: ClaudeCode) {
    const SESSION: &str = "11111111-1111-4111-8111-111111111111";
    const LANDMINE: &str = "The balance is looked up on every page";
    const OTHER: &str = "Write a report for the auditors";
    let sandbox = project();
    handoff(&sandbox);
    let model = ModelServer::start([]);
    model.summarises("The session was about files.");
    let run = |arguments: &[&str]| {
        let mut client = claude_code_of(version, &sandbox, &model);
        finish(&sandbox, client.args(arguments));
        heard(&last(&model))
    };
    model.then([Turn::says("I began."), Turn::says("I leave them alone."), Turn::says("Written.")]);
    run(&["-p", "Repair the importer", "--session-id", SESSION]);
    run(&["-p", CONSTRAINT, "--resume", SESSION]);
    run(&["-p", OTHER]);
    let before = did(&sandbox).len();
    run(&["-p", "/compact", "--resume", SESSION]);
    // The client calls both hooks and keeps both answers in the context.
    let starts = did(&sandbox).split_off(before);
    let briefed = starts.iter().filter(|one| one.starts_with("SessionStart: "));
    assert_eq!(briefed.filter(|one| one.ends_with("briefed")).count(), 2, "{starts:?}");
    for prompt in ["Go on", "And on"] {
        model.then([Turn::says("I go on.")]);
        let mut told = run(&["-p", prompt, "--resume", SESSION]);
        // The client repeats what it ran for its user, and tells the model to ignore it.
        told.retain(|one| !one.contains("<local-command-stdout>"));
        assert_eq!(times(&told, "midstride briefing · resumed session"), 1, "{told:#?}");
        assert_eq!(times(&told, "midstride · after compaction"), 1, "{told:#?}");
        assert_eq!(quotes(&told, OTHER), 1, "{told:#?}");
        assert_eq!(quotes(&told, CONSTRAINT), 1, "{told:#?}");
        assert_eq!(times(&told, LANDMINE), 1, "{told:#?}");
    }
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn claude_code_is_briefed_once_after_a_headless_compaction() {
    compacts_headless(ClaudeCode::Older);
    compacts_headless(ClaudeCode::Newer);
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn codex_is_briefed_again_after_an_automatic_compaction() {
    let sandbox = project();
    let model = ModelServer::start([
        Turn::says("I began."),
        Turn::calls("exec_command", json!({"cmd": "echo two > b.txt"})).using(MUCH, 50),
        Turn::says("It is done."),
    ]);
    model.summarises("The session was about files.");
    let mut client = codex(&sandbox, &model);
    finish(&sandbox, client.arg("Repair the importer"));
    let mut client = codex(&sandbox, &model);
    client.args(["-c", "model_auto_compact_token_limit=50000", "resume", &ids(&sandbox)[0]]);
    finish(&sandbox, client.arg(CONSTRAINT));
    assert_eq!(model.all_requests().iter().filter(|one| one.aside).count(), 1);
    is_told_again(&model, "The session was about files.");
    // What the client wrote for itself was not said to the user.
    let heard = heard(&last(&model));
    assert_eq!(quotes(&heard, "I began."), 1, "{heard:#?}");
    let did = did(&sandbox);
    let compacted =
        ["PreCompact: captured", "PostCompact: nothing", "SessionStart: captured, briefed"];
    let at = did.iter().position(|one| one == compacted[0]).unwrap();
    assert_eq!(did[at..at + 3], compacted, "{did:?}");
    assert_eq!(ids(&sandbox).len(), 1);
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn codex_is_briefed_again_after_a_manual_compaction() {
    let sandbox = project();
    let model = ModelServer::start([Turn::says("I began."), Turn::says("I know.")]);
    model.summarises("The session was about files.");
    let mut server = Server::start(&sandbox, &model);
    server.say("Repair the importer");
    server.say(CONSTRAINT);
    server.ask("thread/compact/start", json!({}));
    server.wait_for("turn/completed");
    model.then([Turn::says("I go on.")]);
    server.say("Go on");
    is_told_again(&model, "The session was about files.");
    drop(server);
    let did = did(&sandbox);
    assert!(did.contains(&"PreCompact: captured".to_owned()), "{did:?}");
    assert!(did.contains(&"SessionStart: captured, briefed".to_owned()), "{did:?}");
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn an_interrupted_codex_turn_is_captured() {
    let sandbox = project();
    let model = ModelServer::start([
        Turn::says("First the file.").and_calls("exec_command", json!({"cmd": "echo two > b.txt"})),
        Turn::hangs(),
    ]);
    let mut server = Server::start(&sandbox, &model);
    let turn = server.begin("Repair the importer of invoices");
    model.wait_for_requests(2);
    server.ask("turn/interrupt", json!({ "turnId": turn }));
    server.wait_for("turn/completed");
    // The session still exists and continues.
    model.then([Turn::says("I stopped.")]);
    server.say("No, only the report");
    drop(server);
    let did = did(&sandbox);
    assert!(did.contains(&"Interrupt: read on".to_owned()), "{did:?}");
    sandbox.run(["session", "recover"]).exits(0);
    let shown = sandbox.run(["session", "show", &ids(&sandbox)[0], "--json"]).exits(0).stdout;
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    let session = &shown["session"];
    assert_eq!(session["interrupts"]["items"].as_array().unwrap().len(), 1, "{session:#}");
    assert_eq!(session["requests"]["items"][1]["text"], "No, only the report", "{session:#}");
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn a_codex_session_ended_mid_turn_is_captured() {
    let sandbox = project();
    let model = ModelServer::start([
        Turn::calls("exec_command", json!({"cmd": "echo two > b.txt"})),
        Turn::hangs(),
    ]);
    let mut client = codex(&sandbox, &model);
    let running = Running::start(client.arg("Repair the importer of invoices"));
    model.wait_for_requests(2);
    running.interrupt(&sandbox);
    assert_eq!(running.wait(), Some(1));
    let did = did(&sandbox);
    assert_eq!(did[did.len() - 2..], ["Interrupt: read on", "SessionEnd: captured"], "{did:?}");
    model.then([Turn::says("I know.")]);
    let mut client = codex(&sandbox, &model);
    finish(&sandbox, client.arg("What happened?"));
    let heard = heard(&last(&model));
    assert_eq!(quotes(&heard, "Repair the importer of invoices"), 1, "{heard:#?}");
}
