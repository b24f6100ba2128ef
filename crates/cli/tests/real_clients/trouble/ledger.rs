//! Tests of a ledger that is locked or broken.

use super::{CLIENTS, Client, Desk, HANDOFF, LANDMINE, quoted};
use midstride_testkit::Turn;
use rusqlite::Connection;
use serde_json::json;
use std::path::Path;

/// The maximum number of sessions recovered while a client waits.
const AT_A_START: usize = 3;

/// Locks the ledger so that no other process can even read it.
fn hold(ledger: &Path) -> Connection {
    let holder = Connection::open(ledger).unwrap();
    let held = "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;
                CREATE TABLE held (it); DROP TABLE held;";
    holder.execute_batch(held).unwrap();
    holder
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn events_for_a_locked_ledger_are_appended_later() {
    for client in CLIENTS {
        let desk = Desk::new(client);
        desk.undisturbed("Read the importer");
        let logged = desk.log().len();
        let holder = hold(&desk.private().join("ledger.db"));
        let task = json!({"subject": "Warm the cache", "description": "All of it"});
        if client == Client::ClaudeCode {
            desk.model.then([Turn::calls("TaskCreate", task)]);
        }
        desk.model.then([Turn::says("So it is.")]);
        let heard = desk.session("Repair the importer of invoices");
        assert_eq!(heard.code, Some(0), "{client:?}: {heard:?}");
        assert_eq!(heard.answer, "So it is.", "{client:?}: {heard:?}");
        assert!(heard.complaints.is_empty(), "{client:?}: {heard:?}");
        // What is in files is briefed anyway.
        let asked = desk.model.requests().pop().unwrap();
        assert!(asked.says(LANDMINE), "{client:?}: {:#}", asked.body);
        let log = desk.log().split_off(logged);
        let events: Vec<&str> = log.iter().map(|(event, ..)| event.as_str()).collect();
        let mut wanted =
            vec!["SessionStart", "UserPromptSubmit", "TaskCreated", "Stop", "SessionEnd"];
        wanted.retain(|event| client == Client::ClaudeCode || *event != "TaskCreated");
        assert_eq!(events, wanted, "{client:?}: a line for each");
        for (event, _, error) in [&log[0], log.last().unwrap()] {
            assert!(error.contains("locked"), "{client:?}: {event}: {error}");
        }
        holder.execute_batch("ROLLBACK").unwrap();
        drop(holder);
        let asked = desk.undisturbed("Go on");
        let told = quoted("Repair the importer of invoices");
        assert!(asked.says(&told), "{client:?}: {:#}", asked.body);
        assert_eq!(desk.captured().len(), 3, "{client:?}");
        if client == Client::ClaudeCode {
            let tasks = desk.sandbox.run(["task", "list"]).exits(0);
            assert!(tasks.stdout.contains("Warm the cache"), "{tasks}");
        }
        let events = desk.sandbox.run(["events"]).exits(0).stdout;
        assert_eq!(events.matches("session briefed").count(), 3, "{client:?}: {events}");
        desk.nothing_is_half_written();
    }
}

/// The ways to break a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Nonsense,
    Folder,
    Half,
    Empty,
}

fn broken(ledger: &Path, way: Way) {
    let bytes = std::fs::read(ledger).unwrap();
    std::fs::remove_file(ledger).unwrap();
    match way {
        Way::Nonsense => {
            std::fs::write(ledger, "no database at all, whatever it says ".repeat(1_000)).unwrap();
        }
        Way::Folder => std::fs::create_dir(ledger).unwrap(),
        Way::Half => std::fs::write(ledger, &bytes[..bytes.len() / 2]).unwrap(),
        Way::Empty => std::fs::write(ledger, "").unwrap(),
    }
}

fn remove(path: &Path) {
    let removed =
        if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    let _ = removed;
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn a_broken_ledger_does_not_break_sessions() {
    for client in CLIENTS {
        let desk = Desk::new(client);
        desk.undisturbed("Read the importer");
        let files = ["ledger.db", "index.db"].map(|name| desk.private().join(name));
        // Checkpoint each database into a single file, and keep a copy.
        let sound = files.clone().map(|file| {
            let database = Connection::open(&file).unwrap();
            database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
            std::fs::read(&file).unwrap()
        });
        let ways = client.some_of(&[Way::Nonsense, Way::Half, Way::Empty, Way::Folder], 2);
        for way in ways.iter().copied() {
            for file in &files {
                for log in ["-wal", "-shm"] {
                    remove(Path::new(&format!("{}{log}", file.display())));
                }
                broken(file, way);
            }
            let logged = desk.log().len();
            let asked = desk.undisturbed(&format!("Repair {way:?} of the importer"));
            assert!(asked.says(LANDMINE), "{client:?} {way:?}: {:#}", asked.body);
            let log = desk.log().split_off(logged);
            assert_eq!(log.len(), 4, "{client:?} {way:?}: {log:?}");
            // An empty file counts as a new database, and half a database may be readable for a
            // while.
            if matches!(way, Way::Nonsense | Way::Folder) {
                for (event, _, error) in [&log[0], &log[3]] {
                    assert!(error.contains("ledger.db"), "{client:?} {way:?}: {event}: {error}");
                }
            }
            for (file, sound) in files.iter().zip(&sound) {
                for ending in ["", "-wal", "-shm"] {
                    remove(Path::new(&format!("{}{ending}", file.display())));
                }
                std::fs::write(file, sound).unwrap();
            }
        }
        let asked = desk.undisturbed("Go on");
        let told = quoted(&format!("Repair {:?} of the importer", ways[ways.len() - 1]));
        assert!(asked.says(&told), "{client:?}: {:#}", asked.body);
        // A start recovers the newest few; its background process recovers the rest.
        let alone = || desk.log().iter().any(|(event, ..)| event == "recover");
        while ways.len() > AT_A_START && !alone() {
            std::thread::yield_now();
        }
        assert_eq!(desk.captured().len(), 2 + ways.len(), "{client:?}");
        assert_eq!(desk.sandbox.read(".midstride/handoffs/slow-pages.md"), HANDOFF);
        desk.nothing_is_half_written();
    }
}
