use super::CliOutcome;
use crate::ui::Ui;
use midstride::verbs;
use midstride::workspace::{SetupMode, Workspace};
use midstride_surface::diagnostic::Diagnostic;

/// Switch the hooks off in this project
///
/// Sessions of all clients are told nothing here, and nothing of them is captured, until
/// `midstride on`; what began meanwhile is captured later only by whoever asks for it with
/// `midstride session capture`. It holds for all worktrees and is not committed. `MIDSTRIDE=off` in the
/// environment of a client keeps its hooks silent; its transcript is there all the same, and the next
/// session that starts brings it in.
#[derive(Debug, clap::Args)]
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
        "Hooks are off here; `midstride on` switches them on again."
    } else {
        "They were off already."
    })?;
    Ok(CliOutcome::Clean)
}
