use super::CliOutcome;
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs::{self, EditOutcome};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view::findings::{self, HintDisplay};
use midstride_surface::view::{self, Surface};

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

pub(crate) fn edit(ui: &mut Ui, store: &Store, args: &EditArgs) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let stored = workspace.find(&args.handoff)?;
    let path = view::display_path(workspace, &stored.path);
    match verbs::edit(store, &stored)? {
        EditOutcome::Unchanged => {
            ui.say("Nothing changed.")?;
            return Ok(CliOutcome::Clean);
        }
        EditOutcome::Saved(redacted) => {
            super::report_redacted(ui, &redacted)?;
            ui.say(&format!("Saved {path}"))?;
        }
        EditOutcome::Revised { recorded, reason } => {
            super::report_recorded(ui, workspace, &stored, &recorded, &reason, false)?;
        }
    }
    let checked = verbs::check_documents(store, None, vec![workspace.reread(&stored)?]);
    let hints = HintDisplay::Counted { show_with: "midstride check -v" };
    ui.print(&findings::human(workspace, &checked, Surface::Terminal, Ui::width(), hints))?;
    ui.say(&findings::summary(&checked, hints))?;
    Ok(CliOutcome::Clean)
}
