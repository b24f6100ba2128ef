//! `midstride task import`.

use super::CliOutcome;
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;

/// Import the tasks of a handoff
///
/// Adds the tasks that the handoff has and this project lacks. Existing tasks stay as they are.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride task import market")]
pub(crate) struct TaskImportArgs {
    /// Id, prefix of an id, `id/stage`, or path
    handoff: String,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn import(
    ui: &mut Ui,
    store: &Store,
    args: &TaskImportArgs,
) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let stored = workspace.find(&args.handoff)?;
    let imported = verbs::import_tasks(store, &stored)?;
    if args.json {
        ui.print_json(&view::task::import_json(&imported))?;
        return Ok(CliOutcome::Clean);
    }
    if imported.created.is_empty() && imported.existing.is_empty() && imported.unreadable == 0 {
        let key = stored.handoff(workspace).key();
        ui.say(&format!("{key} has no tasks"))?;
    }
    super::super::report_imported(ui, &imported)?;
    Ok(CliOutcome::Clean)
}
