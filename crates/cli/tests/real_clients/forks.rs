//! Tests of forked sessions, as the client writes them.

use super::{commands, project};
use midstride_testkit::{ModelServer, Sandbox, Turn, real_client};
use serde_json::{Value, json};

const FIRST: &str = "11111111-1111-4111-8111-111111111111";
const SECOND: &str = "22222222-2222-4222-8222-222222222222";
const THIRD: &str = "33333333-3333-4333-8333-333333333333";

/// Runs the client to its end.
fn run(sandbox: &Sandbox, model: &ModelServer, arguments: &[&str]) {
    let mut client = real_client::claude_code(sandbox, model);
    client.args(arguments).arg("--dangerously-skip-permissions");
    sandbox.finish(&mut client).exits(0);
}

/// The output of midstride, with ids unchanged.
fn raw(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    String::from_utf8(command.args(arguments).output().unwrap().stdout).unwrap()
}

fn shown(sandbox: &Sandbox, session: &str) -> Value {
    let shown = raw(sandbox, &["session", "show", session, "--json"]);
    serde_json::from_str::<Value>(&shown).unwrap()["session"].take()
}

fn ran(session: &Value) -> Vec<String> {
    let whole = json!({ "session": session });
    commands(&whole).into_iter().map(|(command, _)| command.to_owned()).collect()
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn a_claude_code_fork_has_only_its_own_work() {
    let sandbox = project();
    let model = ModelServer::start([
        Turn::calls("Bash", json!({"command": "echo two > b.txt"})),
        Turn::says("Done one."),
        Turn::calls("Bash", json!({"command": "echo three > c.txt"})),
        Turn::says("Done two."),
        Turn::calls("Bash", json!({"command": "echo four > d.txt"})),
        Turn::says("Done three."),
        Turn::calls("Bash", json!({"command": "echo five > e.txt"})),
        Turn::says("Done four."),
    ]);
    let run = |arguments: &[&str]| run(&sandbox, &model, arguments);
    run(&["-p", "First", "--session-id", FIRST]);
    run(&["-p", "Second", "--resume", FIRST, "--fork-session", "--session-id", SECOND]);
    run(&["-p", "Third", "--resume", SECOND, "--fork-session", "--session-id", THIRD]);
    run(&["-p", "First again", "--resume", FIRST]);
    sandbox.run(["session", "recover", "--all"]).exits(0);
    let [first, second, third] = [FIRST, SECOND, THIRD].map(|id| shown(&sandbox, id));
    assert_eq!(ran(&first), ["echo two > b.txt", "echo five > e.txt"]);
    assert_eq!(ran(&second), ["echo three > c.txt"]);
    assert_eq!(ran(&third), ["echo four > d.txt"]);
    assert_eq!(first["forked_from"], Value::Null);
    assert_eq!((&second["forked_from"], &third["forked_from"]), (&json!(FIRST), &json!(SECOND)));
    assert_eq!(third["forked_after"], second["last_words"]["seen"]["record"], "{second:#}");
    for (session, asked) in [(&second, "Second"), (&third, "Third")] {
        assert_eq!(session["requests"]["items"].as_array().unwrap().len(), 1);
        assert_eq!(session["requests"]["items"][0]["text"], asked);
        assert_eq!(session["counts"]["skipped"], json!({}));
    }
    let page = raw(&sandbox, &["session", "show", SECOND]);
    let after = second["forked_after"].as_str().unwrap();
    assert!(page.contains(&format!("forked from {FIRST} after record {after}")), "{page}");
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn a_fork_of_a_compacted_claude_code_session_has_only_its_own_work() {
    let sandbox = project();
    let model = ModelServer::start([
        Turn::calls("Bash", json!({"command": "echo two > b.txt"})),
        Turn::says("Done one."),
        Turn::calls("Bash", json!({"command": "echo three > c.txt"})),
        Turn::says("Done two."),
    ]);
    let run = |arguments: &[&str]| run(&sandbox, &model, arguments);
    run(&["-p", "First", "--session-id", FIRST]);
    run(&["-p", "/compact", "--resume", FIRST]);
    run(&["-p", "Second", "--resume", FIRST, "--fork-session", "--session-id", SECOND]);
    sandbox.run(["session", "recover", "--all"]).exits(0);
    let [first, second] = [FIRST, SECOND].map(|id| shown(&sandbox, id));
    assert_eq!(
        (ran(&first), ran(&second)),
        (vec!["echo two > b.txt".to_owned()], vec!["echo three > c.txt".to_owned()])
    );
    assert_eq!(second["forked_from"], FIRST);
    let compactions = |session: &Value| session["compactions"]["items"].as_array().unwrap().len();
    assert_eq!((compactions(&first), compactions(&second)), (1, 0));
}
