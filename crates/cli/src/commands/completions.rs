use super::CliOutcome;
use crate::ui::Ui;
use midstride_surface::diagnostic::Diagnostic;

/// Print shell completions
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride completions bash
  midstride completions zsh > _midstride")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

pub(crate) fn completions(
    ui: &mut Ui,
    args: &CompletionsArgs,
    mut definition: clap::Command,
) -> Result<CliOutcome, Diagnostic> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut definition, "midstride", &mut script);
    ui.print(&String::from_utf8_lossy(&script))?;
    Ok(CliOutcome::Clean)
}
