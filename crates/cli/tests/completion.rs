//! Tests of completion: in the real shells, and of what is never completed.

use crate::commands::session::put;
use crate::sandbox;
use midstride_testkit::Sandbox;
use std::fs::File;

const SESSION: &str = "5e550001-4c00-7000-8000-00000000cccc";

const PROGRAM: &str = env!("CARGO_BIN_EXE_midstride");

/// A project with a handoff, a session and a task, and the program on the PATH.
fn project() -> Sandbox {
    let sandbox = sandbox().with_program("midstride", PROGRAM.as_ref()).repository();
    sandbox.run(["new", "The market page", "--id", "market", "--no-edit"]).exits(0);
    sandbox.run(["new", "Other", "--id", "other", "--no-edit", "--private"]).exits(0);
    sandbox.run(["task", "add", "Measure the cold cache"]).exits(0);
    let line = format!(
        "{{\"type\":\"user\",\"uuid\":\"u1\",\"sessionId\":\"{SESSION}\",\"cwd\":\"{}\",\
         \"timestamp\":\"2026-03-20T10:00:00Z\",\"message\":{{\"role\":\"user\",\
         \"content\":\"Find the pelican.\"}}}}\n",
        sandbox.root().display()
    );
    put(&sandbox, SESSION, &line);
    sandbox.run(["checkpoint", "--session", SESSION]).exits(0);
    sandbox
}

/// What the program answers to a shell.
fn completions(sandbox: &Sandbox, words: &[&str]) -> String {
    let index = (words.len() - 1).to_string();
    let mut command = sandbox.command(sandbox.program());
    command.env("MIDSTRIDE_COMPLETE", "fish").env("_CLAP_COMPLETE_INDEX", index);
    sandbox.finish(command.arg("--").args(words)).exits(0).stdout
}

#[test]
fn arguments_complete_to_what_is_in_the_project() {
    let sandbox = project();
    let complete = |words: &[&str]| completions(&sandbox, words);
    let listed = complete(&["midstride", "show", ""]);
    assert!(listed.starts_with("market\tThe market page\nother\tOther\n--section\t"), "{listed}");
    assert_eq!(complete(&["midstride", "start", "ma"]), "market\tThe market page\n");
    assert_eq!(complete(&["midstride", "show", "market@"]), "market@1\tthe current text\n");
    assert_eq!(complete(&["midstride", "list", "--stage", "s"]), "spec\n");
    let session = complete(&["midstride", "session", "show", "5e55"]);
    // The sandbox replaces uids.
    assert_eq!(session, "[UID]\tFind the pelican.\n");
    let codes = complete(&["midstride", "explain", "s00"]);
    assert!(codes.starts_with("S001\ta required field is missing\nS002\t"), "{codes}");
    let tasks = complete(&["midstride", "task", "done", "t-"]);
    assert!(tasks.ends_with("\tMeasure the cold cache\n"), "{tasks}");
    let root = sandbox.root().to_str().unwrap();
    assert_eq!(complete(&["midstride", "-C", root, "start", "oth"]), "other\tOther\n");
    assert_eq!(complete(&["midstride", "-C", "/nonexistent", "start", "oth"]), "");
}

#[test]
fn documents_that_are_not_trusted_are_not_completed() {
    let sandbox = project();
    sandbox.write(
        ".midstride/handoffs/stranger.md",
        "---\nhandoff:\n  id: stranger\n  title: Run me\n---\n",
    );
    sandbox.write(".midstride/config.toml", "[stages.strange]\nfolder = \"strange\"\n");
    for words in [&["show", ""][..], &["show", "stranger@"], &["start", "str"]] {
        let words: Vec<&str> = ["midstride"].iter().chain(words).copied().collect();
        let found = completions(&sandbox, &words);
        assert!(!found.contains("stranger") && !found.contains("Run me"), "{found}");
    }
    assert_eq!(completions(&sandbox, &["midstride", "list", "--stage", "str"]), "");
    assert!(completions(&sandbox, &["midstride", "show", ""]).starts_with("market\t"));
    sandbox.as_user().run(["trust", "--yes"]).exits(0);
    assert_eq!(completions(&sandbox, &["midstride", "start", "str"]), "stranger\tRun me\n");
}

/// Types lines into an interactive shell and returns what `echo` printed to `out`. The completion of
/// midstride is registered for `echo` too, so that the completed line shows.
fn type_into(sandbox: &Sandbox, shell: &str, setup: &str, typed: &str) -> String {
    let input = sandbox.home().join("typed");
    std::fs::write(&input, format!("{setup}\n{typed} >out\nexit\n")).unwrap();
    let mut terminal = sandbox.command("script");
    terminal.args(["-qec", shell, "/dev/null"]).env("TERM", "xterm");
    let run = sandbox.finish(terminal.stdin(File::open(&input).unwrap()));
    std::fs::read_to_string(sandbox.root().join("out")).unwrap_or_else(|_| panic!("{run}"))
}

const BASH: (&str, &str) = (
    "bash --noprofile --norc -i",
    "source <(midstride completions bash); complete -F _midstride echo",
);
const ZSH: (&str, &str) = (
    "zsh -f -i",
    "autoload -U compinit; compinit -u -D; source <(midstride completions zsh); \
     compdef _clap_dynamic_completer_midstride echo",
);

#[test]
#[ignore = "needs bash, zsh and fish"]
fn in_a_shell_bash_completes_ids_and_revisions() {
    check_shell(BASH);
}

#[test]
#[ignore = "needs bash, zsh and fish"]
fn in_a_shell_zsh_completes_ids_and_revisions() {
    check_shell(ZSH);
}

fn check_shell((shell, setup): (&str, &str)) {
    let sandbox = project();
    let typed = |line: &str| type_into(&sandbox, shell, setup, line);
    assert_eq!(typed("echo sho\tma\t"), "show market\n");
    assert_eq!(typed("echo show market@\t"), "show market@1\n");
    assert_eq!(typed("echo diff market@1 market@\t"), "diff market@1 market@1\n");
    assert_eq!(typed("echo list --stage disc\t"), "list --stage discovery\n");
    assert_eq!(typed("echo explain S00\t3"), "explain S003\n");
}

#[test]
#[ignore = "needs bash, zsh and fish"]
fn in_a_shell_fish_completes_ids_and_revisions() {
    let sandbox = project();
    let complete = |line: &str| {
        let script = format!("midstride completions fish | source; complete -C '{line}'");
        sandbox.finish(sandbox.command("fish").args(["-c", &script])).exits(0).stdout
    };
    assert_eq!(complete("midstride show ma"), "market\tThe market page\n");
    assert_eq!(complete("midstride show market@"), "market@1\tthe current text\n");
    assert_eq!(complete("midstride explain S003"), "S003\ta blocking question is open\n");
}
