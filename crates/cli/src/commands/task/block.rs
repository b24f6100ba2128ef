//! `midstride task block`.

use super::CliOutcome;
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs::TaskChangeRequest;
use midstride_core::work::task::{TaskPatch, TaskStatus};
use midstride_surface::diagnostic::Diagnostic;

/// Block a task, with a reason or on another task
///
/// With `--on`, the task waits until the other task is done. With `--reason`, it is blocked until
/// you run `midstride task update ID --status pending`.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("why").required(true).multiple(true), after_help = "Examples:
  midstride task block t-9cr --reason 'no access to the database'
  midstride task block t-9cr --on t-4mx")]
pub(crate) struct TaskBlockArgs {
    /// Task id or prefix
    task: String,

    /// Why it is blocked
    #[arg(long, value_name = "WHY", group = "why", value_parser = super::super::parse_text)]
    reason: Option<String>,

    /// A task that must be done first; may be repeated
    #[arg(long, value_name = "TASK", group = "why")]
    on: Vec<String>,

    /// Author of the change
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
