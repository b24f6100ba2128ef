//! `midstride task import`.

use super::CliOutcome;
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;

/// Make the tasks again that a handoff carries and that are missing here
///
/// What is here already stays as it is, however often this is done.
#[derive(Debug, clap::Args)]
pub(crate) struct TaskImportArgs {
    /// The handoff: an id, the start of one, `id/stage`, or a path
    handoff: String,

    /// Print what came of it as JSON
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
        ui.say(&format!("{key} carries no tasks"))?;
    }
    super::super::report_imported(ui, &imported)?;
    Ok(CliOutcome::Clean)
}
