//! `midstride task note`.

use super::CliOutcome;
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs::{self, TaskBoard};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;

/// Add a note to a task
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride task note t-9cr 'the purge runs at night'")]
pub(crate) struct TaskNoteArgs {
    /// Task id or prefix
    task: String,

    /// The note
    #[arg(value_parser = super::super::parse_text)]
    text: String,

    /// The author
    #[arg(long, value_name = "WHO", value_parser = super::super::parse_text)]
    by: Option<String>,

    /// Print the task as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn note(
    ui: &mut Ui,
    store: &Store,
    args: &TaskNoteArgs,
) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    super::refuse_question(&args.task)?;
    let mut board = TaskBoard::open(store)?;
    let by = args.by.as_deref();
    let done = verbs::note_task(workspace, &mut board, &args.task, &args.text, by)?;
    if let (true, Some(task)) = (args.json, board.tasks.get(&done.id)) {
        ui.print_json(&view::task::task_change_json(&board.tasks, task, &[], &done.redacted))?;
        return Ok(CliOutcome::Clean);
    }
    ui.say(&format!("Added a note to {}", done.id))?;
    super::super::report_redacted(ui, &done.redacted)?;
    Ok(CliOutcome::Clean)
}
