//! `midstride task update`.

use super::CliOutcome;
use super::list::TaskStatusArg;
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs::TaskChangeRequest;
use midstride_core::work::task::TaskPatch;
use midstride_surface::diagnostic::Diagnostic;

/// Change a task; what is not named stays
///
/// Any status can be set, so whatever was done to a task can be taken back. Of two who set one status
/// at once, the second is told that it is set already.
#[derive(Debug, clap::Args)]
pub(crate) struct TaskUpdateArgs {
    /// The task: its id, or the start of it
    task: String,

    /// What is to be done, in one line
    #[arg(long, value_name = "TEXT", value_parser = super::subject)]
    subject: Option<String>,

    /// The rest of it
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,

    /// Where it stands
    #[arg(long, value_enum)]
    status: Option<TaskStatusArg>,

    /// What is in the way, with `--status blocked`
    #[arg(long, value_name = "WHY", value_parser = super::super::parse_text)]
    reason: Option<String>,

    /// A task that comes first from now on; may be given several times
    #[arg(long, value_name = "TASK")]
    depends_on: Vec<String>,

    /// A task that does not come first any longer; may be given several times
    #[arg(long, value_name = "TASK")]
    no_longer_depends_on: Vec<String>,

    /// What tools know about it, such as `iteration=3`; `KEY=` takes an entry away
    #[arg(long, value_name = "KEY=VALUE", value_parser = super::parse_entry)]
    meta: Vec<(String, String)>,

    /// Who changes it
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
