//! The search index: which words occur in which document. It is derived data and can be deleted at
//! any time.
//!
//! The files are the source of truth: index entries are checked against the files before they are
//! used. If the index cannot be used, the documents are scanned instead, with the same results.

mod briefable;
mod card;
mod checked_document;
mod limit;
mod newest;
mod refresh;
mod root;
mod scan;
mod schema;
mod search;
mod seed;

pub(crate) use briefable::retain_briefable;
pub use card::{Filter, HandoffRouting, IndexCard};
pub(crate) use checked_document::CheckedDocument;
pub use limit::{IndexProgress, RefreshLimit};
pub use refresh::{Effort, Freshness};
pub use scan::scan;
pub(crate) use scan::scan_terms;
pub(crate) use scan::{OpenHandoffs, match_document, scan_open};
pub(crate) use search::TermHits;

use crate::store::ledger::{LedgerFolder, WaitPolicy};
use crate::store::sqlite_log;
use crate::sys::files::{self, FileError, Lock, Root};
use crate::sys::ids::sha256;
use crate::workspace::{DocumentPlace, Workspace};
use midstride_core::brief::search::Tier;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A document that a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentHit {
    /// Where the document is.
    pub spot: DocumentPlace,
    /// How it ranks.
    pub tier: Tier,
    /// The metadata it is sorted and filtered by.
    pub card: IndexCard,
}

/// Why the index cannot answer. Callers need not report it: they can scan the documents instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// The project is not set up, and midstride writes nothing to a project that is not.
    #[error("this project is not set up, so it has no index")]
    NotSetUp,
    /// The time limit passed.
    #[error("the index timed out")]
    TimedOut,
    /// The database could not be read or written.
    #[error("the index cannot be used: {0}")]
    Database(rusqlite::Error),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

impl From<rusqlite::Error> for IndexError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::OperationInterrupted) => Self::TimedOut,
            _ => Self::Database(error),
        }
    }
}

impl IndexError {
    /// Whether recreating the index would help.
    pub(crate) fn is_damaged(&self) -> bool {
        matches!(self, Self::Database(error) if !schema::is_busy(error))
    }

    /// Whether another process holds the write lock.
    fn is_busy(&self) -> bool {
        matches!(self, Self::Database(error) if schema::is_busy(error))
    }
}

/// The index of a project.
#[derive(Debug)]
pub struct Index {
    connection: Connection,
    folder: Root,
    name: String,
    /// The id of the worktree that the index covers.
    worktree: i64,
    /// Whether another process completes what the last refresh left undone.
    is_finished_elsewhere: bool,
}

/// Status of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexFacts {
    /// The database file.
    pub path: PathBuf,
    /// Number of documents in it; `None` if the index is missing or unreadable.
    pub documents: Option<usize>,
    /// Its size, including SQLite's log files.
    pub bytes: u64,
    /// Time since it last changed.
    pub age: Option<Duration>,
}

impl Drop for Index {
    fn drop(&mut self) {
        // The process that completes the index also truncates its log.
        if !self.is_finished_elsewhere {
            sqlite_log::truncate_if_long(&self.connection, &self.folder.path().join(&self.name));
        }
    }
}

impl Index {
    /// Opens the index of a project, creating it if it is missing. A damaged index, or one from
    /// another version, is deleted and recreated.
    pub fn open(workspace: &Workspace, patience: WaitPolicy) -> Result<Self, IndexError> {
        let folder = LedgerFolder::for_project(workspace).create(workspace)?;
        let name = index_name(workspace.root().path());
        seed::copy_from_worktree(workspace, &folder, &name, patience)?;
        match schema::open(&folder, &name, patience) {
            Ok(connection) => Ok(Self::new(connection, folder, name)),
            Err(error) if error.is_damaged() => Self::open_empty(workspace, patience),
            Err(error) => Err(error),
        }
    }

    /// Opens an empty index, deleting any existing one.
    pub fn open_empty(workspace: &Workspace, patience: WaitPolicy) -> Result<Self, IndexError> {
        let folder = LedgerFolder::for_project(workspace).create(workspace)?;
        let name = index_name(workspace.root().path());
        let connection = schema::recreate(&folder, &name, patience)?;
        Ok(Self::new(connection, folder, name))
    }

    fn new(connection: Connection, folder: Root, name: String) -> Self {
        let hash = name.trim_start_matches(PREFIX).trim_end_matches(SUFFIX);
        let worktree = i64::from_str_radix(hash, 16).unwrap_or_default();
        Self { connection, folder, name, worktree, is_finished_elsewhere: false }
    }

    /// Takes the lock to complete the index of a project; `None` if another process holds it.
    pub(crate) fn lock_to_finish(workspace: &Workspace) -> Result<Option<Lock>, IndexError> {
        let folder = LedgerFolder::for_project(workspace).create(workspace)?;
        let name = index_name(workspace.root().path());
        Ok(Lock::try_acquire(&folder, &format!("{name}.finish"))?)
    }

    /// Returns the status of the index of a project without creating one.
    pub fn facts(workspace: &Workspace) -> IndexFacts {
        let path = index_path(workspace);
        if !LedgerFolder::for_project(workspace).is_readable(workspace) {
            return IndexFacts { path, documents: None, bytes: 0, age: None };
        }
        // SQLite keeps its log and shared memory in files next to the database.
        let beside = |ending: &str| PathBuf::from(format!("{}{ending}", path.display()));
        let bytes = |ending| files::size(&beside(ending)).unwrap_or(0);
        IndexFacts {
            documents: schema::count_documents(&path),
            bytes: ["", "-wal", "-shm"].map(bytes).iter().sum(),
            age: files::age(&path),
            path,
        }
    }

    /// Removes the indexes of deleted worktrees and returns how many there were.
    pub(crate) fn remove_orphaned(workspace: &Workspace) -> Result<usize, IndexError> {
        let forsaken =
            |path: &Path| schema::read_root(path).is_some_and(|root| !files::exists(&root));
        Self::remove_matching(workspace, &forsaken)
    }

    /// Removes the indexes of all worktrees; the next search recreates them.
    pub(crate) fn remove_all(workspace: &Workspace) -> Result<usize, IndexError> {
        Self::remove_matching(workspace, &|_| true)
    }

    fn remove_matching(
        workspace: &Workspace,
        wanted: &dyn Fn(&Path) -> bool,
    ) -> Result<usize, IndexError> {
        let folder = LedgerFolder::for_project(workspace).create(workspace)?;
        let mut removed = 0;
        for name in folder.names(SUFFIX)? {
            let name = name.to_string_lossy().into_owned();
            if name.starts_with(PREFIX) && wanted(&folder.path().join(&name)) {
                let _turn = Lock::acquire(&folder, &name)?;
                schema::remove(&folder, &name);
                removed += 1;
            }
        }
        Ok(removed)
    }
}

const PREFIX: &str = "index-";
const SUFFIX: &str = ".db";

/// The file name of the index of a worktree. Each worktree has its own documents and so its own
/// index, in the folder of the ledger that all worktrees share.
fn index_name(root: &Path) -> String {
    const LETTERS: usize = 12;
    let hash = sha256(files::canonical(root).as_os_str().as_encoded_bytes());
    format!("{PREFIX}{}{SUFFIX}", &hash[..LETTERS])
}

fn index_path(workspace: &Workspace) -> PathBuf {
    LedgerFolder::for_project(workspace).path().join(index_name(workspace.root().path()))
}
