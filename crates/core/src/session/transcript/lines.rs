//! Splits chunks of bytes into lines. A line within one chunk is passed on without copying; an
//! incomplete line is buffered until the rest arrives.

use std::io::BufRead as _;

/// The maximum length of a line in bytes. Longer lines are skipped, because they hold nothing
/// useful to a reader. What clients put into one line is shorter, even two copies of the largest
/// image a model takes. A line is held in memory while it is read.
pub const LINE_BYTES_MAX: usize = 14 << 20;

/// A line of a transcript, or a marker for a skipped one.
#[derive(Debug, PartialEq, Eq)]
pub enum TranscriptLine<'a> {
    /// A whole line, without its line ending.
    Line(&'a [u8]),
    /// A line longer than [`LINE_BYTES_MAX`].
    TooLong,
}

/// Splits chunks into lines. Memory grows with the longest line, not with the file.
#[derive(Debug)]
pub struct LineSplitter {
    buffer: Vec<u8>,
    is_skipping: bool,
    bytes_max: usize,
    whole: u64,
    open: u64,
}

impl Default for LineSplitter {
    fn default() -> Self {
        Self::with_limit(LINE_BYTES_MAX)
    }
}

impl LineSplitter {
    /// Creates a splitter for lines of at most `bytes_max` bytes.
    pub fn with_limit(bytes_max: usize) -> Self {
        Self { buffer: Vec::new(), is_skipping: false, bytes_max, whole: 0, open: 0 }
    }

    /// Passes each line that ends in this chunk to `each`.
    pub fn feed(&mut self, chunk: &[u8], each: &mut dyn FnMut(&TranscriptLine<'_>)) {
        let mut rest = chunk;
        while let Some(line) = next_line(&mut rest) {
            self.emit_or_skip(line, each);
            self.whole += self.open + u64::try_from(line.len()).unwrap_or_default() + 1;
            self.open = 0;
        }
        self.open += u64::try_from(rest.len()).unwrap_or_default();
        self.hold(rest);
    }

    /// Emits a finished line: directly from the chunk, or joined with the buffered part.
    fn emit_or_skip(&mut self, line: &[u8], each: &mut dyn FnMut(&TranscriptLine<'_>)) {
        if self.buffer.is_empty() && !self.is_skipping {
            let fits = line.len() <= self.bytes_max;
            each(&if fits { TranscriptLine::Line(line) } else { TranscriptLine::TooLong });
            return;
        }
        self.hold(line);
        each(&if self.is_skipping {
            TranscriptLine::TooLong
        } else {
            TranscriptLine::Line(&self.buffer)
        });
        self.is_skipping = false;
        // Do not keep the memory of one long line forever.
        if self.buffer.capacity() > (1 << 20) {
            self.buffer = Vec::new();
        }
        self.buffer.clear();
    }

    fn hold(&mut self, part: &[u8]) {
        if self.is_skipping || self.buffer.len() + part.len() > self.bytes_max {
            self.is_skipping = true;
            self.buffer = Vec::new();
        } else {
            self.buffer.extend_from_slice(part);
        }
    }

    /// Returns the number of bytes up to the end of the last whole line.
    pub fn complete_bytes(&self) -> u64 {
        self.whole
    }

    /// Returns the bytes after the last whole line; empty if they are too long to buffer.
    pub fn rest(&self) -> &[u8] {
        &self.buffer
    }
}

/// Takes the next whole line off the front of `rest`. `skip_until` finds its end many bytes at a
/// time.
fn next_line<'c>(rest: &mut &'c [u8]) -> Option<&'c [u8]> {
    let mut behind = *rest;
    let length = behind.skip_until(b'\n').ok()?;
    let line = rest.get(..length)?.strip_suffix(b"\n")?;
    *rest = behind;
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &[u8], chunk: usize, bytes_max: usize) -> (Vec<String>, u64) {
        let mut lines = LineSplitter::with_limit(bytes_max);
        let mut found = Vec::new();
        for part in text.chunks(chunk) {
            lines.feed(part, &mut |piece| {
                found.push(match piece {
                    TranscriptLine::Line(line) => String::from_utf8_lossy(line).into_owned(),
                    TranscriptLine::TooLong => "(too long)".to_owned(),
                });
            });
        }
        (found, lines.complete_bytes())
    }

    #[test]
    fn lines_do_not_depend_on_the_chunk_size() {
        let text = b"one\n\nthree is longer\nfour\nhalf a li";
        for chunk in 1..=text.len() {
            let expected: Vec<String> = ["one", "", "(too long)", "four"].map(str::to_owned).into();
            assert_eq!(cut(text, chunk, 10), (expected, 26), "{chunk}");
        }
        assert_eq!(cut(b"", 1, 10), (vec![], 0));
    }
}
