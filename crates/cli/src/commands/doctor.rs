use super::{Outcome, tell_unread};
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;
use crate::view;
use midstride::project::Project;
use midstride::verbs;

/// Tell how this project is set up, and what is wrong
///
/// Its shelves with the documents on them, its ledger and its index. Ends with 1 where something is
/// wrong, and says what to do about it.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Make the index of `search` anew first
    #[arg(long)]
    reindex: bool,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn doctor(
    ui: &mut Ui,
    project: &Project,
    args: &DoctorArgs,
) -> Result<Outcome, Diagnostic> {
    let mut outcome = Outcome::Clean;
    if args.reindex {
        let done = verbs::reindex(project, &mut |done, all| ui.progress("indexing", done, all))?;
        ui.say(&view::doctor::reindexed(&done))?;
        outcome = tell_unread(ui, project, done.unread)?;
    }
    let examined = verbs::examine(project);
    let problems = view::doctor::problems(&examined);
    if args.json {
        ui.json(&view::doctor::json(&examined, &problems))?;
    } else {
        ui.print(&view::doctor::text(&examined))?;
    }
    for (message, hint) in &problems {
        Diagnostic::new(message).hint(hint).warn(ui)?;
    }
    let found = outcome == Outcome::Clean && !problems.is_empty();
    Ok(if found { Outcome::Findings } else { outcome })
}
