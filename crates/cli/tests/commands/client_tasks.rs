//! Tests of client tasks on the project's board: each appears once, with the client's status.

use super::session::{ID, put};
use super::shop;
use midstride_testkit::{Sandbox, fixtures, json_items};
use serde_json::{Value, json};

/// A Claude Code session with these calls and their results. All calls are a second apart, after
/// everything else in the test and before the capture.
fn session(sandbox: &Sandbox, calls: &[(&str, Value, Value)]) {
    let folder = sandbox.root().display().to_string();
    let mut text = String::new();
    let mut number = 0;
    let mut record = |kind: &str, content: Value, result: Option<&Value>| {
        let parent = (number > 0).then(|| format!("r{}", number - 1));
        let mut record = json!({
            "sessionId": ID, "cwd": folder, "version": "2.1.200", "type": kind,
            "uuid": format!("r{number}"), "parentUuid": parent,
            "timestamp": format!("2026-03-22T08:{:02}:{:02}.000Z", number / 60, number % 60),
            "message": {"role": kind, "content": content},
        });
        if let Some(result) = result {
            record["toolUseResult"] = result.clone();
        }
        text.push_str(&format!("{record}\n"));
        number += 1;
    };
    record("user", "Make the pages fast.".into(), None);
    for (at, (name, input, result)) in calls.iter().enumerate() {
        let id = format!("t{at}");
        let call = json!([{"type": "tool_use", "id": id, "name": name, "input": input}]);
        record("assistant", call, None);
        let back = json!([{"type": "tool_result", "tool_use_id": id, "content": "ok"}]);
        record("user", back, Some(result));
    }
    put(sandbox, ID, &text);
}

fn create(number: u8, subject: &str) -> (&'static str, Value, Value) {
    let input = json!({"subject": subject, "description": "All of it"});
    ("TaskCreate", input, json!({"task": {"id": number.to_string(), "subject": subject}}))
}

fn update(number: u8, mut change: Value) -> (&'static str, Value, Value) {
    change["taskId"] = number.to_string().into();
    ("TaskUpdate", change, json!({"success": true}))
}

/// An agent that keeps working in the background.
fn agent(id: &str, about: &str) -> (&'static str, Value, Value) {
    let input =
        json!({"description": about, "prompt": "Do it", "subagent_type": "general-purpose"});
    ("Agent", input, json!({"isAsync": true, "status": "async_launched", "agentId": id}))
}

fn capture(sandbox: &Sandbox) {
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    command.env("MIDSTRIDE_NOW", "2026-03-22T09:00:05Z");
    sandbox.finish(command.args(["session", "capture", "--session", ID])).exits(0);
}

fn tasks(sandbox: &Sandbox) -> Vec<Value> {
    let list = sandbox.run(["task", "list", "--all", "--json"]).exits(0).stdout;
    let list: Vec<Value> = serde_json::from_value(json_items(&list)).unwrap();
    list.into_iter().filter(|one| one["kind"] == "task").collect()
}

/// Each task with its status and worker.
fn told(sandbox: &Sandbox) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let one = |task: &Value| {
        let metadata = &task["metadata"];
        let words = [&task["subject"], &task["status"], &metadata["agent_id"], &metadata["owner"]];
        words.map(text).join(", ")
    };
    let mut told: Vec<String> = tasks(sandbox).iter().map(one).collect();
    told.sort();
    told
}

fn mission(sandbox: &Sandbox) -> String {
    sandbox.run(["brief", "--as", "mission"]).exits(0).stdout
}

#[test]
fn status_owner_agent_and_order_follow_the_client() {
    let sandbox = shop();
    let mut calls = vec![
        create(1, "Find the slow query"),
        create(2, "Add the index"),
        create(3, "Measure"),
        create(4, "Drop the old cache"),
        update(1, json!({"status": "completed", "owner": "reader"})),
        update(2, json!({"addBlocks": ["3"]})),
        agent("a994", "T-002: add the index"),
    ];
    session(&sandbox, &calls);
    capture(&sandbox);
    assert_eq!(
        told(&sandbox),
        [
            "Add the index, in_progress, a994, -",
            "Drop the old cache, pending, -, -",
            "Find the slow query, done, -, reader",
            "Measure, pending, -, -",
        ]
    );
    let ready = sandbox.run(["task", "ready"]).exits(0).stdout;
    assert!(ready.contains("Drop the old cache"), "{ready}");
    assert!(!ready.contains("Add the index") && !ready.contains("Measure"), "{ready}");
    let page = mission(&sandbox);
    let summary = "- Completed: 1 task\n- In Progress: 1 task (T-002, agent a994)\n\
                   - Blocked: 1 task (waiting on T-002)\n- Pending: 1 task\n";
    assert!(page.contains(summary), "{page}");

    // The agent is done, and so is its task; another one is dropped.
    calls.push(("TaskStop", json!({"task_id": "a994"}), json!({})));
    calls.push(update(2, json!({"status": "completed"})));
    calls.push(update(4, json!({"status": "deleted"})));
    session(&sandbox, &calls);
    capture(&sandbox);
    let page = mission(&sandbox);
    let summary =
        "- Completed: 2 tasks\n- In Progress: 0 tasks\n- Blocked: 0 tasks\n- Pending: 1 task\n";
    assert!(page.contains(summary), "{page}");
    assert_eq!(tasks(&sandbox).len(), 4, "each once");
}

#[test]
fn user_changes_of_a_task_survive_the_next_capture() {
    let sandbox = shop();
    let mut calls = vec![create(1, "Warm the cache"), update(1, json!({"status": "in_progress"}))];
    session(&sandbox, &calls);
    capture(&sandbox);
    sandbox.run(["task", "done", "T-001"]).exits(0);
    calls.push(create(2, "Measure"));
    session(&sandbox, &calls);
    capture(&sandbox);
    assert_eq!(told(&sandbox), ["Measure, pending, -, -", "Warm the cache, done, -, -"]);
    let page = sandbox.run(["brief", "--budget", "2000"]).exits(0).stdout;
    assert!(
        page.contains("Measure") && !page.contains("in progress: \"Warm the cache\""),
        "{page}"
    );
}

#[test]
fn a_task_that_an_agent_adds_twice_is_one() {
    let sandbox = shop();
    let agent = |arguments: &[&str]| {
        let mut command = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
        command.env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", ID);
        sandbox.finish(command.args(arguments)).exits(0)
    };
    // Added here first and by the client's tool later, and the other way around.
    agent(&["task", "add", "Warm the cache"]);
    session(&sandbox, &[create(1, "Warm the cache"), create(2, "Measure")]);
    capture(&sandbox);
    let again = agent(&["task", "add", "measure", "--meta", "iteration=2"]);
    assert!(again.stderr.contains("already on this session's task list"), "{again}");
    assert_eq!(told(&sandbox), ["Measure, pending, -, -", "Warm the cache, pending, -, -"]);
    assert!(mission(&sandbox).contains(", iteration 2\n"));
    // Changes of the client's task apply to the one that was added.
    let done = update(1, json!({"status": "completed"}));
    session(&sandbox, &[create(1, "Warm the cache"), create(2, "Measure"), done]);
    capture(&sandbox);
    assert_eq!(told(&sandbox), ["Measure, pending, -, -", "Warm the cache, done, -, -"]);
    // The same words added by someone else are another task.
    sandbox.run(["task", "add", "Measure"]).exits(0);
    assert_eq!(told(&sandbox).len(), 3);
}

#[test]
fn a_task_that_is_restored_by_its_id_is_the_same_task() {
    let sandbox = shop();
    let id = sandbox.run(["task", "add", "Warm the cache"]).exits(0).stdout;
    let restored = create(1, &format!("{} Warm the cache", id.trim()));
    let begun = update(1, json!({"status": "in_progress"}));
    session(&sandbox, &[restored.clone(), begun.clone()]);
    capture(&sandbox);
    assert_eq!(told(&sandbox), ["Warm the cache, in_progress, -, -"]);
    capture(&sandbox);
    assert_eq!(told(&sandbox).len(), 1);
    let done = update(1, json!({"status": "completed"}));
    session(&sandbox, &[restored, begun, done]);
    capture(&sandbox);
    assert_eq!(told(&sandbox), ["Warm the cache, done, -, -"]);
}

#[test]
fn a_blocked_task_recreated_by_a_briefed_session_is_the_same_task() {
    let sandbox = shop();
    let task = sandbox.run(["task", "add", "Warm the cache"]).exits(0).stdout;
    sandbox.run(["task", "block", task.trim(), "--reason", "no access to the store"]).exits(0);
    let call = json!({"session_id": ID, "hook_event_name": "SessionStart", "source": "startup",
        "cwd": sandbox.root(), "transcript_path": ""});
    let answer = sandbox.run_with_input(&["hook", "claude-code"], &call.to_string()).exits(0);
    let line = format!("{} Warm the cache", task.trim());
    assert!(answer.stdout.contains(&line), "{answer}");
    session(&sandbox, &[create(1, "Warm the cache"), update(1, json!({"status": "completed"}))]);
    capture(&sandbox);
    assert_eq!(told(&sandbox), ["Warm the cache, done, -, -"]);
}

#[test]
fn a_task_that_mentions_another_is_separate() {
    let sandbox = shop();
    let id = sandbox.run(["task", "add", "Warm the cache"]).exits(0).stdout;
    let about = create(1, &format!("{} is too slow: measure it", id.trim()));
    session(&sandbox, &[about, update(1, json!({"status": "in_progress"}))]);
    capture(&sandbox);
    assert_eq!(told(&sandbox).len(), 2, "{:?}", told(&sandbox));
    assert!(told(&sandbox).contains(&"Warm the cache, pending, -, -".to_owned()));
}

#[test]
fn a_rewritten_list_keeps_its_tasks() {
    let sandbox = shop();
    let list = |steps: &[(&str, &str)]| {
        let steps: Vec<Value> =
            steps.iter().map(|(text, status)| json!({"content": text, "status": status})).collect();
        ("TodoWrite", json!({"todos": steps}), json!({}))
    };
    let first =
        list(&[("Find it", "completed"), ("Fix it", "in_progress"), ("Ship it", "pending")]);
    session(&sandbox, std::slice::from_ref(&first));
    capture(&sandbox);
    let all = ["Find it, done, -, -", "Fix it, in_progress, -, -", "Ship it, pending, -, -"];
    assert_eq!(told(&sandbox), all);
    session(&sandbox, &[first, list(&[("Fix it", "completed"), ("Test it", "pending")])]);
    capture(&sandbox);
    let all = [
        "Find it, done, -, -",
        "Fix it, done, -, -",
        "Ship it, dropped, -, -",
        "Test it, pending, -, -",
    ];
    assert_eq!(told(&sandbox), all);
}

#[test]
fn the_plan_of_a_codex_session_is_on_the_board() {
    let sandbox = shop();
    let text = std::fs::read_to_string(fixtures("transcripts/codex").join("login.jsonl")).unwrap();
    let text = text.replace("/home/dev/shop", &sandbox.root().display().to_string());
    let folder = sandbox.home().join(".codex/sessions/2026/03/20");
    std::fs::create_dir_all(&folder).unwrap();
    let name = "rollout-2026-03-20T10-00-00-01a1e0a5-ab9c-7e20-b92b-930a003d5e08.jsonl";
    std::fs::write(folder.join(name), text).unwrap();
    sandbox.run(["session", "capture", "--last", "--client", "codex"]).exits(0);
    assert_eq!(told(&sandbox), ["Find it, done, -, -", "Fix it, in_progress, -, -"]);
    let page = mission(&sandbox);
    assert!(page.contains("- Completed: 1 task\n- In Progress: 1 task"), "{page}");
}

#[test]
fn an_open_question_kept_as_a_task_is_a_question() {
    let sandbox = shop();
    session(&sandbox, &[create(1, "QUESTION: Which port?"), create(2, "Warm the cache")]);
    capture(&sandbox);
    let page = mission(&sandbox);
    assert!(page.contains("- Pending: 1 task\n"), "{page}");
    assert!(page.contains("### Open Questions\n- Which port?\n"), "{page}");
    let ready = sandbox.run(["task", "ready"]).exits(0).stdout;
    assert!(!ready.contains("Which port?"), "{ready}");
    sandbox.run(["task", "done", "T-001"]).exits(0);
    assert!(!mission(&sandbox).contains("Which port?"));
}
