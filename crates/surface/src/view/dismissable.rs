//! Renders the items that briefings repeat until they are dismissed.

use super::table::{Column, TextTable, line_width, table};
use super::{count, one_line, shell_word};
use crate::json::{JsonAnswer, JsonItem, JsonList};
use jiff::Timestamp;
use midstride::verbs::{DismissableItem, UnwrittenInstructions};
use midstride_core::session::short_id;
use midstride_core::text::id::SessionId;
use serde::Serialize;

/// The width at which item texts are truncated.
const TEXT_LENGTH_MAX: usize = 100;

/// An item of a briefing that can be dismissed.
#[derive(Serialize)]
pub struct DismissableJson<'d> {
    handle: &'d str,
    kind: &'static str,
    text: &'d str,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'d SessionId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dismissed: Option<String>,
}

impl JsonItem for DismissableJson<'_> {
    const LIST_SCHEMA: &'static str = "dismissable/1";
}

/// An item that was dismissed.
#[derive(Serialize)]
pub struct DismissalJson<'d> {
    #[serde(flatten)]
    item: DismissableJson<'d>,
    wrong: bool,
}

impl JsonAnswer for DismissalJson<'_> {
    const SCHEMA: &'static str = "dismissal/1";
}

fn json(item: &DismissableItem) -> DismissableJson<'_> {
    DismissableJson {
        handle: &item.handle,
        kind: item.kind,
        text: &item.text,
        session: Some(&item.session),
        dismissed: None,
    }
}

fn note_json(path: &str, at: Option<Timestamp>) -> DismissableJson<'_> {
    let dismissed = at.map(|at| at.to_string());
    DismissableJson { handle: path, kind: "note", text: path, session: None, dismissed }
}

/// The JSON for the items that can be dismissed, and the notes that are.
pub fn list_json<'d>(
    items: &'d [DismissableItem],
    notes: &'d [(String, Timestamp)],
) -> JsonList<DismissableJson<'d>> {
    let notes = notes.iter().map(|(path, at)| note_json(path, Some(*at)));
    items.iter().map(json).chain(notes).collect()
}

/// The JSON for a dismissal; `wrong` means that the item was never true.
pub fn dismissal_json(item: &DismissableItem, wrong: bool) -> DismissalJson<'_> {
    DismissalJson { item: json(item), wrong }
}

/// The JSON for a note that was dismissed, or is briefed again.
pub fn note_dismissal_json(path: &str, at: Option<Timestamp>) -> DismissalJson<'_> {
    DismissalJson { item: note_json(path, at), wrong: false }
}

/// Confirms a dismissal.
pub fn dismissal_text(item: &DismissableItem, wrong: bool) -> String {
    let text = one_line(&item.text, TEXT_LENGTH_MAX);
    let wrong = if wrong { " as wrong" } else { "" };
    format!("Dismissed {}{wrong}: {} \"{text}\"", item.handle, item.kind)
}

/// Confirms that a note is not briefed any more, and how to undo that.
pub fn note_dismissal_text(path: &str) -> String {
    let word = shell_word(path);
    format!(
        "Sessions are no longer briefed from {path}, even after it changes\nUndo: midstride dismiss {word} --undo"
    )
}

/// The dismissed notes, one line each.
pub fn notes_text(notes: &[(String, Timestamp)]) -> String {
    let line = |(path, at): &(String, Timestamp)| {
        let word = shell_word(path);
        let day = at.strftime("%Y-%m-%d");
        format!("Not briefed: {path}, dismissed {day}. Undo: midstride dismiss {word} --undo\n")
    };
    notes.iter().map(line).collect()
}

const COLUMNS: [Column; 4] = [
    Column { name: "HANDLE", drop_order: None },
    Column { name: "KIND", drop_order: Some(1) },
    Column { name: "SESSION", drop_order: Some(0) },
    Column { name: "TEXT", drop_order: None },
];

/// A table of items.
pub fn render_table(items: &[DismissableItem], terminal: Option<usize>) -> TextTable {
    let row = |item: &DismissableItem| {
        let session = one_line(short_id(item.session.as_str()), usize::MAX);
        let text = one_line(&item.text, usize::MAX);
        vec![item.handle.clone(), item.kind.to_owned(), session, text]
    };
    let rows: Vec<Vec<String>> = items.iter().map(row).collect();
    table(&COLUMNS, &rows, line_width(terminal))
}

/// How to make the user's instructions permanent; `None` if every session already reads them.
pub fn instruction_hint(unwritten: &UnwrittenInstructions) -> Option<String> {
    let UnwrittenInstructions { instructions, file } = unwritten;
    let first = instructions.first()?;
    let line = |text: &str| one_line(text, usize::MAX);
    let each =
        instructions.iter().map(|one| format!("  {}  {}\n", one.id.short(), line(&one.text)));
    let each: String = each.collect();
    let number = count(instructions.len(), "standing instruction");
    Some(format!(
        "You gave {number} on this branch:\n{each}hint: to apply one everywhere, add it to {file}, then \
         run midstride dismiss {}",
        first.id.short()
    ))
}
