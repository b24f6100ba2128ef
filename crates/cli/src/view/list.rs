//! Handoffs in a list.

use super::{called, table::table};
use crate::ui::Ui;
use midstride::project::{Project, Shelved};
use midstride_core::handoff::Handoff;
use midstride_core::header::Status;

/// The width of a list that goes into a file.
const WIDTH: usize = 120;

/// What is in progress first, then what is planned, then the ended; the latest change first.
pub(crate) fn sort(project: &Project, list: &mut [&Shelved]) {
    list.sort_by_cached_key(|shelved| {
        let handoff = shelved.handoff(project);
        let rank = match handoff.status() {
            Status::InProgress => 0,
            Status::Planned => 1,
            Status::Resolved | Status::Superseded | Status::Abandoned => 2,
        };
        let changed = handoff.changed().map(|time| std::cmp::Reverse(time.moment));
        (rank, changed.is_none(), changed, handoff.key())
    });
}

/// A line each.
fn table_rows(project: &Project, list: &[&Shelved]) -> Vec<Vec<String>> {
    list.iter()
        .map(|shelved| {
            let handoff = shelved.handoff(project);
            vec![
                handoff.key().to_string(),
                status(&handoff),
                day(&handoff),
                blocks(&handoff),
                called(&handoff, usize::MAX),
            ]
        })
        .collect()
}

fn table_head() -> [&'static str; 5] {
    ["ID", "STATUS", "CHANGED", "BLOCKED BY", "TITLE"]
}

/// The whole list.
pub(crate) fn table_of(project: &Project, list: &[&Shelved]) -> String {
    table(&table_head(), &table_rows(project, list), Ui::width().unwrap_or(WIDTH))
}

/// A note is listed, and said to be one.
fn status(handoff: &Handoff<'_>) -> String {
    if handoff.has_status() { handoff.status().to_string() } else { "note".to_owned() }
}

fn day(handoff: &Handoff<'_>) -> String {
    handoff.changed().map_or_else(String::new, |time| time.moment.strftime("%Y-%m-%d").to_string())
}

fn blocks(handoff: &Handoff<'_>) -> String {
    let count = handoff.questions().iter().filter(|question| question.blocks()).count();
    if count == 0 { String::new() } else { super::count(count, "question") }
}
