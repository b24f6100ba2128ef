//! `midstride session state`.

use super::CliOutcome;
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;

/// Show workflow states that agents saved
///
/// Agents save states with the `state_save` MCP tool. Without a name, lists every workflow with its
/// newest state. Earlier states are kept; `--number` prints one of them.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride session state
  midstride session state release
  midstride session state release --number 1 --json")]
pub(super) struct StateArgs {
    /// Name of the workflow
    #[arg(value_parser = crate::commands::parse_text)]
    name: Option<String>,

    /// Number of an earlier state, starting from 1
    #[arg(long, value_name = "NUMBER", requires = "name")]
    number: Option<usize>,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn state(
    ui: &mut Ui,
    store: &Store,
    args: &StateArgs,
) -> Result<CliOutcome, Diagnostic> {
    let Some(name) = &args.name else {
        let states = verbs::states(store)?;
        match args.json {
            true => ui.print_json(&view::state::list_json(&states))?,
            false => ui.print(&view::state::list(&states))?,
        }
        return Ok(CliOutcome::Clean);
    };
    let loaded = verbs::load_state(store, name, args.number)?;
    match args.json {
        true => {
            if let Some(json) = view::state::json(&loaded) {
                ui.print_json(&json)?;
            }
        }
        false => ui.print(&view::state::text(&loaded))?,
    }
    Ok(CliOutcome::Clean)
}
