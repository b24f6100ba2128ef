//! `midstride task show`.

use super::CliOutcome;
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs::TaskBoard;
use midstride::workspace::Workspace;
use midstride_surface::diagnostic::{Diagnostic, ErrorCode};
use midstride_surface::view;

/// Show one task
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride task show t-9cr
  midstride task show market#q1")]
pub(crate) struct TaskShowArgs {
    /// Task id or prefix; `HANDOFF#q1` for a question
    task: String,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn show(
    ui: &mut Ui,
    store: &Store,
    args: &TaskShowArgs,
) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    if let Some((handoff, which)) = super::split_question(&args.task) {
        return show_question(ui, workspace, handoff, which, args.json);
    }
    let tasks = TaskBoard::open(store)?.tasks;
    let task = tasks.find(&args.task)?;
    match args.json {
        true => ui.print_json(&view::task::json(&tasks, task))?,
        false => ui.print(&view::task::text(&tasks, task))?,
    }
    Ok(CliOutcome::Clean)
}

fn show_question(
    ui: &mut Ui,
    workspace: &Workspace,
    handoff: &str,
    which: &str,
    json: bool,
) -> Result<CliOutcome, Diagnostic> {
    let stored = [workspace.find(handoff)?];
    let questions = view::task::open_questions(workspace, &stored);
    let number = which.strip_prefix('q').and_then(|number| number.parse().ok());
    let open = questions.iter().find(|open| Some(open.number) == number).ok_or_else(|| {
        let handoff = view::shell_word(handoff);
        Diagnostic::with_code(
            ErrorCode::NotFound,
            format!("`{which}` is not an open question of `{handoff}`"),
        )
        .hint(format!("`midstride show {handoff}` shows its questions and answers"))
    })?;
    match json {
        true => ui.print_json(&view::task::question_json(open))?,
        false => ui.print(&view::task::question_text(open))?,
    }
    Ok(CliOutcome::Clean)
}
