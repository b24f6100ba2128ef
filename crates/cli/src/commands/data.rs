use super::CliOutcome;
use crate::ui::Ui;
use midstride::sys::env::Environment;
use midstride::verbs;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;

/// List what midstride stores on this machine
///
/// For each repository and for your account, lists each kind of data with its count, size, oldest
/// entry and path. Delete captured sessions with `midstride forget`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride data
  midstride data --json")]
pub(crate) struct DataArgs {
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn data(
    ui: &mut Ui,
    environment: &Environment,
    args: &DataArgs,
) -> Result<CliOutcome, Diagnostic> {
    Ui::show_status("scanning your repositories");
    let report = verbs::data(environment);
    Ui::show_status("");
    match args.json {
        true => ui.print_json(&view::data::json(&report))?,
        false => ui.print(&view::data::text(&report))?,
    }
    let is_complete = report.projects.iter().all(|project| project.stored.is_ok());
    Ok(if is_complete { CliOutcome::Clean } else { CliOutcome::Findings })
}
