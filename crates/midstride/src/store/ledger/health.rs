//! The health of a ledger, read without creating or changing one.

use super::sqlite::{FILE, is_set_up, require_database};
use super::{DatabaseError, LedgerFolder, NEWEST_VERSION, spool};
use crate::sys::files;
use crate::workspace::Workspace;
use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};

/// The health of a ledger and its spool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerHealth {
    /// The database file.
    pub path: PathBuf,
    /// The state of the database.
    pub state: LedgerState,
    /// The folder for events that a hook could not append in time.
    pub spool: PathBuf,
    /// Number of files waiting there.
    pub spooled: usize,
    /// Number of files there that cannot be read.
    pub unreadable: usize,
}

/// The state of a ledger database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerState {
    /// It does not exist yet.
    Missing,
    /// It can be read.
    Readable {
        /// Its schema version.
        version: u32,
        /// Number of records in it.
        records: usize,
    },
    /// A newer midstride created it.
    Newer {
        /// Its schema version.
        version: u32,
    },
    /// It cannot be used, with the reason.
    Unusable(String),
}

impl LedgerHealth {
    /// Checks the ledger of a project without creating one.
    pub(crate) fn read(workspace: &Workspace) -> Self {
        let place = LedgerFolder::for_project(workspace);
        let path = place.path().join(FILE);
        if !place.is_readable(workspace) {
            let spool = spool::path(place.path());
            let state = LedgerState::Missing;
            return LedgerHealth { path, state, spool, spooled: 0, unreadable: 0 };
        }
        let (spool, spooled, unreadable) = spool::count_files(place.path());
        let mut state = read_state(&path);
        if matches!(state, LedgerState::Readable { version: 0, .. }) && is_set_up(place.path()) {
            state =
                LedgerState::Unusable(DatabaseError::Emptied { path: path.clone() }.to_string());
        }
        LedgerHealth { path, state, spool, spooled, unreadable }
    }
}

fn read_state(path: &Path) -> LedgerState {
    if let Err(error) = require_database(path) {
        return LedgerState::Unusable(error.to_string());
    }
    if !files::exists(path) {
        return LedgerState::Missing;
    }
    let read = || -> rusqlite::Result<(u32, i64)> {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let version = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        let sql = "SELECT count(*) FROM records";
        let records = if version == NEWEST_VERSION {
            connection.query_row(sql, [], |row| row.get(0))?
        } else {
            0
        };
        Ok((version, records))
    };
    match read() {
        Ok((version, _)) if version > NEWEST_VERSION => LedgerState::Newer { version },
        Ok((version, records)) => {
            LedgerState::Readable { version, records: usize::try_from(records).unwrap_or(0) }
        }
        Err(error) => {
            LedgerState::Unusable(format!("`{}` cannot be read: {error}", path.display()))
        }
    }
}
