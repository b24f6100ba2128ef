//! The mission: the state of the work as a whole. Captured states are stored; the rest is derived
//! from the tasks on demand.

mod from_tasks;

use crate::work::event::{Envelope, Event, MissionEvent, TaskStatus};
use crate::work::task::{AwaitedTask, Task, TaskRole, Tasks};
use jiff::Timestamp;
use std::collections::BTreeSet;

/// The metadata key for the agent that works on a task.
pub const AGENT: &str = "agent_id";
/// The metadata key for a task's owner, in the client's words.
pub const OWNER: &str = "owner";

/// A captured state of the mission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mission {
    /// When it was captured.
    pub at: Timestamp,
    /// Who captured it.
    pub by: String,
    /// The decisions.
    pub decisions: Vec<String>,
    /// The open questions.
    pub questions: Vec<String>,
    /// The next actions.
    pub next: Vec<String>,
    /// The mode of work, such as `--fg`.
    pub mode: Option<String>,
    /// The current iteration.
    pub iteration: Option<u64>,
}

/// Every captured state, oldest first. Only the last one counts.
pub fn states<'e>(events: impl IntoIterator<Item = &'e Envelope>) -> Vec<Mission> {
    let mut events: Vec<&Envelope> = events.into_iter().collect();
    events.sort_by(|a, b| (a.time, &a.id).cmp(&(b.time, &b.id)));
    events.dedup_by(|a, b| a.id == b.id);
    events.into_iter().filter_map(state_from_event).collect()
}

fn state_from_event(envelope: &Envelope) -> Option<Mission> {
    let Event::Mission(MissionEvent::Stated { decisions, questions, next, mode, iteration }) =
        &envelope.event
    else {
        return None;
    };
    Some(Mission {
        at: envelope.time,
        by: envelope.source.clone(),
        decisions: decisions.clone(),
        questions: questions.clone(),
        next: next.clone(),
        mode: mode.clone(),
        iteration: *iteration,
    })
}

/// The tasks by status. Tasks that hold a question or the mission state are not work.
#[derive(Debug, Default)]
pub struct TaskOverview<'t> {
    /// The number of done tasks.
    pub completed: usize,
    /// The tasks in progress.
    pub in_progress: Vec<&'t Task>,
    /// The blocked tasks.
    pub blocked: Vec<&'t Task>,
    /// The tasks that the blocked ones wait for.
    pub awaited: Vec<AwaitedTask<'t>>,
    /// The tasks that are ready to start.
    pub pending: Vec<&'t Task>,
}

impl<'t> TaskOverview<'t> {
    /// Builds the overview of all tasks.
    pub fn from_tasks(tasks: &'t Tasks) -> Self {
        let mut overview = Self::default();
        let mut seen = BTreeSet::new();
        for task in tasks.iter().filter(|task| task.role() == TaskRole::Work) {
            match task.status {
                TaskStatus::Done => overview.completed += 1,
                TaskStatus::Dropped => {}
                TaskStatus::InProgress => overview.in_progress.push(task),
                TaskStatus::Pending | TaskStatus::Blocked if tasks.is_blocked(task) => {
                    overview.blocked.push(task);
                    let awaited = tasks.awaited_tasks(task).into_iter();
                    overview.awaited.extend(awaited.filter(|awaited| seen.insert(awaited.id)));
                }
                TaskStatus::Pending | TaskStatus::Blocked => overview.pending.push(task),
            }
        }
        overview
    }
}
