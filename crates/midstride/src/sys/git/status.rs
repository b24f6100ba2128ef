//! Uncommitted files and the last commits, read from git with time and output limits.

use super::Repository;
use super::run::{GitError, GitReach};
use crate::sys::files::{self, Root};
use crate::sys::process::{CappedOutput, ProcessLimits, communicate_bounded};
use jiff::Timestamp;
use midstride_core::handoff::proof::TrialEnd;
use midstride_core::session::repository::{
    FileStatus, GitOperation, LoggedCommit, UncommittedFile, Upstream, WorkTreeState, is_commit_id,
};
use midstride_core::text::id::CommitId;
use std::path::Path;
use std::process::Command;

/// Maximum number of uncommitted files listed. More are counted.
const LISTED_MAX: usize = 200;
/// Number of latest commits kept.
const LOGGED_MAX: usize = 50;
/// Maximum number of files listed per commit, and in all commits together.
const FILES_PER_COMMIT: usize = 40;
const FILES_MAX: usize = 600;
/// midstride's own folder, which is not the user's work.
const OWN_FOLDER: &str = ".midstride";

/// Runs git within limits. Output beyond them is cut off.
pub(super) fn output_within(
    repository: &Repository,
    arguments: &[&str],
    bounds: ProcessLimits,
) -> Result<Vec<u8>, GitError> {
    // A part of the configuration would hide programs in the rest.
    repository.configured_programs_by(|git, asked| match run_within(git, asked, bounds)? {
        output if output.dropped() == 0 => Ok(output.beginning()),
        _ => Err(refusal(asked, "the configuration is too long".to_owned(), None)),
    })?;
    let git = repository.command(GitReach::Local, arguments)?;
    Ok(run_within(git, arguments, bounds)?.beginning())
}

fn run_within(
    git: Command,
    arguments: &[&str],
    bounds: ProcessLimits,
) -> Result<CappedOutput, GitError> {
    let done = communicate_bounded(git, Vec::new(), bounds).map_err(GitError::NotStarted)?;
    let (message, code) = match done.ended {
        TrialEnd::Exit(0) => return Ok(done.output),
        TrialEnd::Exit(code) => (done.errors.text().trim().to_owned(), Some(code)),
        TrialEnd::Signal(signal) => (format!("terminated by signal {signal}"), None),
        TrialEnd::TimedOut => (format!("took more than {} s", bounds.time.as_secs()), None),
    };
    Err(refusal(arguments, message, code))
}

fn refusal(arguments: &[&str], message: String, code: Option<i32>) -> GitError {
    GitError::Refused { command: arguments.join(" "), message, code }
}

impl Repository {
    /// The uncommitted changes in this working tree.
    pub(crate) fn work_tree_state(
        &self,
        at: Timestamp,
        bounds: ProcessLimits,
    ) -> Result<WorkTreeState, GitError> {
        let options = ["status", "--porcelain=v2", "--branch", "--show-stash", "-z"];
        // Changes inside a submodule belong to another repository, and are ignored in every call.
        let listed = output_within(self, &options, bounds)?;
        let mut state = read_status(&listed);
        (state.at, state.operation) = (at, self.operation());
        let top = Root::open(self.work_tree())?;
        for file in &mut state.uncommitted {
            let now = file_size_and_time(&top, &file.path);
            (file.size, file.modified) = (now.map(|(size, _)| size), now.map(|(_, time)| time));
        }
        Ok(state)
    }

    /// The operation that git is in the middle of, read from its files.
    pub fn operation(&self) -> Option<GitOperation> {
        let marks = [
            // A stopped rebase also leaves the markers of other operations, so check it first.
            ("rebase-merge", GitOperation::Rebase),
            ("rebase-apply", GitOperation::Rebase),
            ("MERGE_HEAD", GitOperation::Merge),
            ("CHERRY_PICK_HEAD", GitOperation::CherryPick),
            ("REVERT_HEAD", GitOperation::Revert),
            ("BISECT_LOG", GitOperation::Bisect),
        ];
        let is_there = |name: &str| files::exists(&self.git_dir.join(name));
        marks.into_iter().find(|(name, _)| is_there(name)).map(|(_, operation)| operation)
    }

    /// The last commits of `HEAD`, newest first, and whether there are more.
    pub(crate) fn last_commits(
        &self,
        bounds: ProcessLimits,
    ) -> Result<(Vec<LoggedCommit>, bool), GitError> {
        if self.head_commit().is_none() {
            return Ok((Vec::new(), false));
        }
        let most = format!("-{LOGGED_MAX}");
        let options = ["log", &most, "-z", "--name-only", "--no-renames"];
        let rest = ["--format=%x01%H %ct %P%x02%s", "HEAD"];
        let commits = read_log(&output_within(self, &[&options[..], &rest].concat(), bounds)?);
        let is_listed = |id: &CommitId| commits.iter().any(|one| one.id == *id);
        let has_older = commits.iter().flat_map(|one| &one.parents).any(|id| !is_listed(id));
        Ok((commits, has_older))
    }
}

/// The size and modification time of a file below the root of a working tree.
pub(crate) fn file_size_and_time(top: &Root, path: &str) -> Option<(u64, Timestamp)> {
    let stamp = top.stamp(Path::new(path.trim_end_matches('/')))?;
    let modified = Timestamp::from_nanosecond(i128::from(stamp.modified)).ok()?;
    Some((u64::try_from(stamp.size).ok()?, modified))
}

/// The part up to the last null byte. The rest was cut off.
fn complete_records(output: &[u8]) -> &[u8] {
    &output[..output.iter().rposition(|byte| *byte == 0).unwrap_or_default()]
}

/// Parses `git status --porcelain=v2 --branch --show-stash -z`.
fn read_status(listed: &[u8]) -> WorkTreeState {
    let mut state = WorkTreeState::default();
    let mut parts = complete_records(listed).split(|byte| *byte == 0).map(String::from_utf8_lossy);
    while let Some(part) = parts.next() {
        if let Some(header) = part.strip_prefix("# ") {
            read_header(&mut state, header);
            continue;
        }
        let found = read_file(&part);
        if part.starts_with("2 ") {
            // The old name follows as a separate part.
            parts.next();
        }
        let Some((path, status)) = found else { continue };
        if path.split('/').any(|name| name == OWN_FOLDER) {
            continue;
        }
        if state.uncommitted.len() >= LISTED_MAX {
            state.more += 1;
            continue;
        }
        let (path, size, modified) = (path.to_owned(), None, None);
        let file = UncommittedFile { path, status, size, modified, changed_since: false };
        state.uncommitted.push(file);
    }
    state
}

fn read_header(state: &mut WorkTreeState, header: &str) {
    let Some((name, value)) = header.split_once(' ') else { return };
    match name {
        "branch.oid" => state.head = is_commit_id(value).then(|| CommitId::new(value)),
        "branch.head" => {
            state.branch = Some(value.to_owned()).filter(|name| name != "(detached)");
        }
        "branch.upstream" => {
            let name = value.to_owned();
            state.upstream = Some(Upstream { name, ahead: None, behind: None });
        }
        "branch.ab" => {
            let (ahead, behind) = value.split_once(' ').unwrap_or_default();
            if let Some(upstream) = &mut state.upstream {
                upstream.ahead = ahead.trim_start_matches('+').parse().ok();
                upstream.behind = behind.trim_start_matches('-').parse().ok();
            }
        }
        "stash" => state.stashes = value.parse().unwrap_or_default(),
        _ => {}
    }
}

/// Parses the path and status of an entry.
fn read_file(entry: &str) -> Option<(&str, FileStatus)> {
    // The number of words before the path depends on the kind of entry.
    let (kind, rest) = entry.split_once(' ')?;
    let words = match kind {
        "1" => 7,
        "2" => 8,
        "u" => 9,
        "?" => return Some((rest, FileStatus::Untracked)),
        _ => return None,
    };
    let path = rest.splitn(words + 1, ' ').nth(words)?;
    // The status letters of the index and of the working tree.
    let letters = rest.split(' ').next()?;
    let status = match (kind, letters.as_bytes()) {
        ("u", _) => FileStatus::Conflicted,
        (_, [_, b'D'] | [b'D', _]) => FileStatus::Deleted,
        ("2", _) => FileStatus::Renamed,
        (_, [b'A', _] | [_, b'A']) => FileStatus::Added,
        _ => FileStatus::Modified,
    };
    Some((path, status))
}

/// Parses `git log -z --name-only` with a format that starts each commit with byte 1.
fn read_log(log: &[u8]) -> Vec<LoggedCommit> {
    let mut commits: Vec<LoggedCommit> = Vec::new();
    let mut named = 0;
    for part in complete_records(log).split(|byte| *byte == 0).map(String::from_utf8_lossy) {
        if let Some((_, head)) = part.split_once('\u{1}') {
            commits.extend(read_commit(head));
            continue;
        }
        let path = part.trim_start_matches('\n');
        let Some(commit) = commits.last_mut().filter(|_| !path.is_empty()) else { continue };
        if path.split('/').any(|name| name == OWN_FOLDER) {
            continue;
        }
        if commit.files.len() < FILES_PER_COMMIT && named < FILES_MAX {
            named += 1;
            commit.files.push(path.to_owned());
        } else {
            commit.more_files += 1;
        }
    }
    commits
}

fn read_commit(head: &str) -> Option<LoggedCommit> {
    let (words, subject) = head.split_once('\u{2}')?;
    let mut words = words.split_whitespace();
    let (id, seconds) = (CommitId::new(words.next()?), words.next()?.parse().ok()?);
    let at = Timestamp::from_second(seconds).ok()?;
    let parents = words.map(CommitId::new).collect();
    let subject = subject.trim_end().to_owned();
    Some(LoggedCommit { id, at, subject, parents, files: Vec::new(), more_files: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_entries_are_parsed() {
        let id = "a".repeat(40);
        let text = [
            format!("# branch.oid {id}"),
            "# branch.head feat/x".to_owned(),
            "# branch.upstream origin/feat/x".to_owned(),
            "# branch.ab +2 -1".to_owned(),
            "# stash 3".to_owned(),
            format!("1 .M N... 100644 100644 100644 {id} {id} a b.rs"),
            format!("1 A. N... 000000 100644 100644 {id} {id} new.rs"),
            format!("1 .D N... 100644 100644 000000 {id} {id} gone.rs"),
            format!("2 R. N... 100644 100644 100644 {id} {id} R100 to.rs"),
            "from.rs".to_owned(),
            format!("u UU N... 100644 100644 100644 100644 {id} {id} {id} both.rs"),
            "? notes/".to_owned(),
            "? .midstride/".to_owned(),
            "? web/.midstride/handoffs/x.md".to_owned(),
            "! ignored".to_owned(),
            "odd".to_owned(),
            String::new(),
        ];
        let state = read_status(text.join("\0").as_bytes());
        assert_eq!(state.head, Some(CommitId::new(id)));
        assert_eq!((state.branch.as_deref(), state.stashes), (Some("feat/x"), 3));
        let upstream = state.upstream.unwrap();
        assert_eq!((upstream.ahead, upstream.behind), (Some(2), Some(1)));
        let listed: Vec<String> = state
            .uncommitted
            .iter()
            .map(|file| format!("{:?} {}", file.status, file.path))
            .collect();
        let expected = [
            "Modified a b.rs",
            "Added new.rs",
            "Deleted gone.rs",
            "Renamed to.rs",
            "Conflicted both.rs",
            "Untracked notes/",
        ];
        assert_eq!(listed, expected);
    }

    #[test]
    fn a_status_without_a_commit_or_a_branch_is_parsed() {
        let state = read_status(b"# branch.oid (initial)\0# branch.head (detached)\0# stash x\0");
        assert_eq!(state, WorkTreeState::default());
    }

    #[test]
    fn truncated_records_are_skipped() {
        assert_eq!(read_status(b"? whole.rs\0? cut.r").uncommitted.len(), 1);
        let head = format!("\u{1}{} 1774113840 \u{2}One", "a".repeat(40));
        let commits = read_log(format!("{head}\0\nwhole.rs\0cut.r").as_bytes());
        assert_eq!(commits[0].files, ["whole.rs"]);
        assert!(read_log(head.as_bytes()).is_empty());
    }

    #[test]
    fn files_over_the_limit_are_counted() {
        let text: String = (0..LISTED_MAX + 7).map(|number| format!("? f{number}\0")).collect();
        let state = read_status(text.as_bytes());
        assert_eq!((state.uncommitted.len(), state.more), (LISTED_MAX, 7));
    }

    #[test]
    fn log_commits_are_parsed() {
        let (one, two) = (CommitId::new("a".repeat(40)), CommitId::new("b".repeat(40)));
        let files: String =
            (0..FILES_PER_COMMIT + 2).map(|number| format!("f{number}\0")).collect();
        let text = format!(
            "\u{1}{one} 1774113840 {two}\u{2}Say: this\0\n{files}\0\u{1}{two} 1774113800 \u{2}\0\u{1}odd\0"
        );
        let commits = read_log(text.as_bytes());
        assert_eq!(commits.len(), 2);
        assert_eq!((commits[0].subject.as_str(), &commits[0].parents), ("Say: this", &vec![two]));
        assert_eq!((commits[0].files.len(), commits[0].more_files), (FILES_PER_COMMIT, 2));
        assert_eq!((commits[1].subject.as_str(), commits[1].files.len()), ("", 0));
    }
}
