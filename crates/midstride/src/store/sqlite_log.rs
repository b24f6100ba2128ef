//! Limits the size of SQLite's write-ahead logs. A process that opens an idle database reads its
//! whole log, and each hook call opens two databases, so a log must be short. Writing it back on
//! every close would cost a sync each time, so it is not kept empty either.

use crate::sys::files;
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A longer log is written back when the database is closed.
const BYTES_MAX: u64 = 256 << 10;

/// Keeps the log when the database is closed. Otherwise the last process to close it would write
/// the log back and remove it, and the next one would create it again: four syncs instead of one.
pub(crate) fn keep_on_close(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map(drop)
}

/// The log of a database.
pub(crate) fn path(database: &Path) -> PathBuf {
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    log.into()
}

/// Whether the log of a database has anything in it.
pub(crate) fn has_data(database: &Path) -> bool {
    files::size(&path(database)).is_some_and(|bytes| bytes > 0)
}

/// Writes a long log back just before a database is closed. It does not wait: if other processes
/// are using the database, one of them does it later.
pub(crate) fn truncate_if_long(connection: &Connection, database: &Path) {
    if files::size(&path(database)).is_none_or(|bytes| bytes <= BYTES_MAX) {
        return;
    }
    let _ = connection.busy_timeout(Duration::ZERO);
    let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
}
