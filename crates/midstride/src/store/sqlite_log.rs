//! The logs that SQLite keeps beside its databases. Whoever opens a database that nobody has open
//! reads its log to the end, and hooks open two at each call: so a log is short. Written back each
//! time that a database is closed, it would be waited for each time: so it is not that short either.

use crate::sys::files;
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use std::path::Path;
use std::time::Duration;

/// A longer log is written back by whoever closes the database.
const BYTES_MAX: u64 = 256 << 10;

/// Leaves a log where it is when the database is closed: the last one to close it would write it back
/// and remove it, and the next one make it anew, four waits for the disk where one is needed.
pub(crate) fn keep_on_close(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map(drop)
}

/// Writes a long log back, for the last moment before a database is closed. Nobody is waited for:
/// where others are at work, one of them does it later.
pub(crate) fn truncate_if_long(connection: &Connection, database: &Path) {
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    if files::size(Path::new(&log)).is_none_or(|bytes| bytes <= BYTES_MAX) {
        return;
    }
    let _ = connection.busy_timeout(Duration::ZERO);
    let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
}
