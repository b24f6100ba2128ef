//! The home screen: a project at a glance. What the last session did, what is unfinished, what waits
//! for the user.

mod last_session;
mod open_work;

pub use last_session::{LastSession, ReopenCommand};
pub use open_work::{OpenHandoff, OpenTask, WaitingItem, WaitingSource};

use crate::store::Store;
use crate::store::ledger::LedgerError;
use crate::sys::files::FileError;
use crate::sys::git::Repository;
use crate::workspace::observation::current_work_tree;
use crate::workspace::{Access, FindError, SetupMode, StoreOwner, WorkspaceError};
use last_session::HomeSessions;
use midstride_core::brief::items::{NextStep, next_step};
use midstride_core::brief::unsettled::UnsettledItem;
use midstride_core::format::header::Status;
use midstride_core::session::checkpoint::{Highlight, HighlightKind};
use midstride_core::session::repository::WorkTreeState;
use open_work::OpenWork;
use std::path::PathBuf;

/// A project at a glance.
#[derive(Debug)]
pub struct HomeScreen {
    /// The root folder.
    pub root: PathBuf,
    /// The branch that is checked out.
    pub branch: Option<String>,
    /// How the project is set up.
    pub setup: SetupMode,
    /// The last session with work.
    pub last_session: Option<LastSession>,
    /// The next action, if one was stated.
    pub next_action: Option<NextAction>,
    /// Checks that failed and have not passed since.
    pub failing: Vec<FailingCheck>,
    /// The working tree, if git answered.
    pub work_tree: Option<WorkTreeState>,
    /// What waits for the user. What blocks comes first.
    pub waiting: Vec<WaitingItem>,
    /// Open handoffs: in progress, then planned, then notes.
    pub handoffs: Vec<OpenHandoff>,
    /// Tasks in progress, then those that are ready.
    pub tasks: Vec<OpenTask>,
    /// Why the ledger could not be read.
    pub ledger_error: Option<LedgerError>,
    /// The files that could not be read.
    pub unread: Vec<FileError>,
}

/// What to do next, and who said so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextAction {
    /// What to do.
    pub text: String,
    /// Whose word it is.
    pub source: String,
}

/// A check that failed and has not passed since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailingCheck {
    /// The command.
    pub command: String,
    /// The line of its output that says most about it.
    pub error: Option<String>,
}

/// Why a project could not be shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HomeError {
    /// Its documents could not be listed.
    #[error(transparent)]
    Find(#[from] FindError),
    /// It could not be opened.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
}

/// Shows a project at a glance. Documents that the user has not trusted are only counted.
pub fn home(store: &Store) -> Result<HomeScreen, HomeError> {
    let access = store.workspace().access();
    if access == Access::Granted {
        return Ok(collect(store)?);
    }
    let own = Store::new(store.workspace().own_view()?, store.wait_policy());
    Ok(collect(&own)?)
}

/// Collects everything from a project or view whose documents may all be passed on.
fn collect(store: &Store) -> Result<HomeScreen, FindError> {
    let workspace = store.workspace();
    let mut work = OpenWork::read(workspace)?;
    // Without a state folder, the private store may have come from elsewhere.
    let may_read = workspace.store_owner() != StoreOwner::Unrecorded;
    let read = || if may_read { HomeSessions::read(store) } else { Ok(HomeSessions::default()) };
    let (facts, ledger_error) = match read().and_then(|facts| {
        if may_read {
            work.add_tasks(store)?;
        }
        Ok(facts)
    }) {
        Ok(facts) => (facts, None),
        Err(error) => (HomeSessions::default(), Some(error)),
    };
    let HomeSessions { last, earlier } = facts;
    work.add_session_question(last.as_ref());
    let branch = workspace.repository().and_then(Repository::branch);
    Ok(HomeScreen {
        root: workspace.root().path().to_owned(),
        branch: branch.map(|name| workspace.clean(&name).0.as_str().to_owned()),
        setup: workspace.setup(),
        next_action: find_next_action(last.as_ref(), &work),
        failing: find_failing(last.as_ref(), &earlier),
        work_tree: current_work_tree(workspace),
        last_session: last,
        waiting: work.waiting,
        handoffs: work.handoffs,
        tasks: work.tasks,
        ledger_error,
        unread: work.unread,
    })
}

/// The next action that the last session named, or else the first handoff in progress.
fn find_next_action(last: Option<&LastSession>, work: &OpenWork) -> Option<NextAction> {
    let step = last.and_then(|last| next_step(last.summary.as_ref()?));
    // A question to the user is listed with what waits for them.
    let step = step.filter(|step| step.highlight.kind != HighlightKind::Question);
    let from_session = |NextStep { highlight, source }: NextStep<'_>| NextAction {
        text: highlight.text.trim().to_owned(),
        source: source.to_owned(),
    };
    let from_handoff = || {
        let mut started = work.handoffs.iter().filter(|one| one.status == Status::InProgress);
        let found = started.find_map(|one| Some((one.next_step.clone()?, &one.short_key)));
        found.map(|(text, key)| NextAction { text, source: format!("handoff {key}") })
    };
    step.map(from_session).or_else(from_handoff)
}

fn find_failing(last: Option<&LastSession>, earlier: &[UnsettledItem]) -> Vec<FailingCheck> {
    let own = last.and_then(|last| last.summary.as_ref());
    let own = own.into_iter().flat_map(|summary| &summary.items);
    let all = own.chain(earlier.iter().map(|one| &one.item));
    let failed = all.filter(|item| item.kind == HighlightKind::Failed);
    let mut checks: Vec<FailingCheck> = Vec::new();
    for Highlight { text, detail, .. } in failed {
        if !checks.iter().any(|known| known.command == *text) {
            checks.push(FailingCheck { command: text.clone(), error: detail.clone() });
        }
    }
    checks
}
