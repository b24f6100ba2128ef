//! What is worth telling of the tasks, and of the mission.

use super::{Origin, day};
use crate::brief::{Form, Point, Rank};
use crate::work::mission::{AGENT, Mission, Standing};
use crate::work::task::{Task, Tasks};
use crate::work::workflow::KeptState;
use serde_json::Value;

/// More tasks of one standing than these are counted.
const TOLD_MAX: usize = 8;

/// Where a task is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Telling {
    /// Here.
    Here,
    /// With its session.
    WithSession,
    /// It is only counted.
    Counted,
}

/// The tasks that are in progress, blocked and ready, as far as they are told here.
pub fn of_tasks(tasks: &Tasks, telling: impl Fn(&Task) -> Telling) -> Vec<Point> {
    let standing = Standing::of(tasks);
    let origin = Origin::of("tasks".to_owned(), &["midstride", "task", "list"]);
    let mut points = Vec::new();
    let mut old = 0;
    let mut tell = |what, all: &[&Task], told: &dyn Fn(&Task) -> (String, Option<String>)| {
        old += all.iter().filter(|task| telling(task) == Telling::Counted).count();
        let here = all.iter().filter(|task| telling(task) == Telling::Here);
        for task in here.clone().take(TOLD_MAX) {
            let (text, remark) = told(task);
            let name = tasks.name(task);
            // Whoever works on it can name it; without its name it becomes a second task.
            let text = format!("{name} {text}");
            let place = Some(name);
            points.push(Point { remark, place, ..origin.point(Rank::Task, what, text) });
        }
        let more = here.count().saturating_sub(TOLD_MAX);
        if more > 0 {
            let point = origin.point(Rank::Task, what, format!("{more} more"));
            points.push(Point { unbriefed: more, ..point });
        }
    };
    tell("Task in progress", &standing.in_progress, &|task| {
        let agent = task.metadata.get(AGENT).map(|agent| format!(" — agent {agent}"));
        (format!("{}{}", task.subject, agent.unwrap_or_default()), None)
    });
    tell("Blocked task", &standing.blocked, &|task| {
        let reason = task.reason.as_deref().map(|reason| format!(" — {reason}"));
        let awaited: Vec<String> =
            tasks.awaited(task).iter().map(|awaited| tasks.name_of(awaited.id)).collect();
        let waits = (!awaited.is_empty()).then(|| format!("waits for {}", awaited.join(", ")));
        (format!("{}{}", task.subject, reason.unwrap_or_default()), waits)
    });
    tell("Ready task", &standing.pending, &|task| (task.subject.clone(), None));
    if old > 0 {
        let text = format!("{old} more on the lists of earlier sessions");
        points.push(Point { unbriefed: old, ..origin.point(Rank::Rest, "Open tasks", text) });
    }
    points
}

/// What was captured of the mission: the last state counts.
pub fn of_mission(mission: &Mission) -> Vec<Point> {
    let origin = Origin::of("mission".to_owned(), &["midstride", "brief", "--as", "mission"]);
    let remark = format!("captured {}", day(mission.at));
    let told = |rank, what, texts: &[String]| -> Vec<Point> {
        let points = texts.iter().map(|text| origin.point(rank, what, text.trim()));
        points.map(|point| point.remarked(remark.clone())).collect()
    };
    [
        told(Rank::NextAction, "Next of the mission", &mission.next),
        told(Rank::Decision, "Decision of the mission", &mission.decisions),
        told(Rank::Rest, "Open question of the mission", &mission.questions),
    ]
    .concat()
}

/// The state that an agent kept under a name: what it says, key by key, where it is not too long.
pub fn of_workflow(kept: &KeptState, number: usize, state: Option<&Value>) -> Point {
    /// Of a longer state, the beginning of each value.
    const VALUE_LENGTH_MAX: usize = 160;
    let name = kept.name.as_str();
    let origin = Origin::of(format!("workflow {name}"), &["midstride", "state", name]);
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
    let point = origin.point(Rank::Task, "Workflow state", text);
    point.remarked(format!("state {number}, saved {}", day(kept.at)))
}

/// The workflow states that are not told, in a line.
pub fn older_workflows(count: usize) -> Point {
    let origin = Origin::of("workflows".to_owned(), &["midstride", "state"]);
    let states = if count == 1 { "state" } else { "states" };
    let text = format!("{count} older {states}; midstride state lists all");
    let point = origin.point(Rank::Rest, "Workflow states", text);
    Point { form: Form::Line, count, unbriefed: count, ..point }
}
