use super::CliOutcome;
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;

/// Move a private handoff to the committed folder
///
/// Read the handoff first: a session handoff quotes the conversation. midstride does not stage or
/// commit anything.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride share afternoon")]
pub(crate) struct ShareArgs {
    /// Id, id prefix, `id/stage`, or path
    handoff: String,

    /// Author of the change
    #[arg(long, value_name = "WHO", value_parser = super::parse_text)]
    by: Option<String>,

    /// Print the new path as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn share(
    ui: &mut Ui,
    store: &Store,
    args: &ShareArgs,
) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let stored = workspace.find(&args.handoff)?;
    let key = stored.handoff(workspace).key();
    let path = verbs::share(store, &stored, args.by.clone())?;
    if args.json {
        ui.print_json(&view::command_result::share_json(key.to_string(), &path))?;
        return Ok(CliOutcome::Clean);
    }
    ui.say(&format!(
        "{key} is now in the committed folder: {}",
        view::display_path(workspace, &path)
    ))?;
    ui.say("Next: git add and commit it")?;
    Ok(CliOutcome::Clean)
}
