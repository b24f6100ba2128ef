//! The ledger in SQLite: it passes the suite, and what only this engine has to hold.

use midstride::store::Store;
use midstride::store::ledger::{
    Cursor, DatabaseError, ExpectedVersion, Ledger, LedgerError, LocalLedger, RecordOutcome,
    SqliteLedger, StreamId, WaitPolicy,
};
use midstride::sys::files::Root;
use midstride::workspace::Workspace;
use midstride_ledger::conformance::{LOCAL_SUITE, LocalWorld, SUITE, World, event};
use midstride_testkit::Sandbox;
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

struct Sqlite(Sandbox);

impl World for Sqlite {
    fn open(&self) -> Box<dyn Ledger> {
        Box::new(open(&self.0, WaitPolicy::Command))
    }

    fn push_text(&self, stream: &StreamId, events: &str) {
        let database = rusqlite::Connection::open(self.0.root().join("ledger.db")).unwrap();
        let sql = "INSERT INTO records (stream, number, events) VALUES (?1,
                   (SELECT coalesce(max(number), 0) + 1 FROM records WHERE stream = ?1), ?2)";
        database.execute(sql, (stream.as_str(), events)).unwrap();
    }

    fn lose_lease(&self, _: &str) -> bool {
        false
    }
}

impl LocalWorld for Sqlite {
    fn open_local(&self) -> Box<dyn LocalLedger> {
        Box::new(open(&self.0, WaitPolicy::Command))
    }
}

#[test]
fn the_ledger_in_sqlite_conforms() {
    for (_, test) in SUITE {
        test(&Sqlite(Sandbox::new("")));
    }
    for (_, test) in LOCAL_SUITE {
        test(&Sqlite(Sandbox::new("")));
    }
}

/// What only the database can report.
fn database_error(error: &LedgerError) -> &DatabaseError {
    error.engine().unwrap_or_else(|| panic!("{error}"))
}

fn open(sandbox: &Sandbox, patience: WaitPolicy) -> SqliteLedger {
    SqliteLedger::open_in(Root::open(sandbox.root()).unwrap(), patience).unwrap()
}

#[test]
fn nothing_of_a_large_blob_remains_after_a_kill() {
    let sandbox = Sandbox::new("");
    let ledger = open(&sandbox, WaitPolicy::Command);
    let large = b"the password is hunter2. ".repeat(10_000);
    let hash = ledger.put_blob(&large).unwrap();
    // Leftovers of a kill while a blob was written, and after it was forgotten.
    let draft = sandbox.root().join(format!("blobs/.{}.tmp", "0".repeat(64)));
    std::fs::write(&draft, &large).unwrap();
    ledger.forget_blob(&hash).unwrap();
    assert!(!draft.exists());
    std::fs::write(sandbox.root().join("blobs").join(hash.as_str()), &large).unwrap();
    assert_eq!(ledger.get_blob(&hash).unwrap(), None);
    assert!(ledger.blobs_with_prefix("").unwrap().is_empty());
    ledger.forget_blob(&hash).unwrap();
    assert_eq!(std::fs::read_dir(sandbox.root().join("blobs")).unwrap().count(), 0);
}

#[test]
fn closing_the_ledger_truncates_the_log() {
    let sandbox = Sandbox::new("");
    let ledger = open(&sandbox, WaitPolicy::Command);
    for number in 0_u8..20 {
        ledger.put_blob(&vec![number; 32 << 10]).unwrap();
    }
    let log = sandbox.root().join("ledger.db-wal");
    assert!(std::fs::metadata(&log).unwrap().len() > 256 << 10);
    drop(ledger);
    assert_eq!(std::fs::metadata(&log).unwrap().len(), 0);
    assert_eq!(open(&sandbox, WaitPolicy::Hook).blobs_with_prefix("").unwrap().len(), 20);
}

fn ids(ledger: &dyn Ledger) -> Vec<String> {
    let records = ledger.read_all(&Cursor::START, 1000).unwrap().records;
    records.into_iter().flat_map(|record| record.events).map(|event| event.id).collect()
}

#[test]
fn a_newer_database_is_refused_and_untouched() {
    let sandbox = Sandbox::new("");
    drop(open(&sandbox, WaitPolicy::Command));
    let path = sandbox.root().join("ledger.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("PRAGMA user_version = 99").unwrap();
    drop(connection);
    let before = std::fs::read(&path).unwrap();
    let folder = Root::open(sandbox.root()).unwrap();
    let refused = SqliteLedger::open_in(folder, WaitPolicy::Command).unwrap_err();
    assert!(
        matches!(database_error(&refused), DatabaseError::Newer { found: 99, .. }),
        "{refused}"
    );
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_file_that_is_not_a_database_is_reported() {
    let sandbox = Sandbox::new("");
    sandbox.write("ledger.db", "no database, but long enough to be taken for one".repeat(100));
    let folder = Root::open(sandbox.root()).unwrap();
    let refused = SqliteLedger::open_in(folder, WaitPolicy::Command).unwrap_err();
    assert!(matches!(database_error(&refused), DatabaseError::Damaged { .. }), "{refused}");
}

fn try_open(sandbox: &Sandbox) -> Result<SqliteLedger, LedgerError> {
    SqliteLedger::open_in(Root::open(sandbox.root()).unwrap(), WaitPolicy::Command)
}

/// A ledger with one event, of which only the log has anything.
fn in_log_only() -> Sandbox {
    let sandbox = Sandbox::new("");
    let stream = StreamId::from_name("a");
    let ledger = open(&sandbox, WaitPolicy::Command);
    ledger.append(&stream, ExpectedVersion::NoStream, &[event("1")]).unwrap();
    drop(ledger);
    assert_eq!(std::fs::metadata(sandbox.root().join("ledger.db")).unwrap().len(), 4096);
    sandbox
}

/// What is left of a log; `None` if it was deleted.
type Loss = fn(Vec<u8>) -> Option<Vec<u8>>;

#[test]
fn a_ledger_without_its_schema_is_refused_and_untouched() {
    let zeros = |bytes: Vec<u8>| Some(vec![0; bytes.len()]);
    let long_zeros = |_: Vec<u8>| Some(vec![0; 300 << 10]);
    let first_page = |bytes: Vec<u8>| Some(bytes[..5000].to_vec());
    let losses: [(&str, Loss); 4] = [
        ("deleted", |_| None),
        ("zeroed", zeros),
        ("zeroed and long", long_zeros),
        ("truncated", first_page),
    ];
    for (what, lose) in losses {
        let sandbox = in_log_only();
        let [database, log] = ["ledger.db", "ledger.db-wal"].map(|name| sandbox.root().join(name));
        match lose(std::fs::read(&log).unwrap()) {
            Some(bytes) => std::fs::write(&log, bytes).unwrap(),
            None => std::fs::remove_file(&log).unwrap(),
        }
        std::fs::remove_file(sandbox.root().join("ledger.db-shm")).unwrap();
        let before = (std::fs::read(&database).unwrap(), std::fs::read(&log).unwrap_or_default());
        for _ in 0..2 {
            let refused = try_open(&sandbox).unwrap_err();
            assert!(
                matches!(database_error(&refused), DatabaseError::Emptied { .. }),
                "{what}: {refused}"
            );
        }
        let after = (std::fs::read(&database).unwrap(), std::fs::read(&log).unwrap_or_default());
        assert!(before == after, "{what}");
        // Without the broken files, a new ledger starts.
        std::fs::remove_file(&database).unwrap();
        let _ = std::fs::remove_file(&log);
        assert_eq!(ids(&try_open(&sandbox).unwrap()), [""; 0], "{what}");
    }
}

#[test]
fn a_log_without_its_database_is_refused_and_kept() {
    for is_missing in [true, false] {
        let sandbox = in_log_only();
        let [database, log] = ["ledger.db", "ledger.db-wal"].map(|name| sandbox.root().join(name));
        let whole = std::fs::read(&database).unwrap();
        match is_missing {
            true => std::fs::remove_file(&database).unwrap(),
            false => std::fs::write(&database, "").unwrap(),
        }
        let before = std::fs::read(&log).unwrap();
        for _ in 0..2 {
            let refused = try_open(&sandbox).unwrap_err();
            let DatabaseError::OrphanedLog { is_missing: found, .. } = database_error(&refused)
            else {
                panic!("{refused}");
            };
            assert_eq!(*found, is_missing);
        }
        assert!(std::fs::read(&log).unwrap() == before, "the log is the only copy");
        assert_eq!(database.exists(), !is_missing);
        // With both files, everything is there.
        std::fs::write(&database, whole).unwrap();
        assert_eq!(ids(&try_open(&sandbox).unwrap()), ["1"]);
    }
}

#[test]
fn processes_that_start_a_ledger_at_once_all_succeed() {
    for _ in 0..20 {
        let sandbox = Sandbox::new("");
        // The mark of a ledger that the user moved away.
        sandbox.write("ledger-ready", "");
        std::thread::scope(|scope| {
            let started: Vec<_> = (0..8).map(|_| scope.spawn(|| try_open(&sandbox))).collect();
            for one in started {
                one.join().unwrap().unwrap();
            }
        });
    }
}

#[test]
fn events_a_hook_cannot_append_in_time_are_appended_by_the_next_command() {
    let sandbox = Sandbox::new("").repository();
    let workspace = Workspace::discover(crate::without_home(sandbox.root())).unwrap();
    let store = Store::new(workspace, WaitPolicy::Hook);
    let hook = store.ledger().unwrap();
    let stream = StreamId::from_name("a");
    hook.append(&stream, ExpectedVersion::NoStream, &[event("1")]).unwrap();
    let path = sandbox.root().join(".git/midstride/ledger.db");
    let busy = rusqlite::Connection::open(path).unwrap();
    busy.execute_batch("BEGIN IMMEDIATE").unwrap();
    let spooled = hook.append_missing(&[(stream.clone(), vec![event("2")])]);
    assert_eq!(spooled.unwrap(), RecordOutcome::Later);
    busy.execute_batch("COMMIT").unwrap();
    assert_eq!(ids(hook), ["1"]);
    for _ in 0..2 {
        assert_eq!(ids(crate::open_on_disk(sandbox.root()).ledger().unwrap()), ["1", "2"]);
    }
    // An unreadable entry is skipped.
    sandbox.write(".git/midstride/spool/zz.json", "{");
    assert_eq!(ids(crate::open_on_disk(sandbox.root()).ledger().unwrap()), ["1", "2"]);
    assert!(sandbox.root().join(".git/midstride/spool/zz.unreadable").exists());
}

#[test]
fn commands_that_drain_the_spool_at_once_all_succeed() {
    let sandbox = Sandbox::new("").repository();
    crate::open_on_disk(sandbox.root()).ledger().unwrap();
    for round in 0..5 {
        for number in 0..40 {
            let id = format!("{round}-{number}");
            let events = [event(&id).to_cloud_event("a")];
            let text = serde_json::json!({ "stream": "a", "events": events }).to_string();
            sandbox.write(&format!(".git/midstride/spool/{id}.json"), text);
        }
        std::thread::scope(|scope| {
            let drain = || crate::open_on_disk(sandbox.root()).ledger().map(|_| ());
            let all: Vec<_> = (0..4).map(|_| scope.spawn(drain)).collect();
            for one in all {
                one.join().unwrap().unwrap();
            }
        });
        let spool = std::fs::read_dir(sandbox.root().join(".git/midstride/spool")).unwrap();
        assert_eq!(spool.count(), 0);
    }
    assert_eq!(ids(crate::open_on_disk(sandbox.root()).ledger().unwrap()).len(), 200);
}

/// Copies the database files as they are on disk, each cut at some point, as after a power loss.
#[test]
fn a_torn_log_loses_only_unacknowledged_events() {
    let sandbox = Sandbox::new("");
    let ledger = open(&sandbox, WaitPolicy::Command);
    let stream = StreamId::from_name("a");
    let mut version = None;
    for number in 0..20 {
        let id = format!("{number:02}");
        version =
            Some(ledger.append(&stream, ExpectedVersion::after(version), &[event(&id)]).unwrap());
        let [database, log] =
            ["ledger.db", "ledger.db-wal"].map(|n| std::fs::read(sandbox.root().join(n)).unwrap());
        // An uncut log has everything that was acknowledged; a cut one has a prefix of it.
        for keep in [log.len(), log.len() - 1, log.len() * 2 / 3, log.len() / 7, 40, 0] {
            let torn = Sandbox::new("");
            torn.write("ledger.db", &database);
            torn.write("ledger.db-wal", &log[..keep.min(log.len())]);
            let folder = Root::open(torn.root()).unwrap();
            let found = ids(&SqliteLedger::open_in(folder, WaitPolicy::Command).unwrap());
            let all: Vec<String> = (0..=number).map(|number| format!("{number:02}")).collect();
            assert_eq!(found, all[..found.len()], "a beginning");
            if keep == log.len() {
                assert_eq!(found.len(), all.len(), "nothing acknowledged is lost");
            }
        }
    }
}

#[test]
fn an_empty_database_that_was_set_up_before_is_an_error() {
    let sandbox = Sandbox::new("");
    let database = sandbox.root().join("ledger.db");
    // A process that was killed while it created the database leaves an empty one.
    std::fs::write(&database, "").unwrap();
    let ledger = open(&sandbox, WaitPolicy::Command);
    ledger.append(&StreamId::mission(), ExpectedVersion::NoStream, &[event("a")]).unwrap();
    drop(ledger);
    for name in ["ledger.db-wal", "ledger.db-shm"] {
        let _ = std::fs::remove_file(sandbox.root().join(name));
    }
    std::fs::write(&database, "").unwrap();
    for patience in [WaitPolicy::Command, WaitPolicy::Hook] {
        let folder = Root::open(sandbox.root()).unwrap();
        let refused = SqliteLedger::open_in(folder, patience).unwrap_err();
        assert!(matches!(database_error(&refused), DatabaseError::Emptied { .. }), "{refused}");
        assert!(refused.to_string().contains("was set up earlier and is now empty"), "{refused}");
        assert_eq!(std::fs::metadata(&database).unwrap().len(), 0, "it is left unchanged");
    }
    // Moved away, it is created again.
    std::fs::remove_file(&database).unwrap();
    let ledger = open(&sandbox, WaitPolicy::Command);
    assert!(ledger.read_all(&Cursor::START, 10).unwrap().records.is_empty());
}

#[test]
fn a_truncated_blob_is_an_error_until_it_is_stored_again() {
    let sandbox = Sandbox::new("");
    let ledger = open(&sandbox, WaitPolicy::Command);
    let large = b"a long checkpoint ".repeat(10_000);
    let hash = ledger.put_blob(&large).unwrap();
    let path = sandbox.root().join("blobs").join(hash.as_str());
    for length in [0, large.len() / 2] {
        std::fs::write(&path, &large[..length]).unwrap();
        let refused = ledger.get_blob(&hash).unwrap_err();
        assert!(
            matches!(database_error(&refused), DatabaseError::Damaged { path: at, .. } if *at == path),
            "{refused}"
        );
        assert_eq!(ledger.put_blob(&large).unwrap(), hash);
        assert_eq!(ledger.get_blob(&hash).unwrap().unwrap(), large);
    }
}

/// The variable that names the folder of the ledger to the child process.
const APPENDING: &str = "MIDSTRIDE_TEST_APPENDING";

/// Runs only as a child process of the test below, and is killed on the way.
#[test]
fn child_whose_threads_append() {
    let Some(folder) = std::env::var_os(APPENDING) else { return };
    let folder = Root::open(Path::new(&folder)).unwrap();
    let ledger = SqliteLedger::open_in(folder, WaitPolicy::Command).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..32 {
            let ledger = &ledger;
            scope.spawn(move || {
                let (stream, mut version) = (StreamId::from_name(&format!("s/{thread}")), None);
                for number in 0..10_000 {
                    let id = format!("{thread}-{number}");
                    let expected = ExpectedVersion::after(version);
                    version = Some(ledger.append(&stream, expected, &[event(&id)]).unwrap());
                    let mut out = std::io::stdout().lock();
                    writeln!(out, "\nacknowledged {id}").and_then(|()| out.flush()).unwrap();
                }
            });
        }
    });
}

#[test]
fn a_killed_process_loses_no_event_that_one_of_its_threads_acknowledged() {
    for kept in [1, 50, 400] {
        let sandbox = Sandbox::new("");
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["ledger::child_whose_threads_append", "--exact", "--nocapture"])
            .env(APPENDING, sandbox.root())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let mut acknowledged: Vec<String> = Vec::new();
        for line in lines {
            acknowledged.extend(line.strip_prefix("acknowledged ").map(str::to_owned));
            if acknowledged.len() == kept {
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        assert!(acknowledged.len() >= kept);
        let found: BTreeSet<String> = {
            let ledger = open(&sandbox, WaitPolicy::Command);
            let records = ledger.read_with_prefix("s/").unwrap();
            records.into_iter().flat_map(|record| record.events).map(|event| event.id).collect()
        };
        let lost: Vec<&String> = acknowledged.iter().filter(|id| !found.contains(*id)).collect();
        assert_eq!(lost, Vec::<&String>::new());
    }
}
