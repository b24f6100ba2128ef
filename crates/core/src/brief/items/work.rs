//! Builds briefing items from tasks, the mission and workflow states.

use super::{ItemSource, day};
use crate::brief::{BriefItem, ItemForm, ItemRank};
use crate::work::mission::{AGENT, Mission, TaskOverview};
use crate::work::task::{Task, Tasks};
use crate::work::workflow::WorkflowState;
use serde_json::Value;

/// Maximum number of tasks listed per state. More are counted.
const TASKS_MAX: usize = 8;

/// Where the briefing lists a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskPlacement {
    /// In the list of tasks.
    Here,
    /// With its session.
    WithSession,
    /// Nowhere: it is only counted.
    Counted,
}

/// The tasks in progress, blocked and ready that `placement` puts in the list.
pub fn task_items(tasks: &Tasks, placement: impl Fn(&Task) -> TaskPlacement) -> Vec<BriefItem> {
    let overview = TaskOverview::from_tasks(tasks);
    let origin = ItemSource::new("tasks".to_owned(), &["midstride", "task", "list"]);
    let mut items = Vec::new();
    let mut old = 0;
    let mut add = |heading, all: &[&Task], describe: &dyn Fn(&Task) -> (String, Option<String>)| {
        old += all.iter().filter(|task| placement(task) == TaskPlacement::Counted).count();
        let here = all.iter().filter(|task| placement(task) == TaskPlacement::Here);
        for task in here.clone().take(TASKS_MAX) {
            let (text, remark) = describe(task);
            let name = tasks.display_name(task);
            // The name lets an agent refer to the task. Without it, the agent would create a
            // duplicate.
            let text = format!("{name} {text}");
            let place = Some(name);
            items.push(BriefItem { remark, place, ..origin.item(ItemRank::Task, heading, text) });
        }
        let more = here.count().saturating_sub(TASKS_MAX);
        if more > 0 {
            let item = origin.item(ItemRank::Task, heading, format!("{more} more"));
            items.push(BriefItem { unbriefed: more, ..item });
        }
    };
    add("Task in progress", &overview.in_progress, &|task| {
        let agent = task.metadata.get(AGENT).map(|agent| format!(" — agent {agent}"));
        (format!("{}{}", task.subject, agent.unwrap_or_default()), None)
    });
    add("Blocked task", &overview.blocked, &|task| {
        let reason = task.reason.as_deref().map(|reason| format!(" — {reason}"));
        let awaited: Vec<String> = tasks
            .awaited_tasks(task)
            .iter()
            .map(|awaited| tasks.display_name_of(awaited.id))
            .collect();
        let waits = (!awaited.is_empty()).then(|| format!("waits for {}", awaited.join(", ")));
        (format!("{}{}", task.subject, reason.unwrap_or_default()), waits)
    });
    add("Ready task", &overview.pending, &|task| (task.subject.clone(), None));
    if old > 0 {
        let text = format!("{old} more in earlier sessions' task lists");
        items.push(BriefItem { unbriefed: old, ..origin.item(ItemRank::Rest, "Open tasks", text) });
    }
    items
}

/// The items of the mission, from its last captured state.
pub fn mission_items(mission: &Mission) -> Vec<BriefItem> {
    let origin = ItemSource::new("mission".to_owned(), &["midstride", "brief", "--as", "mission"]);
    let remark = format!("captured {}", day(mission.at));
    let to_items = |rank, heading, texts: &[String]| -> Vec<BriefItem> {
        let items = texts.iter().map(|text| origin.item(rank, heading, text.trim()));
        items.map(|item| item.with_remark(remark.clone())).collect()
    };
    [
        to_items(ItemRank::NextAction, "Next mission step", &mission.next),
        to_items(ItemRank::Decision, "Mission decision", &mission.decisions),
        to_items(ItemRank::Rest, "Open mission question", &mission.questions),
    ]
    .concat()
}

/// A workflow state that an agent saved under a name: one line per key, with long values truncated.
pub fn workflow_item(saved: &WorkflowState, number: usize, state: Option<&Value>) -> BriefItem {
    /// Maximum length of each value.
    const VALUE_LENGTH_MAX: usize = 160;
    let name = saved.name.as_str();
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
        [] => format!("{} bytes", saved.bytes),
        lines => lines.join("\n"),
    };
    let item = origin.item(ItemRank::Task, "Workflow state", text);
    item.with_remark(format!("state {number}, saved {}", day(saved.at)))
}

/// A line that counts the workflow states that are not in the briefing.
pub fn older_workflows_item(count: usize) -> BriefItem {
    let origin = ItemSource::new("workflows".to_owned(), &["midstride", "state"]);
    let states = if count == 1 { "state" } else { "states" };
    let text = format!("{count} older {states} (listed by midstride session state)");
    let item = origin.item(ItemRank::Rest, "Workflow states", text);
    BriefItem { form: ItemForm::Line, count, unbriefed: count, ..item }
}
