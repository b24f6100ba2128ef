//! Tasks: listed, shown, added and changed.

use super::{Arguments, Caller, Kind, OFFSET, Parameter, Reply, Tool};
use crate::diagnostic::Diagnostic;
use crate::view::task as view;
use crate::view::{count, one_line};
use midstride::project::Project;
use midstride::verbs::{self, Board, Done, TaskWish};
use midstride_core::task::{NewTask, Task, TaskStatus, Wish};

pub(super) const TOOL: Tool = Tool {
    name: "tasks",
    says: "List open tasks; show or change one (`task`); add one (`subject`)",
    only_reads: false,
    parameters: &[
        Parameter::new("task", Kind::Text, "Its id"),
        Parameter::new("subject", Kind::Text, "What is to be done, one line"),
        Parameter::new("description", Kind::Text, ""),
        Parameter::new("status", Kind::Word(&STATUS), ""),
        Parameter::new("reason", Kind::Text, "What blocks it"),
        Parameter::new("after", Kind::Texts, "Ids that come first"),
        Parameter::new("note", Kind::Text, ""),
        Parameter::new("all", Kind::Flag, "Ended ones too"),
        OFFSET,
    ],
    call: tasks,
};

const STATUS: [&str; 5] = ["pending", "in_progress", "blocked", "done", "dropped"];
const SUBJECT_WIDTH: usize = 120;

fn tasks(caller: &Caller, arguments: &Arguments) -> Result<Reply, Diagnostic> {
    let project = caller.project()?;
    if arguments.text("subject").is_some_and(|subject| subject.lines().count() > 1) {
        return Err(
            Diagnostic::new("`subject` has several lines").hint("`description` takes the rest")
        );
    }
    match (arguments.text("task"), arguments.text("subject")) {
        (Some(task), _) => one(&project, caller, arguments, task),
        (None, Some(subject)) => add(&project, caller, arguments, subject),
        (None, None) => list(&project, arguments),
    }
}

fn list(project: &Project, arguments: &Arguments) -> Result<Reply, Diagnostic> {
    let tasks = Board::open(project)?.tasks;
    let all = arguments.flag("all") == Some(true);
    let status = arguments.text("status").and_then(TaskStatus::read);
    let fits = |task: &&Task| match status {
        Some(status) => task.status == status,
        None => all || task.status.is_open(),
    };
    let mut chosen: Vec<&Task> = tasks.iter().filter(fits).collect();
    if chosen.is_empty() {
        return Ok(Reply::says("No task fits. `subject` adds one."));
    }
    view::sort(&tasks, &mut chosen);
    let line = |task: &&Task| {
        let waits = if tasks.is_held_up(task) { ", waits" } else { "" };
        let subject = one_line(view::subject(task), SUBJECT_WIDTH);
        format!("{} ({}{waits}): {subject}\n", task.id, task.status)
    };
    let text: String = chosen.iter().map(line).collect();
    let source = count(chosen.len(), "task");
    Ok(Reply::default().carries(&source, &text, arguments.place("offset").unwrap_or(0)))
}

fn add(
    project: &Project,
    caller: &Caller,
    arguments: &Arguments,
    subject: &str,
) -> Result<Reply, Diagnostic> {
    let new = NewTask {
        subject: subject.to_owned(),
        description: arguments.owned("description"),
        ..NewTask::default()
    };
    let Done { id, redacted } =
        verbs::add_task(project, &new, &arguments.texts("after"), Some(&caller.name))?;
    Ok(Reply::says(format!("{id}: added")).without(&redacted))
}

fn one(
    project: &Project,
    caller: &Caller,
    arguments: &Arguments,
    task: &str,
) -> Result<Reply, Diagnostic> {
    let mut board = Board::open(project)?;
    let wish = TaskWish {
        wish: Wish {
            subject: arguments.owned("subject"),
            description: arguments.owned("description"),
            status: arguments.text("status").and_then(TaskStatus::read),
            reason: arguments.owned("reason"),
            ..Wish::default()
        },
        depends_on: arguments.texts("after"),
        no_longer: Vec::new(),
    };
    let by = Some(caller.name.as_str());
    let changes = ["subject", "description", "status", "reason", "after"];
    let mut reply = Reply::default();
    if !arguments.only(&changes).is_empty() {
        let done = verbs::change_task(project, &mut board, task, &wish, by)?;
        reply = reply.without(&done.redacted);
    }
    if let Some(note) = arguments.text("note") {
        let done = verbs::note_task(project, &mut board, task, note, by)?;
        reply = reply.without(&done.redacted);
    }
    let task = board.tasks.find(task)?;
    let source = format!("Task {}", task.id);
    let text = view::text(&board.tasks, task);
    Ok(reply.carries(&source, &text, arguments.place("offset").unwrap_or(0)))
}
