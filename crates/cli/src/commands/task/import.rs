//! `midstride task import`.

use super::CliOutcome;
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;

/// Import a handoff's tasks
///
/// Adds the handoff's tasks that this project does not have yet. Existing tasks are not changed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride task import market")]
pub(crate) struct TaskImportArgs {
    /// Id, id prefix, `id/stage`, or path
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
