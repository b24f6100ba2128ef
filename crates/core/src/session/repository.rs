//! A git repository as it was observed: what moved `HEAD`, which commits that made, and what is
//! uncommitted.
//!
//! Everything here is a value with the time it was observed. Reading the files of git and running
//! git is up to the caller.

mod history;
mod reflog;
mod work_tree;

pub use history::{CommitParents, RefTips, ReflogCommit, ReflogCommitState, reflog_commits};
pub use reflog::{RebaseStep, ReflogAction, ReflogEntry, is_commit_id, name_branches};
pub use work_tree::{
    FileStatus, GitOperation, LaterCommits, LoggedCommit, MergedBranch, Observation,
    UncommittedFile, Upstream, WorkTreeState,
};
