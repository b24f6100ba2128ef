use super::CliOutcome;
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs;
use midstride_surface::diagnostic::Diagnostic;

/// Take back the last change of a handoff, as a new revision
///
/// Its history stays: what was undone can still be shown. Undo again to go further back.
#[derive(Debug, clap::Args)]
pub(crate) struct UndoArgs {
    /// The handoff: an id, the start of one, `id/stage`, or a path
    handoff: String,

    /// Who takes it back
    #[arg(long, value_name = "WHO", value_parser = super::parse_text)]
    by: Option<String>,

    /// Print what was recorded as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn undo(ui: &mut Ui, store: &Store, args: &UndoArgs) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let stored = workspace.find(&args.handoff)?;
    let (recorded, reason) = verbs::undo(store, &stored, args.by.as_deref())?;
    super::report_recorded(ui, workspace, &stored, &recorded, &reason, args.json)
}
