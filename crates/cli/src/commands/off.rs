use super::CliOutcome;
use crate::ui::Ui;
use midstride::verbs;
use midstride::workspace::{SetupMode, Workspace};
use midstride_surface::diagnostic::Diagnostic;

/// Turn hooks off in this project
///
/// Sessions here are not briefed or captured until you run `midstride on`. Applies to all worktrees
/// and is not committed. Setting `MIDSTRIDE=off` in a client's environment silences its hooks; its
/// transcript still exists, and the next session captures it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride off")]
pub(crate) struct OffArgs {}

pub(crate) fn off(ui: &mut Ui, workspace: &Workspace) -> Result<CliOutcome, Diagnostic> {
    if let Some(exclusion) = workspace.exclusion() {
        return Err(exclusion.into());
    }
    if workspace.setup() == SetupMode::NotSetUp {
        ui.say("This folder is not a git repository, so hooks do nothing here.")?;
        return Ok(CliOutcome::Clean);
    }
    let changed = verbs::switch_hooks(workspace, false)?;
    ui.say(if changed {
        "Hooks are off here; `midstride on` turns them back on."
    } else {
        "Already off."
    })?;
    Ok(CliOutcome::Clean)
}
