//! Tests of the protocol: eras, lists, errors, resources, prompts, roots, shutdown.

use super::{Client, ERAS, Era, server, shop};
use crate::sandbox;
use midstride_core::text::tokens::estimate;
use serde_json::{Value, json};
use std::process::Command;

/// The maximum number of tokens for the tool list.
const LIST_TOKENS_MAX: u64 = 2_000;

#[test]
fn the_list_of_tools_is_small() {
    let sandbox = shop();
    for era in ERAS {
        let result = Client::start(&sandbox, era).ask("tools/list", json!({}));
        let tokens = estimate(&result.to_string());
        assert!(tokens < LIST_TOKENS_MAX, "{tokens} tokens");
        let tools = result["tools"].as_array().unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        insta::allow_duplicates! {
            insta::assert_snapshot!(names.join(" "), @"brief save revise get search check answer resolve tasks why state_save state_load state_update");
        }
        for tool in tools {
            assert_eq!(tool["inputSchema"]["type"], "object", "{tool:#}");
            assert!(!tool["description"].as_str().unwrap().is_empty(), "{tool:#}");
        }
    }
}

#[test]
fn each_era_gets_its_own_result_format() {
    let sandbox = shop();
    let lists = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];
    for era in ERAS {
        let mut client = Client::start(&sandbox, era);
        for method in lists {
            let result = client.ask(method, json!({}));
            let modern = era == Era::Modern;
            assert_eq!(result["resultType"] == "complete", modern, "{result:#}");
            assert_eq!(result["cacheScope"] == "private" && result["ttlMs"] == 0, modern);
        }
        let called = client.ask("tools/call", json!({"name": "state_load"}));
        assert_eq!(called.get("resultType").is_some(), era == Era::Modern);
        assert!(called.get("ttlMs").is_none());
    }
    // Methods of one era are not available in the other.
    let mut old = Client::start(&sandbox, Era::Handshake);
    assert_eq!(old.ask("ping", json!({})), json!({}));
    let mut modern = Client::start(&sandbox, Era::Modern);
    assert_eq!(modern.fault("ping", json!({})).0, -32601);
}

#[test]
fn a_server_can_be_discovered() {
    let sandbox = shop();
    let mut client = Client::start(&sandbox, Era::Modern);
    let mut about = client.ask("server/discover", json!({}));
    about["_meta"]["io.modelcontextprotocol/serverInfo"]["version"] = "[VERSION]".into();
    insta::assert_snapshot!(format!("{about:#}"), @r#"
    {
      "capabilities": {
        "tools": {},
        "resources": {},
        "prompts": {}
      },
      "instructions": "midstride hands work from one session to the next. Call `brief` when you pick up work. Call `save` before you finish or hand off, and add what it says is missing. `search` and `get` find what others learned.",
      "supportedVersions": [
        "2024-11-05",
        "2025-03-26",
        "2025-06-18",
        "2025-11-25",
        "2026-07-28"
      ],
      "_meta": {
        "io.modelcontextprotocol/serverInfo": {
          "name": "midstride",
          "title": "midstride",
          "version": "[VERSION]"
        }
      },
      "resultType": "complete",
      "ttlMs": 0,
      "cacheScope": "private"
    }
    "#);
    let mut old = Client::start(&sandbox, Era::Handshake);
    let (code, message) = old.fault("server/discover", json!({}));
    assert_eq!(code, -32602);
    assert!(message.contains("io.modelcontextprotocol/protocolVersion"), "{message}");
}

#[test]
fn versions_are_negotiated() {
    let sandbox = shop();
    let mut client = Client::start(&sandbox, Era::Handshake);
    let cases = [
        ("2024-11-05", "2024-11-05"),
        ("2025-06-18", "2025-06-18"),
        ("2026-07-28", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
        ("", "2025-11-25"),
    ];
    for (wanted, given) in cases {
        let result = client.ask("initialize", json!({"protocolVersion": wanted}));
        assert_eq!(result["protocolVersion"], given, "{wanted}");
    }
    assert_eq!(client.fault("initialize", json!({"protocolVersion": 7})).0, -32602);
    let meta = json!({"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2099-01-01",
        "io.modelcontextprotocol/clientCapabilities": {},
    }});
    let answer = client.answer("tools/list", meta);
    assert_eq!(answer["error"]["code"], -32022, "{answer:#}");
    assert_eq!(answer["error"]["data"]["supported"].as_array().unwrap().len(), 5);
    let meta = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}});
    let (code, message) = client.fault("tools/list", meta);
    assert_eq!((code, message.contains("clientCapabilities")), (-32602, true), "{message}");
}

#[test]
fn errors_say_what_to_change() {
    let sandbox = shop();
    for era in ERAS {
        let mut client = Client::start(&sandbox, era);
        let mut told = String::new();
        let mut tell = |method: &str, parameters: Value| {
            let (code, message) = client.fault(method, parameters);
            told.push_str(&format!("{method} {code}: {message}\n"));
        };
        let call = |name: &str, arguments: Value| json!({"name": name, "arguments": arguments});
        tell("tools/nothing", json!({}));
        tell("completion/complete", json!({}));
        tell("tools/call", json!({}));
        tell("tools/call", json!({"name": 5}));
        tell("tools/call", call("serch", json!({})));
        tell("tools/call", call("sing", json!({})));
        tell("tools/call", call("get", json!([])));
        tell("tools/list", json!({"cursor": "x"}));
        tell("resources/list", json!({"cursor": {}}));
        tell("resources/read", json!({}));
        tell("prompts/get", json!({"name": "sing"}));
        tell("prompts/get", json!({"name": "handoff", "arguments": {"focus": 7}}));
        tell("prompts/get", json!({"name": "handoff", "arguments": ["focus"]}));
        tell("prompts/get", json!({"name": "continue", "arguments": {"focus": "x"}}));
        insta::allow_duplicates! {
            insta::assert_snapshot!(told, @"
            tools/nothing -32601: unknown method `tools/nothing`
            completion/complete -32601: unknown method `completion/complete`
            tools/call -32602: `name` must be the name of a tool
            tools/call -32602: `name` must be the name of a tool
            tools/call -32602: unknown tool `serch`; did you mean `search`?
            tools/call -32602: unknown tool `sing`; the tools are brief, save, revise, get, search, check, answer, resolve, tasks, why, state_save, state_load, state_update
            tools/call -32602: `arguments` must be an object
            tools/list -32602: there is only one page; omit `cursor`
            resources/list -32602: `cursor` was not issued by this server
            resources/read -32602: `uri` must be a string
            prompts/get -32602: `name` must be `handoff` or `continue`
            prompts/get -32602: `focus` must be a string
            prompts/get -32602: `arguments` must be an object
            prompts/get -32602: unknown argument `focus`; this prompt takes `handoff`
            ");
        }
        client.ends();
    }
}

#[test]
fn invalid_arguments_are_reported_to_the_model() {
    let sandbox = shop();
    for era in ERAS {
        let mut client = Client::start(&sandbox, era);
        let mut told = String::new();
        let mut tell = |tool: &str, arguments: Value| {
            told.push_str(&format!("{tool}: {}\n", client.refuses(tool, arguments)));
        };
        tell("get", json!({}));
        tell("get", json!({"handof": "a"}));
        tell("get", json!({"handoff": 5}));
        tell("get", json!({"handoff": " "}));
        tell("get", json!({"handoff": "a", "offset": -1}));
        tell("revise", json!({"handoff": "a", "body": "b", "why": ["c"]}));
        tell("tasks", json!({"bogus": true}));
        tell("save", json!({"next": [1]}));
        tell("search", json!({"words": "a", "status": "open"}));
        tell("state_save", json!({"name": "a", "state": [1]}));
        tell("state_save", json!({"x".repeat(300): 1}));
        insta::allow_duplicates! {
            insta::assert_snapshot!(told, @"
            get: error: `handoff` is missing
            hint: required: `handoff`; optional: `section`, `offset`
            get: error: unknown parameter `handof`; `handoff` is missing
            hint: did you mean `handoff`?
            hint: required: `handoff`; optional: `section`, `offset`
            get: error: `handoff` must be a non-blank string
            get: error: `handoff` must be a non-blank string
            get: error: `offset` must be a whole number
            revise: error: unknown parameter `body`; unknown parameter `why`; `text` is missing; `reason` is missing
            hint: required: `handoff`, `text`, `reason`
            tasks: error: unknown parameter `bogus`
            hint: optional: `task`, `subject`, `description`, `status`, `reason`, `after`, `note`, `metadata`, `all`, `offset`
            save: error: `next` must be a list of strings
            search: error: `status` must be one of planned, in_progress, resolved, superseded, abandoned
            state_save: error: `state` must be a JSON object
            state_save: error: unknown parameter `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…`; `name` is missing; `state` is missing
            hint: required: `name`, `state`
            ");
        }
        client.ends();
    }
}

#[test]
fn invalid_messages_are_answered_and_affect_nothing_else() {
    let sandbox = shop();
    let mut client = Client::start(&sandbox, Era::Handshake);
    let cases = [
        ("not json", -32700),
        ("{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": ", -32700),
        ("7", -32600),
        ("[]", -32600),
        ("{}", -32600),
        (r#"{"jsonrpc": "1.0", "id": 1, "method": "ping"}"#, -32600),
        (r#"{"jsonrpc": "2.0", "id": {}, "method": "ping"}"#, -32600),
        (r#"{"jsonrpc": "2.0", "id": 1, "method": 7}"#, -32600),
        (r#"{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}"#, -32602),
    ];
    for (line, code) in cases {
        client.write(line);
        let answer = client.receive();
        assert_eq!(answer["error"]["code"], code, "{line}: {answer}");
    }
    // Notifications get no answer.
    client.write("");
    for method in ["notifications/cancelled", "notifications/progress", "notifications/nothing"] {
        client.send(&json!({"jsonrpc": "2.0", "method": method, "params": {"requestId": 1}}));
    }
    client.send(&json!({"jsonrpc": "2.0", "id": "never-asked", "result": {}}));
    client.send(&json!([
        {"jsonrpc": "2.0", "id": 90, "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 90}},
        {"jsonrpc": "2.0", "id": 91, "method": "nothing"},
    ]));
    let batch = client.receive();
    let ids: Vec<&Value> = batch.as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert_eq!(ids, [90, 91]);
    assert_eq!(client.ask("ping", json!({})), json!({}));
    client.ends();
}

#[test]
fn many_requests_are_answered_in_order() {
    let sandbox = shop();
    let mut client = Client::start(&sandbox, Era::Handshake);
    for id in 100..200 {
        client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "ping"}));
    }
    for id in 100..200 {
        assert_eq!(client.receive()["id"], id);
    }
}

#[test]
fn handoffs_and_the_briefing_are_resources() {
    let sandbox = shop();
    for number in 0..120 {
        let text = format!("---\nhandoff:\n  id: n{number:03}\n  status: planned\n---\n");
        sandbox.write(&format!(".midstride/handoffs/n{number:03}.md"), text);
    }
    let mut client = Client::start(&sandbox, Era::Handshake);
    client.does("save", json!({"title": "Ours alone", "summary": "Not committed."}));
    let first = client.ask("resources/list", json!({}));
    assert_eq!(first["resources"].as_array().unwrap().len(), 100);
    assert_eq!(first["resources"][0]["uri"], "midstride://briefing");
    let rest = client.ask("resources/list", json!({"cursor": first["nextCursor"]}));
    assert_eq!(rest["resources"].as_array().unwrap().len(), 24, "{rest:#}");
    assert!(rest.get("nextCursor").is_none());
    let listed = first["resources"].as_array().unwrap().iter();
    for resource in listed.chain(rest["resources"].as_array().unwrap()) {
        let read = client.ask("resources/read", json!({"uri": resource["uri"]}));
        assert_eq!(read["contents"][0]["uri"], resource["uri"]);
    }
    let by_id =
        client.ask("resources/read", json!({"uri": "midstride://handoff/market-page-perf"}));
    let text = by_id["contents"][0]["text"].as_str().unwrap();
    // The document has a fence of four, so that it could close a shorter one.
    let source = "Handoff market-page-perf (.midstride/handoffs/market-page-perf.md). ";
    assert!(text.starts_with(source) && text.contains("\n`````\n---\nhandoff:"), "{text}");
    assert!(text.contains("Austin takes") && text.ends_with("\n`````\n"), "{text}");
    for (era, code) in [(Era::Handshake, -32002), (Era::Modern, -32602)] {
        let mut client = Client::start(&sandbox, era);
        for uri in ["midstride://handoff/nothing", "midstride://x", "file:///etc/passwd"] {
            assert_eq!(client.fault("resources/read", json!({"uri": uri})).0, code, "{uri}");
        }
    }
}

#[test]
fn prompts_hand_over_and_continue() {
    let sandbox = shop();
    let mut client = Client::start(&sandbox, Era::Handshake);
    let mut text = |name: &str, arguments: Value| {
        let got = client.ask("prompts/get", json!({"name": name, "arguments": arguments}));
        got["messages"][0]["content"]["text"].as_str().unwrap().to_owned()
    };
    assert!(
        text("handoff", json!({"focus": "the cache"})).contains("What matters most: the cache")
    );
    let open = text("continue", json!({}));
    assert!(open.contains("May the weather be ten minutes old?"), "{open}");
    let one = text("continue", json!({"handoff": "market-page-perf"}));
    assert!(one.contains("Austin takes") && one.contains("not as instructions"), "{one}");
}

#[test]
fn tools_explain_setup_outside_of_a_repository() {
    let sandbox = sandbox();
    for era in ERAS {
        let mut client = Client::start(&sandbox, era);
        assert!(!client.ask("tools/list", json!({}))["tools"].as_array().unwrap().is_empty());
        assert_eq!(client.ask("resources/list", json!({}))["resources"], json!([]));
        let told = client.refuses("brief", json!({}));
        assert!(told.contains("`midstride init`"), "{told}");
        assert!(client.refuses("tasks", json!({"subject": "x"})).contains("not set up"));
        client.ends();
    }
    assert_eq!(std::fs::read_dir(sandbox.root()).unwrap().count(), 0);
}

#[test]
fn a_client_outside_a_project_is_asked_for_its_roots() {
    let sandbox = shop();
    let mut command = server(&sandbox);
    command.current_dir(sandbox.home());
    let mut client = Client::of(&mut command, Era::Handshake, &json!({"roots": {}}));
    let asked = client.receive();
    assert_eq!(asked["method"], "roots/list");
    let roots = json!({"roots": [
        {"uri": "file:///nowhere"},
        {"uri": "https://example.org"},
        {"uri": format!("file://{}", sandbox.root().display())},
    ]});
    client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": roots}));
    assert!(client.does("brief", json!({})).contains("weather"));
}

#[test]
fn an_interrupt_stops_the_server() {
    let sandbox = shop();
    // Tests started in the background ignore interrupts, and so would the server.
    let mut server = sandbox.command("env");
    server.args(["--default-signal=INT", env!("CARGO_BIN_EXE_midstride"), "mcp"]);
    let mut client = Client::of(&mut server, Era::Handshake, &json!({}));
    client.does("state_save", json!({"name": "a", "state": {"step": 1}}));
    let pid = client.child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    client.child.wait().unwrap();
    let loaded = Client::start(&sandbox, Era::Modern).does("state_load", json!({"name": "a"}));
    assert!(loaded.contains("\"step\": 1"), "{loaded}");
}
