//! Add a task.

use super::Outcome;
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;
use crate::view;
use midstride::verbs::{self, Added};
use midstride::workspace::project::Project;
use midstride_core::work::task::NewTask;

/// Add a task; prints its id
#[derive(Debug, clap::Args)]
pub(crate) struct AddArgs {
    /// What is to be done, in one line
    #[arg(value_parser = super::subject)]
    subject: String,

    /// The rest of it
    #[arg(long, value_name = "TEXT", value_parser = super::super::said)]
    description: Option<String>,

    /// A task that comes first; may be given several times
    #[arg(long, value_name = "TASK")]
    depends_on: Vec<String>,

    /// What tools know about it, such as `agent_id=abc123`; may be given several times
    #[arg(long, value_name = "KEY=VALUE", value_parser = super::entry)]
    meta: Vec<(String, String)>,

    /// Who adds it
    #[arg(long, value_name = "WHO", value_parser = super::super::said)]
    by: Option<String>,

    /// Print the ids as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn add(ui: &mut Ui, project: &Project, args: AddArgs) -> Result<Outcome, Diagnostic> {
    let new = NewTask {
        subject: args.subject,
        description: args.description,
        metadata: super::metadata(args.meta),
        ..NewTask::default()
    };
    let Added { done, is_new } =
        verbs::add_own_task(project, &new, &args.depends_on, args.by.as_deref())?;
    if args.json {
        ui.json(&view::task::added(&done.id, &done.redacted))?;
        return Ok(Outcome::Clean);
    }
    ui.print(&format!("{}\n", done.id))?;
    super::super::tell_redacted(ui, &done.redacted)?;
    if !is_new {
        ui.say("It is already on the list of this session.")?;
    }
    Ok(Outcome::Clean)
}
