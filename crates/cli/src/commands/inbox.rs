use super::{Outcome, tell_unread};
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;
use crate::view;
use midstride::workspace::project::{Project, Selection, Shelved};

/// The inbox: what is open, what blocks, what needs somebody, what to do next.
pub(crate) fn inbox(ui: &mut Ui, project: &Project, json: bool) -> Result<Outcome, Diagnostic> {
    let Selection { documents: shelved, unread } = project.select(&[])?;
    let mut open: Vec<&Shelved> =
        shelved.iter().filter(|shelved| shelved.handoff(project).status().is_open()).collect();
    view::list::sort(project, &mut open);
    if json {
        ui.json(&view::inbox::json(project, &open))?;
    } else {
        ui.print(&view::inbox::text(project, &open))?;
    }
    tell_unread(ui, project, unread)
}
