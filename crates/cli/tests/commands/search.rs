//! Tests of `search`, with the index and without it.

use super::doctor::{doctor, problems};
use super::shop;
use crate::sandbox;
use midstride_testkit::{Run, Sandbox};
use std::path::PathBuf;

/// The files of the index; each worktree has one.
fn index_files(sandbox: &Sandbox) -> Vec<PathBuf> {
    let folder = sandbox.root().join(".git/midstride");
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let named = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("index-");
    entries.map(|entry| entry.unwrap().path()).filter(named).collect()
}

fn database(sandbox: &Sandbox) -> PathBuf {
    let is_database = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "db");
    index_files(sandbox).into_iter().find(is_database).unwrap()
}

/// The name of the index in some output; it differs by worktree.
fn database_name(shown: &str) -> String {
    let from = shown.find("index-").unwrap();
    shown[from..from + shown[from..].find(".db").unwrap()].to_owned()
}

fn remove_index(sandbox: &Sandbox) {
    for file in index_files(sandbox) {
        std::fs::remove_file(file).unwrap();
    }
}

/// The keys that a search finds, in order.
fn keys(sandbox: &Sandbox, words: &[&str]) -> Vec<String> {
    let run = sandbox.run(["search", "--json"].iter().chain(words));
    let value: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let has_matched = ["hits", "sessions"]
        .iter()
        .any(|list| value[*list].as_array().is_some_and(|found| !found.is_empty()));
    run.exits(i32::from(!has_matched));
    let hits = value["hits"].as_array().unwrap().iter();
    hits.map(|hit| hit["key"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_hit_says_why() {
    let sandbox = shop();
    insta::assert_snapshot!(sandbox.run(["search", "market", "paginate"]), @"
    exit 0
    ----- stdout -----
    market-page-perf  in_progress  Market pages take 14 s
      title: Market pages take 14 s
      decisions_made: Paginate in the database
      .midstride/handoffs/market-page-perf.md
    ");
    insta::assert_snapshot!(sandbox.run(["search", "\"cookie was set\""]), @"
    exit 0
    ----- stdout -----
    login-loop  resolved  Login loops on Safari
      context_summary: The cookie was set on another domain.
      .midstride/handoffs/login-loop.md
    ");
    insta::assert_snapshot!(sandbox.run(["search", "app/market.py", "--json"]), @r#"
    exit 0
    ----- stdout -----
    {
      "schema": "search/1",
      "hits": [
        {
          "key": "market-page-perf",
          "uid": null,
          "title": "Market pages take 14 s",
          "kind": "investigation",
          "stage": null,
          "status": "in_progress",
          "changed": "2026-03-22T08:00:00Z",
          "path": ".midstride/handoffs/market-page-perf.md",
          "why": [
            {
              "field": "body",
              "excerpt": "- The query in `app/market.py:16` loads everything.",
              "marks": [
                [
                  16,
                  29
                ]
              ]
            }
          ]
        }
      ],
      "sessions": [],
      "more": false,
      "ranked": true,
      "complete": true
    }
    "#);
    let run = sandbox.run(["search", "--color", "always", "14,290"]).exits(0);
    assert!(run.stdout.contains("\u{1b}[1m\u{1b}[33m14,290\u{1b}[0m"), "{run}");
}

#[test]
fn failed_searches_give_a_hint() {
    let sandbox = shop();
    insta::assert_snapshot!(sandbox.run(["search", "zebra"]), @"
    exit 1
    ----- stderr -----
    No matching handoff or captured session.
    Try words that start with it: midstride search 'zebra*'
    ");
    insta::assert_snapshot!(sandbox.run(["search", "market", "zebra"]), @"
    exit 1
    ----- stderr -----
    No matching handoff or captured session.
    Try fewer words: every word must match
    ");
    insta::assert_snapshot!(sandbox.run(["search", "m*"]), @"
    exit 2
    ----- stderr -----
    error: `m*` is too short: a prefix needs at least 3 letters
    hint: type more of the word
    ");
    insta::assert_snapshot!(sandbox.run(["search", "\"\""]), @r#"
    exit 2
    ----- stderr -----
    error: no words to search for
    hint: midstride search slow "market*"
    "#);
    insta::assert_snapshot!(sandbox.run(["search"]), @"
    exit 2
    ----- stderr -----
    error: the following required arguments were not provided:
      <WORD>...

    Usage: midstride search <WORD>...

    For more information, try '--help'.
    ");
}

#[test]
fn search_engine_syntax_is_treated_as_words() {
    let sandbox = shop();
    for words in [
        "NEAR(market pages, 2)",
        "\"",
        "*",
        "body: market",
        "{name} : market",
        "market AND",
        "-market",
        "^market",
        "'; DROP TABLE words; --",
        "ma\0rket",
    ] {
        let run = sandbox.run(["search", "--json", "--", &words.replace('\0', "\u{1}")]);
        assert!(matches!(run.code, Some(0..=2)), "{words}: {run}");
        assert!(!run.stderr.contains("fts5") && !run.stderr.contains("syntax"), "{run}");
    }
    assert_eq!(keys(&sandbox, &["NEAR(market"]), Vec::<String>::new());
    assert_eq!(keys(&sandbox, &["(market)"]), ["market-page-perf"]);
}

#[test]
fn titles_weigh_most_then_the_header_then_the_newest() {
    let sandbox = shop();
    let handoff = |id: &str, title: &str, day: u8, summary: &str, body: &str| {
        sandbox.write(&format!(".midstride/handoffs/{id}.md"), format!("---\nhandoff:\n  id: {id}\n  title: {title}\n  created: 2026-02-{day:02}T08:00:00Z\n  context_summary: {summary}\n---\n\n{body}\n"));
    };
    handoff("one", "Other", 3, "Plain", "The quota is in the body.");
    handoff("two", "The quota", 1, "Plain", "Nothing.");
    handoff("three", "Other", 2, "A quota", "Nothing.");
    handoff("four", "Other", 4, "Plain", "Another quota.");
    assert_eq!(keys(&sandbox, &["quota"]), ["two", "three", "four", "one"]);
    assert_eq!(keys(&sandbox, &["quota", "--limit", "2"]), ["two", "three"]);
    assert_eq!(keys(&sandbox, &["quota", "body"]), ["one"]);
    assert_eq!(keys(&sandbox, &["quota", "nothing"]), ["two", "three"]);
    assert_eq!(keys(&sandbox, &["quota", "--newer-than", "47"]), ["four", "one"]);
    assert_eq!(keys(&sandbox, &["quota", "--older-than", "47"]), ["two", "three"]);
}

#[test]
fn hits_are_filtered() {
    let sandbox = shop();
    sandbox.write("docs/handoffs/old.md", "# The old market\n");
    assert_eq!(keys(&sandbox, &["the", "--status", "resolved"]), ["login-loop"]);
    assert_eq!(keys(&sandbox, &["audits", "--stage", "request"]), ["feat-042/request"]);
    assert_eq!(keys(&sandbox, &["audits", "--kind", "session"]), Vec::<String>::new());
    assert_eq!(keys(&sandbox, &["market", "--path", "docs"]), ["old"]);
}

#[test]
fn every_folder_is_searched() {
    let sandbox = shop();
    let slug: String = sandbox
        .root()
        .to_str()
        .unwrap()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let memory = sandbox.home().join(".claude/projects").join(slug).join("memory");
    std::fs::create_dir_all(&memory).unwrap();
    std::fs::write(memory.join("handoff-remembered.md"), "# Pelican\n").unwrap();
    std::fs::write(memory.join("other.md"), "# Pelican\n").unwrap();
    sandbox.write(".git/midstride/handoffs/private.md", "# Pelican\n");
    sandbox.write(".claude/pipeline/briefs/feat-001.md", "# Pelican\n");
    sandbox.write("thoughts/shared/handoffs/deep/er/thought.md", "# Pelican\n");
    sandbox.write("HANDOFF.md", "# Pelican\n");
    let expected = ["HANDOFF", "feat-001", "private", "remembered", "thought"];
    let mut found = keys(&sandbox, &["pelican"]);
    found.sort();
    assert_eq!(found, expected);
}

#[test]
fn worktrees_see_their_own_documents_and_share_the_private_ones() {
    let sandbox = shop();
    sandbox.write(".git/midstride/handoffs/shared.md", "# Pelican for all\n");
    sandbox.git(&["worktree", "add", "--quiet", "../second"]);
    let second = sandbox.root().parent().unwrap().join("second");
    let handoffs = second.join(".midstride/handoffs");
    std::fs::create_dir_all(&handoffs).unwrap();
    std::fs::write(second.join(".midstride/config.toml"), "").unwrap();
    std::fs::write(handoffs.join("there.md"), "# Pelican there\n").unwrap();
    sandbox.write(".midstride/handoffs/here.md", "# Pelican here\n");
    let there = second.to_str().unwrap();
    for _ in 0..2 {
        assert_eq!(keys(&sandbox, &["pelican"]), ["shared", "here"]);
        assert_eq!(keys(&sandbox, &["pelican", "-C", there]), ["shared", "there"]);
    }
    assert_eq!(
        index_files(&sandbox)
            .iter()
            .filter(|path| path.extension().is_some_and(|e| e == "db"))
            .count(),
        2
    );
    std::fs::remove_dir_all(&second).unwrap();
    let run = doctor(&sandbox, &["--reindex"]).exits(1);
    assert!(
        run.stderr.contains("Indexed 6 documents, removed the index for 1 deleted worktree"),
        "{run}"
    );
}

#[test]
fn an_in_place_edit_is_found_immediately() {
    let sandbox = shop();
    let file = ".midstride/handoffs/login-loop.md";
    assert_eq!(keys(&sandbox, &["cookie"]), ["login-loop"]);
    let path = sandbox.root().join(file);
    let before = std::fs::metadata(&path).unwrap();
    // The same file, with the same size and time.
    for (then, now) in [("cookie", "wafers"), ("wafers", "cookie")] {
        sandbox.write(file, sandbox.read(file).replace(then, now));
        let opened = std::fs::File::options().write(true).open(&path).unwrap();
        opened.set_modified(before.modified().unwrap()).unwrap();
        assert_eq!(opened.metadata().unwrap().len(), before.len());
        assert_eq!(keys(&sandbox, &[now]), ["login-loop"]);
        assert_eq!(keys(&sandbox, &[then]), Vec::<String>::new());
    }
    std::fs::rename(
        sandbox.root().join(file),
        sandbox.root().join(".midstride/handoffs/renamed.md"),
    )
    .unwrap();
    assert_eq!(keys(&sandbox, &["cookie"]), ["login-loop"]);
    std::fs::remove_file(sandbox.root().join(".midstride/handoffs/renamed.md")).unwrap();
    assert_eq!(keys(&sandbox, &["cookie"]), Vec::<String>::new());
}

/// The output of a few searches, for users and as JSON.
fn answers(sandbox: &Sandbox) -> Vec<Run> {
    let searches: [&[&str]; 6] = [
        &["search", "the"],
        &["search", "market*", "--json"],
        &["search", "\"may not be there\""],
        &["search", "--prompt", "The market page in app/market.py is slow", "--json"],
        &["search", "the", "--status", "resolved", "--limit", "1"],
        &["list", "--all"],
    ];
    let runs = searches.iter().map(|words| sandbox.run(*words));
    runs.inspect(|run| assert!(matches!(run.code, Some(0 | 1)), "{run}")).collect()
}

#[test]
fn results_are_the_same_without_the_index() {
    let sandbox = shop();
    let first = answers(&sandbox);
    assert_eq!(answers(&sandbox), first, "from the index");
    remove_index(&sandbox);
    assert_eq!(answers(&sandbox), first, "removed");
    let path = database(&sandbox);
    let whole = std::fs::read(&path).unwrap();
    let damages: [(&str, Vec<u8>); 4] = [
        ("no database", b"no database, but long enough to be one".repeat(200)),
        ("empty", Vec::new()),
        ("cut", whole[..whole.len() / 2].to_vec()),
        ("torn", {
            let mut torn = whole.clone();
            for byte in &mut torn[4096..] {
                *byte ^= 0x5a;
            }
            torn
        }),
    ];
    for (name, bytes) in damages {
        remove_index(&sandbox);
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(answers(&sandbox), first, "{name}");
    }
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("PRAGMA user_version = 99").unwrap();
    drop(connection);
    assert_eq!(answers(&sandbox), first, "of a newer version");
    // Neither the file nor anything next to it can be written.
    remove_index(&sandbox);
    std::fs::create_dir(&path).unwrap();
    assert_eq!(answers(&sandbox), first, "no file can be made");
    assert!(path.is_dir());
}

#[test]
fn a_project_that_is_not_set_up_is_searched_and_nothing_is_written() {
    let sandbox = sandbox();
    sandbox.write("HANDOFF.md", "# Pelican\n");
    assert_eq!(keys(&sandbox, &["pelican"]), ["HANDOFF"]);
    let names: Vec<_> =
        std::fs::read_dir(sandbox.root()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["HANDOFF.md"]);
}

#[test]
fn concurrent_searches_work_without_an_index() {
    let sandbox = shop();
    for number in 0..300 {
        sandbox.write(&format!("docs/handoffs/note-{number}.md"), format!("# Pelican {number}\n"));
    }
    let started: Vec<_> = (0..32)
        .map(|_| {
            let mut command = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
            command
                .args(["search", "market", "--json"])
                .stdout(std::process::Stdio::piped())
                .stderr(std::process::Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    let outputs: Vec<_> =
        started.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    for output in &outputs {
        assert_eq!(output.stdout, outputs[0].stdout);
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    assert!(!outputs[0].stdout.is_empty());
}

#[test]
fn only_relevant_handoffs_are_found_for_a_prompt() {
    let sandbox = shop();
    insta::assert_snapshot!(sandbox.run(["search", "--prompt", "Users report that login loops in Safari again"]), @"
    exit 0
    ----- stdout -----
    login-loop  resolved  Login loops on Safari
      title: Login loops on Safari
      .midstride/handoffs/login-loop.md
    ");
    insta::assert_snapshot!(sandbox.run(["search", "--prompt", "Write a poem about spring"]), @"
    exit 1
    ----- stderr -----
    No relevant handoff.
    ");
    let run = sandbox
        .run_with_input(
            &["search", "--prompt", "-", "--files", "app/market.py", "--json"],
            "please continue\n",
        )
        .exits(0);
    insta::assert_snapshot!(run.stdout, @r#"
    {
      "schema": "relevant-handoffs/1",
      "hits": [
        {
          "key": "market-page-perf",
          "uid": null,
          "title": "Market pages take 14 s",
          "kind": "investigation",
          "stage": null,
          "status": "in_progress",
          "changed": "2026-03-22T08:00:00Z",
          "path": ".midstride/handoffs/market-page-perf.md",
          "relevance": {
            "score": 3.0,
            "words": 0.0,
            "files": 3.0,
            "status": 1.0,
            "recency": 1.0
          },
          "why": [
            {
              "field": "body",
              "excerpt": "- The query in `app/market.py:16` loads everything.",
              "marks": [
                [
                  16,
                  29
                ]
              ]
            }
          ]
        }
      ],
      "complete": true
    }
    "#);
}

#[test]
fn the_doctor_reports_the_index() {
    let sandbox = shop();
    // No client is installed here, which is a separate problem.
    let shown = doctor(&sandbox, &[]).exits(1).stdout;
    let shown = &shown[shown.find("Project\n").unwrap()..shown.find("Problems\n").unwrap()];
    let name = database_name(shown);
    insta::assert_snapshot!(shown.replace(&name, "[INDEX]"), @"
    Project
      [ROOT]
      set up, with a committed folder
    Folders
      [ROOT]/.midstride/handoffs  3 documents
      [ROOT]/.git/midstride/handoffs  0 documents
      [ROOT]/.claude/pipeline  0 documents
      [ROOT]/docs/handoffs  0 documents
      [ROOT]/HANDOFF.md  1 document
      [ROOT]/thoughts/**/handoffs  0 documents
    Ledger
      [ROOT]/.git/midstride/ledger.db
      not created yet; the first change creates it
    Index
      [ROOT]/.git/midstride/[INDEX].db
      not created yet; the first search creates it
    ");
    insta::assert_snapshot!(doctor(&sandbox, &["--reindex"]).stderr, @"Indexed 4 documents");
    sandbox.write(".git/midstride/ledger.db", "no database at all, but long enough".repeat(50));
    sandbox.write(".git/midstride/spool/zz.unreadable", "{");
    sandbox.write(".midstride/config.toml", "shelves = [\"../elsewhere\"]\n");
    insta::assert_snapshot!(problems(&doctor(&sandbox, &["--no-simulation"]).exits(1)), @"
    Problems
      - no client found on this machine
        hint: install Claude Code, Codex or Qwen Code and start it once, then run `midstride setup`; if its home folder is in another location, set CLAUDE_CONFIG_DIR, CODEX_HOME or QWEN_HOME
      - folder `../elsewhere` is outside the project; midstride does not read it until you trust it with `midstride trust`
        hint: review it with `midstride trust`, or fix the configuration
      - `[ROOT]/.git/midstride/ledger.db` cannot be read: file is not a database
        hint: restore `[ROOT]/.git/midstride/ledger.db` from a backup, or move it and `ledger.db-wal` out of the way: midstride rebuilds what it can from documents and transcripts, and `midstride sync` fetches shared tasks
      - 1 file queued for the ledger cannot be read
        hint: look at the files in `[ROOT]/.git/midstride/spool`
    ");
    let run = doctor(&sandbox, &["--json"]).exits(1);
    assert_eq!(run.stderr, "");
    let value: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(value["problems"].as_array().unwrap().len(), 4, "{run}");
    assert_eq!(value["set_up"], "committed");
}

#[test]
fn the_doctor_keeps_an_index_of_a_newer_version() {
    let sandbox = shop();
    sandbox.run(["task", "add", "Write the schema"]).exits(0);
    let ledger = sandbox.root().join(".git/midstride/ledger.db");
    let connection = rusqlite::Connection::open(&ledger).unwrap();
    connection.execute_batch("PRAGMA user_version = 99").unwrap();
    drop(connection);
    let run = doctor(&sandbox, &[]).exits(1);
    insta::assert_snapshot!(problems(&run), @"
    Problems
      - no client found on this machine
        hint: install Claude Code, Codex or Qwen Code and start it once, then run `midstride setup`; if its home folder is in another location, set CLAUDE_CONFIG_DIR, CODEX_HOME or QWEN_HOME
      - `[ROOT]/.git/midstride/ledger.db` has version 99; this midstride supports 1
        hint: update midstride; the ledger was not changed
    ");
    assert!(run.stdout.contains("version 99, created by a newer midstride"), "{run}");
}

#[test]
fn the_doctor_distinguishes_an_empty_index_from_a_full_one() {
    let sandbox = shop();
    sandbox.git(&["add", "--all"]);
    sandbox.git(&["commit", "--quiet", "--message", "all"]);
    sandbox.run(["check"]);
    let index = |sandbox: &Sandbox| {
        let shown = doctor(sandbox, &["--no-simulation"]).stdout;
        let shown = shown.split_once("\nIndex\n").unwrap().1;
        shown.lines().nth(1).unwrap().trim().to_owned()
    };
    assert_eq!(index(&sandbox), "empty; the first search fills it");
    sandbox.run(["search", "weather"]);
    assert!(index(&sandbox).starts_with("4 documents"), "{}", index(&sandbox));
}
