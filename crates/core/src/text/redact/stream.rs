//! Text that comes in pieces of any size, cleaned as if it came whole.

use super::hit::{AFTER_BYTES_MAX, BEFORE_BYTES_MAX};
use super::scan::{LETTER_BYTES_MAX, sort_redactions};
use super::{REDACTION_MARK, Redaction, RedactionRules, lines};
use crate::text::span::Span;
use std::collections::BTreeMap;

/// How many secrets of each kind were found.
pub type RedactionCounts = BTreeMap<String, usize>;

/// Pieces are gathered until a look at them is worth it.
const PART_BYTES_MIN: usize = 512 << 10;
/// A secret begins at most so far before the letters it was recognised by.
const LOOKBACK_BYTES_MAX: usize = 128;

/// Letters that may begin a secret in later lines stand no further before them.
const RESCAN_BYTES_MAX: usize = 4 << 10;

/// Cleans bytes that come in pieces, in bounded memory. What is no text passes untouched.
#[derive(Debug)]
pub struct RedactionStream<'r> {
    rules: &'r RedactionRules,
    /// What is not written yet, behind some of what is.
    buffer: Vec<u8>,
    /// Up to where it was looked at.
    seen: usize,
    /// Up to where it is written or taken out.
    written: usize,
    /// What was found and is not written yet.
    found: Vec<Redaction>,
    counts: RedactionCounts,
    /// How much is gathered before it is looked at.
    part_bytes_min: usize,
}

impl<'r> RedactionStream<'r> {
    /// A stream of which nothing came yet.
    pub fn new(rules: &'r RedactionRules) -> Self {
        let (buffer, found, counts) = (Vec::new(), Vec::new(), RedactionCounts::new());
        let part_bytes_min = PART_BYTES_MIN;
        Self { rules, buffer, seen: 0, written: 0, found, counts, part_bytes_min }
    }

    /// Takes a piece, and writes what can be decided.
    pub fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        self.buffer.extend_from_slice(piece);
        let to = self.buffer.len().saturating_sub(AFTER_BYTES_MAX + LETTER_BYTES_MAX);
        if to >= self.seen + self.part_bytes_min {
            self.scan(to);
            self.write(to.saturating_sub(LOOKBACK_BYTES_MAX), out);
            self.discard_written();
        }
    }

    /// Writes the complete lines that nothing to come can change, for whoever follows what is
    /// written elsewhere. A private key waits for its end.
    pub fn flush_lines(&mut self, out: &mut Vec<u8>) {
        let Some(end) = lines::complete_lines_end(&self.buffer[self.written..]) else { return };
        let end = self.written + end;
        let (to, found) = self.flushable(end);
        if to <= self.written {
            return;
        }
        // What stands in later lines is found again when they come.
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

    /// Up to where complete lines can be written, and what is found in them.
    fn flushable(&self, end: usize) -> (usize, Vec<Redaction>) {
        let text = &self.buffer[..end];
        let waits_from = lines::pending_from(text).unwrap_or(end);
        let met = self.rules.scanner.first_pending(text, self.seen..end, waits_from);
        let to = met.map_or(end, |met| lines::line_start(text, met));
        (to, self.rules.scanner.find(text, self.seen..end))
    }

    /// Writes the rest, and says what was taken out.
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

    /// Lets go of what no rule looks back at any more.
    fn discard_written(&mut self) {
        let past = self.written.min(self.seen.saturating_sub(BEFORE_BYTES_MAX));
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

    /// Looks as soon as it may, so that every byte is once the last that was looked at.
    #[test]
    fn whatever_stands_on_a_border_is_taken_out_as_from_the_whole() {
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

    /// The same, with every complete line handed out as soon as it may be.
    #[test]
    fn lines_that_are_handed_out_are_those_of_the_whole() {
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
    fn a_line_is_handed_out_at_once_and_a_private_key_with_its_end() {
        let mut stream = RedactionStream::new(RedactionRules::shipped());
        let mut told = |text: &str| {
            let mut out = Vec::new();
            stream.push(text.as_bytes(), &mut out);
            stream.flush_lines(&mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(told("one\ntw"), "one\n");
        assert_eq!(told("o, password=hunter2\n"), "two, password=REDACTED-password\n");
        let line = "q7W2e9R4t1Y6u3I8o5P0a2S4d6F8q7W2e9R4t1Y6u3I8o5P0a2S4d6F8q7W2e9R4\n";
        assert_eq!(told("here\n-----BEGIN RSA PRIVATE KEY-----\n"), "here\n");
        for _ in 0..20 {
            assert_eq!(told(line), "");
        }
        assert_eq!(told("-----END RSA PRIVATE KEY-----\n"), "REDACTED-private-key\n");
        assert_eq!(told("key = \"a\"\n"), "");
        assert_eq!(told("three\n"), "key = \"a\"\nthree\n");
    }
}
