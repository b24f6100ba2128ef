//! Tests of `setup`: from nothing to a briefing, and back.

use super::session::put;
use super::terminal::at_terminal;
use crate::sandbox;
use midstride_testkit::{Run, Sandbox, fixtures};
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

const SESSION: &str = "5e550001-4c00-7000-8000-00000000aaaa";

/// A repository that midstride does not know, with a handoff of its author and a past session of
/// Claude Code, and a home with settings of two clients.
pub(crate) fn newcomer() -> Sandbox {
    let program = Path::new(env!("CARGO_BIN_EXE_midstride"));
    let sandbox = sandbox().with_program("midstride", program).repository();
    sandbox.write("HANDOFF.md", "# Login loop\n\n## Next\n\nAdd SameSite=None.\n");
    sandbox.git(&["add", "--all"]);
    sandbox.git(&["commit", "--quiet", "--message", "start"]);
    let text = std::fs::read_to_string(fixtures("transcripts/claude-code").join("cache.jsonl"));
    let text = text.unwrap().replace("/home/dev/shop", &sandbox.root().display().to_string());
    put(&sandbox, SESSION, &text);
    for (path, text) in [
        (".claude/settings.json", "{\n  // mine\n  \"model\": \"opus\"\n}\n"),
        (".codex/config.toml", "model = \"o3\" # mine\n"),
    ] {
        let path = sandbox.home().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    sandbox
}

/// The files in the home directory, except midstride's own state and what the test writes.
fn files(sandbox: &Sandbox) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![sandbox.home().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = entry.strip_prefix(sandbox.home()).unwrap().to_owned();
            if name.starts_with(".local") || name.starts_with("bin") {
                continue;
            }
            match entry.is_dir() {
                true => folders.push(entry),
                false => {
                    found.insert(name, std::fs::read(entry).unwrap());
                }
            }
        }
    }
    found
}

fn setup(sandbox: &Sandbox, typed: &str) -> Run {
    sandbox.as_user().types(typed).run(["setup"])
}

#[test]
fn one_command_shows_what_changes_and_ends_with_the_briefing() {
    let sandbox = newcomer();
    let run = setup(&sandbox, "a\n").exits(0);
    insta::assert_snapshot!(run.stderr, @"
    Found    Claude Code, Codex
    Changes  hooks, one MCP server and two commands in ~/.agents, ~/.claude,
             ~/.claude.json and ~/.codex (d: show the diff)
    Trusts   HANDOFF.md in this repository: 1 by tester <tester@example.org> (t: do
             not trust)
    Records  your requests, commands and their results, changed files and the
             agent's reports; secrets are removed
    Stored   in each repository's .git/midstride, readable only by you, deleted
             after 90 days; never committed
    Network  none, except that `midstride sync` uses your git remote when you run it
    Cost     a briefing of up to 500 tokens per new session (2,000 after a
             compaction); 288 tokens for the names of tools and skills; 1,881 tokens
             for the list of MCP tools: in each session of Codex, on first use in
             Claude Code; no model calls
    Where    a  every git repository (default)     r  this repository only
    Exclude  midstride config set capture.exclude '~/clients/**'
    Optional midstride setup --status-line, for Claude Code's status line
    Undo     midstride setup --undo
    Claude Code: installed. Restart running sessions to pick this up.
    Codex: installed. Restart running sessions to pick this up.
    Codex will ask you once to trust 7 hooks and skips them until you do. `midstride client add codex --trust-hooks` answers for you.

    Found 1 past session and 1 handoff. This is what your next session would know:
    ");
    assert_eq!(run.terminal, "Set up midstride? [a/r/t/d/q] ");
    // The answer covers the handoff, because the screen names it.
    for text in ["Make the market pages fast again", "Login loop"] {
        assert!(run.stdout.contains(text), "{text}: {run}");
    }
    // A second time there is nothing to ask.
    let again = setup(&sandbox, "").exits(0);
    assert_eq!(again.terminal, "");
    insta::assert_snapshot!(again.stderr, @"
    Claude Code: already set up
    Codex: already set up

    Found 1 past session and 1 handoff. This is what your next session would know:
    ");
    assert_eq!(again.stdout, run.stdout);
    // A repair names only what it changes.
    let skill = sandbox.home().join(".claude/skills/handoff/SKILL.md");
    std::fs::remove_file(&skill).unwrap();
    let repair = setup(&sandbox, "a\n").exits(0);
    assert!(repair.stderr.contains("Changes  1 file in ~/.claude   (d:"), "{repair}");
    assert!(skill.exists());
}

#[test]
fn without_a_terminal_nothing_is_trusted() {
    let sandbox = newcomer();
    let before = files(&sandbox);
    let run = sandbox.run(["setup"]).exits(2);
    assert!(
        run.stderr.ends_with("error: cannot prompt: no terminal\nhint: pass `--yes`\n"),
        "{run}"
    );
    assert_eq!(files(&sandbox), before);
    let run = sandbox.run(["setup", "--yes"]).exits(0);
    assert!(run.stdout.contains("Make the market pages fast again"), "{run}");
    assert!(!run.stdout.contains("Login loop") && !run.stderr.contains("Trusts"), "{run}");
    assert!(run.stderr.contains("1 document in this repository is not trusted"), "{run}");
}

#[test]
fn documents_are_named_and_can_be_declined_alone() {
    for (typed, arguments) in [("t\na\n", &["setup"][..]), ("a\n", &["setup", "--no-trust"])] {
        let sandbox = newcomer();
        sandbox.write("docs/handoffs/cache.md", "# Cache\n");
        let run = sandbox.as_user().types(typed).run(arguments).exits(0);
        let is_named =
            run.stderr.contains("Trusts   HANDOFF.md, docs/handoffs/cache.md in this repository:");
        assert_eq!(is_named, arguments.len() == 1, "{run}");
        assert!(run.stdout.contains("Make the market pages fast again"), "{run}");
        assert!(!run.stdout.contains("Login loop"), "{run}");
        assert!(run.stderr.contains("2 documents in this repository are not trusted"), "{run}");
        assert!(run.stderr.contains("Claude Code: installed"), "{run}");
        assert_eq!(sandbox.run(["trust", "--list"]).stdout, "");
    }
}

#[test]
fn setup_is_declined_and_shows_the_diff() {
    let sandbox = newcomer();
    let before = files(&sandbox);
    let run = setup(&sandbox, "d\nq\n").exits(1);
    let diff = "+            \"command\": \"midstride hook claude-code\",";
    assert!(run.stderr.contains(diff), "{run}");
    assert!(run.stderr.ends_with("Nothing was changed.\n"), "{run}");
    assert_eq!(files(&sandbox), before);
    assert!(!sandbox.root().join(".git/midstride").exists());
}

#[test]
fn undo_restores_every_file() {
    let sandbox = newcomer();
    let before = files(&sandbox);
    for typed in ["a\n", "r\n"] {
        setup(&sandbox, typed).exits(0);
        assert_ne!(files(&sandbox), before);
        let run = sandbox.run(["setup", "--undo", "--yes"]).exits(0);
        assert!(run.stderr.contains("Claude Code: restored"), "{run}");
        assert_eq!(files(&sandbox), before, "{typed}: {run}");
    }
    // Settings that were edited since stay.
    setup(&sandbox, "r\n").exits(0);
    sandbox.as_user().run(["config", "set", "capture.retention", "30"]).exits(0);
    let run = sandbox.run(["setup", "--undo", "--yes"]).exits(0);
    assert!(run.stderr.contains("it was edited since setup"), "{run}");
    let config = sandbox.home().join(".config/midstride/config.toml");
    assert!(std::fs::read_to_string(config).unwrap().contains("retention = 30"));
}

#[test]
fn this_repository_only_excludes_the_others() {
    let sandbox = newcomer();
    let run = setup(&sandbox, "r\n").exits(0);
    assert!(run.stdout.contains("Make the market pages fast again"), "{run}");
    let other = sandbox.home().join("other");
    std::fs::create_dir(&other).unwrap();
    let mut git = sandbox.command("git");
    sandbox.finish(git.current_dir(&other).args(["init", "--quiet"])).exits(0);
    let run = sandbox.run(["-C", other.to_str().unwrap(), "list"]).exits(2);
    insta::assert_snapshot!(run.stderr, @"
    error: midstride is off here: your `capture.only` setting does not list this project
    hint: change the setting with `midstride config edit`
    ");
    sandbox.run(["list"]).exits(0);
}

#[test]
fn json_has_clients_and_briefing() {
    let sandbox = newcomer();
    let run = sandbox.run(["setup", "--yes", "--json"]).exits(0);
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        (&json["sessions"], &json["handoffs"], &json["withheld"]),
        (&1.into(), &1.into(), &1.into())
    );
    assert!(json["briefing"].as_str().unwrap().contains("Make the market pages fast again"));
    let clients: Vec<&str> = json["clients"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["client"].as_str().unwrap())
        .collect();
    assert_eq!(clients, ["claude-code", "codex"]);
    assert_eq!(json["clients"][0]["changed"].as_array().unwrap().len(), 4);
}

#[test]
fn without_a_client_setup_says_what_to_install() {
    let sandbox = sandbox().repository().with_variable("PATH", "/nowhere");
    let run = sandbox.run(["setup", "--yes"]).exits(2);
    insta::assert_snapshot!(run.stderr, @"
    error: no supported client was found on this machine
    hint: install Claude Code, Codex or Qwen Code and start it once, or specify it with `--client`
    ");
}

#[test]
fn the_status_line_is_added_on_request_and_undone_byte_for_byte() {
    let sandbox = newcomer();
    let before = files(&sandbox);
    let settings =
        || std::fs::read_to_string(sandbox.home().join(".claude/settings.json")).unwrap();
    sandbox.as_user().run(["setup", "--yes"]).exits(0);
    assert!(!settings().contains("statusLine"));
    sandbox.as_user().run(["setup", "--yes", "--status-line"]).exits(0);
    assert!(settings().contains("\"command\": \"midstride statusline\""), "{}", settings());
    // A repair keeps it.
    sandbox.as_user().run(["setup", "--yes"]).exits(0);
    assert!(settings().contains("midstride statusline"));
    sandbox.as_user().run(["setup", "--undo", "--yes"]).exits(0);
    assert_eq!(files(&sandbox), before);
}

#[test]
fn a_status_line_of_the_user_stays() {
    let sandbox = newcomer();
    let path = sandbox.home().join(".claude/settings.json");
    let own = "{\n  \"statusLine\": {\"type\": \"command\", \"command\": \"mine\"}\n}\n";
    std::fs::write(&path, own).unwrap();
    let before = files(&sandbox);
    let run = sandbox.as_user().run(["setup", "--yes", "--status-line"]).exits(0);
    assert!(run.to_string().contains("`statusLine` in `[HOME]/.claude/settings.json`"), "{run}");
    let settings = std::fs::read_to_string(&path).unwrap();
    assert!(settings.contains("\"mine\"") && !settings.contains("midstride statusline"));
    sandbox.as_user().run(["setup", "--undo", "--yes"]).exits(0);
    assert_eq!(files(&sandbox), before);
}

#[test]
fn at_a_terminal_the_diff_is_verbatim_and_the_briefing_wraps_between_words() {
    let sandbox = newcomer();
    let pager = [("PAGER", "sed s/^/paged:/")];
    let run = at_terminal(&sandbox, 60, &["setup", "--yes", "--diff"], &pager).exits(0);
    let (diff, rest): (Vec<&str>, Vec<&str>) =
        run.stdout.lines().partition(|line| line.starts_with("paged:"));
    let indented = "paged:+   - **Diagnosis**: what happens, each statement with \
                    `path/to/file.rs:120` and the number you measured.";
    assert!(diff.contains(&indented), "{run}");
    let briefing = rest.iter().skip_while(|line| !line.contains("midstride briefing"));
    let broken: Vec<_> = briefing.filter(|line| line.chars().count() > 60).collect();
    assert!(broken.is_empty(), "{broken:?}");
}

#[test]
fn hooks_of_a_client_that_never_ran_here_are_no_problem_yet() {
    let sandbox = newcomer();
    setup(&sandbox, "a\n").exits(0);
    let home = sandbox.run(&[] as &[&str]).exits(0).stdout;
    assert!(!home.contains("untrusted hooks"), "{home}");
}

#[test]
fn asking_a_client_for_its_version_leaves_its_folder_alone() {
    let sandbox = newcomer();
    let codex = "#!/bin/sh\nmkdir -p \"${CODEX_HOME:-$HOME/.codex}/tmp\"\necho codex-cli 9.1.0\n";
    std::fs::create_dir_all(sandbox.home().join("bin")).unwrap();
    for (name, script) in
        [("codex", codex), ("claude", "#!/bin/sh\necho '2.1.197 (Claude Code)'\n")]
    {
        let path = sandbox.home().join("bin").join(name);
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let before = files(&sandbox);
    let usual = std::env::var_os("PATH").unwrap_or_default();
    let folders = [sandbox.home().join("bin")].into_iter().chain(std::env::split_paths(&usual));
    let mut command = sandbox.command(sandbox.program());
    command.env("PATH", std::env::join_paths(folders).unwrap()).arg("setup");
    let run = sandbox.finish(&mut command).exits(2);
    assert!(run.stderr.contains("Claude Code 2.1.197, Codex 9.1.0"), "{run}");
    // This version of Claude Code does not wait for the first use.
    let words: Vec<&str> = run.stderr.split_whitespace().collect();
    let cost = words.join(" ");
    assert!(cost.contains("in each session of Claude Code and Codex; no model calls"), "{run}");
    assert_eq!(files(&sandbox), before);
    assert!(!sandbox.home().join(".codex/tmp").exists());
}
