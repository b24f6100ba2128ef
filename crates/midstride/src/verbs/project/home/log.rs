//! The log: what the sessions of a project did, newest first.

use super::last_session::LastSession;
use super::{HomeError, may_read_store, open_projects, own_store};
use crate::store::Store;
use crate::store::ledger::LedgerError;
use crate::sys::env::Environment;
use crate::sys::files::{self, FileError};
use crate::verbs::brief::summaries::{SummarizedSession, summarize_sessions};
use crate::verbs::session::sessions::ListedSession;
use jiff::Timestamp;
use midstride_core::session::checkpoint::SessionEnding;
use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::PathBuf;

/// Which sessions to list.
#[derive(Clone, Debug, Default)]
pub struct LogFilter {
    /// Only sessions that were active since then.
    pub since: Option<Timestamp>,
    /// Only sessions on this branch.
    pub branch: Option<String>,
}

/// A session in the log.
#[derive(Debug)]
pub struct LoggedSession {
    /// The root of its project.
    pub root: PathBuf,
    /// The folder that the session worked in.
    pub folder: Option<String>,
    /// What it did and how it ended.
    pub session: LastSession,
}

/// What the sessions of one project or of all projects did.
#[derive(Debug, Default)]
pub struct SessionLog {
    /// The sessions in which the user asked something, newest first.
    pub sessions: Vec<LoggedSession>,
    /// Why the ledger could not be read.
    pub ledger_error: Option<LedgerError>,
    /// The files that could not be read.
    pub unread: Vec<FileError>,
}

/// Lists what the sessions of this project did.
pub fn log(store: &Store, filter: &LogFilter) -> Result<SessionLog, HomeError> {
    let own = own_store(store)?;
    let mut log = SessionLog::default();
    log.add(own.as_ref().unwrap_or(store), filter);
    log.sort();
    Ok(log)
}

/// Lists what the sessions of every project on record did. Skips projects that cannot be opened.
pub fn log_everywhere(environment: &Environment, filter: &LogFilter) -> SessionLog {
    let mut log = SessionLog::default();
    for store in open_projects(environment) {
        if let Ok(own) = own_store(&store) {
            log.add(own.as_ref().unwrap_or(&store), filter);
        }
    }
    log.sort();
    log
}

impl SessionLog {
    fn add(&mut self, store: &Store, filter: &LogFilter) {
        let workspace = store.workspace();
        if !may_read_store(workspace) {
            return;
        }
        let is_recent =
            |one: &ListedSession| filter.since.is_none_or(|since| one.changed >= Some(since));
        let (found, unread) = match summarize_sessions(store, is_recent) {
            Ok(found) => found,
            Err(error) => {
                self.ledger_error = Some(error);
                return;
            }
        };
        self.unread.extend(unread);
        let root = files::canonical(workspace.root().path());
        for one in found.into_iter().filter(|one| filter.includes(one)) {
            let cwd = one.listed.transcript.as_ref().and_then(|found| found.cwd.clone());
            let folder = one.summary.as_ref().and_then(|summary| summary.folder.clone());
            self.sessions.push(LoggedSession {
                root: root.clone(),
                folder: folder.or(cwd),
                session: LastSession::from_listed(workspace, one),
            });
        }
    }

    /// Puts the newest first. A session that several working trees list is kept once.
    fn sort(&mut self) {
        self.sessions.sort_by_key(|one| Reverse(one.session.ended));
        let mut seen = HashSet::new();
        self.sessions
            .retain(|one| seen.insert((one.session.client.name(), one.session.session.clone())));
    }
}

impl LogFilter {
    fn includes(&self, one: &SummarizedSession) -> bool {
        let summary = one.summary.as_ref();
        let ended = summary.and_then(|summary| summary.ended).or(one.listed.changed);
        let is_on_branch = |branch: &String| {
            summary.is_some_and(|summary| summary.branch.as_ref() == Some(branch))
        };
        // A client that was only opened leaves a transcript, too.
        let was_used = match summary {
            Some(summary) => summary.worked || summary.ending != SessionEnding::Nothing,
            None => one.listed.about.is_some(),
        };
        was_used
            && self.since.is_none_or(|since| ended >= Some(since))
            && self.branch.as_ref().is_none_or(is_on_branch)
    }
}
