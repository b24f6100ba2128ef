use super::Outcome;
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;
use crate::view;
use midstride::project::Project;
use midstride::verbs::{self, Edited};

/// Change a handoff in your editor
///
/// You edit a copy; it takes the place of the document when you leave the editor. If somebody else
/// changed the document meanwhile, your text is kept and you are told where.
#[derive(Debug, clap::Args)]
pub(crate) struct EditArgs {
    /// The handoff: an id, the start of one, `id/stage`, or a path
    handoff: String,
}

pub(crate) fn edit(ui: &mut Ui, project: &Project, args: &EditArgs) -> Result<Outcome, Diagnostic> {
    let shelved = project.find(&args.handoff)?;
    match verbs::edit(project, &shelved)? {
        Edited::Unchanged => {
            ui.say("Nothing changed.")?;
            Ok(Outcome::Clean)
        }
        Edited::Changed(redacted) => {
            super::tell_redacted(ui, &redacted)?;
            let again = project.reread(&shelved)?;
            let judged = verbs::check_these(project, vec![again]);
            ui.say(&format!("Saved {}", view::shown_path(project, &shelved.path)))?;
            ui.print(&view::findings::human(project, &judged))?;
            ui.say(&view::findings::summary(&judged))?;
            Ok(Outcome::Clean)
        }
    }
}
