//! Finds the commits that a part of a reflog made, and which of them still exist.
//!
//! A reflog shows what each commit was made on top of, or what it replaced. That is enough to
//! follow the first parents back from a branch. A commit that cannot be followed is unknown, not
//! deleted: it counts as replaced only if the log shows what replaced it.

use super::reflog::{RebaseStep, ReflogAction, ReflogEntry};
use crate::text::id::CommitId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// A commit that a reflog made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReflogCommit {
    /// Its full id.
    pub id: CommitId,
    /// The first line of its message; empty if the log does not have it, as for a merge.
    pub subject: String,
    /// When it was made.
    pub at: Timestamp,
    /// The branch that was checked out; `None` for a detached `HEAD`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<String>,
    /// Whether it still exists.
    pub state: ReflogCommitState,
    /// Whether a remote-tracking branch is known to contain it.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub pushed: bool,
}

/// Whether a commit still exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReflogCommitState {
    /// A branch or `HEAD` contains it.
    Exists,
    /// It was amended, rebased or reset away.
    Replaced,
    /// The log does not say.
    Unknown,
}

/// The commits that branches point to now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RefTips {
    /// `HEAD` and local branches.
    pub local: Vec<CommitId>,
    /// Remote-tracking branches.
    pub remote: Vec<CommitId>,
}

/// Returns the commits that a log made up to a time, oldest first. The log continues to now, so
/// that later entries show what became of them. Entries of `HEAD` have the name of their branch;
/// entries of a branch's own log may be among them.
pub fn reflog_commits(
    log: &[ReflogEntry],
    until: Option<Timestamp>,
    tips: &RefTips,
) -> Vec<ReflogCommit> {
    let links = CommitParents::from_reflog(log);
    let (exist, may_exist) = links.reachable(tips.local.iter().chain(&tips.remote));
    let (pushed, _) = links.reachable(&tips.remote);
    let replaced = replaced_commits(log, &links);
    let state = |id: &CommitId| match () {
        () if exist.contains(id) => ReflogCommitState::Exists,
        () if may_exist.contains(id) => ReflogCommitState::Unknown,
        () if replaced.contains(id) => ReflogCommitState::Replaced,
        () => ReflogCommitState::Unknown,
    };
    let mut made: Vec<ReflogCommit> = Vec::new();
    for entry in log.iter().filter(|entry| until.is_none_or(|until| entry.at <= until)) {
        let is_known = made.iter().any(|one| one.id == entry.new);
        if is_known || entry.old == entry.new || !is_new_commit(entry, &made, &replaced) {
            continue;
        }
        made.push(ReflogCommit {
            id: entry.new.clone(),
            subject: subject(entry).to_owned(),
            at: entry.at,
            branch: entry.branch.clone(),
            state: state(&entry.new),
            pushed: pushed.contains(&entry.new),
        });
    }
    made
}

/// Whether an entry made a commit. A rebase copies everything on the branch, so a copy counts only
/// if the commit it replaces was made here too.
fn is_new_commit(
    entry: &ReflogEntry,
    made: &[ReflogCommit],
    replaced: &HashSet<&CommitId>,
) -> bool {
    match entry.action {
        ReflogAction::Commit
        | ReflogAction::Amend
        | ReflogAction::Merge
        | ReflogAction::CherryPick
        | ReflogAction::Revert
        | ReflogAction::Pull
        | ReflogAction::Rebase(RebaseStep::Rewrite) => true,
        ReflogAction::Rebase(RebaseStep::Pick | RebaseStep::Continue) => {
            made.iter().any(|one| replaced.contains(&one.id) && one.subject == entry.subject)
        }
        ReflogAction::Rebase(
            RebaseStep::Start | RebaseStep::FastForward | RebaseStep::Finish | RebaseStep::Abort,
        )
        | ReflogAction::FastForward
        | ReflogAction::Reset
        | ReflogAction::Checkout
        | ReflogAction::Rename
        | ReflogAction::Other => false,
    }
}

/// Returns the subject of a commit. For a merge, the log has only the strategy.
fn subject(entry: &ReflogEntry) -> &str {
    if matches!(entry.action, ReflogAction::Merge | ReflogAction::Pull) {
        ""
    } else {
        &entry.subject
    }
}

/// The parents of commits, where a log shows them.
#[derive(Debug, Default)]
pub(crate) struct CommitParents<'l> {
    /// The parents of each commit, each with whether it is certain.
    before: HashMap<&'l CommitId, Vec<(&'l CommitId, bool)>>,
}

impl<'l> CommitParents<'l> {
    /// Builds the parents from a log, oldest first.
    pub(crate) fn from_reflog(log: &'l [ReflogEntry]) -> Self {
        let mut links = Self::default();
        // The commit that each branch last pointed to.
        let mut left: HashMap<&str, &CommitId> = HashMap::new();
        for entry in log {
            let (old, new) = (&entry.old, &entry.new);
            match entry.action {
                ReflogAction::Commit
                | ReflogAction::Merge
                | ReflogAction::FastForward
                | ReflogAction::CherryPick
                | ReflogAction::Revert
                | ReflogAction::Pull
                | ReflogAction::Rebase(RebaseStep::Pick) => {
                    links.add(new, old, true);
                    let merged = entry.merged.as_deref().and_then(|name| left.get(name));
                    if let Some(other) = merged {
                        links.add(new, other, true);
                    }
                }
                ReflogAction::Amend | ReflogAction::Rebase(RebaseStep::Rewrite) => {
                    for (before, is_certain) in links.before.get(old).cloned().unwrap_or_default() {
                        links.add(new, before, is_certain);
                    }
                }
                ReflogAction::Rebase(RebaseStep::Continue) => links.add(new, old, false),
                ReflogAction::Rebase(
                    RebaseStep::Start
                    | RebaseStep::FastForward
                    | RebaseStep::Finish
                    | RebaseStep::Abort,
                )
                | ReflogAction::Reset
                | ReflogAction::Checkout
                | ReflogAction::Rename
                | ReflogAction::Other => {}
            }
            if let Some(branch) = &entry.branch {
                left.insert(branch, new);
            }
        }
        links
    }

    fn add(&mut self, new: &'l CommitId, before: &'l CommitId, is_certain: bool) {
        let known = self.before.entry(new).or_default();
        if new != before && !known.contains(&(before, is_certain)) {
            known.push((before, is_certain));
        }
    }

    /// Returns the commits reachable from some commits: those that certainly are, and those that
    /// may be.
    fn reachable<'t>(
        &'t self,
        from: impl IntoIterator<Item = &'t CommitId>,
    ) -> (HashSet<&'t CommitId>, HashSet<&'t CommitId>) {
        let (mut certain, mut possible) = (HashSet::new(), HashSet::new());
        let mut next: Vec<(&CommitId, bool)> = from.into_iter().map(|id| (id, true)).collect();
        while let Some((id, is_certain)) = next.pop() {
            let is_new = possible.insert(id);
            let is_better = is_certain && certain.insert(id);
            if is_new || is_better {
                let before = self.before.get(id).into_iter().flatten();
                next.extend(before.map(|(id, link)| (*id, *link && is_certain)));
            }
        }
        (certain, possible)
    }

    /// Returns the certain parents of a commit.
    pub(crate) fn parents(&self, id: &CommitId) -> impl Iterator<Item = &'l CommitId> {
        let before = self.before.get(id).into_iter().flatten();
        before.filter(|(_, is_certain)| *is_certain).map(|(id, _)| *id)
    }

    /// Whether the commit `tip` certainly contains the commit `id`.
    pub(crate) fn contains(&self, tip: &CommitId, id: &CommitId) -> bool {
        self.reachable([tip]).0.contains(id)
    }
}

/// Returns the commits that an amend, a rebase, or a reset removed from their branch.
fn replaced_commits<'l>(
    log: &'l [ReflogEntry],
    links: &'l CommitParents<'l>,
) -> HashSet<&'l CommitId> {
    let mut replaced = HashSet::new();
    let mut drop = |from: &'l CommitId, to: &'l CommitId| {
        let (_, kept) = links.reachable([to]);
        let (removed, _) = links.reachable([from]);
        replaced.extend(removed.into_iter().filter(|id| !kept.contains(id)));
    };
    let mut rebased: Option<&CommitId> = None;
    for entry in log {
        match entry.action {
            ReflogAction::Amend
            | ReflogAction::Reset
            | ReflogAction::Rebase(RebaseStep::Rewrite) => {
                drop(&entry.old, &entry.new);
            }
            ReflogAction::Rebase(RebaseStep::Start) => rebased = Some(&entry.old),
            ReflogAction::Rebase(RebaseStep::Finish) => {
                // `HEAD`'s log has the old commit at the start of the rebase; a branch's log has
                // both in one entry.
                drop(rebased.take().unwrap_or(&entry.old), &entry.new);
                drop(&entry.old, &entry.new);
            }
            ReflogAction::Rebase(RebaseStep::Abort) => {
                rebased = None;
                drop(&entry.old, &entry.new);
            }
            ReflogAction::Commit
            | ReflogAction::Merge
            | ReflogAction::FastForward
            | ReflogAction::Rebase(
                RebaseStep::Pick | RebaseStep::Continue | RebaseStep::FastForward,
            )
            | ReflogAction::Checkout
            | ReflogAction::CherryPick
            | ReflogAction::Revert
            | ReflogAction::Pull
            | ReflogAction::Rename
            | ReflogAction::Other => {}
        }
    }
    replaced
}

#[cfg(test)]
mod tests {
    use super::super::reflog::name_branches;
    use super::*;

    /// Returns an id that is easy to read: the code of a letter, repeated.
    fn id(letter: char) -> CommitId {
        // Letters after `f` are not hexadecimal digits, so use the code of the letter.
        CommitId::new(format!("{:x}", u32::from(letter)).repeat(20))
    }

    /// Builds a log from lines of `old new message`.
    fn log(lines: &[&str], branch: Option<&str>) -> Vec<ReflogEntry> {
        let parse = |(number, line): (usize, &&str)| {
            let mut words = line.splitn(3, ' ');
            let mut commit = || id(words.next().unwrap().chars().next().unwrap());
            let (old, new) = (commit(), commit());
            let seconds = 1_774_113_840 + i64::try_from(number).unwrap();
            let message = words.next().unwrap();
            ReflogEntry::parse(&format!("{old} {new} A <a> {seconds} +0000\t{message}")).unwrap()
        };
        let mut log: Vec<ReflogEntry> = lines.iter().enumerate().map(parse).collect();
        name_branches(&mut log, branch);
        log
    }

    /// Checks `subject=state` of every commit that a log made, with branches at these letters.
    fn check(lines: &[&str], tips: &str, expected: &[&str]) {
        let log = log(lines, Some("main"));
        let tips = RefTips { local: tips.chars().map(id).collect(), remote: Vec::new() };
        let made = reflog_commits(&log, None, &tips);
        let states: Vec<String> = made
            .iter()
            .map(|one| format!("{}={:?}", one.subject, one.state).to_lowercase())
            .collect();
        assert_eq!(states, expected, "{lines:#?}");
    }

    #[test]
    fn commits_exist_while_a_branch_has_them() {
        check(
            &["0 a commit (initial): one", "a b commit: two"],
            "b",
            &["one=exists", "two=exists"],
        );
        check(
            &["a b cherry-pick: copied", "b c revert: Revert \"x\"", "c d am: mailed"],
            "d",
            &["copied=exists", "revert \"x\"=exists", "mailed=exists"],
        );
        check(&["a b commit: mine", "b z pull: Fast-forward"], "z", &["mine=exists"]);
        check(
            &["a b commit: mine", "b z pull: Merge made by the 'ort' strategy."],
            "z",
            &["mine=exists", "=exists"],
        );
    }

    #[test]
    fn an_amended_commit_is_replaced() {
        check(
            &["a b commit: one", "b c commit: two", "c d commit (amend): two again"],
            "d",
            &["one=exists", "two=replaced", "two again=exists"],
        );
        // Amended, and then restored by a reset.
        check(
            &["a b commit: one", "b c commit (amend): other", "c b reset: moving to HEAD@{1}"],
            "b",
            &["one=exists", "other=replaced"],
        );
    }

    #[test]
    fn a_commit_that_was_reset_away_is_replaced() {
        check(
            &["a b commit: one", "b c commit: two", "c b reset: moving to HEAD~1"],
            "b",
            &["one=exists", "two=replaced"],
        );
        check(&["a b commit: one", "b b reset: moving to HEAD"], "b", &["one=exists"]);
        // Another branch still has it.
        check(&["a b commit: one", "b a reset: moving to HEAD~1"], "ab", &["one=exists"]);
    }

    #[test]
    fn a_rebase_replaces_commits_by_their_copies() {
        check(
            &[
                "a b commit: mine",
                "b m rebase (start): checkout origin/main",
                "m n rebase (pick): older, by someone else",
                "n o rebase (pick): mine",
                "o o rebase (finish): returning to refs/heads/main",
            ],
            "o",
            &["mine=replaced", "mine=exists"],
        );
        check(
            &[
                "a b commit: one",
                "b c commit: two",
                "c b rebase (start): checkout HEAD~1",
                "b d rebase (squash): one",
                "d d rebase (finish): returning to refs/heads/main",
            ],
            "d",
            &["one=replaced", "two=replaced", "one=exists"],
        );
        check(
            &[
                "a b commit: mine",
                "b m rebase (start): checkout origin/main",
                "m n rebase (pick): mine",
                "n b rebase (abort): returning to refs/heads/main",
            ],
            "b",
            &["mine=exists"],
        );
    }

    #[test]
    fn commits_below_the_start_of_a_rebase_still_exist() {
        check(
            &[
                "a b commit: one",
                "b c commit: two",
                "c d commit: three",
                "d b rebase (start): checkout HEAD~2",
                "b e rebase (pick): three",
                "e f rebase (pick): two",
                "f f rebase (finish): returning to refs/heads/main",
            ],
            "f",
            &["one=exists", "two=replaced", "three=replaced", "three=exists", "two=exists"],
        );
    }

    #[test]
    fn commits_the_log_cannot_trace_are_unknown() {
        // The branch was deleted, or merged somewhere else.
        check(
            &["a b commit: one", "b a checkout: moving from feat to main"],
            "a",
            &["one=unknown"],
        );
        // The branch was moved by another worktree.
        check(&["a b commit: one"], "z", &["one=unknown"]);
        // After a conflict, it is on top of the old commit; after an edit, it replaces it.
        check(
            &[
                "a b commit: one",
                "b m rebase (start): checkout origin/main",
                "m n rebase (pick): one",
                "n o rebase (continue): two",
                "o o rebase (finish): returning to refs/heads/main",
            ],
            "o",
            &["one=replaced", "one=unknown"],
        );
    }

    #[test]
    fn a_merged_branch_keeps_its_commits() {
        let lines = [
            "a b commit: on feat",
            "b a checkout: moving from feat to main",
            "a c merge feat: Merge made by the 'ort' strategy.",
        ];
        check(&lines, "c", &["on feat=exists", "=exists"]);
        let lines = [
            "a b commit: on feat",
            "b a checkout: moving from feat to main",
            "a c commit (merge): Merge branch 'feat'",
        ];
        check(&lines, "c", &["on feat=exists", "merge branch 'feat'=exists"]);
        let lines = [
            "a b commit: on feat",
            "b a checkout: moving from feat to main",
            "a b merge feat: Fast-forward",
        ];
        check(&lines, "b", &["on feat=exists"]);
    }

    #[test]
    fn commits_on_a_remote_branch_are_pushed() {
        let log = log(&["a b commit: one", "b c commit: two"], Some("main"));
        let tips = RefTips { local: vec![id('c')], remote: vec![id('b')] };
        let pushed: Vec<bool> =
            reflog_commits(&log, None, &tips).iter().map(|one| one.pushed).collect();
        assert_eq!(pushed, [true, false]);
    }

    #[test]
    fn later_entries_can_replace_earlier_commits() {
        let lines = ["a b commit: one", "b c commit: two", "c d commit (amend): two again"];
        let log = log(&lines, Some("main"));
        let tips = RefTips { local: vec![id('d')], remote: Vec::new() };
        let made = reflog_commits(&log, Some(log[1].at), &tips);
        let states: Vec<_> = made.iter().map(|one| (one.subject.as_str(), one.state)).collect();
        assert_eq!(
            states,
            [("one", ReflogCommitState::Exists), ("two", ReflogCommitState::Replaced)]
        );
        assert_eq!(made[0].branch.as_deref(), Some("main"));
    }

    #[test]
    fn a_cycle_in_the_log_terminates() {
        check(&["a b commit: one", "b a commit: two"], "a", &["one=exists", "two=exists"]);
    }
}
