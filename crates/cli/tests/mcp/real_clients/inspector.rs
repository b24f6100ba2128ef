//! Tests with the official MCP inspector: it lists everything and calls every tool, in both eras.

use super::super::shop;
use midstride_testkit::{Sandbox, real_client};
use serde_json::{Value, json};

/// The arguments of each tool, in an order in which each call finds what it needs.
fn calls() -> [(&'static str, Value); 13] {
    [
        ("brief", json!({})),
        ("search", json!({"words": "companies"})),
        ("get", json!({"handoff": "market-page-perf"})),
        ("check", json!({"handoff": "market-page-perf"})),
        ("answer", json!({"handoff": "market-page-perf", "which": "q1", "text": "Yes"})),
        (
            "revise",
            json!({"handoff": "market-page-perf", "text": "## Diagnosis\n\nThe query.", "reason": "Found"}),
        ),
        ("resolve", json!({"handoff": "market-page-perf", "outcome": "Paginated"})),
        (
            "save",
            json!({"title": "Cache purge", "summary": "Works.", "next": ["Measure a cold page"]}),
        ),
        ("tasks", json!({"subject": "Warm the cache", "after": []})),
        ("state_save", json!({"name": "deploy", "state": {"step": 1}})),
        ("state_update", json!({"name": "deploy", "patch": {"step": 2}})),
        ("state_load", json!({"name": "deploy"})),
        ("why", json!({"commit": "HEAD"})),
    ]
}

/// What the inspector prints for a method.
fn inspected(sandbox: &Sandbox, era: &str, arguments: &[String]) -> Value {
    let mut command = real_client::inspector(sandbox);
    command.args(["--protocol-era", era, env!("CARGO_BIN_EXE_midstride"), "mcp"]).args(arguments);
    let run = sandbox.finish(&mut command);
    assert_eq!(run.code, Some(0), "{arguments:?}: {run}");
    let said: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| {
        panic!("{arguments:?}: {error}: {run}");
    });
    // The inspector wraps the result.
    said.get("result").cloned().unwrap_or(said)
}

fn method(name: &str) -> Vec<String> {
    vec!["--method".to_owned(), name.to_owned()]
}

/// Lists and calls everything in an era.
fn inspects(era: &str) {
    let sandbox = shop();
    let list = |name: &str, of: &str| -> Vec<Value> {
        let said = inspected(&sandbox, era, &method(name));
        said[of].as_array().unwrap_or_else(|| panic!("{said:#}")).clone()
    };
    let mut strict = method("tools/list");
    strict.push("--strict".to_owned());
    let said = inspected(&sandbox, era, &strict);
    let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
    let mut listed: Vec<String> = said["tools"].as_array().unwrap().iter().map(name).collect();
    listed.sort();
    let mut called: Vec<String> = calls().iter().map(|(name, _)| (*name).to_owned()).collect();
    called.sort();
    assert_eq!(listed, called, "every tool is called");
    let resources = list("resources/list", "resources");
    assert_eq!(resources[0]["uri"], "midstride://briefing");
    assert_eq!(list("resources/templates/list", "resourceTemplates").len(), 1);
    let prompts = list("prompts/list", "prompts");
    assert_eq!(prompts.iter().map(name).collect::<Vec<_>>(), ["handoff", "continue"]);
    for (tool, arguments) in calls() {
        let mut words = method("tools/call");
        words.extend(["--tool-name".to_owned(), tool.to_owned()]);
        for (name, value) in arguments.as_object().unwrap() {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            words.extend(["--tool-arg".to_owned(), format!("{name}={value}")]);
        }
        let said = inspected(&sandbox, era, &words);
        assert_eq!(said["isError"], false, "{tool}: {said:#}");
        assert!(said["content"][0]["text"].as_str().is_some_and(|text| !text.is_empty()), "{tool}");
    }
    let document = sandbox.read(".midstride/handoffs/market-page-perf.md");
    assert!(document.contains("status: resolved"), "{document}");
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn the_inspector_lists_and_calls_everything_in_a_session() {
    inspects("legacy");
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn the_inspector_lists_and_calls_everything_without_a_session() {
    inspects("modern");
}
