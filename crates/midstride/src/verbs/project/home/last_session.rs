//! The last session of a project: what it did, how it ended, and how to reopen it.

use crate::clients::{self, Client, SessionLiveness};
use crate::store::Store;
use crate::store::ledger::LedgerError;
use crate::sys::files;
use crate::sys::git::Repository;
use crate::verbs::brief::summaries::{SummarizedSession, summarize_uncaptured};
use crate::verbs::brief::{NewestSession, UnfinishedWork, unfinished_work};
use crate::verbs::session::sessions::{Extent, ListedSession, sessions, uncaptured_sessions};
use crate::workspace::Workspace;
use jiff::Timestamp;
use midstride_core::brief::unsettled::UnsettledItem;
use midstride_core::session::checkpoint::SessionSummary;
use midstride_core::text::id::SessionId;
use std::path::{Component, Path, PathBuf};

/// The last session of a project.
#[derive(Debug)]
pub struct LastSession {
    /// The client that ran it.
    pub client: &'static dyn Client,
    /// Its id.
    pub session: SessionId,
    /// The time of its last record.
    pub ended: Option<Timestamp>,
    /// Whether it is running.
    pub life: SessionLiveness,
    /// What the user asked first.
    pub about: Option<String>,
    /// What it did; `None` if it was not captured.
    pub summary: Option<SessionSummary>,
    /// How to reopen it, if it ended and its transcript still exists.
    pub reopen: Option<ReopenCommand>,
}

/// The command that reopens a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReopenCommand {
    /// The folder to run it in, relative to the current one if that is not the same.
    pub folder: Option<PathBuf>,
    /// Its words.
    pub words: Vec<String>,
}

/// What is known about the sessions of a project.
#[derive(Debug, Default)]
pub(super) struct HomeSessions {
    /// The last session.
    pub(super) last: Option<LastSession>,
    /// What it left open.
    pub(super) own: Vec<UnsettledItem>,
    /// The newest session with work, if it is not that one.
    pub(super) newest: Option<NewestSession>,
    /// What earlier sessions left open.
    pub(super) earlier: Vec<UnsettledItem>,
    /// The clients of all sessions.
    pub(super) clients: Vec<&'static dyn Client>,
    /// How many ended sessions are not captured to their end.
    pub(super) uncaptured: usize,
}

impl HomeSessions {
    /// Reads what was captured, and the transcripts.
    pub(super) fn read(store: &Store) -> Result<Self, LedgerError> {
        let workspace = store.workspace();
        let (list, _) = sessions(store, None)?;
        let uncaptured = uncaptured_sessions(workspace, &list).len();
        let own = workspace.environment().session.as_ref();
        let is_other = |one: &&ListedSession| {
            one.extent != Extent::Forgotten
                && own.is_none_or(|own| one.session != own.id || one.client.name() != own.client)
        };
        let newest = list.iter().filter(is_other).find(|one| worked_here(workspace, one));
        let fresh = newest.and_then(|one| summarize_uncaptured(workspace, one));
        let worked = fresh.clone().filter(|summary| summary.worked);
        let UnfinishedWork { last, newest: newer, own, earlier } =
            unfinished_work(store, own, worked)?;
        let last = match last.or(fresh) {
            Some(summary) => LastSession::from_summary(workspace, summary, &list),
            None => newest.map(|one| LastSession::from_transcript(workspace, one)),
        };
        let clients = list.iter().map(|one| one.client).collect();
        Ok(Self { last, newest: newer, own, earlier, clients, uncaptured })
    }

    /// Reads only what was captured.
    pub(super) fn read_captured(store: &Store) -> Result<Self, LedgerError> {
        let UnfinishedWork { last, newest, own, earlier } = unfinished_work(store, None, None)?;
        let last = last.and_then(|one| LastSession::from_summary(store.workspace(), one, &[]));
        Ok(Self { last, newest, own, earlier, clients: Vec::new(), uncaptured: 0 })
    }
}

impl LastSession {
    /// A session in a list, with what it did.
    pub(super) fn from_listed(workspace: &Workspace, one: SummarizedSession) -> Self {
        let SummarizedSession { listed, summary } = one;
        let ended = summary.as_ref().and_then(|summary| summary.ended);
        let session = Self::from_transcript(workspace, &listed);
        Self { ended: ended.or(session.ended), summary, ..session }
    }

    /// The session of a summary; `None` if its client is unknown.
    fn from_summary(
        workspace: &Workspace,
        summary: SessionSummary,
        list: &[ListedSession],
    ) -> Option<Self> {
        let client = clients::find(summary.client.as_str())?;
        let is_it = |one: &&ListedSession| one.session == summary.session && one.client == client;
        let listed = list.iter().find(is_it);
        Some(Self {
            client,
            session: summary.session.clone(),
            ended: summary.ended,
            life: listed.map_or(SessionLiveness::Unknown, |one| one.life),
            about: listed.and_then(|one| one.about.as_deref()).map(|text| clean(workspace, text)),
            reopen: listed.and_then(|one| reopen_command(workspace, one)),
            summary: Some(summary),
        })
    }

    fn from_transcript(workspace: &Workspace, one: &ListedSession) -> Self {
        Self {
            client: one.client,
            session: one.session.clone(),
            ended: one.changed,
            life: one.life,
            about: one.about.as_deref().map(|text| clean(workspace, text)),
            reopen: reopen_command(workspace, one),
            summary: None,
        }
    }
}

fn clean(workspace: &Workspace, text: &str) -> String {
    workspace.clean(text).0.as_str().to_owned()
}

/// Whether a session worked in this working tree.
fn worked_here(workspace: &Workspace, one: &ListedSession) -> bool {
    let cwd = one.transcript.as_ref().and_then(|found| found.cwd.as_deref());
    let Some(cwd) = cwd.map(|cwd| files::canonical(Path::new(cwd))) else { return false };
    match workspace.repository() {
        Some(ours) => {
            let theirs = Repository::discover(&cwd).ok().flatten();
            theirs.is_some_and(|theirs| theirs.work_tree() == ours.work_tree())
        }
        None => cwd.starts_with(files::canonical(workspace.root().path())),
    }
}

/// How to reopen a session, unless it is running or its transcript or folder is deleted.
fn reopen_command(workspace: &Workspace, one: &ListedSession) -> Option<ReopenCommand> {
    let found = one.transcript.as_ref().filter(|_| one.life != SessionLiveness::Running)?;
    let words = one.client.resume_command(&one.session);
    if !one.client.profile().resumes_in_session_directory {
        return Some(ReopenCommand { folder: None, words });
    }
    let folder = files::canonical(Path::new(found.cwd.as_deref()?));
    let here = files::canonical(&workspace.environment().folder);
    let folder = files::is_folder(&folder).then(|| relative_path(&here, &folder))?;
    Some(ReopenCommand { folder: Some(folder).filter(|path| !path.as_os_str().is_empty()), words })
}

/// The way from one folder to another; both are absolute.
fn relative_path(from: &Path, to: &Path) -> PathBuf {
    let shared = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(shared).map(|_| Path::new("..").as_os_str());
    up.chain(to.components().skip(shared).map(Component::as_os_str)).collect()
}
