//! Text changes as data: each can be undone exactly without storing the whole text.

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A replacement of some bytes. Only the replaced bytes are stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Splice {
    /// The offset in the text at that moment.
    at: usize,
    /// The replaced text.
    was: String,
    /// The new text.
    text: String,
}

/// A text being edited, and the edits so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextDraft {
    pub(crate) text: String,
    pub(crate) splices: Vec<Splice>,
}

impl TextDraft {
    pub(crate) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), splices: Vec::new() }
    }

    pub(crate) fn insert(&mut self, at: usize, text: &str) {
        self.replace(at..at, text);
    }

    pub(crate) fn remove(&mut self, range: Range<usize>) {
        self.replace(range, "");
    }

    pub(crate) fn replace(&mut self, range: Range<usize>, text: &str) {
        let was = self.text[range.clone()].to_owned();
        self.splices.push(Splice { at: range.start, was, text: text.to_owned() });
        self.text.replace_range(range, text);
    }
}

/// Undoes splices; `None` if the text is not their result.
pub(crate) fn undo(text: &str, splices: &[Splice]) -> Option<String> {
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

/// The line ending of a text.
pub(crate) fn line_end(text: &str) -> &'static str {
    let first = text.find('\n');
    if first.is_some_and(|at| text[..at].ends_with('\r')) { "\r\n" } else { "\n" }
}
