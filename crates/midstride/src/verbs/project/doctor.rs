//! Examines a project: what it has, and what is wrong with it.

mod clients;
pub(in crate::verbs) mod idle_cost;

pub use clients::{ClientFacts, examine_clients};
pub use idle_cost::{IdleCost, measure_idle_cost};

use crate::store::Store;
use crate::store::index::{Effort, Index, IndexError, IndexFacts, RefreshLimit};
use crate::store::ledger::{LedgerHealth, LocalLedger as _, WaitPolicy};
use crate::store::redaction::RedactionState;
use crate::sys::files::FileError;
use crate::verbs::brief::dismiss::{Dismissals, count_dismissals};
use crate::workspace::folder::FolderLayout;
use crate::workspace::folder::HandoffFolder;
use crate::workspace::{SetupMode, SkippedSetting};
use std::path::PathBuf;

/// A folder of handoffs and its documents.
#[derive(Debug)]
pub struct FolderFacts {
    /// Its path.
    pub path: PathBuf,
    /// How documents are arranged in it.
    pub layout: FolderLayout,
    /// How many documents it has, or why it cannot be read.
    pub documents: Result<usize, FileError>,
}

/// The report on a project.
#[derive(Debug)]
pub struct ProjectReport {
    /// The root folder.
    pub root: PathBuf,
    /// How it is set up.
    pub set_up: SetupMode,
    /// Its folders.
    pub folders: Vec<FolderFacts>,
    /// Configured folders that are not read, and why.
    pub not_read: Vec<SkippedSetting>,
    /// Why the configuration could not be loaded.
    pub config_error: Option<String>,
    /// Its ledger.
    pub ledger: LedgerHealth,
    /// Its index.
    pub index: IndexFacts,
    /// How many texts were forgotten.
    pub forgotten: usize,
    /// How many stored texts were redacted again after the rules changed.
    pub redacted: usize,
    /// What the last change of the rules found in what was stored before; `None` without a private
    /// folder.
    pub redaction: Option<RedactionState>,
    /// How much of what briefings said was dismissed.
    pub dismissals: Dismissals,
    /// Why texts of uncommitted handoffs are still in the project's repository.
    pub move_error: Option<String>,
    /// How many of them are still in its packs.
    pub packed_texts: usize,
}

/// Whether the folder does not exist yet.
fn is_late(folder: &HandoffFolder) -> bool {
    folder.root().is_err_and(|error| error.is_missing())
}

/// Examines a project without changing anything, except that opening its ledger moves what earlier
/// versions stored elsewhere.
pub fn examine(store: &Store) -> ProjectReport {
    let workspace = store.workspace();
    let moved = match store.existing_ledger() {
        Ok(Some(_)) => store.move_private_texts(&|_| ()),
        // An unreadable ledger is reported separately.
        Ok(None) | Err(_) => Ok(()),
    };
    let packed_texts = store.packed_private_texts();
    let folder = |folder: &HandoffFolder| FolderFacts {
        path: folder.root_path().join(folder.pattern()),
        layout: folder.layout(),
        documents: folder.documents().map(|documents| documents.len()),
    };
    ProjectReport {
        root: workspace.root().path().to_owned(),
        set_up: workspace.setup(),
        folders: workspace.folders().iter().filter(|one| !is_late(one)).map(folder).collect(),
        not_read: workspace.skipped_settings().to_vec(),
        config_error: workspace.broken_configuration().map(ToString::to_string),
        ledger: LedgerHealth::read(workspace),
        index: Index::facts(workspace),
        forgotten: store.known_tombstones().len(),
        redacted: store
            .existing_ledger()
            .ok()
            .flatten()
            .map_or(0, |ledger| ledger.count_redacted().unwrap_or_default()),
        redaction: workspace.redaction_state(),
        // An unreadable ledger is reported separately.
        dismissals: count_dismissals(store).unwrap_or_default(),
        packed_texts: packed_texts.as_ref().copied().unwrap_or_default(),
        move_error: moved.and(packed_texts.map(|_| ())).err().map(|error| error.to_string()),
    }
}

/// The result of rebuilding the index.
#[derive(Debug)]
pub struct ReindexOutcome {
    /// How many documents were indexed.
    pub documents: usize,
    /// How many indexes of deleted worktrees were removed.
    pub removed: usize,
    /// The files that could not be read.
    pub unread: Vec<FileError>,
}

/// Rebuilds the index of a project. `progress` gets the number of documents read and their total.
pub fn reindex(
    store: &Store,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<ReindexOutcome, IndexError> {
    let workspace = store.workspace();
    if workspace.setup() == SetupMode::NotSetUp {
        return Err(IndexError::NotSetUp);
    }
    store.close_index();
    let removed = Index::remove_orphaned(workspace)?;
    let mut index = Index::open_empty(workspace, WaitPolicy::Command)?;
    let freshness = index.refresh(workspace, Effort::Fresh, RefreshLimit::default(), progress)?;
    Ok(ReindexOutcome { documents: index.documents()?, removed, unread: freshness.unread })
}
