//! `midstride task add`.

use super::CliOutcome;
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs::{self, AddedTask};
use midstride_core::work::task::NewTask;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;

/// Add a task and print its id
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride task add 'Warm the cache'
  midstride task add 'Measure again' --description 'on a cold machine'")]
pub(crate) struct TaskAddArgs {
    /// What to do, in one line
    #[arg(value_parser = super::subject)]
    subject: String,

    /// Details
    #[arg(long, value_name = "TEXT", value_parser = super::super::parse_text)]
    description: Option<String>,

    /// A task that must be done first; may be repeated
    #[arg(long, value_name = "TASK")]
    depends_on: Vec<String>,

    /// Metadata for tools, such as `agent_id=abc123`; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = super::parse_entry)]
    meta: Vec<(String, String)>,

    /// The author
    #[arg(long, value_name = "WHO", value_parser = super::super::parse_text)]
    by: Option<String>,

    /// Print the ids as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn add(ui: &mut Ui, store: &Store, args: TaskAddArgs) -> Result<CliOutcome, Diagnostic> {
    let new = NewTask {
        subject: args.subject,
        description: args.description,
        metadata: super::metadata(args.meta),
        ..NewTask::default()
    };
    let AddedTask { task: done, is_new } =
        verbs::add_session_task(store, &new, &args.depends_on, args.by.as_deref())?;
    if args.json {
        ui.print_json(&view::task::added_task_json(&done.id, &done.redacted))?;
        return Ok(CliOutcome::Clean);
    }
    ui.print(&format!("{}\n", done.id))?;
    super::super::report_redacted(ui, &done.redacted)?;
    if !is_new {
        ui.say("This task is already on this session's task list.")?;
    }
    Ok(CliOutcome::Clean)
}
