//! Tests of what an agent that may run `midstride save` can reach with it.

use super::shop;
use midstride_testkit::{Run, Sandbox};
use std::os::unix::fs::symlink;
use std::path::Path;

const SAID: [&str; 5] = ["save", "--no-session", "--title", "Slow pages", "--json"];

fn by_agent(sandbox: &Sandbox, more: &[&str]) -> Run {
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    sandbox.finish(command.args(SAID).args(more).env("CLAUDECODE", "1"))
}

fn handoffs(root: &Path) -> usize {
    std::fs::read_dir(root.join(".git/midstride/handoffs")).map_or(0, Iterator::count)
}

#[test]
fn an_agent_saves_only_into_its_own_project() {
    let (own, other) = (shop(), shop());
    let there = other.root().display().to_string();
    insta::assert_snapshot!(by_agent(&own, &["-C", &there]), @r#"
    exit 2
    ----- stdout -----
    {
      "schema": "error/1",
      "code": "invalid-input",
      "message": "an agent can save only to the project its shell is in",
      "hint": "omit `-C`"
    }
    "#);
    assert_eq!(handoffs(other.root()), 0);
    let and_body = by_agent(&own, &["-C", &there, "--body", "README.md"]);
    assert_eq!(and_body.code, Some(2), "{and_body}");
    // A subfolder is the same project, and the user may save anywhere.
    own.write("src/deep/a.txt", "a");
    by_agent(&own, &["-C", "src/deep"]).exits(1);
    assert_eq!(handoffs(own.root()), 1);
    own.run([&SAID[..], &["-C", &there]].concat()).exits(1);
    assert_eq!(handoffs(other.root()), 1);
}

#[test]
fn an_agent_saves_only_texts_of_its_project() {
    let sandbox = shop();
    std::fs::write(sandbox.home().join("secret.md"), "The password is swordfish.").unwrap();
    let outside = sandbox.home().join("secret.md").display().to_string();
    symlink(&outside, sandbox.root().join("link.md")).unwrap();
    insta::assert_snapshot!(by_agent(&sandbox, &["--body", &outside]), @r#"
    exit 2
    ----- stdout -----
    {
      "schema": "error/1",
      "code": "invalid-input",
      "message": "`[HOME]/secret.md` is outside this project",
      "hint": "an agent can pass the text on standard input with `--body -`\nor write the file inside the project"
    }
    "#);
    by_agent(&sandbox, &["--body", "link.md"]).exits(2);
    by_agent(&sandbox, &["--body", "missing.md"]).exits(2);
    assert_eq!(handoffs(sandbox.root()), 0);
    sandbox.write("notes/body.md", "The cache is purged on every deploy.");
    by_agent(&sandbox, &["--body", "notes/body.md"]).exits(1);
    let user = sandbox.run([&SAID[..], &["--body", &outside, "--id", "by-user"]].concat());
    assert_eq!(user.code, Some(1), "{user}");
}

#[test]
fn an_agent_saves_only_sessions_of_its_project() {
    let sandbox = shop();
    // Its folder is gone, so that a user could recover it.
    let record = r#"{"type":"user","uuid":"a","sessionId":"5e55","cwd":"/gone/client-x","message":{"role":"user","content":"Rotate the keys"}}"#;
    let path = sandbox.home().join(".claude/projects/-gone-client-x/5e55.jsonl");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, format!("{record}\n")).unwrap();
    let path = path.display().to_string();
    let save = ["save", "--transcript", &path, "--title", "Keys", "--json"];
    let mut agent = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    let refused = sandbox.finish(agent.args(save).env("CLAUDECODE", "1"));
    insta::assert_snapshot!(refused, @r#"
    exit 2
    ----- stdout -----
    {
      "schema": "error/1",
      "code": "invalid-input",
      "message": "`[HOME]/.claude/projects/-gone-client-x/5e55.jsonl` is not a transcript from this project",
      "hint": "`midstride session list` shows this project's sessions"
    }
    "#);
    assert_eq!(handoffs(sandbox.root()), 0);
    let user = sandbox.run(save);
    assert_eq!(user.code, Some(1), "{user}");
}
