use super::CliOutcome;
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs;
use midstride_surface::diagnostic::Diagnostic;

/// Undo the last change to a handoff
///
/// Records the undo as a new revision and keeps the history. Undo again to go further back.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride undo market")]
pub(crate) struct UndoArgs {
    /// Id, id prefix, `id/stage`, or path
    handoff: String,

    /// Author of the change
    #[arg(long, value_name = "WHO", value_parser = super::parse_text)]
    by: Option<String>,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn undo(ui: &mut Ui, store: &Store, args: &UndoArgs) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let stored = workspace.find(&args.handoff)?;
    let (recorded, reason) = verbs::undo(store, &stored, args.by.as_deref())?;
    super::report_recorded(ui, workspace, &stored, &recorded, &reason, args.json)
}
