//! Tests of the home screen: `midstride` without a command, and `midstride status`.

use super::session::{ID, put};
use super::shop;
use crate::sandbox;
use midstride_testkit::{Sandbox, json_items};
use serde_json::{Value, json};

/// The lines and columns of the home screen.
const LINES_MAX: usize = 24;
const COLUMNS_MAX: usize = 80;

/// Records of a session, each after the one before.
struct ScriptedSession<'s> {
    sandbox: &'s Sandbox,
    folder: String,
    text: String,
    records: usize,
}

impl<'s> ScriptedSession<'s> {
    fn new(sandbox: &'s Sandbox, request: &str) -> Self {
        let folder = sandbox.root().display().to_string();
        let mut session = Self { sandbox, folder, text: String::new(), records: 0 };
        session.add("user", &json!(request));
        session
    }

    fn add(&mut self, kind: &str, content: &Value) -> &mut Self {
        let number = self.records;
        let record = json!({
            "sessionId": ID, "cwd": self.folder, "version": "2.1.200", "type": kind,
            "uuid": format!("r{number}"),
            "parentUuid": number.checked_sub(1).map(|before| format!("r{before}")),
            "timestamp": format!("2026-03-21T15:{:02}:00.000Z", number % 60),
            "message": {"role": kind, "content": content},
        });
        self.text.push_str(&format!("{record}\n"));
        self.records += 1;
        self
    }

    /// Calls a tool that does not return.
    fn call(&mut self, name: &str, input: &Value) -> &mut Self {
        let id = format!("t{}", self.records);
        self.add(
            "assistant",
            &json!([{"type": "tool_use", "id": id, "name": name, "input": input}]),
        )
    }

    /// Runs a command that fails.
    fn fail(&mut self, command: &str, output: &str) -> &mut Self {
        let id = format!("t{}", self.records);
        self.call("Bash", &json!({"command": command}));
        let result = json!([{
            "type": "tool_result", "tool_use_id": id, "content": output, "is_error": true,
        }]);
        self.add("user", &result)
    }

    /// Writes a file.
    fn write(&mut self, path: &str) -> &mut Self {
        let id = format!("t{}", self.records);
        let path = self.sandbox.root().join(path);
        self.call("Write", &json!({"file_path": path, "content": "export {};\n"}));
        let result = json!([{"type": "tool_result", "tool_use_id": id, "content": "Created"}]);
        self.add("user", &result)
    }

    fn save(&self) {
        put(self.sandbox, ID, &self.text);
    }
}

/// A handoff with a question to the user.
const COUPONS: &str = "\
---
handoff:
  id: coupons
  title: Coupons expire a day early
  status: planned
  created: 2026-03-20T08:00:00Z
  open_questions:
    - question: Should expired coupons be refunded?
      suggested_owner: user
---

## Next steps

- Compare in UTC
";

/// A project in which a session was killed while it edited a file.
fn killed_mid_edit() -> Sandbox {
    let sandbox = shop();
    sandbox.write(".midstride/handoffs/coupons.md", COUPONS);
    sandbox.write("src/cache.ts", "export {};\n");
    sandbox.git(&["add", "."]);
    sandbox.git(&["commit", "--quiet", "-m", "Start"]);
    sandbox.write("src/cache.ts", "export const cache = 1;\n");
    sandbox.write("src/purge.ts", "export {};\n");
    sandbox.run(["task", "add", "Measure again"]).exits(0);
    let path = sandbox.root().join("src/cache.ts");
    ScriptedSession::new(&sandbox, "Make the market pages fast again")
        .write("src/purge.ts")
        .fail("npm test", "Exit code 1\nFAIL src/cache.test.ts\n  expected 1, got 2")
        .call("Edit", &json!({"file_path": path, "old_string": "1", "new_string": "2"}))
        .save();
    sandbox
}

#[test]
fn a_project_is_shown_at_a_glance() {
    let sandbox = killed_mid_edit();
    let shown = |arguments: &[&str]| {
        let text = sandbox.run(arguments).to_string();
        let task = text.split_whitespace().find(|word| word.starts_with("t-")).unwrap();
        text.replace(task, "t-00000000")
    };
    insta::assert_snapshot!(shown(&[]), @"
    exit 0
    ----- stdout -----
    [ROOT] on main

    Last session   Claude Code, 2 hours ago, stopped while `Edit` was running
                   Make the market pages fast again
                   1 changed file
    Reopen         claude --resume [UID]
    Next action    finish the request above
    Failing        npm test: FAIL src/cache.test.ts
    Uncommitted    2 files: src/cache.ts, src/purge.ts
    Open           k5k4  unfinished request: Make the market pages fast again
    Waiting on you market-page-perf q1  for product: May the weather be ten…
                   coupons q1           Should expired coupons be refunded?
    Handoffs       market-page-perf  Market pages take 14 s
                   coupons           Coupons expire a day early
                   feat-042/request  Snapshots of machines for audits.
                   HANDOFF           Where we are (note)
    Tasks          t-00000000  Measure again
    Problems       Claude Code runs no hooks: midstride setup

    Next: claude --resume [UID]
    ");
    // A capture changes nothing about it.
    let before = shown(&["st"]);
    sandbox.run(["session", "capture"]).exits(0);
    assert_eq!(shown(&["status"]), before);
    let json: Value = serde_json::from_str(&sandbox.run(["--json"]).stdout).unwrap();
    assert_eq!(json["last_session"]["ending"], "mid-turn");
    assert_eq!(json["failing"][0]["command"], "npm test");
    assert_eq!(json["uncommitted"]["files"], json!(["src/cache.ts", "src/purge.ts"]));
    assert_eq!(json["waiting"][0]["owner"], "product");
    assert_eq!(json["waiting"][1]["owner"], Value::Null);
    assert_eq!(json["handoffs"][2]["key"], "feat-042/request");
    assert_eq!(json["next"], "claude --resume [UID]");
}

#[test]
fn a_project_without_a_session_says_how_to_start() {
    let sandbox = sandbox().repository();
    insta::assert_snapshot!(sandbox.run::<&str>([]), @r#"
    exit 0
    ----- stdout -----
    [ROOT] on main

    Next: midstride new "what you found out"
    "#);
    sandbox.as_user().run(["init"]).exits(0);
    insta::assert_snapshot!(sandbox.run::<&str>([]), @r#"
    exit 0
    ----- stdout -----
    [ROOT] on main

    Next: midstride new "what you found out"
    "#);
}

#[test]
fn a_session_is_reopened_where_it_worked_if_its_transcript_exists() {
    let sandbox = killed_mid_edit();
    sandbox.run(["session", "capture"]).exits(0);
    let reopen = |arguments: &[&str]| {
        let run = sandbox.run(arguments.iter().chain(&["status", "--json"])).exits(0);
        let shown: Value = serde_json::from_str(&run.stdout).unwrap();
        shown["last_session"]["reopen"].clone()
    };
    assert_eq!(reopen(&[]), format!("claude --resume {ID}").replace(ID, "[UID]"));
    assert_eq!(reopen(&["-C", "src"]), "cd .. && claude --resume [UID]");
    std::fs::remove_dir_all(sandbox.home().join(".claude")).unwrap();
    assert_eq!(reopen(&[]), Value::Null);
    let shown = sandbox.run(["status"]).exits(0).stdout;
    assert!(shown.contains("stopped while `Edit` was running"), "{shown}");
    assert!(!shown.contains("Reopen"), "{shown}");
    assert!(shown.contains("midstride session show 5e550001"), "{shown}");
}

#[test]
fn every_repository_with_unfinished_work_is_listed() {
    let sandbox = sandbox();
    let folder = |name: &str| sandbox.home().join(name).display().to_string();
    for name in ["shop", "docs", "done"] {
        sandbox.git(&["init", "--quiet", "--initial-branch", "main", &folder(name)]);
        sandbox.as_user().run(["-C", &folder(name), "init"]).exits(0);
        sandbox.git(&["-C", &folder(name), "add", "."]);
        sandbox.git(&["-C", &folder(name), "commit", "--quiet", "-m", "Start"]);
    }
    let shop = "---\nhandoff:\n  id: coupons\n  title: Coupons\n  status: in_progress\n  \
                created: 2026-03-19T08:00:00Z\n---\n";
    let put = |name: &str, text: &str| {
        let path = sandbox.home().join(name).join(".midstride/handoffs/coupons.md");
        std::fs::write(path, text).unwrap();
    };
    put("shop", shop);
    put("docs", &shop.replace("03-19", "03-21"));
    sandbox.run(["-C", &folder("docs"), "task", "add", "Spell it right"]).exits(0);
    insta::assert_snapshot!(sandbox.run(["-C", &folder("shop"), "--all"]), @"
    exit 0
    ----- stdout -----
    REPOSITORY  CHANGED      BRANCH  UNFINISHED
    ~/docs      9 hours ago  main    1 open handoff, 1 task
    ~/shop      2 days ago   main    1 open handoff
    ");
    // Outside a repository, the same list is the home screen. A deleted repository is skipped.
    std::fs::remove_dir_all(folder("docs")).unwrap();
    insta::assert_snapshot!(sandbox.run::<&str>([]), @"
    exit 0
    ----- stdout -----
    REPOSITORY  CHANGED     BRANCH  UNFINISHED
    ~/shop      2 days ago  main    1 open handoff
    ");
    let all: Value = json_items(&sandbox.run(["--all", "--json"]).stdout);
    assert_eq!(all.as_array().unwrap().len(), 1, "{all}");
    assert_eq!(all[0]["handoffs"][0]["key"], "coupons");
    std::fs::remove_dir_all(folder("shop")).unwrap();
    insta::assert_snapshot!(sandbox.run(["status", "--all"]), @"
    exit 0
    ----- stderr -----
    No repository with unfinished work. Next: midstride setup
    ");
}

#[test]
fn documents_of_others_are_only_counted() {
    let sandbox = sandbox().repository();
    sandbox.write(".midstride/config.toml", "");
    sandbox.write(".midstride/handoffs/coupons.md", COUPONS);
    insta::assert_snapshot!(sandbox.run::<&str>([]), @"
    exit 0
    ----- stdout -----
    [ROOT] on main

    Problems       1 document in this repository is not trusted: midstride trust

    Next: midstride trust
    ");
    sandbox.as_user().run(["trust", "--yes"]).exits(0);
    insta::assert_snapshot!(sandbox.run::<&str>([]), @"
    exit 0
    ----- stdout -----
    [ROOT] on main

    Waiting on you coupons q1  Should expired coupons be refunded?
    Handoffs       coupons  Coupons expire a day early

    Next: midstride show coupons
    ");
}

#[test]
fn a_project_with_lots_of_everything_fits_a_terminal() {
    let sandbox = shop();
    let title = "A title that is much longer than any terminal is wide, so it has to be cut";
    for number in 0..50 {
        let id = format!("a-very-long-name-of-a-handoff-that-says-it-all-{number}");
        let text = COUPONS.replace("id: coupons", &format!("id: {id}"));
        let text = text.replace("Coupons expire a day early", title);
        let text = text.replace("expired coupons", "every coupon that expired since the launch");
        sandbox.write(&format!(".midstride/handoffs/{id}.md"), text);
        sandbox.write(&format!("src/a-file-with-a-long-name-{number}.ts"), "export {};\n");
    }
    for number in 0..50 {
        sandbox.run(["task", "add", &format!("{title} {number}")]).exits(0);
    }
    let mut session = ScriptedSession::new(&sandbox, title);
    session.write("src/a-file-with-a-long-name-1.ts");
    for number in 0..8 {
        session.fail(
            &format!("cargo test -p crate-{number}"),
            &format!("Exit code 1\nerror: {title}"),
        );
    }
    session.call("Bash", &json!({"command": format!("npm run {}", "measure-".repeat(20))})).save();
    sandbox.run(["off"]).exits(0);
    let shown = sandbox.run::<&str>([]).exits(0).stdout;
    assert!(shown.lines().count() <= LINES_MAX, "{} lines: {shown}", shown.lines().count());
    for line in shown.lines() {
        assert!(line.chars().count() <= COLUMNS_MAX, "{line}");
    }
    for label in ["Last session", "Failing", "Waiting on you", "Handoffs", "Tasks", "Problems"] {
        assert!(shown.contains(label), "{label}: {shown}");
    }
    assert!(shown.contains(": midstride list"), "{shown}");
    let all: Value = serde_json::from_str(&sandbox.run(["--json"]).stdout).unwrap();
    assert_eq!(all["waiting"].as_array().unwrap().len(), 51, "{all}");
}

#[test]
fn what_sessions_left_open_is_shown_with_handles() {
    let sandbox = shop();
    let boxes: String =
        (1..=5).map(|number| format!("- [ ] Try page {number} by hand\n")).collect();
    let mut session = ScriptedSession::new(&sandbox, "Open a pull request for the cache");
    let command = format!("gh pr create --title Cache --body '{boxes}'");
    session.call("Bash", &json!({"command": command}));
    let result = json!([{
        "type": "tool_result", "tool_use_id": "t1",
        "content": "https://github.com/acme/shop/pull/7", "is_error": false,
    }]);
    session.add("user", &result);
    session.add("assistant", &json!([{"type": "text", "text": "The pull request is open."}]));
    session.save();
    let run = sandbox.run(&[] as &[&str]).exits(0);
    let open: Vec<&str> = run
        .stdout
        .lines()
        .skip_while(|line| !line.starts_with("Open "))
        .take_while(|line| line.starts_with("Open ") || line.starts_with("   "))
        .collect();
    assert_eq!(open.len(), 3, "{run}");
    assert!(open[0].contains("unchecked") && open[0].contains("Try page"), "{run}");
    assert!(open[2].contains("and 3 more: midstride dismiss"), "{run}");
    let home: Value = serde_json::from_str(&sandbox.run(["status", "--json"]).stdout).unwrap();
    let items = home["open"].as_array().unwrap();
    assert_eq!(items.len(), 5, "{home:#}");
    assert!(open[0].contains(items[0]["handle"].as_str().unwrap()), "{run}");
}
