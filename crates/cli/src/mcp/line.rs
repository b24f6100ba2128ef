//! Reads lines from a stream with a size limit. A line that is too long is skipped and reported.

use std::io::{self, BufRead};

/// The maximum length of a message. Anything a tool accepts is far smaller.
pub(super) const LINE_BYTES_MAX: usize = 16 << 20;
/// How much of the beginning and the end of an overlong line is kept.
const EDGE_BYTES: usize = 512;

/// A line of input.
#[derive(Debug)]
pub(super) enum InputLine {
    /// A line within the limit.
    Whole(Vec<u8>),
    /// A line over the limit.
    TooLong {
        /// The length of the line.
        bytes: usize,
        /// The beginning of the line.
        head: Vec<u8>,
        /// The end of the line.
        tail: Vec<u8>,
    },
}

/// The beginning and the end of a line.
pub(super) fn edges(line: &[u8]) -> (&[u8], &[u8]) {
    let head = line.get(..EDGE_BYTES).unwrap_or(line);
    (head, &line[line.len().saturating_sub(EDGE_BYTES)..])
}

/// Reads the lines of a stream.
#[derive(Debug)]
pub(super) struct InputLineReader<R> {
    input: R,
    bytes_max: usize,
}

impl<R: BufRead> InputLineReader<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, bytes_max: LINE_BYTES_MAX }
    }

    /// The next line without its line break; `None` at the end of the stream.
    pub(super) fn next_line(&mut self) -> io::Result<Option<InputLine>> {
        let mut kept = Vec::new();
        let mut tail = Vec::new();
        let mut bytes = 0;
        let mut ended = false;
        while !ended {
            let part = match self.input.fill_buf() {
                Ok(part) => part,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if part.is_empty() {
                break;
            }
            let end = part.iter().position(|byte| *byte == b'\n');
            ended = end.is_some();
            let taken = &part[..end.unwrap_or(part.len())];
            bytes += taken.len();
            if bytes <= self.bytes_max {
                kept.extend_from_slice(taken);
            } else {
                kept.truncate(EDGE_BYTES);
                tail.extend_from_slice(&taken[taken.len().saturating_sub(EDGE_BYTES)..]);
                tail.drain(..tail.len().saturating_sub(EDGE_BYTES));
            }
            let used = taken.len() + usize::from(ended);
            self.input.consume(used);
        }
        if bytes > self.bytes_max {
            return Ok(Some(InputLine::TooLong { bytes, head: kept, tail }));
        }
        Ok((ended || bytes > 0).then_some(InputLine::Whole(kept)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overlong_line_is_skipped_and_the_next_line_is_read() {
        let text = format!("a\n\n{}\nb", "x".repeat(40_000) + "end");
        for capacity in [1, 7, 8192] {
            let input = io::BufReader::with_capacity(capacity, text.as_bytes());
            let mut lines = InputLineReader { input, bytes_max: 1000 };
            let mut next = || lines.next_line().unwrap();
            assert!(matches!(next(), Some(InputLine::Whole(line)) if line == b"a"));
            assert!(matches!(next(), Some(InputLine::Whole(line)) if line.is_empty()));
            let Some(InputLine::TooLong { bytes, head, tail }) = next() else {
                panic!("{capacity}")
            };
            assert_eq!((bytes, tail.len()), (40_003, EDGE_BYTES));
            assert!(head.iter().all(|byte| *byte == b'x') && tail.ends_with(b"xend"));
            assert!(matches!(next(), Some(InputLine::Whole(line)) if line == b"b"));
            assert!(next().is_none());
        }
    }
}
