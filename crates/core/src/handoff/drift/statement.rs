//! Reads what a statement says about the places it cites: the identifiers it names, and whether it
//! says itself that a file was removed.

use crate::handoff::citation::is_known_extension;
use crate::handoff::code_text::has_word;
use std::cell::OnceCell;

/// The words of a statement, read once for all its citations.
#[derive(Debug)]
pub struct StatementWords<'d> {
    text: &'d str,
    identifiers: OnceCell<Vec<&'d str>>,
    says_removed: OnceCell<bool>,
}

/// A statement with more identifiers is a list, and none of them is about one place.
const IDENTIFIERS_MAX: usize = 64;

impl<'d> StatementWords<'d> {
    /// Wraps the text of a statement.
    pub fn new(text: &'d str) -> Self {
        Self { text, identifiers: OnceCell::new(), says_removed: OnceCell::new() }
    }

    /// The identifiers in inline code, such as `load_rows` in `` `load_rows()` ``.
    pub fn identifiers(&self) -> &[&'d str] {
        self.identifiers.get_or_init(|| {
            let found = named_identifiers(self.text);
            if found.len() <= IDENTIFIERS_MAX { found } else { Vec::new() }
        })
    }

    /// Whether a text contains an identifier of the statement.
    pub fn names_any_in(&self, text: &str) -> bool {
        self.identifiers().iter().any(|identifier| has_word(text, identifier))
    }

    /// Whether the statement says that something was removed, renamed or replaced. Its author knew.
    pub fn says_removed(&self) -> bool {
        *self.says_removed.get_or_init(|| says_removed(self.text))
    }
}

fn named_identifiers(statement: &str) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    // Inline code is every second part between backticks.
    for code in statement.split('`').skip(1).step_by(2).filter(|code| !is_place(code)) {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let words = code.split(|c: char| !is_part(c)).filter(|word| is_identifier(word));
        found.extend(words);
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Shorter words occur everywhere.
const IDENTIFIER_CHARS_MIN: usize = 4;

fn is_identifier(word: &str) -> bool {
    word.chars().count() >= IDENTIFIER_CHARS_MIN
        && word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Whether inline code is a path, a command line with paths, or a link.
pub(super) fn is_place(code: &str) -> bool {
    let path = code.split([':', '#']).next().unwrap_or_default();
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    code.contains('/') || is_known_extension(ending)
}

/// Beginnings of words with which a statement says itself that a file is not there any more.
const REMOVAL_STEMS: [&str; 19] = [
    "remov",
    "delet",
    "drop",
    "renam",
    "mov",
    "replac",
    "obsolet",
    "supersed",
    "migrat",
    "convert",
    "merg",
    "split",
    "extract",
    "former",
    "previous",
    "legacy",
    "retire",
    "deprecat",
    "consolidat",
];
const REMOVAL_WORDS: [&str; 8] = ["gone", "old", "was", "were", "rm", "mv", "instead", "unused"];

fn says_removed(statement: &str) -> bool {
    statement.contains("~~")
        || statement.contains('→')
        || statement.contains("->")
        || statement.contains("no longer")
        || prose_words(statement).any(|word| {
            let word = word.to_lowercase();
            REMOVAL_WORDS.contains(&word.as_str())
                || REMOVAL_STEMS.iter().any(|stem| word.starts_with(stem))
        })
}

/// The words of a text that are neither code nor part of a path: `src/legacy/old.rs` says nothing
/// about itself.
pub(super) fn prose_words(text: &str) -> impl Iterator<Item = &str> {
    let prose = text.split('`').step_by(2).flat_map(str::split_whitespace);
    prose.filter(|word| !is_place(word)).flat_map(|word| word.split(|c: char| !c.is_alphabetic()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_come_from_inline_code() {
        let statement = "The `load_rows()` in `src/a.rs:3` calls `Table::open` and `x` of `b.py`.";
        assert_eq!(named_identifiers(statement), ["Table", "load_rows", "open"]);
        assert_eq!(named_identifiers("load_rows is `not"), ["not"; 0]);
    }

    #[test]
    fn a_list_of_identifiers_is_about_none_of_them() {
        let many: String = (0..100).map(|number| format!("`load_{number}` ")).collect();
        assert!(StatementWords::new(&many).identifiers().is_empty());
        assert!(StatementWords::new("`load_1` is slow").names_any_in("load_1()"));
    }

    #[test]
    fn a_statement_may_say_itself_that_a_file_is_removed() {
        for known in [
            "Removed `src/a.rs`.",
            "`src/a.rs` → `src/b.rs`",
            "Replaces the old `src/a.rs`",
            "~~`src/a.rs`~~",
            "`src/a.rs` is no longer needed",
        ] {
            assert!(says_removed(known), "{known}");
        }
        assert!(!says_removed("The cache in `src/a.rs` is slow."));
        // The name of a file says nothing.
        assert!(!says_removed("The cache in `src/old/gone.rs` and lib/moved.rs is slow."));
    }
}
