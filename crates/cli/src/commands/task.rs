mod add;
mod block;
mod done;
mod import;
mod list;
mod mission;
mod note;
mod ready;
mod show;
mod update;

use super::{ArgumentError, CliOutcome};
use crate::ui::Ui;
use clap::Subcommand;
use midstride::store::Store;
use midstride::verbs::{self, TaskBoard, TaskChangeOutcome, TaskChangeRequest};
use midstride_surface::diagnostic::{Diagnostic, ErrorCode};
use midstride_surface::view;
use std::collections::BTreeMap;

/// List, add and finish tasks
///
/// All worktrees of a project share its tasks; `midstride sync` exchanges them with other clones,
/// and a session handoff includes the open ones. Specify a task by its id or an id prefix. Open
/// questions in handoffs are also listed as tasks.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride task add 'Warm the cache'
  midstride task list")]
pub(crate) struct TaskArgs {
    #[command(subcommand)]
    command: TaskCommand,
}

#[derive(Debug, Subcommand)]
enum TaskCommand {
    Add(add::TaskAddArgs),
    List(list::TaskListArgs),
    Ready(ready::TaskReadyArgs),
    Show(show::TaskShowArgs),
    Update(update::TaskUpdateArgs),
    Done(done::TaskDoneArgs),
    Block(block::TaskBlockArgs),
    Note(note::TaskNoteArgs),
    Import(import::TaskImportArgs),
    Mission(mission::TaskMissionArgs),
}

pub(crate) fn task(ui: &mut Ui, store: &Store, args: TaskArgs) -> Result<CliOutcome, Diagnostic> {
    match args.command {
        TaskCommand::Add(args) => add::add(ui, store, args),
        TaskCommand::List(args) => list::list(ui, store, &args),
        TaskCommand::Ready(args) => ready::ready(ui, store, &args),
        TaskCommand::Show(args) => show::show(ui, store, &args),
        TaskCommand::Update(args) => update::update(ui, store, args),
        TaskCommand::Done(args) => done::done(ui, store, args),
        TaskCommand::Block(args) => block::block(ui, store, args),
        TaskCommand::Note(args) => note::note(ui, store, &args),
        TaskCommand::Import(args) => import::import(ui, store, &args),
        TaskCommand::Mission(args) => mission::mission(ui, store, args),
    }
}

/// Splits `feat-042/discovery#q2` into the handoff and its question.
fn split_question(typed: &str) -> Option<(&str, &str)> {
    typed.rsplit_once('#')
}

/// Refuses a question. Only tasks can be changed here; a question is changed in its handoff.
fn refuse_question(typed: &str) -> Result<(), Diagnostic> {
    let Some((handoff, which)) = split_question(typed) else { return Ok(()) };
    let (handoff, which) = (view::shell_word(handoff), view::shell_word(which));
    Err(Diagnostic::with_code(
        ErrorCode::Usage,
        format!("`{typed}` is a question in a handoff, not a task"),
    )
    .hint(format!("midstride answer {handoff} {which} \"the answer\""))
    .hint(format!("to change the question: midstride edit {handoff}")))
}

/// Parses the subject of a task: one line.
fn subject(typed: &str) -> Result<String, ArgumentError> {
    let text = super::parse_text(typed)?;
    match text.lines().count() {
        1 => Ok(text),
        _ => Err(ArgumentError::new("must be one line; put the rest in --description")),
    }
}

/// Parses `KEY=VALUE`.
fn parse_entry(typed: &str) -> Result<(String, String), ArgumentError> {
    let wrong = || ArgumentError::new("write it as KEY=VALUE");
    let (key, value) = typed.split_once('=').ok_or_else(wrong)?;
    Ok((super::parse_text(key)?, value.to_owned()))
}

/// Changes a task, and reports what that means for other tasks.
fn change_task(
    ui: &mut Ui,
    store: &Store,
    typed: &str,
    change: &TaskChangeRequest,
    by: Option<&str>,
    json: bool,
) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    refuse_question(typed)?;
    let mut board = TaskBoard::open(store)?;
    let done = verbs::change_task(workspace, &mut board, typed, change, by)?;
    report_changed(ui, &board, &done, json)
}

fn report_changed(
    ui: &mut Ui,
    board: &TaskBoard,
    done: &TaskChangeOutcome,
    json: bool,
) -> Result<CliOutcome, Diagnostic> {
    let TaskChangeOutcome { task: done, previous_status, newly_ready } = done;
    let Some(task) = board.tasks.get(&done.id) else { return Ok(CliOutcome::Clean) };
    if json {
        ui.print_json(&view::task::task_change_json(
            &board.tasks,
            task,
            newly_ready,
            &done.redacted,
        ))?;
        return Ok(CliOutcome::Clean);
    }
    let subject = view::one_line(view::task::subject(task), 72);
    ui.say(&format!("{}: {}, {subject}", task.id, task.status))?;
    super::report_redacted(ui, &done.redacted)?;
    for id in newly_ready {
        let subject = board.tasks.get(id).map(view::task::subject).unwrap_or_default();
        ui.say(&format!("Ready now: {id}  {}", view::one_line(subject, 72)))?;
    }
    if let Some(before) = previous_status.filter(|before| *before != task.status) {
        ui.say(&format!("Undo: midstride task update {} --status {before}", task.id))?;
    }
    Ok(CliOutcome::Clean)
}

/// Collects metadata arguments. The last value of each key wins.
fn metadata(typed: Vec<(String, String)>) -> BTreeMap<String, String> {
    typed.into_iter().collect()
}
