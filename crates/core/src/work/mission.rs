//! The mission: the state of the work as a whole. What somebody captured is kept; the rest is read
//! from the tasks at any moment.

mod from_tasks;

use crate::work::event::{Envelope, Event, MissionEvent, TaskStatus};
use crate::work::task::{AwaitedTask, Task, TaskRole, Tasks};
use jiff::Timestamp;
use std::collections::BTreeSet;

/// What an agent that works on a task is called in its metadata.
pub const AGENT: &str = "agent_id";
/// The metadata that names who does a task, as the client calls them.
pub const OWNER: &str = "owner";

/// The state of the mission as it was captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mission {
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub by: String,
    /// What was decided.
    pub decisions: Vec<String>,
    /// What is not known.
    pub questions: Vec<String>,
    /// What to do when the work goes on.
    pub next: Vec<String>,
    /// How it is being worked.
    pub mode: Option<String>,
    /// The iteration that the work is in.
    pub iteration: Option<u64>,
}

/// Every state that was captured, the oldest first. Only the last one counts.
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

/// The tasks by status. Tasks that hold a question or the state of the mission are no work.
#[derive(Debug, Default)]
pub struct TaskOverview<'t> {
    /// How many are done.
    pub completed: usize,
    /// Those that somebody works on.
    pub in_progress: Vec<&'t Task>,
    /// Those that cannot go on.
    pub blocked: Vec<&'t Task>,
    /// What they wait for.
    pub awaited: Vec<AwaitedTask<'t>>,
    /// Those that somebody can begin.
    pub pending: Vec<&'t Task>,
}

impl<'t> TaskOverview<'t> {
    /// Told from the tasks.
    pub fn from_tasks(tasks: &'t Tasks) -> Self {
        let mut standing = Self::default();
        let mut seen = BTreeSet::new();
        for task in tasks.iter().filter(|task| task.role() == TaskRole::Work) {
            match task.status {
                TaskStatus::Done => standing.completed += 1,
                TaskStatus::Dropped => {}
                TaskStatus::InProgress => standing.in_progress.push(task),
                TaskStatus::Pending | TaskStatus::Blocked if tasks.is_blocked(task) => {
                    standing.blocked.push(task);
                    let awaited = tasks.awaited_tasks(task).into_iter();
                    standing.awaited.extend(awaited.filter(|awaited| seen.insert(awaited.id)));
                }
                TaskStatus::Pending | TaskStatus::Blocked => standing.pending.push(task),
            }
        }
        standing
    }
}
