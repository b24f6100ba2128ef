//! `midstride task ready`.

use super::CliOutcome;
use super::list::{self, TaskListArgs};
use crate::ui::Ui;
use midstride::store::Store;
use midstride_surface::diagnostic::Diagnostic;

/// List the tasks that can be begun: nobody did, and everything before them is done
#[derive(Debug, clap::Args)]
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
