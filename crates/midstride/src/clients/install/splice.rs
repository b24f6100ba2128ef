//! Changes of a text as data: each can be taken back exactly, without keeping the text.

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Bytes that took the place of others. Of what was there before only that is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Splice {
    /// Where, in the text as it was at that moment.
    at: usize,
    /// What stood there.
    was: String,
    /// What stands there now.
    text: String,
}

/// A text that is being changed, and what was done to it.
#[derive(Clone, Debug, Default)]
pub(super) struct TextDraft {
    pub(super) text: String,
    pub(super) splices: Vec<Splice>,
}

impl TextDraft {
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), splices: Vec::new() }
    }

    pub(super) fn insert(&mut self, at: usize, text: &str) {
        self.replace(at..at, text);
    }

    pub(super) fn remove(&mut self, range: Range<usize>) {
        self.replace(range, "");
    }

    pub(super) fn replace(&mut self, range: Range<usize>, text: &str) {
        let was = self.text[range.clone()].to_owned();
        self.splices.push(Splice { at: range.start, was, text: text.to_owned() });
        self.text.replace_range(range, text);
    }
}

/// The text as it was before; `None` where it is not the one that came of the splices.
pub(super) fn undo(text: &str, splices: &[Splice]) -> Option<String> {
    let mut text = text.to_owned();
    for Splice { at, was, text: now } in splices.iter().rev() {
        let range = *at..at.checked_add(now.len())?;
        if text.get(range.clone())? != now {
            return None;
        }
        text.replace_range(range, was);
    }
    Some(text)
}

/// What ends the lines of a text.
pub(super) fn line_end(text: &str) -> &'static str {
    let first = text.find('\n');
    if first.is_some_and(|at| text[..at].ends_with('\r')) { "\r\n" } else { "\n" }
}
