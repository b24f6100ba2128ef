use super::CliOutcome;
use crate::completion::{self, ShellArg};
use crate::ui::Ui;
use midstride_surface::diagnostic::Diagnostic;

/// Print the completion script for a shell
///
/// Bash: add `source <(midstride completions bash)` to ~/.bashrc. Zsh: add `source <(midstride completions zsh)` to ~/.zshrc, after `compinit`. Fish: add `midstride completions fish | source` to ~/.config/fish/config.fish.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride completions bash
  midstride completions zsh > _midstride")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: ShellArg,
}

pub(crate) fn completions(ui: &mut Ui, args: &CompletionsArgs) -> Result<CliOutcome, Diagnostic> {
    let script = completion::registration(args.shell)?;
    ui.print(&String::from_utf8_lossy(&script))?;
    Ok(CliOutcome::Clean)
}
