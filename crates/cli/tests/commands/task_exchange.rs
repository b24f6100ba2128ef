//! Tests of exchanging tasks: in a session handoff, and by `sync` between clones.

use super::shop;
use midstride_testkit::{Run, Sandbox, json_items};

const PROGRAM: &str = env!("CARGO_BIN_EXE_midstride");

/// Runs midstride in a folder next to the project.
fn run_in(sandbox: &Sandbox, folder: &str, arguments: &[&str]) -> Run {
    let mut command = sandbox.command(PROGRAM);
    sandbox.finish(command.current_dir(sandbox.root().join(folder)).args(arguments))
}

fn git_in(sandbox: &Sandbox, folder: &str, arguments: &[&str]) -> String {
    sandbox.git(&[&["-C", folder], arguments].concat())
}

fn json(run: &Run) -> serde_json::Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}\n{run}"))
}

/// The shop and a second clone, with a bare repository between them.
fn two_clones() -> Sandbox {
    let sandbox = shop();
    sandbox.git(&["add", "--all"]);
    sandbox.git(&["commit", "--quiet", "--message", "handoffs"]);
    sandbox.git(&["init", "--quiet", "--bare", "--initial-branch=main", "../hub.git"]);
    sandbox.git(&["remote", "add", "origin", "../hub.git"]);
    sandbox.git(&["push", "--quiet", "--set-upstream", "origin", "main"]);
    sandbox.git(&["clone", "--quiet", "../hub.git", "../second"]);
    sandbox.as_user().run(["-C", "../second", "trust", "--yes"]).exits(0);
    sandbox
}

fn add(sandbox: &Sandbox, folder: &str, arguments: &[&str]) -> String {
    let run = run_in(sandbox, folder, &[&["task", "add"], arguments].concat()).exits(0);
    run.stdout.trim().to_owned()
}

fn list(sandbox: &Sandbox, folder: &str) -> serde_json::Value {
    json_items(&run_in(sandbox, folder, &["task", "list", "--all", "--json"]).exits(0).stdout)
}

#[test]
fn tasks_are_the_same_in_both_clones_after_sync() {
    let sandbox = two_clones();
    let one = add(&sandbox, ".", &["Write the schema", "--meta", "agent_id=abc"]);
    let two = add(&sandbox, ".", &["Wire the cache", "--depends-on", &one]);
    let three = add(&sandbox, "../second", &["Read the logs"]);
    let run = run_in(&sandbox, ".", &["sync"]);
    insta::assert_snapshot!(run, @"
    exit 0
    ----- stderr -----
    0 tasks received from origin, 2 tasks sent
    Both sides now have 2 tasks
    ");
    insta::assert_snapshot!(run_in(&sandbox, "../second", &["sync"]), @"
    exit 0
    ----- stderr -----
    2 tasks received from origin, 1 task sent
    Both sides now have 3 tasks
    ");
    // Both change what the other one has, and the same task concurrently.
    run_in(&sandbox, "../second", &["task", "done", &one]).exits(0);
    run_in(&sandbox, "../second", &["task", "note", &two, "over there"]).exits(0);
    run_in(&sandbox, ".", &["task", "note", &two, "over here"]).exits(0);
    run_in(&sandbox, ".", &["task", "update", &one, "--subject", "Write the schemas"]).exits(0);
    run_in(&sandbox, ".", &["task", "mission", "--next", "Ask them"]).exits(0);
    for folder in ["../second", ".", "../second"] {
        run_in(&sandbox, folder, &["sync"]).exits(0);
    }
    let (here, there) = (list(&sandbox, "."), list(&sandbox, "../second"));
    assert_eq!(here, there);
    let by_id = |id: &str| {
        let found = here.as_array().unwrap().iter().find(|task| task["id"] == id);
        found.unwrap_or_else(|| panic!("{id} is not in {here}")).clone()
    };
    assert_eq!(by_id(&one)["status"], "done");
    assert_eq!(by_id(&one)["subject"], "Write the schemas");
    assert_eq!(by_id(&two)["ready"], true);
    assert_eq!(by_id(&two)["notes"].as_array().unwrap().len(), 2);
    assert_eq!(by_id(&three)["subject"], "Read the logs");
    sandbox.as_user().run(["-C", "../second", "trust", "--yes"]).exits(0);
    let brief = run_in(&sandbox, "../second", &["brief", "--as", "mission"]).exits(0);
    assert!(brief.stdout.contains("1. Ask them"), "{brief}");
    // Nothing is left to do, and no temporary references remain.
    let again = json(&run_in(&sandbox, ".", &["sync", "--json"]).exits(0));
    assert_eq!(again["tasks"]["sent"], 0);
    assert_eq!(again["tasks"]["received"], 0);
    assert!(!sandbox.git(&["for-each-ref"]).contains("workbench"));
}

#[test]
fn cycles_made_by_two_clones_are_reported() {
    let sandbox = two_clones();
    let one = add(&sandbox, ".", &["One"]);
    let two = add(&sandbox, ".", &["Two"]);
    for folder in [".", "../second"] {
        run_in(&sandbox, folder, &["sync"]).exits(0);
    }
    run_in(&sandbox, ".", &["task", "block", &one, "--on", &two]).exits(0);
    run_in(&sandbox, "../second", &["task", "block", &two, "--on", &one]).exits(0);
    for folder in [".", "../second", "."] {
        run_in(&sandbox, folder, &["sync"]).exits(0);
    }
    for folder in [".", "../second"] {
        let list = run_in(&sandbox, folder, &["task", "list"]).exits(0);
        assert!(list.stderr.contains("depend on each other"), "{list}");
        assert!(list.stderr.contains("--no-longer-depends-on"), "{list}");
    }
    run_in(&sandbox, ".", &["task", "update", &one, "--no-longer-depends-on", &two]).exits(0);
    let list = run_in(&sandbox, ".", &["task", "list"]).exits(0);
    assert!(!list.stderr.contains("depend on each other"), "{list}");
}

/// A session handoff with three open tasks, pulled into the second clone.
fn handed_over(sandbox: &Sandbox) -> [String; 3] {
    let past = add(sandbox, ".", &["Begin"]);
    let one = add(sandbox, ".", &["Write the schema", "--depends-on", &past]);
    let two = add(sandbox, ".", &["Wire the cache", "--depends-on", &one]);
    let three = add(sandbox, ".", &["Ship it", "--meta", "iteration=2"]);
    run_in(sandbox, ".", &["task", "done", &past]).exits(0);
    run_in(sandbox, ".", &["task", "note", &three, "after the freeze", "--by", "eve"]).exits(0);
    run_in(sandbox, ".", &["task", "block", &three, "--reason", "frozen"]).exits(0);
    let new = ["new", "End of day", "--kind", "session", "--committed", "--no-edit"];
    let told = run_in(sandbox, ".", &[&new[..], &["--summary", "All is open"]].concat()).exits(0);
    assert!(told.stderr.contains("The handoff includes 3 open tasks"), "{told}");
    sandbox.git(&["add", "--all"]);
    sandbox.git(&["commit", "--quiet", "--message", "session"]);
    sandbox.git(&["push", "--quiet"]);
    git_in(sandbox, "../second", &["pull", "--quiet"]);
    [one, two, three]
}

#[test]
fn a_session_handoff_brings_its_open_tasks_to_another_clone() {
    let sandbox = two_clones();
    let [one, two, three] = handed_over(&sandbox);
    let check = run_in(&sandbox, ".", &["check", "end-day"]);
    assert!(!check.stdout.contains("error["), "{check}");
    let missing = run_in(&sandbox, "../second", &["task", "show", &one]);
    insta::assert_snapshot!(missing.to_string().replace(&one, "t-ONE....."), @"
    exit 2
    ----- stderr -----
    error: there is no task `t-ONE.....`
    hint: `midstride task list --all` lists all tasks
    hint: `midstride sync` fetches tasks from other clones
    ");
    let start = run_in(&sandbox, "../second", &["start", "end-day", "--json"]).exits(0);
    let created = json(&start)["tasks"]["created"].clone();
    for id in [&one, &two, &three] {
        assert!(created.as_array().unwrap().contains(&id.as_str().into()), "{start}");
    }
    let show = |folder: &str, id: &str| {
        json(&run_in(&sandbox, folder, &["task", "show", id, "--json"]).exits(0))
    };
    assert_eq!(show("../second", &one)["ready"], true, "what it waited for was done");
    assert_eq!(show("../second", &two)["waits_for"][0]["id"], one.as_str());
    let ship = show("../second", &three);
    assert_eq!(ship["reason"], "frozen");
    assert_eq!(ship["metadata"]["iteration"], "2");
    assert_eq!(ship["notes"][0]["text"], "after the freeze");
    // Importing again changes nothing, and changes made meanwhile stay.
    run_in(&sandbox, "../second", &["task", "done", &one]).exits(0);
    let again = run_in(&sandbox, "../second", &["task", "import", "end-day"]);
    insta::assert_snapshot!(again, @"
    exit 0
    ----- stderr -----
    Already here and unchanged: 3 tasks
    ");
    assert_eq!(show("../second", &one)["status"], "done");
    // Once the ledgers are synced, there is one task each, with one note.
    for folder in [".", "../second", "."] {
        run_in(&sandbox, folder, &["sync"]).exits(0);
    }
    assert_eq!(list(&sandbox, "."), list(&sandbox, "../second"));
    assert_eq!(show(".", &one)["status"], "done");
    assert_eq!(show(".", &three)["notes"].as_array().unwrap().len(), 1);
    assert_eq!(list(&sandbox, ".").as_array().unwrap().len(), 4 + 1, "and one question");
    // Only the uid of the handoff is shared with the tasks.
    let mut command = sandbox.command("git");
    command.args([
        "--git-dir",
        "../hub.git",
        "grep",
        "-i",
        "-e",
        "end.of.day",
        "-e",
        "All is open",
    ]);
    sandbox.finish(command.arg("refs/midstride/tasks")).exits(1);
}

#[test]
fn handwritten_tasks_are_created_once_on_every_machine() {
    let sandbox = two_clones();
    let text = "---\nhandoff:\n  id: by-hand\n  uid: 0195b9d2-4c00-7000-8000-000000000001\n  kind: session\n  \
                created: 2026-03-21T17:24:00Z\n  state:\n    tasks:\n      - id: T-004\n        \
                subject: Wire the cache\n        status: in_progress\n        metadata: {agent_id: abc123}\n      \
                - id: T-005\n        subject: Ship\n        depends_on: [T-004, T-009]\n      - 17: odd\n---\n";
    for folder in [".", "../second"] {
        let path = sandbox.root().join(folder).join(".midstride/handoffs/by-hand.md");
        std::fs::write(path, text).unwrap();
        let run = run_in(&sandbox, folder, &["task", "import", "by-hand"]).exits(0);
        assert!(run.stderr.contains("2 tasks imported with the handoff"), "{run}");
        assert!(run.stderr.contains("1 item in `state.tasks` cannot be read"), "{run}");
        assert!(run.stderr.contains("tasks that they wait for are missing: T-009"), "{run}");
    }
    assert_eq!(list(&sandbox, "."), list(&sandbox, "../second"));
    for folder in [".", "../second", "."] {
        run_in(&sandbox, folder, &["sync"]).exits(0);
    }
    let all = list(&sandbox, ".");
    assert_eq!(all, list(&sandbox, "../second"));
    assert_eq!(all.as_array().unwrap().len(), 2 + 1, "and one question: {all}");
}

#[test]
fn a_session_reports_omitted_tasks_and_completes_the_authors_list() {
    let sandbox = shop();
    let tasks: String = (0..201).map(|number| format!("      - number {number}\n")).collect();
    let text = format!("---\nhandoff:\n  id: many\n  state:\n    tasks:\n{tasks}---\n");
    sandbox.write(".midstride/handoffs/many.md", text);
    sandbox.run(["task", "import", "many"]).exits(0);
    let new = ["new", "Full", "--kind", "session", "--committed", "--no-edit"];
    insta::assert_snapshot!(sandbox.run(new), @"
    exit 0
    ----- stderr -----
    Wrote full: .midstride/handoffs/full.md
    The handoff includes 200 open tasks
    warning: omitted 1 open task that did not fit; `midstride sync` shares all tasks
    Next: fill it in, then midstride check full
    ");
    // A state started by the author gets the tasks too; a task list by the author stays as it is.
    let with_body = |id: &str, state: &str| {
        let body =
            format!("---\nhandoff:\n  id: {id}\n  kind: session\n  state:\n{state}---\n\nx\n");
        let new = ["new", "--kind", "session", "--committed", "--no-edit", "--body", "-"];
        let run = sandbox.run_with_input(&new, &body).exits(0);
        (run.stderr, sandbox.read(&format!(".midstride/handoffs/{id}.md")))
    };
    let (said, text) = with_body("goals", "    goals: [Ship it] # soon\n");
    assert!(said.contains("The handoff includes 200 open tasks"), "{said}");
    assert!(text.contains("    goals: [Ship it] # soon\n    tasks:\n"), "{text}");
    let (said, text) = with_body("own", "    tasks: [Only this]\n");
    assert!(!said.contains("It includes"), "{said}");
    assert!(text.contains("    tasks: [Only this]\n"), "{text}");
}

#[test]
fn invalid_task_events_of_others_are_ignored_and_kept() {
    let sandbox = two_clones();
    add(&sandbox, ".", &["One"]);
    run_in(&sandbox, ".", &["sync"]).exits(0);
    // Another client pushes what midstride would never write.
    let hub = sandbox.root().join("../hub.git");
    let hub = hub.to_str().unwrap();
    let script = "
        set -e
        blob() { printf '%s' \"$1\" | git hash-object -w --stdin; }
        tree=$(git rev-parse refs/midstride/tasks)
        good=0195b9d2-4c00-7000-8000-0000000000aa
        event() { printf '{\"specversion\":\"1.0\",\"id\":\"%s\",\"source\":\"eve\",\"type\":\"midstride.%s.v1\",\"subject\":\"task/%s\",\"time\":\"2026-03-21T17:24:00Z\",\"data\":%s}' \"$1\" \"$2\" \"$good\" \"$3\"; }
        export GIT_INDEX_FILE=odd.index
        git read-tree $tree
        put() { git update-index --add --cacheinfo \"$1\" \"$2\" \"$3\"; }
        put 100644 $(blob \"$(event good task.added '{\"subject\":\"Of another hand\"}')\") aa/$good/good
        put 100644 $(blob \"$(event later task.split '[1]')\") aa/$good/later
        put 100644 $(blob 'no json') aa/$good/broken
        put 100644 $(blob \"$(event other task.noted '{\"text\":\"x\"}')\") aa/$good/liar
        put 100644 $(blob \"$(event x task.noted '{\"text\":\"x\"}')\") bb/$good/x
        put 100644 $(blob \"$(head -c 80000 /dev/zero | tr '\\0' '[')\") aa/$good/huge
        put 120000 $(blob '/etc/passwd') aa/$good/link
        put 100755 $(blob 'run me') aa/$good/run
        put 100644 $(blob 'x') README
        git update-ref refs/midstride/tasks $(git write-tree)
    ";
    let mut command = sandbox.command("sh");
    sandbox.finish(command.current_dir(hub).args(["-c", script])).exits(0);
    let run = run_in(&sandbox, "../second", &["sync"]);
    insta::assert_snapshot!(run, @"
    exit 0
    ----- stderr -----
    warning: skipped 7 files among the tasks in origin
    hint: they are not events, or they add a task that is already here; nothing was changed
    warning: 1 event in origin needs a newer midstride
    hint: midstride leaves them there until a newer version syncs
    2 tasks received from origin, 0 tasks sent
    Both sides now have 2 tasks
    ");
    let list = run_in(&sandbox, "../second", &["task", "list", "--json"]).exits(0);
    let subjects: Vec<String> = json_items(&list.stdout)
        .as_array()
        .unwrap()
        .iter()
        .map(|task| task["subject"].as_str().unwrap().to_owned())
        .collect();
    assert!(subjects.contains(&"Of another hand".to_owned()), "{subjects:?}");
    assert!(subjects.contains(&"One".to_owned()), "{subjects:?}");
    // Events of a newer midstride are not received, and block nothing.
    run_in(&sandbox, "../second", &["task", "done", "0195b9d2"]).exits(0);
    // They and odd events are kept for the version that wrote them.
    run_in(&sandbox, "../second", &["task", "add", "More"]).exits(0);
    run_in(&sandbox, "../second", &["sync"]).exits(0);
    let there =
        sandbox.git(&["--git-dir", hub, "ls-tree", "-r", "--name-only", "refs/midstride/tasks"]);
    let names = ["README", "/link", "/later"];
    assert!(names.iter().all(|name| there.contains(name)), "{there}");
    // A reference to something that is not a tree holds no tasks.
    let script = "git update-ref refs/midstride/tasks $(printf x | git hash-object -w --stdin)";
    let mut command = sandbox.command("sh");
    sandbox.finish(command.current_dir(hub).args(["-c", script])).exits(0);
    let run = json(&run_in(&sandbox, "../second", &["sync", "--json"]).exits(0));
    assert_eq!(run["tasks"]["skipped"], 1);
    assert_eq!(run["tasks"]["sent"], 0);
}

/// Pushes events for a task, as anyone with access to the remote can: the id, the type, the time and the
/// data of each.
fn push_events(sandbox: &Sandbox, uid: &str, events: &[(&str, &str, &str, &str)]) {
    let folder = &uid[uid.len() - 2..];
    let mut script = "set -e; cd ../hub.git; export GIT_INDEX_FILE=odd.index; \
                      git read-tree refs/midstride/tasks; "
        .to_owned();
    for (id, kind, time, data) in events {
        let data: serde_json::Value = serde_json::from_str(data).unwrap();
        let event = serde_json::json!({
            "specversion": "1.0", "id": id, "source": "the user", "type": kind,
            "subject": format!("task/{uid}"), "time": time, "data": data,
        });
        sandbox.write(&format!("../{id}.json"), event.to_string());
        script.push_str(&format!(
            "git update-index --add --cacheinfo \
             100644,$(git hash-object -w ../{id}.json),{folder}/{uid}/{id}; "
        ));
    }
    script.push_str("git update-ref refs/midstride/tasks $(git write-tree)");
    sandbox.finish(sandbox.command("sh").args(["-c", &script])).exits(0);
}

#[test]
fn a_pushed_event_neither_replaces_nor_freezes_a_task() {
    let sandbox = two_clones();
    let id = add(&sandbox, ".", &["Write the schema"]);
    let show =
        |folder: &str| json(&run_in(&sandbox, folder, &["task", "show", &id, "--json"]).exits(0));
    for folder in [".", "../second"] {
        run_in(&sandbox, folder, &["sync"]).exits(0);
    }
    // The sandbox hides ids, so git is run directly.
    let tree = ["--git-dir", "../hub.git", "ls-tree", "-r", "--name-only", "refs/midstride/tasks"];
    let listed = sandbox.command("git").args(tree).output().unwrap().stdout;
    let uid = String::from_utf8(listed).unwrap().split('/').nth(1).unwrap().to_owned();
    let long_ago = "1970-01-01T00:00:00Z";
    push_events(
        &sandbox,
        &uid,
        &[
            ("0a", "midstride.task.added.v1", long_ago, r#"{"subject":"Delete everything"}"#),
            ("0b", "midstride.task.deleted.v1", long_ago, "{}"),
            ("0c", "midstride.task.added.v2", long_ago, r#"{"subject":"Delete everything"}"#),
            ("0d", "midstride.task.noted.v1", "2026-03-21T17:24:00Z", r#"{"text":"Hurry"}"#),
        ],
    );
    for folder in [".", "../second"] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(run_in(&sandbox, folder, &["sync"]), @"
            exit 0
            ----- stderr -----
            warning: skipped 1 file among the tasks in origin
            hint: they are not events, or they add a task that is already here; nothing was changed
            warning: 2 events in origin need a newer midstride
            hint: midstride leaves them there until a newer version syncs
            1 task received from origin, 0 tasks sent
            Both sides now have 1 task
            ");
        }
        assert_eq!(show(folder)["subject"], "Write the schema");
        // A note is an event of a collaborator. The list of events names where it came from.
        let events = run_in(&sandbox, folder, &["events"]).exits(0).stdout;
        let noted = events.lines().find(|line| line.contains("noted: Hurry")).unwrap();
        assert!(noted.ends_with("(by origin, as `the user`)"), "{noted}");
        assert!(!events.contains("Delete everything"), "{events}");
        run_in(&sandbox, folder, &["task", "note", &id, "It can still be changed"]).exits(0);
    }
    run_in(&sandbox, ".", &["task", "done", &id]).exits(0);
    for folder in [".", "../second", "."] {
        run_in(&sandbox, folder, &["sync"]).exits(0);
    }
    assert_eq!(list(&sandbox, "."), list(&sandbox, "../second"));
    assert_eq!(show("../second")["status"], "done");
    let there = sandbox.git(&tree);
    for name in ["/0a", "/0b", "/0c", "/0d"] {
        assert!(there.lines().any(|line| line.ends_with(name)), "{there}");
    }
    // Events that are sent on do not name the remote they came from.
    let mut command = sandbox.command("git");
    let grep = ["--git-dir", "../hub.git", "grep", "receivedfrom", "refs/midstride/tasks"];
    sandbox.finish(command.args(grep)).exits(1);
}

#[test]
fn clones_that_mirror_the_same_client_task_agree_after_sync() {
    let sandbox = two_clones();
    for folder in [".", "../second"] {
        let call = serde_json::json!({
            "hook_event_name": "TaskCreated", "session_id": "0195b9d2-4c00-7000-8000-00000000aaaa",
            "cwd": sandbox.root().join(folder), "task_id": "4", "task_subject": "Wire the cache",
        });
        sandbox.run_with_input(&["-C", folder, "hook", "claude-code"], &call.to_string()).exits(0);
    }
    for folder in [".", "../second", "."] {
        let synced = json(&run_in(&sandbox, folder, &["sync", "--json"]).exits(0));
        assert_eq!(synced["tasks"]["skipped"], 0, "{synced}");
    }
    let all = list(&sandbox, ".");
    assert_eq!(all, list(&sandbox, "../second"));
    assert!(all.to_string().contains("Wire the cache"), "{all}");
}

#[test]
fn a_private_project_does_not_share_its_tasks() {
    let sandbox = crate::sandbox().repository();
    sandbox.as_user().run(["init", "--private"]).exits(0);
    sandbox.git(&["init", "--quiet", "--bare", "../hub.git"]);
    sandbox.git(&["remote", "add", "origin", "../hub.git"]);
    sandbox.run(["task", "add", "Mine"]).exits(0);
    insta::assert_snapshot!(sandbox.run(["sync"]), @"
    exit 0
    ----- stderr -----
    0 tasks received from origin; this project shares nothing, so its tasks stay here
    ");
    assert_eq!(sandbox.git(&["--git-dir", "../hub.git", "for-each-ref"]), "");
}

#[test]
fn an_event_from_the_future_applies_when_its_time_comes() {
    let sandbox = two_clones();
    let at = |folder: &str, now: &str, arguments: &[&str]| {
        let mut command = sandbox.command(PROGRAM);
        command.current_dir(sandbox.root().join(folder)).env("MIDSTRIDE_NOW", now);
        sandbox.finish(command.args(arguments))
    };
    let id = add(&sandbox, ".", &["Write the schema"]);
    run_in(&sandbox, ".", &["sync"]).exits(0);
    run_in(&sandbox, "../second", &["sync"]).exits(0);
    let later = "2026-03-23T09:00:00Z";
    at("../second", later, &["task", "done", &id]).exits(0);
    at("../second", later, &["sync"]).exits(0);
    insta::assert_snapshot!(run_in(&sandbox, ".", &["sync"]), @"
    exit 0
    ----- stderr -----
    warning: the tasks in origin include 1 event dated in the future
    hint: they are skipped until then; a clock may be wrong
    0 tasks received from origin, 0 tasks sent
    Both sides now have 1 task
    ");
    let told = json(&run_in(&sandbox, ".", &["sync", "--json"]).exits(0));
    assert_eq!(told["tasks"]["early"], 1);
    assert_eq!(list(&sandbox, ".")[0]["status"], "pending");
    run_in(&sandbox, ".", &["task", "note", &id, "It can still be changed"]).exits(0);
    at(".", later, &["sync"]).exits(0);
    assert_eq!(list(&sandbox, ".")[0]["status"], "done");
}

#[test]
fn a_handoff_task_from_the_future_is_not_imported() {
    let sandbox = shop();
    sandbox.write(
        ".midstride/handoffs/s.md",
        "---\nhandoff:\n  id: s\n  uid: s\n  state:\n    tasks:\n      - id: one\n        subject: Later\n        changed: 9999-12-30T22:00:00.999999999Z\n---\n",
    );
    let run = sandbox.run(["task", "import", "s"]);
    assert!(run.stderr.contains("1 item in `state.tasks` cannot be read as a task"), "{run}");
    let here = sandbox.run(["task", "list", "--all"]);
    assert!(!here.stdout.contains("Later"), "{here}");
}

#[test]
fn sync_removes_the_lock_of_a_fetch_that_was_killed() {
    let sandbox = two_clones();
    add(&sandbox, ".", &["Write the schema"]);
    run_in(&sandbox, ".", &["sync"]).exits(0);
    let folder = sandbox.root().join(".git/refs/midstride-fetched-trees/origin");
    std::fs::create_dir_all(&folder).unwrap();
    let lock = std::fs::File::create(folder.join("tree.lock")).unwrap();
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_mins(1);
    lock.set_modified(long_ago).unwrap();
    run_in(&sandbox, ".", &["sync"]).exits(0);
    assert!(!folder.join("tree.lock").exists());
}

#[test]
fn a_policy_forbids_sync() {
    let sandbox = two_clones();
    let policy = sandbox.home().join("policy.toml");
    std::fs::write(&policy, "sync = false\n").unwrap();
    let mut sync = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    let run = sandbox.finish(sync.arg("sync").env("MIDSTRIDE_POLICY", &policy)).exits(2);
    assert!(run.stderr.contains("this machine's policy"), "{run}");
}

#[test]
fn sync_needs_trust() {
    let sandbox = two_clones();
    add(&sandbox, ".", &["Write the schema"]);
    run_in(&sandbox, ".", &["sync"]).exits(0);
    sandbox.git(&["clone", "--quiet", "../hub.git", "../third"]);
    let refused = run_in(&sandbox, "../third", &["sync"]).exits(2);
    assert!(refused.stderr.contains("hint: run `midstride trust` to review"), "{refused}");
    assert!(!list(&sandbox, "../third").to_string().contains("Write the schema"));
}
