//! Tests of `config`: the user's settings.

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
      capture.exclude    ~/clients/** ~/secret  (projects in which midstride does nothing)
      capture.only       not set  (the only projects in which midstride does something)
      capture.retention  30  (days to keep captured sessions, or `forever`)
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
        (&["config", "set", "capture.excludes", "x"][..], "there is no setting `capture.excludes`"),
        (&["config", "set", "capture.retention", "soon"], "a number of days above 0"),
        (&["config", "set", "capture.retention", "1", "2"], "takes one value"),
        (&["config", "set", "capture.only", "~/a**b"], "is not a pattern"),
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
