//! Tests of `dismiss` for the items that briefings repeat.

use super::session::put;
use super::shop;
use midstride_testkit::{Sandbox, json_items};
use serde_json::json;

const ID: &str = "5e550007-4c00-7000-8000-00000000dddd";

/// A session in which the user gave a rule.
fn ruled() -> Sandbox {
    let sandbox = shop();
    let record = |number: usize, kind: &str, content: &serde_json::Value| {
        let record = json!({
            "type": kind, "uuid": format!("d{number}"), "sessionId": ID, "gitBranch": "main",
            "cwd": sandbox.root(), "timestamp": format!("2026-03-22T09:0{number}:00.000Z"),
            "message": {"role": kind, "content": content},
        });
        format!("{record}\n")
    };
    let asked = json!("Speed up the cache. Never touch web/.");
    let call = json!([{"type": "tool_use", "id": "w1", "name": "Write",
        "input": {"file_path": sandbox.root().join("src/cache.rs"), "content": "x"}}]);
    let result = json!([{"type": "tool_result", "tool_use_id": "w1", "content": "ok"}]);
    let said = json!([{"type": "text", "text": "The cache is faster."}]);
    let records = [("user", asked), ("assistant", call), ("user", result), ("assistant", said)];
    let lines = records.iter().enumerate().map(|(at, (kind, content))| record(at, kind, content));
    put(&sandbox, ID, &lines.collect::<String>());
    sandbox
}

#[test]
fn an_instruction_is_listed_and_dismissed_by_the_user() {
    let sandbox = ruled();
    insta::assert_snapshot!(sandbox.run(["dismiss"]), @"
    exit 0
    ----- stderr -----
    Nothing to dismiss: no open items from earlier sessions, no instructions.
    ");
    sandbox.run(["session", "capture"]).exits(0);
    insta::assert_snapshot!(sandbox.run(["dismiss"]), @"
    exit 0
    ----- stdout -----
    HANDLE    KIND         SESSION   TEXT
    i-9722f4  instruction  5e550007  Never touch web/.
    ");
    let list = sandbox.run(["dismiss", "--json"]).exits(0).stdout;
    let list: serde_json::Value = json_items(&list);
    let handle = list[0]["handle"].as_str().unwrap();
    assert_eq!(list[0]["kind"], "instruction");
    let mut agent = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    agent.env("CLAUDECODE", "1").args(["dismiss", handle]);
    insta::assert_snapshot!(sandbox.finish(&mut agent), @"
    exit 2
    ----- stderr -----
    error: only the user can close instruction `i-9722f4`
    hint: ask the user to run midstride dismiss i-9722f4 in a terminal
    ");
    insta::assert_snapshot!(sandbox.run(["dismiss", "kzzz"]), @"
    exit 2
    ----- stderr -----
    error: no open item has the handle `kzzz`
    hint: open items: i-9722f4
    ");
    insta::assert_snapshot!(sandbox.run(["dismiss", handle]), @r#"
    exit 0
    ----- stderr -----
    Dismissed i-9722f4: instruction "Never touch web/."
    "#);
    insta::assert_snapshot!(sandbox.run(["dismiss", handle]), @"
    exit 2
    ----- stderr -----
    error: instruction `i-9722f4` was already dismissed on 2026-03-22 09:00
    hint: midstride dismiss lists what is open
    ");
    // `--wrong` can be added later.
    insta::assert_snapshot!(sandbox.run(["dismiss", handle, "--wrong"]), @r#"
    exit 0
    ----- stderr -----
    Dismissed i-9722f4 as wrong: instruction "Never touch web/."
    "#);
    sandbox.run(["dismiss", handle, "--wrong"]).exits(2);
    let page = sandbox.run(["brief"]).exits(0).stdout;
    assert!(!page.contains("instruction:"), "{page}");
    let doctor = sandbox.run(["doctor", "--no-simulation"]).stdout;
    assert!(doctor.contains("1 briefed item dismissed, 1 as wrong (100%)"), "{doctor}");
}

#[test]
fn save_offers_to_move_an_instruction_into_the_file_that_every_session_reads() {
    let sandbox = ruled();
    let saved = sandbox.run(["save", "--summary", "The cache is faster", "--accept", "a test"]);
    let offer = "You gave 1 standing instruction on this branch:\n";
    let (_, offered) = saved.stderr.split_once(offer).unwrap_or_else(|| panic!("{saved}"));
    insta::assert_snapshot!(offered, @"
      i-9722f4  Never touch web/.
    hint: to apply one everywhere, add it to AGENTS.md, then run midstride dismiss i-9722f4
    ");
    assert!(!sandbox.root().join("AGENTS.md").exists(), "midstride does not write it");
    sandbox.write("CLAUDE.md", "# Rules\n\n- Never touch web/.\n");
    let saved = sandbox.run(["save", "--summary", "The cache is faster now", "--accept", "a test"]);
    assert!(!saved.stderr.contains("standing instruction"), "{saved}");
}

#[test]
fn a_dismissed_note_is_not_briefed_until_that_is_undone() {
    let sandbox = shop();
    sandbox.write("HANDOFF.md", "# Where we are\n\nThe kettle leaks.\n");
    let is_briefed = || sandbox.run(["brief"]).exits(0).stdout.contains("kettle leaks");
    assert!(is_briefed());
    insta::assert_snapshot!(sandbox.run(["resolve", "HANDOFF", "--abandon", "old"]), @"
    exit 2
    ----- stderr -----
    error: `HANDOFF.md` has no handoff header, so midstride cannot record its history
    hint: `midstride new --from HANDOFF.md` turns it into a handoff
    hint: `midstride dismiss HANDOFF.md` keeps it out of briefings
    ");
    let mut agent = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    agent.env("CLAUDECODE", "1").args(["dismiss", "HANDOFF.md"]);
    insta::assert_snapshot!(sandbox.finish(&mut agent), @"
    exit 2
    ----- stderr -----
    error: only the user can dismiss the note `HANDOFF.md`
    hint: ask the user to run midstride dismiss HANDOFF.md in a terminal
    ");
    insta::assert_snapshot!(sandbox.run(["dismiss", "HANDOFF"]), @"
    exit 0
    ----- stderr -----
    Sessions are no longer briefed from HANDOFF.md, even after it changes
    Undo: midstride dismiss HANDOFF.md --undo
    ");
    assert!(!is_briefed());
    insta::assert_snapshot!(sandbox.run(["dismiss"]), @"
    exit 0
    ----- stderr -----
    Nothing to dismiss: no open items from earlier sessions, no instructions.
    Not briefed: HANDOFF.md, dismissed 2026-03-21. Undo: midstride dismiss HANDOFF.md --undo
    ");
    insta::assert_snapshot!(sandbox.run(["dismiss", "HANDOFF.md", "--undo"]), @"
    exit 0
    ----- stderr -----
    Sessions are briefed from HANDOFF.md again
    ");
    assert!(is_briefed());
    insta::assert_snapshot!(sandbox.run(["dismiss", "HANDOFF.md", "--undo"]), @"
    exit 2
    ----- stderr -----
    error: no dismissed note is named `HANDOFF.md`
    hint: midstride dismiss lists dismissed notes
    ");
    sandbox.run(["new", "Slow pages"]).exits(0);
    insta::assert_snapshot!(sandbox.run(["dismiss", "slow-pages"]), @"
    exit 2
    ----- stderr -----
    error: `slow-pages` is a handoff
    hint: close it with midstride resolve slow-pages
    ");
}
