//! Tests of `task` and the mission: input and output.

use super::shop;
use crate::sandbox;
use midstride_testkit::{Run, Sandbox, json_items};

const PROGRAM: &str = env!("CARGO_BIN_EXE_midstride");

/// Adds a task this many seconds later, because tasks of the same time have no order.
fn add_at(sandbox: &Sandbox, second: usize, arguments: &[&str]) -> String {
    let mut command = sandbox.command(PROGRAM);
    command.env("MIDSTRIDE_NOW", format!("2026-03-21T17:24:{second:02}Z"));
    let run = sandbox.finish(command.args([&["task", "add"], arguments].concat())).exits(0);
    run.stdout.trim().to_owned()
}

/// Adds a task and returns its id.
fn add(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let run = sandbox.run([&["task", "add"], arguments].concat()).exits(0);
    run.stdout.trim().to_owned()
}

/// The output, with a name in the place of each id.
fn seen(run: &Run, names: &[(&str, &str)]) -> String {
    let named = |text: String, (id, name): &(&str, &str)| text.replace(id, name);
    names.iter().fold(run.to_string(), named)
}

fn json(run: &Run) -> serde_json::Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}\n{run}"))
}

/// Three tasks that depend on each other in a chain.
fn chain(sandbox: &Sandbox) -> [String; 3] {
    let schema = add_at(sandbox, 1, &["Write the schema"]);
    let agent = ["--meta", "agent_id=abc123"];
    let cache =
        add_at(sandbox, 2, &[&["Wire the cache", "--depends-on", &schema], &agent[..]].concat());
    let everybody = ["--description", "To everybody."];
    let ship = add_at(sandbox, 3, &[&["Ship it", "--depends-on", &cache], &everybody[..]].concat());
    [schema, cache, ship]
}

fn named(ids: &[String; 3]) -> [(&str, &str); 3] {
    [(&ids[0], "t-SCHEMA.."), (&ids[1], "t-CACHE..."), (&ids[2], "t-SHIP....")]
}

#[test]
fn tasks_wait_for_each_other_and_become_ready() {
    let sandbox = shop();
    let ids = chain(&sandbox);
    let [schema, cache, ship] = &ids;
    let names = named(&ids);
    insta::assert_snapshot!(seen(&sandbox.run(["task", "list"]), &names), @"
    exit 0
    ----- stdout -----
    ID                   STATUS   WAITS FOR           WHO      SUBJECT
    t-SCHEMA..           pending                               Write the schema
    t-CACHE...           pending  t-SCHEMA..          abc123   Wire the cache
    t-SHIP....           pending  t-CACHE...                   Ship it
    market-page-perf#q1  blocked  blocks its handoff  product  QUESTION: May the weather be ten minutes old?
    ");
    let started = sandbox.run(["task", "update", schema, "--status", "in_progress"]);
    insta::assert_snapshot!(seen(&started, &names), @"
    exit 0
    ----- stderr -----
    t-SCHEMA..: in_progress, Write the schema
    Undo: midstride task update t-SCHEMA.. --status pending
    ");
    let again = sandbox.run(["task", "update", schema, "--status", "in_progress"]);
    insta::assert_snapshot!(seen(&again, &names), @"
    exit 2
    ----- stderr -----
    error: t-SCHEMA.. was not changed: it is already in_progress
    hint: `midstride task show t-SCHEMA..` shows its status
    ");
    insta::assert_snapshot!(seen(&sandbox.run(["task", "done", schema]), &names), @"
    exit 0
    ----- stderr -----
    t-SCHEMA..: done, Write the schema
    Ready now: t-CACHE...  Wire the cache
    Undo: midstride task update t-SCHEMA.. --status in_progress
    ");
    insta::assert_snapshot!(seen(&sandbox.run(["task", "ready"]), &names), @"
    exit 0
    ----- stdout -----
    ID          STATUS   WAITS FOR  WHO     SUBJECT
    t-CACHE...  pending             abc123  Wire the cache
    ");
    let circle = sandbox.run(["task", "block", schema, "--on", ship]);
    insta::assert_snapshot!(seen(&circle, &names), @"
    exit 2
    ----- stderr -----
    error: t-SCHEMA.. was not changed: this would create a dependency cycle: t-SCHEMA.. → t-SHIP.... → t-CACHE... → t-SCHEMA..
    hint: break the cycle with `midstride task update t-SHIP.... --no-longer-depends-on t-CACHE...`
    ");
    let blocked = sandbox.run(["task", "block", cache, "--reason", "the key is missing"]);
    insta::assert_snapshot!(seen(&blocked, &names), @"
    exit 0
    ----- stderr -----
    t-CACHE...: blocked, Wire the cache
    Undo: midstride task update t-CACHE... --status pending
    ");
    insta::assert_snapshot!(seen(&sandbox.run(["task", "list", "--blocked"]), &names), @"
    exit 0
    ----- stdout -----
    ID                   STATUS   WAITS FOR           WHO      SUBJECT
    t-CACHE...           blocked  the key is missing  abc123   Wire the cache
    t-SHIP....           pending  t-CACHE...                   Ship it
    market-page-perf#q1  blocked  blocks its handoff  product  QUESTION: May the weather be ten minutes old?
    ");
    // Everything can be reverted.
    let back = ["task", "update", cache, "--status", "pending", "--no-longer-depends-on", schema];
    sandbox.run(back).exits(0);
    let task = json(&sandbox.run(["task", "show", cache, "--json"]).exits(0));
    assert_eq!(task["status"], "pending");
    assert_eq!(task["reason"], serde_json::Value::Null);
    assert_eq!(task["depends_on"], serde_json::json!([]));
    assert_eq!(task["ready"], true);
}

#[test]
fn a_task_is_shown_in_full() {
    let sandbox = shop();
    let ids = chain(&sandbox);
    let [_, cache, ship] = &ids;
    sandbox.run(["task", "note", ship, "Ask the \u{1b}[31mteam", "--by", "eve"]).exits(0);
    sandbox.run(["task", "update", ship, "--meta", "iteration=3", "--meta", "mode=fg"]).exits(0);
    sandbox.run(["task", "update", ship, "--meta", "mode="]).exits(0);
    insta::assert_snapshot!(seen(&sandbox.run(["task", "show", ship]), &named(&ids)), @"
    exit 0
    ----- stdout -----
    t-SHIP....  Ship it

    status      pending
    waits for   t-CACHE...
    iteration   3
    added       2026-03-21T17:24:03Z by tester
    changed     2026-03-21T17:24:03Z
    uid         [UID]

    To everybody.

    1 note
      2026-03-21T17:24:03Z  eve
        Ask the �[31mteam
    ");
    let found = json_items(
        &sandbox.run(["task", "list", "--search", "TEAM ship", "--json"]).exits(0).stdout,
    );
    assert_eq!(found.as_array().unwrap().len(), 1);
    assert_eq!(found[0]["metadata"], serde_json::json!({"iteration": "3"}));
    assert_eq!(found[0]["waits_for"][0]["id"], cache.as_str());
    assert_eq!(found[0]["kind"], "task");
    let none = sandbox.run(["task", "list", "--search", "nowhere"]).exits(0);
    assert_eq!(none.stderr, "No matching tasks.\n");
}

#[test]
fn id_prefixes_work_and_mistakes_are_explained() {
    let sandbox = shop();
    let ids = chain(&sandbox);
    sandbox.run(["task", "show", &ids[0][..9]]).exits(0);
    insta::assert_snapshot!(sandbox.run(["task", "done", "t-u"]), @"
    exit 2
    ----- stderr -----
    error: there is no task `t-u`
    hint: `midstride task list --all` lists all tasks
    hint: `midstride sync` fetches tasks from other clones
    ");
    let several = sandbox.run(["task", "show", "t-"]).exits(2);
    assert!(several.stderr.contains("matches 3 tasks"), "{several}");
    assert!(ids.iter().all(|id| several.stderr.contains(id)), "{several}");
    insta::assert_snapshot!(sandbox.run(["task", "block", &ids[0]]), @"
    exit 2
    ----- stderr -----
    error: the following required arguments were not provided:
      <--reason <WHY>|--on <TASK>>

    Usage: midstride task block <--reason <WHY>|--on <TASK>> <TASK>

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(sandbox.run(["task", "add", "two\nlines"]), @"
    exit 2
    ----- stderr -----
    error: invalid value 'two
    lines' for '<SUBJECT>': must be one line; put the rest in --description

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(sandbox.run(["task", "add", "x", "--meta", "agent"]), @"
    exit 2
    ----- stderr -----
    error: invalid value 'agent' for '--meta <KEY=VALUE>': write it as KEY=VALUE

    For more information, try '--help'.
    ");
    let long = "x".repeat(70_000);
    insta::assert_snapshot!(sandbox.run(["task", "note", &ids[0], &long]), @"
    exit 2
    ----- stderr -----
    error: a record of 70264 bytes is too large; the maximum is 65536
    hint: put the long text into a handoff or a file, and refer to it
    ");
}

#[test]
fn a_folder_that_is_not_set_up_stays_unchanged() {
    let sandbox = sandbox();
    insta::assert_snapshot!(sandbox.run(["task", "add", "x"]), @"
    exit 2
    ----- stderr -----
    error: this project is not set up
    hint: run `midstride init` to set it up, or `midstride init --private` to commit nothing
    ");
    for command in [&["task", "list"][..], &["brief", "--as", "mission"]] {
        sandbox.run(command).exits(2);
    }
    assert_eq!(std::fs::read_dir(sandbox.root()).unwrap().count(), 0);
}

#[test]
fn a_secret_in_a_task_is_redacted_and_reported() {
    let sandbox = shop();
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let meta = format!("agent_id={token}");
    let run = sandbox.run(["task", "add", &format!("Use {token}"), "--meta", &meta]).exits(0);
    assert_eq!(run.stderr.matches("redacted a secret: github-token").count(), 2, "{run}");
    let id = run.stdout.trim().to_owned();
    let note = sandbox.run(["task", "note", &id, &token]).exits(0);
    assert!(note.stderr.contains("redacted a secret"), "{note}");
    let reason = sandbox.run(["task", "block", &id, "--reason", &token, "--json"]).exits(0);
    assert_eq!(json(&reason)["redacted"], serde_json::json!(["github-token"]));
    sandbox.run(["task", "mission", "--decision", &token]).exits(0);
    let everything = sandbox.run(["events", "--json"]).exits(0);
    assert!(!everything.stdout.contains(&token), "{everything}");
    for file in ["ledger.db", "ledger.db-wal"] {
        let bytes = std::fs::read(sandbox.root().join(".git/midstride").join(file));
        let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
        assert!(!text.contains(&token), "{file}");
    }
}

#[test]
fn a_question_is_shown_as_a_task_and_answered_with_answer() {
    let sandbox = shop();
    insta::assert_snapshot!(sandbox.run(["task", "list"]), @"
    exit 0
    ----- stdout -----
    ID                   STATUS   WAITS FOR           WHO      SUBJECT
    market-page-perf#q1  blocked  blocks its handoff  product  QUESTION: May the weather be ten minutes old?
    ");
    insta::assert_snapshot!(sandbox.run(["task", "show", "market-page-perf#q1"]), @"
    exit 0
    ----- stdout -----
    market-page-perf#q1  QUESTION: May the weather be ten minutes old?

    status      blocked, and blocks its handoff
    owner       product
    ");
    let note = ["task", "note", "market-page-perf#q1", "hm"];
    insta::assert_snapshot!(sandbox.run(note), @r#"
    exit 2
    ----- stderr -----
    error: `market-page-perf#q1` is a question in a handoff, not a task
    hint: midstride answer market-page-perf q1 "the answer"
    hint: to change the question: midstride edit market-page-perf
    "#);
    insta::assert_snapshot!(sandbox.run(["task", "done", "market#q1"]), @r#"
    exit 2
    ----- stderr -----
    error: q1 is a question and takes only an answer
    hint: midstride answer market q1 "the answer"
    "#);
    let answer = ["task", "done", "market#q1", "--answer", "Yes", "--by", "eve"];
    let told = sandbox.run(answer).exits(0);
    let twin = shop();
    let same = twin.run(["answer", "market", "q1", "Yes", "--by", "eve"]).exits(0);
    assert_eq!(told, same);
    let file = ".midstride/handoffs/market-page-perf.md";
    let without_uid = |text: String| -> String {
        text.lines().filter(|line| !line.starts_with("  uid:")).collect()
    };
    assert_eq!(without_uid(sandbox.read(file)), without_uid(twin.read(file)));
    let left = json_items(&sandbox.run(["task", "list", "--json"]).exits(0).stdout);
    assert_eq!(left, serde_json::json!([]));
    let ledger = sandbox.run(["events", "--json"]).exits(0);
    assert!(!ledger.stdout.contains("midstride.task."), "{ledger}");
}

#[test]
fn the_mission_is_briefed_from_the_captured_state_and_the_tasks() {
    let sandbox = shop();
    sandbox.write(
        ".midstride/handoffs/login-loop.md",
        "---\nhandoff:\n  id: login-loop\n  decisions_made:\n    - decision: |\n        Cookies stay\n        \
         on one domain\n      binding: true\n    - A guess\n---\n",
    );
    insta::assert_snapshot!(sandbox.run(["brief", "--as", "mission"]), @r#"
    exit 0
    ----- stdout -----
    # MISSION STATE - not captured

    ## Mission Handoff

    ### Status Summary
    - Completed: 0 tasks
    - In Progress: 0 tasks
    - Blocked: 0 tasks
    - Pending: 0 tasks

    ### Key Decisions
    - `login-loop` binds: "Cookies stay on one domain"

    ### Open Questions
    - `market-page-perf#q1` blocks: "May the weather be ten minutes old?"

    ### Next Actions
    When resuming:
    1. Continue delegation cycle: start what `midstride task ready` lists

    ## Handoff Complete

    State captured in the task system. To resume:

    1. Run `midstride brief --as mission` (in another clone, run `midstride sync` first)
    2. `midstride task list` shows the status of every task; `midstride task ready` lists the tasks that are ready to start
    3. Coordination continues from where we left off

    **In-flight work:** none
    ----- stderr -----
    No mission state was captured; this is based on the tasks and handoffs.
    Next: midstride task mission --decision "..." --next "..."
    "#);
    let ids = chain(&sandbox);
    let names = named(&ids);
    sandbox
        .run(["task", "update", &ids[0], "--status", "in_progress", "--meta", "agent_id=x7"])
        .exits(0);
    let decision = "Using JWT for auth (user preference from earlier)";
    sandbox.run(["task", "mission", "--decision", "Something else"]).exits(0);
    let capture = ["task", "mission", "--decision", decision, "--question", "Which region?"];
    let capture = [&capture[..], &["--next", "Check if x7 is done", "--mode", "--fg"]].concat();
    insta::assert_snapshot!(sandbox.run(capture), @"
    exit 0
    ----- stdout -----
    MISSION STATE - 2026-03-21T17:24:00Z  by tester, mode --fg  (active)
      Decisions
        1. Something else
        2. Using JWT for auth (user preference from earlier)
      Questions
        1. Which region?
      Next
        1. Check if x7 is done
    ----- stderr -----
    Next: midstride brief --as mission
    ");
    insta::assert_snapshot!(seen(&sandbox.run(["brief", "--as", "mission"]), &names), @r#"
    exit 0
    ----- stdout -----
    # MISSION STATE - 2026-03-21T17:24:00Z

    Captured by tester, mode --fg

    ## Mission Handoff

    ### Status Summary
    - Completed: 0 tasks
    - In Progress: 1 task (t-SCHEMA.., agent x7)
    - Blocked: 2 tasks (waiting on t-SCHEMA.., t-CACHE...)
    - Pending: 0 tasks

    ### Key Decisions
    - Something else
    - Using JWT for auth (user preference from earlier)
    - `login-loop` binds: "Cookies stay on one domain"

    ### Open Questions
    - Which region?
    - `market-page-perf#q1` blocks: "May the weather be ten minutes old?"

    ### Next Actions
    When resuming:
    1. Check if x7 is done

    ## Handoff Complete

    State captured in the task system. To resume:

    1. Run `midstride brief --as mission` (in another clone, run `midstride sync` first)
    2. `midstride task list` shows the status of every task; `midstride task ready` lists the tasks that are ready to start
    3. Coordination continues from where we left off

    **In-flight work:** t-SCHEMA.. (agent x7) - check for completion
    "#);
    let brief = json(&sandbox.run(["brief", "--as", "mission", "--json"]).exits(0));
    assert_eq!(brief["mode"], "--fg");
    assert_eq!(brief["decisions"], serde_json::json!(["Something else", decision]));
    assert_eq!(brief["in_progress"][0]["agent_id"], "x7");
    assert_eq!(brief["blocked"].as_array().unwrap().len(), 2);
    assert_eq!(brief["open_questions"][0]["blocking"], true);
}

#[test]
fn the_second_to_start_a_task_is_refused() {
    let sandbox = shop();
    let id = add(&sandbox, &["One for all"]);
    let begin = || {
        let mut command = sandbox.command(PROGRAM);
        command.args(["task", "update", &id, "--status", "in_progress"]);
        command.stderr(std::process::Stdio::piped()).spawn().unwrap()
    };
    let ended: Vec<_> = (0..8).map(|_| begin()).collect();
    let ended: Vec<_> = ended.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    let won = ended.iter().filter(|output| output.status.success()).count();
    assert_eq!(won, 1);
    for lost in ended.iter().filter(|output| !output.status.success()) {
        let said = String::from_utf8_lossy(&lost.stderr).into_owned();
        assert!(said.contains("it is already in_progress"), "{said}");
    }
}

#[test]
fn concurrent_dependencies_make_no_cycle() {
    let sandbox = shop();
    let ids: Vec<String> = (0..6).map(|n| add(&sandbox, &[&format!("number {n}")])).collect();
    let wait = |number: usize| {
        let mut command = sandbox.command(PROGRAM);
        let (one, before) = (&ids[number], &ids[(number + 1) % ids.len()]);
        command.args(["task", "block", one, "--on", before]);
        command.stderr(std::process::Stdio::piped()).spawn().unwrap()
    };
    let all: Vec<_> = (0..ids.len()).map(wait).collect();
    let done = all.into_iter().map(|child| child.wait_with_output().unwrap().status.success());
    assert_eq!(done.filter(|done| *done).count(), ids.len() - 1);
    let list = sandbox.run(["task", "list"]).exits(0);
    assert!(!list.stderr.contains("depend on each other"), "{list}");
}

#[test]
fn changes_after_the_end_of_time_are_refused() {
    let sandbox = shop();
    let last = |arguments: &[&str]| {
        let mut command = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
        command.env("MIDSTRIDE_NOW", "9999-12-30T22:00:00.999999999Z");
        sandbox.finish(command.args(arguments))
    };
    let id = sandbox.run(["task", "add", "Write the schema"]).exits(0).stdout.trim().to_owned();
    last(&["task", "block", &id, "--reason", "waits for the key"]).exits(0);
    insta::assert_snapshot!(last(&["task", "done", &id]).to_string().replace(&id, "ID"), @"
    exit 2
    ----- stderr -----
    error: the last change is dated 9999-12-30T22:00:00.999999999Z, the latest possible time, so no later change can be recorded
    hint: nothing was changed; run `midstride events` to find the entry with the wrong time
    ");
    last(&["task", "note", &id, "so it is"]).exits(2);
    let shown = sandbox.run(["task", "show", &id]).exits(0);
    assert!(shown.stdout.contains("blocked"), "{shown}");
    last(&["task", "mission", "--next", "one"]).exits(0);
    let refused = last(&["task", "mission", "--next", "two"]).exits(2);
    assert!(refused.stderr.contains("the last change is dated 9999-12-30"), "{refused}");
}

#[test]
fn an_unwritable_ledger_is_not_reported_as_busy() {
    let sandbox = shop();
    let id = sandbox.run(["task", "add", "Write the schema"]).exits(0).stdout.trim().to_owned();
    let ledger = sandbox.root().join(".git/midstride/ledger.db");
    let connection = rusqlite::Connection::open(&ledger).unwrap();
    let refuse = "CREATE TRIGGER no BEFORE INSERT ON records BEGIN SELECT RAISE(ABORT, 'no'); END";
    connection.execute_batch(refuse).unwrap();
    drop(connection);
    insta::assert_snapshot!(sandbox.run(["task", "done", &id]), @"
    exit 2
    ----- stderr -----
    error: the ledger cannot be written: no
    hint: nothing was changed; `midstride doctor` prints its path: check that it is intact and writable
    ");
}

#[test]
fn decisions_carry_over_to_the_next_mission_state() {
    let sandbox = shop();
    let mission = |arguments: &[&str]| sandbox.run([&["task", "mission"], arguments].concat());
    mission(&[
        "--decision",
        "Cache it",
        "--decision",
        "Ship on Monday",
        "--question",
        "Which region?",
        "--mode",
        "solo",
    ])
    .exits(0);
    mission(&["--next", "Ask them"]).exits(0);
    mission(&["--drop-decision", "2", "--drop-question", "1", "--decision", "Ship on Friday"])
        .exits(0);
    insta::assert_snapshot!(mission(&["--history"]), @"
    exit 0
    ----- stdout -----
    MISSION STATE - 2026-03-21T17:24:00Z  by tester, mode solo  (active)
      Decisions
        1. Cache it
        2. Ship on Friday
      Next
        1. Ask them

    MISSION STATE - 2026-03-21T17:24:00Z  by tester, mode solo
      Decisions
        1. Cache it
        2. Ship on Monday
      Questions
        1. Which region?
      Next
        1. Ask them

    MISSION STATE - 2026-03-21T17:24:00Z  by tester, mode solo
      Decisions
        1. Cache it
        2. Ship on Monday
      Questions
        1. Which region?
    ");
    insta::assert_snapshot!(mission(&["--drop-decision", "7"]), @"
    exit 2
    ----- stderr -----
    error: there is no decision 7; the previous state has 2
    hint: `midstride task mission --history` shows the numbers; nothing was captured
    ");
    mission(&["--fresh", "--next", "Begin again"]).exits(0);
    let brief = json(&sandbox.run(["brief", "--as", "mission", "--json"]).exits(0));
    assert_eq!(brief["decisions"].as_array().unwrap().len(), 0);
    assert_eq!(brief["mode"], serde_json::Value::Null);
}
