mod cli_page;

use super::CliOutcome;
use crate::ui::Ui;
use clap::ValueEnum;
use midstride::clients::{self, Client};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;

/// Print a page of generated documentation
#[derive(Debug, clap::Args)]
#[command(
    hide = true,
    after_help = "Examples:
  midstride reference cli
  midstride reference findings"
)]
pub(crate) struct ReferenceArgs {
    #[arg(value_enum)]
    page: ReferencePageArg,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ReferencePageArg {
    Cli,
    Findings,
    /// The files of the Claude Code plugin, as JSON
    Plugin,
}

pub(crate) fn reference(
    ui: &mut Ui,
    args: &ReferenceArgs,
    definition: &clap::Command,
) -> Result<CliOutcome, Diagnostic> {
    let text = match args.page {
        ReferencePageArg::Plugin => {
            let files = clients::ALL.into_iter().flat_map(Client::plugin_files);
            ui.print_json(&view::client::plugin_json(files.collect()))?;
            return Ok(CliOutcome::Clean);
        }
        ReferencePageArg::Cli => cli_page::cli_page(definition),
        ReferencePageArg::Findings => view::findings::page(),
    };
    ui.print(&text)?;
    Ok(CliOutcome::Clean)
}
