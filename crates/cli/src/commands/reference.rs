use super::Outcome;
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;
use crate::view;
use clap::ValueEnum;

/// Print a page of the documentation that is made from the program
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub(crate) struct ReferenceArgs {
    #[arg(value_enum)]
    page: Page,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Page {
    Cli,
    Findings,
    /// The files of the plugin for Claude Code, as JSON
    Plugin,
}

pub(crate) fn reference(
    ui: &mut Ui,
    args: &ReferenceArgs,
    definition: &clap::Command,
) -> Result<Outcome, Diagnostic> {
    let text = match args.page {
        Page::Plugin => {
            ui.json(&view::client::plugin_json(midstride::clients::install::plugin()))?;
            return Ok(Outcome::Clean);
        }
        Page::Cli => view::reference::cli(definition),
        Page::Findings => view::findings::page(),
    };
    ui.print(&text)?;
    Ok(Outcome::Clean)
}
