//! The home screen: a project at a glance. What the last session did, what is unfinished, what waits
//! for the user, what is wrong, and the one next command.

mod last_session;
mod log;
mod next_command;
mod open_work;
mod problem;

pub use last_session::{LastSession, ReopenCommand};
pub use log::{LogFilter, LoggedSession, SessionLog, log, log_everywhere};
pub use next_command::NextCommand;
pub use open_work::{OpenHandoff, OpenTask, WaitingItem, WaitingSource};
pub use problem::HomeProblem;

use crate::store::Store;
use crate::store::ledger::{LedgerError, WaitPolicy};
use crate::sys::env::Environment;
use crate::sys::files::FileError;
use crate::sys::git::Repository;
use crate::verbs::brief::NewestSession;
use crate::verbs::brief::dismiss::DismissableItem;
use crate::workspace::observation::{current_work_tree, last_observation};
use crate::workspace::{
    Access, FindError, SetupMode, StoreOwner, Workspace, WorkspaceError, recorded_projects,
};
use jiff::Timestamp;
use last_session::HomeSessions;
use midstride_core::brief::items::{NextStep, next_step};
use midstride_core::brief::unsettled::UnsettledItem;
use midstride_core::format::header::Status;
use midstride_core::session::checkpoint::{Highlight, HighlightKind};
use midstride_core::session::repository::WorkTreeState;
use open_work::OpenWork;
use std::cmp::Reverse;
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
    /// The newest session with work, if it is not that one.
    pub newest_session: Option<NewestSession>,
    /// The next action, if one was stated.
    pub next_action: Option<NextAction>,
    /// Checks that failed and have not passed since.
    pub failing: Vec<FailingCheck>,
    /// Requests, unchecked items and questions that sessions left open, newest first.
    pub open: Vec<DismissableItem>,
    /// The working tree, if git answered.
    pub work_tree: Option<WorkTreeState>,
    /// What waits for the user. What blocks comes first.
    pub waiting: Vec<WaitingItem>,
    /// Open handoffs: in progress, then planned, then notes.
    pub handoffs: Vec<OpenHandoff>,
    /// Tasks in progress, then those that are ready.
    pub tasks: Vec<OpenTask>,
    /// What is wrong.
    pub problems: Vec<HomeProblem>,
    /// The one command to run next.
    pub next: NextCommand,
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

/// How much to look at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HomeEffort {
    /// Ask git and read transcripts.
    Full,
    /// Read only what midstride recorded.
    Recorded,
}

/// Shows a project at a glance. Documents that the user has not trusted are only counted.
pub fn home(store: &Store) -> Result<HomeScreen, HomeError> {
    look_at(store, HomeEffort::Full)
}

/// The projects on record that have unfinished work, newest first. Skips those that cannot be opened.
pub fn unfinished_projects(environment: &Environment) -> Vec<HomeScreen> {
    let stores = open_projects(environment);
    let mut projects: Vec<HomeScreen> =
        stores.filter_map(|store| look_at(&store, HomeEffort::Recorded).ok()).collect();
    projects.retain(HomeScreen::has_unfinished_work);
    projects.sort_by_key(|project| Reverse(project.changed()));
    projects
}

/// The projects on record, without those that are excluded or cannot be opened.
fn open_projects(environment: &Environment) -> impl Iterator<Item = Store> {
    let open = |folder: PathBuf| {
        let environment = Environment { folder, session: None, ..environment.clone() };
        let workspace = Workspace::discover(environment).ok()?;
        let workspace = workspace.exclusion().is_none().then_some(workspace)?;
        Some(Store::new(workspace, WaitPolicy::Command))
    };
    recorded_projects(environment).into_iter().filter_map(open)
}

fn look_at(store: &Store, effort: HomeEffort) -> Result<HomeScreen, HomeError> {
    let access = store.workspace().access();
    let own = own_store(store)?;
    Ok(collect(own.as_ref().unwrap_or(store), access, effort)?)
}

/// The same project without the documents of others, if the user has not trusted it.
pub(in crate::verbs) fn own_store(store: &Store) -> Result<Option<Store>, WorkspaceError> {
    if store.workspace().access() == Access::Granted {
        return Ok(None);
    }
    Ok(Some(Store::new(store.workspace().own_view()?, store.wait_policy())))
}

/// Collects everything from a project or view whose documents may all be passed on.
fn collect(store: &Store, access: Access, effort: HomeEffort) -> Result<HomeScreen, FindError> {
    let workspace = store.workspace();
    let mut work = OpenWork::read(workspace)?;
    let may_read = may_read_store(workspace);
    let read = || match (may_read, effort) {
        (false, _) => Ok(HomeSessions::default()),
        (true, HomeEffort::Full) => HomeSessions::read(store),
        (true, HomeEffort::Recorded) => HomeSessions::read_captured(store),
    };
    let (facts, ledger_error) = match read().and_then(|facts| {
        if may_read {
            work.add_tasks(store)?;
        }
        Ok(facts)
    }) {
        Ok(facts) => (facts, None),
        Err(error) => (HomeSessions::default(), Some(error)),
    };
    let HomeSessions { last, newest, own, earlier, clients, uncaptured } = facts;
    let open = open_items(&own, &earlier);
    work.add_session_question(last.as_ref());
    let work_tree = match effort {
        HomeEffort::Full => current_work_tree(workspace),
        HomeEffort::Recorded => last_observation(workspace).map(|observed| observed.work_tree),
    };
    let client = last.as_ref().map(|last| last.client);
    let mut problems: Vec<HomeProblem> = problem::access_problem(access).into_iter().collect();
    if effort == HomeEffort::Full {
        problems.extend(problem::capture_problems(workspace, client, &clients, uncaptured));
    }
    let branch = workspace.repository().and_then(Repository::branch);
    Ok(HomeScreen {
        root: workspace.root().path().to_owned(),
        branch: branch.map(|name| workspace.clean(&name).0.as_str().to_owned()),
        setup: workspace.setup(),
        next_action: find_next_action(last.as_ref(), &work),
        failing: find_failing(last.as_ref(), &earlier),
        work_tree,
        next: next_command::choose_next(workspace, last.as_ref(), &work, &open, &problems),
        open,
        last_session: last,
        newest_session: newest,
        waiting: work.waiting,
        handoffs: work.handoffs,
        tasks: work.tasks,
        problems,
        ledger_error,
        unread: work.unread,
    })
}

/// The last session of this working tree, also if it still runs.
pub(in crate::verbs) fn last_session(store: &Store) -> Result<Option<LastSession>, LedgerError> {
    match may_read_store(store.workspace()) {
        true => Ok(HomeSessions::read(store)?.last),
        false => Ok(None),
    }
}

/// Whether the private store may be read. Without a state folder, it may have come from elsewhere.
pub(in crate::verbs) fn may_read_store(workspace: &Workspace) -> bool {
    workspace.store_owner() != StoreOwner::Unrecorded
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

/// What sessions left open and no other part of the screen shows.
fn open_items(own: &[UnsettledItem], earlier: &[UnsettledItem]) -> Vec<DismissableItem> {
    let is_asked = |kind| {
        matches!(
            kind,
            HighlightKind::OpenRequest | HighlightKind::Queued | HighlightKind::Unchecked
        )
    };
    let own = own.iter().filter(|one| is_asked(one.item.kind));
    let is_shown = |kind| is_asked(kind) || kind == HighlightKind::Question;
    own.chain(earlier.iter().filter(|one| is_shown(one.item.kind))).map(Into::into).collect()
}

impl HomeScreen {
    /// Whether anything is left to do.
    pub fn has_unfinished_work(&self) -> bool {
        let is_dirty = |tree: &WorkTreeState| !tree.uncommitted.is_empty() || tree.more > 0;
        self.next_action.is_some()
            || !self.failing.is_empty()
            || !self.open.is_empty()
            || !self.waiting.is_empty()
            || !self.tasks.is_empty()
            || self.handoffs.iter().any(|one| !one.is_note)
            || self.work_tree.as_ref().is_some_and(is_dirty)
    }

    /// When a session or a handoff last changed.
    pub fn changed(&self) -> Option<Timestamp> {
        let session = self.last_session.as_ref().and_then(|last| last.ended);
        self.handoffs.iter().filter_map(|one| one.changed).chain(session).max()
    }
}
