use super::CliOutcome;
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs::{self, StartOutcome};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;

/// Begin to work on a handoff
///
/// The tasks that it carries, and that are not here, are made again; `midstride task list` shows
/// them. Names the blocking questions that are open here and in the handoffs it builds on.
#[derive(Debug, clap::Args)]
pub(crate) struct StartArgs {
    /// The handoff: an id, the start of one, `id/stage`, or a path
    handoff: String,

    /// Who works on it
    #[arg(long, value_name = "WHO", value_parser = super::parse_text)]
    by: Option<String>,

    /// Print what was recorded as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn start(
    ui: &mut Ui,
    store: &Store,
    args: &StartArgs,
) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let stored = workspace.find(&args.handoff)?;
    let StartOutcome { recorded, reason, blocking, imported } =
        verbs::start(store, &stored, args.by.clone())?;
    if args.json {
        let json = view::recorded_change::json(workspace, &stored, &recorded, &reason);
        let json = json.with_blocking(&blocking);
        let json = match &imported {
            Ok(imported) => json.with_tasks(imported),
            Err(_) => json,
        };
        ui.print_json(&json)?;
    } else {
        super::report_recorded(ui, workspace, &stored, &recorded, &reason, false)?;
        super::report_blocking(ui, &blocking)?;
    }
    match imported {
        Ok(imported) if !args.json => super::report_imported(ui, &imported)?,
        Ok(_) => {}
        // The handoff is started, even if its tasks could not be imported.
        Err(error) => ui.warn(&Diagnostic::from(error).hint(format!(
            "midstride task import {} tries again",
            view::shell_word(&args.handoff)
        )))?,
    }
    Ok(CliOutcome::Clean)
}
