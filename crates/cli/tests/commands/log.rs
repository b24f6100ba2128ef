//! Tests of `log`: one line per session, and what of it may leave the machine.

use super::session::put;
use crate::sandbox;
use midstride_testkit::Sandbox;
use serde_json::{Value, json};

const FIRST: &str = "5e550001-4c00-7000-8000-00000000aaaa";
const SECOND: &str = "5e550002-4c00-7000-8000-00000000bbbb";

/// A Claude Code session in which each call returned.
pub(crate) struct Scripted<'s> {
    sandbox: &'s Sandbox,
    id: &'static str,
    day: &'static str,
    text: String,
    records: usize,
}

impl<'s> Scripted<'s> {
    pub(crate) fn new(sandbox: &'s Sandbox, id: &'static str, day: &'static str) -> Self {
        Self { sandbox, id, day, text: String::new(), records: 0 }
    }

    fn add(&mut self, kind: &str, content: &Value) -> &mut Self {
        let number = self.records;
        let record = json!({
            "sessionId": self.id, "cwd": self.sandbox.root(), "version": "2.1.200", "type": kind,
            "gitBranch": "main", "uuid": format!("{}-{number}", self.id),
            "parentUuid": number.checked_sub(1).map(|before| format!("{}-{before}", self.id)),
            "timestamp": format!("{}T10:{:02}:00.000Z", self.day, number % 60),
            "message": {"role": kind, "content": content},
        });
        self.text.push_str(&format!("{record}\n"));
        self.records += 1;
        self
    }

    pub(crate) fn ask(&mut self, text: &str) -> &mut Self {
        self.add("user", &json!(text))
    }

    pub(crate) fn say(&mut self, text: &str) -> &mut Self {
        self.add("assistant", &json!([{"type": "text", "text": text}]))
    }

    pub(crate) fn run(&mut self, command: &str, output: &str, fails: bool) -> &mut Self {
        let id = format!("t{}", self.records);
        let call =
            json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}});
        self.add("assistant", &json!([call]));
        let result = json!({
            "type": "tool_result", "tool_use_id": id, "content": output, "is_error": fails,
        });
        self.add("user", &json!([result]))
    }

    pub(crate) fn save(&self) {
        put(self.sandbox, self.id, &self.text);
    }
}

/// A repository with two sessions: one committed, and one stopped while a check failed.
fn two_sessions() -> Sandbox {
    let sandbox = sandbox().repository();
    sandbox.as_user().run(["init", "--private"]).exits(0);
    let notes = sandbox.home().join("notes.md").display().to_string();
    let source = sandbox.root().join("src/cache.ts").display().to_string();
    Scripted::new(&sandbox, FIRST, "2026-03-19")
        .ask(&format!(
            "Make the pages fast again for every city, keep the <b>bold</b> text as it is, and \
             then look at {source} and {notes}"
        ))
        .run("git commit -m 'Cache pages'", "[main 1a2b3c4] Cache pages\n 1 file changed", false)
        .run("npm test", "Tests: 3 passed", false)
        .say("The pages are cached now.")
        .save();
    Scripted::new(&sandbox, SECOND, "2026-03-20")
        .ask(&format!(
            "Continue {FIRST}: warm the cache with ghp_u8jzPde0IgxLd6GncfBAepfJBd0Kh8oOOL8d"
        ))
        .run("npm test", "Exit code 1\nFAIL src/cache.test.ts", true)
        .save();
    sandbox
}

#[test]
fn each_session_is_one_line_newest_first() {
    let sandbox = two_sessions();
    let before = sandbox.run(["log"]);
    insta::assert_snapshot!(before, @"
    exit 0
    ----- stdout -----
    2026-03-20  5e550002  Claude Code  Continue [UID]: warm the cache with… (npm test failing, stopped mid-turn)
    2026-03-19  5e550001  Claude Code  Make the pages fast again for every city, keep the <b>bold</b> text as it… (1 commit, npm test passed, completed)
    ");
    for id in [FIRST, SECOND] {
        sandbox.run(["checkpoint", "--session", id]).exits(0);
    }
    assert_eq!(sandbox.run(["log"]).stdout, before.stdout, "a capture changes nothing");
    let log: Value = serde_json::from_str(&sandbox.run(["log", "--json"]).stdout).unwrap();
    assert_eq!((&log["schema"], &log["items"][0]["ending"]), (&"log/1".into(), &"mid-turn".into()));
    assert_eq!(log["items"][1]["commits"], json!([{"id": "1a2b3c4", "subject": "Cache pages"}]));
    assert_eq!(log["items"][0]["failing"], json!(["npm test"]));
}

#[test]
fn a_log_in_markdown_makes_sense_elsewhere() {
    let sandbox = two_sessions();
    let run = sandbox.run(["log", "--as", "markdown"]);
    insta::assert_snapshot!(run, @r"
    exit 0
    ----- stdout -----
    ## 2026-03-20

    - Continue (a session): warm the cache with REDACTED-github-token (Claude Code, stopped mid-turn)
      - failing: `npm test`

    ## 2026-03-19

    - Make the pages fast again for every city, keep the \<b>bold\</b> text as it is, and then look at src/cache.ts and notes.md (Claude Code, completed)
      - commit `1a2b3c4` Cache pages
      - passed: `npm test`
    ");
    for hidden in ["5e55", "[ROOT]", "[HOME]", "[UID]", "ghp_"] {
        assert!(!run.stdout.contains(hidden), "{hidden}: {run}");
    }
}

#[test]
fn a_log_is_limited_by_time_and_branch() {
    let sandbox = two_sessions();
    let lines = |arguments: &[&str]| {
        sandbox.run([&["log"], arguments].concat()).exits(0).stdout.lines().count()
    };
    assert_eq!(lines(&["--since", "friday"]), 1);
    assert_eq!(lines(&["--since", "3 days"]), 2);
    assert_eq!(lines(&["--branch", "main"]), 2);
    insta::assert_snapshot!(sandbox.run(["log", "--branch", "elsewhere"]), @"
    exit 1
    ----- stderr -----
    No session matches; the newest one ended on 2026-03-20
    hint: drop `--branch`
    ");
    insta::assert_snapshot!(sandbox.run(["log", "--since", "soon"]), @r#"
    exit 2
    ----- stderr -----
    error: `soon` is not a date
    hint: write it as 2026-03-21, friday, yesterday or "3 days"
    "#);
    let empty = sandbox.run(["log", "--since", "today", "--json"]).exits(1).stdout;
    assert_eq!(
        serde_json::from_str::<Value>(&empty).unwrap(),
        json!({"schema": "log/1", "items": []})
    );
}

#[test]
fn the_log_of_all_repositories_names_each() {
    let sandbox = two_sessions();
    sandbox.run(["checkpoint", "--session", FIRST]).exits(0);
    let outside = sandbox.home().join("elsewhere");
    std::fs::create_dir_all(&outside).unwrap();
    let mut command = sandbox.command(sandbox.program());
    insta::assert_snapshot!(sandbox.finish(command.args(["log"]).current_dir(&outside)), @"
    exit 0
    ----- stdout -----
    2026-03-20  project  5e550002  Claude Code  Continue [UID]: warm the cache with… (npm test failing, stopped mid-turn)
    2026-03-19  project  5e550001  Claude Code  Make the pages fast again for every city, keep the <b>bold</b>… (1 commit, npm test passed, completed)
    ");
}
