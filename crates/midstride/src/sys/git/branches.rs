//! The state of branches: whether one still exists, read without starting git, and which are
//! merged.

use super::Repository;
use super::run::GitError;
use super::status::output_within;
use crate::sys::files;
use crate::sys::process::ProcessLimits;
use jiff::Timestamp;
use midstride_core::session::repository::{
    MergedBranch, RebaseStep, ReflogAction, ReflogEntry, is_commit_id,
};
use midstride_core::text::id::CommitId;
use std::cell::OnceCell;

/// Maximum number of symbolic references to follow. More are a cycle.
const LINKS_MAX: usize = 5;
/// Maximum number of merged branches kept.
const MERGED_MAX: usize = 200;
/// Common names of a default branch, for when `origin` does not name one.
const DEFAULT_BRANCH_NAMES: [&str; 2] = ["main", "master"];

/// What happened to a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BranchState {
    /// It exists.
    Exists,
    /// It exists, and another branch contains its commits.
    Merged(MergedBranch),
    /// It was renamed.
    Renamed(String),
    /// It was checked out here and no longer exists.
    Deleted,
}

/// The states of several branches. The log of the working tree is read once, and only if a branch
/// is missing.
pub struct Branches<'r> {
    repository: &'r Repository,
    log: OnceCell<Vec<ReflogEntry>>,
}

impl Branches<'_> {
    /// The state of a branch, from git's files alone. `None` if they do not show it: no branch of
    /// this name was checked out here recently, or git stores references in another format.
    pub fn state(&self, branch: &str) -> Option<BranchState> {
        let repository = self.repository;
        // Clients write `HEAD` for a detached commit.
        if branch == "HEAD" || files::is_folder(&repository.common_dir.join("reftable")) {
            return None;
        }
        repository.branch_file("refs/heads", branch)?;
        let is_unborn = || repository.branch().as_deref() == Some(branch);
        if repository.reference(&format!("refs/heads/{branch}")).is_some() || is_unborn() {
            return Some(BranchState::Exists);
        }
        let log = self.log.get_or_init(|| repository.recent_reflog());
        match repository.new_name_of(branch, log) {
            Some(name) => Some(BranchState::Renamed(name)),
            None => was_checked_out(branch, log).then_some(BranchState::Deleted),
        }
    }

    /// The commit that a branch points to.
    pub(crate) fn tip(&self, branch: &str) -> Option<CommitId> {
        self.repository.commit_of(&format!("refs/heads/{branch}"))
    }
}

impl Repository {
    /// The states of this repository's branches.
    pub fn branches(&self) -> Branches<'_> {
        Branches { repository: self, log: OnceCell::new() }
    }

    /// The state of one branch.
    pub fn branch_state(&self, branch: &str) -> Option<BranchState> {
        self.branches().state(branch)
    }

    /// The previous names of a branch, each with the time of the rename. Git moves the log of a
    /// branch along when it is renamed.
    pub fn former_names(&self, branch: &str) -> Vec<(String, Timestamp)> {
        let log = self.recent_branch_reflog(branch);
        let renames = log.into_iter().filter(|entry| entry.action == ReflogAction::Rename);
        let former = renames.filter_map(|entry| {
            let (from, _) =
                entry.subject.strip_prefix("renamed refs/heads/")?.split_once(" to refs/heads/")?;
            Some((from.to_owned(), entry.at))
        });
        former.filter(|(name, _)| name != branch).collect()
    }

    /// When a branch was merged into another one, according to that branch's log.
    pub(crate) fn merged_at(&self, merged: &MergedBranch) -> Option<Timestamp> {
        let log = self.branch_reflog(&merged.into, None);
        let brings = |entry: &&ReflogEntry| {
            entry.merged.as_ref() == Some(&merged.name)
                || (entry.action == ReflogAction::FastForward && entry.new == merged.tip)
        };
        log.iter().rev().find(brings).map(|entry| entry.at)
    }

    /// The new name of a renamed branch, if it still exists.
    fn new_name_of(&self, branch: &str, log: &[ReflogEntry]) -> Option<String> {
        let message = |name: &str| format!("renamed refs/heads/{branch} to refs/heads/{name}");
        let renames = log.iter().rev().filter(|entry| entry.action == ReflogAction::Rename);
        let names = renames.filter_map(|entry| entry.subject.rsplit_once("refs/heads/"));
        let found = names.map(|(_, name)| name).find(|name| {
            let is_its = log.iter().any(|entry| entry.subject == message(name));
            is_its && self.reference(&format!("refs/heads/{name}")).is_some()
        });
        found.map(str::to_owned)
    }

    /// The commit that a reference points to.
    pub fn commit_of(&self, reference: &str) -> Option<CommitId> {
        let mut name = reference.to_owned();
        for _ in 0..LINKS_MAX {
            let text = self.reference(&name)?;
            match text.strip_prefix("ref: ") {
                Some(next) => name = next.trim().to_owned(),
                None => return is_commit_id(&text).then(|| CommitId::new(text)),
            }
        }
        None
    }

    /// The branch that others are merged into: the one that `origin` names, or a common one.
    pub(crate) fn default_branch(&self) -> Option<String> {
        let named = self.reference("refs/remotes/origin/HEAD");
        let named =
            named.as_deref().and_then(|text| text.strip_prefix("ref: refs/remotes/origin/"));
        let is_there = |name: &&str| self.reference(&format!("refs/heads/{name}")).is_some();
        let usual = || DEFAULT_BRANCH_NAMES.into_iter().find(is_there);
        named.map(str::trim).or_else(usual).map(str::to_owned)
    }

    /// The local branches whose commits are in the default branch, here or at `origin`. Excludes
    /// branches without own commits and branches that are checked out, because work on them
    /// continues.
    pub(crate) fn merged_branches(
        &self,
        bounds: ProcessLimits,
    ) -> Result<Vec<MergedBranch>, GitError> {
        let Some(default) = self.default_branch() else { return Ok(Vec::new()) };
        let places = [format!("refs/heads/{default}"), format!("refs/remotes/origin/{default}")];
        let mut merged: Vec<MergedBranch> = Vec::new();
        let mut seen = Vec::new();
        for place in &places {
            let Some(tip) = self.commit_of(place).filter(|tip| !seen.contains(tip)) else {
                continue;
            };
            for (name, tip) in self.branches_contained_in(&tip, bounds)? {
                let is_known = name == default || merged.iter().any(|one| one.name == name);
                if !is_known && merged.len() < MERGED_MAX && self.has_own_commits(&name) {
                    merged.push(MergedBranch { name, tip, into: default.clone(), at: None });
                }
            }
            seen.push(tip);
        }
        Ok(merged)
    }

    /// Branches that are not checked out and whose commits are contained in a commit, with their
    /// tips.
    fn branches_contained_in(
        &self,
        commit: &CommitId,
        bounds: ProcessLimits,
    ) -> Result<Vec<(String, CommitId)>, GitError> {
        let merged = format!("--merged={commit}");
        let format = "--format=%(objectname) %(refname) %(worktreepath)";
        let listed = output_within(self, &["for-each-ref", &merged, format, "refs/heads"], bounds)?;
        let listed = String::from_utf8_lossy(&listed).into_owned();
        let free = listed.lines().filter_map(|line| {
            let mut words = line.splitn(3, ' ');
            let (tip, name) = (words.next()?, words.next()?.strip_prefix("refs/heads/")?);
            let is_free = words.next().is_none_or(str::is_empty);
            is_free.then(|| (name.to_owned(), CommitId::new(tip)))
        });
        Ok(free.collect())
    }

    /// Whether a commit was ever made on a branch, according to its log.
    fn has_own_commits(&self, branch: &str) -> bool {
        let makes = |action: ReflogAction| {
            matches!(
                action,
                ReflogAction::Commit
                    | ReflogAction::Amend
                    | ReflogAction::CherryPick
                    | ReflogAction::Revert
                    | ReflogAction::Merge
                    | ReflogAction::Rebase(RebaseStep::Finish)
            )
        };
        self.branch_reflog(branch, None).iter().any(|entry| makes(entry.action))
    }
}

/// Whether the log of a working tree shows that a branch was checked out in it.
fn was_checked_out(branch: &str, log: &[ReflogEntry]) -> bool {
    let mut moves = log.iter().filter(|entry| entry.action == ReflogAction::Checkout);
    moves.any(|entry| {
        let moved = entry.subject.strip_prefix("moving from ");
        moved
            .and_then(|moved| moved.split_once(" to "))
            .is_some_and(|(from, to)| from == branch || to == branch)
    })
}
