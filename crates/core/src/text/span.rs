//! Places in a text: byte spans, values that know where they stood, lines and columns.

use std::ops::Range;

/// Bytes of the whole file, from `start` up to but not including `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The bytes from `start` to `end`.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end: end.max(start) }
    }

    /// A place between two bytes.
    pub fn empty(at: usize) -> Self {
        Self { start: at, end: at }
    }

    /// How many bytes it covers.
    pub fn len(self) -> usize {
        self.end - self.start
    }

    /// Whether it covers nothing.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The same bytes, seen from `base` bytes earlier.
    #[must_use]
    pub fn shifted(self, base: usize) -> Self {
        Self { start: self.start + base, end: self.end + base }
    }

    /// The text at this place; empty where the span does not fit the text.
    pub fn slice(self, text: &str) -> &str {
        text.get(self.range()).unwrap_or_default()
    }

    /// As a range, for slicing.
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }

    /// Whether `other` lies inside.
    pub fn contains(self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// A value and the place where it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    /// What was read.
    pub value: T,
    /// Where.
    pub at: Span,
}

impl<T> Spanned<T> {
    /// A value read at a place.
    pub fn new(value: T, at: Span) -> Self {
        Self { value, at }
    }

    /// Another value read at the same place.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned { value: change(self.value), at: self.at }
    }
}

/// A line and a column as people count them, from one; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line, from one.
    pub line: usize,
    /// The character in that line, from one.
    pub column: usize,
}

/// Where each line of a text starts.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    /// Finds the lines of `text`.
    pub fn new(text: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self { starts: std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect() }
    }

    /// The line and column of a byte of the same text.
    pub fn position(&self, text: &str, byte: usize) -> Position {
        let index = self.starts.partition_point(|start| *start <= byte) - 1;
        let line = text.get(self.starts[index]..byte.min(text.len())).unwrap_or_default();
        Position { line: index + 1, column: line.chars().count() + 1 }
    }
}

/// The start of the line that holds `byte`.
pub fn line_start(text: &str, byte: usize) -> usize {
    text.as_bytes()[..byte.min(text.len())]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1)
}

/// One past the line break that ends the line of `byte`, or the end of the text.
pub fn line_end(text: &str, byte: usize) -> usize {
    text.as_bytes()[byte.min(text.len())..]
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or(text.len(), |at| byte + at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_lines_count_from_one() {
        let text = "aé\nß: x\n";
        let lines = LineIndex::new(text);
        assert_eq!(lines.position(text, 0), Position { line: 1, column: 1 });
        assert_eq!(lines.position(text, 3), Position { line: 1, column: 3 });
        assert_eq!(lines.position(text, 8), Position { line: 2, column: 4 });
        assert_eq!(lines.position(text, text.len()), Position { line: 3, column: 1 });
    }

    #[test]
    fn a_line_is_found_from_any_byte_in_it() {
        let text = "one\ntwo\nthree";
        assert_eq!((line_start(text, 5), line_end(text, 5)), (4, 8));
        assert_eq!((line_start(text, 9), line_end(text, 9)), (8, 13));
    }
}
