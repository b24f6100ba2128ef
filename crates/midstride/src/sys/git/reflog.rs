//! Reads the reflogs of `HEAD` and of branches without starting git.

use super::Repository;
use crate::sys::files::FileStream;
use jiff::Timestamp;
use midstride_core::session::repository::{
    RefTips, ReflogAction, ReflogCommit, ReflogEntry, name_branches, reflog_commits,
};
use midstride_core::text::id::CommitId;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Bytes read from the end of a log at first. More are read if needed, up to the limit.
const FIRST_BYTES: u64 = 16 << 10;
const BYTES_MAX: u64 = 1 << 20;
/// Maximum bytes that a hook reads from the end of a log: a few hundred entries.
const RECENT_BYTES: u64 = 128 << 10;
/// Number of consecutive older entries after which the rest of the log is older too.
const EARLIER_MAX: usize = 8;
/// Maximum number of branches whose tips are looked up.
const TIPS_MAX: usize = 16;

impl Repository {
    /// The reflog of `HEAD` in this worktree between two times, oldest first, with the branch that
    /// was checked out. Reads at most the last megabyte.
    pub fn reflog(&self, from: Option<Timestamp>, to: Option<Timestamp>) -> Vec<ReflogEntry> {
        let mut entries = entries(&self.git_dir.join("logs/HEAD"), from, BYTES_MAX);
        name_branches(&mut entries, self.branch_at_work().as_deref());
        entries.retain(|entry| to.is_none_or(|to| entry.at <= to));
        entries
    }

    /// The newest entries of the same log, without branches.
    pub(super) fn recent_reflog(&self) -> Vec<ReflogEntry> {
        entries(&self.git_dir.join("logs/HEAD"), None, RECENT_BYTES)
    }

    /// The newest entries of a branch's log.
    pub(super) fn recent_branch_reflog(&self, branch: &str) -> Vec<ReflogEntry> {
        let file = self.branch_file("logs/refs/heads", branch);
        file.map(|file| entries(&file, None, RECENT_BYTES)).unwrap_or_default()
    }

    /// The reflog of a branch since a time, oldest first, across all worktrees.
    pub(crate) fn branch_reflog(&self, branch: &str, from: Option<Timestamp>) -> Vec<ReflogEntry> {
        let Some(file) = self.branch_file("logs/refs/heads", branch) else { return Vec::new() };
        let mut entries = entries(&file, from, BYTES_MAX);
        for entry in &mut entries {
            entry.branch = Some(branch.to_owned());
        }
        entries
    }

    /// The commits made in this worktree between two times, oldest first, and what happened to them
    /// since.
    pub fn commits_made(&self, from: Timestamp, to: Option<Timestamp>) -> Vec<ReflogCommit> {
        let mut log = self.reflog(Some(from), None);
        let has_any = log.iter().any(|entry| to.is_none_or(|to| entry.at <= to));
        if !has_any {
            return Vec::new();
        }
        let mut branches: Vec<String> = log.iter().filter_map(|one| one.branch.clone()).collect();
        branches.extend(log.iter().filter_map(|one| one.merged.clone()));
        branches.extend(self.default_branch());
        branches.sort();
        branches.dedup();
        branches.truncate(TIPS_MAX);
        let tips = self.tips(&branches);
        let makes = |one: &&ReflogEntry| {
            !matches!(one.action, ReflogAction::Checkout | ReflogAction::Reset)
        };
        let here: HashSet<CommitId> = log.iter().filter(makes).map(|one| one.new.clone()).collect();
        // With a single worktree, almost everything happens in it.
        if crate::sys::files::is_folder(&self.common_dir.join("worktrees")) {
            self.add_moves_elsewhere(&mut log, &branches, from);
        }
        let mut commits = reflog_commits(&log, to, &tips);
        let is_early = |one: &ReflogCommit| one.at.as_second() < from.as_second();
        commits.retain(|one| here.contains(&one.id) && !is_early(one));
        commits
    }

    /// Adds what other worktrees did to branches, from the branches' own logs.
    fn add_moves_elsewhere(
        &self,
        log: &mut Vec<ReflogEntry>,
        branches: &[String],
        from: Timestamp,
    ) {
        let known: HashSet<_> =
            log.iter().map(|one| (one.old.clone(), one.new.clone(), one.at)).collect();
        let is_new =
            |one: &ReflogEntry| !known.contains(&(one.old.clone(), one.new.clone(), one.at));
        let moves = branches.iter().flat_map(|name| self.branch_reflog(name, Some(from)));
        let mut moves: Vec<ReflogEntry> = moves.filter(is_new).collect();
        moves.sort_by_key(|entry| entry.at);
        let mut moves = moves.into_iter().peekable();
        // Local entries keep their order, even if the clock jumped.
        let mut all = Vec::new();
        for entry in log.drain(..) {
            while let Some(earlier) = moves.next_if(|one| one.at < entry.at) {
                all.push(earlier);
            }
            all.push(entry);
        }
        all.extend(moves);
        *log = all;
    }

    fn tips(&self, branches: &[String]) -> RefTips {
        let of = |folder: &str| {
            let tip = |name: &String| self.commit_of(&format!("{folder}/{name}"));
            branches.iter().filter_map(tip).collect::<Vec<CommitId>>()
        };
        let mut local = of("refs/heads");
        local.extend(self.head_commit());
        RefTips { local, remote: of("refs/remotes/origin") }
    }

    /// The branch that is checked out or being rebased.
    fn branch_at_work(&self) -> Option<String> {
        let rebased = ["rebase-merge/head-name", "rebase-apply/head-name"].into_iter();
        let rebased = || {
            rebased.map(|file| self.git_dir.join(file)).find_map(|file| {
                let name = crate::sys::files::read_small(&file).ok()??;
                name.trim().strip_prefix("refs/heads/").map(str::to_owned)
            })
        };
        self.branch().or_else(rebased)
    }

    /// The path of a branch's file, unless the name would escape the folder.
    pub(super) fn branch_file(&self, folder: &str, branch: &str) -> Option<PathBuf> {
        let is_name = !branch.is_empty() && crate::sys::files::stays_inside(Path::new(branch));
        is_name.then(|| self.common_dir.join(folder).join(branch))
    }
}

/// The entries of a log since a time, oldest first. Reads at most `bytes_max` bytes from the end.
fn entries(file: &Path, from: Option<Timestamp>, bytes_max: u64) -> Vec<ReflogEntry> {
    let Ok(mut stream) = FileStream::open(file) else { return Vec::new() };
    let end = stream.bytes();
    let mut size = if from.is_some() { FIRST_BYTES } else { bytes_max };
    loop {
        let start = end.saturating_sub(size);
        let Ok(bytes) = stream.read_range(start, end) else { return Vec::new() };
        // The first line may be incomplete.
        let whole = match start {
            0 => &bytes[..],
            _ => bytes.iter().position(|byte| *byte == b'\n').map_or(&[][..], |at| &bytes[at..]),
        };
        let (entries, is_enough) = entries_since(&String::from_utf8_lossy(whole), from);
        if start == 0 || is_enough || size >= bytes_max {
            return entries;
        }
        size = (size * 8).min(bytes_max);
    }
}

/// The entries of a text since a time, and whether the text reaches back before that time. Reads
/// from the end, because most logs are much longer than needed.
fn entries_since(text: &str, from: Option<Timestamp>) -> (Vec<ReflogEntry>, bool) {
    let mut entries: Vec<ReflogEntry> = Vec::new();
    let mut earlier = 0;
    for entry in text.lines().rev().filter_map(ReflogEntry::parse) {
        // Git's timestamps have no fractions.
        let is_earlier = from.is_some_and(|from| entry.at.as_second() < from.as_second());
        earlier = if is_earlier { earlier + 1 } else { 0 };
        entries.push(entry);
        // A clock that was set back leaves a few older entries among newer ones.
        if earlier > EARLIER_MAX {
            break;
        }
    }
    entries.truncate(entries.len() - earlier);
    entries.reverse();
    (entries, earlier > 0)
}
