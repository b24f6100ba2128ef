//! Tests of `session`: finding, capturing, showing, promoting and recovering sessions.

use super::shop;
use midstride_testkit::{Sandbox, fixtures, json_items};
use std::path::PathBuf;

pub(super) const ID: &str = "5e550001-4c00-7000-8000-00000000aaaa";

/// A project in which a Claude Code session worked.
pub(super) fn worked_in() -> Sandbox {
    let sandbox = shop();
    let text = std::fs::read_to_string(fixtures("transcripts/claude-code").join("cache.jsonl"));
    let text = text.unwrap().replace("/home/dev/shop", &sandbox.root().display().to_string());
    put(&sandbox, ID, &text.replace("2026-03-20", "2026-03-22"));
    sandbox
}

pub(crate) fn put(sandbox: &Sandbox, id: &str, text: &str) {
    let path = transcript_path(sandbox, id);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

pub(super) fn transcript_path(sandbox: &Sandbox, id: &str) -> PathBuf {
    let path = sandbox.root().display().to_string();
    let slug = path.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    sandbox.home().join(".claude/projects").join(slug).join(format!("{id}.jsonl"))
}

#[test]
fn a_session_is_captured_once() {
    let sandbox = worked_in();
    insta::assert_snapshot!(sandbox.run(["session", "capture"]), @"
    exit 0
    ----- stderr -----
    [UID]: 5 requests, 3 changed files, 6 commands (3 failed), 2 tasks open, 1 agent in flight
    3 of 62 records could not be used: cut off 1, no type 1, not JSON 1
    1 of 62 records of unknown kinds: weather-report 1
    ");
    insta::assert_snapshot!(sandbox.run(["session", "capture", "--session", "5e55"]), @"
    exit 0
    ----- stderr -----
    [UID]: nothing new since the last capture
    ");
    let run = sandbox.run(["session", "capture", "--last", "--json"]).exits(0);
    let done: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((&done["new"], &done["bytes_read"]), (&false.into(), &0.into()), "{run}");
    let events = sandbox.run(["events"]).exits(0).stdout;
    assert_eq!(events.matches("claude-code session captured").count(), 1, "{events}");
}

/// A session that ran this many failing commands.
fn failing(sandbox: &Sandbox, commands: usize) -> String {
    let folder = sandbox.root().display().to_string();
    let record = |number: usize, kind: &str, content: serde_json::Value| {
        let parent = number.checked_sub(1).map(|before| format!("r{before}"));
        let record = serde_json::json!({
            "sessionId": ID, "cwd": folder, "version": "2.1.200", "type": kind,
            "uuid": format!("r{number}"), "parentUuid": parent,
            "timestamp": "2026-03-22T09:00:00.000Z",
            "message": {"role": kind, "content": content},
        });
        format!("{record}\n")
    };
    let mut text = record(0, "user", "Try until it builds.".into());
    for number in 0..commands {
        let call = format!("t{number}");
        let input = serde_json::json!({"command": format!("make part-{number}")});
        let run =
            serde_json::json!([{"type": "tool_use", "id": call, "name": "Bash", "input": input}]);
        let failed = serde_json::json!([{
            "type": "tool_result", "tool_use_id": call, "content": "Exit code 2", "is_error": true,
        }]);
        text.push_str(&record(2 * number + 1, "assistant", run));
        text.push_str(&record(2 * number + 2, "user", failed));
    }
    text
}

#[test]
fn the_count_of_failed_commands_is_summarized() {
    let sandbox = shop();
    put(&sandbox, ID, &failing(&sandbox, 3));
    let said = sandbox.run(["session", "capture"]).exits(0).stderr;
    assert!(said.contains("3 commands (3 failed)"), "{said}");
}

#[test]
fn a_session_is_shown_with_what_matters() {
    let sandbox = worked_in();
    insta::assert_snapshot!(sandbox.run(["session", "show", "5e55"]), @r#"
    exit 0
    ----- stdout -----
    claude-code session [UID]
      2026-03-22 09:00 to 2026-03-22 09:00
      forked from 5e55-0001; records copied from it count as this session's own
      claude-haiku-4-5, context 11% full
      [COMMIT] on main
      1 compaction

    Asked
      Make the market pages fast again; the cache is purged on every deploy.
      corrected: Do not touch the pages, only the cache.
      corrected: Keep it in one file
      Also rename the shop.  (rewound)
      Now write the report.

    Answered
      Which store? → Redis

    Tasks
      in progress Warm the cache
      pending     Measure again

    Agents in flight
      ag2  bench

    Calls without a result
      Bash: npm run measure

    Failed
      npm test (exit 1), passed later
      grep -rn purge src (exit 2)
      npm run build (exit 7)

    Changed files
      docs/cache-plan.md, missing
      src/cache.ts, missing
      src/page.tsx, a change was reverted, missing

    Plan documents
      docs/cache-plan.md
      /home/dev/.claude/plans/calm-river.md

    Last message
      The report is in docs; next I would measure. �

    Checks that passed
      npm test (1 file edited since)

    Failing checks
      npm run build (last seen failing at 09:00, not run again since): Background command "build" failed (exit code 7)

    Fixed along the way
      npm test (failed, and passed later): FAIL src/cache.test.ts

    Reports
      The report is in docs; next I would measure. �

    Subagent reports
      two callers
    ----- stderr -----
    3 of 62 records could not be used: cut off 1, no type 1, not JSON 1
    1 of 62 records of unknown kinds: weather-report 1
    Not captured yet: midstride session capture --session [UID]
    "#);
}

#[test]
fn every_item_names_its_source() {
    let sandbox = worked_in();
    let run = sandbox.run(["session", "show", ID, "--json"]).exits(0);
    let shown: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let session = &shown["session"];
    let mut items = 0;
    for list in [
        "requests",
        "answers",
        "plans",
        "agents",
        "commands",
        "rejections",
        "interrupts",
        "skills",
        "compactions",
        "api_errors",
    ] {
        let list = session[list]["items"].as_array().unwrap();
        assert!(!list.is_empty());
        for item in list {
            items += 1;
            assert!(
                item["seen"]["record"].is_string() && item["seen"]["source"].is_string(),
                "{item}"
            );
        }
    }
    assert!(items > 20);
    for task in session["tasks"].as_array().unwrap() {
        assert!(task["changed"]["record"].is_string(), "{task}");
    }
    for artifact in shown["artifacts"].as_array().unwrap() {
        assert!(artifact["seen"]["record"].is_string(), "{artifact}");
        assert_eq!(artifact["state"], "missing");
    }
    assert_eq!(shown["git"]["observed_at"], "2026-03-21T17:24:00Z");
}

#[test]
fn sessions_are_listed_with_what_is_known_of_them() {
    let sandbox = worked_in();
    let listed = || {
        let run = sandbox.run(["session", "list", "--json"]).exits(0);
        let list: serde_json::Value = json_items(&run.stdout);
        let text = |name: &str| list[0][name].as_str().unwrap_or_default().to_owned();
        (text("session"), text("captured"), list[0]["runs"].clone())
    };
    assert_eq!(listed(), ("[UID]".to_owned(), "no".to_owned(), false.into()));
    insta::assert_snapshot!(sandbox.run(["session", "recover"]), @"
    exit 0
    ----- stderr -----
    [UID] ended and is now captured: 5 requests, 3 changed files, 6 commands (3 failed), 2 tasks open, 1 agent in flight
    3 of 62 records could not be used: cut off 1, no type 1, not JSON 1
    1 of 62 records of unknown kinds: weather-report 1
    Next: midstride session show [UID], then midstride save --session [UID]
    ");
    assert_eq!(listed(), ("[UID]".to_owned(), "whole".to_owned(), false.into()));
    insta::assert_snapshot!(sandbox.run(["session", "recover"]), @"
    exit 0
    ----- stderr -----
    Nothing to recover: every session that ended since 2026-03-21 17:24 is captured.
    ");
    let table = sandbox.run(["session", "list"]).exits(0).stdout;
    assert!(table.contains("ended") && table.contains("Make the market pages"), "{table}");
}

#[test]
fn json_lists_what_was_recovered() {
    let sandbox = worked_in();
    let recovered = || {
        let run = sandbox.run(["session", "recover", "--json"]).exits(0);
        let told: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        (told, run.stderr)
    };
    let (told, said) = recovered();
    assert_eq!(told["recovered"].as_array().unwrap().len(), 1, "{told}");
    assert_eq!(told["recovered"][0]["new"], true);
    assert_eq!(told["recovered"][0]["seen"], 62);
    assert_eq!(told["failed"], serde_json::json!([]));
    assert_eq!(
        (&told["left"], &told["running"], &told["unknown"]),
        (&0.into(), &0.into(), &0.into())
    );
    assert_eq!(told["since"], "2026-03-21T17:24:00Z");
    assert!(said.contains("3 of 62 records") && !said.contains("Next:"), "{said}");
    let (told, said) = recovered();
    assert_eq!((&told["recovered"], said.as_str()), (&serde_json::json!([]), ""));
}

#[test]
fn a_session_becomes_a_handoff_of_facts() {
    let sandbox = worked_in();
    insta::assert_snapshot!(sandbox.run(["save", "--session", "5e55", "--id", "cache"]), @r#"
    exit 1
    ----- stderr -----
    Saved facts only. Add a summary with --summary, or pass your notes on standard input with `--body -`.
    Wrote cache from claude-code session 5e550001 "Make the market pages fast again; the cache is purged on ev…": .git/midstride/handoffs/cache.md
    8 more items are needed before the next session can resume this:
    1. `context_summary` is empty, but a session handoff needs it (S002, line 12)
       → write a summary that says in one to three sentences what this is about and what its status is
    2. correction: Keep it in one file (record a21)
       → quote it, or say what the user wants (as a constraint or a decision)
    3. correction: Do not touch the pages, only the cache. (record a19)
       → quote it, or say what the user wants (as a constraint or a decision)
    4. failed command: npm run build (record a38)
       → say why it fails and name the test, file or message that shows it (as a landmine or a wrong turn)
    5. reverted edit: src/page.tsx (record a15)
       → say what was tried there and why it was reverted (as a wrong turn)
    6. open task: Warm the cache (record a31)
       → state its status, or make it a next step
    7. open task: Measure again (record a29)
       → state its status, or make it a next step
    8. `Continuation` is empty (C007, line 237)
       → say what to do next, in order, and where to begin
    Saved. Add what is missing with midstride save --id cache and --constraint, --decision, --wrong-turn, --landmine, --next or --body -. Or save it as is with --accept REASON.
    "#);
    let shown = sandbox.run(["show", "cache"]).exits(0).stdout;
    assert!(shown.contains("Now write the report."), "{shown}");
}

#[test]
fn errors_suggest_what_to_do() {
    let sandbox = shop();
    insta::assert_snapshot!(sandbox.run(["session", "list"]), @"
    exit 0
    ----- stderr -----
    No agent session has worked in this project yet.
    ");
    insta::assert_snapshot!(sandbox.run(["session", "capture"]), @"
    exit 2
    ----- stderr -----
    error: no session found for this project
    hint: for a transcript stored elsewhere or from a project that was moved, use `--transcript`; if a client's home folder is in another location, set CLAUDE_CONFIG_DIR, CODEX_HOME or QWEN_HOME
    ");
    insta::assert_snapshot!(sandbox.run(["session", "show", "nobody"]), @"
    exit 2
    ----- stderr -----
    error: there is no session `nobody` in this project
    hint: `midstride session list` shows them all
    ");
    sandbox.write("diary.txt", "Dear diary\n");
    insta::assert_snapshot!(sandbox.run(["session", "capture", "--transcript", "diary.txt"]), @"
    exit 2
    ----- stderr -----
    error: `[ROOT]/diary.txt` contains no readable claude-code records
    hint: check that it is a UTF-8 transcript; use `--client` to specify its client
    ");
    insta::assert_snapshot!(sandbox.run(["session", "capture", "--transcript", "nothing.jsonl"]), @"
    exit 2
    ----- stderr -----
    error: `[ROOT]/nothing.jsonl` does not exist
    ");
    put(&sandbox, "one", &told_in(&sandbox, "5e55-1"));
    put(&sandbox, "two", &told_in(&sandbox, "5e55-2"));
    insta::assert_snapshot!(sandbox.run(["session", "show", "5e5"]), @"
    exit 2
    ----- stderr -----
    error: `5e5` matches several sessions: 5e55-2, 5e55-1
    hint: type more of the id
    ");
    let elsewhere = sandbox.home().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let text = told_in(&sandbox, "x")
        .replace(&sandbox.root().display().to_string(), &elsewhere.display().to_string());
    sandbox.write("other.jsonl", text);
    insta::assert_snapshot!(sandbox.run(["session", "capture", "--transcript", "other.jsonl"]), @"
    exit 2
    ----- stderr -----
    error: `[ROOT]/other.jsonl` is the transcript of a session in `[HOME]/elsewhere`, not in this project
    hint: capture it there: `midstride -C [HOME]/elsewhere`
    ");
}

#[test]
fn a_session_needs_a_name_and_a_missing_transcript_is_reported() {
    let sandbox = shop();
    put(&sandbox, "7777-1", &told_in(&sandbox, "7777-1"));
    for arguments in [["session", "show", ""], ["session", "show", " "]] {
        let told = sandbox.run(arguments).exits(2).stderr;
        assert!(told.contains("give an id or a prefix"), "{told}");
    }
    insta::assert_snapshot!(sandbox.run(["session", "capture", "--session", ""]), @"
    exit 2
    ----- stderr -----
    error: invalid value '' for '--session <ID>': give an id or a prefix; `midstride session list` shows the ids

    For more information, try '--help'.
    ");
    sandbox.run(["session", "capture", "--session", "7777"]).exits(0);
    std::fs::remove_dir_all(sandbox.home().join(".claude")).unwrap();
    insta::assert_snapshot!(sandbox.run(["session", "capture", "--session", "7777"]), @"
    exit 2
    ----- stderr -----
    error: the transcript of session `7777-1` no longer exists
    hint: `midstride session show 7777-1` shows what was captured from it
    ");
    sandbox.run(["session", "show", "7777-1"]).exits(0);
}

/// A session with one request.
fn told_in(sandbox: &Sandbox, id: &str) -> String {
    let cwd = sandbox.root().display();
    format!(
        "{{\"type\":\"user\",\"uuid\":\"{id}\",\"sessionId\":\"{id}\",\"cwd\":\"{cwd}\",\"timestamp\":\"2026-03-22T10:00:00Z\",\"message\":{{\"role\":\"user\",\"content\":\"Look at it.\"}}}}\n"
    )
}

#[test]
fn reading_leaves_nothing_in_a_repository_without_sessions() {
    let sandbox = crate::sandbox().repository();
    let run = sandbox.run(["session", "capture"]).exits(2);
    assert!(run.stderr.contains("no session found for this project"), "{run}");
    for words in
        [&["session", "list"][..], &["list"], &["brief"], &["check"], &["search", "x"], &[]]
    {
        sandbox.run(words);
    }
    assert!(!sandbox.root().join(".git/midstride").exists());
}

#[test]
fn a_file_that_is_not_a_transcript_is_reported_and_fails_nothing() {
    let sandbox = worked_in();
    let slug =
        sandbox.root().display().to_string().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let folder = sandbox.home().join(".claude/projects").join(slug);
    std::fs::create_dir(folder.join("stray.jsonl")).unwrap();
    for arguments in [&["session", "list"][..], &["session", "recover"]] {
        let run = sandbox.run(arguments).exits(0);
        assert!(run.stderr.contains("stray.jsonl` is "), "{run}");
    }
}

#[test]
fn a_session_is_shown_even_if_nothing_can_be_stored() {
    let sandbox = worked_in();
    let private = sandbox.root().join(".git/midstride");
    std::fs::create_dir_all(&private).unwrap();
    std::fs::write(private.join("cursors"), "in the way").unwrap();
    let run = sandbox.run(["session", "show", ID]).exits(0);
    assert!(run.stdout.contains("corrected: Keep it in one file"), "{run}");
}

#[test]
fn sessions_that_are_not_captured_have_the_time_of_their_last_record() {
    let sandbox = worked_in();
    // The file is from now.
    let list = json_items(&sandbox.run(["session", "list", "--json"]).exits(0).stdout);
    assert_eq!(list[0]["captured"], "no");
    let changed = list[0]["changed"].as_str().unwrap();
    assert!(changed.starts_with("2026-03-22T09:"), "{changed}");
    let captured = sandbox.run(["session", "capture"]).exits(0);
    let list = json_items(&sandbox.run(["session", "list", "--json"]).exits(0).stdout);
    assert_eq!(list[0]["changed"], changed, "{captured}");
}

#[test]
fn what_is_checked_out_long_after_a_session_is_not_shown_as_its_own() {
    let sandbox = worked_in();
    let shown = |now: &str| {
        let mut show = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
        let show = show.args(["session", "show", ID]).env("MIDSTRIDE_NOW", now);
        sandbox.finish(show).exits(0).stdout
    };
    sandbox.git(&["commit", "--quiet", "--allow-empty", "--message", "later"]);
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    assert!(shown("2026-03-22T09:02:00Z").contains(head.trim()));
    assert!(!shown("2026-11-22T09:02:00Z").contains(head.trim()));
}

#[test]
fn skipped_older_sessions_are_counted() {
    let sandbox = shop();
    let text = std::fs::read_to_string(fixtures("transcripts/claude-code").join("cache.jsonl"));
    let text = text.unwrap().replace("/home/dev/shop", &sandbox.root().display().to_string());
    put(&sandbox, ID, &text.replace("2026-03-20", "2020-03-20"));
    let run = sandbox.run(["session", "recover"]).exits(0);
    let skipped =
        "1 session skipped (before setup); capture them with midstride session recover --all";
    assert!(run.stderr.contains(skipped), "{run}");
    let run = sandbox.run(["session", "recover", "--all"]).exits(0);
    assert!(run.stderr.contains("5 requests") && !run.stderr.contains("skipped"), "{run}");
}

#[test]
fn the_hint_at_past_sessions_names_a_command_that_captures_them() {
    let sandbox = crate::sandbox().repository();
    let text = std::fs::read_to_string(fixtures("transcripts/claude-code").join("cache.jsonl"));
    let text = text.unwrap().replace("/home/dev/shop", &sandbox.root().display().to_string());
    put(&sandbox, ID, &text);
    sandbox.as_user().run(["init", "--private"]).exits(0);
    let run = sandbox.run(["brief"]);
    let hint = "hint: 1 ended session is not captured; run midstride session recover --all";
    assert!(run.stderr.contains(hint), "{run}");
    sandbox.run(["session", "recover", "--all"]).exits(0);
    assert!(sandbox.run(["brief"]).exits(0).stdout.contains("Last session: "));
}

#[test]
fn a_fork_without_work_is_a_regular_session() {
    let sandbox = shop();
    let fork = "5e550002-4c00-7000-8000-00000000bbbb";
    let another = "5e550003-4c00-7000-8000-00000000cccc";
    let folder = sandbox.root().display().to_string();
    let record = |session: &str| {
        let mut record = serde_json::json!({
            "sessionId": session, "cwd": folder, "type": "user", "uuid": "r1", "parentUuid": null,
            "timestamp": "2026-03-22T09:00:00.000Z",
            "message": {"role": "user", "content": "Never touch the fixtures."},
        });
        if session != ID {
            record["forkedFrom"] = serde_json::json!({"sessionId": ID, "messageUuid": "r1"});
        }
        format!("{record}\n")
    };
    for session in [ID, fork, another] {
        put(&sandbox, session, &record(session));
    }
    let told = sandbox.run(["session", "capture", "--session", fork]).exits(0).stderr;
    assert_eq!(told, "[UID]: fork of [UID], nothing new yet\n");
    let shown = sandbox.run(["session", "show", fork]).exits(0).stdout;
    assert!(shown.contains("after record r1; nothing new yet"), "{shown}");
    assert!(shown.contains("Asked before the fork\n  Never touch the fixtures."), "{shown}");
    let run = sandbox.run(["session", "recover", "--all"]).exits(0);
    let recovered = "ended and is now captured: fork of [UID], nothing new yet";
    assert_eq!(run.to_string().matches(recovered).count(), 1, "{run}");
    let accepted = ["--title", "Both ways", "--accept", "Nothing happened yet"];
    sandbox.run([&["save", "--session", fork][..], &accepted].concat()).exits(0);
    sandbox.run(["save", "--session", fork]).exits(0);
}
