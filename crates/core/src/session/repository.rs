//! The state of a git repository when it was observed: what moved `HEAD`, the commits that
//! resulted, and uncommitted files.
//!
//! Every value here has the time it was observed. The caller reads git's files and runs git.

mod history;
mod reflog;
mod work_tree;

pub use history::{RefTips, ReflogCommit, ReflogCommitState, reflog_commits};

pub use reflog::{RebaseStep, ReflogAction, ReflogEntry, is_commit_id, name_branches};
pub use work_tree::{
    FileStatus, GitOperation, LaterCommits, LoggedCommit, MergedBranch, Observation,
    UncommittedFile, Upstream, WorkTreeState,
};
