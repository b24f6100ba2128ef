//! Tests of many processes that write, read and are killed at once: every acknowledged write is
//! there, nothing is refused without a conflict, and no temporary file stays.
//!
//! `MIDSTRIDE_TORTURE` sets the number of full rounds, each with 64 processes for 60 s;
//! `scripts/soak` uses twenty. Without it, one short round runs.

mod worker;

use crate::sandbox;
use midstride_testkit::{Sandbox, json_items};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use worker::{Acknowledged, Report, Worker};

/// How long a round is.
#[derive(Clone, Copy, Debug)]
enum Length {
    Operations(usize),
    Time(Duration),
}

impl Length {
    fn is_over(self, begun: Instant, done: usize) -> bool {
        match self {
            Self::Operations(count) => done >= count,
            Self::Time(time) => begun.elapsed() >= time,
        }
    }
}

/// A project with one handoff per worker, one that all share, and a remote.
fn project(workers: usize) -> Sandbox {
    let sandbox = sandbox().repository();
    sandbox.as_user().run(["init"]).exits(0);
    let hub = sandbox.home().join("hub.git").display().to_string();
    sandbox.git(&["init", "--quiet", "--bare", "--initial-branch=main", &hub]);
    sandbox.git(&["remote", "add", "origin", &hub]);
    let ids = (0..workers).map(|worker| format!("case-{worker}")).chain(["shared".to_owned()]);
    for id in ids {
        let text = format!(
            "---\nhandoff:\n  id: {id}\n  uid: uid-{id}\n  title: A worker's case\n---\n\nbegun\n"
        );
        sandbox.write(&format!(".midstride/handoffs/{id}.md"), text);
    }
    sandbox.git(&["add", "--all"]);
    sandbox.git(&["commit", "--quiet", "--message", "handoffs"]);
    sandbox.git(&["push", "--quiet", "--set-upstream", "origin", "main"]);
    sandbox.run(["task", "add", "everybody's"]).exits(0);
    sandbox
}

/// Lets workers write, read and die, and asserts that nothing is lost.
#[expect(clippy::print_stdout, reason = "a long run shows its figures")]
fn run_round(seed: u64, workers: usize, length: Length) {
    let sandbox = project(workers);
    let begun = Instant::now();
    let reports: Vec<Report> = std::thread::scope(|scope| {
        let start = |number| {
            let worker = Worker::new(&sandbox, seed, number);
            scope.spawn(move || worker.work(|done| length.is_over(begun, done)))
        };
        let started: Vec<_> = (0..workers).map(start).collect();
        started.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    let refused: Vec<&String> = reports.iter().flat_map(|report| &report.refused).collect();
    assert!(refused.is_empty(), "seed {seed}: {} refused:\n{}", refused.len(), join(&refused));
    let acknowledged: Vec<Acknowledged> =
        reports.iter().flat_map(|report| report.acknowledged.clone()).collect();
    let killed: usize = reports.iter().map(|report| report.killed).sum();
    let conflicts: usize = reports.iter().map(|report| report.conflicts).sum();
    let count = acknowledged.len();
    assert!(count > workers && killed > 0, "seed {seed}: {count} acknowledged, {killed} killed");
    assert_all_there(&sandbox, &acknowledged, seed);
    assert_clean(&sandbox, seed);
    let took = begun.elapsed().as_secs();
    println!(
        "seed {seed}: {count} writes acknowledged, {killed} killed, {conflicts} conflicts, {took} s"
    );
}

fn join(lines: &[&String]) -> String {
    lines.iter().map(|line| line.as_str()).collect::<Vec<_>>().join("\n")
}

/// Everything that an id ever said, its text now included.
fn history(sandbox: &Sandbox, id: &str) -> Vec<String> {
    let now = sandbox.run(["show", id, "--json"]).exits(0);
    let now: serde_json::Value = serde_json::from_str(&now.stdout).unwrap();
    let count = now["revisions"].as_u64().expect("the number of revisions") + 1;
    let texts = (1..=count).map(|text| sandbox.run(["show", &format!("{id}@{text}")]).exits(0));
    texts.map(|run| run.stdout).collect()
}

/// Asserts that every acknowledged write can be read.
fn assert_all_there(sandbox: &Sandbox, acknowledged: &[Acknowledged], seed: u64) {
    let mut histories: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let tasks = sandbox.run(["task", "list", "--all", "--json"]).exits(0).stdout;
    let tasks: Vec<serde_json::Value> = serde_json::from_value(json_items(&tasks)).unwrap();
    let mut lost = Vec::new();
    for write in acknowledged {
        let is_there = match write {
            Acknowledged::Text { id, text } => {
                let texts = histories.entry(id).or_insert_with(|| history(sandbox, id));
                texts.iter().any(|kept| kept.contains(text.as_str()))
            }
            Acknowledged::Task { subject, is_done } => tasks.iter().any(|task| {
                task["subject"] == subject.as_str() && (!is_done || task["status"] == "done")
            }),
            Acknowledged::Note { text } => tasks.iter().any(|task| {
                let mut notes = task["notes"].as_array().into_iter().flatten();
                notes.any(|note| note["text"] == text.as_str())
            }),
        };
        if !is_there {
            lost.push(format!("{write:?}"));
        }
    }
    assert!(lost.is_empty(), "seed {seed}: {} lost:\n{}", lost.len(), lost.join("\n"));
}

/// Asserts that databases and repositories are sound, and that the commands above left no temporary
/// file and no spooled event.
fn assert_clean(sandbox: &Sandbox, seed: u64) {
    let database = sandbox.root().join(".git/midstride/ledger.db");
    let database = rusqlite::Connection::open(database).unwrap();
    let result: String =
        database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(result, "ok", "seed {seed}");
    // Every folder that was written to is written to once more.
    let asked = ["edit", "shared", "--reason", "the last one", "--body", "-"];
    sandbox.run_with_input(&asked, "the last one\n").exits(0);
    sandbox.run(["sync"]).exits(0);
    for folder in [sandbox.root().to_owned(), sandbox.home().join("hub.git")] {
        let mut git = sandbox.command("git");
        let run = sandbox.finish(git.current_dir(folder).args(["fsck", "--no-dangling"]));
        assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "seed {seed}: {run}");
    }
    let left: BTreeSet<PathBuf> =
        files(sandbox.root()).into_iter().filter(|path| is_ours_and_temporary(path)).collect();
    assert!(left.is_empty(), "seed {seed}: {left:?}");
}

/// Whether a file is a draft of midstride, or spooled.
fn is_ours_and_temporary(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_string_lossy();
    name.ends_with(".tmp") || path.parent().is_some_and(|parent| parent.ends_with("spool"))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

#[test]
fn killed_processes_lose_no_acknowledged_write() {
    match std::env::var("MIDSTRIDE_TORTURE") {
        Err(_) => run_round(16, 16, Length::Operations(12)),
        Ok(rounds) => {
            let rounds: u64 = rounds.parse().expect("MIDSTRIDE_TORTURE is a number");
            for seed in 1..=rounds {
                run_round(seed, 64, Length::Time(Duration::from_mins(1)));
            }
        }
    }
}
