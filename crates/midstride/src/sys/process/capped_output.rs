//! What a command wrote, as far as it is kept: the beginning and the end.

use std::collections::VecDeque;

/// Stands where something was left out; it has no number that could be taken for one of the output.
const GAP: &str = "\n[…]\n";

/// The beginning and the end of an output, and how much was left out between them.
#[derive(Clone, Debug, Default)]
pub struct CappedOutput {
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped: u64,
}

impl CappedOutput {
    /// Keeps at most so many bytes.
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

    /// How many bytes were left out.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// What comes before anything was left out.
    pub fn beginning(&self) -> Vec<u8> {
        let mut bytes = self.head.clone();
        if self.dropped == 0 {
            bytes.extend(&self.tail);
        }
        bytes
    }

    /// As text; what is no UTF-8 is replaced, what was left out is marked.
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
    fn the_beginning_is_whole() {
        let beginning = |bytes: &[u8]| {
            let mut kept = CappedOutput::with_limit(8);
            kept.add(bytes);
            kept.beginning()
        };
        assert_eq!(beginning(b"abcdefgh"), b"abcdefgh");
        assert_eq!(beginning(b"abcdefghi"), b"abcd");
    }
}
