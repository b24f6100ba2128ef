//! Tests that state stored by older versions works with this version.
//!
//! `fixtures/old-versions/README.md` describes the archives. These tests compare facts: ids, texts,
//! times, states. Wording and JSON shapes may change between versions. What a user stored may not.

mod archive;

use archive::{Archive, unpack_all};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The named fields of an object.
fn pick(object: &Value, names: &[&str]) -> Value {
    names.iter().map(|name| ((*name).to_owned(), object[*name].clone())).collect()
}

/// The elements of a list, which may be the items of an answer.
fn array(value: &Value) -> &[Value] {
    value.as_array().or_else(|| value["items"].as_array()).map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("not a string: {value}"))
}

/// Fails with the first element that differs, which is easier to read than two long lists.
#[track_caller]
fn assert_same(what: &str, found: &[Value], expected: &Value) {
    for (found, expected) in found.iter().zip(array(expected)) {
        assert_eq!(format!("{found:#}"), format!("{expected:#}"), "{what}");
    }
    assert_eq!(found.len(), array(expected).len(), "{what}: {found:#?}");
}

/// Every text of a handoff; null where the user had it removed for good.
fn texts_of(archive: &Archive, key: &str, count: usize) -> Value {
    let text = |number: usize| {
        let run = archive.run(&["show", &format!("{key}@{number}")]);
        if run.code == Some(0) { Value::from(run.stdout) } else { Value::Null }
    };
    (1..=count).map(text).collect()
}

fn handoff(archive: &Archive, key: &str, count: usize) -> Value {
    let shown = archive.json(&["show", key, "--json"]);
    let history = archive.json(&["show", key, "--history", "--json"]);
    let is_note = shown["is_handoff"] == false;
    let fields = ["key", "uid", "title", "kind", "stage", "status", "path", "from", "to"];
    let mut found = pick(&shown, &fields);
    for name in ["created", "changed", "summary"] {
        found[name] = shown[name].clone();
    }
    let home = format!("{}/", archive.sandbox.home().display());
    found["path"] = text(&shown["path"]).replace(&home, "~/").into();
    let review = |review: &Value| pick(review, &["at", "by", "challenged"]);
    found["reviews"] = array(&shown["reviews"]).iter().map(review).collect();
    found["delivered"] = shown["receipts"]["delivered"].clone();
    found["acknowledged"] = shown["receipts"]["acknowledged"].clone();
    let moment = |moment: &Value| pick(moment, &["at", "by", "text"]);
    found["history"] = array(&history["history"]).iter().map(moment).collect();
    found["texts"] = if is_note { Value::Null } else { texts_of(archive, key, count) };
    found
}

#[test]
fn every_handoff_revision_and_receipt_is_there() {
    for archive in unpack_all() {
        let mut listed: Vec<String> = array(&archive.json(&["list", "--all", "--json"]))
            .iter()
            .map(|one| text(&one["key"]).to_owned())
            .collect();
        listed.sort();
        let expected = array(&archive.expected["handoffs"]);
        let keys: Vec<&str> = expected.iter().map(|one| text(&one["key"])).collect();
        assert_eq!(listed, keys, "{}", archive.name);
        let found: Vec<Value> = expected
            .iter()
            .map(|one| handoff(&archive, text(&one["key"]), array(&one["texts"]).len()))
            .collect();
        assert_same("handoffs", &found, &archive.expected["handoffs"]);
        let word = text(&archive.expected["search"]["word"]);
        let mut hits: Vec<Value> = array(&archive.json(&["search", word, "--json"])["hits"])
            .iter()
            .map(|hit| hit["key"].clone())
            .collect();
        hits.sort_by_key(ToString::to_string);
        assert_same("search", &hits, &archive.expected["search"]["handoffs"]);
    }
}

#[test]
fn every_event_is_there_and_queued_ones_are_appended() {
    for archive in unpack_all() {
        let found: BTreeMap<String, Value> = archive
            .run(&["events", "--json"])
            .exits(0)
            .stdout
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .map(|event| (text(&event["id"]).to_owned(), event))
            .collect();
        for expected in array(&archive.expected["events"]) {
            let event = found.get(text(&expected["id"])).unwrap_or(&Value::Null);
            assert_eq!(pick(event, &["id", "type", "subject", "time"]), *expected);
        }
    }
}

#[test]
fn every_task_question_mission_and_workflow_state_is_there() {
    for archive in unpack_all() {
        let listed = archive.json(&["task", "list", "--all", "--json"]);
        let of_kind = |kind: &str, fields: &[&str]| {
            let entries = array(&listed).iter().filter(|entry| entry["kind"] == kind);
            let mut found: Vec<Value> = entries.map(|entry| pick(entry, fields)).collect();
            found.sort_by_key(|entry| text(&entry["id"]).to_owned());
            found
        };
        let fields = ["id", "uid", "subject", "description", "status", "reason", "ready"];
        let more = ["depends_on", "metadata", "notes", "by", "added", "changed"];
        let tasks = of_kind("task", &[&fields[..], &more].concat());
        assert_same("tasks", &tasks, &archive.expected["tasks"]);
        let questions = of_kind("question", &["id", "status", "blocking", "owner"]);
        assert_same("questions", &questions, &archive.expected["questions"]);
        let captured = archive.json(&["task", "mission", "--history", "--json"]);
        let mission = |one: &Value| {
            let mut found = json!({"at": one["created_at"]});
            for name in ["by", "mode", "decisions", "questions", "next"] {
                found[name] = one[name].clone();
            }
            found
        };
        let missions: Vec<Value> = array(&captured).iter().map(mission).collect();
        assert_same("missions", &missions, &archive.expected["missions"]);
        for (name, states) in archive.expected["workflows"].as_object().unwrap() {
            let load = |number: usize| state(&archive, name, number + 1);
            let found: Vec<Value> = (0..array(states).len()).map(load).collect();
            assert_same("workflow states", &found, states);
        }
    }
}

/// A workflow state as an agent loads it over MCP.
fn state(archive: &Archive, name: &str, number: usize) -> Value {
    let greeting = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "tester", "version": "1"},
    });
    let call = json!({"name": "state_load", "arguments": {"name": name, "number": number}});
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": greeting}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}),
    ];
    let input: String = messages.iter().map(|message| format!("{message}\n")).collect();
    let answers = archive.run_with_input(&["mcp"], &input).exits(0).stdout;
    let answer: Value = serde_json::from_str(answers.lines().last().unwrap()).unwrap();
    let said = text(&answer["result"]["content"][0]["text"]);
    let (start, end) = (said.find('{').unwrap(), said.rfind('}').unwrap());
    serde_json::from_str(&said[start..=end]).unwrap()
}

/// What a session did, with paths relative to wherever the project was then.
fn session(archive: &Archive, listed: &Value) -> Value {
    let id = text(&listed["session"]);
    let shown = archive.json(&["session", "show", id, "--json"])["session"].take();
    let mut found = pick(listed, &["client", "session", "began", "about", "checkpoint"]);
    found["has_transcript"] = listed["transcript"].is_string().into();
    let request = |request: &Value| request["text"].clone();
    found["requests"] = array(&shown["requests"]["items"]).iter().map(request).collect();
    let roots = [archive.root().to_str().unwrap(), text(&archive.expected["root"])];
    let inside = |path: &String| {
        let path = roots.iter().find_map(|root| path.strip_prefix(*root)).unwrap_or(path);
        Value::from(path.trim_start_matches("/project/"))
    };
    found["files"] = shown["files"]["by_path"].as_object().unwrap().keys().map(inside).collect();
    let command = |one: &Value| json!({"text": one["text"], "failed": one["exit"] == "failed"});
    let commands = array(&shown["commands"]["items"]);
    found["command_count"] = commands.len().into();
    found["commands"] = commands.iter().take(3).map(command).collect();
    found
}

fn sessions(archive: &Archive) -> Vec<Value> {
    let listed = archive.json(&["session", "list", "--json"]);
    let mut listed = array(&listed).to_vec();
    listed.sort_by_key(|one| text(&one["session"]).to_owned());
    listed.iter().map(|one| session(archive, one)).collect()
}

#[test]
fn every_session_is_there_with_and_without_its_transcript() {
    for archive in unpack_all() {
        assert_same("sessions", &sessions(&archive), &archive.expected["sessions"]);
    }
}

#[test]
fn instructions_apply_and_dismissed_items_stay_closed() {
    for archive in unpack_all() {
        let listed = archive.json(&["dismiss", "--json"]);
        let instructions = array(&listed).iter().filter(|one| one["kind"] == "instruction");
        let found: Vec<Value> =
            instructions.map(|one| pick(one, &["handle", "text", "session"])).collect();
        // The first version kept no instructions.
        if archive.expected["instructions"].is_array() {
            assert_same("instructions", &found, &archive.expected["instructions"]);
        }
        let is_dismissed = |one: &&Value| one["handle"] == archive.expected["dismissed"];
        assert_eq!(array(&listed).iter().find(is_dismissed), None, "{}", archive.name);
    }
}

#[test]
fn permissions_and_trust_are_kept() {
    for archive in unpack_all() {
        let expected = &archive.expected["permissions"];
        let listed = archive.json(&["trust", "--list", "--json"]);
        let granted = |kind: &str| -> Vec<Value> {
            let mut found = array(&listed).to_vec();
            found.retain(|one| one["kind"] == kind);
            let project = format!("{}/", archive.sandbox.root().display());
            for one in &mut found {
                one["about"] = text(&one["about"]).replace(&project, "").into();
            }
            found.iter().map(|one| pick(one, &["about", "shown", "at"])).collect()
        };
        assert_same("allowed", &granted("proof"), &expected["allowed"]);
        assert_same("trusted", &granted("configuration"), &expected["trusted"]);
        let proofs = &archive.expected["proofs"];
        let verified = archive.json(&["verify", text(&proofs["handoff"]), "--json"]);
        let result = |proof: &Value| {
            let ran = !proof["exit"].is_null();
            json!({"number": proof["number"], "ran": ran, "exit": proof["exit"]})
        };
        let found: Vec<Value> =
            array(&verified["handoffs"][0]["proofs"]).iter().map(result).collect();
        assert_same("proofs", &found, &proofs["results"]);
    }
}

#[test]
fn brief_includes_what_matters_most() {
    for archive in unpack_all() {
        let briefing = archive.run(&["brief", "--budget", "2000"]).exits(0).stdout;
        for written in array(&archive.expected["briefing"]) {
            assert!(briefing.contains(text(written)), "{}: {written}: {briefing}", archive.name);
        }
    }
}

/// The hook commands in a client's settings, with their events.
fn hooks(file: &Path) -> Vec<(String, String)> {
    let settings: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let mut found = Vec::new();
    for (event, groups) in settings["hooks"].as_object().unwrap() {
        for hook in array(groups).iter().flat_map(|group| array(&group["hooks"])) {
            let command = text(&hook["command"]);
            if command.contains("midstride") {
                found.push((event.clone(), command.to_owned()));
            }
        }
    }
    found
}

/// Which hooks are installed, whether the client trusts them, and how often it called them.
fn hook_calls(archive: &Archive) -> Vec<Value> {
    let report = archive.json(&["doctor", "--no-simulation", "--json"]);
    let mut found = Vec::new();
    for client in array(&report["clients"]) {
        // A hook that this version adds is not installed yet.
        let is_installed = |hook: &&Value| !array(&hook["installed_in"]).is_empty();
        for hook in array(&client["hooks"]).iter().filter(is_installed) {
            let fired = &hook["fired"];
            assert_eq!(fired["failures"].as_u64().unwrap_or(0), 0, "{}: {hook:#}", archive.name);
            found.push(json!({
                "client": client["client"],
                "event": hook["event"],
                "trusted": hook["trust"] == "trusted",
                "calls": fired["count"].as_u64().unwrap_or(0),
            }));
        }
    }
    found.sort_by_key(|hook| (text(&hook["client"]).to_owned(), text(&hook["event"]).to_owned()));
    found
}

/// A session that starts after everything in the archive.
const NEW_SESSION: &str = "5e550009-4c00-7000-8000-000000009999";

/// Writes the transcript of the new session, as the client with these settings would.
fn write_transcript(archive: &Archive, settings: &str) -> PathBuf {
    let (cwd, at, asked) = (archive.sandbox.root(), &archive.expected["now"], "Go on.");
    let (file, records) = if settings.starts_with(".claude") {
        let message = json!({"role": "user", "content": asked});
        let record = json!({
            "type": "user", "uuid": "new-1", "parentUuid": null, "sessionId": NEW_SESSION,
            "cwd": cwd, "timestamp": at, "message": message,
        });
        (format!(".claude/projects/new/{NEW_SESSION}.jsonl"), vec![record])
    } else {
        let record =
            |kind: &str, payload: Value| json!({"timestamp": at, "type": kind, "payload": payload});
        let meta = record("session_meta", json!({"id": NEW_SESSION, "cwd": cwd}));
        let request = json!({"type": "user_message", "message": asked});
        let name = format!("rollout-2026-03-22T08-00-00-{NEW_SESSION}.jsonl");
        let records = vec![meta, record("event_msg", request)];
        (format!(".codex/sessions/2026/03/22/{name}"), records)
    };
    let file = archive.sandbox.home().join(file);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    std::fs::write(&file, lines).unwrap();
    file
}

#[test]
fn installed_hooks_still_answer() {
    for mut archive in unpack_all() {
        assert_same("hooks", &hook_calls(&archive), &archive.expected["hooks"]);
        for file in [".claude/settings.json", ".codex/hooks.json"] {
            let mut installed = hooks(&archive.sandbox.home().join(file));
            // A session starts before anything else happens in it.
            installed.sort_by_key(|(event, _)| event != "SessionStart");
            assert!(installed.len() >= 7, "{}: {file}: {installed:?}", archive.name);
            let transcript = write_transcript(&archive, file);
            for (event, command) in installed {
                let call = json!({
                    "session_id": NEW_SESSION,
                    "transcript_path": transcript,
                    "cwd": archive.sandbox.root(),
                    "hook_event_name": event,
                    "source": "startup",
                    "prompt": "Thank you!",
                    "task_id": "1",
                    "task_subject": "Count the harbors",
                });
                let mut shell = archive.command("sh");
                let run =
                    archive.finish_with_input(shell.args(["-c", &command]), &call.to_string());
                let run = run.exits(0);
                if event == "SessionStart" {
                    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
                    let context = text(&answer["hookSpecificOutput"]["additionalContext"]);
                    let most_important = text(&archive.expected["briefing"][0]);
                    assert!(context.contains(most_important), "{}: {context}", archive.name);
                }
            }
        }
        // No call failed, and every hook was called once more.
        for hook in archive.expected["hooks"].as_array_mut().unwrap() {
            hook["calls"] = (hook["calls"].as_u64().unwrap() + 1).into();
        }
        assert_same("hooks", &hook_calls(&archive), &archive.expected["hooks"]);
        // Both sessions got a record of what they were briefed from.
        let handoffs = array(&archive.expected["handoffs"]).iter();
        let briefed: BTreeSet<String> = handoffs
            .map(|one| archive.json(&["show", text(&one["key"]), "--json"]))
            .flat_map(|shown| array(&shown["receipts"]["delivered"]).to_vec())
            .filter(|delivered| delivered["session"] == NEW_SESSION)
            .map(|delivered| text(&delivered["client"]).to_owned())
            .collect();
        assert_eq!(Vec::from_iter(briefed), ["claude-code", "codex"], "{}", archive.name);
        // The session that was killed while the old version was installed is recovered.
        let killed = &archive.expected["killed_session"];
        let found = sessions(&archive);
        let recovered = found.iter().find(|one| one["session"] == *killed).unwrap();
        assert!(recovered["checkpoint"].is_string(), "{}: {recovered:#}", archive.name);
    }
}

/// Every file and directory of a HOME, except midstride's state, notes and transcripts.
fn client_files(home: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let others = [".local", "notes", ".claude/projects", ".codex/sessions"];
    let mut found = BTreeMap::new();
    let mut folders = vec![home.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let name = path.strip_prefix(home).unwrap().to_owned();
            if others.iter().any(|other| name == Path::new(other)) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
                found.insert(name, None);
            } else {
                found.insert(name, Some(std::fs::read(&path).unwrap()));
            }
        }
    }
    found
}

#[test]
fn removal_restores_every_file_byte_for_byte() {
    // Whether or not the user installed it again after the update.
    let ways: [&[&[&str]]; 4] = [
        &[&["client", "remove", "claude-code", "codex", "--yes"]],
        &[
            &["client", "add", "claude-code", "codex", "--yes"],
            &["client", "remove", "claude-code", "codex", "--yes"],
        ],
        &[&["setup", "--undo", "--yes"]],
        &[&["setup", "--yes"], &["setup", "--undo", "--yes"]],
    ];
    for way in ways {
        for archive in unpack_all() {
            let before = client_files(&archive.root().join("client-files-before"));
            assert!(before.len() >= 6, "{}: {before:?}", archive.name);
            assert_ne!(client_files(archive.sandbox.home()), before, "{}", archive.name);
            for words in way {
                archive.run(words).exits(0);
            }
            let after = client_files(archive.sandbox.home());
            let names = |files: &BTreeMap<PathBuf, _>| files.keys().cloned().collect::<Vec<_>>();
            assert_eq!(names(&after), names(&before), "{}", archive.name);
            assert!(after == before, "{}: {way:?}", archive.name);
        }
    }
}

#[test]
fn work_continues_where_the_old_version_left_it() {
    for archive in unpack_all() {
        let key = text(&archive.expected["proofs"]["handoff"]);
        let old = array(&archive.expected["handoffs"]).iter().find(|one| one["key"] == key);
        let old = &old.unwrap()["texts"];
        let count = array(old).len();
        let body = "## Diagnosis\n\nIt is the station list.\n";
        let revise = ["edit", key, "--reason", "measured again", "--body", "-"];
        archive.run_with_input(&revise, body).exits(0);
        let texts = texts_of(&archive, key, count + 1);
        assert_same("texts", &array(&texts)[..count], old);
        assert!(text(&texts[count]).ends_with(body), "{}: {texts:#}", archive.name);
        let tasks = array(&archive.expected["tasks"]);
        let task = tasks.iter().find(|task| task["status"] == "in_progress").unwrap();
        archive.run(&["task", "done", text(&task["id"])]).exits(0);
        // A task that depended on it is ready now.
        let next = tasks.iter().find(|one| array(&one["depends_on"]).contains(&task["id"]));
        let next = &next.unwrap()["id"];
        let ready = archive.json(&["task", "ready", "--json"]);
        assert!(array(&ready).iter().any(|one| one["id"] == *next), "{}: {ready:#}", archive.name);
        archive.run(&["sync"]).exits(0);
        // References still keep every text alive.
        archive.sandbox.git(&["gc", "--quiet", "--prune=now"]);
        for old in array(&archive.expected["handoffs"]).iter().filter(|one| one["texts"].is_array())
        {
            let count = array(&old["texts"]).len();
            let texts = texts_of(&archive, text(&old["key"]), count);
            assert_same("texts", array(&texts), &old["texts"]);
        }
    }
}
