//! List the tasks that can be begun.

use super::Outcome;
use super::list::{self, ListArgs};
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;
use midstride::workspace::project::Project;

/// List the tasks that can be begun: nobody did, and everything before them is done
#[derive(Debug, clap::Args)]
pub(crate) struct ReadyArgs {
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn ready(
    ui: &mut Ui,
    project: &Project,
    args: &ReadyArgs,
) -> Result<Outcome, Diagnostic> {
    list::list(ui, project, &ListArgs::ready(args.json))
}
