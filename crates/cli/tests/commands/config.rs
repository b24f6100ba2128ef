//! Tests of `config`: the settings of the user and of a repository.

use crate::sandbox;
use midstride_testkit::Sandbox;

fn file(sandbox: &Sandbox) -> String {
    let path = sandbox.home().join(".config/midstride/config.toml");
    std::fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn settings_are_changed_and_the_rest_of_the_file_stays() {
    let sandbox = sandbox().repository();
    let folder = sandbox.home().join(".config/midstride");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), "# mine\n[capture]\nretention = 30 # days\n")
        .unwrap();
    sandbox.run(["config", "set", "capture.exclude", "~/clients/**", "~/secret"]).exits(0);
    insta::assert_snapshot!(file(&sandbox), @r#"
    # mine
    [capture]
    retention = 30 # days
    exclude = ["~/clients/**", "~/secret"]
    "#);
    insta::assert_snapshot!(sandbox.run(["config", "list"]).exits(0).stdout, @"
    [HOME]/.config/midstride/config.toml
      capture.exclude    ~/clients/** ~/secret  (projects that midstride ignores)
      capture.only       not set  (the only projects that midstride runs in)
      capture.retention  30  (days to keep captured sessions, or `forever`; default: 90)

    [ROOT]/.git/midstride/config.toml
      folders            not set  (additional folders and files with handoffs)
      brief.budget       not set  (token budget for a new session's briefing, 0 for none; default: 500)
      brief.headless     not set  (whether to brief headless sessions)
      hooks.nudge        not set  (whether to remind the agent once to save)
      hooks.stop_gate    not set  (whether to keep the agent from stopping until it saves)
    ");
    let run = sandbox.run(["config", "get", "capture.exclude"]).exits(0);
    assert_eq!(run.stdout, "~/clients/**\n~/secret\n");
    sandbox.run(["config", "unset", "capture.exclude"]).exits(0);
    sandbox.run(["config", "get", "capture.exclude"]).exits(1);
    assert!(file(&sandbox).starts_with("# mine\n"), "{}", file(&sandbox));
}

#[test]
fn invalid_settings_are_refused() {
    let sandbox = sandbox().repository();
    for (words, why) in [
        (&["config", "set", "capture.excludes", "x"][..], "unknown setting `capture.excludes`"),
        (&["config", "set", "capture.retention", "soon"], "a number of days greater than 0"),
        (&["config", "set", "capture.retention", "1", "2"], "takes one value"),
        (&["config", "set", "capture.only", "~/a**b"], "is not a valid pattern"),
    ] {
        let run = sandbox.run(words).exits(2);
        assert!(run.stderr.contains(why), "{run}");
        assert_eq!(file(&sandbox), "", "{run}");
    }
    let mut agent = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    agent.args(["config", "set", "capture.exclude", "x"]).env("CLAUDECODE", "1");
    let run = sandbox.finish(&mut agent).exits(2);
    assert!(run.stderr.contains("only the user can change these settings"), "{run}");
}

#[test]
fn an_editor_changes_the_settings() {
    let sandbox = sandbox().repository();
    let run = sandbox.run_with_editor(&["config", "edit"], "true\n").exits(0);
    assert_eq!(run.stderr, "Nothing was changed.\n");
    let script = "printf '[capture]\\nretention = 7\\n' >\"$1\"\n";
    sandbox.run_with_editor(&["config", "edit"], script).exits(0);
    assert_eq!(file(&sandbox), "[capture]\nretention = 7\n");
    // What the user typed is not lost.
    let run = sandbox.run_with_editor(&["config", "edit"], "echo '[capture' >\"$1\"\n").exits(2);
    let copy =
        run.stderr.split('`').nth(1).unwrap().replace("[HOME]", sandbox.home().to_str().unwrap());
    assert_eq!(std::fs::read_to_string(copy).unwrap(), "[capture\n");
    assert_eq!(file(&sandbox), "[capture]\nretention = 7\n");
}

#[test]
fn settings_of_a_repository_that_commits_nothing_are_private() {
    let sandbox = sandbox().repository();
    sandbox.run(["config", "set", "brief.budget", "800"]).exits(0);
    sandbox.run(["config", "set", "brief.headless", "true"]).exits(0);
    sandbox.run(["config", "set", "folders", "notes", "docs/old"]).exits(0);
    let private = sandbox.root().join(".git/midstride/config.toml");
    insta::assert_snapshot!(std::fs::read_to_string(private).unwrap(), @r#"
    folders = ["notes", "docs/old"]
    [brief]
    budget = 800
    headless = true
    "#);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    assert_eq!(sandbox.run(["config", "get", "brief.budget"]).exits(0).stdout, "800\n");
    let json = sandbox.run(["config", "list", "--json"]).exits(0).stdout;
    insta::assert_snapshot!(json, @r#"
    {
      "schema": "config/1",
      "settings": [
        {
          "key": "capture.exclude",
          "values": [],
          "file": "[HOME]/.config/midstride/config.toml"
        },
        {
          "key": "capture.only",
          "values": [],
          "file": "[HOME]/.config/midstride/config.toml"
        },
        {
          "key": "capture.retention",
          "values": [],
          "file": "[HOME]/.config/midstride/config.toml"
        },
        {
          "key": "folders",
          "values": [
            "notes",
            "docs/old"
          ],
          "file": "[ROOT]/.git/midstride/config.toml"
        },
        {
          "key": "brief.budget",
          "values": [
            "800"
          ],
          "file": "[ROOT]/.git/midstride/config.toml"
        },
        {
          "key": "brief.headless",
          "values": [
            "true"
          ],
          "file": "[ROOT]/.git/midstride/config.toml"
        },
        {
          "key": "hooks.nudge",
          "values": [],
          "file": "[ROOT]/.git/midstride/config.toml"
        },
        {
          "key": "hooks.stop_gate",
          "values": [],
          "file": "[ROOT]/.git/midstride/config.toml"
        }
      ]
    }
    "#);
    sandbox.run(["config", "unset", "folders"]).exits(0);
    sandbox.run(["config", "get", "folders"]).exits(1);
}

#[test]
fn settings_of_a_repository_with_committed_handoffs_are_beside_them() {
    let sandbox = sandbox().repository();
    sandbox.as_user().run(["init"]).exits(0);
    let path = sandbox.root().join(".midstride/config.toml");
    let before = std::fs::read_to_string(&path).unwrap();
    let run = sandbox.run(["config", "set", "hooks.stop_gate", "true"]).exits(0);
    insta::assert_snapshot!(run.stderr, @"Set hooks.stop_gate in [ROOT]/.midstride/config.toml");
    let after = std::fs::read_to_string(&path).unwrap();
    let kept = before.lines().filter(|line| after.contains(line)).count();
    assert_eq!(kept, before.lines().count(), "{after}");
    assert_eq!(sandbox.run(["config", "get", "hooks.stop_gate"]).exits(0).stdout, "true\n");
    let run = sandbox.run(["config", "set", "hooks.stop_gate", "perhaps"]).exits(2);
    insta::assert_snapshot!(run.stderr, @r#"error: invalid value for `hooks.stop_gate`: invalid type: string "perhaps", expected a boolean"#);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), after);
}

#[test]
fn a_broken_configuration_of_a_repository_is_repaired_in_the_editor() {
    let sandbox = sandbox().repository();
    // A new file starts with what can be set.
    let script = "grep -q '# budget = 500' \"$1\" && printf '[brief]\\nbudget = 9\\n' >\"$1\"\n";
    sandbox.run_with_editor(&["config", "edit", "--repo"], script).exits(0);
    let path = sandbox.root().join(".git/midstride/config.toml");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "[brief]\nbudget = 9\n");
    std::fs::write(&path, "[brief\n").unwrap();
    let run = sandbox.run(["config", "set", "brief.budget", "7"]).exits(2);
    insta::assert_snapshot!(run.stderr, @"
    error: cannot parse `[ROOT]/.git/midstride/config.toml`: TOML parse error at line 1, column 7
      |
    1 | [brief
      |       ^
    unclosed table, expected `]`
    hint: fix the file
    ");
    let script = "printf '[brief]\\nbudget = 7\\n' >\"$1\"\n";
    sandbox.run_with_editor(&["config", "edit", "--repo"], script).exits(0);
    assert_eq!(sandbox.run(["config", "get", "brief.budget"]).exits(0).stdout, "7\n");
}

#[test]
fn settings_of_an_untrusted_clone_are_neither_shown_nor_changed() {
    let sandbox = sandbox().repository();
    sandbox.write(".midstride/config.toml", "folders = [\"a-word-of-others\"]\n");
    sandbox.write(".midstride/handoffs/theirs.md", "# Theirs\n\nNothing.\n");
    let run = sandbox.run(["config", "list"]).exits(0);
    assert!(!run.stdout.contains("a-word-of-others"), "{run}");
    insta::assert_snapshot!(run.stderr, @"
    warning: `[ROOT]/.midstride/config.toml` is not trusted
    hint: its settings have no effect until you run `midstride trust`
    ");
    let run = sandbox.run(["config", "set", "brief.budget", "7"]).exits(2);
    insta::assert_snapshot!(run.stderr, @"
    error: `[ROOT]/.midstride/config.toml` is not trusted
    hint: its settings have no effect until you run `midstride trust`
    ");
    // Outside of a repository, only the user's settings are listed.
    let elsewhere = sandbox.home().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let run = sandbox.run(["-C", elsewhere.to_str().unwrap(), "config", "list"]).exits(0);
    assert!(!run.stdout.contains("brief.budget"), "{run}");
    let run = sandbox.run(["-C", elsewhere.to_str().unwrap(), "config", "get", "brief.budget"]);
    insta::assert_snapshot!(run.exits(2).stderr, @"
    error: this folder is not in a git repository
    hint: change to a repository; `midstride config list` shows your settings
    ");
}

#[test]
fn the_last_setting_takes_its_table_and_file_along() {
    let sandbox = sandbox().repository();
    let folder = sandbox.home().join(".config/midstride");
    sandbox.as_user().run(["config", "set", "capture.exclude", "~/secret/**"]).exits(0);
    assert!(folder.join("config.toml").exists());
    sandbox.as_user().run(["config", "unset", "capture.exclude"]).exits(0);
    assert!(!folder.exists());
    // A comment stays.
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), "# mine\n[capture]\nretention = 30\n").unwrap();
    sandbox.as_user().run(["config", "unset", "capture.retention"]).exits(0);
    assert_eq!(file(&sandbox), "# mine\n[capture]\n");
}
