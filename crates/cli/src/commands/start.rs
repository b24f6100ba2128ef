use super::CliOutcome;
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs::{self, StartOutcome};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;

/// Start work on a handoff
///
/// Imports the handoff's tasks that this project does not have yet; `midstride task list` shows
/// them. Lists open questions, in this handoff and upstream, that block the work.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride start feat-042/request
  midstride start feat-042/request --by ada")]
pub(crate) struct StartArgs {
    /// Id, id prefix, `id/stage`, or path
    handoff: String,

    /// Who is starting the work
    #[arg(long, value_name = "WHO", value_parser = super::parse_text)]
    by: Option<String>,

    /// Print as JSON
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
            "to retry: midstride task import {}",
            view::shell_word(&args.handoff)
        )))?,
    }
    Ok(CliOutcome::Clean)
}
