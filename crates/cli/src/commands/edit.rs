use super::Outcome;
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;
use crate::view::{self, Surface};
use midstride::journal::Change;
use midstride::verbs::{self, Edited};
use midstride::workspace::project::Project;
use midstride_core::format::header::RevisionVerb;

/// Change a handoff in your editor
///
/// You edit a copy; it takes the place of the document when you leave the editor, as a revision. What
/// somebody else changed meanwhile is merged in; where that cannot be, your text is kept and you are
/// told where. `midstride revise` does the same with a reason.
#[derive(Debug, clap::Args)]
pub(crate) struct EditArgs {
    /// The handoff: an id, the start of one, `id/stage`, or a path
    handoff: String,
}

pub(crate) fn edit(ui: &mut Ui, project: &Project, args: &EditArgs) -> Result<Outcome, Diagnostic> {
    let shelved = project.find(&args.handoff)?;
    let change = Change::by_verb(RevisionVerb::Edit, "edited", None);
    let path = view::shown_path(project, &shelved.path);
    match verbs::edit(project, &shelved, &change)? {
        Edited::Unchanged => {
            ui.say("Nothing changed.")?;
            return Ok(Outcome::Clean);
        }
        Edited::Saved(redacted) => {
            super::tell_redacted(ui, &redacted)?;
            ui.say(&format!("Saved {path}"))?;
        }
        Edited::Revised(recorded) => {
            super::tell_recorded(ui, project, &shelved, &recorded, &change.reason, false)?;
        }
    }
    let judged = verbs::check_these(project, None, vec![project.reread(&shelved)?]);
    ui.print(&view::findings::human(project, &judged, Surface::Typed))?;
    ui.say(&view::findings::summary(&judged, false))?;
    Ok(Outcome::Clean)
}
