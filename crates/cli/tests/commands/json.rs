//! Tests of `--json`: one object per answer, with its schema; `docs/json.md` lists the fields.

use super::session::{ID, worked_in};
use super::setup::newcomer;
use midstride_surface::diagnostic::ErrorCode;
use midstride_testkit::{Sandbox, assert_page, repository_root};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Commands whose `--json` prints one event per line, in the shape of another standard.
const STREAMS: [&str; 1] = ["midstride events"];

/// A handoff with a proof and an open question.
const PAGES: &str = "---
handoff:
  id: pages
  uid: pages-uid
  title: Pages are slow
  created: 2026-03-21T17:24:00Z
  context_summary: They load everything.
  open_questions:
    - question: May they be a minute old?
      blocking: true
    - question: Who owns the cache?
  proofs:
    - claim: It is fast
      run: echo fast
---

## Plan

1. Paginate.
";

/// Every command with `--json`, in an order in which each has something to print. What begins with
/// `user:` is typed at a terminal; `new:` runs in a repository that midstride does not know.
const COMMANDS: &[&str] = &[
    "merge .midstride/handoffs/login-loop.md --json",
    "user: init --json",
    "user: trust --yes --json",
    "brief --acknowledge pages --session 5e550002-4c00-7000-8000-00000000aaaa --client claude-code --json",
    "brief --last --json",
    "setup --yes --json",
    "client list --json",
    "client add --all --yes --json",
    "client remove --all --dry-run --json",
    "user: client remove --all --purge --dry-run --json",
    "user: setup --undo --yes --json",
    "new: demo --here --json",
    "session list --json",
    "checkpoint --json",
    "session capture --json",
    "session show 5e55 --json",
    "session recover --all --json",
    "--json",
    "status --json",
    "status --all --json",
    "log --json",
    "why HEAD --json",
    "continue 5e55 --print --json",
    "brief --json",
    "brief 5e55 --as markdown --json",
    "brief --session 5e550002-4c00-7000-8000-00000000aaaa --client claude-code --json",
    "brief --as mission --json",
    "brief --skip-next --json",
    "dismiss --json",
    "dismiss HANDLE --json",
    "save --title Session --no-session --summary Done --next Ship --json",
    "new Another --no-edit --json",
    "new Private --private --no-edit --json",
    "share private --json",
    "list --json",
    "search slow --json",
    "search --prompt slow --json",
    "show pages --json",
    "show pages --history --json",
    "show pages@1 --json",
    "start pages --json",
    "answer pages q1 Yes --json",
    "review pages --by tester --challenged Cause --verdict held --json",
    "edit pages --reason More --body more.md --json",
    "diff pages --json",
    "undo pages --json",
    "list --graph --json",
    "check --json",
    "fmt --check --json",
    "user: trust pages 1 --yes --json",
    "verify pages --json",
    "trust --list --json",
    "task add Measure --json",
    "task list --json",
    "task ready --json",
    "task show TASK --json",
    "task show pages#q2 --json",
    "task update TASK --status in_progress --json",
    "task note TASK Found --json",
    "task block TASK --reason Waiting --json",
    "task done TASK --json",
    "task import pages --json",
    "task mission --next Ship --json",
    "task mission --history --json",
    "session state --json",
    "session state release --json",
    "advance feat-042/request --to discovery --json",
    "advance feat-042/discovery --to spec --json",
    "resolve another --outcome Done --json",
    "reopen another --json",
    "sync --json",
    "user: forget pages@1 --yes --json",
    "user: forget --review --json",
    "user: forget --all --yes --json",
    "config list --json",
    "data --json",
    "doctor --no-simulation --json",
    "explain S003 --json",
    "show nothing --json",
];

/// What one schema looks like.
#[derive(Default)]
struct Shape {
    commands: BTreeSet<String>,
    /// The fields in their order, with their types.
    fields: Vec<(String, BTreeSet<&'static str>)>,
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

impl Shape {
    fn add(&mut self, answer: &serde_json::Map<String, Value>) {
        for (name, value) in answer.iter().filter(|(name, _)| *name != "schema") {
            let known = self.fields.iter_mut().find(|(field, _)| field == name);
            match known {
                Some((_, types)) => drop(types.insert(type_name(value))),
                None => self.fields.push((name.clone(), [type_name(value)].into())),
            }
        }
    }
}

/// A project in which every command has something to print.
fn used() -> Sandbox {
    let sandbox = worked_in();
    sandbox.write(".midstride/handoffs/pages.md", PAGES);
    sandbox.write("more.md", "## Plan\n\n1. Paginate, then measure.\n");
    sandbox.git(&["add", "--all"]);
    sandbox.git(&["commit", "--quiet", "--message", "Slow pages"]);
    sandbox.git(&["init", "--quiet", "--bare", "--initial-branch=main", "../hub.git"]);
    sandbox.git(&["remote", "add", "origin", "../hub.git"]);
    sandbox.as_user().run(["trust", "--yes"]).exits(0);
    start_session(&sandbox);
    save_state(&sandbox);
    conflict(&sandbox);
    sandbox
}

/// Starts a session, which the hook briefs.
fn start_session(sandbox: &Sandbox) {
    let call = json!({
        "session_id": "5e550002-4c00-7000-8000-00000000aaaa",
        "transcript_path": sandbox.home().join("none.jsonl"),
        "cwd": sandbox.root(),
        "hook_event_name": "SessionStart",
        "source": "startup",
    });
    let file = sandbox.home().join("call.json");
    std::fs::write(&file, call.to_string()).unwrap();
    let mut hook = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    hook.args(["hook", "claude-code"]).stdin(std::fs::File::open(&file).unwrap());
    // A busy machine is slow.
    hook.env("MIDSTRIDE_HOOK_MILLISECONDS", "60000");
    let run = sandbox.finish(&mut hook).exits(0);
    assert!(run.stdout.contains("additionalContext"), "{run}");
}

/// Saves a workflow state, as an agent does.
fn save_state(sandbox: &Sandbox) {
    let arguments = json!({"name": "release", "state": {"step": 2}});
    let call = |id: u32, method: &str, params: Value| {
        format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    };
    let client = json!({"name": "test", "version": "1"});
    let begin = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    let input = call(1, "initialize", begin)
        + "{\"jsonrpc\": \"2.0\", \"method\": \"notifications/initialized\"}\n"
        + &call(2, "tools/call", json!({"name": "state_save", "arguments": arguments}));
    let run = sandbox.run_with_input(&["mcp"], &input);
    assert!(!run.stdout.contains("\"isError\":true"), "{run}");
}

/// Leaves a merge with a conflict.
fn conflict(sandbox: &Sandbox) {
    let path = ".midstride/handoffs/login-loop.md";
    let text = sandbox.read(path);
    for (branch, domain) in [("other", "a second domain"), ("main", "a third domain")] {
        if branch == "other" {
            sandbox.git(&["switch", "--quiet", "--create", branch]);
        } else {
            sandbox.git(&["switch", "--quiet", branch]);
        }
        sandbox.write(path, text.replace("another domain", domain));
        sandbox.git(&["commit", "--quiet", "--all", "--message", domain]);
    }
    let mut merge = sandbox.command("git");
    sandbox.finish(merge.args(["merge", "--quiet", "other"]));
}

/// The commands with `--json`, as the reference lists them.
fn documented_commands() -> BTreeSet<String> {
    let page = std::fs::read_to_string(repository_root().join("docs/cli.md")).unwrap();
    // Commands are below the headings of their groups.
    let sections = page.split("\n##").skip(1).map(|section| section.trim_start_matches(['#', ' ']));
    let with_json = sections.filter(|section| section.contains("\n| `--json` |"));
    with_json.map(|section| section.lines().next().unwrap().to_owned()).collect()
}

/// Runs every command and collects the shape of each answer.
fn shapes(documented: &BTreeSet<String>) -> BTreeMap<String, Shape> {
    let sandbox = used();
    let (mut task, mut handle) = (String::new(), String::new());
    let mut shapes: BTreeMap<String, Shape> = BTreeMap::new();
    for line in COMMANDS {
        let (by, typed) = line.split_once(": ").unwrap_or(("", line));
        let words: Vec<&str> = typed.split_whitespace().collect();
        let fill = |word: &str| match word {
            "TASK" => task.clone(),
            "HANDLE" => handle.clone(),
            word => word.to_owned(),
        };
        let words: Vec<String> = words.into_iter().map(fill).collect();
        let run = match by {
            "user" => sandbox.as_user().run(&words),
            "new" => newcomer().run(&words),
            _ => sandbox.run(&words),
        };
        let answer: Value = serde_json::from_str(&run.stdout)
            .unwrap_or_else(|error| panic!("{line}: {error}: {run}"));
        let answer = answer.as_object().unwrap_or_else(|| panic!("{line}: no object: {run}"));
        let schema = answer["schema"].as_str().unwrap_or_else(|| panic!("{line}: {run}"));
        assert_eq!(schema == "error/1", run.code == Some(2), "{line}: {run}");
        assert_eq!(schema == "error/1", *line == "show nothing --json", "{line}: {run}");
        if schema == "added-task/1" {
            task = answer["id"].as_str().unwrap().to_owned();
        }
        if schema == "dismissable/1" {
            handle = answer["items"][0]["handle"].as_str().unwrap().to_owned();
        }
        let shape = shapes.entry(schema.to_owned()).or_default();
        shape.add(answer);
        let full = format!("midstride {}", words.join(" "));
        let is_command = |name: &&String| full.starts_with(&format!("{name} "));
        let command = documented.iter().filter(is_command).max_by_key(|name| name.len());
        if schema != "error/1" {
            shape.commands.insert(command.unwrap_or_else(|| panic!("{line}")).clone());
        }
    }
    shapes
}

fn page(shapes: &BTreeMap<String, Shape>) -> String {
    let mut out = String::from(
        "# JSON\n\n\
         Every answer of `--json` is one object. `schema` names its shape; the other fields are \
         beside it. A list is `{\"schema\": \"...\", \"items\": [...]}`. New fields can be added; a change that \
         breaks readers gets a new number.\n\n\
         Shapes that other standards own have no `schema`: SARIF (`check --format sarif`), GitHub \
         annotations, the JSON Schema of `midstride schema`, MCP messages, the answers of hooks, \
         and the CloudEvents of `midstride events --json`, one per line.\n\n\
         A test runs the commands and writes this page.\n\n\
         ## Errors\n\n\
         If a command with `--json` fails, standard output has one object with the schema `error/1`, and \
         the exit code is 2. Warnings go to standard error.\n\n\
         | code | meaning |\n|---|---|\n",
    );
    for (code, about) in ErrorCode::ALL {
        out.push_str(&format!("| `{}` | {about} |\n", code.name()));
    }
    out.push_str("\n## Schemas\n");
    for (schema, Shape { commands, fields }) in shapes {
        let commands: Vec<String> = commands.iter().map(|name| format!("`{name}`")).collect();
        let commands =
            if commands.is_empty() { "every command".to_owned() } else { commands.join(", ") };
        out.push_str(&format!(
            "\n### `{schema}`\n\nPrinted by {commands}.\n\n| field | type |\n|---|---|\n"
        ));
        for (name, types) in fields {
            let types: Vec<&str> = types.iter().copied().collect();
            out.push_str(&format!("| `{name}` | {} |\n", types.join(" or ")));
        }
    }
    out
}

#[test]
fn every_answer_has_the_documented_fields() {
    let documented = documented_commands();
    let shapes = shapes(&documented);
    let covered: BTreeSet<&str> =
        shapes.values().flat_map(|shape| &shape.commands).map(String::as_str).collect();
    let missing: Vec<&String> = documented
        .iter()
        .filter(|name| !covered.contains(name.as_str()) && !STREAMS.contains(&name.as_str()))
        .collect();
    assert!(missing.is_empty(), "no answer of {missing:?} was checked");
    assert_page("docs/json.md", &page(&shapes));
}

#[test]
fn every_schema_is_documented() {
    let page = std::fs::read_to_string(repository_root().join("docs/json.md")).unwrap();
    let mut folders = vec![repository_root().join("crates/surface/src/view")];
    let mut found = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
                continue;
            }
            let text = std::fs::read_to_string(&entry).unwrap();
            for rest in text.split("SCHEMA: &'static str = \"").skip(1) {
                let schema = rest.split('"').next().unwrap();
                // A page of the plugin is printed for this repository's own tests.
                let is_internal = schema == "plugin-files/1";
                assert!(is_internal || page.contains(&format!("### `{schema}`")), "{schema}");
                found += 1;
            }
        }
    }
    assert!(found > 40, "{found}");
}

#[test]
fn evaluation_scripts_find_the_fields_they_read() {
    let sandbox = worked_in();
    let answer = |arguments: &[&str]| -> Value {
        serde_json::from_str(&sandbox.run(arguments).exits(0).stdout).unwrap()
    };
    sandbox.run(["init", "--private"]);
    sandbox.run(["checkpoint"]).exits(0);
    let shown = answer(&["session", "show", ID, "--json"]);
    assert!(shown.to_string().contains("cache"), "{shown:#}");
    for budget in ["500", "2000"] {
        let brief = answer(&["brief", "--budget", budget, "--json"]);
        assert!(brief["text"].as_str().unwrap().contains("cache"), "{brief:#}");
        let tokens = brief["tokens"].as_u64().unwrap();
        assert!(tokens > 0 && tokens <= budget.parse().unwrap(), "{brief:#}");
    }
}

#[test]
fn an_error_is_one_object_on_standard_output() {
    let sandbox = worked_in();
    insta::assert_snapshot!(sandbox.run(["show", "markt", "--json"]), @r#"
    exit 2
    ----- stdout -----
    {
      "schema": "error/1",
      "code": "not-found",
      "message": "there is no handoff `markt`",
      "hint": "did you mean `market-page-perf`?"
    }
    "#);
    // Arguments that do not parse.
    insta::assert_snapshot!(sandbox.run(["list", "--json", "--nothing"]), @r#"
    exit 2
    ----- stdout -----
    {
      "schema": "error/1",
      "code": "usage",
      "message": "unexpected argument '--nothing' found",
      "hint": "to pass '--nothing' as a value, use '-- --nothing'\nUsage: midstride list --json [HANDOFFS]..."
    }
    "#);
    // Behind `--`, it is not an option.
    let run = sandbox.run(["show", "--", "--json"]).exits(2);
    assert_eq!(run.stdout, "", "{run}");
    // Help is no error.
    let run = sandbox.run(["list", "--json", "--help"]).exits(0);
    assert!(run.stdout.starts_with("List"), "{run}");
}
