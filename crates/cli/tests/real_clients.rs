//! Tests with the real clients, working in a project with midstride, on a scripted model.

mod agents;
mod chain;
mod compaction;
mod doctor;
mod forks;
mod gate;
mod hooks;
mod installed;
mod mission;
mod parallel;
mod places;
mod qwen_code;
mod resume;
mod talk;
mod trouble;

use crate::sandbox;
use midstride_testkit::{ModelServer, Sandbox, Turn, json_items, real_client};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

fn project() -> Sandbox {
    let sandbox = sandbox();
    sandbox.finish(sandbox.command("git").args(["init", "-q"])).exits(0);
    sandbox.write("a.txt", "one\n");
    sandbox.finish(sandbox.command("git").args(["add", "."])).exits(0);
    sandbox.finish(sandbox.command("git").args(["commit", "-q", "-m", "one"])).exits(0);
    sandbox.as_user().run(["init"]).exits(0);
    sandbox
}

fn start(command: &mut Command) -> Child {
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the client starts")
}

/// Kills a client in mid-turn.
fn kill(mut child: Child) {
    child.kill().expect("it runs");
    child.wait().expect("it was started here");
}

/// The only transcript in a folder.
fn transcript(folder: PathBuf) -> String {
    let mut folders = vec![folder];
    let mut found = None;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "jsonl") {
                assert!(found.replace(path).is_none(), "there is one transcript");
            }
        }
    }
    std::fs::read_to_string(found.expect("the client wrote a transcript")).unwrap()
}

/// The transcript of a Claude Code session.
fn transcript_of(sandbox: &Sandbox, id: &str) -> String {
    let folders = std::fs::read_dir(sandbox.home().join(".claude/projects")).unwrap();
    let files = folders.map(|folder| folder.unwrap().path().join(format!("{id}.jsonl")));
    std::fs::read_to_string(files.into_iter().find(|file| file.exists()).unwrap()).unwrap()
}

/// What the only session did, after it was recovered.
fn recovered(sandbox: &Sandbox) -> Value {
    sandbox.run(["session", "recover"]).exits(0);
    let list = sandbox
        .command(env!("CARGO_BIN_EXE_midstride"))
        .args(["session", "list", "--json"])
        .output()
        .unwrap();
    let list: Value = json_items(&list.stdout);
    assert_eq!(list.as_array().unwrap().len(), 1, "{list:#}");
    assert_eq!(list[0]["captured"], "whole", "{list:#}");
    let id = list[0]["session"].as_str().unwrap();
    let shown = sandbox.run(["session", "show", id, "--json"]).exits(0);
    serde_json::from_str(&shown.stdout).unwrap()
}

/// Each command with its outcome.
fn commands(session: &Value) -> Vec<(&str, &str)> {
    let items = session["session"]["commands"]["items"].as_array().unwrap();
    items.iter().map(|one| (one["text"].as_str().unwrap(), one["exit"].as_str().unwrap())).collect()
}

/// Kills a client while it waits for its model, and compares what is recovered with the transcript.
fn killed_in_its_turn(
    sandbox: &Sandbox,
    model: &ModelServer,
    client: &mut Command,
    transcripts: &str,
) {
    let child = start(client);
    model.wait_for_requests(3);
    // A running session is left alone.
    let at_work = sandbox.run(["session", "recover"]).exits(0);
    assert!(at_work.stderr.contains("1 session still running"), "{at_work}");
    kill(child);
    let written = transcript(sandbox.home().join(transcripts));
    let session = recovered(sandbox);
    assert_eq!(session["session"]["counts"]["seen"], written.matches('\n').count(), "{session:#}");
    assert_eq!(session["session"]["counts"]["skipped"], json!({}), "{session:#}");
    let asked = &session["session"]["requests"]["items"][0]["text"];
    assert_eq!(asked, "Bring b.txt up to date");
    // A client may ask its model before it has recorded what it asks about. Only what the
    // transcript has about a call counts: once for the call, more for its end.
    let mut told = Vec::new();
    let ran = [
        ("echo two > b.txt", "passed", "00000001_0"),
        ("echo no >&2; exit 3", "failed", "00000002_0"),
    ];
    for (command, end, id) in ran {
        match written.matches(id).count() {
            0 => {}
            1 => told.push((command, "running")),
            _ => told.push((command, end)),
        }
    }
    assert!(!told.is_empty(), "{written}");
    assert_eq!(commands(&session), told, "{session:#}");
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn a_killed_claude_code_session_is_recovered() {
    let sandbox = project();
    let model = ModelServer::start([
        Turn::says("First the file.").and_calls("Bash", json!({"command": "echo two > b.txt"})),
        Turn::calls("Bash", json!({"command": "echo no >&2; exit 3"})),
        Turn::hangs(),
    ]);
    let mut client = real_client::claude_code(&sandbox, &model);
    client.args(["-p", "Bring b.txt up to date", "--dangerously-skip-permissions"]);
    killed_in_its_turn(&sandbox, &model, &mut client, ".claude/projects");
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn a_killed_codex_session_is_recovered() {
    let sandbox = project();
    let model = ModelServer::start([
        Turn::says("First the file.").and_calls("exec_command", json!({"cmd": "echo two > b.txt"})),
        Turn::calls("exec_command", json!({"cmd": "echo no >&2; exit 3"})),
        Turn::hangs(),
    ]);
    let mut client = real_client::codex(&sandbox, &model);
    client.args(["exec", "--json", "-s", "workspace-write", "Bring b.txt up to date"]);
    killed_in_its_turn(&sandbox, &model, &mut client, ".codex/sessions");
}
