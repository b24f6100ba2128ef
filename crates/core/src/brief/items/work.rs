//! What is worth telling of the tasks, and of the mission.

use super::{ItemSource, day};
use crate::brief::{BriefItem, ItemForm, ItemRank};
use crate::work::mission::{AGENT, Mission, TaskOverview};
use crate::work::task::{Task, Tasks};
use crate::work::workflow::WorkflowState;
use serde_json::Value;

/// More tasks of one standing than these are counted.
const TASKS_MAX: usize = 8;

/// Where a task is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskPlacement {
    /// Here.
    Here,
    /// With its session.
    WithSession,
    /// It is only counted.
    Counted,
}

/// The tasks that are in progress, blocked and ready, as far as they are told here.
pub fn task_items(tasks: &Tasks, telling: impl Fn(&Task) -> TaskPlacement) -> Vec<BriefItem> {
    let standing = TaskOverview::from_tasks(tasks);
    let origin = ItemSource::new("tasks".to_owned(), &["midstride", "task", "list"]);
    let mut points = Vec::new();
    let mut old = 0;
    let mut tell = |what, all: &[&Task], told: &dyn Fn(&Task) -> (String, Option<String>)| {
        old += all.iter().filter(|task| telling(task) == TaskPlacement::Counted).count();
        let here = all.iter().filter(|task| telling(task) == TaskPlacement::Here);
        for task in here.clone().take(TASKS_MAX) {
            let (text, remark) = told(task);
            let name = tasks.display_name(task);
            // Whoever works on it can name it; without its name it becomes a second task.
            let text = format!("{name} {text}");
            let place = Some(name);
            points.push(BriefItem { remark, place, ..origin.item(ItemRank::Task, what, text) });
        }
        let more = here.count().saturating_sub(TASKS_MAX);
        if more > 0 {
            let point = origin.item(ItemRank::Task, what, format!("{more} more"));
            points.push(BriefItem { unbriefed: more, ..point });
        }
    };
    tell("Task in progress", &standing.in_progress, &|task| {
        let agent = task.metadata.get(AGENT).map(|agent| format!(" — agent {agent}"));
        (format!("{}{}", task.subject, agent.unwrap_or_default()), None)
    });
    tell("Blocked task", &standing.blocked, &|task| {
        let reason = task.reason.as_deref().map(|reason| format!(" — {reason}"));
        let awaited: Vec<String> = tasks
            .awaited_tasks(task)
            .iter()
            .map(|awaited| tasks.display_name_of(awaited.id))
            .collect();
        let waits = (!awaited.is_empty()).then(|| format!("waits for {}", awaited.join(", ")));
        (format!("{}{}", task.subject, reason.unwrap_or_default()), waits)
    });
    tell("Ready task", &standing.pending, &|task| (task.subject.clone(), None));
    if old > 0 {
        let text = format!("{old} more on the lists of earlier sessions");
        points
            .push(BriefItem { unbriefed: old, ..origin.item(ItemRank::Rest, "Open tasks", text) });
    }
    points
}

/// What was captured of the mission: the last state counts.
pub fn mission_items(mission: &Mission) -> Vec<BriefItem> {
    let origin = ItemSource::new("mission".to_owned(), &["midstride", "brief", "--as", "mission"]);
    let remark = format!("captured {}", day(mission.at));
    let told = |rank, what, texts: &[String]| -> Vec<BriefItem> {
        let points = texts.iter().map(|text| origin.item(rank, what, text.trim()));
        points.map(|point| point.with_remark(remark.clone())).collect()
    };
    [
        told(ItemRank::NextAction, "Next of the mission", &mission.next),
        told(ItemRank::Decision, "Decision of the mission", &mission.decisions),
        told(ItemRank::Rest, "Open question of the mission", &mission.questions),
    ]
    .concat()
}

/// The state that an agent kept under a name: what it says, key by key, where it is not too long.
pub fn workflow_item(kept: &WorkflowState, number: usize, state: Option<&Value>) -> BriefItem {
    /// Of a longer state, the beginning of each value.
    const VALUE_LENGTH_MAX: usize = 160;
    let name = kept.name.as_str();
    let origin = ItemSource::new(format!("workflow {name}"), &["midstride", "state", name]);
    let value = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string()
        }
    };
    let line = |(key, given): (&String, &Value)| {
        let text = value(given);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let short: String = text.chars().take(VALUE_LENGTH_MAX).collect();
        let more = if short.len() < text.len() { "…" } else { "" };
        format!("{key}: {short}{more}")
    };
    let fields = state.and_then(Value::as_object).into_iter().flatten();
    let lines: Vec<String> = fields.map(line).collect();
    let text = match lines.as_slice() {
        [] => format!("{} bytes", kept.bytes),
        lines => lines.join("\n"),
    };
    let point = origin.item(ItemRank::Task, "Workflow state", text);
    point.with_remark(format!("state {number}, saved {}", day(kept.at)))
}

/// The workflow states that are not told, in a line.
pub fn older_workflows_item(count: usize) -> BriefItem {
    let origin = ItemSource::new("workflows".to_owned(), &["midstride", "state"]);
    let states = if count == 1 { "state" } else { "states" };
    let text = format!("{count} older {states}; midstride state lists all");
    let point = origin.item(ItemRank::Rest, "Workflow states", text);
    BriefItem { form: ItemForm::Line, count, unbriefed: count, ..point }
}
