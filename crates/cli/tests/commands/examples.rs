//! Every example in the help of a command runs.

use super::session::worked_in;
use midstride_testkit::Sandbox;
use std::path::Path;

/// Examples that are only parsed, with the reason.
const PARSED_ONLY: [(&str, &str); 9] = [
    ("midstride demo", "takes long, and has its own test"),
    ("midstride demo --keep", "leaves its folder behind"),
    ("midstride brief --last", "needs a session that a client started"),
    ("midstride init --private --json", "needs a project without a committed folder"),
    (
        "midstride merge .midstride/handoffs/market-page-perf.md",
        "needs conflicts; merge has its own tests",
    ),
    (
        "midstride demo --here",
        "previews a repository that midstride does not know; demo has its own tests",
    ),
    ("midstride continue", "starts a client; the tests with real clients do"),
    ("midstride continue --in codex", "starts a client; the tests with real clients do"),
    ("midstride setup --undo", "needs a terminal on standard output, which is a file here"),
];

const MARKET: &str = "\
---
handoff:
  id: market
  title: Market pages take 14 s
  kind: investigation
  status: in_progress
  created: 2026-03-21T17:24:00Z
  context_summary: Cold renders load every company of a city.
  open_questions:
    - question: May the weather be ten minutes old?
      blocking: true
  assumptions:
    - assumption: The index on city exists
      validation_needed: true
  proofs:
    - claim: The shell works
      run: 'true'
---

## Diagnosis

Austin takes 14,290 ms.
";

const SAVE_STATE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"state_save","arguments":{"name":"release","state":{"step":1}}}}
"#;

/// A project in which every example works: a session, handoffs, tasks, a remote and an editor.
fn prepared() -> Sandbox {
    let program = env!("CARGO_BIN_EXE_midstride");
    let sandbox =
        worked_in().with_program("midstride", Path::new(program)).with_variable("EDITOR", "true");
    sandbox.write(".midstride/handoffs/market.md", MARKET);
    let edit = ["edit", "market", "--reason", "measured", "--body", "-"];
    sandbox.run_with_input(&edit, "## Diagnosis\n\nAustin takes 14,290 ms, Berlin 9 s.\n").exits(0);
    sandbox.run(["new", "Afternoon", "--id", "afternoon", "--private", "--no-edit"]).exits(0);
    sandbox.run(["session", "capture"]).exits(0);
    sandbox.run_with_input(&["mcp"], SAVE_STATE).exits(0);
    sandbox.write("requests.jsonl", SAVE_STATE);
    sandbox.write("call.json", "{}");
    sandbox.write("app/market.py", "pass\n".repeat(20));
    sandbox.write("notes.md", "# Search is slow\n\nEvery query rebuilds the index.\n");
    sandbox.git(&["add", "--all"]);
    sandbox.git(&["commit", "--quiet", "--message", "Market pages"]);
    sandbox.git(&["init", "--quiet", "--bare", "../remote.git"]);
    sandbox.git(&["remote", "add", "origin", "../remote.git"]);
    sandbox
}

/// The examples of each command, from the reference page that is made from the definitions.
fn examples() -> Vec<(String, Vec<String>)> {
    let page = crate::sandbox().run(["reference", "cli"]).exits(0).stdout;
    let sections = page.split("\n### midstride ").skip(1);
    sections
        .map(|section| {
            let (name, rest) = section.split_once('\n').unwrap();
            let block = rest.split("```text\n").nth(1).unwrap_or_else(|| panic!("{name} has none"));
            let lines = block.split("```").next().unwrap().lines();
            (name.to_owned(), lines.map(str::to_owned).collect())
        })
        .collect()
}

/// The example with the ids of this sandbox.
fn with_real_ids(sandbox: &Sandbox, line: &str) -> String {
    let mut line = line.to_owned();
    for id in ["t-9cr", "t-4mx"] {
        if line.contains(id) {
            let added = sandbox.run(["task", "add", id]).exits(0).stdout;
            line = line.replace(id, added.trim());
        }
    }
    if line.contains("kf7q") {
        let listed = sandbox.run(["dismiss", "--json"]).exits(0).stdout;
        let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
        let items = listed["items"].as_array().unwrap();
        let item = items.iter().find(|one| one["kind"] != "instruction").unwrap();
        line = line.replace("kf7q", item["handle"].as_str().unwrap());
    }
    line
}

/// Runs the examples of the commands whose names begin so.
fn run_examples(is_part: impl Fn(char) -> bool) {
    let mut failed = Vec::new();
    let mut count = 0;
    for (name, lines) in examples().into_iter().filter(|(name, _)| name.starts_with(&is_part)) {
        let mut sandbox = prepared();
        for line in lines {
            count += 1;
            if PARSED_ONLY.iter().any(|(example, _)| *example == line) {
                let help = ["-c", &format!("{line} --help")];
                sandbox.as_user_of(Path::new("/bin/sh")).run(help).exits(0);
                continue;
            }
            let answer = if name == "setup" { "a\ny\n" } else { "y\ny\n" };
            let run_in = |sandbox: &Sandbox| {
                let line = with_real_ids(sandbox, &line);
                let shell = sandbox.as_user_of(Path::new("/bin/sh"));
                shell.types(answer).run(["-c", &line])
            };
            let mut run = run_in(&sandbox);
            if run.code == Some(2) {
                // The example before it may have changed what this one needs.
                sandbox = prepared();
                run = run_in(&sandbox);
            }
            if !matches!(run.code, Some(0 | 1)) {
                failed.push(format!("{line}: {run}"));
            }
        }
    }
    assert!(count > 0);
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn the_examples_of_commands_from_a_to_d_run() {
    run_examples(|c| c <= 'd');
}

#[test]
fn the_examples_of_commands_from_e_to_r_run() {
    run_examples(|c| ('e'..='r').contains(&c));
}

#[test]
fn the_examples_of_commands_from_s_to_z_run() {
    run_examples(|c| c >= 's');
}
