use super::Outcome;
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;
use midstride::journal::Change;
use midstride::project::Project;
use midstride_core::header::Verb;
use midstride_core::life;

/// Begin to work on a handoff
#[derive(Debug, clap::Args)]
pub(crate) struct StartArgs {
    /// The handoff: an id, the start of one, `id/stage`, or a path
    handoff: String,

    /// Who works on it
    #[arg(long, value_name = "WHO", value_parser = super::said)]
    by: Option<String>,

    /// Print what was recorded as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn start(
    ui: &mut Ui,
    project: &Project,
    args: &StartArgs,
) -> Result<Outcome, Diagnostic> {
    let shelved = project.find(&args.handoff)?;
    let change = Change::by_verb(Verb::Start, "started", args.by.clone());
    super::live(ui, project, &shelved, &life::start, &change, args.json)
}
