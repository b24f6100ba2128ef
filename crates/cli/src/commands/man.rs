use super::CliOutcome;
use crate::ui::Ui;
use midstride_surface::diagnostic::{Diagnostic, ErrorCode};

/// Print a manual page
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride man
  midstride man check")]
pub(crate) struct ManArgs {
    /// The command [default: midstride itself]
    command: Option<String>,
}

pub(crate) fn man(
    ui: &mut Ui,
    args: &ManArgs,
    definition: &clap::Command,
) -> Result<CliOutcome, Diagnostic> {
    let page = match &args.command {
        None => definition.clone(),
        Some(name) => {
            let found = definition.find_subcommand(name).ok_or_else(|| {
                Diagnostic::with_code(ErrorCode::NotFound, format!("there is no `{name}` command"))
                    .hint("midstride help --all lists them")
            })?;
            found.clone().display_name(format!("midstride-{name}"))
        }
    };
    let mut roff = Vec::new();
    clap_mangen::Man::new(page).render(&mut roff)?;
    ui.print(&String::from_utf8_lossy(&roff))?;
    Ok(CliOutcome::Clean)
}
