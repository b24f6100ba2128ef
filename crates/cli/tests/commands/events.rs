//! Tests of `events`, which shows the ledger.

use super::shop;
use midstride_testkit::Sandbox;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

/// The lines of the list that are about a handoff.
fn told(sandbox: &Sandbox, about: &str) -> Vec<String> {
    let run = sandbox.run(["events"]).exits(0);
    run.stdout.lines().filter(|line| line.contains(about)).map(str::to_owned).collect()
}

#[test]
fn events_are_listed_in_order() {
    let sandbox = shop();
    sandbox.run(["answer", "market", "q1", "Yes"]).exits(0);
    sandbox.run(["resolve", "market", "--outcome", "done"]).exits(0);
    insta::assert_snapshot!(sandbox.run(["events"]), @"
    exit 0
    ----- stdout -----
    2026-03-21 17:24  market-page-perf  captured  (by nightcheck)
    2026-03-22 08:00  market-page-perf  wrong code path
    2026-03-21 17:24  market-page-perf  answered q1  (by tester)
    2026-03-21 17:24  market-page-perf  resolved  (by tester)
    ");
    let run = sandbox.run(["events", "--json", "--after", "1"]).exits(0);
    let line: serde_json::Value = serde_json::from_str(run.stdout.trim()).unwrap();
    let expected = [
        ("/specversion", "1.0"),
        ("/type", "midstride.handoff.revised.v1"),
        ("/source", "tester"),
        ("/sequence", "2"),
        ("/data/verb", "resolve"),
        ("/data/reason", "resolved"),
        ("/data/key", "market-page-perf"),
    ];
    for (place, value) in expected {
        assert_eq!(line.pointer(place).and_then(|at| at.as_str()), Some(value), "{run}");
    }
    assert_eq!(line["id"].as_str().map(str::len), Some(32), "{run}");
}

#[test]
fn events_are_rebuilt_without_the_ledger() {
    let sandbox = shop();
    sandbox.run(["answer", "market", "q1", "Yes"]).exits(0);
    sandbox.run(["answer", "market", "a1", "--holds"]).exits(0);
    let before = told(&sandbox, "market");
    for name in ["ledger.db", "ledger.db-wal", "ledger.db-shm"] {
        let _ = std::fs::remove_file(sandbox.root().join(".git/midstride").join(name));
    }
    assert_eq!(told(&sandbox, "market"), before);
    // A merge, a pull or an edit by hand adds entries that are not in the ledger yet.
    let file = ".midstride/handoffs/market-page-perf.md";
    let entry = "    - at: 2026-03-22T09:00:00Z\n      by: bob\n      reason: elsewhere\n---\n\n## Diagnosis";
    sandbox.write(file, sandbox.read(file).replacen("---\n\n## Diagnosis", entry, 1));
    let after = told(&sandbox, "market");
    assert_eq!(after.len(), before.len() + 1);
    assert!(after.last().unwrap().ends_with("elsewhere  (by bob)"), "{after:?}");
}

#[test]
fn an_unusable_ledger_does_not_block_work() {
    let sandbox = shop();
    sandbox.write(".git/midstride/ledger.db", "no database at all, but long enough".repeat(50));
    insta::assert_snapshot!(sandbox.run(["answer", "market", "q1", "Yes"]), @"
    exit 0
    ----- stderr -----
    market-page-perf@3: answered q1
    warning: the ledger was not updated: `[ROOT]/.git/midstride/ledger.db` cannot be read: file is not a database
    hint: the document was written; the next change or `midstride events` will record it in the ledger
    ");
    insta::assert_snapshot!(sandbox.run(["events"]), @"
    exit 2
    ----- stderr -----
    error: `[ROOT]/.git/midstride/ledger.db` cannot be read: file is not a database
    hint: restore `[ROOT]/.git/midstride/ledger.db` from a backup
    hint: or move it and `ledger.db-wal` out of the way: midstride rebuilds what it can from documents and transcripts, and `midstride sync` fetches shared tasks
    ");
}

#[test]
fn an_emptied_ledger_is_not_a_project_without_tasks() {
    let sandbox = shop();
    sandbox.run(["task", "add", "Warm the cache"]).exits(0);
    let private = sandbox.root().join(".git/midstride");
    for name in ["ledger.db-wal", "ledger.db-shm"] {
        let _ = std::fs::remove_file(private.join(name));
    }
    let refused = sandbox.run(["task", "list"]).exits(2).to_string();
    assert!(refused.contains("was set up earlier and is now empty"), "{refused}");
    sandbox.write(".git/midstride/ledger.db", "");
    insta::assert_snapshot!(sandbox.run(["task", "list"]), @"
    exit 2
    ----- stderr -----
    error: `[ROOT]/.git/midstride/ledger.db` was set up earlier and is now empty
    hint: restore `[ROOT]/.git/midstride/ledger.db` and its log `ledger.db-wal` from a backup
    hint: or move it and `ledger.db-wal` out of the way: midstride rebuilds what it can from documents and transcripts, and `midstride sync` fetches shared tasks
    ");
    let said = sandbox.run(["doctor"]).exits(1).to_string();
    assert!(said.contains("was set up earlier and is now empty"), "{said}");
    std::fs::remove_file(private.join("ledger.db")).unwrap();
    sandbox.run(["task", "list"]).exits(0);
}

#[test]
fn a_log_that_lost_its_database_is_reported_and_kept() {
    let sandbox = shop();
    sandbox.run(["task", "add", "Warm the cache"]).exits(0);
    let private = sandbox.root().join(".git/midstride");
    let whole = std::fs::read(private.join("ledger.db")).unwrap();
    let log = std::fs::read(private.join("ledger.db-wal")).unwrap();
    sandbox.write(".git/midstride/ledger.db", "");
    insta::assert_snapshot!(sandbox.run(["task", "list"]), @"
    exit 2
    ----- stderr -----
    error: `[ROOT]/.git/midstride/ledger.db` is empty, but its log `[ROOT]/.git/midstride/ledger.db-wal` has data
    hint: nothing was changed; restore both files from a backup
    hint: or move it and `ledger.db-wal` out of the way: midstride rebuilds what it can from documents and transcripts, and `midstride sync` fetches shared tasks
    ");
    for is_missing in [false, true] {
        if is_missing {
            std::fs::remove_file(private.join("ledger.db")).unwrap();
        }
        let word = if is_missing { "is missing, but its log" } else { "is empty, but its log" };
        for command in [&["task", "list"][..], &["events"], &["forget", "--review"]] {
            let refused = sandbox.run(command.iter().copied()).exits(2).to_string();
            assert!(refused.contains(word), "{refused}");
        }
        let said = sandbox.run(["doctor"]).exits(1).to_string();
        assert!(said.contains(word), "{said}");
        assert!(std::fs::read(private.join("ledger.db-wal")).unwrap() == log);
    }
    std::fs::write(private.join("ledger.db"), whole).unwrap();
    let list = sandbox.run(["task", "list"]).exits(0);
    assert!(list.stdout.contains("Warm the cache"), "{list}");
}

#[test]
fn following_prints_new_events() {
    let sandbox = shop();
    // Only handoffs with a uid have events; the first change assigns one.
    sandbox.run(["answer", "market", "a1", "--holds"]).exits(0);
    let mut command = sandbox.child_command(env!("CARGO_BIN_EXE_midstride"));
    command.args(["events", "--follow", "--json"]).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // The history from the documents comes first.
    let first = lines.next().unwrap().unwrap();
    assert!(first.contains("midstride.handoff."), "{first}");
    sandbox.run(["answer", "market", "q1", "Yes"]).exits(0);
    let heard = lines.map(Result::unwrap).find(|line| line.contains("answered q1"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(heard.unwrap().contains("\"verb\":\"answer\""));
}
