//! Lines out of chunks: a whole line is handed on where it lies, a half one is kept until the rest
//! of it comes.

use std::io::BufRead as _;

/// A longer line is passed over: nothing a person could use is in it. What clients put into one, the
/// largest picture a model takes twice over, is shorter; and it is held whole while it is read.
pub const LINE_BYTES_MAX: usize = 14 << 20;

/// A line, or that there was one.
#[derive(Debug, PartialEq, Eq)]
pub enum TranscriptLine<'a> {
    /// A whole line, without its end.
    Line(&'a [u8]),
    /// One over [`LINE_BYTES_MAX`].
    TooLong,
}

/// Cuts chunks into lines. Memory grows with the longest line, not with the file.
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
    /// Lines of at most so many bytes.
    pub fn with_limit(bytes_max: usize) -> Self {
        Self { buffer: Vec::new(), is_skipping: false, bytes_max, whole: 0, open: 0 }
    }

    /// Hands on each line that a chunk ends.
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

    /// A line ends here: handed on from where it lies, or together with what was held.
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
        // One long line does not keep its memory for ever.
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

    /// Bytes up to the end of the last whole line.
    pub fn complete_bytes(&self) -> u64 {
        self.whole
    }

    /// What stands behind the last whole line, if it is short enough to be looked at.
    pub fn rest(&self) -> &[u8] {
        &self.buffer
    }
}

/// The line that ends next, and what is left behind it. The standard library finds the end many
/// bytes at a time.
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
    fn lines_are_the_same_however_they_come() {
        let text = b"one\n\nthree is longer\nfour\nhalf a li";
        for chunk in 1..=text.len() {
            let expected: Vec<String> = ["one", "", "(too long)", "four"].map(str::to_owned).into();
            assert_eq!(cut(text, chunk, 10), (expected, 26), "{chunk}");
        }
        assert_eq!(cut(b"", 1, 10), (vec![], 0));
    }
}
