//! The JSON for the home screen. Its lists are complete.

use super::goal;
use super::hints::{next_command, problem_text, reopen_command};
use crate::json::{JsonAnswer, JsonItem, JsonList};
use midstride::clients::SessionLiveness;
use midstride::verbs::{
    DismissableItem, HomeProblem, HomeScreen, LastSession, WaitingItem, WaitingSource,
};
use midstride::workspace::SetupMode;
use midstride_core::session::checkpoint::SessionEnding;
use serde::Serialize;

/// A project at a glance.
#[derive(Serialize)]
pub struct HomeJson {
    root: String,
    branch: Option<String>,
    set_up: bool,
    last_session: Option<LastSessionJson>,
    newest_session: Option<NewestSessionJson>,
    next_action: Option<NextActionJson>,
    failing: Vec<FailingCheckJson>,
    open: Vec<OpenItemJson>,
    uncommitted: Option<UncommittedJson>,
    waiting: Vec<WaitingItemJson>,
    handoffs: Vec<OpenHandoffJson>,
    tasks: Vec<OpenTaskJson>,
    problems: Vec<HomeProblemJson>,
    next: String,
}

impl JsonItem for HomeJson {
    const LIST_SCHEMA: &'static str = "projects/1";
}

impl JsonAnswer for HomeJson {
    const SCHEMA: &'static str = "status/1";
}

#[derive(Serialize)]
struct LastSessionJson {
    client: &'static str,
    session: String,
    ended: Option<String>,
    running: Option<bool>,
    captured: bool,
    ending: Option<SessionEnding>,
    about: Option<String>,
    reopen: Option<String>,
}

#[derive(Serialize)]
struct NewestSessionJson {
    client: String,
    session: String,
    ended: Option<String>,
    branch: Option<String>,
    about: Option<String>,
}

#[derive(Serialize)]
struct NextActionJson {
    text: String,
    source: String,
}

#[derive(Serialize)]
struct FailingCheckJson {
    command: String,
    error: Option<String>,
}

#[derive(Serialize)]
struct OpenItemJson {
    handle: String,
    kind: &'static str,
    text: String,
    session: String,
}

#[derive(Serialize)]
struct UncommittedJson {
    files: Vec<String>,
    more: usize,
}

#[derive(Serialize)]
struct WaitingItemJson {
    kind: &'static str,
    handoff: Option<String>,
    number: Option<usize>,
    session: Option<String>,
    task: Option<String>,
    text: String,
    owner: Option<String>,
    blocking: bool,
}

#[derive(Serialize)]
struct OpenHandoffJson {
    key: String,
    short_key: String,
    title: Option<String>,
    status: &'static str,
    note: bool,
    changed: Option<String>,
    path: String,
    next_step: Option<String>,
}

#[derive(Serialize)]
struct OpenTaskJson {
    id: String,
    name: String,
    subject: String,
    status: String,
}

#[derive(Serialize)]
struct HomeProblemJson {
    kind: &'static str,
    message: String,
    fix: String,
}

/// The JSON for the home screen of a project.
pub fn json(home: &HomeScreen) -> HomeJson {
    HomeJson {
        root: home.root.display().to_string(),
        branch: home.branch.clone(),
        set_up: home.setup != SetupMode::NotSetUp,
        last_session: home.last_session.as_ref().map(last_session_json),
        newest_session: home.newest_session.as_ref().map(|newest| {
            let summary = &newest.summary;
            NewestSessionJson {
                client: summary.client.to_string(),
                session: summary.session.to_string(),
                ended: summary.ended.map(|time| time.to_string()),
                branch: summary.branch.clone(),
                about: summary.title(),
            }
        }),
        next_action: home.next_action.as_ref().map(|action| NextActionJson {
            text: action.text.clone(),
            source: action.source.clone(),
        }),
        failing: failing_json(home),
        open: home.open.iter().map(open_json).collect(),
        uncommitted: home.work_tree.as_ref().map(|tree| UncommittedJson {
            files: tree.uncommitted.iter().map(|file| file.path.clone()).collect(),
            more: tree.more,
        }),
        waiting: home.waiting.iter().map(waiting_json).collect(),
        handoffs: handoffs_json(home),
        tasks: tasks_json(home),
        problems: home.problems.iter().map(problem_json).collect(),
        next: next_command(home),
    }
}

/// The JSON for all projects with unfinished work.
pub fn all_json(projects: &[HomeScreen]) -> JsonList<HomeJson> {
    projects.iter().map(json).collect()
}

fn last_session_json(last: &LastSession) -> LastSessionJson {
    LastSessionJson {
        client: last.client.name(),
        session: last.session.to_string(),
        ended: last.ended.map(|time| time.to_string()),
        running: match last.life {
            SessionLiveness::Running => Some(true),
            SessionLiveness::Ended => Some(false),
            SessionLiveness::Unknown => None,
        },
        captured: last.summary.is_some(),
        ending: last.summary.as_ref().map(|summary| summary.ending),
        about: goal(last),
        reopen: last.reopen.as_ref().map(reopen_command),
    }
}

fn failing_json(home: &HomeScreen) -> Vec<FailingCheckJson> {
    let checks = home.failing.iter().cloned();
    checks.map(|check| FailingCheckJson { command: check.command, error: check.error }).collect()
}

fn open_json(item: &DismissableItem) -> OpenItemJson {
    OpenItemJson {
        handle: item.handle.clone(),
        kind: item.kind,
        text: item.text.clone(),
        session: item.session.to_string(),
    }
}

fn handoffs_json(home: &HomeScreen) -> Vec<OpenHandoffJson> {
    let handoffs = home.handoffs.iter().map(|one| OpenHandoffJson {
        key: one.key.clone(),
        short_key: one.short_key.clone(),
        title: one.title.clone(),
        status: one.status.word(),
        note: one.is_note,
        changed: one.changed.map(|time| time.to_string()),
        path: one.path.display().to_string(),
        next_step: one.next_step.clone(),
    });
    handoffs.collect()
}

fn tasks_json(home: &HomeScreen) -> Vec<OpenTaskJson> {
    let tasks = home.tasks.iter().map(|task| OpenTaskJson {
        id: task.id.to_string(),
        name: task.name.clone(),
        subject: task.subject.clone(),
        status: task.status.to_string(),
    });
    tasks.collect()
}

fn waiting_json(item: &WaitingItem) -> WaitingItemJson {
    let (kind, handoff, number, session, task) = match &item.source {
        WaitingSource::Question { handoff, number, .. } => {
            ("question", Some(handoff.clone()), Some(*number), None, None)
        }
        WaitingSource::Session(id) => ("session_question", None, None, Some(id.to_string()), None),
        WaitingSource::Task(name) => ("task_question", None, None, None, Some(name.clone())),
        WaitingSource::Review { handoff, .. } => {
            ("review", Some(handoff.clone()), None, None, None)
        }
    };
    let (text, owner, blocking) = (item.text.clone(), item.owner.clone(), item.is_blocking);
    WaitingItemJson { kind, handoff, number, session, task, text, owner, blocking }
}

fn problem_json(problem: &HomeProblem) -> HomeProblemJson {
    let (message, fix) = problem_text(problem);
    let kind = match problem {
        HomeProblem::Untrusted { .. } => "untrusted",
        HomeProblem::NoStateFolder => "no_state_folder",
        HomeProblem::HooksOff | HomeProblem::HooksOffInEnvironment => "hooks_off",
        HomeProblem::NoHooks(_) => "no_hooks",
        HomeProblem::UntrustedHooks(_) => "untrusted_hooks",
        HomeProblem::Uncaptured { .. } => "uncaptured",
    };
    HomeProblemJson { kind, message, fix }
}
