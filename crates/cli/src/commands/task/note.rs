//! Say something about a task.

use super::Outcome;
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;
use crate::view;
use midstride::verbs::{self, Board};
use midstride::workspace::project::Project;

/// Say something about a task; notes are added, never changed
#[derive(Debug, clap::Args)]
pub(crate) struct NoteArgs {
    /// The task: its id, or the start of it
    task: String,

    /// What there is to say
    #[arg(value_parser = super::super::said)]
    text: String,

    /// Who says it
    #[arg(long, value_name = "WHO", value_parser = super::super::said)]
    by: Option<String>,

    /// Print the task as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn note(ui: &mut Ui, project: &Project, args: &NoteArgs) -> Result<Outcome, Diagnostic> {
    super::refuse_question(&args.task)?;
    let mut board = Board::open(project)?;
    let by = args.by.as_deref();
    let done = verbs::note_task(project, &mut board, &args.task, &args.text, by)?;
    if let (true, Some(task)) = (args.json, board.tasks.get(&done.id)) {
        ui.json(&view::task::changed(&board.tasks, task, &[], &done.redacted))?;
        return Ok(Outcome::Clean);
    }
    ui.say(&format!("Noted on {}", done.id))?;
    super::super::tell_redacted(ui, &done.redacted)?;
    Ok(Outcome::Clean)
}
