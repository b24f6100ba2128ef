//! Look at a project from outside: what is where, and what is wrong with it.

mod clients;
mod idle_cost;

pub use clients::{ClientFacts, examine_clients};
pub use idle_cost::{IdleCost, measure_idle_cost};

use crate::store::index::{Effort, Index, IndexError, IndexFacts, RefreshLimit};
use crate::store::ledger::{LedgerHealth, SqliteLedger, WaitPolicy};
use crate::sys::files::FileError;
use crate::verbs::brief::dismiss::{Dismissals, count_dismissals};
use crate::workspace::folder::FolderLayout;
use crate::workspace::project::{Project, SetupMode, SkippedSetting};
use std::path::PathBuf;

/// A shelf, and what lies on it.
#[derive(Debug)]
pub struct FolderFacts {
    /// Where it is.
    pub path: PathBuf,
    /// How documents lie on it.
    pub layout: FolderLayout,
    /// How many there are, or why nobody can tell.
    pub documents: Result<usize, FileError>,
}

/// What there is to say about a project.
#[derive(Debug)]
pub struct ProjectReport {
    /// The root folder.
    pub root: PathBuf,
    /// How it was set up.
    pub set_up: SetupMode,
    /// Its shelves.
    pub folders: Vec<FolderFacts>,
    /// What is configured but not read, and why.
    pub not_read: Vec<SkippedSetting>,
    /// Why nothing that is configured holds.
    pub config_error: Option<String>,
    /// Its ledger.
    pub ledger: LedgerHealth,
    /// Its index.
    pub index: IndexFacts,
    /// How many texts were forgotten.
    pub forgotten: usize,
    /// What was dismissed of what briefings said.
    pub dismissals: Dismissals,
}

/// Looks at everything and changes nothing.
pub fn examine(project: &Project) -> ProjectReport {
    let shelf = |shelf: &crate::workspace::folder::HandoffFolder| FolderFacts {
        path: shelf.root().path().join(shelf.pattern()),
        layout: shelf.layout(),
        documents: shelf.documents().map(|documents| documents.len()),
    };
    ProjectReport {
        root: project.root().path().to_owned(),
        set_up: project.setup(),
        folders: project.folders().iter().map(shelf).collect(),
        not_read: project.skipped_settings().to_vec(),
        config_error: project.broken_configuration().map(ToString::to_string),
        ledger: SqliteLedger::health(project),
        index: Index::facts(project),
        forgotten: project.known_tombstones().len(),
        // A ledger that cannot be read is a problem of its own.
        dismissals: count_dismissals(project).unwrap_or_default(),
    }
}

/// What was indexed.
#[derive(Debug)]
pub struct ReindexOutcome {
    /// How many documents.
    pub documents: usize,
    /// How many indexes of worktrees that are gone were removed.
    pub removed: usize,
    /// What could not be read.
    pub unread: Vec<FileError>,
}

/// Makes the index of a project anew. Whoever waits is told how many of how many were read.
pub fn reindex(
    project: &Project,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<ReindexOutcome, IndexError> {
    if project.setup() == SetupMode::NotSetUp {
        return Err(IndexError::NotSetUp);
    }
    let removed = Index::remove_orphaned(project)?;
    let mut index = Index::open_empty(project, WaitPolicy::Command)?;
    let freshness = index.refresh(project, Effort::Fresh, RefreshLimit::default(), progress)?;
    Ok(ReindexOutcome { documents: index.documents()?, removed, unread: freshness.unread })
}
