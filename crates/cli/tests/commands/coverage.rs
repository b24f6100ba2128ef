//! Tests of coverage: what a handoff covers of its session.

use super::session::worked_in;
use midstride_testkit::{Sandbox, fixtures};
use serde_json::Value;

const PATH: &str = ".midstride/handoffs/market-page-cache.md";

fn good() -> String {
    std::fs::read_to_string(fixtures("coverage").join("cache.md")).unwrap()
}

/// The good handoff, naming a checkpoint.
fn naming(checkpoint: &str) -> String {
    let recovery = format!(
        "  state:\n    recovery:\n      client: claude-code\n      session: 5e55\n      checkpoint: {checkpoint}\n---\n## "
    );
    good().replacen("---\n## ", &recovery, 1)
}

fn written_down(sandbox: &Sandbox) -> String {
    let run = sandbox.run(["session", "capture", "--json"]).exits(0);
    let done: Value = serde_json::from_str(&run.stdout).unwrap();
    done["checkpoint"].as_str().unwrap().to_owned()
}

fn checked(sandbox: &Sandbox, arguments: &[&str]) -> Value {
    let run = sandbox.run([&["check", "--json"], arguments].concat());
    serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run}"))
}

#[test]
fn a_handoff_is_compared_with_the_session_it_names() {
    let sandbox = worked_in();
    let blob = written_down(&sandbox);
    sandbox.write(PATH, naming(&blob));
    insta::assert_snapshot!(sandbox.run(["check", "market-page-cache"]), @"
    exit 0
    ----- stdout -----
    Coverage of session [UID]: 6 of 6 required items covered
    what              happened  named  covered
    corrections       2         2      2
    failed commands   1         1      1
    reverted edits    1         1      1
    open tasks        2         2      2
    user decisions    1         1      1
    agents in flight  1         1      1
    changed files     3         3      3
    ----- stderr -----
    1 document checked: 1 hint (C003); show it with -v
    ");
    let json = checked(&sandbox, &["market-page-cache"]);
    let coverage = &json["documents"][0]["coverage"];
    assert_eq!(coverage["is_here"], true);
    assert_eq!((&coverage["required"], &coverage["covered"]), (&6.into(), &6.into()), "{coverage}");
    let items = coverage["items"].as_array().unwrap();
    let page = items.iter().find(|item| item["what"] == "reverted edit").unwrap();
    assert_eq!((&page["told"], &page["record"]), (&"covered".into(), &"a15".into()));
    assert!(page["line"].as_u64().unwrap() > 1, "{page}");
    // Among other documents it gets one line.
    let all = sandbox.run(["check"]).stdout;
    assert!(all.contains("market-page-cache: coverage of session"), "{all}");
    assert!(!sandbox.run(["check", "--quiet"]).stdout.contains("coverage of session"));
}

#[test]
fn a_handoff_is_compared_with_any_session() {
    let sandbox = worked_in();
    sandbox.write(PATH, good());
    insta::assert_snapshot!(sandbox.run(["check", "login-loop", "--session", "5e55"]), @r#"
    exit 1
    ----- stdout -----
    warning[C011]: not covered: correction "Keep it in one file" (record a21), correction "Do not touch the pages, only the cache." (record a19), failed command `npm run build` (record a38), and 3 more
     --> .midstride/handoffs/login-loop.md:2:1
      |
    2 | handoff:
      | ^^^^^^^
      |
      = help: quote or paraphrase a correction as a constraint, say what an open task is waiting for, and say why a command fails or an edit was reverted

    Coverage of session [UID]: 0 of 6 required items covered
    what              happened  named  covered
    corrections       2         0      0
    failed commands   1         0      0
    reverted edits    1         0      0
    open tasks        2         0      0
    user decisions    1         0      0
    agents in flight  1         0      0
    changed files     3         0      0
    not covered: correction: Keep it in one file (record a21)
    not covered: correction: Do not touch the pages, only the cache. (record a19)
    not covered: failed command: npm run build (record a38)
    not covered: reverted edit: src/page.tsx (record a15)
    not covered: open task: Warm the cache (record a31)
    not covered: open task: Measure again (record a29)
    not covered: user decision: Which store? Redis (record a23)
    not covered: agent in flight: ag2: bench (record a34)
    not covered: changed file: docs/cache-plan.md (record a17)
    not covered: changed file: src/page.tsx (record a15)
    not covered: 1 more (see --json)
    ----- stderr -----
    1 document checked: 1 warning
    "#);
    // Quiet omits hints, not problems.
    let quiet = sandbox.run(["check", "login-loop", "--session", "5e55", "--quiet"]).exits(1);
    let line = "0 of 6 required items covered\n";
    assert!(quiet.stdout.contains(line) && !quiet.stdout.contains("C005"), "{quiet}");
    let quiet = sandbox.run(["check", "market-page-cache", "--session", "5e55", "--quiet"]);
    assert!(!quiet.exits(0).stdout.contains("overage of session"));
    let json = checked(&sandbox, &["login-loop", "--session", "5e55"]);
    assert_eq!(json["documents"][0]["coverage"]["covered"], 0);
    let json = checked(&sandbox, &["market-page-cache", "--session", "5e55"]);
    assert_eq!(json["documents"][0]["coverage"]["covered"], 6);
    let other = fixtures("transcripts/codex").join("login.jsonl").display().to_string();
    let json = checked(&sandbox, &["market-page-cache", "--transcript", &other]);
    assert_eq!(json["documents"][0]["coverage"]["client"], "codex");
    insta::assert_snapshot!(sandbox.run(["check", "login-loop", "--session", "nowhere"]), @"
    exit 2
    ----- stderr -----
    error: there is no session `nowhere` in this project
    hint: `midstride session list` shows them all
    ");
    insta::assert_snapshot!(sandbox.run(["check", "--session", "5e55"]), @"
    exit 2
    ----- stderr -----
    error: the following required arguments were not provided:
      <HANDOFFS>...

    Usage: midstride check --session <ID> <HANDOFFS>...

    For more information, try '--help'.
    ");
}

#[test]
fn unexplained_items_are_shown_where_they_are_named() {
    let sandbox = worked_in();
    let path = ".midstride/handoffs/login-loop.md";
    let text = format!("{}\n- `npm run build` failed\n", sandbox.read(path));
    sandbox.write(path, &text);
    let json = checked(&sandbox, &["login-loop", "--session", "5e55"]);
    let findings = json["documents"][0]["findings"].as_array().unwrap();
    let named = findings.iter().find(|finding| finding["code"] == "C012").unwrap();
    assert_eq!(named["line"], text.lines().count(), "{named}");
}

#[test]
fn a_missing_session_is_reported_once_and_fails_nothing() {
    let sandbox = worked_in();
    sandbox.write(PATH, naming(&"0".repeat(64)));
    insta::assert_snapshot!(sandbox.run(["check", "market-page-cache"]), @"
    exit 0
    ----- stderr -----
    Session 5e55 is not recorded on this machine; its actions were not compared
    1 document checked: 1 hint (C003); show it with -v
    ");
    let json = checked(&sandbox, &["market-page-cache"]);
    assert_eq!(json["documents"][0]["coverage"]["is_here"], false);
}

#[test]
fn uncovered_items_can_be_silenced() {
    let sandbox = worked_in();
    let path = ".midstride/handoffs/market-page-perf.md";
    let text = sandbox.read(path);
    sandbox
        .write(path, format!("{text}\n<!-- midstride: allow C011 the user wants it short -->\n"));
    let json = checked(&sandbox, &["market-page-perf", "--session", "5e55"]);
    let document = &json["documents"][0];
    assert_eq!(document["silenced"][0]["code"], "C011", "{document}");
    // Without the session, it is unknown whether there is something to silence.
    let json = checked(&sandbox, &["market-page-perf"]);
    let codes = json["documents"][0]["findings"].to_string();
    assert!(!codes.contains("A002"), "{codes}");
}
