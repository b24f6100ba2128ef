//! Tests of who is recorded as the author of a change, and of questions that only the user answers.

use super::shop;
use midstride_testkit::{Run, Sandbox};

const FILE: &str = ".midstride/handoffs/market-page-perf.md";

/// Runs the program in the shell of an agent, which unsets the variable of the agent for it.
fn hidden_agent(sandbox: &Sandbox, arguments: &[&str]) -> Run {
    let mut shell = sandbox.detached_command("sh");
    shell.args(["-c", "env -u CLAUDECODE \"$@\"; exit $?", "sh"]);
    shell.arg(env!("CARGO_BIN_EXE_midstride")).args(arguments).env("CLAUDECODE", "1");
    sandbox.finish(&mut shell)
}

/// A project with a question for the user, by the name in `MIDSTRIDE_USER`.
fn asking() -> Sandbox {
    let sandbox = shop();
    let text = sandbox.read(FILE).replace("suggested_owner: product", "suggested_owner: tester");
    sandbox.write(FILE, text);
    sandbox
}

#[test]
fn what_an_agent_does_is_recorded_under_its_own_name() {
    let sandbox = shop();
    hidden_agent(&sandbox, &["new", "A find", "--no-edit"]).exits(0);
    assert!(sandbox.read(".midstride/handoffs/find.md").contains("\n  from: claude-code\n"));
    hidden_agent(&sandbox, &["answer", "market", "a1", "--holds"]).exits(0);
    assert!(sandbox.read(FILE).contains(" by: claude-code, "), "{}", sandbox.read(FILE));
    // A name of its own is fine, the name of the user is not.
    let review = ["review", "market", "--challenged", "all", "--verdict", "held", "--by"];
    hidden_agent(&sandbox, &[&review[..], &["second-reader"]].concat()).exits(0);
    assert!(sandbox.read(FILE).contains(" by: second-reader, "), "{}", sandbox.read(FILE));
    for name in ["tester", "@Tester", "the user"] {
        hidden_agent(&sandbox, &[&review[..], &[name]].concat()).exits(0);
        let recorded = format!(" by: claude-code as {name}, ");
        assert!(sandbox.read(FILE).contains(&recorded), "{name}: {}", sandbox.read(FILE));
    }
    let task = hidden_agent(&sandbox, &["task", "add", "Look again"]).exits(0);
    let shown = sandbox.run(["task", "show", task.stdout.trim(), "--json"]).exits(0).stdout;
    assert!(shown.contains("claude-code") && !shown.contains("tester"), "{shown}");
    assert!(!sandbox.read(FILE).contains("by: tester"), "{}", sandbox.read(FILE));
    // The user is recorded by name.
    sandbox.run(["answer", "market", "q1", "Yes"]).exits(0);
    assert!(sandbox.read(FILE).contains(" by: tester, "), "{}", sandbox.read(FILE));
}

#[test]
fn the_user_is_recorded_by_the_name_that_git_knows() {
    let sandbox = shop();
    let run = |arguments: &[&str]| {
        let mut command = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
        command.args(arguments).env_remove("MIDSTRIDE_USER").env("USER", "ada");
        sandbox.finish(&mut command).exits(0)
    };
    sandbox.git(&["config", "user.name", "Ada Lovelace"]);
    run(&["new", "First find", "--no-edit"]);
    assert!(sandbox.read(".midstride/handoffs/first-find.md").contains("\n  from: Ada Lovelace\n"));
    let shown = run(&["show", "first-find"]).stdout;
    assert!(shown.contains("from Ada Lovelace"), "{shown}");
    // An agent that uses this name is recorded with its own.
    let review = ["review", "market", "--challenged", "all", "--verdict", "held", "--by"];
    let mut agent = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    agent.args(review).arg("ada lovelace").env_remove("MIDSTRIDE_USER").env("CLAUDECODE", "1");
    sandbox.finish(&mut agent).exits(0);
    assert!(
        sandbox.read(FILE).contains(" by: claude-code as ada lovelace, "),
        "{}",
        sandbox.read(FILE)
    );
    // Without a name in git, the name of the account counts.
    sandbox.git(&["config", "user.name", ""]);
    run(&["new", "Second find", "--no-edit"]);
    assert!(sandbox.read(".midstride/handoffs/second-find.md").contains("\n  from: ada\n"));
}

#[test]
fn an_agent_cannot_answer_a_question_for_the_user() {
    let sandbox = asking();
    let answer = ["answer", "market", "q1", "Yes, ten minutes"];
    insta::assert_snapshot!(hidden_agent(&sandbox, &answer), @"
    exit 2
    ----- stderr -----
    error: this command requires the user, but it is running inside Claude Code
    hint: ask the user to run this in a terminal: midstride -C [ROOT] answer market q1 'Yes, ten minutes'
    ");
    insta::assert_snapshot!(sandbox.run(answer), @"
    exit 2
    ----- stderr -----
    error: cannot prompt: no terminal
    hint: run this in a terminal: midstride -C [ROOT] answer market q1 'Yes, ten minutes'
    ");
    assert!(!sandbox.read(FILE).contains("answer: Yes"));
    // The name that an agent gives the user does not matter where the word says who it is.
    let text = sandbox.read(FILE).replace("suggested_owner: tester", "suggested_owner: User");
    sandbox.write(FILE, text);
    let mut renamed = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    sandbox.finish(renamed.args(answer).env("MIDSTRIDE_USER", "somebody")).exits(2);
    sandbox.as_user().run(answer).exits(0);
    assert!(sandbox.read(FILE).contains("answer: Yes, ten minutes"), "{}", sandbox.read(FILE));
}
