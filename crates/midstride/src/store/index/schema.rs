//! The database schema of the index. There are no migrations: another version means a new index.

use super::IndexError;
use crate::store::ledger::WaitPolicy;
use crate::store::sqlite_log;
use crate::sys::files::{self, Lock, Root};
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Increases when the schema, the definition of a word, or the check of citations changes.
const VERSION: u32 = 6;

/// How long to wait for other writers.
fn timeout(patience: WaitPolicy) -> Duration {
    match patience {
        WaitPolicy::Command => Duration::from_secs(5),
        WaitPolicy::Hook => Duration::from_millis(20),
    }
}

/// An empty root is the project's own, so that another worktree can start from a copy. The settings
/// that a row was read with, and the worktree in which its file was last compared, are hashes.
///
/// The id of a document contains the day of its last change, so that the newest come first without
/// sorting. Words are normalized before they are stored, so the tokenizer only splits at spaces.
const SCHEMA: &str = "
    CREATE TABLE facts (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
    CREATE TABLE folders (
        root BLOB NOT NULL, inside BLOB NOT NULL,
        modified INTEGER NOT NULL, changed INTEGER NOT NULL, size INTEGER NOT NULL,
        inode INTEGER NOT NULL, settled INTEGER NOT NULL,
        PRIMARY KEY (root, inside)
    ) WITHOUT ROWID;
    CREATE TABLE documents (
        id INTEGER PRIMARY KEY,
        root BLOB NOT NULL, inside BLOB NOT NULL,
        modified INTEGER NOT NULL, changed INTEGER NOT NULL, size INTEGER NOT NULL,
        inode INTEGER NOT NULL, settled INTEGER NOT NULL,
        hash BLOB NOT NULL,
        moment INTEGER, status TEXT NOT NULL, kind TEXT NOT NULL, stage TEXT, waits TEXT,
        settings INTEGER NOT NULL, worktree INTEGER NOT NULL, has_words INTEGER NOT NULL,
        made_from TEXT,
        UNIQUE (root, inside)
    );
    CREATE INDEX unsettled ON documents (id) WHERE settled = 0;
    CREATE INDEX waiting ON documents (id) WHERE waits IS NOT NULL;
    CREATE INDEX made ON documents (id) WHERE made_from IS NOT NULL;
    CREATE TABLE judged (
        path BLOB PRIMARY KEY, document BLOB NOT NULL, head TEXT, judged TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE VIRTUAL TABLE words USING fts5 (
        name, header, body, content = '', contentless_delete = 1, tokenize = 'ascii'
    );
    -- Many documents are sorted in memory at once when an index is made.
    INSERT INTO words (words, rank) VALUES ('hashsize', 33554432);
";

/// Opens an index of this version, or creates one if there is none.
pub(super) fn open(
    folder: &Root,
    name: &str,
    patience: WaitPolicy,
) -> Result<Connection, IndexError> {
    let path = folder.path().join(name);
    folder.prepare_private(Path::new(name))?;
    let mut connection = connect(&path, patience)?;
    match version(&connection)? {
        VERSION => Ok(connection),
        0 => {
            initialize(&mut connection, folder, name)?;
            Ok(connection)
        }
        _ => Err(IndexError::Database(rusqlite::Error::InvalidQuery)),
    }
}

/// Deletes an index and creates another one. A process that has the old one open keeps using the
/// unlinked file, which does no harm.
pub(super) fn recreate(
    folder: &Root,
    name: &str,
    patience: WaitPolicy,
) -> Result<Connection, IndexError> {
    {
        let _turn = Lock::acquire(folder, name)?;
        remove(folder, name);
    }
    open(folder, name, patience)
}

/// Removes an index and the files SQLite keeps next to it. Errors are ignored.
pub(super) fn remove(folder: &Root, name: &str) {
    for ending in ["", "-wal", "-shm", "-journal"] {
        let _ = files::remove(&folder.path().join(format!("{name}{ending}")));
    }
}

fn connect(path: &Path, patience: WaitPolicy) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(timeout(patience))?;
    sqlite_log::keep_on_close(&connection)?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    Ok(connection)
}

/// Creates the tables of a new index. SQLite does not wait for other processes when the journal
/// mode changes, so a lock makes processes that start at once take turns.
fn initialize(connection: &mut Connection, folder: &Root, name: &str) -> Result<(), IndexError> {
    let _turn = Lock::acquire(folder, name)?;
    // No sync: the index can be rebuilt, and a client may be waiting.
    connection.pragma_update(None, "synchronous", "OFF")?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if version(&transaction)? == 0 {
        transaction.execute_batch(SCHEMA)?;
        transaction.execute_batch(&format!("PRAGMA user_version = {VERSION}"))?;
    }
    transaction.commit()?;
    Ok(connection.pragma_update(None, "synchronous", "NORMAL")?)
}

fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Opens an index read-only, without creating it.
pub(super) fn connect_to_read(path: &Path) -> rusqlite::Result<Connection> {
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

/// Queries an index of this version without creating or changing it.
fn query_existing<T>(
    path: &Path,
    query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> Option<T> {
    let connection = connect_to_read(path).ok()?;
    (version(&connection).ok()? == VERSION).then(|| query(&connection).ok())?
}

pub(super) fn count_documents(path: &Path) -> Option<usize> {
    let count = |connection: &Connection| -> rusqlite::Result<i64> {
        connection.query_row("SELECT count(*) FROM documents", [], |row| row.get(0))
    };
    query_existing(path, count).and_then(|count| usize::try_from(count).ok())
}

/// The root of the project that an index covers.
pub(super) fn read_root(path: &Path) -> Option<PathBuf> {
    let root = |connection: &Connection| -> rusqlite::Result<Vec<u8>> {
        connection.query_row("SELECT value FROM facts WHERE name = 'root'", [], |row| row.get(0))
    };
    query_existing(path, root).map(|bytes| PathBuf::from(std::ffi::OsStr::from_bytes(&bytes)))
}
