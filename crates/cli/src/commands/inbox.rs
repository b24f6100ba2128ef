use super::{CliOutcome, report_unread};
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs::{self, HandoffListing, ListFilter};
use midstride::workspace::StoredHandoff;
use midstride_surface::diagnostic::{Diagnostic, unread_store};
use midstride_surface::view;

/// The inbox: what is open, what blocks, what needs an answer, and what to do next.
pub(crate) fn inbox(ui: &mut Ui, store: &Store, json: bool) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let HandoffListing { handoffs, unread, .. } = verbs::list(workspace, &ListFilter::default())?;
    let open: Vec<&StoredHandoff> = handoffs.iter().collect();
    if json {
        ui.print_json(&view::inbox::json(store, &open))?;
    } else {
        ui.print(&view::inbox::text(workspace, &open))?;
    }
    for path in workspace.unread_stores() {
        ui.warn(&unread_store(&path))?;
    }
    report_unread(ui, workspace, unread)
}
