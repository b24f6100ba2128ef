//! The `tasks` tool: lists, shows, adds and updates tasks.

use super::{Caller, McpTool, OFFSET, ParameterKind, ToolArguments, ToolParameter, ToolReply};
use crate::mcp::caller;
use midstride::store::Store;
use midstride::verbs::{self, AddedTask, ChangedTask, TaskBoard, TaskChangeRequest};
use midstride_core::session::TaskUpdate;
use midstride_core::text::id::TaskId;
use midstride_core::work::task::{NewTask, Task, TaskPatch, TaskStatus, Tasks};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view::task as view;
use midstride_surface::view::{count, one_line};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;

pub(super) const TOOL: McpTool = McpTool {
    name: "tasks",
    description: "List open tasks; show or change one (`task`); add one (`subject`)",
    is_read_only: false,
    parameters: &[
        ToolParameter::optional("task", ParameterKind::Text, "Task id"),
        ToolParameter::optional("subject", ParameterKind::Text, "What to do, in one line"),
        ToolParameter::optional("description", ParameterKind::Text, ""),
        ToolParameter::optional("status", ParameterKind::Word(&STATUS), ""),
        ToolParameter::optional("reason", ParameterKind::Text, "What blocks it"),
        ToolParameter::optional("after", ParameterKind::Texts, "Ids of tasks to finish first"),
        ToolParameter::optional("note", ParameterKind::Text, ""),
        ToolParameter::optional(
            "metadata",
            ParameterKind::Object,
            "agent_id, iteration, mode …; null removes",
        ),
        ToolParameter::optional("all", ParameterKind::Flag, "Include done and dropped tasks"),
        OFFSET,
    ],
    call: tasks,
};

const STATUS: [&str; 5] = ["pending", "in_progress", "blocked", "done", "dropped"];
const SUBJECT_WIDTH: usize = 120;

fn tasks(caller: &Caller, arguments: &ToolArguments) -> Result<ToolReply, Diagnostic> {
    let store = caller.store()?;
    if arguments.text("subject").is_some_and(|subject| subject.lines().count() > 1) {
        return Err(
            Diagnostic::new("`subject` must be one line").hint("put the rest in `description`")
        );
    }
    refuse_unused_arguments(arguments)?;
    match (arguments.text("task"), arguments.text("subject")) {
        (Some(task), _) => change_or_show(&store, caller, arguments, task),
        (None, Some(subject)) => add(&store, caller, arguments, subject),
        (None, None) => list(&store, arguments),
    }
}

/// Rejects arguments that this call would ignore.
fn refuse_unused_arguments(arguments: &ToolArguments) -> Result<(), Diagnostic> {
    let (of_a_task, hint): (&[&str], &str) =
        match (arguments.text("task"), arguments.text("subject")) {
            (Some(_), _) => return Ok(()),
            (None, Some(_)) => (
                &["status", "reason", "note"],
                "add the task first, then call again with its id as `task`",
            ),
            (None, None) => (
                &["description", "reason", "after", "note", "metadata"],
                "pass `task` to change an existing task, or `subject` to add one",
            ),
        };
    let given = arguments.subset(of_a_task);
    let given: Vec<String> = given.keys().map(|name| format!("`{name}`")).collect();
    match given.is_empty() {
        true => Ok(()),
        false => {
            let given = given.join(", ");
            Err(Diagnostic::new(format!("cannot use {given} without `task`")).hint(hint))
        }
    }
}

/// The full id of a task that is to be changed or depended on.
fn full_id(tasks: &Tasks, name: &str) -> Result<String, Diagnostic> {
    let typed = name.trim().to_lowercase();
    let task = tasks.find(&typed)?;
    let id = &task.id;
    let is_name = tasks.display_name(task).eq_ignore_ascii_case(&typed);
    let is_whole = is_name || id.as_str() == typed || id.short() == typed;
    let bare = typed.strip_prefix("t-").unwrap_or(&typed);
    caller::require_long_name(&typed, is_whole || caller::is_long_enough(bare), &id.to_string())?;
    Ok(id.as_str().to_owned())
}

/// The full ids of the tasks to depend on. A full id is accepted even if its task is not on this
/// machine.
fn full_ids(tasks: &Tasks, names: &[String]) -> Result<Vec<String>, Diagnostic> {
    let one = |name: &String| match TaskId::parse(name) {
        Some(_) => Ok(name.clone()),
        None => full_id(tasks, name),
    };
    names.iter().map(one).collect()
}

fn list(store: &Store, arguments: &ToolArguments) -> Result<ToolReply, Diagnostic> {
    let tasks = TaskBoard::open(store)?.tasks;
    let all = arguments.flag("all") == Some(true);
    let status = arguments.text("status").and_then(TaskStatus::parse);
    let fits = |task: &&Task| match status {
        Some(status) => task.status == status,
        None => all || task.status.is_open(),
    };
    let mut chosen: Vec<&Task> = tasks.iter().filter(fits).collect();
    if chosen.is_empty() {
        return Ok(ToolReply::from_text("No matching tasks. Pass `subject` to add one."));
    }
    view::sort(&tasks, &mut chosen);
    let line = |task: &&Task| {
        let waits = if tasks.is_blocked(task) { ", waiting" } else { "" };
        let subject = one_line(view::subject(task), SUBJECT_WIDTH);
        let who = view::worker(task).map(|who| format!(", {who}")).unwrap_or_default();
        format!("{} ({}{waits}{who}): {subject}\n", task.id, task.status)
    };
    let text: String = chosen.iter().map(line).collect();
    let source = count(chosen.len(), "task");
    ToolReply::default().with_quoted_page(&source, &text, arguments.as_usize("offset").unwrap_or(0))
}

fn add(
    store: &Store,
    caller: &Caller,
    arguments: &ToolArguments,
    subject: &str,
) -> Result<ToolReply, Diagnostic> {
    let given = metadata(arguments).into_iter();
    let new = NewTask {
        subject: subject.to_owned(),
        description: arguments.owned_text("description"),
        metadata: given.filter_map(|(key, value)| Some((key, value?))).collect(),
        ..NewTask::default()
    };
    let after = arguments.texts("after");
    let after = match after.is_empty() {
        true => after,
        false => full_ids(&TaskBoard::open(store)?.tasks, &after)?,
    };
    let AddedTask { task: done, is_new } =
        verbs::add_session_task(store, &new, &after, Some(&caller.name))?;
    let ChangedTask { id, redacted } = done;
    let what = if is_new { "added" } else { "already on this session's task list" };
    Ok(ToolReply::from_text(format!("{id}: {what}")).with_redactions(&redacted))
}

/// The metadata to set on a task; null removes an entry.
fn metadata(arguments: &ToolArguments) -> BTreeMap<String, Option<String>> {
    let Value::Object(map) = arguments.value("metadata") else { return BTreeMap::new() };
    let text = |text: Cow<'_, str>| text.into_owned();
    let entries = TaskUpdate::entries(map).into_iter();
    entries.map(|(key, value)| (text(key), value.map(text))).collect()
}

fn change_or_show(
    store: &Store,
    caller: &Caller,
    arguments: &ToolArguments,
    task: &str,
) -> Result<ToolReply, Diagnostic> {
    let workspace = store.workspace();
    let mut board = TaskBoard::open(store)?;
    let wish = TaskChangeRequest {
        patch: TaskPatch {
            subject: arguments.owned_text("subject"),
            description: arguments.owned_text("description"),
            status: arguments.text("status").and_then(TaskStatus::parse),
            reason: arguments.owned_text("reason"),
            metadata: metadata(arguments),
            ..TaskPatch::default()
        },
        depends_on: full_ids(&board.tasks, &arguments.texts("after"))?,
        removed_dependencies: Vec::new(),
    };
    let by = Some(caller.name.as_str());
    let changes = ["subject", "description", "status", "reason", "after", "metadata"];
    let mut reply = ToolReply::default();
    let task = match arguments.subset(&changes).is_empty() && arguments.text("note").is_none() {
        true => task.to_owned(),
        false => full_id(&board.tasks, task)?,
    };
    let task = task.as_str();
    if !arguments.subset(&changes).is_empty() {
        let done = verbs::change_task(workspace, &mut board, task, &wish, by)?;
        reply = reply.with_redactions(&done.task.redacted);
    }
    if let Some(note) = arguments.text("note") {
        let done = verbs::note_task(workspace, &mut board, task, note, by)?;
        reply = reply.with_redactions(&done.redacted);
    }
    let task = board.tasks.find(task)?;
    let source = format!("Task {}", task.id);
    let text = view::text(&board.tasks, task);
    reply.with_quoted_page(&source, &text, arguments.as_usize("offset").unwrap_or(0))
}
