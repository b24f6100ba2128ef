use super::{CliOutcome, report_unread};
use crate::ui::Ui;
use midstride::store::Store;
use midstride::workspace::{DocumentSelection, StoredHandoff};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;

/// The inbox: what is open, what blocks, what needs an answer, and what to do next.
pub(crate) fn inbox(ui: &mut Ui, store: &Store, json: bool) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let DocumentSelection { documents: stored, unread } = workspace.select(&[])?;
    let mut open: Vec<&StoredHandoff> =
        stored.iter().filter(|stored| stored.handoff(workspace).status().is_open()).collect();
    view::list::sort(workspace, &mut open);
    if json {
        ui.print_json(&view::inbox::json(store, &open))?;
    } else {
        ui.print(&view::inbox::text(workspace, &open))?;
    }
    report_unread(ui, workspace, unread)
}
