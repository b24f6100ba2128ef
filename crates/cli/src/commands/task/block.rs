//! `midstride task block`.

use super::CliOutcome;
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs::TaskChangeRequest;
use midstride_core::work::task::{TaskPatch, TaskStatus};
use midstride_surface::diagnostic::Diagnostic;

/// Say what keeps a task from going on: a reason, or another task
///
/// With `--on` it waits for that task and goes on by itself once that one is done. With `--reason`
/// it is blocked until somebody says otherwise, with `midstride task update ID --status pending`.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("why").required(true).multiple(true))]
pub(crate) struct TaskBlockArgs {
    /// The task: its id, or the start of it
    task: String,

    /// What is in the way
    #[arg(long, value_name = "WHY", group = "why", value_parser = super::super::parse_text)]
    reason: Option<String>,

    /// The task that has to be done first; may be given several times
    #[arg(long, value_name = "TASK", group = "why")]
    on: Vec<String>,

    /// Who says so
    #[arg(long, value_name = "WHO", value_parser = super::super::parse_text)]
    by: Option<String>,

    /// Print the task as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn block(
    ui: &mut Ui,
    store: &Store,
    args: TaskBlockArgs,
) -> Result<CliOutcome, Diagnostic> {
    let status = args.reason.as_ref().map(|_| TaskStatus::Blocked);
    let change = TaskPatch { status, reason: args.reason, ..TaskPatch::default() };
    let change =
        TaskChangeRequest { patch: change, depends_on: args.on, ..TaskChangeRequest::default() };
    super::change_task(ui, store, &args.task, &change, args.by.as_deref(), args.json)
}
