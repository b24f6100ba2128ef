//! Explains a commit, or the commit that wrote a line: the session that made it, what it was asked,
//! what it decided, and the handoffs that name it.
//!
//! A session made a commit only if its records show the id. Nothing is inferred from times or subjects.

use super::home::{may_read_store, own_store};
use crate::clients::{self, Client};
use crate::store::Store;
use crate::store::ledger::LedgerError;
use crate::sys::files::{self, FileError, Root};
use crate::sys::git::{GitError, LogEntry, Repository};
use crate::verbs::brief::summaries::{SummarizedSession, summarize_sessions};
use crate::workspace::{Workspace, WorkspaceError};
use midstride_core::handoff::Handoff;
use midstride_core::session::checkpoint::{Highlight, HighlightKind, SessionSummary};
use midstride_core::text::id::CommitId;
use std::path::{Path, PathBuf};

/// A shorter id may be that of another commit.
const ID_LENGTH_MIN: usize = 7;

/// What to explain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitTarget {
    /// A commit, as git names it.
    Commit(String),
    /// The commit that wrote a line.
    Line {
        /// The file, relative to the current folder.
        file: PathBuf,
        /// The number of the line.
        line: usize,
    },
}

impl CommitTarget {
    /// Parses a commit or `FILE:LINE`.
    pub fn parse(text: &str) -> Self {
        let line = text.rsplit_once(':').and_then(|(file, line)| {
            let line = line.parse().ok().filter(|line| *line > 0)?;
            (!file.is_empty()).then(|| Self::Line { file: file.into(), line })
        });
        line.unwrap_or_else(|| Self::Commit(text.to_owned()))
    }
}

/// A line and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlamedLine {
    /// The file, relative to the root of the working tree.
    pub path: PathBuf,
    /// The number of the line.
    pub number: usize,
    /// Its text.
    pub text: String,
}

/// Why a commit was made.
#[derive(Debug)]
pub struct CommitReason {
    /// The line that was asked about.
    pub line: Option<BlamedLine>,
    /// The commit.
    pub commit: LogEntry,
    /// The session that made it, if one was captured.
    pub session: Option<CommitSession>,
    /// The handoffs that name the commit or the session.
    pub handoffs: Vec<CitingHandoff>,
    /// The files that could not be read.
    pub unread: Vec<FileError>,
}

/// What a session did around a commit that it made.
#[derive(Debug)]
pub struct CommitSession {
    /// The client that ran it.
    pub client: &'static dyn Client,
    /// All that is known about it.
    pub summary: SessionSummary,
    /// Its goal.
    pub goal: Option<Highlight>,
    /// The last request before the commit, if it is not the goal.
    pub request: Option<Highlight>,
    /// The first report after the commit.
    pub report: Option<Highlight>,
}

/// A handoff that names a commit as its resolution, or the session that made it as its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CitingHandoff {
    /// Its key.
    pub key: String,
    /// The path of its file.
    pub path: PathBuf,
    /// Its title.
    pub title: Option<String>,
    /// Its decisions, each with its reason.
    pub decisions: Vec<(String, Option<String>)>,
    /// What was tried and was wrong.
    pub wrong_turns: Vec<WrongTurnText>,
}

/// A wrong turn of a handoff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongTurnText {
    /// What was tried.
    pub tried: String,
    /// Why it was wrong.
    pub why_wrong: Option<String>,
}

/// Why nothing can be explained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WhyError {
    /// There is no repository.
    #[error("this is not a git repository")]
    NoRepository,
    /// Git knows no such commit.
    #[error("there is no commit `{0}`")]
    NoCommit(String),
    /// The file is outside of the working tree.
    #[error("`{0}` is outside the repository")]
    Outside(String),
    /// No commit has the file.
    #[error("`{0}` is not in any commit")]
    NotCommitted(String),
    /// The file is shorter.
    #[error("`{path}` ends at line {lines}")]
    NoLine {
        /// The file.
        path: String,
        /// How many lines it has.
        lines: usize,
    },
    /// The line was changed since the last commit.
    #[error("`{path}:{line}` is not committed yet")]
    LineNotCommitted {
        /// The file.
        path: String,
        /// The number of the line.
        line: usize,
    },
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The file could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The ledger could not be read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The project could not be opened without the documents of others.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
}

/// Explains a commit or the commit that wrote a line. Documents that the user has not trusted are not
/// read.
pub fn why(store: &Store, target: &CommitTarget) -> Result<CommitReason, WhyError> {
    let own = own_store(store)?;
    let store = own.as_ref().unwrap_or(store);
    let workspace = store.workspace();
    let repository = workspace.repository().ok_or(WhyError::NoRepository)?;
    let (id, line) = match target {
        CommitTarget::Commit(name) => {
            let id = repository.resolve_commit(name);
            (id.ok_or_else(|| WhyError::NoCommit(name.clone()))?, None)
        }
        CommitTarget::Line { file, line } => {
            let (id, line) = blame(workspace, repository, file, *line)?;
            (id, Some(line))
        }
    };
    let no_commit = || WhyError::NoCommit(id.to_string());
    let commit = repository.log_entry(&id)?.ok_or_else(no_commit)?;
    let (session, mut unread) = match may_read_store(workspace) {
        true => find_session(store, &id)?,
        false => (None, Vec::new()),
    };
    let mut handoffs = Vec::new();
    for result in workspace.read_all() {
        match result {
            Ok(stored) => {
                let handoff = stored.handoff(workspace);
                if cites(&handoff, &id, session.as_ref()) {
                    handoffs.push(citing_handoff(workspace, &handoff, &stored.path));
                }
            }
            Err(error) => unread.push(error),
        }
    }
    Ok(CommitReason { line, commit, session, handoffs, unread })
}

/// The commit that wrote a line of the working tree.
fn blame(
    workspace: &Workspace,
    repository: &Repository,
    file: &Path,
    number: usize,
) -> Result<(CommitId, BlamedLine), WhyError> {
    let shown = file.display().to_string();
    let top = files::canonical(repository.work_tree());
    let whole = files::canonical(&workspace.environment().folder.join(file));
    let outside = || WhyError::Outside(shown.clone());
    let path = whole.strip_prefix(&top).map_err(|_| outside())?.to_owned();
    let text = Root::open(&top)?.read(&path)?;
    let writers = repository.blame_lines(&path, &text)?;
    if writers.is_empty() {
        return Err(WhyError::NotCommitted(shown));
    }
    let text = String::from_utf8_lossy(&text);
    let no_line = || WhyError::NoLine { path: shown.clone(), lines: text.lines().count() };
    let line = text.lines().nth(number - 1).ok_or_else(no_line)?;
    let writer = writers.get(number - 1).cloned().flatten();
    let uncommitted = || WhyError::LineNotCommitted { path: shown.clone(), line: number };
    let line = BlamedLine { path, number, text: line.to_owned() };
    Ok((writer.ok_or_else(uncommitted)?, line))
}

/// The session whose records show the id of the commit. Of a session and its forks, the first.
fn find_session(
    store: &Store,
    id: &CommitId,
) -> Result<(Option<CommitSession>, Vec<FileError>), LedgerError> {
    let (sessions, unread) = summarize_sessions(store, |_| true)?;
    let made = sessions.into_iter().filter_map(|one| {
        let SummarizedSession { listed, summary } = one;
        let summary = summary?;
        let commit = summary.of_kind(HighlightKind::Commit).find(|one| names(one, id)).cloned()?;
        Some((listed.client, summary, commit))
    });
    let first = made.min_by_key(|(_, summary, _)| summary.began);
    let session = first.map(|(client, summary, commit)| {
        let goal = summary.of_kind(HighlightKind::Goal).next().cloned();
        let request = last_request_before(&summary, &commit);
        let request = request.filter(|one| goal.as_ref().is_none_or(|goal| goal.text != one.text));
        let report = first_report_after(&summary, &commit);
        CommitSession { client, goal, request: request.cloned(), report: report.cloned(), summary }
    });
    Ok((session, unread))
}

/// Whether a commit of a session is this one.
fn names(commit: &Highlight, id: &CommitId) -> bool {
    commit.detail.as_deref().is_some_and(|short| is_start_of(short, id))
}

fn is_start_of(short: &str, id: &CommitId) -> bool {
    short.len() >= ID_LENGTH_MIN && id.as_str().starts_with(&short.to_ascii_lowercase())
}

fn last_request_before<'g>(
    summary: &'g SessionSummary,
    commit: &Highlight,
) -> Option<&'g Highlight> {
    let is_request = |one: &&Highlight| {
        matches!(
            one.kind,
            HighlightKind::Goal
                | HighlightKind::Request
                | HighlightKind::OpenRequest
                | HighlightKind::Correction
        )
    };
    let requests = summary.items.iter().filter(is_request).filter(|one| is_before(one, commit));
    requests.reduce(|last, one| if is_before(last, one) { one } else { last })
}

fn first_report_after<'g>(
    summary: &'g SessionSummary,
    commit: &Highlight,
) -> Option<&'g Highlight> {
    let reports = summary.of_kind(HighlightKind::Report).filter(|one| is_before(commit, one));
    reports.reduce(|first, one| if is_before(one, first) { one } else { first })
}

/// Whether the records show that a highlight came before another one.
fn is_before(one: &Highlight, other: &Highlight) -> bool {
    one.seen.as_ref().zip(other.seen.as_ref()).is_some_and(|(one, other)| other.is_after(one))
}

/// Whether a handoff names the commit as its resolution, or the session as its source.
fn cites(handoff: &Handoff<'_>, id: &CommitId, session: Option<&CommitSession>) -> bool {
    let resolved = handoff.resolution().and_then(|resolution| resolution.commit);
    let is_resolved = resolved.is_some_and(|commit| is_start_of(commit.value.trim(), id));
    let is_from = |session: &CommitSession| {
        let recovery = handoff.recovery().filter(|from| {
            from.client.as_deref().and_then(clients::find).is_none_or(|one| one == session.client)
        });
        recovery.and_then(|from| from.session).is_some_and(|id| id == session.summary.session)
    };
    is_resolved || session.is_some_and(is_from)
}

fn citing_handoff(workspace: &Workspace, handoff: &Handoff<'_>, path: &Path) -> CitingHandoff {
    let clean = |text: &str| workspace.clean(text.trim()).0.as_str().to_owned();
    let decisions = handoff.decisions().into_iter().filter_map(|one| {
        Some((clean(one.decision?.value), one.rationale.map(|why| clean(why.value))))
    });
    let wrong_turns = handoff.wrong_turns().into_iter().filter_map(|one| {
        let why_wrong = one.why_wrong.map(|why| clean(why.value));
        Some(WrongTurnText { tried: clean(one.tried?.value), why_wrong })
    });
    CitingHandoff {
        key: handoff.key().to_string(),
        path: path.to_owned(),
        title: handoff.title().map(clean),
        decisions: decisions.collect(),
        wrong_turns: wrong_turns.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_commit_or_a_line() {
        let line = |file: &str, line| CommitTarget::Line { file: file.into(), line };
        assert_eq!(CommitTarget::parse("src/a.ts:14"), line("src/a.ts", 14));
        assert_eq!(CommitTarget::parse("C:/a.ts:1"), line("C:/a.ts", 1));
        for commit in ["HEAD~2", "1a2b3c4", "HEAD:src/a.ts", ":/fix", "a.ts:0", ":3"] {
            assert_eq!(CommitTarget::parse(commit), CommitTarget::Commit(commit.to_owned()));
        }
    }

    #[test]
    fn only_long_ids_identify_a_commit() {
        let id = CommitId::new("1a2b3c4d5e6f");
        assert!(is_start_of("1a2b3c4", &id) && is_start_of("1A2B3C4D", &id));
        assert!(!is_start_of("1a2b3c", &id) && !is_start_of("1a2b3c5", &id));
    }
}
