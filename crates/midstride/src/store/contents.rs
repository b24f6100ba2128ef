//! Counts what is in a private store that the user has not trusted yet, so that they can decide. Links
//! are not followed, and the database is only read.

use super::interrupt::with_timeout;
use super::ledger::{LEDGER_FILE, StreamId, require_database};
use crate::sys::files::{FileError, FileProblem, Root};
use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::time::Duration;

/// The database is untrusted, so counting in it may take any time.
const COUNT_TIMEOUT: Duration = Duration::from_secs(2);
/// How deep handoffs are in a store.
const HANDOFF_DEPTH: usize = 2;

/// How much is in a private store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreContents {
    /// How many handoffs.
    pub handoffs: usize,
    /// How many tasks; `None` if the ledger cannot be read.
    pub tasks: Option<usize>,
    /// How many captured sessions; `None` if the ledger cannot be read.
    pub sessions: Option<usize>,
}

/// Counts what is in the store at a path.
pub(crate) fn count_contents(path: &Path) -> Result<StoreContents, FileError> {
    let above = Root::open(path.parent().unwrap_or(path))?;
    if path.file_name().is_some_and(|name| above.is_link(Path::new(name))) {
        return Err(FileError { path: path.to_owned(), problem: FileProblem::Outside });
    }
    let folder = Root::open(path)?;
    let handoffs = folder.markdown_below(Path::new("handoffs"), HANDOFF_DEPTH)?.len();
    let database = Path::new(LEDGER_FILE);
    if require_database(&path.join(database)).is_err() {
        return Ok(StoreContents { handoffs, tasks: None, sessions: None });
    }
    if !folder.is_link(database) && !folder.exists(database) {
        return Ok(StoreContents { handoffs, tasks: Some(0), sessions: Some(0) });
    }
    let counted = if folder.is_link(database) { None } else { count_streams(&path.join(database)) };
    let (tasks, sessions) = counted.unzip();
    Ok(StoreContents { handoffs, tasks, sessions })
}

/// How many tasks and sessions a ledger has.
fn count_streams(path: &Path) -> Option<(usize, usize)> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
    connection.pragma_update(None, "trusted_schema", false).ok()?;
    let is_table = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'records'";
    let sql = "SELECT count(DISTINCT stream) FROM records
               WHERE stream >= ?1 AND stream < ?1 || char(1114111)";
    let count = |prefix: &str| -> rusqlite::Result<i64> {
        connection.query_row(sql, [prefix], |row| row.get(0))
    };
    let counts = with_timeout(&connection, COUNT_TIMEOUT, || -> rusqlite::Result<_> {
        // A view could compute anything.
        connection.query_row(is_table, [], |_| Ok(()))?;
        Ok((count(StreamId::TASKS)?, count(StreamId::SESSIONS)?))
    });
    let (tasks, sessions) = counts.ok()?;
    let number = |count: i64| usize::try_from(count).ok();
    number(tasks).zip(number(sessions))
}
