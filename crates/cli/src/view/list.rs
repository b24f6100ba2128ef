//! Handoffs in a list.

use super::table::{Column, Table, table, width};
use super::{called, one_line, trust};
use midstride::workspace::project::{Project, Shelved};
use midstride_core::format::header::Status;
use midstride_core::handoff::Handoff;

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
fn row(project: &Project, shelved: &Shelved) -> Vec<String> {
    let handoff = shelved.handoff(project);
    let trust = trust::facts(project, &handoff);
    let number = |number: usize| if number == 0 { String::new() } else { number.to_string() };
    vec![
        one_line(&handoff.key().to_string(), usize::MAX),
        status(&handoff),
        day(&handoff),
        trust.age_days.map_or_else(String::new, |days| format!("{days} d")),
        number(trust.revisions),
        trust::reviewed(trust.reviews),
        trust::open(&trust),
        called(&handoff, usize::MAX),
    ]
}

/// What a narrow terminal has no room for is told by `show`; what waits for somebody stays.
const COLUMNS: [Column; 8] = [
    Column { name: "ID", spared: None },
    Column { name: "STATUS", spared: None },
    Column { name: "CHANGED", spared: Some(3) },
    Column { name: "AGE", spared: Some(0) },
    Column { name: "REVISED", spared: Some(1) },
    Column { name: "REVIEWED", spared: Some(2) },
    Column { name: "OPEN", spared: None },
    Column { name: "TITLE", spared: None },
];

/// The whole list.
pub(crate) fn table_of(project: &Project, list: &[&Shelved]) -> Table {
    let rows: Vec<Vec<String>> = list.iter().map(|shelved| row(project, shelved)).collect();
    table(&COLUMNS, &rows, width())
}

/// A note is listed, and said to be one.
fn status(handoff: &Handoff<'_>) -> String {
    if handoff.has_status() { handoff.status().to_string() } else { "note".to_owned() }
}

fn day(handoff: &Handoff<'_>) -> String {
    handoff.changed().map_or_else(String::new, |time| time.moment.strftime("%Y-%m-%d").to_string())
}
