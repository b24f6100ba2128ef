//! Errors of the ledger's database, which only this engine can have.

use crate::sys::files::FileError;
use midstride_ledger::LedgerError;
use std::path::PathBuf;

/// Why the database of a ledger cannot be opened or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// A newer midstride created it; it was left untouched.
    #[error("`{}` has version {found}; this midstride supports {known}", path.display())]
    Newer {
        /// The database.
        path: PathBuf,
        /// The version of the database.
        found: u32,
        /// The newest version this midstride supports.
        known: u32,
    },
    /// The file is not a ledger or is damaged.
    #[error("`{}` cannot be read: {message}", path.display())]
    Damaged {
        /// The database, or a file of a large blob.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// The database was set up before and has no schema now.
    #[error("`{}` was set up earlier and is now empty", path.display())]
    Emptied {
        /// The database.
        path: PathBuf,
    },
    /// The database is missing or empty, and its log has data. Neither was touched.
    #[error(
        "`{}` is {}, but its log `{}` has data",
        path.display(),
        if *is_missing { "missing" } else { "empty" },
        log.display()
    )]
    OrphanedLog {
        /// The database.
        path: PathBuf,
        /// Its write-ahead log.
        log: PathBuf,
        /// Whether the database is missing; otherwise it is empty.
        is_missing: bool,
    },
}

impl From<DatabaseError> for LedgerError {
    fn from(error: DatabaseError) -> Self {
        Self::Engine(Box::new(error))
    }
}

impl From<FileError> for LedgerError {
    fn from(error: FileError) -> Self {
        Self::Engine(Box::new(error))
    }
}
