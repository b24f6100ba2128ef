//! Shares earlier texts of committed handoffs, and tasks, with another repository. Only on request.

mod events;
mod tasks;
mod tombstones;

pub use tasks::TaskSyncOutcome;

use crate::store::Store;
use crate::store::ledger::LedgerError;
use crate::store::text_refs::SHARED;
use crate::store::tombstone::Tombstone;
use crate::sys::files::{FileError, Lock};
use crate::sys::git::{ExchangeReport, GitError, RefExchange};
use crate::verbs::task::TaskError;
use midstride_core::text::id::BlobHash;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The result of a sync.
#[derive(Debug)]
pub struct SyncOutcome {
    /// The name of the remote.
    pub remote: String,
    /// What was sent and received.
    pub exchanged: ExchangeReport,
    /// The result for the tasks.
    pub tasks: TaskSyncOutcome,
    /// Texts that were newly forgotten elsewhere. They are still here until the user confirms.
    pub proposals: Vec<Tombstone>,
    /// How many tombstones the remote did not have.
    pub tombstones_sent: usize,
}

/// Why nothing was shared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SyncError {
    /// There is no repository.
    #[error("this is not a git repository, so there is no remote to share with")]
    NoRepository,
    /// The policy of the machine, in this file, forbids it.
    #[error("this machine's policy (`{}`) forbids `midstride sync`", .0.display())]
    Forbidden(PathBuf),
    /// The user does not trust the project, and sessions would be briefed on what is received.
    #[error(
        "this project is not trusted, and after a sync, sessions would be briefed on tasks from \
         other clones"
    )]
    Untrusted,
    /// The repository has no remote.
    #[error("this repository has no remote")]
    NoRemote,
    /// There are several remotes, and none is named `origin`.
    #[error("which remote: {}?", .0.join(", "))]
    WhichRemote(Vec<String>),
    /// There is no such remote.
    #[error("there is no remote `{wanted}`")]
    UnknownRemote {
        /// The name that was given.
        wanted: String,
        /// The remotes that exist.
        known: Vec<String>,
    },
    /// A local git command failed.
    #[error(transparent)]
    Local(GitError),
    /// The remote could not be reached, or refused.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The ledger with the tasks failed.
    #[error(transparent)]
    Tasks(#[from] TaskError),
}

impl From<LedgerError> for SyncError {
    fn from(error: LedgerError) -> Self {
        Self::Tasks(error.into())
    }
}

impl From<FileError> for SyncError {
    fn from(error: FileError) -> Self {
        Self::Tasks(error.into())
    }
}

/// Fetches missing texts and tasks, and pushes those the remote lacks. Forgotten texts are handled
/// first, so that neither side restores them. What others forgot is proposed to the user.
pub fn sync(store: &Store, remote: Option<&str>) -> Result<SyncOutcome, SyncError> {
    let workspace = store.workspace();
    if let Some(policy) = workspace.sync_policy() {
        return Err(SyncError::Forbidden(policy.to_owned()));
    }
    let repository = workspace.repository().ok_or(SyncError::NoRepository)?;
    let remote = choose_remote(repository.remotes().map_err(SyncError::Local)?, remote)?;
    if !workspace.is_trusted() {
        return Err(SyncError::Untrusted);
    }
    // Fetched references have the same names for every process.
    let _alone = Lock::acquire(&workspace.make_private()?, "sync")?;
    // A draft that is not committed yet is not shared.
    let (committed, _) = store.uids_by_commit().map_err(SyncError::Local)?;
    let may_go = |name: &str| committed.contains(name);
    let met = tombstones::exchange(store, repository, &remote);
    let tombstones = store.tombstones()?;
    let forgotten: BTreeSet<BlobHash> = tombstones.keys().cloned().collect();
    store.drop_texts(&forgotten).map_err(SyncError::Local)?;
    let waiting = store.share_committed_texts(&may_go).map_err(SyncError::Local)?;
    let loose = repository.loose(&forgotten);
    let proposals = store.forget_proposals()?;
    // Private texts are not sent, and what others forgot is not sent back to them.
    let mut withheld = store.private_text_ids().map_err(SyncError::Local)?;
    withheld.extend(proposals.keys().cloned());
    let what = RefExchange {
        prefix: SHARED,
        may_send: &may_go,
        forgotten: &forgotten,
        withheld: &withheld,
    };
    let done = met.and_then(|met| {
        let mut exchanged = repository.exchange(&remote, &what)?;
        exchanged.held_back += waiting;
        let mut tasks = tasks::exchange(store, repository, &remote)?;
        tasks.newer += met.newer;
        let new = met.received.iter().filter_map(|stream| proposals.get(&stream.text_hash()?));
        let proposals = new.cloned().collect();
        Ok(SyncOutcome { remote, exchanged, tasks, proposals, tombstones_sent: met.sent.len() })
    });
    // Clean up refs that an interrupted run left.
    repository.remove_fetched_refs().map_err(SyncError::Local)?;
    // A remote that still had forgotten texts sent them along. Remove them again.
    let came = repository.loose(&forgotten).difference(&loose).cloned().collect();
    repository.remove_blobs(&came).map_err(SyncError::Local)?;
    done
}

fn choose_remote(known: Vec<String>, wanted: Option<&str>) -> Result<String, SyncError> {
    match (wanted, known.as_slice()) {
        (Some(wanted), _) if known.iter().any(|name| name == wanted) => Ok(wanted.to_owned()),
        (Some(wanted), _) => Err(SyncError::UnknownRemote { wanted: wanted.to_owned(), known }),
        (None, []) => Err(SyncError::NoRemote),
        (None, [one]) => Ok(one.clone()),
        (None, several) if several.iter().any(|name| name == "origin") => Ok("origin".to_owned()),
        (None, _) => Err(SyncError::WhichRemote(known)),
    }
}
