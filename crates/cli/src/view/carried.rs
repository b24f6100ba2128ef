//! What earlier sessions left open, and what becomes of it.

use super::one_line;
use midstride_core::briefing::carry::Carried;
use serde::Serialize;

/// A text in a line of ours.
const TEXT_LENGTH_MAX: usize = 100;

#[derive(Serialize)]
pub(crate) struct DismissedJson<'c> {
    handle: &'c str,
    kind: &'static str,
    text: &'c str,
    session: &'c str,
    wrong: bool,
}

pub(crate) fn json(item: &Carried, wrong: bool) -> DismissedJson<'_> {
    DismissedJson {
        handle: &item.handle,
        kind: item.item.kind.word(),
        text: &item.item.text,
        session: &item.session,
        wrong,
    }
}

/// What was dismissed.
pub(crate) fn dismissed(item: &Carried, wrong: bool) -> String {
    let text = one_line(&item.item.text, TEXT_LENGTH_MAX);
    let wrong = if wrong { " as wrong" } else { "" };
    format!("Dismissed {}{wrong}: {} \"{text}\"", item.handle, item.item.kind.word())
}
