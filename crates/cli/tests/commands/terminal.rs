//! Tests of the program at a terminal: editor, pager, colors and width.

use super::{sandbox, shop};
use midstride_testkit::{Run, Sandbox};
use std::collections::HashSet;

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
    script.env_remove("COLUMNS").envs(variables.iter().copied());
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
    assert!(run.stdout.contains("your text is in `"), "{run}");
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
        assert!(uncolored(&run.stdout).starts_with("paged:"), "{command:?}: {run}");
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
    let text = format!("{}\n{token}\n\u{1b}]0;title\u{7}\n", "line\n\n".repeat(ROWS));
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

const NOTE: &str = "\
# Where we are

The build is green again since the purge of the cache runs before the tests and not after them, as `scripts/purge` did; see
[the trace](docs/trace.md) for the slow start.

- One item of a list that is long enough to be wrapped at the width of eighty columns, and then at more
  1. with a nested one, which is also long enough that it has to go on in the next line of the terminal

> A quotation that is long enough to need a second line on a terminal with eighty or a hundred columns, or even more

```sh
cargo test --workspace
```

| step | what it does and how long it takes on the machine that builds it every night | result |
|---|---|---|
| purge | removes every page of the market that was rendered before the last change of a template | done |
";

/// What clears a line of the terminal.
const CLEAR_LINE: &str = "\u{1b}[2K";

/// The text without colors, and without the progress that was cleared.
fn uncolored(text: &str) -> String {
    let left = |line: &str| line.rsplit(CLEAR_LINE).next().unwrap_or_default().to_owned();
    let text: String = text.split_inclusive('\n').map(left).collect();
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, rest)| rest))
}

/// What the program shows at a terminal of this width, without colors.
fn shown(sandbox: &Sandbox, columns: usize, arguments: &[&str]) -> String {
    uncolored(&at_terminal(sandbox, columns, arguments, &[]).stdout)
}

/// What the program shows in a terminal of tmux of this width.
fn shown_in_tmux(sandbox: &Sandbox, columns: usize, arguments: &[&str]) -> String {
    const ROWS: &str = "500";
    // A server of its own, because one that was killed lives on for a moment.
    let socket = sandbox.home().join(format!("{columns}-{}.tmux", arguments.join("-")));
    let tmux = |words: &[&str]| {
        let mut tmux = sandbox.command("tmux");
        tmux.arg("-S").arg(&socket).args(["-f", "/dev/null"]).args(words);
        tmux.env("PAGER", "cat").env_remove("COLUMNS");
        sandbox.finish(&mut tmux)
    };
    let quoted: Vec<String> = arguments.iter().map(|word| format!("'{word}'")).collect();
    let program = sandbox.program().display();
    // The terminal stays open until it was read.
    let line = format!(
        "'{program}' {}; tmux -S '{}' wait-for -S done; exec cat",
        quoted.join(" "),
        socket.display()
    );
    let columns = columns.to_string();
    tmux(&["new-session", "-d", "-x", &columns, "-y", ROWS, &line]).exits(0);
    tmux(&["wait-for", "done"]).exits(0);
    // A line that was too long for the terminal is one line again.
    let shown = tmux(&["capture-pane", "-p", "-J", "-S", "-"]).exits(0).stdout;
    tmux(&["kill-server"]).exits(0);
    let lines: Vec<&str> = shown.trim_end().lines().map(str::trim_end).collect();
    lines.join("\n") + "\n"
}

#[test]
#[ignore = "needs tmux"]
fn nothing_is_wider_or_broken_inside_a_word_in_a_terminal_of_tmux() {
    assert_everything_fits(shown_in_tmux);
}

#[test]
fn nothing_is_wider_than_the_terminal_or_broken_inside_a_word() {
    assert_everything_fits(shown);
}

fn assert_everything_fits(shown: fn(&Sandbox, usize, &[&str]) -> String) {
    // What `list` says only on a narrow terminal.
    const OMITTED: &str =
        "Columns omitted: CHANGED, AGE, REVISED, REVIEWED (see `midstride show ID` or --json)";
    const COMMANDS: [&[&str]; 10] = [
        &["status"],
        &["list"],
        &["show", "market"],
        &["show", "market", "--history"],
        &["show", "HANDOFF.md"],
        &["check", "-v"],
        &["brief"],
        &["help"],
        &["help", "--all"],
        &["help", "check"],
    ];
    let sandbox = shop();
    sandbox.write("HANDOFF.md", NOTE);
    for command in COMMANDS {
        let wide = shown(&sandbox, 400, command);
        let whole: HashSet<&str> =
            wide.split_whitespace().chain(OMITTED.split_whitespace()).collect();
        for columns in [80, 120] {
            let text = shown(&sandbox, columns, command);
            assert!(!text.trim().is_empty(), "{command:?}");
            for line in text.lines() {
                // A path that is too long stays whole, so that it can be copied.
                let fits = line.chars().count() <= columns || line.split_whitespace().count() == 1;
                assert!(fits, "{command:?} at {columns}: {line}\n{text}");
            }
            let is_broken = |word: &&str| !whole.contains(word) && !word.ends_with('…');
            let is_text = |word: &&str| word.contains(char::is_alphanumeric);
            let broken: Vec<&str> =
                text.split_whitespace().filter(is_text).filter(is_broken).collect();
            assert!(broken.is_empty(), "{command:?} at {columns}: {broken:?}\n{text}\n{wide}");
        }
    }
}

#[test]
fn a_terminal_gets_rendered_markdown_and_a_pipe_the_text_itself() {
    let sandbox = shop();
    sandbox.write("HANDOFF.md", NOTE);
    let show = ["show", "HANDOFF.md"];
    insta::assert_snapshot!(shown(&sandbox, 60, &show), @"
    Where we are
    HANDOFF · note
    HANDOFF.md

    Where we are

    The build is green again since the purge of the cache runs
    before the tests and not after them, as `scripts/purge` did;
    see [the trace](docs/trace.md) for the slow start.

    - One item of a list that is long enough to be wrapped at
      the width of eighty columns, and then at more
      1. with a nested one, which is also long enough that it
         has to go on in the next line of the terminal

    > A quotation that is long enough to need a second line on a
    > terminal with eighty or a hundred columns, or even more

        cargo test --workspace

    step   what it does and how long it takes on the      result
           machine that builds it every night
    ─────  ─────────────────────────────────────────────  ──────
    purge  removes every page of the market that was      done
           rendered before the last change of a template
    ");
    let colored = at_terminal(&sandbox, 60, &show, &[]).stdout;
    assert!(colored.contains("\u{1b}[1mWhere we are\u{1b}[0m\n"), "{colored}");
    let plain = at_terminal(&sandbox, 60, &show, &[("NO_COLOR", "1")]).stdout;
    assert_eq!(plain, uncolored(&colored));
    // `COLUMNS` overrides the width.
    let narrow = at_terminal(&sandbox, 100, &show, &[("COLUMNS", "60")]).stdout;
    assert_eq!(narrow, colored);
    let piped = sandbox.run(show).exits(0).stdout;
    assert!(piped.ends_with(NOTE), "{piped}");
    assert_eq!(shown(&sandbox, 60, &["show", "HANDOFF.md", "--as", "raw"]), NOTE);
}

#[test]
fn a_section_is_rendered_at_a_terminal_too() {
    let sandbox = shop();
    sandbox.write("HANDOFF.md", NOTE.replace("# Where", "## Where"));
    let show = ["show", "HANDOFF.md", "--section", "Where we are"];
    let text = shown(&sandbox, 60, &show);
    assert!(text.contains("which is also long enough that it\n"), "{text}");
    assert!(sandbox.run(show).exits(0).stdout.contains("| purge | removes every page"));
}

#[test]
fn progress_is_shown_at_a_terminal_and_cleared() {
    let sandbox = shop();
    let commands: [(&[&str], &str); 5] = [
        (&["check"], "checking handoffs"),
        (&["data"], "scanning your repositories"),
        (&["log", "--all"], "reading the sessions of your repositories"),
        (&["why", "HEAD"], "reading sessions"),
        (&["doctor", "--no-simulation"], "checking the clients"),
    ];
    for (command, progress) in commands {
        let shown = at_terminal(&sandbox, 100, command, &[]).stdout;
        let whole = format!("{CLEAR_LINE}{progress}{CLEAR_LINE}");
        assert!(shown.contains(&whole), "{command:?}: {shown}");
        let piped = sandbox.run(command);
        assert!(!piped.to_string().contains(progress), "{command:?}: {piped}");
    }
}

#[test]
fn rendered_markdown_is_sanitized_and_redacted() {
    let sandbox = shop();
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let text = format!("Words {} {token}\n\n    \u{1b}]0;title\u{7}\u{1b}[2J\n", "word ".repeat(9));
    sandbox.write("HANDOFF.md", format!("# Where we are\n\n{text}"));
    let run = at_terminal(&sandbox, 60, &["show", "HANDOFF.md"], &[]).exits(0);
    assert!(run.stdout.contains("REDACTED-github-token"), "{run}");
    assert!(!run.stdout.contains("ghp_") && !run.stdout.contains("\u{1b}]"), "{run}");
    assert!(!run.stdout.contains("\u{1b}[2J"), "{run}");
}
