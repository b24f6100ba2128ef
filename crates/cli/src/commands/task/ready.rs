//! `midstride task ready`.

use super::CliOutcome;
use super::list::{self, TaskListArgs};
use crate::ui::Ui;
use midstride::store::Store;
use midstride_surface::diagnostic::Diagnostic;

/// List tasks that are ready to start
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride task ready
  midstride task ready --json")]
pub(crate) struct TaskReadyArgs {
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn ready(
    ui: &mut Ui,
    store: &Store,
    args: &TaskReadyArgs,
) -> Result<CliOutcome, Diagnostic> {
    list::list(ui, store, &TaskListArgs::ready(args.json))
}
