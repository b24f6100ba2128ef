//! Tests of `data`, and of deleting captured sessions: by hand, and by age.

use super::session::put;
use crate::sandbox;
use midstride_testkit::{Sandbox, fixtures};
use serde_json::Value;

const SESSION: &str = "5e550001-4c00-7000-8000-00000000aaaa";
/// A word of the session only.
const WORD: &str = "Make the market pages fast again";

/// A repository with a captured session and a private handoff.
fn worked_in() -> Sandbox {
    let sandbox = sandbox().repository();
    let text = std::fs::read_to_string(fixtures("transcripts/claude-code").join("cache.jsonl"));
    let text = text.unwrap().replace("/home/dev/shop", &sandbox.root().display().to_string());
    put(&sandbox, SESSION, &text);
    sandbox.run(["session", "capture", "--session", SESSION]).exits(0);
    sandbox.run(["new", "Cold start"]).exits(0);
    sandbox
}

/// The stored kinds and their counts.
fn kinds(sandbox: &Sandbox) -> Vec<(String, u64)> {
    let run = sandbox.run(["data", "--json"]).exits(0);
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    let stored = json["projects"][0]["stored"].as_array().cloned().unwrap_or_default();
    let kind =
        |one: &Value| (one["kind"].as_str().unwrap().to_owned(), one["count"].as_u64().unwrap());
    let kinds = ["sessions", "private handoffs"];
    stored.iter().map(kind).filter(|(kind, _)| kinds.contains(&kind.as_str())).collect()
}

/// Whether any file of the private store has the text.
fn is_stored(sandbox: &Sandbox, text: &str) -> bool {
    let mut folders = vec![sandbox.root().join(".git/midstride")];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if String::from_utf8_lossy(&std::fs::read(&path).unwrap()).contains(text) {
                return true;
            }
        }
    }
    false
}

#[test]
fn stored_data_is_listed_and_deleted() {
    let sandbox = worked_in();
    let run = sandbox.run(["data"]).exits(0);
    for part in [
        "[ROOT]\n",
        "  sessions ",
        "  private handoffs ",
        "For this user\n",
        "kept for 90 days after",
    ] {
        assert!(run.stdout.contains(part), "{part}: {run}");
    }
    let expected =
        |sessions: u64| [("sessions".to_owned(), sessions), ("private handoffs".to_owned(), 1)];
    assert_eq!(kinds(&sandbox), expected(1));
    assert!(sandbox.run(["brief"]).stdout.contains(WORD));
    // Only the user deletes, also from another folder.
    sandbox.run(["forget", "--all", "--yes"]).exits(2);
    let home = sandbox.home().to_str().unwrap();
    let run = sandbox.as_user().run(["-C", home, "forget", "--all", "--yes"]).exits(0);
    insta::assert_snapshot!(run.stderr, @"
    [ROOT]
      2026-03-20  5e550001  Make the market pages fast again; the cache is purged on ev…
    Deleted 1 captured session.
    Not deleted: 1 transcript kept by the clients themselves
    Not deleted: tasks that `midstride sync` sent to a remote, and backups
    ");
    assert_eq!(kinds(&sandbox), expected(0));
    assert!(!is_stored(&sandbox, WORD));
    assert!(!sandbox.run(["brief"]).stdout.contains(WORD));
    let run = sandbox.as_user().run(["forget", "--all", "--yes"]).exits(1);
    assert_eq!(run.stderr, "No captured session matches.\n");
}

#[test]
fn a_forgotten_session_stays_forgotten() {
    let sandbox = worked_in();
    sandbox.as_user().run(["forget", "--all", "--yes"]).exits(0);
    let list = sandbox.run(["session", "list"]).exits(0).stdout;
    assert!(list.contains("  forgotten  (forgotten)"), "{list}");
    assert_eq!(sandbox.run(["log"]).exits(1).stdout, "");
    for brief in [["brief"].as_slice(), &["status"], &["setup", "--yes"]] {
        let run = sandbox.as_user().run(brief);
        let all = format!("{}{}", run.stdout, run.stderr);
        for part in [WORD, "5e550001", "arlier session", "not captured", "1 past session"] {
            assert!(!all.contains(part), "{part}: {all}");
        }
        assert!(brief[0] != "setup" || all.contains("1 session stayed forgotten."), "{all}");
    }
    sandbox.run(["session", "recover", "--all"]).exits(0);
    assert_eq!(kinds(&sandbox)[0].1, 0);
    assert!(!is_stored(&sandbox, WORD));
    // A session that continues is captured again.
    let path = super::session::transcript_path(&sandbox, SESSION);
    let record = serde_json::json!({
        "sessionId": SESSION, "cwd": sandbox.root(), "version": "2.1.200", "type": "user",
        "uuid": "later", "timestamp": "2026-03-23T09:00:00.000Z",
        "message": {"role": "user", "content": "Now warm the cache."},
    });
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{text}\n{record}\n")).unwrap();
    sandbox.run(["session", "recover", "--all"]).exits(0);
    assert_eq!(kinds(&sandbox)[0].1, 1);
}

#[test]
fn sessions_are_deleted_by_id_and_by_date() {
    let sandbox = worked_in();
    // It ended on March 20, and was captured on March 21.
    for words in [["--session", "9999"], ["--before", "2026-03-20"]] {
        sandbox.as_user().run(["forget"].iter().chain(&words).chain(&["--yes"])).exits(1);
    }
    assert_eq!(kinds(&sandbox)[0].1, 1);
    sandbox.as_user().run(["forget", "--before", "2026-03-21", "--yes"]).exits(0);
    assert_eq!(kinds(&sandbox)[0].1, 0);
}

#[test]
fn sessions_older_than_the_retention_are_deleted() {
    let sandbox = worked_in();
    let retain = |now: &str| {
        let mut hook = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
        sandbox.finish(hook.args(["hook", "retain"]).env("MIDSTRIDE_NOW", now)).exits(0);
    };
    retain("2026-06-18T17:24:00Z");
    assert!(is_stored(&sandbox, WORD));
    // It runs once a day.
    retain("2026-06-19T16:24:00Z");
    assert!(is_stored(&sandbox, WORD));
    retain("2026-06-19T17:25:00Z");
    assert!(!is_stored(&sandbox, WORD));
    assert_eq!(kinds(&sandbox), [("sessions".to_owned(), 0), ("private handoffs".to_owned(), 1)]);
}
