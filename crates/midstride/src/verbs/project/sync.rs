//! Share the earlier texts of committed handoffs, and the tasks, with another repository. Never by
//! itself.

mod events;
mod tasks;
mod tombstones;

pub use tasks::TaskSyncOutcome;

use crate::journal::uid_file_name;
use crate::store::ledger::LedgerError;
use crate::store::revisions::{PRIVATE, SHARED};
use crate::store::tombstone::Tombstone;
use crate::sys::files::FileError;
use crate::sys::git::{ExchangeReport, GitError, RefExchange, Repository};
use crate::verbs::task::TaskError;
use crate::workspace::project::{Project, StoredHandoff};
use std::collections::{BTreeSet, HashSet};

/// What was shared, and with whom.
#[derive(Debug)]
pub struct SyncOutcome {
    /// The name of the other repository.
    pub remote: String,
    /// What went where.
    pub exchanged: ExchangeReport,
    /// What became of the tasks.
    pub tasks: TaskSyncOutcome,
    /// What others forgot, and is gone here now.
    pub forgotten: Vec<Tombstone>,
    /// How many tombstones the other repository did not have.
    pub tombstones_sent: usize,
}

/// Why nothing was shared.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// There is no repository.
    #[error("this is no git repository, so there is nobody to share with")]
    NoRepository,
    /// No other repository is known.
    #[error("this repository knows no other one")]
    NoRemote,
    /// Several are known and none is named `origin`.
    #[error("which repository is meant: {}?", .0.join(", "))]
    WhichRemote(Vec<String>),
    /// There is no such remote.
    #[error("there is no remote `{wanted}`")]
    UnknownRemote {
        /// What was asked for.
        wanted: String,
        /// What there is.
        known: Vec<String>,
    },
    /// Git cannot say what is here.
    #[error(transparent)]
    Local(GitError),
    /// The other repository could not be reached, or said no.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The ledger with the tasks cannot be used.
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

/// Fetches the texts and tasks that are not here, and pushes those that are not there. What somebody
/// forgot goes first, so that neither side brings it back.
pub fn sync(project: &Project, remote: Option<&str>) -> Result<SyncOutcome, SyncError> {
    let repository = project.repository().ok_or(SyncError::NoRepository)?;
    let remote = choose_remote(repository.remotes().map_err(SyncError::Local)?, remote)?;
    let committed = committed_uids(project, repository).map_err(SyncError::Local)?;
    let may_go = |name: &str| committed.contains(name);
    let met = tombstones::exchange(project, repository, &remote);
    let tombstones = project.tombstones()?;
    let forgotten: BTreeSet<String> = tombstones.keys().cloned().collect();
    project.drop_texts(&forgotten).map_err(SyncError::Local)?;
    let loose = repository.loose(&forgotten);
    let what =
        RefExchange { prefix: SHARED, private: PRIVATE, may_send: &may_go, forgotten: &forgotten };
    let done = met.and_then(|met| {
        let exchanged = repository.exchange(&remote, &what)?;
        let tasks = tasks::exchange(project, repository, &remote)?;
        let learned = met.received.iter().filter_map(|stream| tombstones.get(stream.text_hash()?));
        let forgotten = learned.cloned().collect();
        Ok(SyncOutcome { remote, exchanged, tasks, forgotten, tombstones_sent: met.sent.len() })
    });
    // What a run noted that was cut short goes with the next one.
    repository.remove_fetched_refs().map_err(SyncError::Local)?;
    // A repository that still had what was forgotten sent it along.
    let came = repository.loose(&forgotten).difference(&loose).cloned().collect();
    repository.remove_blobs(&came).map_err(SyncError::Local)?;
    done
}

/// The handoffs that git has been told of: a draft that nobody committed is not for others yet.
fn committed_uids(project: &Project, repository: &Repository) -> Result<HashSet<String>, GitError> {
    let tracked = repository.tracked_markdown()?;
    let uid_of = |shelved: StoredHandoff| {
        let inside = project.path_in_work_tree(&shelved)?;
        let uid = shelved.handoff(project).uid()?;
        tracked.contains(&inside).then(|| uid_file_name(uid.value))
    };
    Ok(project.read_all().into_iter().filter_map(Result::ok).filter_map(uid_of).collect())
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
