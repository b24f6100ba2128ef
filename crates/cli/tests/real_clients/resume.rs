//! Tests of cleared and resumed sessions: the same state each time, and nothing twice.

use super::hooks::{claude_code, codex, did, finish, handoff, last};
use super::project;
use super::talk::{Talk, heard, ids, quotes, sessions, times};
use midstride_testkit::{ModelServer, Sandbox, Turn};
use serde_json::{Value, json};
use std::process::Command;

const AT_START: &str = "midstride briefing · branch";
const AGAIN: &str = "midstride briefing · resumed session";
const LANDMINE: &str = "The balance is looked up on every page";

/// How many events of a project contain this text.
fn events(sandbox: &Sandbox, what: &str) -> usize {
    sandbox.run(["events"]).exits(0).stdout.matches(what).count()
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn after_clear_a_new_session_starts() {
    let sandbox = project();
    handoff(&sandbox);
    let save =
        json!({"title": "Report", "summary": "The report for the auditors is half written."});
    // The client writes its transcript with a delay; a session that keeps working has one.
    let shell = "echo $CLAUDE_CODE_SESSION_ID > ~/shell; \
                 until grep -qs auditors ~/.claude/projects/*/$CLAUDE_CODE_SESSION_ID.jsonl; do :; done";
    let model = ModelServer::start([
        Turn::calls("Bash", json!({"command": "echo two > b.txt"})),
        Turn::says("The importer is repaired."),
        Turn::calls("Bash", json!({"command": shell})),
        Turn::calls("mcp__midstride__save", save),
        Turn::says("The report is begun."),
    ]);
    let mut client = claude_code(&sandbox, &model);
    let program = env!("CARGO_BIN_EXE_midstride");
    let servers = json!({"mcpServers": {"midstride": {"command": program, "args": ["mcp"]}}});
    client.env("MCP_CONNECTION_NONBLOCKING", "0").args([
        "--strict-mcp-config",
        "--mcp-config",
        &servers.to_string(),
    ]);
    let mut talk = Talk::start(&mut client);
    let first = talk.say("Repair the importer of invoices");
    let second = talk.say("/clear");
    assert_ne!(first, second);
    assert_eq!(talk.say("Write a report for the auditors"), second);
    talk.end();
    // The new session knows the old one's prompt, and that it is not its own.
    let heard = heard(&last(&model));
    assert_eq!(times(&heard, "midstride briefing · after /clear"), 1, "{heard:#?}");
    assert_eq!(times(&heard, AT_START), 0, "{heard:#?}");
    assert_eq!(quotes(&heard, "Repair the importer of invoices"), 1, "{heard:#?}");
    assert_eq!(times(&heard, LANDMINE), 1, "{heard:#?}");
    // Each was captured with its own work.
    let did = did(&sandbox);
    assert_eq!(did.iter().filter(|one| *one == "SessionEnd: captured").count(), 2, "{did:?}");
    // What the client wrote after that is recovered like anything else.
    sandbox.run(["session", "recover"]).exits(0);
    let mut list = sessions(&sandbox);
    list.sort_by_key(|one| one["began"].to_string());
    let facts = |one: &Value| [&one["session"], &one["about"], &one["captured"]].map(Value::clone);
    let list: Vec<_> = list.iter().map(facts).collect();
    let (importer, report) = ("Repair the importer of invoices", "Write a report for the auditors");
    assert_eq!(list[0], [json!(first), json!(importer), json!("whole")]);
    assert_eq!(list[1], [json!(second), json!(report), json!("whole")]);
    // The server was started in the old session, and saves the new one.
    let document = sandbox.read(".git/midstride/handoffs/report.md");
    assert!(document.contains(&format!("session: {second}")), "{document}");
    assert!(!document.contains("importer of invoices"), "{document}");
    let shell = std::fs::read_to_string(sandbox.home().join("shell")).unwrap();
    assert_eq!(shell.trim(), second);
    // The user ended it, so it is not called lost.
    let text = super::transcript_of(&sandbox, &second);
    assert!(text.contains("midstride: briefed from "), "{text}");
    assert!(!text.contains("not captured when it ended"), "{text}");
}

/// How a client starts a session: a new one, the last one again, or a named one again.
enum Begin<'a> {
    New,
    Last,
    Named(&'a str),
}

/// Resumes a session several times: it is briefed on the state once, and once on what another
/// session did in between.
fn goes_on(sandbox: &Sandbox, model: &ModelServer, run: &dyn Fn(Begin<'_>, &str) -> Command) {
    let ask = |begin: Begin<'_>, text: &str| {
        model.then([Turn::says(format!("I answer: {text}"))]);
        finish(sandbox, &mut run(begin, text));
        heard(&last(model))
    };
    ask(Begin::New, "Repair the importer of invoices");
    let id = ids(sandbox).remove(0);
    ask(Begin::Last, "And test it");
    ask(Begin::Named(&id), "And measure it");
    let told = ask(Begin::Named(&id), "And tell of it");
    assert_eq!(times(&told, AT_START), 1, "{told:#?}");
    assert_eq!(times(&told, AGAIN), 0, "{told:#?}");
    assert_eq!(times(&told, LANDMINE), 1, "{told:#?}");
    assert_eq!((ids(sandbox).len(), events(sandbox, "session briefed")), (1, 1));
    ask(Begin::New, "Write a report for the auditors");
    let asked = ["Go on with the importer", "And on"];
    for text in asked {
        let told = ask(Begin::Named(&id), text);
        assert_eq!(times(&told, AGAIN), 1, "{told:#?}");
        assert_eq!(quotes(&told, "Write a report for the auditors"), 1, "{told:#?}");
        assert_eq!(times(&told, LANDMINE), 1, "{told:#?}");
        assert_eq!(quotes(&told, "Repair the importer of invoices"), 0, "{told:#?}");
    }
    assert_eq!((ids(sandbox).len(), events(sandbox, "session briefed")), (2, 3));
    let did = did(sandbox);
    assert!(!did.iter().any(|one| one.contains("recovered")), "{did:?}");
    assert_eq!(did.iter().filter(|one| *one == "SessionEnd: captured").count(), 7, "{did:?}");
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn resumed_claude_code_is_briefed_once() {
    let sandbox = project();
    handoff(&sandbox);
    let model = ModelServer::start([]);
    claude_code(&sandbox, &model);
    goes_on(&sandbox, &model, &|begin, text| {
        let mut client = claude_code(&sandbox, &model);
        client.args(["-p", text]);
        match begin {
            Begin::New => {}
            Begin::Last => drop(client.arg("--continue")),
            Begin::Named(id) => drop(client.args(["--resume", id])),
        }
        client
    });
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn resumed_codex_is_briefed_once() {
    let sandbox = project();
    handoff(&sandbox);
    let model = ModelServer::start([]);
    codex(&sandbox, &model);
    goes_on(&sandbox, &model, &|begin, text| {
        let mut client = codex(&sandbox, &model);
        match begin {
            Begin::New => {}
            Begin::Last => drop(client.args(["resume", "--last"])),
            Begin::Named(id) => drop(client.args(["resume", id])),
        }
        client.arg(text);
        client
    });
}
