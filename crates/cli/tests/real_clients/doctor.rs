//! Tests that the doctor reports which hooks fired, and their output, after sessions of real
//! clients.

use super::hooks::handoff;
use super::project;
use midstride_testkit::{ModelServer, Sandbox, Turn, real_client};
use serde_json::Value;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

/// A PATH with this program. Hooks get a generous timeout, for busy machines.
fn path(sandbox: &Sandbox) -> OsString {
    let folder = sandbox.home().join("bin");
    let program = folder.join("midstride");
    let ours = env!("CARGO_BIN_EXE_midstride");
    let text = format!("#!/bin/sh\nMIDSTRIDE_HOOK_MILLISECONDS=60000 exec '{ours}' \"$@\"\n");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(&program, text).unwrap();
    std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let usual = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths([folder].into_iter().chain(std::env::split_paths(&usual))).unwrap()
}

/// What the doctor says about the hooks of a client after a session.
fn fired(sandbox: &Sandbox, client: &str, session: &mut Command) -> Vec<(String, Value)> {
    let path = path(sandbox);
    let run = |command: &mut Command| sandbox.finish(command.env("PATH", &path));
    let midstride = || sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    let arguments = ["client", "add", client, "--yes"];
    let trust = if client == "codex" { &["--trust-hooks"][..] } else { &[] };
    run(midstride().args(arguments).args(trust)).exits(0);
    run(session).exits(0);
    let told =
        run(midstride().env("MIDSTRIDE_HOOK_MILLISECONDS", "60000").args(["doctor", "--json"]));
    let told = told.exits(0);
    let told: Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!(told["on_path_is_this_version"], true, "{told:#}");
    let clients = told["clients"].as_array().unwrap();
    let ours = clients.iter().find(|one| one["client"] == client).unwrap();
    let hooks = ours["hooks"].as_array().unwrap().iter();
    let fired = hooks.filter(|hook| hook["fired"].is_object());
    fired.map(|hook| (hook["event"].as_str().unwrap().to_owned(), hook["fired"].clone())).collect()
}

/// Asserts that the start of a session is briefed and its end captured.
fn starts_and_ends(fired: &[(String, Value)]) {
    let of = |event: &str| fired.iter().find(|(name, _)| name == event).map(|(_, fired)| fired);
    let start = of("SessionStart").unwrap_or_else(|| panic!("{fired:?}"));
    assert_eq!((&start["count"], &start["error"]), (&1.into(), &Value::Null), "{fired:?}");
    assert!(start["tokens_last"].as_u64().unwrap() > 50, "{fired:?}");
    let end = of("SessionEnd").unwrap_or_else(|| panic!("{fired:?}"));
    assert_eq!(end["did"], "captured", "{fired:?}");
    assert!(of("PreCompact").is_none(), "{fired:?}");
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn the_doctor_sees_the_hooks_of_claude_code_fire() {
    let sandbox = project();
    handoff(&sandbox);
    let model = ModelServer::start([Turn::says("I see.")]);
    let mut client = real_client::claude_code(&sandbox, &model);
    starts_and_ends(&fired(&sandbox, "claude-code", client.args(["-p", "Hello"])));
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn the_doctor_sees_the_hooks_of_codex_fire() {
    let sandbox = project();
    handoff(&sandbox);
    let model = ModelServer::start([Turn::says("I see.")]);
    let mut client = real_client::codex(&sandbox, &model);
    starts_and_ends(&fired(&sandbox, "codex", client.args(["exec", "--json", "Hello"])));
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn the_doctor_sees_the_hooks_of_qwen_code_fire() {
    let sandbox = project();
    handoff(&sandbox);
    let model = ModelServer::start([Turn::says("I see.")]);
    let mut client = real_client::qwen_code(&sandbox, &model);
    let fired = fired(&sandbox, "qwen-code", client.args(["-y", "Hello"]));
    let of = |event: &str| fired.iter().find(|(name, _)| name == event).map(|(_, fired)| fired);
    let start = of("SessionStart").unwrap_or_else(|| panic!("{fired:?}"));
    assert_eq!((&start["count"], &start["error"]), (&1.into(), &Value::Null), "{fired:?}");
    assert!(start["tokens_last"].as_u64().unwrap() > 50, "{fired:?}");
    let stop = of("Stop").unwrap_or_else(|| panic!("{fired:?}"));
    assert!(stop["did"].as_str().unwrap().contains("captured"), "{fired:?}");
    assert!(of("SessionEnd").is_none(), "{fired:?}");
}

/// The number of session starts that hooks reported with midstride installed for the user and in
/// the project, and whether the doctor reports duplicates.
fn starts_with_both(sandbox: &Sandbox, client: &str, session: &mut Command) -> (usize, bool) {
    let path = path(sandbox);
    let run = |command: &mut Command| sandbox.finish(command.env("PATH", &path));
    let midstride = || sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    for scope in ["--user", "--project"] {
        let trust = if client == "codex" { &["--trust-hooks"][..] } else { &[] };
        run(midstride().args(["client", "add", client, "--yes", scope]).args(trust)).exits(0);
    }
    run(session).exits(0);
    let log = sandbox.read(".git/midstride/hooks.log");
    let starts = log.lines().filter(|line| line.contains("\"SessionStart\"")).count();
    let doctor = run(midstride().args(["doctor", "--no-simulation"]));
    (starts, doctor.stdout.contains("runs every hook twice"))
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn claude_code_runs_a_hook_installed_twice_once() {
    let sandbox = project();
    let model = ModelServer::start([Turn::says("I see.")]);
    let mut client = real_client::claude_code(&sandbox, &model);
    let told = starts_with_both(&sandbox, "claude-code", client.args(["-p", "Hello"]));
    assert_eq!(told, (1, false));
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn qwen_code_runs_a_hook_installed_twice_once() {
    let sandbox = project();
    let model = ModelServer::start([Turn::says("I see.")]);
    let mut client = real_client::qwen_code(&sandbox, &model);
    let told = starts_with_both(&sandbox, "qwen-code", client.args(["-y", "Hello"]));
    assert_eq!(told, (1, false));
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn codex_runs_a_hook_installed_twice_twice() {
    let sandbox = project();
    let model = ModelServer::start([Turn::says("I see.")]);
    let mut client = real_client::codex(&sandbox, &model);
    let configuration = sandbox.home().join(".codex/config.toml");
    let text = std::fs::read_to_string(&configuration).unwrap_or_default();
    let root = sandbox.root().display();
    let trusted = format!("{text}\n[projects.\"{root}\"]\ntrust_level = \"trusted\"\n");
    std::fs::write(&configuration, trusted).unwrap();
    let told = starts_with_both(&sandbox, "codex", client.args(["exec", "--json", "Hello"]));
    assert_eq!(told, (2, true));
}
