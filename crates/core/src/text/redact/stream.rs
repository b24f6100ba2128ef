//! Redacts a stream of bytes. The result is the same as for the whole text.

use super::hidden::SEQUENCE_BYTES_MAX;
use super::hit::{AFTER_BYTES_MAX, TAIL_BYTES_MAX};
use super::scan::{LETTER_BYTES_MAX, sort_redactions};
use super::{REDACTION_MARK, Redaction, RedactionRules, lines};
use crate::text::span::Span;
use std::collections::BTreeMap;

/// The number of secrets found, by kind.
pub type RedactionCounts = BTreeMap<String, usize>;

/// The minimum number of bytes to buffer before a scan.
const PART_BYTES_MIN: usize = 512 << 10;
/// How many bytes after a prefix have to be there before it is checked, and how many before it stay
/// in the buffer. What a rule sees may start or end inside a terminal sequence.
const AHEAD_BYTES_MAX: usize = AFTER_BYTES_MAX + SEQUENCE_BYTES_MAX + LETTER_BYTES_MAX;
const BEHIND_BYTES_MAX: usize = TAIL_BYTES_MAX + SEQUENCE_BYTES_MAX;

/// How far before the flushed end scanning resumes, to find prefixes of secrets in later lines.
const RESCAN_BYTES_MAX: usize = 4 << 10;

/// Redacts bytes that arrive in pieces, in bounded memory. Bytes that are not text pass unchanged.
#[derive(Debug)]
pub struct RedactionStream<'r> {
    rules: &'r RedactionRules,
    /// The bytes that are not yet written, preceded by some that are.
    buffer: Vec<u8>,
    /// How far the buffer has been scanned.
    seen: usize,
    /// How far the buffer has been written or redacted.
    written: usize,
    /// The secrets that are found but not yet written.
    found: Vec<Redaction>,
    counts: RedactionCounts,
    /// The number of bytes to buffer before a scan.
    part_bytes_min: usize,
}

impl<'r> RedactionStream<'r> {
    /// Creates an empty stream.
    pub fn new(rules: &'r RedactionRules) -> Self {
        let (buffer, found, counts) = (Vec::new(), Vec::new(), RedactionCounts::new());
        let part_bytes_min = PART_BYTES_MIN;
        Self { rules, buffer, seen: 0, written: 0, found, counts, part_bytes_min }
    }

    /// Adds a piece, and writes the bytes that later pieces cannot change.
    pub fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        self.buffer.extend_from_slice(piece);
        let to = self.buffer.len().saturating_sub(AHEAD_BYTES_MAX);
        if to >= self.seen + self.part_bytes_min {
            self.scan(to);
            // A secret may start before the prefix that identifies it.
            self.write(to.saturating_sub(TAIL_BYTES_MAX), out);
            self.discard_written();
        }
    }

    /// Writes the complete lines that later pieces cannot change, so that output can be followed
    /// live. A private key waits for its end line.
    pub fn flush_lines(&mut self, out: &mut Vec<u8>) {
        let Some(end) = lines::complete_lines_end(&self.buffer[self.written..]) else { return };
        let end = self.written + end;
        let (to, found) = self.flushable(end);
        if to <= self.written {
            return;
        }
        // Secrets in later lines are found again when those lines are scanned.
        let seen = lines::line_start(&self.buffer, to.saturating_sub(RESCAN_BYTES_MAX));
        if seen > self.seen {
            self.scan(seen);
        }
        let known = self.found.clone();
        self.found.extend(found);
        sort_redactions(&mut self.found);
        self.write(to, out);
        self.found = known;
        self.found.retain(|found| found.at.end > self.written);
        self.discard_written();
    }

    /// How far complete lines can be written, and the secrets in them.
    fn flushable(&self, end: usize) -> (usize, Vec<Redaction>) {
        let text = &self.buffer[..end];
        let met = self.rules.scanner.first_pending(text, self.seen..end);
        let to = met.map_or(end, |met| lines::line_start(text, met));
        (to, self.rules.scanner.find(text, self.seen..end))
    }

    /// Writes the rest and returns the number of secrets by kind.
    pub fn finish(mut self, out: &mut Vec<u8>) -> RedactionCounts {
        let end = self.buffer.len();
        self.scan(end);
        self.write(end, out);
        self.counts
    }

    fn scan(&mut self, to: usize) {
        self.found.extend(self.rules.scanner.find(&self.buffer, self.seen..to));
        sort_redactions(&mut self.found);
        self.seen = to;
    }

    fn write(&mut self, to: usize, out: &mut Vec<u8>) {
        let later = self.found.partition_point(|found| found.at.start < to);
        for Redaction { kind, at } in self.found.drain(..later) {
            if at.start >= self.written {
                out.extend_from_slice(&self.buffer[self.written..at.start]);
                out.extend_from_slice(REDACTION_MARK.as_bytes());
                out.extend_from_slice(kind.as_bytes());
                *self.counts.entry(kind.into_owned()).or_default() += 1;
            }
            self.written = self.written.max(at.end);
        }
        if self.written < to {
            out.extend_from_slice(&self.buffer[self.written..to]);
            self.written = to;
        }
    }

    /// Drops the bytes that no rule looks back at anymore.
    fn discard_written(&mut self) {
        let past = self.written.min(self.seen.saturating_sub(BEHIND_BYTES_MAX));
        self.buffer.drain(..past);
        self.seen -= past;
        self.written -= past;
        for found in &mut self.found {
            found.at = Span::new(found.at.start.saturating_sub(past), found.at.end - past);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scans as early as possible, so that every byte is once the last one scanned.
    #[test]
    fn a_secret_on_a_chunk_boundary_is_redacted_as_in_the_whole_text() {
        let random = "q7W2e9R4t1Y6u3I8o5P0a2S4d6F8".repeat(3);
        let lines = format!("{random}\n").repeat(20);
        let whole = [
            format!("GITHUB_TOKEN=ghp_{}\n", &random[..36]),
            format!("const apiKey =\n  \"{random}\" +\n  \"{random}\";\n"),
            format!("-----BEGIN PRIVATE KEY-----\n{lines}-----END PRIVATE KEY-----\n"),
            format!("postgres://app:{}@db/shop\n", &random[..20]),
            "commit 0123456789abcdef0123456789abcdef01234567\n".to_owned(),
        ];
        let whole = whole.concat().repeat(3);
        let (clean, found) = RedactionRules::shipped().clean(&whole);
        for piece_bytes in [1, 100] {
            let mut stream = RedactionStream::new(RedactionRules::shipped());
            stream.part_bytes_min = 1;
            let mut out = Vec::new();
            for piece in whole.as_bytes().chunks(piece_bytes) {
                stream.push(piece, &mut out);
            }
            let counts = stream.finish(&mut out);
            assert!(out == clean.as_str().as_bytes(), "{piece_bytes}");
            assert_eq!(counts.values().sum::<usize>(), found.len());
        }
    }

    /// Flushes every complete line as early as possible.
    #[test]
    fn flushed_lines_match_the_redacted_whole_text() {
        let random = "q7W2e9R4t1Y6u3I8o5P0a2S4d6F8".repeat(3);
        let wide = format!("{}\n", &random[..64]).repeat(5);
        let whole = [
            "nothing is hidden here\n".to_owned(),
            format!("GITHUB_TOKEN=ghp_{}\n", &random[..36]),
            format!("const apiKey =\n  \"{random}\" +\n  \"{random}\";\n"),
            format!("api_key = (\n    \"{random}\"\n    \"{random}\"\n)\n"),
            format!("export API_KEY={}\\\n{}\nmake\n", &random[..30], &random[30..]),
            format!("secret: |\n  {}\n  {}\nport: 1\n", &random[..64], &random[..64]),
            format!("-----BEGIN PRIVATE KEY-----\n{wide}-----END PRIVATE KEY-----\n"),
            format!("Private-Lines: 6\n{wide}{}==\nPrivate-MAC: 1\n", &random[..22]),
            format!("password:\n  \"{}\"\n", &random[..20]),
            format!("- name: DB_PASSWORD\n  value: {}\n", &random[..20]),
            "level=info msg=\"the key is known\"\n".repeat(3),
        ];
        let whole = whole.concat().repeat(3);
        let (clean, found) = RedactionRules::shipped().clean(&whole);
        for piece_bytes in [1, 7, 100, 1000] {
            let mut stream = RedactionStream::new(RedactionRules::shipped());
            let mut out = Vec::new();
            for piece in whole.as_bytes().chunks(piece_bytes) {
                stream.push(piece, &mut out);
                stream.flush_lines(&mut out);
                let clean = clean.as_str().as_bytes();
                assert!(clean.starts_with(&out), "{}", String::from_utf8_lossy(&out));
            }
            let counts = stream.finish(&mut out);
            assert!(out == clean.as_str().as_bytes(), "{piece_bytes}");
            assert_eq!(counts.values().sum::<usize>(), found.len());
        }
    }

    #[test]
    fn a_line_is_flushed_at_once_and_a_private_key_at_its_end() {
        let mut stream = RedactionStream::new(RedactionRules::shipped());
        let mut flushed = |text: &str| {
            let mut out = Vec::new();
            stream.push(text.as_bytes(), &mut out);
            stream.flush_lines(&mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(flushed("one\ntw"), "one\n");
        assert_eq!(flushed("o, password=hunter2\n"), "two, password=REDACTED-password\n");
        let line = "q7W2e9R4t1Y6u3I8o5P0a2S4d6F8q7W2e9R4t1Y6u3I8o5P0a2S4d6F8q7W2e9R4\n";
        assert_eq!(flushed("here\n-----BEGIN RSA PRIVATE KEY-----\n"), "here\n");
        for _ in 0..20 {
            assert_eq!(flushed(line), "");
        }
        assert_eq!(flushed("-----END RSA PRIVATE KEY-----\n"), "REDACTED-private-key\n");
        assert_eq!(flushed("key = \"a\"\n"), "");
        assert_eq!(flushed("three\n"), "key = \"a\"\nthree\n");
    }
}
