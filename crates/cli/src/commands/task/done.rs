//! Finish a task, or answer a question.

use super::Outcome;
use crate::commands::answer::{self, AnswerArgs};
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;
use midstride::verbs::TaskWish;
use midstride::workspace::project::Project;
use midstride_core::work::task::{TaskPatch, TaskStatus};

/// A task is done, or a question has its answer
///
/// Answering a question here is `midstride answer`: it is written into its handoff.
#[derive(Debug, clap::Args)]
pub(crate) struct DoneArgs {
    /// The task: its id, the start of it, or `HANDOFF#q1` for a question
    task: String,

    /// The answer to a question
    #[arg(long, value_name = "TEXT", value_parser = super::super::said)]
    answer: Option<String>,

    /// Who did it
    #[arg(long, value_name = "WHO", value_parser = super::super::said)]
    by: Option<String>,

    /// Print what was recorded as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn done(ui: &mut Ui, project: &Project, args: DoneArgs) -> Result<Outcome, Diagnostic> {
    if let Some((handoff, which)) = super::question_of(&args.task) {
        let (handoff, which) = (handoff.to_owned(), which.to_owned());
        let args = AnswerArgs::to_question(handoff, which, args.answer, args.by, args.json);
        return answer::answer(ui, project, &args);
    }
    if args.answer.is_some() {
        return Err(Diagnostic::new(format!("`{}` is a task, not a question", args.task))
            .hint("`midstride task note` keeps what there is to say about a task"));
    }
    let wish = TaskPatch { status: Some(TaskStatus::Done), ..TaskPatch::default() };
    let wish = TaskWish { wish, ..TaskWish::default() };
    super::change(ui, project, &args.task, &wish, args.by.as_deref(), args.json)
}
