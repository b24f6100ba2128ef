//! Byte spans of a text, values with their span, and line and column numbers.

use std::ops::Range;

/// A byte range of the whole file, from `start` up to but not including `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// Creates the span from `start` to `end`. It is empty if `end` is before `start`.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end: end.max(start) }
    }

    /// Creates an empty span at `at`.
    pub fn empty(at: usize) -> Self {
        Self { start: at, end: at }
    }

    /// The number of bytes.
    pub fn len(self) -> usize {
        self.end - self.start
    }

    /// Whether the span covers no bytes.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Moves the span `base` bytes further into the text.
    #[must_use]
    pub fn shifted(self, base: usize) -> Self {
        Self { start: self.start + base, end: self.end + base }
    }

    /// The text of the span; empty if the span does not fit the text.
    pub fn slice(self, text: &str) -> &str {
        text.get(self.range()).unwrap_or_default()
    }

    /// The span as a range, for slicing.
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }

    /// Whether `other` is inside this span.
    pub fn contains(self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// A value and the span it was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// The span it was read from.
    pub at: Span,
}

impl<T> Spanned<T> {
    /// Creates a value with its span.
    pub fn new(value: T, at: Span) -> Self {
        Self { value, at }
    }

    /// Converts the value and keeps the span.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned { value: change(self.value), at: self.at }
    }
}

/// A line and a column, both counted from one. Columns count characters, not bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line, from one.
    pub line: usize,
    /// The character within the line, from one.
    pub column: usize,
}

/// The start offset of each line of a text.
#[derive(Clone, Debug)]
pub(crate) struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    /// Indexes the lines of `text`.
    pub(crate) fn new(text: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self { starts: std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect() }
    }

    /// The line and column of a byte. `text` must be the text the index was built from.
    pub(crate) fn position(&self, text: &str, byte: usize) -> Position {
        let index = self.starts.partition_point(|start| *start <= byte) - 1;
        let line = text.get(self.starts[index]..byte.min(text.len())).unwrap_or_default();
        Position { line: index + 1, column: line.chars().count() + 1 }
    }
}

/// The offset of the start of the line that contains `byte`.
pub fn line_start(text: &str, byte: usize) -> usize {
    text.as_bytes()[..byte.min(text.len())]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1)
}

/// The offset just after the line break of the line that contains `byte`, or the end of the text.
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
