//! Tests of observing the working tree with git: commands and background processes run git, hooks
//! never do.

use super::hook::{CALLER, call};
use super::session::{ID, put, worked_in};
use midstride_testkit::{Sandbox, fixtures, json_items};
use serde_json::{Value, json};
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

/// While the session of [`worked_in`] runs.
const AT_WORK: &str = "2026-03-22T09:00:30Z";

/// Commits a file at a time.
fn commit(sandbox: &Sandbox, name: &str, at: &str) {
    sandbox.write(name, name).git(&["add", name]);
    let mut commit = sandbox.command("git");
    commit.args(["commit", "--quiet", "--message", name]).env("GIT_COMMITTER_DATE", at);
    sandbox.finish(&mut commit).exits(0);
}

/// The last observation; `None` if git never ran.
fn observed(sandbox: &Sandbox) -> Option<Value> {
    let folder = sandbox.root().join(".git/midstride/work-trees");
    let names = std::fs::read_dir(folder).ok()?.map(|entry| entry.unwrap().path());
    let file = names.into_iter().find(|path| path.extension().is_some_and(|one| one == "json"))?;
    let text = std::fs::read_to_string(file).ok()?;
    serde_json::from_str(text.lines().next()?).ok()
}

fn paths(state: &Value) -> Vec<&str> {
    let files = state["uncommitted"].as_array().unwrap();
    files.iter().map(|file| file["path"].as_str().unwrap()).collect()
}

fn shown(sandbox: &Sandbox) -> Value {
    let run = sandbox.run(["session", "show", ID, "--json"]).exits(0);
    serde_json::from_str(&run.stdout).unwrap()
}

/// A hook that may start the background process that runs git.
fn hook(sandbox: &Sandbox, event: &str, session: &str) -> Command {
    let file = sandbox.home().join("call.json");
    let more = json!({"source": "startup", "prompt": "market pages", "trigger": "auto"});
    std::fs::write(&file, call(sandbox, event, session, more)).unwrap();
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    command.args(["hook", "claude-code"]).stdin(File::open(&file).unwrap());
    command.env("MIDSTRIDE_HOOK_MILLISECONDS", "60000").env_remove("MIDSTRIDE_OBSERVE");
    command
}

/// Waits for the result of a background process.
fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        std::thread::yield_now();
    }
}

#[test]
fn a_checkpoint_has_commits_and_uncommitted_files() {
    let sandbox = worked_in();
    commit(&sandbox, "during.rs", AT_WORK);
    sandbox.git(&["commit", "--quiet", "--amend", "--message", "During, again"]);
    commit(&sandbox, "after.rs", "2026-03-22T12:00:00Z");
    sandbox.write("open.rs", "x");
    let checkpoint = shown(&sandbox);
    let commits = checkpoint["reflog"].as_array().unwrap();
    let told: Vec<_> = commits
        .iter()
        .map(|one| (one["subject"].as_str().unwrap(), one["state"].as_str().unwrap()))
        .collect();
    assert_eq!(told, [("during.rs", "replaced")], "the amend is from another day");
    let state = &checkpoint["work_tree"];
    assert!(paths(state).contains(&"open.rs") && !paths(state).contains(&"after.rs"), "{state}");
    assert_eq!((&state["branch"], &state["at"]), (&json!("main"), &json!("2026-03-21T17:24:00Z")));
    // Observing again adds nothing.
    sandbox.run(["session", "capture", "--session", ID]).exits(0);
    sandbox.write("another.rs", "x");
    let again = sandbox.run(["session", "capture", "--session", ID]).exits(0);
    assert!(again.stderr.contains("nothing new"), "{again}");
}

#[test]
fn commands_that_brief_or_capture_run_git() {
    let commands: [&[&str]; 5] = [
        &["brief"],
        &["session", "capture"],
        &["session", "show", ID],
        &["session", "recover"],
        &["save", "--summary", "Half done", "--accept", "a test"],
    ];
    for command in commands {
        let sandbox = worked_in();
        assert!(observed(&sandbox).is_none());
        sandbox.run(command.iter().copied());
        let found = observed(&sandbox).unwrap_or_else(|| panic!("{command:?}"));
        assert!(paths(&found["work_tree"]).contains(&"HANDOFF.md"), "{command:?}: {found}");
        assert!(!found.to_string().contains(".midstride"), "{command:?}: {found}");
    }
}

/// A `git` that leaves a marker file, before the real one on the PATH.
fn marking_git(sandbox: &Sandbox) -> (PathBuf, std::ffi::OsString) {
    let (folder, mark) = (sandbox.home().join("bin"), sandbox.home().join("git-was-started"));
    std::fs::create_dir_all(&folder).unwrap();
    let script = format!("#!/bin/sh\ntouch '{}'\nexec /usr/bin/env false\n", mark.display());
    std::fs::write(folder.join("git"), script).unwrap();
    std::fs::set_permissions(folder.join("git"), PermissionsExt::from_mode(0o755)).unwrap();
    let usual = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([folder].into_iter().chain(std::env::split_paths(&usual)));
    (mark, path.unwrap())
}

#[test]
fn no_hook_starts_git() {
    let sandbox = worked_in();
    commit(&sandbox, "during.rs", AT_WORK);
    sandbox.run(["session", "capture"]).exits(0);
    commit(&sandbox, "since.rs", AT_WORK);
    let (mark, path) = marking_git(&sandbox);
    let events = [
        "SessionStart",
        "UserPromptSubmit",
        "PreCompact",
        "PostCompact",
        "SubagentStart",
        "SubagentStop",
        "Stop",
        "SessionEnd",
    ];
    for event in events {
        for session in [ID, CALLER] {
            let mut hook = hook(&sandbox, event, session);
            hook.env("PATH", &path).env("MIDSTRIDE_OBSERVE", "off");
            sandbox.finish(&mut hook).exits(0);
            assert!(!mark.exists(), "{event}");
        }
    }
    // The marker works: the background process does run git.
    let mut alone = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    alone.args(["hook", "observe"]).env("PATH", &path).env_remove("MIDSTRIDE_OBSERVE");
    sandbox.finish(&mut alone).exits(0);
    assert!(mark.exists());
}

#[test]
fn a_background_process_runs_git_after_a_session_ends() {
    for event in ["SessionEnd", "PreCompact", "Stop"] {
        let sandbox = worked_in();
        sandbox.write("open.rs", "x");
        sandbox.finish(&mut hook(&sandbox, event, ID)).exits(0);
        until(|| observed(&sandbox).is_some());
        let found = observed(&sandbox).unwrap();
        assert!(paths(&found["work_tree"]).contains(&"open.rs"), "{event}: {found}");
        // It leaves no line in the log, because it is not a call of a client.
        let log = std::fs::read_to_string(sandbox.root().join(".git/midstride/hooks.log"));
        assert!(!log.unwrap().contains("observe"), "{event}");
    }
}

#[test]
fn a_hook_uses_an_observation_made_after_the_last_change() {
    // The session changes files at nine.
    for (at, is_taken) in [("2026-03-22T08:00:00Z", false), ("2026-03-22T10:00:00Z", true)] {
        let sandbox = worked_in();
        let mut observe = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
        observe.args(["hook", "observe"]).env_remove("MIDSTRIDE_OBSERVE").env("MIDSTRIDE_NOW", at);
        sandbox.finish(&mut observe).exits(0);
        assert_eq!(observed(&sandbox).unwrap()["work_tree"]["at"], at);
        let mut end = hook(&sandbox, "SessionEnd", ID);
        end.env("MIDSTRIDE_OBSERVE", "off").env("MIDSTRIDE_NOW", "2026-03-22T11:00:00Z");
        sandbox.finish(&mut end).exits(0);
        // Without the transcript, only what was captured is left.
        std::fs::remove_dir_all(sandbox.home().join(".claude/projects")).unwrap();
        assert_eq!(shown(&sandbox)["work_tree"].is_object(), is_taken, "{at}");
    }
}

#[test]
fn a_failing_git_is_logged() {
    let sandbox = worked_in();
    let (_, path) = marking_git(&sandbox);
    let mut alone = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    alone.args(["hook", "observe"]).env("PATH", &path).env_remove("MIDSTRIDE_OBSERVE");
    sandbox.finish(&mut alone).exits(0);
    let log = std::fs::read_to_string(sandbox.root().join(".git/midstride/hooks.log")).unwrap();
    let line: Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
    assert_eq!((&line["event"], &line["did"]), (&json!("observe"), &json!("nothing")), "{line}");
    // It is the first call, which finds the programs that git must not run.
    assert!(line["error"].as_str().unwrap().starts_with("git config --list"), "{line}");
    // A command works without it.
    let mut brief = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    sandbox.finish(brief.arg("brief").env("PATH", &path)).exits(0);
}

#[test]
fn a_git_program_in_the_repository_is_not_run() {
    let sandbox = worked_in();
    let mark = sandbox.home().join("git-was-started");
    sandbox.write("bin/git", format!("#!/bin/sh\ntouch '{}'\nexit 1\n", mark.display()));
    let program = sandbox.root().join("bin/git");
    std::fs::set_permissions(program, PermissionsExt::from_mode(0o755)).unwrap();
    let usual = std::env::var_os("PATH").unwrap_or_default();
    let ours = [sandbox.root().join("bin"), PathBuf::from("bin")];
    let path = std::env::join_paths(ours.into_iter().chain(std::env::split_paths(&usual)));
    let mut end = hook(&sandbox, "SessionEnd", ID);
    sandbox.finish(end.env("PATH", path.unwrap())).exits(0);
    until(|| observed(&sandbox).is_some());
    assert!(!mark.exists());
}

#[test]
fn the_first_hook_in_a_repository_imports_its_past_sessions() {
    let import = |prepare: &dyn Fn(&Sandbox)| {
        let sandbox = crate::sandbox().repository();
        let text = std::fs::read_to_string(fixtures("transcripts/claude-code").join("cache.jsonl"));
        let text = text.unwrap().replace("/home/dev/shop", &sandbox.root().display().to_string());
        put(&sandbox, ID, &text);
        prepare(&sandbox);
        sandbox.finish(&mut hook(&sandbox, "SessionStart", "another")).exits(0);
        sandbox
    };
    let is_captured = |sandbox: &Sandbox| {
        let list = sandbox.run(["session", "list", "--json"]).exits(0).stdout;
        json_items(&list).as_array().unwrap().iter().any(|one| one["captured"] == "whole")
    };
    let sandbox = import(&|_| ());
    until(|| is_captured(&sandbox));
    let off = import(&|sandbox| drop(sandbox.run(["off"]).exits(0)));
    assert!(!off.root().join(".git/midstride/ledger.db").exists());
}
