//! Tests of the program at a terminal: editor, pager, colors and width.

use super::{sandbox, shop};
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

#[test]
fn long_output_goes_to_the_users_pager() {
    const MARK: &str = "sed s/^/paged:/";
    let sandbox = shop();
    sandbox.git(&["config", "core.pager", "sed s/^/planted:/"]);
    let shown = |arguments: &[&str], variables: &[(&str, &str)]| {
        at_terminal(&sandbox, 80, arguments, variables)
    };
    let show = ["show", "market", "--as", "raw"];
    let plain = shown(&show, &[]).exits(0).stdout;
    assert!(plain.lines().count() > ROWS && !plain.contains("planted"), "{plain}");
    let paged: String = plain.split_inclusive('\n').map(|line| format!("paged:{line}")).collect();
    assert_eq!(shown(&show, &[("PAGER", MARK)]).exits(0).stdout, paged);
    let both = [("PAGER", "sed s/^/other:/"), ("MIDSTRIDE_PAGER", MARK)];
    assert_eq!(shown(&show, &both).exits(0).stdout, paged);
    for command in [&["check", "-v"][..], &["help", "--all"], &["demo", "--full"]] {
        let run = shown(command, &[("PAGER", MARK)]);
        assert!(run.stdout.starts_with("paged:"), "{command:?}: {run}");
    }
    // The exit code is that of the command.
    let code = sandbox.run(["check", "-v"]).exits(1).code;
    assert_eq!(shown(&["check", "-v"], &[("PAGER", MARK)]).code, code);
}

#[test]
fn output_is_printed_where_a_pager_is_not_wanted_or_not_there() {
    const MARK: (&str, &str) = ("PAGER", "sed s/^/paged:/");
    let sandbox = shop();
    let show = ["show", "market", "--as", "raw"];
    let plain = at_terminal(&sandbox, 80, &show, &[]).exits(0).stdout;
    let shown = |variables: &[(&str, &str)]| at_terminal(&sandbox, 80, &show, variables).exits(0);
    for variable in [("PAGER", ""), ("MIDSTRIDE_PAGER", "cat"), ("TERM", "dumb")] {
        assert_eq!(shown(&[MARK, variable]).stdout, plain, "{variable:?}");
    }
    // An agent would wait for its keys.
    assert_eq!(shown(&[MARK, ("CLAUDECODE", "1")]).stdout, plain);
    // It does not exist: the text is printed after what the shell says.
    let run = shown(&[("PAGER", "no-such-pager --quiet")]);
    assert!(run.stdout.ends_with(&plain), "{run}");
    // It exits without reading.
    assert_eq!(shown(&[("PAGER", "true")]).stdout, "");
    let not_paged = [
        &["--no-pager", "show", "market", "--as", "raw"][..],
        &["show", "market", "--json"],
        &["list"],
    ];
    for arguments in not_paged {
        let run = at_terminal(&sandbox, 80, arguments, &[MARK]).exits(0);
        assert!(!run.stdout.contains("paged:"), "{arguments:?}: {run}");
    }
    let mut piped = sandbox.command(sandbox.program());
    let run = sandbox.finish(piped.args(show).envs([MARK, ("TERM", "xterm")])).exits(0);
    assert_eq!(run.stdout, plain);
}

#[test]
fn the_pager_gets_redacted_and_sanitized_text() {
    let sandbox = shop();
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let text = format!("{}\n{token}\n\u{1b}]0;title\u{7}\n", "line\n".repeat(ROWS));
    sandbox.write("HANDOFF.md", format!("# Where we are\n\n{text}"));
    let pager = [("PAGER", "sed s/^/paged:/")];
    let run = at_terminal(&sandbox, 80, &["show", "HANDOFF.md"], &pager).exits(0);
    assert!(run.stdout.starts_with("paged:"), "{run}");
    assert!(!run.stdout.contains(&token) && !run.stdout.contains("\u{1b}]"), "{run}");
}

#[test]
fn color_variables_are_respected() {
    let sandbox = sandbox().repository();
    let is_colored = |variables: &[(&str, &str)]| {
        let run = at_terminal(&sandbox, 80, &["show", "none"], variables).exits(2);
        run.stdout.contains("\u{1b}[")
    };
    assert!(is_colored(&[]));
    assert!(!is_colored(&[("NO_COLOR", "1")]));
    assert!(!is_colored(&[("CLICOLOR", "0")]));
    assert!(!is_colored(&[("TERM", "dumb")]));
    assert!(!is_colored(&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]));
    let is_piped_colored = |variables: &[(&str, &str)]| {
        let mut command = sandbox.command(sandbox.program());
        let run = sandbox.finish(command.args(["show", "none"]).envs(variables.iter().copied()));
        run.exits(2).stderr.contains("\u{1b}[")
    };
    assert!(!is_piped_colored(&[]));
    assert!(is_piped_colored(&[("CLICOLOR_FORCE", "1")]));
}
