//! What a working tree looked like when git was last asked.

use super::history::{CommitParents, RefTips, ReflogCommit, ReflogCommitState, reflog_commits};
use super::reflog::{ReflogAction, ReflogEntry};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// What a working tree looked like.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkTreeState {
    /// When git was asked.
    pub at: Timestamp,
    /// The branch that was checked out; none where it was only a commit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<String>,
    /// The commit that was checked out; none before the first one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub head: Option<String>,
    /// Files that are not committed, or not as they are.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub uncommitted: Vec<UncommittedFile>,
    /// How many more of them there are at least.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub more: usize,
    /// How many stashes there are.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub stashes: usize,
    /// The branch that this one follows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub upstream: Option<Upstream>,
    /// What git was in the middle of.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub operation: Option<GitOperation>,
    /// Whether `HEAD` moved since: what was uncommitted may be committed by now, and is not listed.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub moved: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl WorkTreeState {
    /// The entry that covers a path from the top of the working tree: the file itself, or an
    /// untracked directory around it.
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

/// A file that is not committed, or not as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UncommittedFile {
    /// The path from the top of the working tree; an untracked directory ends with a slash.
    pub path: String,
    /// How it differs.
    pub status: FileStatus,
    /// Its size; none where it is not there.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub size: Option<u64>,
    /// When it was changed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub modified: Option<Timestamp>,
    /// Whether it was changed again since git was asked: it may be as it was committed by now.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub changed_since: bool,
}

impl UncommittedFile {
    /// The same as the file is now: its size and when it was changed, none where it is not there.
    /// `None` where it is not uncommitted any more.
    #[must_use]
    pub fn compare_with_disk(mut self, now: Option<(u64, Timestamp)>) -> Option<Self> {
        let then = self.size.zip(self.modified);
        match (then, now) {
            (then, now) if then == now => Some(self),
            // Deleted then, and there again.
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

/// The branch that another one follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Upstream {
    /// Its name, as `origin/main`.
    pub name: String,
    /// Commits that it does not have. None where git cannot tell, as for an upstream that is gone.
    pub ahead: Option<usize>,
    /// Commits that only it has.
    pub behind: Option<usize>,
}

/// What git is in the middle of.
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

/// A commit, as `git log` tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedCommit {
    /// Its full id.
    pub id: String,
    /// When it was committed.
    pub at: Timestamp,
    /// The first line of its message.
    pub subject: String,
    /// The commits that it was made on.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub parents: Vec<String>,
    /// Files that it changed, from the top of the working tree; none for a merge.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub files: Vec<String>,
    /// How many more files it changed.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub more_files: usize,
}

/// A local branch whose commits the default branch has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergedBranch {
    /// Its name.
    pub name: String,
    /// Where it pointed.
    pub tip: String,
    /// The branch that has it.
    pub into: String,
    /// When that was merged, or when it was first seen; none where an older version looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

/// What was found when git was last asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    /// The working tree.
    pub work_tree: WorkTreeState,
    /// The last commits that `HEAD` has, newest first.
    pub recent: Vec<LoggedCommit>,
    /// Whether it has older ones.
    pub has_older: bool,
    /// Whether it may have newer ones that are not listed.
    pub may_have_newer: bool,
    /// Branches that are merged into the default branch and checked out nowhere.
    pub merged: Vec<MergedBranch>,
}

/// Commits that came to a branch after a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaterCommits {
    /// How many.
    pub count: usize,
    /// Whether there are more than were counted.
    pub has_more: bool,
    /// The subject of the newest one; empty where it is not known.
    pub newest: Option<String>,
    /// Which of the files that were asked for they changed.
    pub changed_files: Vec<String>,
}

impl Observation {
    /// The commits on this branch since it was at `then`, without those of `ours`, and which of
    /// `files` they changed. Where `then` is not known here, commits after a time count.
    pub fn commits_since(
        &self,
        then: Option<&str>,
        after: Timestamp,
        ours: &[String],
        files: &[String],
    ) -> LaterCommits {
        let known = then.filter(|then| self.recent.iter().any(|one| one.id == **then));
        let older = known.map(|then| self.contained_in(then)).unwrap_or_default();
        let is_new = |one: &&LoggedCommit| match known {
            Some(_) => !older.contains(one.id.as_str()),
            None => one.at > after,
        };
        let theirs = |one: &&LoggedCommit| !ours.contains(&one.id);
        let new: Vec<&LoggedCommit> = self.recent.iter().filter(is_new).collect();
        // Older ones may be new as well where all that are listed are.
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

    /// A commit and those that it contains, as far as they are listed.
    fn contained_in<'o>(&'o self, tip: &'o str) -> HashSet<&'o str> {
        let mut found = HashSet::from([tip]);
        let mut next = vec![tip];
        while let Some(id) = next.pop() {
            let commit = self.recent.iter().find(|one| one.id == id);
            for parent in commit.into_iter().flat_map(|one| &one.parents) {
                if found.insert(parent) {
                    next.push(parent);
                }
            }
        }
        found
    }

    /// The branch that a branch was merged into, where it still points to the commit it had then.
    pub fn merge_of(&self, branch: &str, tip: &str) -> Option<&MergedBranch> {
        self.merged.iter().find(|one| one.name == branch && one.tip == tip)
    }

    /// The same after `HEAD` moved: what may be committed by now is not listed. The last commits
    /// stay where the log since then shows that the new `HEAD` contains the old one, with those that
    /// were made on top.
    #[must_use]
    pub fn after_head_moved(
        mut self,
        (branch, head): (Option<String>, Option<String>),
        log: &[ReflogEntry],
    ) -> Self {
        let links = CommitParents::from_reflog(log);
        let tip = head.clone().unwrap_or_default();
        let goes_on = self.work_tree.head.as_ref().is_some_and(|old| links.contains(&tip, old));
        let brings_others = |entry: &ReflogEntry| {
            matches!(
                entry.action,
                ReflogAction::FastForward | ReflogAction::Merge | ReflogAction::Pull
            )
        };
        self.may_have_newer = !goes_on || log.iter().any(brings_others);
        if goes_on {
            let new = reflog_commits(log, None, &RefTips { local: vec![tip], remote: Vec::new() });
            let is_new = |one: &ReflogCommit| {
                let is_listed = self.recent.iter().any(|known| known.id == one.id);
                one.state == ReflogCommitState::Exists && !is_listed
            };
            let new = new.into_iter().rev().filter(is_new).map(|one| LoggedCommit {
                parents: links.parents(&one.id).map(str::to_owned).collect(),
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

    /// The id of a commit: its number, at full length.
    fn id(number: usize) -> String {
        format!("{number:040}")
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
    fn an_uncommitted_file_is_compared_with_what_is_there() {
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
            let ours: Vec<String> = ours.iter().map(|one| id(*one)).collect();
            let files = ["src/a.rs", "src/b.rs", "src/c.rs"].map(str::to_owned);
            let then = then.map(id);
            let since =
                observed.commits_since(then.as_deref(), at("2026-03-21T17:08:30Z"), &ours, &files);
            let newest = expected.1.map(|number| format!("commit {number}"));
            assert_eq!((since.count, since.newest.clone()), (expected.0, newest), "{since:?}");
            since.changed_files.join(" ")
        };
        assert_eq!(check(Some(6), &[], (3, Some(9))), "src/a.rs src/b.rs");
        assert_eq!(check(Some(8), &[], (2, Some(9))), "src/b.rs");
        assert_eq!(check(Some(6), &[9, 8], (1, Some(7))), "src/b.rs");
        assert_eq!(check(Some(9), &[], (0, None)), "");
        // A commit that is not known: by time.
        assert_eq!(check(Some(3), &[], (1, Some(9))), "");
        assert_eq!(check(None, &[], (1, Some(9))), "");
    }

    #[test]
    fn a_count_that_may_be_too_low_says_so() {
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
    fn after_head_moved_only_what_is_certain_is_left() {
        let check = |log: &[ReflogEntry], listed: &[usize], may_have_newer: bool| {
            let head = log.last().map(|entry| entry.new.clone());
            let observed = observed(vec![logged(9, &[8], &[]), logged(8, &[], &[])]);
            let moved = observed.after_head_moved((Some("main".into()), head), log);
            assert!(moved.work_tree.moved && moved.work_tree.uncommitted.is_empty());
            assert!(!moved.work_tree.is_clean(), "nobody looked");
            let ids: Vec<String> = moved.recent.iter().map(|one| one.id.clone()).collect();
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
