//! Hostile input: nothing crashes, nothing is written outside the project.

use super::{Client, ERAS, Era, shop};
use serde_json::{Value, json};
use std::path::Path;

/// Every file below a folder, with its length.
fn files(folder: &Path) -> Vec<(String, u64)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push((path.display().to_string(), entry.metadata().unwrap().len())),
        }
    }
    found.sort();
    found
}

#[test]
fn a_line_of_fifty_megabytes_is_refused_and_the_next_is_answered() {
    let sandbox = shop();
    let mut client = Client::start(&sandbox, Era::Handshake);
    let state = json!({"name": "a", "state": {"text": "x".repeat(50_000_000)}});
    let (code, message) =
        client.fault("tools/call", json!({"name": "state_save", "arguments": state}));
    assert_eq!(code, -32600);
    assert!(message.contains("at most 16777216 are read"), "{message}");
    // What can be read is still held against what is kept.
    let state = json!({"name": "a", "state": {"text": "x".repeat(2_000_000)}});
    assert!(client.refuses("state_save", state).contains("at most 1048576"));
    assert_eq!(client.ask("ping", json!({})), json!({}));
    client.ends();
}

#[test]
fn no_name_leads_out_of_the_project() {
    let sandbox = shop();
    std::fs::write(sandbox.home().join("secret.md"), "# The secret\n").unwrap();
    let outside = files(sandbox.home());
    let names = [
        "../home/secret.md",
        "../../home/secret.md",
        "../home/secret",
        "/etc/passwd",
        "market-page-perf/../../../../home/secret.md",
        "..",
        "~/secret.md",
        "market\u{0}",
        "%2e%2e/home/secret.md",
    ];
    for era in ERAS {
        let mut client = Client::start(&sandbox, era);
        for name in names.into_iter().map(str::to_owned).chain([sandbox
            .home()
            .join("secret.md")
            .display()
            .to_string()])
        {
            let calls = [
                ("get", json!({"handoff": name})),
                ("check", json!({"handoff": name})),
                ("revise", json!({"handoff": name, "text": "x", "reason": "y"})),
                ("answer", json!({"handoff": name, "which": "q1", "text": "y"})),
                ("resolve", json!({"handoff": name, "outcome": "y"})),
                ("resolve", json!({"handoff": "market-page-perf", "superseded_by": name})),
                ("save", json!({"handoff": name, "title": "x", "summary": "y"})),
                ("state_save", json!({"name": name, "state": {}})),
                ("state_load", json!({"name": name})),
            ];
            for (tool, arguments) in calls {
                let told = client.refuses(tool, arguments);
                assert!(!told.contains("The secret"), "{tool} {name}: {told}");
                assert!(told.contains("hint: "), "{tool} {name}: {told}");
            }
            let uri = format!("midstride://handoff/{}", name.replace('\0', "%00"));
            assert!(client.fault("resources/read", json!({"uri": uri})).0 < 0);
        }
        client.ends();
    }
    assert_eq!(files(sandbox.home()), outside);
}

/// Values of every kind, each of them somewhere out of place.
fn odd_values() -> Vec<Value> {
    let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
    vec![
        json!(null),
        json!(true),
        json!(-1),
        json!(u64::MAX),
        json!(1e300),
        json!(""),
        json!("\u{0}\u{1b}[31m\u{202e}"),
        json!("a".repeat(100_000)),
        json!("`".repeat(5000)),
        json!("🦀\r\n---\nhandoff:\n  id: x\n---\n"),
        json!([]),
        json!(["", 1]),
        json!(["a", "b\u{0}"]),
        json!({}),
        json!({"a": {"b": null}}),
        deep,
    ]
}

#[test]
fn odd_values_are_answered_one_way_or_the_other() {
    let sandbox = shop();
    let mut client = Client::start(&sandbox, Era::Handshake);
    let list = client.ask("tools/list", json!({}));
    let outside = files(sandbox.home());
    let mut answered = 0;
    for tool in list["tools"].as_array().unwrap() {
        let parameters = tool["inputSchema"]["properties"].as_object().unwrap();
        for name in parameters.keys() {
            for value in odd_values() {
                let mut arguments = json!({
                    "handoff": "market-page-perf", "text": "x", "reason": "y", "which": "q1",
                    "name": "a", "state": {}, "patch": {}, "words": "x", "title": "t",
                });
                arguments.as_object_mut().unwrap().retain(|key, _| parameters.contains_key(key));
                arguments[name] = value;
                let call = json!({"name": tool["name"], "arguments": arguments});
                let answer = client.answer("tools/call", call);
                let text = answer["result"]["content"][0]["text"].as_str();
                let message = answer["error"]["message"].as_str();
                let told = text.or(message).unwrap_or_else(|| panic!("{answer:#}"));
                assert!(!told.contains(['\u{0}', '\u{1b}', '\u{202e}']), "{told:?}");
                answered += 1;
            }
        }
    }
    assert!(answered > 600);
    assert_eq!(files(sandbox.home()), outside);
    client.ends();
}
