//! Look at a project from outside: what is where, and what is wrong with it.

mod clients;
mod idle;

pub use clients::{ClientFacts, examine_clients};
pub use idle::{Idle, idle};

use crate::store::index::{Effort, Index, IndexError, IndexFacts, Limit};
use crate::store::ledger::{LedgerFacts, Patience, SqliteLedger};
use crate::sys::files::FileError;
use crate::verbs::brief::dismiss::{Dismissals, dismissals};
use crate::workspace::project::{NotRead, Project, SetUp};
use crate::workspace::shelf::Layout;
use std::path::PathBuf;

/// A shelf, and what lies on it.
#[derive(Debug)]
pub struct ShelfFacts {
    /// Where it is.
    pub path: PathBuf,
    /// How documents lie on it.
    pub layout: Layout,
    /// How many there are, or why nobody can tell.
    pub documents: Result<usize, FileError>,
}

/// What there is to say about a project.
#[derive(Debug)]
pub struct Examined {
    /// The root folder.
    pub root: PathBuf,
    /// How it was set up.
    pub set_up: SetUp,
    /// Its shelves.
    pub shelves: Vec<ShelfFacts>,
    /// What is configured but not read, and why.
    pub not_read: Vec<NotRead>,
    /// Why nothing that is configured holds.
    pub broken: Option<String>,
    /// Its ledger.
    pub ledger: LedgerFacts,
    /// Its index.
    pub index: IndexFacts,
    /// How many texts were forgotten.
    pub forgotten: usize,
    /// What was dismissed of what briefings said.
    pub dismissals: Dismissals,
}

/// Looks at everything and changes nothing.
pub fn examine(project: &Project) -> Examined {
    let shelf = |shelf: &crate::workspace::shelf::Shelf| ShelfFacts {
        path: shelf.root().path().join(shelf.pattern()),
        layout: shelf.layout(),
        documents: shelf.documents().map(|documents| documents.len()),
    };
    Examined {
        root: project.root().path().to_owned(),
        set_up: project.set_up(),
        shelves: project.shelves().iter().map(shelf).collect(),
        not_read: project.not_read().to_vec(),
        broken: project.broken_configuration().map(ToString::to_string),
        ledger: SqliteLedger::facts(project),
        index: Index::facts(project),
        forgotten: project.known_tombstones().len(),
        // A ledger that cannot be read is a problem of its own.
        dismissals: dismissals(project).unwrap_or_default(),
    }
}

/// What was indexed.
#[derive(Debug)]
pub struct Reindexed {
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
) -> Result<Reindexed, IndexError> {
    if project.set_up() == SetUp::Not {
        return Err(IndexError::NotSetUp);
    }
    let removed = Index::remove_forsaken(project)?;
    let mut index = Index::open_empty(project, Patience::Command)?;
    let freshness = index.refresh(project, Effort::Fresh, Limit::default(), progress)?;
    Ok(Reindexed { documents: index.documents()?, removed, unread: freshness.unread })
}
