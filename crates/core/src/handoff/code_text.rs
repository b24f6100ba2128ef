//! The text of a code file with fast access to its lines. A file that is cited a thousand times is
//! split and hashed once.

mod word_index;

pub(crate) use word_index::{has_word, versions};

use crate::handoff::anchor::{CitedLines, HashedLines};
use crate::handoff::citation::LineRange;
use std::ops::Deref;
use std::sync::OnceLock;
use word_index::WordIndex;

/// The text of a code file.
#[derive(Debug)]
pub struct CodeText {
    text: Box<str>,
    /// Where each line starts.
    starts: OnceLock<Vec<usize>>,
    hashed: OnceLock<HashedLines>,
    words: OnceLock<WordIndex>,
}

impl CodeText {
    /// Wraps a text.
    pub fn new(text: impl Into<Box<str>>) -> Self {
        let (starts, hashed, words) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self { text: text.into(), starts, hashed, words }
    }

    fn starts(&self) -> &[usize] {
        self.starts.get_or_init(|| {
            let after_breaks = self.text.match_indices('\n').map(|(at, _)| at + 1);
            std::iter::once(0).chain(after_breaks).filter(|at| *at < self.text.len()).collect()
        })
    }

    /// The number of lines.
    pub fn line_count(&self) -> usize {
        self.starts().len()
    }

    /// Some lines as one text; those past the end are missing.
    pub fn slice(&self, lines: LineRange) -> &str {
        let starts = self.starts();
        let from = lines.first.checked_sub(1).and_then(|first| starts.get(first));
        let Some(from) = from else { return "" };
        let to = starts.get(lines.last).copied().unwrap_or(self.text.len());
        &self.text[*from..to.max(*from)]
    }

    /// The hashes of all lines.
    pub fn hashed(&self) -> &HashedLines {
        self.hashed.get_or_init(|| HashedLines::new(&self.text))
    }

    /// The hashes of some lines. Hashes only the lines it needs.
    pub fn cited(&self, lines: LineRange) -> Option<CitedLines> {
        if let Some(hashed) = self.hashed.get() {
            return hashed.cited(lines);
        }
        let skipped = lines.first.checked_sub(1)?.saturating_sub(HashedLines::CONTEXT_LINES);
        let last = lines.last + HashedLines::CONTEXT_LINES;
        let near = HashedLines::new(self.slice(LineRange { first: skipped + 1, last }));
        near.cited(LineRange { first: lines.first - skipped, last: lines.last - skipped })
    }

    /// Whether the text has a word or a version, not as a part of a longer one.
    pub fn has_word(&self, word: &str) -> bool {
        self.may_have_word(word) && has_word(&self.text, word)
    }

    /// Whether the text may have a word or a version. Does not search the text; `false` is certain.
    pub fn may_have_word(&self, word: &str) -> bool {
        self.words.get_or_init(|| WordIndex::new(&self.text)).may_have(word)
    }

    /// Whether lines have a letter or digit. Blank lines and lone braces do not.
    pub fn has_content(&self, lines: LineRange) -> bool {
        self.slice(lines).contains(char::is_alphanumeric)
    }
}

impl Deref for CodeText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(first: usize, last: usize) -> LineRange {
        LineRange { first, last }
    }

    #[test]
    fn lines_are_the_lines_of_the_text() {
        for text in ["", "a", "a\n", "a\nb", "a\r\n\nc\n", "\n\n"] {
            let code = CodeText::new(text);
            assert_eq!(code.line_count(), text.lines().count(), "{text:?}");
            for first in 1..=4 {
                for last in first..=4 {
                    let expected: Vec<&str> =
                        text.lines().skip(first - 1).take(last + 1 - first).collect();
                    let lines: Vec<&str> = code.slice(range(first, last)).lines().collect();
                    assert_eq!(lines, expected, "{text:?} {first}-{last}");
                }
            }
        }
    }

    #[test]
    fn lines_have_the_same_hash_in_the_whole_text() {
        let text = "one\ntwo\nthree\nfour\none \ntwo\t\n";
        let hashed = HashedLines::new(text);
        for first in 1..=7 {
            for last in first..=7 {
                let lines = range(first, last);
                assert_eq!(CodeText::new(text).cited(lines), hashed.cited(lines), "{lines}");
            }
        }
    }

    #[test]
    fn blank_lines_and_braces_have_no_content() {
        let code = CodeText::new("fn a() {\n    one();\n}\n\n");
        assert!(code.has_content(range(2, 3)));
        assert!(!code.has_content(range(3, 4)));
        assert!(!code.has_content(range(90, 91)));
    }
}
