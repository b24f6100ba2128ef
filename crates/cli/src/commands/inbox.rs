use super::{CliOutcome, report_unread};
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;
use crate::view;
use midstride::workspace::project::{DocumentSelection, Project, StoredHandoff};

/// The inbox: what is open, what blocks, what needs an answer, and what to do next.
pub(crate) fn inbox(ui: &mut Ui, project: &Project, json: bool) -> Result<CliOutcome, Diagnostic> {
    let DocumentSelection { documents: stored, unread } = project.select(&[])?;
    let mut open: Vec<&StoredHandoff> =
        stored.iter().filter(|stored| stored.handoff(project).status().is_open()).collect();
    view::list::sort(project, &mut open);
    if json {
        ui.print_json(&view::inbox::json(project, &open))?;
    } else {
        ui.print(&view::inbox::text(project, &open))?;
    }
    report_unread(ui, project, unread)
}
