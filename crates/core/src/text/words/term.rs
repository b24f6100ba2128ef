//! A search term: consecutive words to look for.

use super::words;

/// Consecutive words to look for. The last one may be a prefix.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SearchTerm {
    /// The folded words; at least one.
    pub words: Vec<String>,
    /// Whether the last word is a prefix.
    pub prefix: bool,
}

impl SearchTerm {
    /// Creates a term from a text. Returns `None` if the text contains no word.
    pub fn from_text(text: &str) -> Option<Self> {
        let words: Vec<String> = words(text).into_iter().map(|word| word.text).collect();
        (!words.is_empty()).then_some(Self { words, prefix: false })
    }
}
