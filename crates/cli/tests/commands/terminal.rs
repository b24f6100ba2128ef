//! Tests of the program at a terminal: the editor.

use super::shop;
use midstride_testkit::{Run, Sandbox};

/// The rows of the terminal.
const ROWS: usize = 24;

/// Runs the program at a terminal of this width. Standard output has both output streams.
pub(crate) fn at_terminal(
    sandbox: &Sandbox,
    columns: usize,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> Run {
    let quoted = arguments.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''")));
    let words = quoted.collect::<Vec<_>>().join(" ");
    let program = sandbox.program().display();
    let line = format!("stty cols {columns} rows {ROWS}; exec {program} {words}");
    let mut script = sandbox.command("script");
    script.args(["-qec", &line, "/dev/null"]).env("TERM", "xterm").env("PAGER", "cat");
    script.envs(variables.iter().copied()).env_remove("COLUMNS");
    let mut run = sandbox.finish(&mut script);
    run.stdout = run.stdout.replace('\r', "");
    run
}

/// An editor that runs a script on its file, `$1`.
fn editor(sandbox: &Sandbox, name: &str, script: &str) -> String {
    let file = sandbox.home().join(name);
    std::fs::write(&file, script).unwrap();
    format!("sh {}", file.display())
}

fn documents(sandbox: &Sandbox) -> usize {
    std::fs::read_dir(sandbox.root().join(".midstride/handoffs")).unwrap().count()
}

#[test]
fn an_untouched_template_aborts_new() {
    let sandbox = shop();
    let before = documents(&sandbox);
    let run = at_terminal(
        &sandbox,
        100,
        &["new", "Slow search", "--color", "never"],
        &[("EDITOR", "true")],
    )
    .exits(2);
    insta::assert_snapshot!(run, @"
    exit 2
    ----- stdout -----
    error: the template was not changed, so no handoff was created
    hint: add `--no-edit` to create it and fill it in later
    ");
    assert_eq!(documents(&sandbox), before);
    // As with git, an editor that fails aborts too, and its text is not lost.
    let failing = editor(&sandbox, "failing.sh", "echo more >> \"$1\"; exit 1");
    let run = at_terminal(&sandbox, 100, &["new", "Slow search"], &[("EDITOR", &failing)]).exits(2);
    assert!(run.stdout.contains("hint: your text is in `"), "{run}");
    assert_eq!(documents(&sandbox), before);
    let writing = editor(&sandbox, "writing.sh", "echo more >> \"$1\"");
    let run = at_terminal(&sandbox, 100, &["new", "Slow search"], &[("EDITOR", &writing)]).exits(0);
    assert!(run.stdout.contains("Wrote slow-search: "), "{run}");
    assert!(sandbox.read(".midstride/handoffs/slow-search.md").ends_with("more\n"));
}

#[test]
fn the_editor_is_named_by_variables_then_by_the_users_own_git_configuration() {
    let sandbox = shop();
    let settings = sandbox.home().join("gitconfig");
    let of_git = editor(&sandbox, "git.sh", "echo of-git >> \"$1\"");
    std::fs::write(&settings, format!("[core]\n\teditor = {of_git}\n")).unwrap();
    let planted = editor(&sandbox, "planted.sh", "echo planted >> \"$1\"");
    sandbox.git(&["config", "core.editor", &planted]);
    let [visual, usual] = ["visual", "editor"]
        .map(|name| editor(&sandbox, name, &format!("echo of-{name} >> \"$1\"")));
    let edit = |variables: &[(&str, &str)]| {
        let mut command = sandbox.command(sandbox.program());
        sandbox.finish(command.args(["edit", "HANDOFF.md"]).envs(variables.iter().copied()))
    };
    let settings = settings.to_str().unwrap();
    // Only the repository names an editor, so there is none without a terminal.
    let run = edit(&[]).exits(2);
    assert!(run.stderr.contains("no editor is set"), "{run}");
    edit(&[("GIT_CONFIG_GLOBAL", settings)]).exits(0);
    edit(&[("GIT_CONFIG_GLOBAL", settings), ("EDITOR", &usual)]).exits(0);
    edit(&[("EDITOR", &usual), ("VISUAL", &visual)]).exits(0);
    let text = sandbox.read("HANDOFF.md");
    assert!(text.ends_with("green.\nof-git\nof-editor\nof-visual\n"), "{text}");
}
