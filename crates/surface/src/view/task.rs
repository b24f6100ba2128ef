//! Renders tasks: a single one, a list, and the results of changes.

use super::table::{Column, TextTable, id_table, line_width};
use super::{count, heading, indent, one_line, sanitize};
use crate::json::{JsonAnswer, JsonItem, JsonList};
use midstride::verbs::TaskImport;
use midstride::workspace::{StoredHandoff, Workspace};
use midstride_core::format::header::Question;
use midstride_core::text::id::{TaskId, Uid};
use midstride_core::text::redact::Redaction;
use midstride_core::text::time;
use midstride_core::work::mission::{AGENT, OWNER};
use midstride_core::work::task::{AwaitedTask, Task, TaskStatus, Tasks};
use serde::Serialize;
use std::collections::BTreeMap;

/// The prefix of a question in a list of tasks.
const QUESTION_PREFIX: &str = "QUESTION: ";

/// An unanswered question of a handoff, shown as a task. It is stored in the handoff's header.
pub struct OpenQuestion<'s> {
    /// `feat-042/discovery#q2`.
    pub(crate) id: String,
    pub(crate) handoff: String,
    /// The number of the question in its handoff, from 1.
    pub number: usize,
    /// The question itself.
    pub question: Question<'s>,
}

impl OpenQuestion<'_> {
    /// The question as the subject of a task.
    pub fn subject(&self) -> String {
        let text = self.question.question.map_or("(no text)", |text| text.value.trim());
        format!("{QUESTION_PREFIX}{text}")
    }

    /// `Blocked` if the question blocks its handoff, else `Pending`.
    pub fn status(&self) -> TaskStatus {
        if self.question.blocking { TaskStatus::Blocked } else { TaskStatus::Pending }
    }

    fn row(&self) -> Vec<String> {
        let waits = if self.question.blocking { "blocks its handoff" } else { "" };
        let owner =
            self.question.owner.map_or_else(String::new, |o| one_line(o.value, CELL_WIDTH_MAX));
        let subject = one_line(&self.subject(), usize::MAX);
        vec![self.id.clone(), self.status().to_string(), waits.to_owned(), owner, subject]
    }
}

/// The open questions of all given handoffs.
pub fn open_questions<'s>(
    workspace: &'s Workspace,
    all: &'s [StoredHandoff],
) -> Vec<OpenQuestion<'s>> {
    let of_one = |stored: &'s StoredHandoff| {
        let handoff = stored.handoff(workspace);
        let key = handoff.key().to_string();
        let open = handoff.open_questions().into_iter();
        open.map(move |(number, question)| OpenQuestion {
            id: format!("{key}#q{number}"),
            handoff: key.clone(),
            number,
            question,
        })
    };
    all.iter().flat_map(of_one).collect()
}

/// An entry of a task list.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TaskEntryJson {
    /// A task of the ledger.
    Task(Box<TaskJson>),
    /// An unanswered question of a handoff.
    Question(OpenQuestionJson),
}

impl JsonItem for TaskEntryJson {
    const LIST_SCHEMA: &'static str = "tasks/1";
}

/// A task with its notes and what it waits for.
#[derive(Serialize)]
pub struct TaskJson {
    id: String,
    uid: String,
    /// The display name: the id, or the number that the client assigned.
    name: String,
    subject: String,
    description: Option<String>,
    status: &'static str,
    reason: Option<String>,
    ready: bool,
    depends_on: Vec<String>,
    waits_for: Vec<AwaitedTaskJson>,
    metadata: BTreeMap<String, String>,
    notes: Vec<TaskNoteJson>,
    handoff: Option<Uid>,
    by: String,
    added: String,
    changed: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    newer: Vec<String>,
}

impl JsonAnswer for TaskJson {
    const SCHEMA: &'static str = "task/1";
}

#[derive(Serialize)]
struct AwaitedTaskJson {
    id: String,
    /// Absent if the task is not on this machine.
    status: Option<&'static str>,
}

#[derive(Serialize)]
struct TaskNoteJson {
    at: String,
    by: String,
    text: String,
}

/// An unanswered question of a handoff.
#[derive(Serialize)]
pub struct OpenQuestionJson {
    id: String,
    subject: String,
    status: &'static str,
    handoff: String,
    blocking: bool,
    context: Option<String>,
    owner: Option<String>,
}

impl JsonAnswer for OpenQuestionJson {
    const SCHEMA: &'static str = "question/1";
}

/// The result of changing a task.
#[derive(Serialize)]
pub struct TaskChangeJson {
    #[serde(flatten)]
    task: TaskJson,
    /// The tasks that are ready now.
    ready_now: Vec<String>,
    redacted: Vec<String>,
}

impl JsonAnswer for TaskChangeJson {
    const SCHEMA: &'static str = "task-change/1";
}

/// The result of adding a task.
#[derive(Serialize)]
pub struct AddedTaskJson {
    id: String,
    uid: String,
    redacted: Vec<String>,
}

impl JsonAnswer for AddedTaskJson {
    const SCHEMA: &'static str = "added-task/1";
}

/// The tasks that came with a handoff.
#[derive(Serialize)]
pub struct TaskImportJson {
    created: Vec<String>,
    here: Vec<String>,
    unreadable: usize,
    unknown: Vec<String>,
    redacted: Vec<String>,
}

impl JsonAnswer for TaskImportJson {
    const SCHEMA: &'static str = "task-import/1";
}

/// The agent of a task, or else its owner.
pub fn worker(task: &Task) -> Option<String> {
    let agent =
        task.metadata.get(AGENT).map(|agent| format!("agent {}", one_line(agent, CELL_WIDTH_MAX)));
    agent.or_else(|| task.metadata.get(OWNER).map(|owner| one_line(owner, CELL_WIDTH_MAX)))
}

fn short_ids(ids: &[TaskId]) -> Vec<String> {
    ids.iter().map(TaskId::short).collect()
}

/// Short ids, separated by commas.
pub fn joined_ids(ids: &[TaskId]) -> String {
    short_ids(ids).join(", ")
}

fn redacted_kinds(redacted: &[Redaction]) -> Vec<String> {
    redacted.iter().map(|secret| secret.kind.to_string()).collect()
}

/// The JSON for imported tasks.
pub fn import_json(imported: &TaskImport) -> TaskImportJson {
    TaskImportJson {
        created: short_ids(&imported.created),
        here: short_ids(&imported.existing),
        unreadable: imported.unreadable,
        unknown: imported.unknown.clone(),
        redacted: redacted_kinds(&imported.redacted),
    }
}

/// The JSON for an added task.
pub fn added_task_json(id: &TaskId, redacted: &[Redaction]) -> AddedTaskJson {
    let redacted = redacted_kinds(redacted);
    AddedTaskJson { id: id.short(), uid: id.as_str().to_owned(), redacted }
}

/// The JSON for a changed task. `ready_now` are the tasks that the change made ready.
pub fn task_change_json(
    tasks: &Tasks,
    task: &Task,
    ready_now: &[TaskId],
    redacted: &[Redaction],
) -> TaskChangeJson {
    let redacted = redacted_kinds(redacted);
    TaskChangeJson { task: json(tasks, task), ready_now: short_ids(ready_now), redacted }
}

/// The JSON for a task.
pub fn json(tasks: &Tasks, task: &Task) -> TaskJson {
    let awaited = |awaited: AwaitedTask<'_>| AwaitedTaskJson {
        id: awaited.id.short(),
        status: awaited.status.map(TaskStatus::word),
    };
    TaskJson {
        id: task.id.short(),
        uid: task.id.as_str().to_owned(),
        name: tasks.display_name(task),
        subject: task.subject.clone(),
        description: task.description.clone(),
        status: task.status.word(),
        reason: task.reason.clone(),
        ready: tasks.is_ready(task),
        depends_on: task.depends_on.iter().map(TaskId::short).collect(),
        waits_for: tasks.awaited_tasks(task).into_iter().map(awaited).collect(),
        metadata: task.metadata.clone(),
        notes: task
            .notes
            .iter()
            .map(|note| TaskNoteJson {
                at: time::format_time(note.at),
                by: note.by.clone(),
                text: note.text.clone(),
            })
            .collect(),
        handoff: task.handoff.clone(),
        by: task.by.clone(),
        added: time::format_time(task.added),
        changed: time::format_time(task.changed),
        newer: task.newer_kinds.iter().cloned().collect(),
    }
}

/// The JSON for an unanswered question.
pub fn question_json(open: &OpenQuestion<'_>) -> OpenQuestionJson {
    OpenQuestionJson {
        id: open.id.clone(),
        subject: open.subject(),
        status: open.status().word(),
        handoff: open.handoff.clone(),
        blocking: open.question.blocking,
        context: open.question.context.map(|text| text.value.to_owned()),
        owner: open.question.owner.map(|owner| owner.value.to_owned()),
    }
}

/// All entries of a task list.
pub fn entries(
    tasks: &Tasks,
    list: &[&Task],
    questions: &[OpenQuestion<'_>],
) -> JsonList<TaskEntryJson> {
    let listed = list.iter().map(|task| TaskEntryJson::Task(Box::new(json(tasks, task))));
    listed.chain(questions.iter().map(|q| TaskEntryJson::Question(question_json(q)))).collect()
}

/// Sorts tasks: in progress first, then ready, then blocked, then finished.
pub fn sort(tasks: &Tasks, list: &mut [&Task]) {
    list.sort_by_cached_key(|task| {
        let rank = match task.status {
            TaskStatus::InProgress => 0,
            TaskStatus::Pending | TaskStatus::Blocked if !tasks.is_blocked(task) => 1,
            TaskStatus::Pending | TaskStatus::Blocked => 2,
            TaskStatus::Done => 3,
            TaskStatus::Dropped => 4,
        };
        (rank, task.added, task.id.clone())
    });
}

/// The width at which the cells of all columns but the last are truncated.
const CELL_WIDTH_MAX: usize = 40;

const COLUMNS: [Column; 5] = [
    Column { name: "ID", drop_order: None },
    Column { name: "STATUS", drop_order: None },
    Column { name: "WAITS FOR", drop_order: Some(1) },
    Column { name: "WHO", drop_order: Some(0) },
    Column { name: "SUBJECT", drop_order: None },
];

/// The task list: tasks first, then questions.
pub fn render_table(
    tasks: &Tasks,
    list: &[&Task],
    questions: &[OpenQuestion<'_>],
    terminal: Option<usize>,
) -> TextTable {
    let rows = list.iter().map(|task| row(tasks, task));
    let rows: Vec<Vec<String>> = rows.chain(questions.iter().map(OpenQuestion::row)).collect();
    id_table(&COLUMNS, &rows, line_width(terminal))
}

fn row(tasks: &Tasks, task: &Task) -> Vec<String> {
    let who = task.metadata.get(AGENT).or_else(|| task.metadata.get(OWNER));
    let who = who.map_or_else(String::new, |who| one_line(who, CELL_WIDTH_MAX));
    let subject = one_line(subject(task), usize::MAX);
    let waits = one_line(&waits_for_text(tasks, task), CELL_WIDTH_MAX);
    vec![tasks.display_name(task), task.status.to_string(), waits, who, subject]
}

/// The subject of a task, if its first event is known.
pub fn subject(task: &Task) -> &str {
    if task.subject.is_empty() { "(creation not recorded here)" } else { &task.subject }
}

/// What a task is waiting for.
fn waits_for_text(tasks: &Tasks, task: &Task) -> String {
    let awaited = tasks.awaited_tasks(task).into_iter().map(|awaited| match awaited.status {
        None => format!("{} (not here)", awaited.id),
        Some(TaskStatus::Dropped) => format!("{} (dropped)", awaited.id),
        Some(_) => tasks.display_name_of(awaited.id),
    });
    let open = task.status.is_open();
    task.reason.iter().cloned().chain(awaited).filter(|_| open).collect::<Vec<_>>().join(", ")
}

/// A task for the terminal.
pub fn text(tasks: &Tasks, task: &Task) -> String {
    let mut out = format!("{}  {}\n\n", task.id, sanitize(subject(task)));
    let mut line = |name: &str, text: &str| {
        if !text.is_empty() {
            out.push_str(&format!("{name:<12}{}\n", one_line(text, usize::MAX)));
        }
    };
    line("status", task.status.word());
    line("waits for", &waits_for_text(tasks, task));
    let follow = tasks.iter().filter(|other| other.depends_on.contains(&task.id));
    line("before", &joined_ids(&follow.map(|other| other.id.clone()).collect::<Vec<_>>()));
    for (name, value) in &task.metadata {
        line(name, value);
    }
    line("added", &format!("{} by {}", time::format_time(task.added), task.by));
    line("changed", &time::format_time(task.changed));
    line("uid", task.id.as_str());
    line("handoff", task.handoff.as_ref().map_or("", Uid::as_str));
    if let Some(description) = &task.description {
        out.push_str(&format!("\n{}\n", sanitize(description.trim_end())));
    }
    if !task.notes.is_empty() {
        out.push_str(&format!("\n{}", heading(&count(task.notes.len(), "note"))));
        for note in &task.notes {
            let head = format!("{}  {}", time::format_time(note.at), note.by);
            let entry = format!("{head}\n{}", indent(note.text.trim_end()));
            out.push_str(&indent(&sanitize(&entry)));
        }
    }
    out
}

/// A question as a task, for the terminal.
pub fn question_text(open: &OpenQuestion<'_>) -> String {
    let mut out = format!("{}  {}\n\n", open.id, open.subject());
    let blocks = if open.question.blocking { ", and blocks its handoff" } else { "" };
    out.push_str(&format!("status      {}{blocks}\n", open.status()));
    let parts = [("context", open.question.context), ("owner", open.question.owner)];
    for (name, text) in parts {
        if let Some(text) = text {
            out.push_str(&format!("{name:<12}{}\n", one_line(text.value, usize::MAX)));
        }
    }
    sanitize(&out)
}
