//! Words in a row that are looked for.

use super::words;

/// Words in a row, the last of which may be only the beginning of one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SearchTerm {
    /// The words, folded; at least one.
    pub words: Vec<String>,
    /// Whether the last one may go on.
    pub prefix: bool,
}

impl SearchTerm {
    /// A text as words in a row; `None` where it has none.
    pub fn from_text(text: &str) -> Option<Self> {
        let words: Vec<String> = words(text).into_iter().map(|word| word.text).collect();
        (!words.is_empty()).then_some(Self { words, prefix: false })
    }
}
