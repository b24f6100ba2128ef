//! Renders a list of handoffs.

use super::table::{Column, TextTable, id_table, line_width};
use super::{display_title, one_line, trust};
use midstride::workspace::{StoredHandoff, Workspace};
use midstride_core::handoff::Handoff;

/// The row of a handoff.
fn row(workspace: &Workspace, stored: &StoredHandoff) -> Vec<String> {
    let handoff = stored.handoff(workspace);
    let trust = trust::read_trust(workspace, &handoff);
    let number = |number: usize| if number == 0 { String::new() } else { number.to_string() };
    vec![
        one_line(&handoff.key().to_string(), usize::MAX),
        status_word(&handoff),
        day(&handoff),
        trust.age_days.map_or_else(String::new, |days| format!("{days} d")),
        number(trust.revisions),
        trust::review_count(trust.reviews),
        trust::open_items(&trust),
        display_title(&handoff, usize::MAX),
    ]
}

/// The columns. A narrow terminal drops the ones that `show` also has, but never the open items.
const COLUMNS: [Column; 8] = [
    Column { name: "ID", drop_order: None },
    Column { name: "STATUS", drop_order: None },
    Column { name: "CHANGED", drop_order: Some(3) },
    Column { name: "AGE", drop_order: Some(0) },
    Column { name: "REVISED", drop_order: Some(1) },
    Column { name: "REVIEWED", drop_order: Some(2) },
    Column { name: "OPEN", drop_order: None },
    Column { name: "TITLE", drop_order: None },
];

/// A table of handoffs.
pub fn render_table(
    workspace: &Workspace,
    list: &[&StoredHandoff],
    terminal: Option<usize>,
) -> TextTable {
    let rows: Vec<Vec<String>> = list.iter().map(|stored| row(workspace, stored)).collect();
    id_table(&COLUMNS, &rows, line_width(terminal))
}

/// The status of a handoff, or `note`.
fn status_word(handoff: &Handoff<'_>) -> String {
    if handoff.has_status() { handoff.status().to_string() } else { "note".to_owned() }
}

fn day(handoff: &Handoff<'_>) -> String {
    handoff.changed().map_or_else(String::new, |time| time.moment.strftime("%Y-%m-%d").to_string())
}
