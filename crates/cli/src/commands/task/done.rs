//! `midstride task done`.

use super::CliOutcome;
use crate::commands::answer::{self, AnswerArgs};
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs::TaskChangeRequest;
use midstride_core::work::task::{TaskPatch, TaskStatus};
use midstride_surface::diagnostic::{Diagnostic, ErrorCode};

/// Finish a task or answer a question
///
/// Answering a question writes the answer into its handoff, as `midstride answer` does.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride task done t-9cr
  midstride task done market#q1 --answer 'Yes'")]
pub(crate) struct TaskDoneArgs {
    /// Task id or prefix; `HANDOFF#q1` for a question
    task: String,

    /// The answer to a question
    #[arg(long, value_name = "TEXT", value_parser = super::super::parse_text)]
    answer: Option<String>,

    /// Author of the change
    #[arg(long, value_name = "WHO", value_parser = super::super::parse_text)]
    by: Option<String>,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn done(
    ui: &mut Ui,
    store: &Store,
    args: TaskDoneArgs,
) -> Result<CliOutcome, Diagnostic> {
    if let Some((handoff, which)) = super::split_question(&args.task) {
        let (handoff, which) = (handoff.to_owned(), which.to_owned());
        let args = AnswerArgs::for_question(handoff, which, args.answer, args.by, args.json);
        return answer::answer(ui, store, &args);
    }
    if args.answer.is_some() {
        return Err(Diagnostic::with_code(
            ErrorCode::Usage,
            format!("`{}` is a task, not a question", args.task),
        )
        .hint("to add a note to a task, use `midstride task note`"));
    }
    let change = TaskPatch { status: Some(TaskStatus::Done), ..TaskPatch::default() };
    let change = TaskChangeRequest { patch: change, ..TaskChangeRequest::default() };
    super::change_task(ui, store, &args.task, &change, args.by.as_deref(), args.json)
}
