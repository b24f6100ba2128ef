//! Tests of `client`: what is written to client files, and that nothing else changes.

use super::allow::at_a_terminal;
use crate::sandbox;
use midstride_testkit::{Run, Sandbox, assert_page, fixtures, json_items, repository_root};
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

/// The mode and content, or link target, of every path.
type Tree = BTreeMap<PathBuf, (u32, Vec<u8>)>;

/// Everything in a folder, except midstride's own data.
fn tree(folder: &Path) -> Tree {
    let mut found = Tree::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(here) = folders.pop() {
        for entry in std::fs::read_dir(here).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let name = path.strip_prefix(folder).unwrap().to_owned();
            let metadata = path.symlink_metadata().unwrap();
            let mode = metadata.permissions().mode();
            if name.starts_with(".local") {
                continue;
            }
            let says = if metadata.is_symlink() {
                std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else if metadata.is_dir() {
                folders.push(path);
                Vec::new()
            } else {
                std::fs::read(&path).unwrap()
            };
            found.insert(name, (mode, says));
        }
    }
    found
}

/// A home with the files of a prepared configuration.
fn home_with(configuration: &str) -> Sandbox {
    let sandbox = sandbox();
    let from = fixtures("configs").join(configuration);
    for (path, (mode, says)) in tree(&from) {
        let target = sandbox.home().join(&path);
        if from.join(&path).is_dir() {
            std::fs::create_dir_all(&target).unwrap();
        } else {
            std::fs::create_dir_all(target.parent().unwrap()).unwrap();
            std::fs::write(&target, says).unwrap();
            std::fs::set_permissions(&target, std::fs::Permissions::from_mode(mode)).unwrap();
        }
    }
    sandbox
}

/// The configurations that cannot be changed.
const REFUSED: [&str; 2] = ["unreadable", "in-the-way"];

/// The configuration with entries and skills that have midstride's names and are not midstride's.
const OTHERS: &str = "others-of-our-name";

fn configurations() -> Vec<String> {
    let entries = std::fs::read_dir(fixtures("configs")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| !REFUSED.contains(&name.as_str())).collect();
    names.sort();
    names
}

pub(super) const BOTH: [&str; 2] = ["claude-code", "codex"];

/// Runs the program with itself on the PATH.
fn run<'a>(sandbox: &Sandbox, arguments: impl IntoIterator<Item = &'a str>) -> Run {
    let ours = Path::new(env!("CARGO_BIN_EXE_midstride")).parent().unwrap();
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    sandbox.finish(command.args(arguments).env("PATH", ours))
}

fn client(sandbox: &Sandbox, what: &str, more: &[&str]) -> Run {
    run(sandbox, [&["client", what][..], &BOTH, &["--yes"], more].concat())
}

/// The output of `client list`, without what is on the PATH.
fn listed(sandbox: &Sandbox) -> String {
    let text = run(sandbox, ["client", "list"]).exits(0).stdout;
    text.split("On the PATH").next().unwrap().to_owned()
}

fn list(sandbox: &Sandbox) -> Value {
    serde_json::from_str(&sandbox.run(["client", "list", "--json"]).exits(0).stdout).unwrap()
}

/// Which clients have a complete user installation.
fn complete(sandbox: &Sandbox) -> [bool; 2] {
    let list = list(sandbox);
    [0, 1].map(|index| list["items"][index]["scopes"][0]["complete"] == true)
}

/// Adds twice and removes twice, with `change` in between.
fn there_and_back(sandbox: &Sandbox, name: &str, more: &[&str], change: &dyn Fn(&Path)) {
    client(sandbox, "add", more).exits(0);
    let is_complete = name != OTHERS;
    assert_eq!(complete(sandbox), [is_complete; 2], "{name}: {:#}", list(sandbox));
    let again = client(sandbox, "add", &[]).exits(0);
    assert!(again.stderr.contains("No changes."), "{name}: {again}");
    change(sandbox.home());
    client(sandbox, "remove", &[]).exits(0);
    let again = client(sandbox, "remove", &[]).exits(0);
    assert!(again.stderr.contains("No changes."), "{name}: {again}");
}

#[test]
fn whatever_the_files_looked_like_they_look_like_it_again() {
    let names = configurations();
    assert!(names.len() >= 20, "{names:?}");
    let more = [&[][..], &["--allow", "save", "--trust-hooks"], &["--allow", "read"]];
    for (name, more) in names.iter().zip(more.into_iter().cycle()) {
        let sandbox = home_with(name);
        let before = tree(sandbox.home());
        there_and_back(&sandbox, name, more, &|_| ());
        assert_eq!(shown(&tree(sandbox.home())), shown(&before), "{name} {more:?}");
    }
}

/// Qwen Code's settings have the shape of Claude Code's, so the same files are hard to edit.
#[test]
fn the_settings_of_qwen_code_are_restored_byte_for_byte() {
    for name in configurations().into_iter().filter(|name| name != OTHERS) {
        let sandbox = sandbox();
        let folder = sandbox.home().join(".qwen");
        std::fs::create_dir_all(&folder).unwrap();
        let text = std::fs::read(fixtures("configs").join(&name).join(".claude/settings.json"));
        if let Ok(text) = text {
            std::fs::write(folder.join("settings.json"), text).unwrap();
        }
        let before = tree(sandbox.home());
        for allow in ["save", "read"] {
            sandbox.run(["client", "add", "qwen-code", "--yes", "--allow", allow]).exits(0);
        }
        let scope = &list(&sandbox)["items"][2]["scopes"][0];
        assert_eq!(scope["complete"], true, "{name}: {scope:#}");
        assert!(folder.join("skills/handoff/SKILL.md").exists());
        sandbox.run(["client", "remove", "qwen-code", "--yes"]).exits(0);
        assert_eq!(shown(&tree(sandbox.home())), shown(&before), "{name}");
    }
}

#[test]
fn a_smaller_choice_revokes_earlier_grants() {
    let saving = "mcp__midstride__save";
    let texts = |sandbox: &Sandbox| -> String {
        let text = |(_, says): &(u32, Vec<u8>)| String::from_utf8_lossy(says).into_owned();
        tree(sandbox.home()).values().map(text).collect()
    };
    for name in configurations().into_iter().filter(|name| name != OTHERS) {
        let sandbox = home_with(&name);
        let before = tree(sandbox.home());
        client(&sandbox, "add", &["--allow", "none"]).exits(0);
        let none = tree(sandbox.home());
        client(&sandbox, "add", &["--allow", "read"]).exits(0);
        let read = tree(sandbox.home());
        client(&sandbox, "add", &["--allow", "save"]).exits(0);
        assert!(texts(&sandbox).contains(saving), "{name}");
        // Without an explicit choice, nothing changes.
        client(&sandbox, "add", &[]).exits(0);
        assert!(texts(&sandbox).contains(saving), "{name}");
        client(&sandbox, "add", &["--allow", "read"]).exits(0);
        assert_eq!(shown(&tree(sandbox.home())), shown(&read), "{name}");
        client(&sandbox, "add", &["--allow", "save"]).exits(0);
        client(&sandbox, "add", &["--allow", "none"]).exits(0);
        assert_eq!(shown(&tree(sandbox.home())), shown(&none), "{name}");
        client(&sandbox, "remove", &[]).exits(0);
        assert_eq!(shown(&tree(sandbox.home())), shown(&before), "{name}");
    }
}

#[test]
fn a_permission_is_removed_from_a_changed_entry() {
    let sandbox = sandbox();
    let add = |more: &[&str]| sandbox.run([&["client", "add", "codex", "--yes"], more].concat());
    add(&["--allow", "save"]).exits(0);
    let path = sandbox.home().join(".codex/config.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("args =", "env = { A = \"b\" }\nargs =")).unwrap();
    let taken_back = add(&["--allow", "none"]).exits(0);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains("approval_mode"), "{text}");
    assert!(taken_back.stderr.contains("mcp_servers.midstride"), "{taken_back}");
}

/// A readable form for failures.
fn shown(tree: &Tree) -> BTreeMap<&PathBuf, (u32, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    tree.iter().map(|(path, (mode, says))| (path, (*mode, text(says)))).collect()
}

/// Changes the model in every file that has one, as a user would.
fn other_model(home: &Path) {
    for path in tree(home).into_keys() {
        let path = home.join(path);
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        if text.contains("sonnet") {
            std::fs::write(&path, text.replace("sonnet", "opus")).unwrap();
        }
    }
}

#[test]
fn user_edits_stay_when_midstride_is_removed() {
    let mut edited = 0;
    for name in configurations() {
        let sandbox = home_with(&name);
        let unchanged = tree(sandbox.home());
        other_model(sandbox.home());
        let expected = tree(sandbox.home());
        if expected == unchanged {
            continue;
        }
        edited += 1;
        let sandbox = home_with(&name);
        let more = ["--allow", "save", "--trust-hooks"];
        there_and_back(&sandbox, &name, &more, &other_model);
        let mut after = tree(sandbox.home());
        // Removing a table may also have to restore a missing line break before it.
        for (path, (_, says)) in &mut after {
            let before = &expected[path].1;
            if path.ends_with("config.toml") && !before.ends_with(b"\n") && says.ends_with(b"\n") {
                says.pop();
            }
        }
        assert_eq!(shown(&after), shown(&expected), "{name}");
    }
    assert!(edited >= 10, "{edited} configurations were edited");
}

#[test]
fn hooks_added_after_ours_stay() {
    let sandbox = home_with("empty-objects");
    client(&sandbox, "add", &[]).exits(0);
    let settings = sandbox.home().join(".claude/settings.json");
    let text = std::fs::read_to_string(&settings).unwrap();
    let theirs = "    \"Stop\": [\n      // mine\n      { \"hooks\": [{ \"type\": \"command\", \"command\": \"theirs\" }] },";
    let text = text.replace("    \"Stop\": [", theirs);
    let text = text.replacen("\"timeout\": 10", "\"timeout\": 60", 1);
    std::fs::write(&settings, text.replace("\n  }\n}", "\n  },\n  \"model\": \"opus\"\n}"))
        .unwrap();
    insta::assert_snapshot!(listed(&sandbox), @"
    Claude Code
      found: [HOME]/.claude
      for the user: installed
        ignored by the client because of comments or trailing commas: [HOME]/.claude/settings.json
        edited since installation: [HOME]/.claude/settings.json
      for the project: not installed
    Codex
      found: [HOME]/.codex
      for the user: installed
        hooks trusted by Codex: 0 of 7
      for the project: not installed
    Qwen Code
      not found: [HOME]/.qwen
      for the user: not installed
      for the project: not installed
    ");
    client(&sandbox, "remove", &[]).exits(0);
    insta::assert_snapshot!(std::fs::read_to_string(settings).unwrap(), @r#"
    {
      "hooks": {
        "Stop": [
          // mine
          { "hooks": [{ "type": "command", "command": "theirs" }] }
        ]
      },
      "model": "opus"
    }
    "#);
}

#[test]
fn unreadable_files_stay_unchanged() {
    for name in REFUSED {
        let sandbox = home_with(name);
        let before = tree(sandbox.home());
        for client in BOTH {
            let run = sandbox.run(["client", "add", client, "--yes"]).exits(2);
            assert!(run.stderr.contains("nothing was changed"), "{run}");
        }
        assert_eq!(shown(&tree(sandbox.home())), shown(&before), "{name}");
    }
    insta::assert_snapshot!(home_with("unreadable").run(["client", "add", "claude-code"]), @"
    exit 2
    ----- stderr -----
    error: `[HOME]/.claude/settings.json` cannot be read: Unexpected close brace on line 5 column 3
    hint: fix the file, then try again; nothing was changed
    ");
    insta::assert_snapshot!(home_with("unreadable").run(["client", "add", "codex"]), @"
    exit 2
    ----- stderr -----
    error: `[HOME]/.codex/config.toml` cannot be read: TOML parse error at line 2, column 13
      |
    2 | [mcp_servers
      |             ^
    unclosed table, expected `]`
    hint: fix the file, then try again; nothing was changed
    ");
    insta::assert_snapshot!(home_with("in-the-way").run(["client", "add", "claude-code"]), @"
    exit 2
    ----- stderr -----
    error: `hooks` in `[HOME]/.claude/settings.json` is a string, but must be an object
    hint: change or remove it, then try again; nothing was changed
    ");
    insta::assert_snapshot!(listed(&home_with("unreadable")), @"
    Claude Code
      found: [HOME]/.claude
      for the user: not installed
        `[HOME]/.claude/settings.json` cannot be read: Unexpected close brace on line 5 column 3
      for the project: not installed
    Codex
      found: [HOME]/.codex
      for the user: not installed
        `[HOME]/.codex/config.toml` cannot be read: TOML parse error at line 2, column 13
      for the project: not installed
    Qwen Code
      not found: [HOME]/.qwen
      for the user: not installed
      for the project: not installed
    ");
}

#[test]
fn a_file_that_the_client_ignores_is_named() {
    let sandbox = home_with("comments");
    let run = client(&sandbox, "add", &["--json"]).exits(0);
    let left = "warning: `[HOME]/.claude/settings.json` has comments or trailing commas";
    assert!(run.stderr.starts_with(left), "{run}");
    assert!(listed(&sandbox).contains("ignored by the client"), "{}", listed(&sandbox));
    // A byte order mark breaks only one of them.
    let sandbox = home_with("byte-order-mark");
    std::fs::write(sandbox.home().join(".codex/hooks.json"), "\u{feff}{}").unwrap();
    client(&sandbox, "add", &[]).exits(0);
    let left_out = |index: usize, file: usize| {
        list(&sandbox)["items"][index]["scopes"][0]["files"][file]["left_out"].clone()
    };
    assert_eq!((left_out(0, 0), left_out(1, 0)), (false.into(), true.into()));
}

#[test]
fn a_read_only_file_aborts_the_installation() {
    let sandbox = home_with("existing-hooks");
    let configuration = sandbox.home().join(".codex/config.toml");
    std::fs::set_permissions(&configuration, std::fs::Permissions::from_mode(0o444)).unwrap();
    let before = tree(sandbox.home());
    insta::assert_snapshot!(sandbox.run(["client", "add", "codex", "--yes", "--json"]).stderr, @"
    error: `[HOME]/.codex/config.toml` is read-only
    hint: make it writable with `chmod u+w`, then try again
    ");
    assert_eq!(shown(&tree(sandbox.home())), shown(&before));
    assert_eq!(list(&sandbox)["items"][1]["scopes"][0]["receipt"], false);
}

#[test]
fn a_symlink_stays_and_its_target_keeps_its_mode() {
    let sandbox = home_with("comments");
    let home = sandbox.home();
    let elsewhere = sandbox.root().join("dotfiles");
    std::fs::create_dir_all(&elsewhere).unwrap();
    let target = elsewhere.join("claude.json");
    std::fs::rename(home.join(".claude/settings.json"), &target).unwrap();
    std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&target, home.join(".claude/settings.json")).unwrap();
    let (before, there) = (tree(home), tree(&elsewhere));
    client(&sandbox, "add", &[]).exits(0);
    let link = home.join(".claude/settings.json");
    assert_eq!(std::fs::read_link(&link).unwrap(), target);
    assert!(std::fs::read_to_string(&target).unwrap().contains("midstride hook claude-code"));
    assert_eq!(std::fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
    client(&sandbox, "remove", &[]).exits(0);
    assert_eq!((tree(home), tree(&elsewhere)), (before, there));
}

#[test]
fn a_dangling_symlink_leads_to_the_new_file() {
    let sandbox = sandbox();
    let target = sandbox.root().join("settings.json");
    std::fs::create_dir(sandbox.home().join(".claude")).unwrap();
    symlink("../../project/settings.json", sandbox.home().join(".claude/settings.json")).unwrap();
    let before = tree(sandbox.home());
    client(&sandbox, "add", &[]).exits(0);
    assert!(std::fs::read_to_string(&target).unwrap().contains("midstride hook claude-code"));
    client(&sandbox, "remove", &[]).exits(0);
    assert!(!target.exists());
    assert_eq!(shown(&tree(sandbox.home())), shown(&before));
}

#[test]
fn installing_next_to_the_plugin_is_reported() {
    let sandbox = sandbox();
    std::fs::create_dir(sandbox.home().join(".claude")).unwrap();
    let settings = sandbox.home().join(".claude/settings.json");
    std::fs::write(&settings, r#"{"enabledPlugins": {"midstride@here": true}}"#).unwrap();
    let run = client(&sandbox, "add", &["--json"]).exits(0);
    assert!(run.stderr.contains("the midstride plugin is also enabled in"), "{run}");
    std::fs::write(&settings, r#"{"enabledPlugins": {"midstride@here": false}}"#).unwrap();
    let run = client(&sandbox, "add", &["--json"]).exits(0);
    assert!(!run.stderr.contains("the midstride plugin"), "{run}");
}

#[test]
fn a_very_large_file_is_handled() {
    let sandbox = home_with("empty-objects");
    let line = "    \"/home/ann/p\": { \"history\": [\"x\", \"y\"] },\n";
    let large =
        format!("{{\n  \"projects\": {{\n{}    \"last\": {{}}\n  }}\n}}\n", line.repeat(20_000));
    std::fs::write(sandbox.home().join(".claude.json"), large).unwrap();
    let before = tree(sandbox.home());
    there_and_back(&sandbox, "large", &[], &|_| ());
    assert!(tree(sandbox.home()) == before);
}

#[test]
fn user_files_stay_private_and_secrets_are_not_stored() {
    let sandbox = sandbox();
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let state = format!("{{\n  \"token\": \"{token}\"\n}}\n");
    std::fs::write(sandbox.home().join(".claude.json"), &state).unwrap();
    let run = client(&sandbox, "add", &[]).exits(0);
    assert!(!run.stderr.contains(&token) && run.stderr.contains("REDACTED-github-token"), "{run}");
    let mode = |path: &str| {
        let file = std::fs::metadata(sandbox.home().join(path)).unwrap();
        file.permissions().mode() & 0o777
    };
    assert_eq!(mode(".claude/settings.json"), 0o600);
    assert_eq!(mode(".local/state/midstride/clients/claude-code-user.json"), 0o600);
    let receipts = sandbox.home().join(".local/state/midstride/clients");
    let kept = tree(&receipts);
    assert!(kept.values().all(|(_, says)| !String::from_utf8_lossy(says).contains(&token)));
    assert!(kept.len() >= 2, "{kept:?}");
    // The client itself writes the file all the time.
    let file = sandbox.home().join(".claude.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("{\n  \"token\"", "{\n  \"numStartups\": 2,\n  \"token\""))
        .unwrap();
    client(&sandbox, "remove", &[]).exits(0);
    let left = std::fs::read_to_string(&file).unwrap();
    assert_eq!(left, state.replace("{\n", "{\n  \"numStartups\": 2,\n"));
}

#[test]
fn an_older_installation_is_updated_and_a_lost_record_does_no_harm() {
    let sandbox = home_with("comments");
    let before = tree(sandbox.home());
    client(&sandbox, "add", &[]).exits(0);
    let complete = tree(sandbox.home());
    // As an older version could have left it: another timeout, and an event that is no longer used.
    let receipt = sandbox.home().join(".local/state/midstride/clients/claude-code-user.json");
    let settings = sandbox.home().join(".claude/settings.json");
    for file in [&receipt, &settings] {
        let text = std::fs::read_to_string(file).unwrap();
        let text = text.replace("\"timeout\": 10", "\"timeout\": 11");
        std::fs::write(file, text.replace("TaskCreated", "TaskBegun")).unwrap();
    }
    client(&sandbox, "add", &[]).exits(0);
    let text = std::fs::read_to_string(&settings).unwrap();
    assert!(text.contains("TaskCreated") && !text.contains("TaskBegun"), "{text}");
    assert!(text.contains("\"timeout\": 10") && !text.contains("\"timeout\": 11"), "{text}");
    assert_eq!(shown(&tree(sandbox.home())), shown(&complete));
    std::fs::remove_file(&receipt).unwrap();
    client(&sandbox, "remove", &[]).exits(0);
    let left = tree(sandbox.home());
    assert_eq!(
        left[Path::new(".claude/settings.json")],
        before[Path::new(".claude/settings.json")]
    );
    assert!(!left.contains_key(Path::new(".claude/skills/handoff")));
    // A damaged installation record is not guessed at.
    client(&sandbox, "add", &[]).exits(0);
    std::fs::write(&receipt, "{").unwrap();
    insta::assert_snapshot!(sandbox.run(["client", "remove", "claude-code", "--yes"]), @"
    exit 2
    ----- stderr -----
    error: the install record `[HOME]/.local/state/midstride/clients/claude-code-user.json` cannot be read
    hint: move it out of the way, then try again: without it, midstride treats matching entries as its own
    ");
}

#[test]
fn a_foreign_skill_stays() {
    let sandbox = home_with(OTHERS);
    insta::assert_snapshot!(client(&sandbox, "add", &["--json"]).exits(0).stderr, @"
    warning: `mcpServers.midstride` in `[HOME]/.claude.json` is not midstride's, so it is kept
    hint: rename or remove it to install midstride's
    warning: `[HOME]/.claude/skills/handoff/SKILL.md` is your own skill, so midstride's is not installed
    hint: rename yours and run this again to get both
    warning: `mcp_servers.midstride` in `[HOME]/.codex/config.toml` is not midstride's, so it is kept
    hint: rename or remove it to install midstride's
    Claude Code: installed, except `mcpServers.midstride`, `handoff`, because you have your own. Restart running sessions to pick this up.
    Codex: installed, except `mcp_servers.midstride`, because you have your own. Restart running sessions to pick this up.
    Codex will ask you once to trust 7 hooks and skips them until you do. `midstride client add codex --trust-hooks` answers for you.
    ");
    // A skill of midstride that was changed since stays too.
    let skill = sandbox.home().join(".agents/skills/continue/SKILL.md");
    std::fs::write(&skill, "mine now\n").unwrap();
    let run = client(&sandbox, "remove", &["--json"]).exits(0);
    assert!(
        run.stderr.contains("continue/SKILL.md` was edited since it was installed, so it is kept"),
        "{run}"
    );
    assert_eq!(std::fs::read_to_string(&skill).unwrap(), "mine now\n");
    assert!(!sandbox.home().join(".agents/skills/handoff").exists());
}

#[test]
fn foreign_entries_with_our_name_are_not_counted() {
    let sandbox = home_with(OTHERS);
    client(&sandbox, "add", &["--json"]).exits(0);
    let listed = listed(&sandbox);
    insta::assert_snapshot!(listed.split("Codex").next().unwrap(), @"
    Claude Code
      found: [HOME]/.claude
      for the user: incomplete
        `mcpServers.midstride` in `[HOME]/.claude.json` does not start midstride
        `[HOME]/.claude/skills/handoff/SKILL.md` is your own skill, or you changed it
      for the project: not installed
    ");
    let list = list(&sandbox);
    let scope = &list["items"][0]["scopes"][0];
    assert_eq!((&scope["installed"], &scope["complete"]), (&true.into(), &false.into()));
    let server = &scope["files"][1];
    assert_eq!(server["present"], serde_json::json!([]), "{server:#}");
    assert_eq!(server["others"], serde_json::json!(["mcpServers.midstride"]), "{server:#}");
    let doctor = run(&sandbox, ["doctor", "--no-simulation"]).exits(1).stdout;
    assert!(doctor.contains("10 of 10 hooks, no MCP server, 1 of 2 skills"), "{doctor}");
    let problems = doctor.split("Problems").nth(1).unwrap_or_default();
    insta::assert_snapshot!(problems, @"
    - `mcpServers.midstride` in `[HOME]/.claude.json` does not start midstride
      hint: move it out of the way, then run `midstride client add claude-code` to install midstride's
    - `mcp_servers.midstride` in `[HOME]/.codex/config.toml` does not start midstride
      hint: move it out of the way, then run `midstride client add codex` to install midstride's
    - Codex does not trust these hooks yet and skips them: SessionStart, UserPromptSubmit, PreCompact, PostCompact, Stop, SessionEnd, Interrupt
      hint: start `codex` and answer its question, or run `midstride client add codex --trust-hooks`
    - this project is not set up
      hint: run `midstride init` to set it up, or `midstride init --private` to commit nothing
    ");
}

#[test]
fn a_remaining_skill_is_named_and_not_counted() {
    let sandbox = sandbox();
    let skill = sandbox.home().join(".claude/skills/handoff/SKILL.md");
    std::fs::create_dir_all(skill.parent().unwrap()).unwrap();
    let mine = |when: &str| std::fs::write(&skill, format!("mine {when}\n")).unwrap();
    let remove = || run(&sandbox, ["client", "remove", "claude-code", "--yes", "--json"]).exits(0);
    let add = || run(&sandbox, ["client", "add", "claude-code", "--yes", "--json"]).exits(0);
    // Before midstride's entries, after them, and the second time.
    mine("before");
    add();
    insta::assert_snapshot!(remove().stderr, @"
    warning: kept `[HOME]/.claude/skills/handoff/SKILL.md`, which may not be midstride's
    hint: remove it yourself if you do not want it
    Done. Handoffs and checkpoints were not changed; running sessions keep their hooks until they end.
    ");
    std::fs::remove_file(&skill).unwrap();
    add();
    mine("since");
    insta::assert_snapshot!(remove().stderr, @"
    warning: `[HOME]/.claude/skills/handoff/SKILL.md` was edited since it was installed, so it is kept
    hint: remove it yourself if you do not want it
    Done. Handoffs and checkpoints were not changed; running sessions keep their hooks until they end.
    ");
    insta::assert_snapshot!(remove().stderr, @"
    warning: kept `[HOME]/.claude/skills/handoff/SKILL.md`, which may not be midstride's
    hint: remove it yourself if you do not want it
    Done. Handoffs and checkpoints were not changed; running sessions keep their hooks until they end.
    ");
    assert_eq!(list(&sandbox)["items"][0]["scopes"][0]["installed"], false);
    insta::assert_snapshot!(listed(&sandbox).split("Codex").next().unwrap(), @"
    Claude Code
      found: [HOME]/.claude
      for the user: not installed
        `[HOME]/.claude/skills/handoff/SKILL.md` is your own skill, or you changed it
      for the project: not installed
    ");
    let doctor = run(&sandbox, ["doctor", "--no-simulation"]).stdout;
    assert!(!doctor.contains("lacks") && doctor.contains("nothing installed"), "{doctor}");
}

#[test]
fn a_matching_skill_alone_is_not_an_installation() {
    let sandbox = sandbox();
    run(&sandbox, ["client", "add", "claude-code", "--yes"]).exits(0);
    let skill = sandbox.home().join(".claude/skills/handoff/SKILL.md");
    let text = std::fs::read(&skill).unwrap();
    run(&sandbox, ["client", "remove", "claude-code", "--yes"]).exits(0);
    std::fs::create_dir_all(skill.parent().unwrap()).unwrap();
    std::fs::write(&skill, text).unwrap();
    let removed = run(&sandbox, ["client", "remove", "claude-code", "--yes"]).exits(0);
    assert!(
        removed.stderr.contains("handoff/SKILL.md`, which may not be midstride's"),
        "{removed}"
    );
    assert_eq!(list(&sandbox)["items"][0]["scopes"][0]["installed"], false);
}

#[test]
fn a_project_installation_works_for_everyone() {
    let sandbox = sandbox().repository();
    sandbox.write("README.md", "# shop\n");
    let before = tree(sandbox.root());
    let run = client(&sandbox, "add", &["--project", "--json"]).exits(0);
    let plans = json_items(&run.stdout);
    let changes =
        plans.as_array().unwrap().iter().flat_map(|plan| plan["changes"].as_array().unwrap());
    let files: Vec<&str> = changes.map(|change| change["path"].as_str().unwrap()).collect();
    insta::assert_snapshot!(files.join("\n"), @"
    [ROOT]/.claude/settings.json
    [ROOT]/.mcp.json
    [ROOT]/.claude/skills/handoff/SKILL.md
    [ROOT]/.claude/skills/continue/SKILL.md
    [ROOT]/.codex/hooks.json
    [ROOT]/.codex/config.toml
    [ROOT]/.agents/skills/handoff/SKILL.md
    [ROOT]/.agents/skills/continue/SKILL.md
    ");
    insta::assert_snapshot!(run.stderr, @"
    Claude Code: installed. Restart running sessions to pick this up.
    Claude Code reads project hooks only when it is started in [ROOT]; hooks installed without `--project` run everywhere.
    Claude Code asks each user once whether to start the server.
    Codex: installed. Restart running sessions to pick this up.
    Codex will ask you once to trust 7 hooks and skips them until you do. `midstride client add codex --trust-hooks` answers for you.
    Codex reads project files only after you trust the project.
    ");
    assert!(!sandbox.home().join(".claude").exists() && !sandbox.home().join(".codex").exists());
    // Started in a subfolder, it is the same project.
    sandbox.write("src/a.txt", "");
    let below = sandbox.run(["-C", "src", "client", "list", "--json"]).exits(0);
    let below: Value = serde_json::from_str(&below.stdout).unwrap();
    assert_eq!(below["items"][0]["scopes"][1]["complete"], true, "{below:#}");
    assert_eq!(below["items"][0]["scopes"][0]["installed"], false, "{below:#}");
    std::fs::remove_dir_all(sandbox.root().join("src")).unwrap();
    client(&sandbox, "remove", &["--project"]).exits(0);
    assert_eq!(shown(&tree(sandbox.root())), shown(&before));
}

#[test]
fn changed_entries_stay_or_are_named() {
    let sandbox = sandbox().repository();
    client(&sandbox, "add", &["--project", "--json"]).exits(0);
    // One file is the user's own now, one entry was changed, one skill was deleted.
    sandbox.write(".claude/settings.json", "{}\n");
    let changed = sandbox.read(".mcp.json").replace("\"env\": {}", "\"env\": {\"A\": \"b\"}");
    sandbox.write(".mcp.json", changed);
    std::fs::remove_file(sandbox.root().join(".agents/skills/handoff/SKILL.md")).unwrap();
    sandbox.write(".codex/config.toml", "# mine\n");
    let run = client(&sandbox, "remove", &["--project", "--json"]).exits(0);
    insta::assert_snapshot!(run.stderr, @"
    warning: `mcpServers.midstride` in `[ROOT]/.mcp.json` was edited since it was installed; removing it also removes the edit
    hint: look at the diff and copy what you want to keep
    Done. Handoffs and checkpoints were not changed; running sessions keep their hooks until they end.
    ");
    let left: Vec<_> =
        tree(sandbox.root()).into_keys().filter(|one| !one.starts_with(".git")).collect();
    let left: Vec<_> = left.iter().map(|one| one.to_str().unwrap()).collect();
    assert_eq!(left, [".claude", ".claude/settings.json", ".codex", ".codex/config.toml"]);
    assert_eq!(sandbox.read(".claude/settings.json"), "{}\n");
}

#[test]
fn removing_without_a_record_leaves_no_empty_folders() {
    let sandbox = sandbox().repository();
    client(&sandbox, "add", &["--project", "--json"]).exits(0);
    std::fs::remove_dir_all(sandbox.home().join(".local")).unwrap();
    client(&sandbox, "remove", &["--project", "--json"]).exits(0);
    let left = tree(sandbox.root()).into_keys().filter(|one| !one.starts_with(".git"));
    let left: Vec<String> = left.map(|one| one.display().to_string()).collect();
    insta::assert_snapshot!(left.join("\n"), @"
    .claude
    .claude/settings.json
    .codex
    .codex/config.toml
    .codex/hooks.json
    .mcp.json
    ");
}

#[test]
fn a_link_out_of_a_project_is_not_followed() {
    let sandbox = sandbox().repository();
    let outside = sandbox.home().join("settings.json");
    std::fs::write(&outside, "{}").unwrap();
    std::fs::create_dir(sandbox.root().join(".claude")).unwrap();
    symlink(&outside, sandbox.root().join(".claude/settings.json")).unwrap();
    let run = sandbox.run(["client", "add", "claude-code", "--project", "--yes"]).exits(2);
    assert!(run.stderr.contains("points outside the project"), "{run}");
    assert_eq!(std::fs::read_to_string(outside).unwrap(), "{}");
}

#[test]
fn nothing_is_written_before_confirmation() {
    let sandbox = home_with("existing-hooks");
    let before = tree(sandbox.home());
    let run = sandbox.run_with_input(&["client", "add", "claude-code"], "y\ny\n").exits(2);
    assert!(run.stderr.contains("cannot prompt: no terminal"), "{run}");
    let run = sandbox.run(["client", "add", "claude-code", "--dry-run"]).exits(0);
    assert!(run.stdout.contains("+++ [HOME]/.claude/settings.json"), "{run}");
    let run = at_a_terminal(&sandbox, &["client", "add", "claude-code"], "y\nn\n").exits(1);
    let end = "\nClaude Code, for you: 3 files are new, 1 file changes.\nAdd midstride to Claude Code? [y/N] Nothing was changed.\n";
    assert!(run.stderr.ends_with(end), "{run}");
    std::fs::remove_file(sandbox.home().join("standard-input")).unwrap();
    assert_eq!(shown(&tree(sandbox.home())), shown(&before));
    let rules = |typed: &str| {
        let added = at_a_terminal(&sandbox, &["client", "add", "claude-code"], typed).exits(0);
        assert!(added.stderr.contains("Which midstride tools may the client use"), "{added}");
        let path = sandbox.home().join(".claude/settings.json");
        let settings = std::fs::read_to_string(path).unwrap();
        let has = |rule: &&str| settings.contains(*rule);
        let known = ["mcp__midstride__brief", "mcp__midstride__save", "Bash(midstride save:*)"];
        known.iter().filter(|rule| has(rule)).count()
    };
    // Only an explicit answer allows it.
    assert_eq!(rules("y\ny\n"), 0);
    assert_eq!(rules("read\ny\n"), 1);
    assert_eq!(rules("save\ny\n"), 3);
}

#[test]
fn an_agent_may_install_but_grant_itself_nothing() {
    let sandbox = sandbox();
    let inside = |more: &[&str]| {
        let mut command = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
        command.args(["client", "add", "codex", "--yes", "--json"]).args(more);
        sandbox.finish(command.env("CLAUDECODE", "1"))
    };
    insta::assert_snapshot!(inside(&["--trust-hooks"]), @r#"
    exit 2
    ----- stdout -----
    {
      "schema": "error/1",
      "code": "requires-user",
      "message": "this command requires the user, but it is running inside Claude Code",
      "hint": "run the same command in your own terminal\nwithout `--allow` and `--trust-hooks`, it also runs here"
    }
    "#);
    inside(&["--allow", "save"]).exits(2);
    inside(&["--allow-read-tools"]).exits(2);
    assert!(!sandbox.home().join(".codex").exists());
    inside(&[]).exits(0);
    assert_eq!(complete(&sandbox), [false, true]);
}

#[test]
fn without_a_client_name_all_are_listed() {
    insta::assert_snapshot!(sandbox().run(["client", "add"]), @"
    exit 2
    ----- stderr -----
    error: the following required arguments were not provided:
      <CLIENT|--all>

    Usage: midstride client add <CLIENT|--all>

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(sandbox().run(["client", "remove", "--yes"]), @"
    exit 2
    ----- stderr -----
    error: the following required arguments were not provided:
      <CLIENT|--all>

    Usage: midstride client remove --yes <CLIENT|--all>

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(sandbox().run(["client", "add", "codex", "--all"]), @"
    exit 2
    ----- stderr -----
    error: the argument '[CLIENT]...' cannot be used with '--all'

    Usage: midstride client add <CLIENT|--all>

    For more information, try '--help'.
    ");
}

#[test]
fn all_means_the_clients_that_are_installed() {
    let sandbox = sandbox();
    insta::assert_snapshot!(sandbox.run(["client", "add", "--all", "--yes"]), @"
    exit 2
    ----- stderr -----
    error: no client found on this machine
    hint: start a client once, or specify one with `midstride client add claude-code`; if its home folder is in another location, set CLAUDE_CONFIG_DIR, CODEX_HOME or QWEN_HOME
    ");
    std::fs::create_dir(sandbox.home().join(".codex")).unwrap();
    sandbox.run(["client", "add", "--all", "--yes"]).exits(0);
    assert_eq!(complete(&sandbox), [false, true]);
    let mut elsewhere = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    let folder = sandbox.root().join("claude");
    elsewhere.args(["client", "add", "claude-code", "--yes"]).env("CLAUDE_CONFIG_DIR", &folder);
    sandbox.finish(&mut elsewhere).exits(0);
    assert!(folder.join("settings.json").exists() && folder.join(".claude.json").exists());
    assert!(!sandbox.home().join(".claude.json").exists());
}

#[test]
fn the_program_on_the_path_is_checked() {
    let sandbox = sandbox();
    let with_path = |folder: &Path| {
        let mut command = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
        sandbox.finish(command.args(["client", "list"]).env("PATH", folder)).stdout
    };
    let last = |text: String| text.lines().last().unwrap().to_owned();
    let ours = Path::new(env!("CARGO_BIN_EXE_midstride")).parent().unwrap();
    assert_eq!(last(with_path(ours)), format!("On the PATH: {}/midstride", ours.display()));
    sandbox.write("bin/midstride", "#!/bin/sh\necho midstride 9.9.9\n");
    let bin = sandbox.root().join("bin");
    assert_eq!(last(with_path(&bin)), "On the PATH: not found");
    let other = bin.join("midstride");
    std::fs::set_permissions(other, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(last(with_path(&bin)), "On the PATH: [ROOT]/bin/midstride, `midstride 9.9.9`");
}

#[test]
fn the_plugin_matches_the_installation() {
    let made = sandbox().run(["reference", "plugin"]).exits(0).stdout;
    let made: Vec<BTreeMap<String, String>> = serde_json::from_value(json_items(&made)).unwrap();
    assert_eq!(made.len(), 6);
    for file in &made {
        let path = repository_root().join(&file["path"]);
        if std::env::var_os("MIDSTRIDE_BLESS").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        }
        assert_page(&file["path"], &file["text"]);
    }
    let sandbox = sandbox();
    client(&sandbox, "add", &[]).exits(0);
    let read = |path: PathBuf| std::fs::read_to_string(path).unwrap();
    let json = |path| -> Value { serde_json::from_str(&read(path)).unwrap() };
    let (plugin, home) = (repository_root().join("plugin"), sandbox.home());
    let mut hooks = json(plugin.join("hooks/hooks.json"));
    let start = &mut hooks["hooks"]["SessionStart"][0]["hooks"][0]["command"];
    let command = start.as_str().unwrap().to_owned();
    *start = "midstride hook claude-code".into();
    assert_eq!(hooks, json(home.join(".claude/settings.json")));
    // The plugin may be installed before the program.
    let run = sandbox.finish(sandbox.command("sh").args(["-c", &command]).env("PATH", "/bin"));
    let answer: Value = serde_json::from_str(&run.exits(0).stdout).unwrap();
    let message = answer["systemMessage"].as_str().unwrap();
    assert!(message.contains("cargo install --locked --git"), "{message}");
    assert_eq!(json(plugin.join(".mcp.json")), json(home.join(".claude.json")));
    for skill in ["handoff", "continue"] {
        let file = format!("skills/{skill}/SKILL.md");
        assert_eq!(read(plugin.join(&file)), read(home.join(".claude").join(&file)));
    }
}
