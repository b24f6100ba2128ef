//! What there is to say about a ledger without making or changing one.

use super::sqlite::FILE;
use super::{LedgerFolder, NEWEST_VERSION, SqliteLedger, spool};
use crate::sys::files;
use crate::workspace::project::Project;
use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};

/// What there is to say about a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerHealth {
    /// The database.
    pub path: PathBuf,
    /// How it is.
    pub state: LedgerState,
    /// Where what cannot be appended in time is put aside.
    pub spool: PathBuf,
    /// How many files wait there.
    pub spooled: usize,
    /// How many there cannot be read.
    pub unreadable: usize,
}

/// How a ledger is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerState {
    /// There is none yet.
    Missing,
    /// It can be read.
    Readable {
        /// Its version.
        version: u32,
        /// How many records it has.
        records: usize,
    },
    /// A newer midstride made it.
    Newer {
        /// Its version.
        version: u32,
    },
    /// It cannot be used, and why.
    Unusable(String),
}

impl SqliteLedger {
    /// Looks at the ledger of a project, and makes none.
    pub fn health(project: &Project) -> LedgerHealth {
        let place = LedgerFolder::for_project(project);
        let path = place.path().join(FILE);
        let (spool, put_aside, unreadable) = spool::count_files(place.path());
        LedgerHealth { state: read_state(&path), path, spool, spooled: put_aside, unreadable }
    }
}

fn read_state(path: &Path) -> LedgerState {
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
