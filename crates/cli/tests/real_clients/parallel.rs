//! Tests of several sessions in one project at once: each is captured, and none is taken for lost.

use super::hooks::{claude_code, codex, did, finish, last};
use super::project;
use super::talk::{Running, Talk, heard, quotes, sessions, times};
use midstride_testkit::{ModelServer, Sandbox, Turn};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};

/// A named pipe at which a command waits until the test releases it.
fn gate(sandbox: &Sandbox, name: &str) -> String {
    let path = sandbox.home().join(name);
    sandbox.finish(sandbox.command("mkfifo").arg(&path)).exits(0);
    format!("read -r _ < {} || true", path.display())
}

/// Waits until the command is at the pipe; dropping the file releases it.
fn hold(sandbox: &Sandbox, name: &str) -> File {
    OpenOptions::new().write(true).open(sandbox.home().join(name)).unwrap()
}

/// What is known of the sessions, by their first prompt.
fn known(sandbox: &Sandbox) -> BTreeMap<String, (Value, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = sessions(sandbox).into_iter();
    list.map(|one| (text(&one["about"]), (one["runs"].clone(), text(&one["captured"])))).collect()
}

const IMPORTER: &str = "Repair the importer of invoices";
const REPORT: &str = "Write a report for the auditors";

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn two_concurrent_clients_do_not_interfere() {
    let sandbox = project();
    let (first, second) = (gate(&sandbox, "first"), gate(&sandbox, "second"));
    let models = [
        ModelServer::start([
            Turn::calls("Bash", json!({ "command": first })),
            Turn::says("The importer is repaired."),
        ]),
        ModelServer::start([
            Turn::calls("exec_command", json!({"cmd": second, "yield_time_ms": 30_000})),
            Turn::says("The report is written."),
        ]),
        ModelServer::start([Turn::says("I see."), Turn::says("I know.")]),
    ];
    let mut one = claude_code(&sandbox, &models[0]);
    let one = Running::start(one.args(["-p", IMPORTER]));
    let first = hold(&sandbox, "first");
    let mut other = codex(&sandbox, &models[1]);
    let other = Running::start(other.args(["-c", &told(&models[1]), REPORT]));
    let second = hold(&sandbox, "second");
    // While both are in mid-turn, a third session starts and ends.
    let mut third = claude_code(&sandbox, &models[2]);
    finish(&sandbox, third.args(["-p", "What goes on here?"]));
    let during = heard(&last(&models[2]));
    // Their unfinished work is not briefed, but the fact that they are running is.
    assert_eq!(times(&during, "midstride briefing"), 1, "{during:#?}");
    for client in ["Claude Code", "Codex"] {
        let line = format!("Also running: {client} session ");
        assert_eq!(times(&during, &line), 1, "{during:#?}");
    }
    assert_eq!(times(&during, "branch master; last active "), 2, "{during:#?}");
    assert_eq!(times(&during, IMPORTER) + times(&during, REPORT), 0, "{during:#?}");
    let at_work = known(&sandbox);
    for text in [IMPORTER, REPORT] {
        assert_eq!(at_work[text], (json!(true), "no".to_owned()), "{at_work:?}");
    }
    let left = sandbox.run(["session", "recover"]).exits(0);
    assert!(left.stderr.contains("2 sessions still running"), "{left}");
    drop((first, second));
    assert_eq!((one.wait(), other.wait()), (Some(0), Some(0)));
    let done = known(&sandbox);
    for text in [IMPORTER, REPORT, "What goes on here?"] {
        assert_eq!(done[text], (json!(false), "whole".to_owned()), "{done:?}");
    }
    let did = did(&sandbox);
    assert_eq!(did.iter().filter(|one| *one == "SessionEnd: captured").count(), 3, "{did:?}");
    assert!(!did.iter().any(|one| one.contains("recovered")), "{did:?}");
    // Each is briefed with its own work.
    for (text, own, of_other) in
        [(IMPORTER, "importer is repaired", "report"), (REPORT, "report is written", "importer")]
    {
        let list = sessions(&sandbox);
        let id = &list.iter().find(|one| one["about"] == text).unwrap()["session"];
        let shown = sandbox.run(["session", "show", id.as_str().unwrap()]).exits(0).stdout;
        assert!(shown.contains(own) && !shown.contains(of_other), "{shown}");
    }
    let mut next = claude_code(&sandbox, &models[2]);
    finish(&sandbox, next.args(["-p", "Go on"]));
    let after = heard(&last(&models[2]));
    for text in [IMPORTER, REPORT] {
        assert_eq!(quotes(&after, text), 1, "{after:#?}");
    }
}

/// Points Codex to another model, because its configuration names the first one's.
fn told(model: &ModelServer) -> String {
    format!("model_providers.told.base_url=\"{}/v1\"", model.address())
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn two_waiting_sessions_of_one_client_are_distinct() {
    let sandbox = project();
    let models = [(); 2].map(|()| ModelServer::start([(); 2].map(|()| Turn::says("Yes."))));
    let mut one = claude_code(&sandbox, &models[0]);
    let mut one = Talk::start(&mut one);
    one.say(IMPORTER);
    let mut other = Talk::start(&mut claude_code(&sandbox, &models[1]));
    other.say(REPORT);
    // The first session is not done and is still running.
    let told = heard(&last(&models[1]));
    assert_eq!(times(&told, "Also running: Claude Code session "), 1, "{told:#?}");
    assert_eq!(times(&told, IMPORTER), 0, "{told:#?}");
    one.say("And on");
    one.end();
    assert_eq!(known(&sandbox)[REPORT].0, json!(true));
    other.say("And on");
    other.end();
    let done = known(&sandbox);
    for text in [IMPORTER, REPORT] {
        assert_eq!(done[text], (json!(false), "whole".to_owned()), "{done:?}");
    }
    let did = did(&sandbox);
    assert!(!did.iter().any(|one| one.contains("recovered")), "{did:?}");
}
