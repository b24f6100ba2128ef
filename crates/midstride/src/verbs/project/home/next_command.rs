//! The one command to run next.

use super::last_session::LastSession;
use super::open_work::{OpenWork, WaitingSource};
use super::problem::HomeProblem;
use crate::clients::SessionLiveness;
use crate::verbs::brief::dismiss::DismissableItem;
use crate::workspace::{Catalog, SetupMode, StoredHandoff, Workspace};
use midstride_core::session::checkpoint::SessionEnding;

/// The command to run next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextCommand {
    /// Set midstride up.
    Init,
    /// Trust the project.
    Trust,
    /// Reopen the last session.
    Reopen,
    /// Answer a question that blocks its handoff.
    Answer {
        /// The key of the handoff, as shown.
        handoff: String,
        /// The number of the question.
        number: usize,
    },
    /// Print what the next session has to know: the last one is complete or cannot be reopened.
    Brief,
    /// Capture ended sessions.
    Recover,
    /// Install midstride into the clients.
    Setup,
    /// Advance a complete handoff to one of these stages.
    Advance {
        /// The key of the handoff.
        handoff: String,
        /// The stages.
        stages: Vec<String>,
    },
    /// Show a handoff.
    ShowHandoff(String),
    /// Show a task.
    ShowTask(String),
    /// Write a handoff.
    New,
}

/// Chooses the next command.
pub(super) fn choose_next(
    workspace: &Workspace,
    last: Option<&LastSession>,
    work: &OpenWork,
    items: &[DismissableItem],
    problems: &[HomeProblem],
) -> NextCommand {
    if workspace.setup() == SetupMode::NotSetUp {
        return NextCommand::Init;
    }
    let open = last.filter(|last| is_unanswered(last));
    if open.is_some_and(|last| last.reopen.is_some()) {
        return NextCommand::Reopen;
    }
    let blocking = work.waiting.iter().filter(|item| item.is_blocking);
    let answer = blocking.filter_map(|item| match &item.source {
        WaitingSource::Question { short_key, number, .. } => {
            Some(NextCommand::Answer { handoff: short_key.clone(), number: *number })
        }
        WaitingSource::Session(_) | WaitingSource::Task(_) | WaitingSource::Review { .. } => None,
    });
    if let Some(answer) = answer.into_iter().next() {
        return answer;
    }
    // Setup comes first, because it also asks for trust and captures.
    if problems.iter().any(|problem| matches!(problem, HomeProblem::NoHooks(_))) {
        return NextCommand::Setup;
    }
    let fix = problems.iter().find_map(|problem| match problem {
        HomeProblem::Untrusted { .. } => Some(NextCommand::Trust),
        HomeProblem::Uncaptured { .. } => Some(NextCommand::Recover),
        HomeProblem::NoHooks(_)
        | HomeProblem::NoStateFolder
        | HomeProblem::HooksOff
        | HomeProblem::HooksOffInEnvironment
        | HomeProblem::UntrustedHooks(_) => None,
    });
    if let Some(fix) = fix {
        return fix;
    }
    match (open, &work.first, work.tasks.first()) {
        (Some(_), _, _) => NextCommand::Brief,
        (None, Some(stored), _) => advance_or_show(workspace, stored, work),
        (None, None, Some(task)) => NextCommand::ShowTask(task.name.clone()),
        (None, None, None) if last.is_some() || !items.is_empty() => NextCommand::Brief,
        (None, None, None) => NextCommand::New,
    }
}

/// Whether a session ended while a request or a question was open.
fn is_unanswered(last: &LastSession) -> bool {
    let ending = last.summary.as_ref().map(|summary| summary.ending);
    last.life != SessionLiveness::Running
        && ending.is_some_and(|ending| ending.is_open() || ending == SessionEnding::Asked)
}

/// Advances a handoff if nothing blocks it and there is a next stage.
fn advance_or_show(workspace: &Workspace, stored: &StoredHandoff, work: &OpenWork) -> NextCommand {
    let handoff = stored.handoff(workspace);
    let key = handoff.key().to_string();
    let stages = handoff.stage().map(|stage| workspace.settings().stages.derived_from(stage));
    let stages: Vec<String> = stages.into_iter().flatten().map(str::to_owned).collect();
    if !stages.is_empty() && Catalog::new(workspace).check(stored).blocking().is_empty() {
        return NextCommand::Advance { handoff: key, stages };
    }
    let shown = work.handoffs.iter().find(|one| one.key == key);
    NextCommand::ShowHandoff(shown.map_or(key, |one| one.short_key.clone()))
}
