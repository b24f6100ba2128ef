//! The output of a command, limited to its beginning and its end.

use std::collections::VecDeque;

/// The marker for dropped output. It contains no number that could be mistaken for output.
const GAP: &str = "\n[…]\n";

/// The beginning and the end of an output, and how much was dropped in between.
#[derive(Clone, Debug, Default)]
pub struct CappedOutput {
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped: u64,
}

impl CappedOutput {
    /// Creates an output that keeps at most this many bytes.
    pub(super) fn with_limit(bytes: usize) -> Self {
        Self { half: bytes / 2, ..Self::default() }
    }

    pub(super) fn add(&mut self, bytes: &[u8]) {
        let (first, rest) = bytes.split_at(bytes.len().min(self.half - self.head.len()));
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..over);
        self.dropped += over as u64;
    }

    /// The number of bytes that were dropped.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The output up to the first dropped byte.
    pub fn beginning(&self) -> Vec<u8> {
        let mut bytes = self.head.clone();
        if self.dropped == 0 {
            bytes.extend(&self.tail);
        }
        bytes
    }

    /// The output as lossy UTF-8, with a marker for dropped bytes.
    pub fn text(&self) -> String {
        let mut bytes = self.head.clone();
        if self.dropped > 0 {
            bytes.extend_from_slice(GAP.as_bytes());
        }
        bytes.extend(&self.tail);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_and_the_end_are_kept() {
        let kept = |parts: &[&[u8]]| {
            let mut kept = CappedOutput::with_limit(8);
            for part in parts {
                kept.add(part);
            }
            (kept.text(), kept.dropped())
        };
        assert_eq!(kept(&[b"abc", b"def"]), ("abcdef".to_owned(), 0));
        assert_eq!(kept(&[b"abcdefgh"]), ("abcdefgh".to_owned(), 0));
        assert_eq!(kept(&[b"abcdefghi"]), ("abcd\n[…]\nfghi".to_owned(), 1));
        let letters: Vec<&[u8]> = b"abcdefghijkl".chunks(1).collect();
        assert_eq!(kept(&letters), ("abcd\n[…]\nijkl".to_owned(), 4));
        assert_eq!(kept(&[b"a\xffb"]), ("a\u{fffd}b".to_owned(), 0));
    }

    #[test]
    fn the_beginning_stops_at_the_first_dropped_byte() {
        let beginning = |bytes: &[u8]| {
            let mut kept = CappedOutput::with_limit(8);
            kept.add(bytes);
            kept.beginning()
        };
        assert_eq!(beginning(b"abcdefgh"), b"abcdefgh");
        assert_eq!(beginning(b"abcdefghi"), b"abcd");
    }
}
