//! Explains a commit, or the commit that wrote a line: the session that made it, what it was asked,
//! what it decided, and the handoffs that name it.
//!
//! A session made a commit if its records show the id. For a commit that a rebase or an amendment
//! rewrote, they show another id: then the subject, the time and the changed files must all agree.

use super::home::{may_read_store, own_store};
use crate::clients::{self, Client};
use crate::store::Store;
use crate::store::ledger::LedgerError;
use crate::sys::files::{self, FileError, Root};
use crate::sys::git::{GitError, LogEntry, Repository};
use crate::verbs::brief::summaries::summarize_sessions;
use crate::verbs::session::sessions::session;
use crate::workspace::{Workspace, WorkspaceError};
use jiff::{SignedDuration, Timestamp};
use midstride_core::handoff::Handoff;
use midstride_core::session::checkpoint::{Highlight, HighlightKind, SessionSummary};
use midstride_core::session::report::{states_choice, states_dead_end};
use midstride_core::session::{Provenance, SessionCommit};
use midstride_core::text::id::CommitId;
use std::path::{Path, PathBuf};

/// A shorter id may be that of another commit.
const ID_LENGTH_MIN: usize = 7;
/// How long before or after its record a commit may have been made. Its hooks may take minutes.
const RECORD_DELAY_MAX: SignedDuration = SignedDuration::from_mins(10);

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
    /// The id in its records, if the commit was rewritten since.
    pub made_as: Option<String>,
    /// Its goal.
    pub goal: Option<Highlight>,
    /// The last request before the commit, if it is not the goal.
    pub request: Option<Highlight>,
    /// The first report after the commit.
    pub report: Option<Highlight>,
    /// What it says it chose, while it worked on the request or about a file of the commit.
    pub decisions: Vec<Highlight>,
    /// What it says it tried and gave up, by the same rule.
    pub wrong_turns: Vec<Highlight>,
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
        true => find_session(store, repository, &commit, line.as_ref())?,
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

/// The session whose records show the commit. Of a session and its forks, the first.
fn find_session(
    store: &Store,
    repository: &Repository,
    commit: &LogEntry,
    line: Option<&BlamedLine>,
) -> Result<(Option<CommitSession>, Vec<FileError>), LedgerError> {
    let (sessions, unread) = summarize_sessions(store, |_| true)?;
    let mut sessions: Vec<(&'static dyn Client, SessionSummary)> =
        sessions.into_iter().filter_map(|one| Some((one.listed.client, one.summary?))).collect();
    sessions.sort_by_key(|(_, summary)| summary.began);
    let exact = sessions.iter().find_map(|(client, summary)| {
        let made = summary.of_kind(HighlightKind::Commit).find(|one| names(one, &commit.commit))?;
        Some((*client, summary, made.seen.clone()?, None))
    });
    let made = exact.or_else(|| find_rewritten(store, repository, commit, &sessions));
    let session = made.map(|(client, summary, seen, made_as)| {
        explain_session(client, summary, &seen, made_as, commit, line)
    });
    Ok((session, unread))
}

/// A session, the record of its commit, and the id there if that is another one.
type MadeCommit<'s> = (&'static dyn Client, &'s SessionSummary, Provenance, Option<String>);

/// The session that made a commit before it was rewritten: a rebase keeps its subject and its first
/// time.
fn find_rewritten<'s>(
    store: &Store,
    repository: &Repository,
    commit: &LogEntry,
    sessions: &'s [(&'static dyn Client, SessionSummary)],
) -> Option<MadeCommit<'s>> {
    let first_made = repository.author_time(&commit.commit)?;
    let is_near = |time: Timestamp| first_made.duration_since(time).abs() <= RECORD_DELAY_MAX;
    let may_have_made = |summary: &SessionSummary| {
        let (began, ended) = (summary.began.unwrap_or(first_made), summary.ended);
        let is_over = ended.is_some_and(|ended| ended < first_made && !is_near(ended));
        !is_over && (began <= first_made || is_near(began))
    };
    sessions.iter().filter(|(_, summary)| may_have_made(summary)).find_map(|(client, summary)| {
        let view = session(store, summary.session.as_str(), Some(*client)).ok()?;
        let facts = &view.checkpoint.session;
        let changes_files = |made: &SessionCommit| {
            let is_changed = |path: &String| {
                facts.files.changed().any(|(changed, _)| Path::new(changed).ends_with(path))
            };
            let number = u64::try_from(commit.paths.len()).ok();
            made.files.is_none_or(|files| Some(files) == number)
                && (made.files.is_some() || commit.paths.iter().any(is_changed))
        };
        let is_it = |made: &&SessionCommit| {
            let subject = made.subject.as_deref().is_some_and(|one| one.trim() == commit.subject);
            subject && made.seen.at.is_some_and(is_near) && changes_files(made)
        };
        let made = facts.commits.iter().find(is_it)?;
        Some((*client, summary, made.seen.clone(), made.id.as_ref().map(CommitId::to_string)))
    })
}

fn explain_session(
    client: &'static dyn Client,
    summary: &SessionSummary,
    seen: &Provenance,
    made_as: Option<String>,
    commit: &LogEntry,
    line: Option<&BlamedLine>,
) -> CommitSession {
    let goal = summary.of_kind(HighlightKind::Goal).next().cloned();
    let asked = last_request_before(summary, seen);
    let next = requests(summary).filter(|one| is_after(one, seen));
    let next = next.reduce(|first, one| if is_before(one, first) { one } else { first });
    let is_near = |one: &Highlight| {
        asked.is_some_and(|asked| is_before(asked, one))
            && next.is_none_or(|next| is_before(one, next))
    };
    let line_path = line.map(|line| line.path.display().to_string());
    let paths: Vec<&str> = match &line_path {
        Some(path) => vec![path.as_str()],
        None => commit.paths.iter().map(String::as_str).collect(),
    };
    let names_file = |one: &Highlight| {
        let names = paths.iter().filter_map(|path| path.rsplit('/').next());
        { names }.any(|name| one.text.contains(name))
    };
    // A choice with its reason counts as a finding elsewhere.
    let is_choice = |one: &&Highlight| {
        matches!(one.kind, HighlightKind::Decision | HighlightKind::Finding)
            && states_choice(&one.text)
    };
    let is_wrong_turn =
        |one: &&Highlight| one.kind == HighlightKind::DeadEnd && states_dead_end(&one.text);
    let is_about = |one: &&Highlight| is_near(one) || names_file(one);
    let items = || summary.items.iter().filter(is_about);
    let decisions = items().filter(is_choice).cloned().collect();
    let wrong_turns = items().filter(is_wrong_turn).cloned().collect();
    let request = asked.filter(|one| goal.as_ref().is_none_or(|goal| goal.text != one.text));
    CommitSession {
        client,
        request: request.cloned(),
        report: first_report_after(summary, seen).cloned(),
        decisions,
        wrong_turns,
        goal,
        made_as,
        summary: summary.clone(),
    }
}

/// Whether a commit of a session is this one.
fn names(commit: &Highlight, id: &CommitId) -> bool {
    commit.detail.as_deref().is_some_and(|short| is_start_of(short, id))
}

fn is_start_of(short: &str, id: &CommitId) -> bool {
    short.len() >= ID_LENGTH_MIN && id.as_str().starts_with(&short.to_ascii_lowercase())
}

fn requests(summary: &SessionSummary) -> impl Iterator<Item = &Highlight> {
    let is_request = |one: &&Highlight| {
        matches!(
            one.kind,
            HighlightKind::Goal
                | HighlightKind::Request
                | HighlightKind::OpenRequest
                | HighlightKind::Correction
        )
    };
    summary.items.iter().filter(is_request)
}

fn last_request_before<'g>(
    summary: &'g SessionSummary,
    commit: &Provenance,
) -> Option<&'g Highlight> {
    let is_earlier = |one: &&Highlight| one.seen.as_ref().is_some_and(|seen| commit.is_after(seen));
    let requests = requests(summary).filter(is_earlier);
    requests.reduce(|last, one| if is_before(last, one) { one } else { last })
}

fn first_report_after<'g>(
    summary: &'g SessionSummary,
    commit: &Provenance,
) -> Option<&'g Highlight> {
    let reports = summary.of_kind(HighlightKind::Report).filter(|one| is_after(one, commit));
    reports.reduce(|first, one| if is_before(one, first) { one } else { first })
}

fn is_after(one: &Highlight, record: &Provenance) -> bool {
    one.seen.as_ref().is_some_and(|seen| seen.is_after(record))
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
