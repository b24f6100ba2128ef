use super::CliOutcome;
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;

/// Reopen a closed handoff
///
/// Works for resolved, superseded and abandoned handoffs. Sets the status to in progress, or to
/// planned if work on the handoff never began. The history keeps the resolution.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride reopen login-loop
  midstride reopen login-loop --reason 'it loops again on Safari 19'")]
pub(crate) struct ReopenArgs {
    /// Id, id prefix, `id/stage`, or path
    handoff: String,

    /// Reason for reopening it; recorded in the history
    #[arg(long, value_parser = super::parse_sentence, allow_hyphen_values = true)]
    reason: Option<String>,

    /// Author of the change
    #[arg(long, value_name = "WHO", value_parser = super::parse_text)]
    by: Option<String>,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn reopen(
    ui: &mut Ui,
    store: &Store,
    args: &ReopenArgs,
) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let stored = workspace.find(&args.handoff)?;
    let outcome = verbs::reopen(store, &stored, args.reason.as_deref(), args.by.clone())?;
    let (recorded, reason) = (&outcome.recorded, &outcome.reason);
    super::report_recorded(ui, workspace, &stored, recorded, reason, args.json)?;
    if !args.json {
        let key = stored.handoff(workspace).key();
        ui.say(&view::recorded_change::reopened(&key, &outcome))?;
    }
    Ok(CliOutcome::Clean)
}
