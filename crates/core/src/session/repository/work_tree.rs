//! The state of a working tree when git was last run.

use super::history::{CommitParents, RefTips, ReflogCommit, ReflogCommitState, reflog_commits};
use super::reflog::{ReflogAction, ReflogEntry};
use crate::text::id::CommitId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// The state of a working tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkTreeState {
    /// When git was run.
    pub at: Timestamp,
    /// The branch that was checked out; `None` for a detached `HEAD`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<String>,
    /// The commit that was checked out; `None` before the first commit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub head: Option<CommitId>,
    /// Files that have uncommitted changes or are untracked.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub uncommitted: Vec<UncommittedFile>,
    /// The minimum number of further such files.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub more: usize,
    /// The number of stashes.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub stashes: usize,
    /// The upstream of the branch.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub upstream: Option<Upstream>,
    /// The operation git was in the middle of.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub operation: Option<GitOperation>,
    /// Whether `HEAD` moved since then. The uncommitted files may be committed by now, so they are
    /// not listed.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub moved: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl WorkTreeState {
    /// Returns the entry that covers a path relative to the top of the working tree: the file
    /// itself, or an untracked directory that contains it.
    pub fn uncommitted(&self, path: &str) -> Option<&UncommittedFile> {
        self.uncommitted.iter().find(|file| match file.path.strip_suffix('/') {
            Some(_) => path.starts_with(&file.path),
            None => file.path == path,
        })
    }

    /// Whether everything was committed.
    pub fn is_clean(&self) -> bool {
        self.uncommitted.is_empty() && self.more == 0 && !self.moved
    }
}

/// A file that has uncommitted changes or is untracked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UncommittedFile {
    /// The path relative to the top of the working tree; an untracked directory ends with a slash.
    pub path: String,
    /// How it differs.
    pub status: FileStatus,
    /// Its size; `None` if it does not exist.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub size: Option<u64>,
    /// When it was last modified.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub modified: Option<Timestamp>,
    /// Whether it changed again after git was run, so that it may match the commit by now.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub changed_since: bool,
}

impl UncommittedFile {
    /// Compares the entry with the file on disk, given as its size and modification time, or `None`
    /// if it does not exist. Returns `None` if the file is no longer uncommitted.
    #[must_use]
    pub fn compare_with_disk(mut self, now: Option<(u64, Timestamp)>) -> Option<Self> {
        let then = self.size.zip(self.modified);
        match (then, now) {
            (then, now) if then == now => Some(self),
            // It was deleted then, and exists again.
            (None, Some(_)) if self.status == FileStatus::Deleted => None,
            (_, None) => None,
            (_, Some(_)) => {
                self.changed_since = true;
                Some(self)
            }
        }
    }
}

/// How a file differs from the commit that is checked out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileStatus {
    /// It was changed.
    Modified,
    /// It is new, and staged.
    Added,
    /// It was deleted.
    Deleted,
    /// It was renamed or copied, and staged.
    Renamed,
    /// It is new, and git does not track it.
    Untracked,
    /// A merge left it with conflicts.
    Conflicted,
}

/// The upstream of a branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Upstream {
    /// Its name, such as `origin/main`.
    pub name: String,
    /// The number of commits it lacks; `None` if git cannot tell, as for a deleted upstream.
    pub ahead: Option<usize>,
    /// The number of commits only it has.
    pub behind: Option<usize>,
}

/// An operation git is in the middle of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the commands of git")]
pub enum GitOperation {
    Merge,
    Rebase,
    CherryPick,
    Revert,
    Bisect,
}

/// A commit from `git log`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedCommit {
    /// Its full id.
    pub id: CommitId,
    /// When it was committed.
    pub at: Timestamp,
    /// The first line of its message.
    pub subject: String,
    /// Its parents.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub parents: Vec<CommitId>,
    /// The files it changed, relative to the top of the working tree; empty for a merge.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub files: Vec<String>,
    /// The number of further files it changed.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub more_files: usize,
}

/// A local branch whose commits are in the default branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergedBranch {
    /// Its name.
    pub name: String,
    /// The commit it pointed to.
    pub tip: CommitId,
    /// The branch that contains it.
    pub into: String,
    /// When it was merged, or when that was first seen; `None` if an older version recorded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

/// What was found when git was last run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    /// The working tree.
    pub work_tree: WorkTreeState,
    /// The latest commits of `HEAD`, newest first.
    pub recent: Vec<LoggedCommit>,
    /// Whether there are older ones.
    pub has_older: bool,
    /// Whether there may be newer ones that are not listed.
    pub may_have_newer: bool,
    /// Branches that are merged into the default branch and not checked out anywhere.
    pub merged: Vec<MergedBranch>,
}

/// Commits added to a branch after a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaterCommits {
    /// The number of commits.
    pub count: usize,
    /// Whether there are more than were counted.
    pub has_more: bool,
    /// The subject of the newest commit; empty if it is not known.
    pub newest: Option<String>,
    /// The requested files that they changed.
    pub changed_files: Vec<String>,
}

impl Observation {
    /// Returns the commits on this branch since it was at `then`, excluding `ours`, and which of
    /// `files` they changed. If `then` is not listed here, the commits made after `after` count.
    pub fn commits_since(
        &self,
        then: Option<&CommitId>,
        after: Timestamp,
        ours: &[CommitId],
        files: &[String],
    ) -> LaterCommits {
        let known = then.filter(|then| self.recent.iter().any(|one| one.id == **then));
        let older = known.map(|then| self.contained_in(then)).unwrap_or_default();
        let is_new = |one: &&LoggedCommit| match known {
            Some(_) => !older.contains(&one.id),
            None => one.at > after,
        };
        let theirs = |one: &&LoggedCommit| !ours.contains(&one.id);
        let new: Vec<&LoggedCommit> = self.recent.iter().filter(is_new).collect();
        // If all listed commits are new, older ones may be new as well.
        let may_be_older = self.has_older && new.len() == self.recent.len();
        let is_more = self.may_have_newer || may_be_older;
        let theirs: Vec<&LoggedCommit> = new.into_iter().filter(theirs).collect();
        let touched = |path: &&String| theirs.iter().any(|one| one.files.contains(path));
        LaterCommits {
            count: theirs.len(),
            has_more: is_more,
            newest: theirs.first().map(|one| one.subject.clone()),
            changed_files: files.iter().filter(touched).cloned().collect(),
        }
    }

    /// Returns a commit and its ancestors, following only listed commits.
    fn contained_in<'o>(&'o self, tip: &'o CommitId) -> HashSet<&'o CommitId> {
        let mut found = HashSet::from([tip]);
        let mut next = vec![tip];
        while let Some(id) = next.pop() {
            let commit = self.recent.iter().find(|one| one.id == *id);
            for parent in commit.into_iter().flat_map(|one| &one.parents) {
                if found.insert(parent) {
                    next.push(parent);
                }
            }
        }
        found
    }

    /// Returns the merge of a branch, if the branch still points to the commit it had then.
    pub fn merge_of(&self, branch: &str, tip: &CommitId) -> Option<&MergedBranch> {
        self.merged.iter().find(|one| one.name == branch && one.tip == *tip)
    }

    /// Returns the observation after `HEAD` moved. Files that may be committed by now are not
    /// listed. The latest commits stay if the log since then shows that the new `HEAD` contains the
    /// old one, and the commits made on top are added.
    #[must_use]
    pub fn after_head_moved(
        mut self,
        (branch, head): (Option<String>, Option<CommitId>),
        log: &[ReflogEntry],
    ) -> Self {
        let links = CommitParents::from_reflog(log);
        let tip = head.clone().unwrap_or_else(|| CommitId::new(""));
        let continues = self.work_tree.head.as_ref().is_some_and(|old| links.contains(&tip, old));
        let brings_others = |entry: &ReflogEntry| {
            matches!(
                entry.action,
                ReflogAction::FastForward | ReflogAction::Merge | ReflogAction::Pull
            )
        };
        self.may_have_newer = !continues || log.iter().any(brings_others);
        if continues {
            let new = reflog_commits(log, None, &RefTips { local: vec![tip], remote: Vec::new() });
            let is_new = |one: &ReflogCommit| {
                let is_listed = self.recent.iter().any(|known| known.id == one.id);
                one.state == ReflogCommitState::Exists && !is_listed
            };
            let new = new.into_iter().rev().filter(is_new).map(|one| LoggedCommit {
                parents: links.parents(&one.id).cloned().collect(),
                id: one.id,
                at: one.at,
                subject: one.subject,
                files: Vec::new(),
                more_files: 0,
            });
            let mut new: Vec<LoggedCommit> = new.collect();
            new.append(&mut self.recent);
            self.recent = new;
        } else {
            self.recent.clear();
        }
        let state = &mut self.work_tree;
        (state.branch, state.head, state.moved) = (branch, head, true);
        (state.upstream, state.more) = (None, 0);
        state.uncommitted.clear();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: &str = "2026-03-21T17:24:00Z";

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn file(path: &str, status: FileStatus, size: Option<u64>) -> UncommittedFile {
        let modified = size.map(|_| at(AT));
        UncommittedFile { path: path.into(), status, size, modified, changed_since: false }
    }

    /// Returns a commit id: the number, padded to full length.
    fn id(number: usize) -> CommitId {
        CommitId::new(format!("{number:040}"))
    }

    fn logged(number: usize, parents: &[usize], files: &[&str]) -> LoggedCommit {
        LoggedCommit {
            id: id(number),
            at: at(&format!("2026-03-21T17:{number:02}:00Z")),
            subject: format!("commit {number}"),
            parents: parents.iter().map(|one| id(*one)).collect(),
            files: files.iter().map(|one| (*one).to_owned()).collect(),
            more_files: 0,
        }
    }

    fn observed(recent: Vec<LoggedCommit>) -> Observation {
        let head = recent.first().map(|one| one.id.clone());
        let uncommitted = vec![file("a.rs", FileStatus::Modified, Some(1))];
        Observation {
            work_tree: WorkTreeState { at: at(AT), head, uncommitted, ..WorkTreeState::default() },
            recent,
            ..Observation::default()
        }
    }

    #[test]
    fn an_uncommitted_file_is_compared_with_the_disk() {
        use FileStatus::{Deleted, Modified};
        let check = |status, then, now: Option<(u64, &str)>, expected: Option<bool>| {
            let now = now.map(|(size, time)| (size, at(time)));
            let compared = file("a.rs", status, then).compare_with_disk(now);
            assert_eq!(compared.map(|one| one.changed_since), expected, "{status:?} {now:?}");
        };
        check(Modified, Some(1), Some((1, AT)), Some(false));
        check(Modified, Some(1), Some((2, AT)), Some(true));
        check(Modified, Some(1), Some((1, "2026-03-21T17:25:00Z")), Some(true));
        check(Modified, Some(1), None, None);
        check(Deleted, None, None, Some(false));
        check(Deleted, None, Some((1, AT)), None);
    }

    #[test]
    fn an_untracked_directory_covers_its_files() {
        let mut state = WorkTreeState::default();
        state.uncommitted.push(file("new/", FileStatus::Untracked, None));
        state.uncommitted.push(file("a.rs", FileStatus::Modified, None));
        let covers = |path: &str| state.uncommitted(path).is_some();
        assert!(covers("new/deep/b.rs") && covers("a.rs"));
        assert!(!covers("new") && !covers("newer/b.rs") && !covers("a.rs.bak"));
    }

    #[test]
    fn commits_since_a_commit_are_counted() {
        let check = |then: Option<usize>, ours: &[usize], expected: (usize, Option<usize>)| {
            let observed = observed(vec![
                logged(9, &[8, 7], &[]),
                logged(8, &[6], &["src/a.rs"]),
                // Older than the last one, and merged later.
                logged(7, &[5], &["src/b.rs"]),
                logged(6, &[5], &["src/c.rs"]),
                logged(5, &[], &[]),
            ]);
            let ours: Vec<CommitId> = ours.iter().map(|one| id(*one)).collect();
            let files = ["src/a.rs", "src/b.rs", "src/c.rs"].map(str::to_owned);
            let then = then.map(id);
            let since =
                observed.commits_since(then.as_ref(), at("2026-03-21T17:08:30Z"), &ours, &files);
            let newest = expected.1.map(|number| format!("commit {number}"));
            assert_eq!((since.count, since.newest.clone()), (expected.0, newest), "{since:?}");
            since.changed_files.join(" ")
        };
        assert_eq!(check(Some(6), &[], (3, Some(9))), "src/a.rs src/b.rs");
        assert_eq!(check(Some(8), &[], (2, Some(9))), "src/b.rs");
        assert_eq!(check(Some(6), &[9, 8], (1, Some(7))), "src/b.rs");
        assert_eq!(check(Some(9), &[], (0, None)), "");
        // A commit that is not listed: count by time.
        assert_eq!(check(Some(3), &[], (1, Some(9))), "");
        assert_eq!(check(None, &[], (1, Some(9))), "");
    }

    #[test]
    fn a_count_that_may_be_too_low_is_marked() {
        let mut observed = observed(vec![logged(9, &[8], &[]), logged(8, &[7], &[])]);
        let is_more = |observed: &Observation, then| {
            observed.commits_since(Some(&id(then)), at(AT), &[], &[]).has_more
        };
        assert!(!is_more(&observed, 8));
        observed.has_older = true;
        assert!(!is_more(&observed, 8), "everything after it is listed");
        let since_start = observed.commits_since(None, Timestamp::UNIX_EPOCH, &[], &[]);
        assert!(since_start.has_more);
        observed.may_have_newer = true;
        assert!(is_more(&observed, 8));
    }

    fn entry(old: usize, new: usize, message: &str) -> ReflogEntry {
        let line = format!("{} {} A <a> 1774113900 +0000\t{message}", id(old), id(new));
        ReflogEntry::parse(&line).unwrap()
    }

    #[test]
    fn after_head_moved_only_certain_commits_are_listed() {
        let check = |log: &[ReflogEntry], listed: &[usize], may_have_newer: bool| {
            let head = log.last().map(|entry| entry.new.clone());
            let observed = observed(vec![logged(9, &[8], &[]), logged(8, &[], &[])]);
            let moved = observed.after_head_moved((Some("main".into()), head), log);
            assert!(moved.work_tree.moved && moved.work_tree.uncommitted.is_empty());
            assert!(!moved.work_tree.is_clean(), "nobody looked");
            let ids: Vec<CommitId> = moved.recent.iter().map(|one| one.id.clone()).collect();
            assert_eq!(ids, listed.iter().map(|one| id(*one)).collect::<Vec<_>>());
            assert_eq!(moved.may_have_newer, may_have_newer);
            moved
        };
        let log = [entry(9, 10, "commit: ten"), entry(10, 11, "commit: eleven")];
        let moved = check(&log, &[11, 10, 9, 8], false);
        assert_eq!(moved.commits_since(Some(&id(10)), at(AT), &[], &[]).count, 1);
        check(&[entry(9, 12, "pull: Fast-forward")], &[9, 8], true);
        check(&[entry(9, 8, "reset: moving to HEAD~1")], &[], true);
        check(&[entry(9, 10, "commit (amend): nine again")], &[], true);
        check(&[entry(9, 5, "checkout: moving from main to other")], &[], true);
    }
}
