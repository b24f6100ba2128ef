//! Briefings on one session or handoff that the user names: for the next session, as the first prompt
//! of a client, and as Markdown for elsewhere.

use super::home::{LastSession, last_session};
use crate::clients::{self, Client};
use crate::store::Store;
use crate::store::ledger::LedgerError;
use crate::sys::env::{Automation, Environment};
use crate::sys::process;
use crate::verbs::brief::dismiss::{DismissableItem, dismissable_items};
use crate::verbs::brief::portable::{handoff_markdown, session_markdown};
use crate::verbs::brief::summaries::summarize_session;
use crate::verbs::brief::{BriefOutcome, BriefRequest, brief, brief_handoffs};
use crate::verbs::session::checkpoint::CheckpointError;
use crate::verbs::session::sessions::find_session;
use crate::workspace::{FindError, StoredHandoff};
use midstride_core::brief::BriefOccasion;
use midstride_core::brief::items::headline;
use midstride_core::session::checkpoint::SessionSummary;
use midstride_core::session::short_id;
use midstride_core::text::hidden;
use std::io;

/// The maximum number of characters of the goal in a prompt. The briefing has the rest.
const GOAL_LENGTH_MAX: usize = 200;

/// The session or handoff that a briefing is about.
#[derive(Debug)]
pub enum BriefSubject {
    /// A session.
    Session {
        /// The client that ran it.
        client: &'static dyn Client,
        /// What it did.
        summary: Box<SessionSummary>,
    },
    /// A handoff.
    Handoff {
        /// Its key.
        key: String,
        /// The document.
        stored: Box<StoredHandoff>,
        /// The client of the session that it was made from, if it names one.
        client: Option<&'static dyn Client>,
        /// Its title.
        title: Option<String>,
    },
}

/// Why there is nothing to brief on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubjectError {
    /// Nothing has this name.
    #[error("there is no session or handoff `{0}`")]
    NotFound(String),
    /// There is no earlier session.
    #[error("there is no earlier session in this project")]
    NoSession,
    /// The session was not captured, and its transcript cannot be read.
    #[error("session {0} was not captured")]
    NotCaptured(String),
    /// The name is ambiguous, or the document cannot be read.
    #[error(transparent)]
    Find(#[from] FindError),
    /// The session cannot be read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The ledger cannot be read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

impl BriefSubject {
    /// The client that worked on it, if it is known.
    pub fn client(&self) -> Option<&'static dyn Client> {
        match self {
            Self::Session { client, .. } => Some(*client),
            Self::Handoff { client, .. } => *client,
        }
    }

    /// Its name, as the user can type it.
    pub fn name(&self) -> String {
        match self {
            Self::Session { summary, .. } => short_id(summary.session.as_str()).to_owned(),
            Self::Handoff { key, .. } => key.clone(),
        }
    }

    fn title(&self) -> Option<String> {
        match self {
            Self::Session { summary, .. } => headline(summary).title,
            Self::Handoff { title, .. } => title.clone(),
        }
    }
}

/// Finds a handoff or a session by name; without a name, the last session.
pub fn find_subject(store: &Store, name: Option<&str>) -> Result<BriefSubject, SubjectError> {
    let Some(name) = name else { return find_last(store) };
    let workspace = store.workspace();
    match workspace.find(name) {
        Ok(stored) => {
            let handoff = stored.handoff(workspace);
            let client = handoff.recovery().and_then(|from| clients::find(&from.client?));
            let title = handoff.title().map(|title| workspace.clean(title).0.as_str().to_owned());
            let key = handoff.key().to_string();
            return Ok(BriefSubject::Handoff { key, client, title, stored: Box::new(stored) });
        }
        Err(FindError::NotFound { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let listed = match find_session(store, name, None) {
        Ok(listed) => listed,
        Err(CheckpointError::NoSuch(_) | CheckpointError::NotSetUp) => {
            return Err(SubjectError::NotFound(name.to_owned()));
        }
        Err(error) => return Err(error.into()),
    };
    let summary = summarize_session(store, &listed)?;
    let not_captured = || SubjectError::NotCaptured(short_id(listed.session.as_str()).to_owned());
    let summary = Box::new(summary.ok_or_else(not_captured)?);
    Ok(BriefSubject::Session { client: listed.client, summary })
}

/// An id in a briefing that is not a handoff's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OtherId {
    /// A session, by its short id.
    Session(String),
    /// An item that can be dismissed.
    Item(Box<DismissableItem>),
}

/// What else an id names that is not a handoff.
pub fn find_other_id(store: &Store, id: &str) -> Option<OtherId> {
    if let Ok(listed) = find_session(store, id, None) {
        return Some(OtherId::Session(short_id(listed.session.as_str()).to_owned()));
    }
    let items = dismissable_items(store).ok()?;
    let found = items.into_iter().find(|item| item.handle.eq_ignore_ascii_case(id))?;
    Some(OtherId::Item(Box::new(found)))
}

fn find_last(store: &Store) -> Result<BriefSubject, SubjectError> {
    let last = last_session(store)?.ok_or(SubjectError::NoSession)?;
    let LastSession { client, session, summary, .. } = last;
    let not_captured = || SubjectError::NotCaptured(short_id(session.as_str()).to_owned());
    Ok(BriefSubject::Session { client, summary: Box::new(summary.ok_or_else(not_captured)?) })
}

/// Composes a briefing on a session or handoff.
pub fn brief_subject(
    store: &Store,
    asked: &BriefRequest,
    subject: &BriefSubject,
    progress: &mut dyn FnMut(usize, usize),
) -> BriefOutcome {
    match subject {
        BriefSubject::Session { summary, .. } => {
            let asked = BriefRequest { about: Some(summary.clone()), ..asked.clone() };
            brief(store, &asked, progress)
        }
        BriefSubject::Handoff { stored, .. } => {
            brief_handoffs(store, asked, vec![stored.as_ref().clone()])
        }
    }
}

/// The first prompt of a session that continues the work: the request, and the briefing as its
/// background.
pub fn continuation_prompt(store: &Store, subject: &BriefSubject, tokens: Option<u64>) -> String {
    let asked =
        BriefRequest { occasion: Some(BriefOccasion::Continue), tokens, ..BriefRequest::default() };
    let briefed = brief_subject(store, &asked, subject, &mut |_, _| ());
    let title = subject.title().map(|title| {
        let title: String = hidden::visible_line(&title).chars().take(GOAL_LENGTH_MAX).collect();
        format!(": {}", title.trim())
    });
    let request = format!("Continue this work{}", title.unwrap_or_default());
    store
        .workspace()
        .clean(&format!("{request}\n\n{}", briefed.briefing.text))
        .0
        .as_str()
        .to_owned()
}

/// A briefing on a session or handoff that makes sense without midstride.
pub fn portable_markdown(store: &Store, subject: &BriefSubject, tokens: Option<u64>) -> String {
    let asked = BriefRequest { tokens, ..BriefRequest::default() };
    match subject {
        BriefSubject::Session { summary, .. } => {
            session_markdown(store.workspace(), &asked, summary)
        }
        BriefSubject::Handoff { stored, .. } => {
            handoff_markdown(store, &asked, stored.as_ref().clone())
        }
    }
}

/// Why a client was not started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// An agent cannot use the terminal of the user.
    #[error("{0} cannot start a client in your terminal")]
    Automation(Automation),
    /// The program is not installed.
    #[error("{title} is not installed: `{program}` is not on PATH")]
    NotInstalled {
        /// The name of the client.
        title: &'static str,
        /// Its program.
        program: &'static str,
    },
    /// The system refused.
    #[error("{0} could not be started: {1}")]
    NotStarted(&'static str, io::Error),
}

/// Runs a client with a first prompt in place of this process. Returns only if it cannot be started.
pub fn start_client(environment: &Environment, client: &dyn Client, prompt: &str) -> StartError {
    if let Some(automation) = environment.automation() {
        return StartError::Automation(automation);
    }
    let error = process::replace_process(&client.prompt_command(prompt));
    if error.kind() == io::ErrorKind::NotFound {
        let (title, program) = (client.title(), client.profile().program);
        return StartError::NotInstalled { title, program };
    }
    StartError::NotStarted(client.title(), error)
}
