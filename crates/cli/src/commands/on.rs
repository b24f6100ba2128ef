use super::CliOutcome;
use crate::ui::Ui;
use midstride::verbs;
use midstride::workspace::{SetupMode, Workspace};
use midstride_surface::diagnostic::Diagnostic;

/// Switch the hooks on again
///
/// What `midstride off` switched off.
#[derive(Debug, clap::Args)]
pub(crate) struct OnArgs {}

pub(crate) fn on(ui: &mut Ui, workspace: &Workspace) -> Result<CliOutcome, Diagnostic> {
    if workspace.setup() == SetupMode::NotSetUp {
        ui.say("midstride is not set up here, so hooks are silent anyway. Next: midstride init")?;
        return Ok(CliOutcome::Clean);
    }
    let changed = verbs::switch_hooks(workspace, true)?;
    ui.say(if changed { "Hooks are on here." } else { "They were on already." })?;
    Ok(CliOutcome::Clean)
}
