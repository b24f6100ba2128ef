//! `midstride task update`.

use super::CliOutcome;
use super::list::TaskStatusArg;
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs::TaskChangeRequest;
use midstride_core::work::task::TaskPatch;
use midstride_surface::diagnostic::Diagnostic;

/// Change a task
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride task update t-9cr --subject 'Warm the cache at start'
  midstride task update t-9cr --status in_progress")]
pub(crate) struct TaskUpdateArgs {
    /// Task id or prefix
    task: String,

    /// What to do, in one line
    #[arg(long, value_name = "TEXT", value_parser = super::subject)]
    subject: Option<String>,

    /// Details
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,

    /// New status
    #[arg(long, value_enum)]
    status: Option<TaskStatusArg>,

    /// Why it is blocked, with `--status blocked`
    #[arg(long, value_name = "WHY", value_parser = super::super::parse_text)]
    reason: Option<String>,

    /// Add a task that must be done first; may be repeated
    #[arg(long, value_name = "TASK")]
    depends_on: Vec<String>,

    /// Remove a task that must be done first; may be repeated
    #[arg(long, value_name = "TASK")]
    no_longer_depends_on: Vec<String>,

    /// Metadata for tools, such as `iteration=3`; `KEY=` removes an entry
    #[arg(long, value_name = "KEY=VALUE", value_parser = super::parse_entry)]
    meta: Vec<(String, String)>,

    /// Author of the change
    #[arg(long, value_name = "WHO", value_parser = super::super::parse_text)]
    by: Option<String>,

    /// Print the task as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn update(
    ui: &mut Ui,
    store: &Store,
    args: TaskUpdateArgs,
) -> Result<CliOutcome, Diagnostic> {
    let metadata = super::metadata(args.meta).into_iter();
    let change = TaskPatch {
        subject: args.subject,
        description: args.description,
        status: args.status.map(Into::into),
        reason: args.reason,
        metadata: metadata.map(|(k, v)| (k, Some(v).filter(|v| !v.is_empty()))).collect(),
        ..TaskPatch::default()
    };
    let (depends_on, no_longer) = (args.depends_on, args.no_longer_depends_on);
    let change = TaskChangeRequest { patch: change, depends_on, removed_dependencies: no_longer };
    super::change_task(ui, store, &args.task, &change, args.by.as_deref(), args.json)
}
