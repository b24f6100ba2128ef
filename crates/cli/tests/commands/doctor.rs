//! Tests of `doctor`: what is installed, what fired, what it costs, and the simulated session.

use super::client::BOTH;
use super::hook::{CALLER, call};
use super::shop;
use crate::sandbox;
use midstride_testkit::{Run, Sandbox};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{File, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

const LOG: &str = ".git/midstride/hooks.log";

/// The folder that is the whole PATH of a sandbox.
fn programs(sandbox: &Sandbox) -> PathBuf {
    let folder = sandbox.home().join("bin");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Puts a program there that only prints a text.
fn program(sandbox: &Sandbox, name: &str, says: &str) {
    let path = programs(sandbox).join(name);
    std::fs::write(&path, format!("#!/bin/sh\necho '{says}'\n")).unwrap();
    std::fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
}

/// A project with this program and both clients on the PATH.
fn with_clients() -> Sandbox {
    let sandbox = shop();
    symlink(env!("CARGO_BIN_EXE_midstride"), programs(&sandbox).join("midstride")).unwrap();
    program(&sandbox, "claude", "2.1.197 (Claude Code)");
    program(&sandbox, "codex", "codex-cli 0.166.0");
    sandbox
}

fn installed(more: &[&str]) -> Sandbox {
    let sandbox = with_clients();
    let arguments = [&["client", "add"], &BOTH[..], &["--yes"], more].concat();
    sandbox.finish(command(&sandbox).args(arguments)).exits(0);
    sandbox
}

/// The program with its own PATH, and a generous timeout for busy machines.
fn command(sandbox: &Sandbox) -> Command {
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    command.env("PATH", programs(sandbox)).env("MIDSTRIDE_HOOK_MILLISECONDS", "60000");
    command
}

pub(super) fn doctor(sandbox: &Sandbox, more: &[&str]) -> Run {
    sandbox.finish(command(sandbox).arg("doctor").args(more))
}

/// The client part of the report, without times and sizes.
fn about_clients(run: &Run) -> String {
    let (clients, _) = run.stdout.split_once("Project\n").unwrap();
    let text = format!("exit {:?}\n{clients}-----\n{}", run.code.unwrap(), problems(run));
    text.lines().map(|line| format!("{}\n", steady(line))).collect()
}

/// The problems in the report. Asserts that standard error is empty.
pub(super) fn problems(run: &Run) -> &str {
    assert_eq!(run.stderr, "", "{run}");
    run.stdout.find("Problems\n").map_or("", |at| &run.stdout[at..])
}

/// A line with collapsed columns.
fn steady(line: &str) -> String {
    let indent = line.len() - line.trim_start().len();
    let cells = line.trim().split("  ").map(str::trim).filter(|cell| !cell.is_empty());
    let cells: Vec<String> = cells.map(without_measures).collect();
    format!("{}{}", &line[..indent], cells.join("  "))
}

fn without_measures(cell: &str) -> String {
    let cell = cell.replace(" (too slow for a session)", "");
    let words: Vec<&str> = cell.split(' ').collect();
    let is_unit =
        |word: &str| ["ms", "KB", "MB", "bytes"].contains(&word.trim_end_matches([',', ')']));
    let is_measured = |at: usize| {
        let number = words[at].bytes().all(|byte| byte.is_ascii_digit());
        number && words.get(at + 1).is_some_and(|next| is_unit(next))
    };
    let shown = |at: usize| if is_measured(at) { "[N]" } else { words[at] };
    (0..words.len()).map(shown).collect::<Vec<_>>().join(" ")
}

/// Runs a hook of the installed program.
fn hook(sandbox: &Sandbox, event: &str, more: Value) {
    let file = sandbox.home().join("call.json");
    std::fs::write(&file, call(sandbox, event, CALLER, more)).unwrap();
    let mut command = command(sandbox);
    command.args(["hook", "claude-code"]).stdin(File::open(&file).unwrap());
    sandbox.finish(&mut command).exits(0);
}

fn json_of(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run}"))
}

/// Every file in a folder, with its content.
fn everything(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            everything(&path, found);
        } else {
            found.insert(path.clone(), std::fs::read(&path).unwrap());
        }
    }
}

#[test]
fn a_session_costs_what_the_pages_say() {
    let sandbox = shop();
    let run = sandbox.run(["doctor", "--no-simulation", "--json"]);
    let cost = &serde_json::from_str::<serde_json::Value>(&run.stdout).unwrap()["cost"];
    // The README, the questions and the comparison name these limits.
    assert!(cost["tools_tokens"].as_u64().unwrap() < 2_000, "{cost}");
    assert!(cost["tool_names_tokens"].as_u64().unwrap() < 400, "{cost}");
}

#[test]
fn the_simulation_runs_without_an_installation() {
    let sandbox = sandbox().repository();
    insta::assert_snapshot!(about_clients(&doctor(&sandbox, &[])), @"
    exit 1
    1 problem (see below)

    midstride
      program  not on the PATH
      idle  no process, no daemon; [N] bytes on disk
      session  nothing to brief now; 288 tokens for the names of tools and skills
      tools  1,881 tokens for the list of MCP tools: in each session of Codex, on first use in Claude Code and Qwen Code
    Claude Code
      program  not found
    Codex
      program  not found
    Qwen Code
      program  not found
    Simulation: this program, called as a client calls it, in a temporary folder
          CLIENT  STEP  TIME  RESULT
      ok  Claude Code  start  [N] ms  briefed 102 tokens, with the planted handoff
      ok  Claude Code  before compaction  [N] ms  captured; asks for a summary that keeps the user's correction
      ok  Claude Code  start over  [N] ms  briefed 179 tokens, with the handoff and the correction
      ok  Claude Code  after compaction  [N] ms  compared the summary
      ok  Claude Code  end  [N] ms  the whole session was captured
      ok  Claude Code  next session  [N] ms  briefed 213 tokens, with the previous session's briefing
      ok  Codex  start  [N] ms  briefed 102 tokens, with the planted handoff
      ok  Codex  before compaction  [N] ms  captured
      ok  Codex  after compaction  [N] ms  recorded
      ok  Codex  start over  [N] ms  briefed 179 tokens, with the handoff and the correction
      ok  Codex  end  [N] ms  the whole session was captured
      ok  Codex  next session  [N] ms  briefed 211 tokens, with the previous session's briefing
      ok  Qwen Code  start  [N] ms  briefed 102 tokens, with the planted handoff
      ok  Qwen Code  before compaction  [N] ms  captured
      ok  Qwen Code  after compaction  [N] ms  recorded
      ok  Qwen Code  start over  [N] ms  briefed 179 tokens, with the handoff and the correction
      ok  Qwen Code  end  [N] ms  the whole session was captured
      ok  Qwen Code  next session  [N] ms  briefed 212 tokens, with the previous session's briefing
      ok  all  MCP server  [N] ms  offers 13 tools
    -----
    Problems
      - no client found on this machine
        hint: install Claude Code, Codex or Qwen Code and start it once, then run `midstride setup`; if its home folder is in another location, set CLAUDE_CONFIG_DIR, CODEX_HOME or QWEN_HOME
    ");
    let sandbox = with_clients();
    insta::assert_snapshot!(about_clients(&doctor(&sandbox, &["--no-simulation"])), @"
    exit 1
    1 problem (see below)

    midstride
      program  [HOME]/bin/midstride, this version
      idle  no process, no daemon; [N] bytes on disk (other [N] bytes)
      session  a 340-token briefing now; 288 tokens for the names of tools and skills
      tools  1,881 tokens for the list of MCP tools: in each session of Claude Code and Codex
    Claude Code
      program  2.1.197 (Claude Code), [HOME]/bin/claude
      user  nothing installed. Next: midstride client add claude-code
    Codex
      program  codex-cli 0.166.0, [HOME]/bin/codex
      user  nothing installed. Next: midstride client add codex
    Qwen Code
      program  not found
    -----
    Problems
      - midstride is not installed in any client
        hint: run `midstride setup`
    ");
}

#[test]
fn installed_hooks_that_never_fired_are_shown_with_their_trust() {
    let sandbox = installed(&[]);
    let run = doctor(&sandbox, &["--no-simulation"]);
    let aligned =
        "  HOOK              IN    TRUST    FIRED\n  SessionStart      user  not yet  never\n";
    assert!(run.stdout.contains(aligned), "{run}");
    insta::assert_snapshot!(about_clients(&run), @"
    exit 1
    1 problem (see below)

    midstride
      program  [HOME]/bin/midstride, this version
      idle  no process, no daemon; [N] bytes on disk (other [N] bytes)
      session  a 340-token briefing now; 288 tokens for the names of tools and skills
      tools  1,881 tokens for the list of MCP tools: in each session of Claude Code and Codex
    Claude Code
      program  2.1.197 (Claude Code), [HOME]/bin/claude
      user  10 of 10 hooks, the MCP server, 2 of 2 skills
      saving  asks you each time; headless sessions cannot save. Next: midstride client add claude-code --allow save
      HOOK  IN  FIRED
      SessionStart  user  never
      UserPromptSubmit  user  never
      PreCompact  user  never
      PostCompact  user  never
      SessionEnd  user  never
      SubagentStart  user  never
      SubagentStop  user  never
      TaskCreated  user  never
      TaskCompleted  user  never
      Stop  user  never
      No hooks have fired in this project yet. Start a session here, then run this again.
    Codex
      program  codex-cli 0.166.0, [HOME]/bin/codex
      user  7 of 7 hooks, the MCP server, 2 of 2 skills
      saving  asks you each time; headless sessions cannot save. Next: midstride client add codex --allow save
      HOOK  IN  TRUST  FIRED
      SessionStart  user  not yet  never
      UserPromptSubmit  user  not yet  never
      PreCompact  user  not yet  never
      PostCompact  user  not yet  never
      Stop  user  not yet  never
      SessionEnd  user  not yet  never
      Interrupt  user  not yet  never
      No hooks have fired in this project yet. Start a session here, then run this again.
    Qwen Code
      program  not found
    -----
    Problems
      - Codex does not trust these hooks yet and skips them: SessionStart, UserPromptSubmit, PreCompact, PostCompact, Stop, SessionEnd, Interrupt
        hint: start `codex` and answer its question, or run `midstride client add codex --trust-hooks`
    ");
    let sandbox = installed(&["--trust-hooks"]);
    let value = json_of(&doctor(&sandbox, &["--json"]).exits(0));
    let hooks = value["clients"][1]["hooks"].as_array().unwrap();
    assert_eq!(hooks.len(), 7, "{value:#}");
    assert!(hooks.iter().all(|hook| hook["trust"] == "trusted" && hook["fired"].is_null()));
    assert_eq!(value["problems"], json!([]), "{value:#}");
    let steps = value["simulation"].as_array().unwrap();
    assert!(steps.len() == 13 && steps.iter().all(|step| step["ok"] == true), "{value:#}");
}

#[test]
fn fired_hooks_are_shown_with_time_and_output() {
    let sandbox = installed(&["--trust-hooks"]);
    hook(&sandbox, "SessionStart", json!({"source": "startup"}));
    hook(&sandbox, "SessionStart", json!({"source": "startup", "prompt_id": "the next turn"}));
    hook(&sandbox, "UserPromptSubmit", json!({"prompt": "Thank you!"}));
    hook(&sandbox, "SessionEnd", json!({"reason": "other"}));
    insta::assert_snapshot!(about_clients(&doctor(&sandbox, &[])), @"
    exit 0
    No problems.

    midstride
      program  [HOME]/bin/midstride, this version
      idle  no process, no daemon; [N] KB on disk (ledger [N] KB, index [N] KB, log [N] bytes, other [N] KB)
      session  a 340-token briefing now; 288 tokens for the names of tools and skills
      tools  1,881 tokens for the list of MCP tools: in each session of Claude Code and Codex
    Claude Code
      program  2.1.197 (Claude Code), [HOME]/bin/claude
      user  10 of 10 hooks, the MCP server, 2 of 2 skills
      saving  asks you each time; headless sessions cannot save. Next: midstride client add claude-code --allow save
      HOOK  IN  FIRED  LAST  MEDIAN  WORST  TOKENS  ALL  DID
      SessionStart  user  2  2026-03-21 17:24  [N] ms  [N] ms  340  680  briefed
      UserPromptSubmit  user  1  2026-03-21 17:24  [N] ms  [N] ms  0  0  found no transcript yet
      PreCompact  user  never
      PostCompact  user  never
      SessionEnd  user  1  2026-03-21 17:24  [N] ms  [N] ms  0  0  found no transcript yet
      SubagentStart  user  never
      SubagentStop  user  never
      TaskCreated  user  never
      TaskCompleted  user  never
      Stop  user  never
    Codex
      program  codex-cli 0.166.0, [HOME]/bin/codex
      user  7 of 7 hooks, the MCP server, 2 of 2 skills
      saving  asks you each time; headless sessions cannot save. Next: midstride client add codex --allow save
      HOOK  IN  TRUST  FIRED
      SessionStart  user  trusted  never
      UserPromptSubmit  user  trusted  never
      PreCompact  user  trusted  never
      PostCompact  user  trusted  never
      Stop  user  trusted  never
      SessionEnd  user  trusted  never
      Interrupt  user  trusted  never
      No hooks have fired in this project yet. Start a session here, then run this again.
    Qwen Code
      program  not found
    Simulation: this program, called as a client calls it, in a temporary folder
          CLIENT  STEP  TIME  RESULT
      ok  Claude Code  start  [N] ms  briefed 102 tokens, with the planted handoff
      ok  Claude Code  before compaction  [N] ms  captured; asks for a summary that keeps the user's correction
      ok  Claude Code  start over  [N] ms  briefed 179 tokens, with the handoff and the correction
      ok  Claude Code  after compaction  [N] ms  compared the summary
      ok  Claude Code  end  [N] ms  the whole session was captured
      ok  Claude Code  next session  [N] ms  briefed 213 tokens, with the previous session's briefing
      ok  Codex  start  [N] ms  briefed 102 tokens, with the planted handoff
      ok  Codex  before compaction  [N] ms  captured
      ok  Codex  after compaction  [N] ms  recorded
      ok  Codex  start over  [N] ms  briefed 179 tokens, with the handoff and the correction
      ok  Codex  end  [N] ms  the whole session was captured
      ok  Codex  next session  [N] ms  briefed 211 tokens, with the previous session's briefing
      ok  all  MCP server  [N] ms  offers 13 tools
    -----
    ");
    let value = json_of(&doctor(&sandbox, &["--json", "--no-simulation"]).exits(0));
    let start = &value["clients"][0]["hooks"][0];
    assert_eq!(
        (&start["event"], &start["installed_in"]),
        (&json!("SessionStart"), &json!(["user"]))
    );
    assert_eq!(start["fired"]["count"], 2, "{start:#}");
    let tokens = |name: &str| start["fired"][name].as_u64().unwrap();
    assert_eq!(tokens("tokens_total"), 2 * tokens("tokens_last"), "{start:#}");
    assert!(tokens("tokens_last") > 100, "{start:#}");
    assert!(value["simulation"].is_null(), "{value:#}");
    assert_eq!(value["cost"]["briefing_tokens"], tokens("tokens_last"), "{value:#}");
}

/// The problems that the doctor finds, as one text.
fn found(sandbox: &Sandbox) -> String {
    json_of(&doctor(sandbox, &["--json", "--no-simulation"]))["problems"].to_string()
}

#[test]
fn clients_with_disabled_hooks_are_reported() {
    let sandbox = installed(&["--trust-hooks"]);
    assert!(!found(&sandbox).contains("runs no hooks"), "{}", found(&sandbox));
    sandbox.write(".claude/settings.local.json", r#"{"disableAllHooks": true}"#);
    let configuration = sandbox.home().join(".codex/config.toml");
    let text = std::fs::read_to_string(&configuration).unwrap();
    std::fs::write(&configuration, format!("{text}\n[features]\nhooks = false\n")).unwrap();
    let all = found(&sandbox);
    assert!(all.contains("Claude Code runs no hooks: `disableAllHooks` is set in "), "{all}");
    assert!(all.contains("Codex runs no hooks: `hooks = false` is set in "), "{all}");
    // The settings file closest to the project takes precedence.
    let settings = sandbox.home().join(".claude/settings.json");
    let user = std::fs::read_to_string(&settings).unwrap();
    std::fs::write(&settings, user.replacen('{', "{\"disableAllHooks\": true,", 1)).unwrap();
    sandbox.write(".claude/settings.local.json", r#"{"disableAllHooks": false}"#);
    assert!(!found(&sandbox).contains("Claude Code runs no hooks"), "{}", found(&sandbox));
}

#[test]
fn a_changed_hook_timeout_is_reported() {
    let sandbox = installed(&["--trust-hooks"]);
    let settings = sandbox.home().join(".claude/settings.json");
    let text = std::fs::read_to_string(&settings).unwrap();
    assert!(!found(&sandbox).contains("timeout"), "{}", found(&sandbox));
    std::fs::write(&settings, text.replacen("\"timeout\": 10", "\"timeout\": 1", 1)).unwrap();
    let all = found(&sandbox);
    assert!(all.contains("hook timeouts for Claude Code were changed: SessionStart 1 s"), "{all}");
}

#[test]
fn the_fix_for_a_changed_timeout_keeps_what_you_allowed() {
    let fix = |more: &[&str], file: &str| {
        let sandbox = installed(more);
        let path = sandbox.home().join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        let text = text.replacen("\"timeout\": 10", "\"timeout\": 1", 1);
        std::fs::write(&path, text.replacen("\"timeout\": 5", "\"timeout\": 1", 1)).unwrap();
        let told = doctor(&sandbox, &["--no-simulation"]).stdout;
        let (_, typed) = told.split_once("then `midstride client add ").expect("a hint");
        typed.split('`').next().unwrap().to_owned()
    };
    let claude = ".claude/settings.json";
    assert_eq!(fix(&["--allow", "save", "--trust-hooks"], claude), "claude-code --allow save");
    assert_eq!(fix(&["--allow", "read"], claude), "claude-code --allow read");
    assert_eq!(fix(&[], claude), "claude-code");
    let codex = fix(&["--allow", "save", "--trust-hooks"], ".codex/hooks.json");
    assert_eq!(codex, "codex --allow save --trust-hooks");
}

#[test]
fn sessions_without_hooks_are_reported() {
    let sandbox = installed(&["--trust-hooks"]);
    let line = json!({"at": "2026-03-21T17:00:00Z", "client": "claude-code", "event": "SessionStart",
        "session": CALLER, "milliseconds": 9, "tokens": 0, "did": "nothing", "error": null});
    sandbox.write(LOG, format!("{line}\n"));
    let ran = |id: &str, at: &str| {
        let record = json!({"type": "user", "uuid": "u1", "sessionId": id, "cwd": sandbox.root(),
            "timestamp": at, "message": {"role": "user", "content": "Look at the pages"}});
        super::session::put(&sandbox, id, &format!("{record}\n"));
    };
    let [before, with, without] =
        ["0", "1", "2"].map(|n| format!("5e55000{n}-4c00-7000-8000-00000000aaaa"));
    ran(&before, "2026-03-21T16:00:00Z");
    ran(&with, "2026-03-21T17:10:00Z");
    ran(&without, "2026-03-21T17:20:00Z");
    let more = line.to_string().replace(CALLER, &with);
    sandbox.write(LOG, format!("{line}\n{more}\n"));
    let all = found(&sandbox);
    let one = "1 session in Claude Code ran without hooks: [UID]\"";
    assert!(all.contains(one), "{all}");
    let last = line.to_string().replace(CALLER, &without);
    sandbox.write(LOG, format!("{line}\n{more}\n{last}\n"));
    assert!(!found(&sandbox).contains("without a hook"), "{}", found(&sandbox));
}

#[test]
fn the_save_permission_of_agents_is_shown() {
    let saving = |sandbox: &Sandbox| {
        let value = json_of(&doctor(sandbox, &["--json", "--no-simulation"]));
        ["0", "1"].map(|at| value.pointer(&format!("/clients/{at}/saving")).unwrap().clone())
    };
    assert_eq!(saving(&installed(&[])), ["asked", "asked"]);
    assert_eq!(saving(&installed(&["--allow", "read"])), ["asked", "asked"]);
    let sandbox = installed(&["--allow", "save"]);
    assert_eq!(saving(&sandbox), ["allowed", "allowed"]);
    let rules = r#"{"permissions": {"deny": ["mcp__midstride", "Bash(midstride:*)"]}}"#;
    sandbox.write(".claude/settings.json", rules);
    assert_eq!(saving(&sandbox), ["denied", "allowed"]);
    let told = doctor(&installed(&[]), &["--no-simulation"]).stdout;
    let next = "headless sessions cannot save. Next: midstride client add codex --allow save";
    assert!(told.contains(next), "{told}");
}

#[test]
fn every_problem_is_named_with_a_hint() {
    let sandbox = installed(&["--trust-hooks"]);
    // An older midstride did not have this hook.
    let settings = sandbox.home().join(".claude/settings.json");
    let mut value: Value =
        serde_json::from_str(&std::fs::read_to_string(&settings).unwrap()).unwrap();
    value["hooks"].as_object_mut().unwrap().remove("PostCompact");
    std::fs::write(&settings, value.to_string()).unwrap();
    // A hook was changed after it was trusted, and another one disabled.
    let hooks = sandbox.home().join(".codex/hooks.json");
    let text = std::fs::read_to_string(&hooks).unwrap();
    std::fs::write(&hooks, text.replacen("\"timeout\": 5", "\"timeout\": 50", 1)).unwrap();
    let configuration = sandbox.home().join(".codex/config.toml");
    let text = std::fs::read_to_string(&configuration).unwrap();
    let (before, after) = text.split_once(":stop:0:0\"]\n").unwrap();
    std::fs::write(&configuration, format!("{before}:stop:0:0\"]\nenabled = false\n{after}"))
        .unwrap();
    let line = |minute: u8, error: Value| {
        json!({"at": format!("2026-03-21T17:{minute}:00Z"), "client": "claude-code",
            "event": "SessionStart", "session": CALLER, "milliseconds": 290, "tokens": 0,
            "did": "nothing", "error": error})
    };
    let late = "ran out of time";
    let log = [line(10, json!(late)), json!({}), line(20, json!("the disk is full"))];
    sandbox.write(LOG, log.map(|line| format!("{line}\n")).concat() + "\u{1b}[31mnot JSON\n{\"at");
    std::fs::remove_file(programs(&sandbox).join("midstride")).unwrap();
    insta::assert_snapshot!(about_clients(&doctor(&sandbox, &["--no-simulation"])), @"
    exit 1
    6 problems (see below)

    midstride
      program  not on the PATH
      idle  no process, no daemon; [N] bytes on disk (log [N] bytes, other [N] bytes)
      session  a 340-token briefing now; 288 tokens for the names of tools and skills
      tools  1,881 tokens for the list of MCP tools: in each session of Claude Code and Codex
      log  skipped 2 lines that could not be read
    Claude Code
      program  2.1.197 (Claude Code), [HOME]/bin/claude
      user  9 of 10 hooks, the MCP server, 2 of 2 skills
      saving  asks you each time; headless sessions cannot save. Next: midstride client add claude-code --allow save
      HOOK  IN  FIRED  LAST  MEDIAN  WORST  TOKENS  ALL  DID
      SessionStart  user  2  2026-03-21 17:20  [N] ms  [N] ms  0  0  FAILED: the disk is full
      UserPromptSubmit  user  never
      PreCompact  user  never
      PostCompact  missing  never
      SessionEnd  user  never
      SubagentStart  user  never
      SubagentStop  user  never
      TaskCreated  user  never
      TaskCompleted  user  never
      Stop  user  never
    Codex
      program  codex-cli 0.166.0, [HOME]/bin/codex
      user  7 of 7 hooks, the MCP server, 2 of 2 skills
      saving  asks you each time; headless sessions cannot save. Next: midstride client add codex --allow save
      HOOK  IN  TRUST  FIRED
      SessionStart  user  changed  never
      UserPromptSubmit  user  trusted  never
      PreCompact  user  trusted  never
      PostCompact  user  trusted  never
      Stop  user  off  never
      SessionEnd  user  trusted  never
      Interrupt  user  trusted  never
      No hooks have fired in this project yet. Start a session here, then run this again.
    Qwen Code
      program  not found
    -----
    Problems
      - Claude Code is missing PostCompact
        hint: `midstride client add claude-code` adds what is missing
      - the last SessionStart call by Claude Code failed: the disk is full
        hint: the session itself continued; `midstride session recover` captures what was missed, and `hooks.log` next to the ledger shows when it happened
      - Codex trusted an earlier version of these hooks and skips the current one: SessionStart
        hint: start `codex` and answer its question, or run `midstride client add codex --trust-hooks`
      - Codex is configured to skip these hooks: Stop
        hint: `enabled = false` is set for them in Codex's settings; remove it to enable them
      - hook timeouts for Codex were changed: SessionStart 50 s
        hint: to reset them, run `midstride client remove codex`, then `midstride client add codex --trust-hooks`
      - `midstride` is not on the PATH, so clients will not find it
        hint: `cargo install --locked --path crates/cli` installs it in cargo's `bin` folder, which must be on your clients' PATH
    ");
    program(&sandbox, "midstride", "midstride 0.0.1");
    sandbox.write(LOG, log_lines(&[line(10, json!(late)), line(20, Value::Null)]));
    let run = doctor(&sandbox, &["--no-simulation"]).exits(1);
    let shown = about_clients(&run);
    assert!(shown.contains("[HOME]/bin/midstride, midstride 0.0.1"), "{run}");
    assert!(
        shown.contains("clients will start `[HOME]/bin/midstride`, which is `midstride 0.0.1`"),
        "{run}"
    );
    assert!(shown.contains("nothing; 1 failed, last 2026-03-21 17:10: ran out of time"), "{run}");
    assert!(!problems(&run).contains(late), "what went well since is no problem: {run}");
    // A call that cannot be parsed, and one of a hook that is not midstride's.
    let mut unread = line(30, json!("the call is not JSON"));
    unread["event"] = json!("");
    let mut other = line(30, Value::Null);
    other["event"] = json!("Notification");
    sandbox.write(LOG, log_lines(&[unread, other]));
    let shown = about_clients(&doctor(&sandbox, &["--no-simulation"]).exits(1));
    assert!(shown.contains("  (not understood)  -  1  2026-03-21 17:30"), "{shown}");
    assert!(shown.contains("  Notification  -  1  2026-03-21 17:30"), "{shown}");
    assert!(shown.contains("the last (not understood) call by Claude Code failed"), "{shown}");
}

fn log_lines(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_failed_simulation_names_the_step_and_a_hint() {
    let sandbox = with_clients();
    let run = sandbox.finish(command(&sandbox).arg("doctor").env("TMPDIR", "/nowhere")).exits(1);
    assert!(run.stdout.contains("FAILED  Claude Code  folder"), "{run}");
    assert!(run.stdout.contains("the simulation failed at `folder` for Codex: "), "{run}");
    assert!(run.stdout.contains("(TMPDIR) is writable"), "{run}");
    let mut late = command(&sandbox);
    late.arg("doctor").env("MIDSTRIDE_HOOK_MILLISECONDS", "0");
    let run = sandbox.finish(&mut late).exits(1);
    assert!(run.stdout.contains("the simulation failed at `start` for Claude Code: "), "{run}");
    assert!(!run.stdout.contains("before compaction"), "the rest builds on it: {run}");
}

#[test]
fn disabled_hooks_are_reported_first() {
    let sandbox = installed(&["--trust-hooks"]);
    let first = |run: &Run| run.stdout.lines().next().unwrap().to_owned();
    let mut off = command(&sandbox);
    off.args(["doctor", "--no-simulation"]).env("MIDSTRIDE", "off");
    let run = sandbox.finish(&mut off).exits(0);
    insta::assert_snapshot!(first(&run), @"Hooks are off: MIDSTRIDE=off is set in this environment. Unset it to turn them on.");
    sandbox.run(["off"]).exits(0);
    // The simulation still runs, so that it is known to work when hooks are switched on.
    let run = doctor(&sandbox, &[]).exits(0);
    insta::assert_snapshot!(about_clients(&run), @"
    exit 0
    Hooks are off in this project. Turn them on with `midstride on`.
    No other problems.

    midstride
      program  [HOME]/bin/midstride, this version
      idle  no process, no daemon; [N] bytes on disk (other [N] bytes)
      session  no briefing here; 288 tokens for the names of tools and skills
      tools  1,881 tokens for the list of MCP tools: in each session of Claude Code and Codex
    Claude Code
      program  2.1.197 (Claude Code), [HOME]/bin/claude
      user  10 of 10 hooks, the MCP server, 2 of 2 skills
      saving  asks you each time; headless sessions cannot save. Next: midstride client add claude-code --allow save
      HOOK  IN  FIRED
      SessionStart  user  never
      UserPromptSubmit  user  never
      PreCompact  user  never
      PostCompact  user  never
      SessionEnd  user  never
      SubagentStart  user  never
      SubagentStop  user  never
      TaskCreated  user  never
      TaskCompleted  user  never
      Stop  user  never
    Codex
      program  codex-cli 0.166.0, [HOME]/bin/codex
      user  7 of 7 hooks, the MCP server, 2 of 2 skills
      saving  asks you each time; headless sessions cannot save. Next: midstride client add codex --allow save
      HOOK  IN  TRUST  FIRED
      SessionStart  user  trusted  never
      UserPromptSubmit  user  trusted  never
      PreCompact  user  trusted  never
      PostCompact  user  trusted  never
      Stop  user  trusted  never
      SessionEnd  user  trusted  never
      Interrupt  user  trusted  never
    Qwen Code
      program  not found
    Simulation: this program, called as a client calls it, in a temporary folder
          CLIENT  STEP  TIME  RESULT
      ok  Claude Code  start  [N] ms  briefed 102 tokens, with the planted handoff
      ok  Claude Code  before compaction  [N] ms  captured; asks for a summary that keeps the user's correction
      ok  Claude Code  start over  [N] ms  briefed 179 tokens, with the handoff and the correction
      ok  Claude Code  after compaction  [N] ms  compared the summary
      ok  Claude Code  end  [N] ms  the whole session was captured
      ok  Claude Code  next session  [N] ms  briefed 213 tokens, with the previous session's briefing
      ok  Codex  start  [N] ms  briefed 102 tokens, with the planted handoff
      ok  Codex  before compaction  [N] ms  captured
      ok  Codex  after compaction  [N] ms  recorded
      ok  Codex  start over  [N] ms  briefed 179 tokens, with the handoff and the correction
      ok  Codex  end  [N] ms  the whole session was captured
      ok  Codex  next session  [N] ms  briefed 211 tokens, with the previous session's briefing
      ok  all  MCP server  [N] ms  offers 13 tools
    -----
    ");
    assert_eq!(json_of(&doctor(&sandbox, &["--json"]))["switched_off"], "project");
    sandbox.run(["on"]).exits(0);
    assert_eq!(first(&doctor(&sandbox, &[])), "No problems.");
}

#[test]
fn no_user_files_are_written() {
    let sandbox = installed(&["--trust-hooks"]);
    hook(&sandbox, "SessionStart", json!({"source": "startup"}));
    let look = || {
        let mut found = BTreeMap::new();
        // Temporary files are in the home of a sandbox as well.
        everything(sandbox.home(), &mut found);
        everything(&sandbox.root().join(".midstride"), &mut found);
        found.insert(PathBuf::from("log"), sandbox.read(LOG).into_bytes());
        found
    };
    let before = look();
    let mut inside = command(&sandbox);
    let state = sandbox.home().join("state");
    inside.arg("doctor").env("CLAUDECODE", "1").env("XDG_STATE_HOME", &state);
    sandbox.finish(&mut inside);
    doctor(&sandbox, &[]).exits(0);
    assert!(!state.exists());
    assert_eq!(look(), before);
}

#[test]
fn untrusted_handoffs_are_reported() {
    let sandbox = sandbox().repository();
    sandbox.write(".midstride/config.toml", "");
    sandbox.write(".midstride/handoffs/theirs.md", "---\nhandoff:\n  id: theirs\n---\n");
    let run = doctor(&sandbox, &["--no-simulation"]).exits(1);
    insta::assert_snapshot!(problems(&run), @"
    Problems
      - no client found on this machine
        hint: install Claude Code, Codex or Qwen Code and start it once, then run `midstride setup`; if its home folder is in another location, set CLAUDE_CONFIG_DIR, CODEX_HOME or QWEN_HOME
      - this project is not trusted, so sessions are not briefed from its handoffs
        hint: run `midstride trust` to review and allow it
    ");
}

#[test]
fn a_broken_configuration_is_one_of_the_problems() {
    let sandbox = installed(&["--trust-hooks"]);
    sandbox.write(".midstride/config.toml", "# mine\nshelves = [\n[hooks]\n");
    sandbox.run(["list"]).exits(2);
    let run = doctor(&sandbox, &["--no-simulation", "--reindex"]).exits(1);
    assert!(run.stdout.contains("10 of 10 hooks"), "the rest is told all the same: {run}");
    assert!(run.stdout.contains("no briefing here"), "{run}");
    insta::assert_snapshot!(problems(&run), @"
    Problems
      - cannot parse `[ROOT]/.midstride/config.toml`: TOML parse error at line 3, column 8
          |
        3 | [hooks]
          |        ^
        unclosed array, expected `]`
        hint: fix the file: until then, hooks and most commands fail here; to see a valid file, run `midstride init` in an empty folder
    ");
    insta::assert_snapshot!(sandbox.run(["off"]), @"
    exit 0
    ----- stderr -----
    Hooks are off here; `midstride on` turns them back on.
    ");
    let first = doctor(&sandbox, &["--no-simulation"]).stdout;
    assert!(first.starts_with("Hooks are off in this project"), "{first}");
    sandbox.run(["client", "list"]).exits(0);
}

#[test]
fn obstacles_to_installing_are_named_before_the_command() {
    let sandbox = with_clients();
    std::fs::create_dir(sandbox.home().join(".claude")).unwrap();
    let settings = sandbox.home().join(".claude/settings.json");
    std::fs::write(&settings, "{\"hooks\": []}").unwrap();
    std::fs::remove_file(programs(&sandbox).join("codex")).unwrap();
    let run = doctor(&sandbox, &["--no-simulation"]).exits(1);
    insta::assert_snapshot!(problems(&run), @"
    Problems
      - `hooks` in `[HOME]/.claude/settings.json` is a list, but must be an object
        hint: correct or remove `hooks`, then run `midstride client add claude-code`
      - midstride is not installed in any client
        hint: fix the problems above, then run `midstride setup`
    ");
}

#[test]
fn an_unparsed_call_is_cleared_by_the_next_success() {
    let sandbox = installed(&["--trust-hooks"]);
    let line = |minute: u8, event: &str, error: Value| {
        json!({"at": format!("2026-03-21T17:{minute}:00Z"), "client": "claude-code",
            "event": event, "session": CALLER, "milliseconds": 9, "tokens": 0,
            "did": "nothing", "error": error})
    };
    let unread = line(20, "", json!("the call is not JSON"));
    sandbox.write(LOG, log_lines(&[line(10, "Stop", Value::Null), unread.clone()]));
    let run = doctor(&sandbox, &["--no-simulation"]).exits(1);
    assert!(run.stdout.contains("the last (not understood) call by Claude Code"), "{run}");
    sandbox.write(LOG, log_lines(&[unread, line(30, "Stop", Value::Null)]));
    doctor(&sandbox, &["--no-simulation"]).exits(0);
    // A later success of another hook does not clear a failed one.
    let failed = line(20, "SessionEnd", json!("the disk is full"));
    sandbox.write(LOG, log_lines(&[failed, line(30, "Stop", Value::Null)]));
    doctor(&sandbox, &["--no-simulation"]).exits(1);
}

#[test]
fn two_scopes_of_one_client_are_distinguished() {
    let sandbox = installed(&["--trust-hooks"]);
    let both = [&["client", "add"], &BOTH[..], &["--yes", "--json", "--project"]].concat();
    let run = sandbox.finish(command(&sandbox).args(&both)).exits(0);
    insta::assert_snapshot!(run.stderr.lines().take(2).collect::<Vec<_>>().join("\n"), @"
    warning: midstride is installed both for you and in this project, so Codex runs every hook twice
    hint: keep one: `midstride client remove codex` removes yours; `midstride client remove codex --project` removes the project's
    ");
    let run = doctor(&sandbox, &["--no-simulation"]).exits(1);
    insta::assert_snapshot!(problems(&run), @"
    Problems
      - Codex does not trust these project hooks yet and skips them: SessionStart, UserPromptSubmit, PreCompact, PostCompact, Stop, SessionEnd, Interrupt
        hint: start `codex` and answer its question, or run `midstride client add codex --trust-hooks --project`
      - midstride is installed both for you and in this project, so Codex runs every hook twice
        hint: keep one: `midstride client remove codex` removes yours; `midstride client remove codex --project` removes the project's
    ");
    sandbox.finish(command(&sandbox).args(["client", "remove", "codex", "--yes"])).exits(0);
    let run = doctor(&sandbox, &["--no-simulation"]).exits(1);
    assert!(!problems(&run).contains("twice"), "{run}");
}

#[test]
fn doctor_writes_nothing_not_even_an_index() {
    let sandbox = installed(&["--trust-hooks"]);
    let look = || {
        let mut found = BTreeMap::new();
        everything(&sandbox.root().join(".git"), &mut found);
        found
    };
    let before = look();
    let value = json_of(&doctor(&sandbox, &["--json", "--no-simulation"]).exits(0));
    assert_eq!(look(), before);
    assert_eq!(value["cost"]["bytes"]["index"], 0, "{value:#}");
    sandbox.run(["search", "market"]).exits(0);
    let value = json_of(&doctor(&sandbox, &["--json", "--no-simulation"]).exits(0));
    assert_eq!(value["cost"]["bytes"]["index"], value["index"]["bytes"], "{value:#}");
}

#[test]
fn the_fix_for_a_duplicate_of_the_plugin_names_its_scope() {
    let sandbox = with_clients();
    std::fs::create_dir(sandbox.home().join(".claude")).unwrap();
    let settings = sandbox.home().join(".claude/settings.json");
    std::fs::write(&settings, r#"{"enabledPlugins": {"midstride@here": true}}"#).unwrap();
    let add = ["client", "add", "claude-code", "--project", "--yes"];
    sandbox.finish(command(&sandbox).args(add)).exits(0);
    let run = doctor(&sandbox, &["--no-simulation"]).exits(1);
    assert!(problems(&run).contains("or `midstride client remove claude-code --project`"), "{run}");
}

#[test]
fn an_unknown_key_is_named_with_its_file() {
    let sandbox = with_clients();
    sandbox.write(".midstride/config.toml", "notify = true\n");
    let run = doctor(&sandbox, &["--no-simulation"]).exits(1);
    let told = problems(&run);
    assert!(told.contains("remove `notify` from `[ROOT]/.midstride/config.toml`"), "{told}");
    assert!(!told.contains("midstride trust"), "{told}");
}

#[test]
fn an_old_git_is_a_problem() {
    let sandbox = installed(&[]);
    let message = "git 2.39.4 is older than 2.39.5, the oldest supported version";
    for (version, is_old) in [("2.39.4", true), ("2.39.5", false), ("2.47.3 (Apple)", false)] {
        program(&sandbox, "git", &format!("git version {version}"));
        let report = doctor(&sandbox, &["--no-simulation"]).stdout;
        assert_eq!(report.contains(message), is_old, "{version}: {report}");
        assert_eq!(report.contains("hint: update git"), is_old, "{version}: {report}");
    }
}
