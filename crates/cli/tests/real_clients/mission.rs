//! Tests of the mission that a session of the real Claude Code keeps in its task list.

use super::hooks::{claude_code, did, finish, last};
use super::project;
use super::talk::{heard, times};
use midstride_testkit::{ModelServer, Sandbox, Turn, json_items};
use serde_json::{Value, json};

const SESSION: &str = "22222222-2222-4222-8222-222222222222";

fn create(subject: &str) -> Turn {
    Turn::calls("TaskCreate", json!({"subject": subject, "description": "As agreed"}))
}

fn update(id: &str, mut change: Value) -> Turn {
    change["taskId"] = id.into();
    Turn::calls("TaskUpdate", change)
}

/// Three tasks are done, one is in progress with an agent, two wait for it.
fn example() -> Vec<Turn> {
    let subjects =
        ["Design", "Add the table", "Hash passwords", "Add login", "Protect routes", "Document"];
    let done = ["1", "2", "3"].map(|id| update(id, json!({"status": "completed"})));
    let agent = json!({"status": "in_progress", "metadata": {"agent_id": "abc123"}});
    let waiting = ["5", "6"].map(|id| update(id, json!({"addBlockedBy": ["4"]})));
    let turns = subjects.map(create).into_iter().chain(done);
    let turns = turns.chain([update("4", agent)]).chain(waiting);
    turns.chain([Turn::says("The login is being added.")]).collect()
}

/// The task in which the agent keeps the state of the mission.
fn state() -> Turn {
    let description = "## Mission Handoff\n\n### Key Decisions\n- Using JWT for auth (user preference \
        from earlier)\n- Skipped rate limiting (out of scope per user)\n\n### Open Questions\n- None \
        currently\n\n### Next Actions\nWhen resuming:\n1. Check if T-004 agent completed\n2. If \
        complete, verify and unblock T-005, T-006\n3. Continue delegation cycle\n";
    Turn::calls(
        "TaskCreate",
        json!({
            "subject": "MISSION STATE - now",
            "description": description,
            "metadata": {"type": "handoff", "mode": "--fg", "iteration": 2},
        }),
    )
}

fn mission(sandbox: &Sandbox) -> String {
    sandbox.run(["brief", "--as", "mission"]).exits(0).stdout
}

fn tasks(sandbox: &Sandbox) -> Vec<String> {
    let list = sandbox.run(["task", "list", "--all", "--json"]).exits(0).stdout;
    let list: Value = json_items(&list);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let tasks = list.as_array().unwrap().iter();
    let mut tasks: Vec<String> =
        tasks.map(|one| format!("{}: {}", text(&one["subject"]), text(&one["status"]))).collect();
    tasks.sort();
    tasks
}

const SUMMARY: &str = "\
## Mission Handoff

### Status Summary
- Completed: 3 tasks
- In Progress: 1 task (T-004, agent abc123)
- Blocked: 2 tasks (waiting on T-004)
- Pending: 0 tasks
";

const REST: &str = "
### Key Decisions
- Using JWT for auth (user preference from earlier)
- Skipped rate limiting (out of scope per user)

### Open Questions
- None currently

### Next Actions
When resuming:
1. Check if T-004 agent completed
2. If complete, verify and unblock T-005, T-006
3. Continue delegation cycle
";

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn the_task_list_of_a_session_is_the_mission() {
    let sandbox = project();
    let model = ModelServer::start(example());
    let mut client = claude_code(&sandbox, &model);
    finish(&sandbox, client.args(["-p", "Add a login", "--session-id", SESSION]));
    let page = mission(&sandbox);
    assert!(page.contains(SUMMARY), "{page}");
    assert!(page.contains("1. Check if T-004 agent completed\n"), "{page}");
    assert!(page.contains("2. If complete, verify and unblock T-005, T-006"), "{page}");
    let flight = "**In-flight work:** T-004 (agent abc123) - check for completion\n";
    assert!(page.contains(flight), "{page}");
    let ready = sandbox.run(["task", "ready"]).exits(0);
    assert!(!ready.stdout.contains("Add login"), "{ready}");

    // The session continues and keeps the mission state as its last task.
    model.then([state(), Turn::says("It is kept.")]);
    let mut client = claude_code(&sandbox, &model);
    finish(&sandbox, client.args(["-p", "Hand over", "--resume", SESSION]));
    let page = mission(&sandbox);
    assert!(page.contains(&format!("{SUMMARY}{REST}")), "{page}");
    assert!(page.contains(", mode --fg, iteration 2\n"), "{page}");
    let all = [
        "Add login: in_progress",
        "Add the table: done",
        "Design: done",
        "Document: pending",
        "Hash passwords: done",
        "MISSION STATE - now: pending",
        "Protect routes: pending",
    ];
    assert_eq!(tasks(&sandbox), all, "each task once");
    let saved = sandbox.run(["save", "--session", SESSION, "--accept", "it is a test"]).exits(0);
    assert!(saved.stdout.contains(&format!("{SUMMARY}{REST}")), "{saved}");
    assert!(saved.stdout.contains(flight), "{saved}");

    // The next session is briefed on it, and completes the agent's task by the name in the
    // briefing.
    model.then([
        Turn::calls("Bash", json!({"command": format!("'{}' task done T-004", program())})),
        Turn::says("Done."),
    ]);
    let mut client = claude_code(&sandbox, &model);
    finish(&sandbox, client.args(["-p", "Go on"]));
    assert!(last(&model).says("Check if T-004 agent completed"), "{:#}", last(&model).body);
    let page = mission(&sandbox);
    assert!(
        page.contains("- Completed: 4 tasks\n- In Progress: 0 tasks\n- Blocked: 0 tasks\n"),
        "{page}"
    );
    let ready = sandbox.run(["task", "ready"]).exits(0).stdout;
    assert!(ready.contains("Protect routes") && ready.contains("Document"), "{ready}");
    did(&sandbox);
}

fn program() -> &'static str {
    env!("CARGO_BIN_EXE_midstride")
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn a_killed_session_leaves_its_mission() {
    let sandbox = project();
    let mut turns = example();
    turns.pop();
    let model = ModelServer::start(turns.into_iter().chain([Turn::hangs()]));
    let mut client = claude_code(&sandbox, &model);
    let child = super::start(client.args(["-p", "Add a login", "--session-id", SESSION]));
    model.wait_for_requests(example().len());
    super::kill(child);
    sandbox.run(["session", "recover"]).exits(0);
    let page = mission(&sandbox);
    assert!(page.contains(SUMMARY), "{page}");
}

/// Two sessions that share a list through `CLAUDE_CODE_TASK_LIST_ID`, and one with its own list.
#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn tasks_of_a_shared_list_appear_once() {
    let sandbox = project();
    let model = ModelServer::start([]);
    let run = |shared: bool, prompt: &str, turns: Vec<Turn>| {
        model.then(turns.into_iter().chain([Turn::says("Done.")]));
        let mut client = claude_code(&sandbox, &model);
        if shared {
            client.env("CLAUDE_CODE_TASK_LIST_ID", "shop list");
        }
        finish(&sandbox, client.args(["-p", prompt]));
        heard(&last(&model))
    };
    let first = vec![create("Design"), create("Add login")];
    run(true, "Plan the login", first);
    assert_eq!(tasks(&sandbox), ["Add login: pending", "Design: pending"]);
    let second = vec![update("1", json!({"status": "completed"})), create("Document")];
    let told = run(true, "Design it", second);
    // Each task is on the page once, too.
    assert_eq!(times(&told, "Add login"), 1, "{told:#?}");
    let all = ["Add login: pending", "Design: done", "Document: pending"];
    assert_eq!(tasks(&sandbox), all);
    // A capture without a hook knows the list, too.
    sandbox.run(["session", "capture", "--last"]).exits(0);
    assert_eq!(tasks(&sandbox), all);
    run(false, "Something else", vec![create("Design")]);
    assert_eq!(tasks(&sandbox).len(), 4);
    did(&sandbox);
}
