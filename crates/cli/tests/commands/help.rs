//! Tests of help, aliases and suggestions.

use super::shop;
use crate::sandbox;

/// Lines that `midstride help` leaves for a group of three more commands.
const RESERVED_LINES: usize = 4;

#[test]
fn short_help_fits_a_small_terminal() {
    let sandbox = sandbox();
    let run = sandbox.run(["help"]).exits(0);
    assert!(run.stdout.lines().count() <= 24 - RESERVED_LINES, "{run}");
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 80), "{run}");
    insta::assert_snapshot!(run.stdout, @"
    Hands work from one AI agent session to the next

    Start here
      setup        Set up midstride on this machine
      status       Show this project at a glance
      log          List what your sessions did
      brief        Print the briefing for the next session
      save         Save this session for the next one
      demo         See a killed session resumed
    Handoffs
      new          Write a new handoff
      list         List the handoffs of this project
      show         Show one handoff
      edit         Change a handoff
      check        Check handoffs for problems
      search       Search handoffs by their text
      answer       Answer a question or validate an assumption
      resolve      Close a handoff as resolved, superseded or abandoned

    All commands: midstride help --all   One command: midstride help COMMAND
    ");
    for option in ["-h", "--help"] {
        assert_eq!(sandbox.run([option]).exits(0), run);
    }
}

#[test]
fn full_help_lists_every_command_in_its_group() {
    let run = sandbox().run(["help", "--all"]).exits(0);
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 80), "{run}");
    insta::assert_snapshot!(run.stdout, @"
    Hands work from one AI agent session to the next

    Usage: midstride [OPTIONS] [COMMAND]

    Start here
      setup        Set up midstride on this machine
      status       Show this project at a glance
      log          List what your sessions did
      brief        Print the briefing for the next session
      save         Save this session for the next one
      demo         See a killed session resumed
    Handoffs
      new          Write a new handoff
      list         List the handoffs of this project
      show         Show one handoff
      edit         Change a handoff
      check        Check handoffs for problems
      search       Search handoffs by their text
      start        Start work on a handoff
      answer       Answer a question or validate an assumption
      review       Record a review and its verdict
      resolve      Close a handoff as resolved, superseded or abandoned
      reopen       Reopen a closed handoff
    More handoff commands
      undo         Undo the last change to a handoff
      diff         Show what changed between two revisions
      share        Move a private handoff to the committed folder
      advance      Draft the next stage of a handoff
    Sessions and tasks
      session      List, show and capture agent sessions
      task         List, add and finish tasks
      continue     Continue a session or handoff in a new session
      why          Show why a commit or line was written
    Trust and data
      trust        Trust this project, or the proof commands of a handoff
      verify       Re-run the proof commands you have approved
      data         List what midstride stores on this machine
      forget       Permanently remove an earlier revision or checkpoint
      dismiss      Close an item or instruction that briefings repeat
    Setup
      client       Install or remove midstride in your agents
      doctor       Check that midstride works
      config       Show and change settings
      off          Turn hooks off in this project
      on           Turn hooks back on in this project
      sync         Exchange revisions and tasks through a remote
      init         Set up this project for a team
    Plumbing
      help         Show help for midstride or a command
      fmt          Rewrite handoffs in strict form
      schema       Print the JSON Schema of the header
      explain      Explain a finding, or list all codes
      completions  Print the completion script for a shell
      man          Print a manual page
      mcp          Serve an agent over standard input and output (MCP)
      hook         Answer a hook call from a client
      merge        Merge a handoff that has git conflicts
      events       Print events from the ledger
      redact       Remove secrets from text
      statusline   Print the status line for a client
      reference    Print a page of generated documentation
      checkpoint   Capture a session, as `session capture` does
    Global options
      -C FOLDER     Work as if started in this folder
      --color WHEN  auto, always or never
      -h, --help    Show help for midstride or a command
      --version     Show the version
    Exit codes
      0  success, no findings
      1  findings, or nothing matched
      2  could not run: usage error or other error
    ");
}

#[test]
fn help_of_a_command_is_what_its_option_prints() {
    let sandbox = sandbox();
    for words in [&["list"][..], &["session", "capture"], &["ls"], &["hook"], &["task", "add"]] {
        let help = sandbox.run([&["help"], words].concat()).exits(0);
        assert!(help.stdout.contains("Examples:\n"), "{help}");
        assert_eq!(help, sandbox.run([words, &["--help"]].concat()));
    }
    insta::assert_snapshot!(sandbox.run(["help", "session", "lst"]), @"
    exit 2
    ----- stderr -----
    error: there is no `midstride session lst` command
    hint: did you mean `midstride session list`?
    ");
}

#[test]
fn an_alias_runs_its_command() {
    let sandbox = shop();
    assert_eq!(sandbox.run(["ls"]).exits(0), sandbox.run(["list"]));
    assert_eq!(sandbox.run(["st"]).exits(0), sandbox.run(["status"]));
    let done = sandbox.run(["done", "market", "--outcome", "fast"]).exits(0);
    assert!(done.stderr.contains("resolved"), "{done}");
}

#[test]
fn an_unknown_command_suggests_what_was_meant() {
    let sandbox = sandbox();
    let words: [&[&str]; 17] = [
        &["close"],
        &["install"],
        &["import"],
        &["handoff"],
        &["revise", "market", "--reason", "x"],
        &["allow", "market"],
        &["graph"],
        &["state"],
        &["session", "promote", "5e55"],
        &["-C", ".", "session", "lst"],
        &["serach", "x"],
        &["stauts"],
        &["lgo"],
        &["resovle"],
        &["donut"],
        &["quux"],
        &["task", "quux"],
    ];
    let mut seen = String::new();
    for words in words {
        let run = sandbox.run(words).exits(2);
        assert_eq!(run.stdout, "");
        seen.push_str(&run.stderr);
    }
    insta::assert_snapshot!(seen, @"
    error: there is no `midstride close` command
    hint: `midstride resolve` closes a handoff
    error: there is no `midstride install` command
    hint: `midstride setup` installs midstride into your clients
    error: there is no `midstride import` command
    hint: `midstride setup` imports past sessions
    hint: `midstride new --from NOTE` turns a note into a handoff
    error: there is no `midstride handoff` command
    hint: `midstride new` writes a handoff
    hint: `midstride save` saves a session as a handoff
    error: there is no `midstride revise` command
    hint: `midstride edit --body FILE --reason TEXT` changes a handoff
    error: there is no `midstride allow` command
    hint: `midstride trust HANDOFF` allows a handoff's proof commands
    error: there is no `midstride graph` command
    hint: `midstride list --graph` shows how handoffs are connected
    error: there is no `midstride state` command
    hint: `midstride session state` shows saved workflow states
    error: there is no `midstride session promote` command
    hint: `midstride save --session ID` turns a session into a handoff
    error: there is no `midstride session lst` command
    hint: did you mean `midstride session list`?
    error: there is no `midstride serach` command
    hint: did you mean `midstride search`?
    error: there is no `midstride stauts` command
    hint: did you mean `midstride status`?
    error: there is no `midstride lgo` command
    hint: did you mean `midstride log`?
    error: there is no `midstride resovle` command
    hint: did you mean `midstride resolve`?
    error: there is no `midstride donut` command
    hint: `midstride help` lists the commands
    error: there is no `midstride quux` command
    hint: `midstride help` lists the commands
    error: there is no `midstride task quux` command
    hint: `midstride task --help` lists its commands
    ");
}

#[test]
fn a_known_word_is_no_command() {
    let sandbox = sandbox();
    for word in ["sessions", "tasks", "close", "install", "import", "handoff", "revise"] {
        let run = sandbox.run([word]).exits(2);
        assert!(run.stderr.contains("hint: `midstride "), "{word}: {run}");
    }
}
