//! Tests of captured sessions over MCP: finding them, reading them, and settling what they left
//! open.

use super::{Client, Era, shop};
use crate::commands::session::put;
use midstride_testkit::{Sandbox, fixtures, json_items};
use serde_json::json;

const ID: &str = "5e550001-4c00-7000-8000-00000000aaaa";

fn captured() -> Sandbox {
    let sandbox = shop();
    let text = std::fs::read_to_string(fixtures("transcripts/claude-code").join("cache.jsonl"));
    let text = text.unwrap().replace("/home/dev/shop", &sandbox.root().display().to_string());
    put(&sandbox, ID, &text.replace("2026-03-20", "2026-03-21"));
    sandbox.run(["session", "capture"]).exits(0);
    sandbox
}

#[test]
fn a_captured_session_is_found_by_words_and_read_by_id() {
    let sandbox = captured();
    let mut client = Client::start(&sandbox, Era::Modern);
    let found = client.does("search", json!({"words": "purged deploy"}));
    assert!(found.contains("1 captured session"), "{found}");
    assert!(found.contains("market pages fast again; the cache is purged"), "{found}");
    let filtered = client.does("search", json!({"words": "purged deploy", "status": "planned"}));
    assert!(!filtered.contains("1 captured session"), "{filtered}");
    for name in ["5e550001", "session 5e550001"] {
        let read = client.does("get", json!({"handoff": name}));
        assert!(read.contains("Session 5e550001") || read.contains("Session [UID]"), "{read}");
        assert!(read.contains("Make the market pages fast again"), "{read}");
        assert!(read.contains("Failing checks"), "{read}");
    }
    let missing = client.refuses("get", json!({"handoff": "5e559999"}));
    assert!(missing.contains("5e559999"), "{missing}");
    // The command line finds the same.
    let typed = sandbox.run(["search", "purged", "deploy"]).exits(0).stdout;
    assert!(typed.contains("claude-code  2026-03-21"), "{typed}");
    let json = sandbox.run(["search", "purged", "deploy", "--json"]).exits(0).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["sessions"][0]["client"], "claude-code", "{json}");
}

#[test]
fn a_task_is_changed_by_its_name_in_the_mission() {
    let sandbox = captured();
    let mission = sandbox.run(["brief", "--as", "mission"]).exits(0).stdout;
    let name = mission.split([' ', '(', ',', ')', '\n']).find(|word| word.starts_with("T-"));
    let name = name.unwrap_or_else(|| panic!("{mission}"));
    let mut client = Client::start(&sandbox, Era::Modern);
    client.does("tasks", json!({"task": name, "note": "looked at it"}));
    client.refuses("tasks", json!({"task": "t", "note": "looked at it"}));
}

#[test]
fn an_agent_settles_what_an_earlier_session_left_open() {
    let sandbox = captured();
    let later = "5e550002-4c00-7000-8000-00000000bbbb";
    let record = |uuid: &str, kind: &str, content: serde_json::Value| {
        let record = json!({
            "type": kind, "uuid": uuid, "sessionId": later, "cwd": sandbox.root(),
            "timestamp": "2026-03-22T09:00:00.000Z", "message": {"role": kind, "content": content},
        });
        format!("{record}\n")
    };
    let path = sandbox.root().join("notes.rs");
    let call = json!([{"type": "tool_use", "id": "n1", "name": "Write",
        "input": {"file_path": path, "content": "x"}}]);
    let result = json!([{"type": "tool_result", "tool_use_id": "n1", "content": "ok"}]);
    let text = [
        record("n1", "user", json!("Write the notes")),
        record("n2", "assistant", call),
        record("n3", "user", result),
        record("n4", "assistant", json!([{"type": "text", "text": "Wrote the notes."}])),
    ];
    put(&sandbox, later, &text.concat());
    sandbox.run(["session", "capture", "--session", later]).exits(0);
    let open = sandbox.run(["dismiss", "--json"]).exits(0).stdout;
    let open: serde_json::Value = json_items(&open);
    let build = open.as_array().unwrap().iter().find(|one| one["text"] == "npm run build");
    let handle = build.unwrap_or_else(|| panic!("{open}"))["handle"].as_str().unwrap();
    let mut client = Client::start(&sandbox, Era::Modern);
    let done = client.does("save", json!({"settled": [handle, "kzzz", "i-000000"]}));
    assert!(done.contains("npm run build"), "{done}");
    assert!(done.contains("no open item has the handle `kzzz`"), "{done}");
    assert!(done.contains("only the user can close instruction `i-000000`"), "{done}");
    assert!(!done.contains("Saved"), "no handoff is made for it: {done}");
    let page = sandbox.run(["brief"]).exits(0).stdout;
    assert!(!page.contains("npm run build"), "{page}");
}
