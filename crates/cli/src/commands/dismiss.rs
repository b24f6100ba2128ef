use super::Outcome;
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;
use crate::view;
use midstride::project::Project;
use midstride::verbs;

/// Close an open item that a briefing carries over
///
/// A briefing lists what earlier sessions left open, each with a handle such as `kf7q`. Items close by
/// themselves when the check passes or the task is done. Dismiss what is no longer relevant; add
/// `--wrong` if the item was not true, and `midstride doctor` counts it.
#[derive(Debug, clap::Args)]
pub(crate) struct DismissArgs {
    /// Handle of the item, as the briefing shows it
    #[arg(value_parser = super::said)]
    handle: String,

    /// Record that the item was not true
    #[arg(long)]
    wrong: bool,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn dismiss(
    ui: &mut Ui,
    project: &Project,
    args: &DismissArgs,
) -> Result<Outcome, Diagnostic> {
    let item = verbs::dismiss(project, &args.handle, args.wrong)?;
    match args.json {
        true => ui.json(&view::carried::json(&item, args.wrong))?,
        false => ui.say(&view::carried::dismissed(&item, args.wrong))?,
    }
    Ok(Outcome::Clean)
}
