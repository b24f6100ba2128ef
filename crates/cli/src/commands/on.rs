use super::CliOutcome;
use crate::ui::Ui;
use midstride::verbs;
use midstride::workspace::{SetupMode, Workspace};
use midstride_surface::diagnostic::Diagnostic;

/// Turn hooks back on in this project
///
/// Reverts `midstride off`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride on")]
pub(crate) struct OnArgs {}

pub(crate) fn on(ui: &mut Ui, workspace: &Workspace) -> Result<CliOutcome, Diagnostic> {
    if let Some(exclusion) = workspace.exclusion() {
        return Err(exclusion.into());
    }
    if workspace.setup() == SetupMode::NotSetUp {
        ui.say("This folder is not a git repository, so hooks do nothing here.")?;
        return Ok(CliOutcome::Clean);
    }
    let changed = verbs::switch_hooks(workspace, true)?;
    ui.say(if changed { "Hooks are on here." } else { "Already on." })?;
    Ok(CliOutcome::Clean)
}
