//! Transcripts: what clients write down of a session, read record by record.
//!
//! A format is one file: it turns records into facts. Nothing is fatal here: a record that cannot
//! be used costs itself, and is counted.

mod claude_code;
mod codex;
mod copies;
mod lenient;
mod lines;

pub use claude_code::ClaudeCodeReader;
pub use codex::CodexReader;
pub use copies::{RecordOrder, SharedPrefix, TranscriptOpening, collect_ids};
pub use lines::{LINE_BYTES_MAX, LineSplitter, TranscriptLine};

use crate::session::{Client, Fact, RecordLink, RecordRef, Session, hash};
use serde::{Deserialize, Serialize};

/// Reads the records of one format.
pub trait RecordReader {
    /// Tells what a record says. `number` counts the lines from one.
    fn read_record(
        &mut self,
        number: u64,
        line: &[u8],
        out: &mut dyn FnMut(&RecordRef<'_>, Fact<'_>),
    );
}

/// The version of what is kept between two captures; another one is read from the start again.
pub const CURSOR_VERSION: u32 = 6;
/// Another version of midstride reads more, and calls more a secret.
const WRITER_VERSION: &str = env!("CARGO_PKG_VERSION");

/// So many bytes at the start, and before the place that was reached, tell whether a file is still
/// the one that was read, however long it is: reading all of it again at each hook would cost more
/// than what is new. A file that was replaced, that is shorter, or that was cut off and grew again is
/// known by them. One that was rewritten in the middle alone, to the same length, is not: clients only
/// ever append.
pub const WINDOW_BYTES: usize = 4 << 10;

/// The readers, one per format, with what they remember from record to record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TranscriptReader {
    /// Claude Code's.
    ClaudeCode(ClaudeCodeReader),
    /// Codex's.
    Codex(CodexReader),
}

impl TranscriptReader {
    /// The reader for a client.
    pub fn for_client(client: Client) -> Self {
        match client {
            Client::ClaudeCode => Self::ClaudeCode(ClaudeCodeReader::default()),
            Client::Codex => Self::Codex(CodexReader::default()),
        }
    }

    fn as_reader(&mut self) -> &mut dyn RecordReader {
        match self {
            Self::ClaudeCode(reader) => reader,
            Self::Codex(reader) => reader,
        }
    }
}

/// How far a transcript was read, and what it told up to there. Reading on costs what is new. What
/// [`Reached`] has comes before `reader`, so that the beginning of a stored one tells it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TranscriptCursor {
    /// The version of this shape.
    pub version: u32,
    /// The version of midstride that read it.
    by: String,
    /// Bytes that were read: up to the end of the last whole line.
    pub offset: u64,
    /// Lines that were read.
    pub lines: u64,
    /// What stood at the start of the file, and how much of it was looked at.
    pub head: (u64, u64),
    /// What stood right before the offset, and how much of it was looked at.
    pub tail: (u64, u64),
    reader: TranscriptReader,
    /// What the transcript told.
    pub session: Session,
}

impl TranscriptCursor {
    /// At the start of a transcript.
    pub fn new(client: Client) -> Self {
        Self {
            version: CURSOR_VERSION,
            by: WRITER_VERSION.to_owned(),
            offset: 0,
            lines: 0,
            head: (0, hash(b"")),
            tail: (0, hash(b"")),
            reader: TranscriptReader::for_client(client),
            session: Session::new(client),
        }
    }

    /// Reads a cursor that was stored; `None` where another version wrote it.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let cursor: Self = serde_json::from_slice(bytes).ok()?;
        (cursor.version == CURSOR_VERSION && cursor.by == WRITER_VERSION).then_some(cursor)
    }

    /// Takes in the next piece of a transcript.
    pub fn take(&mut self, piece: &TranscriptLine<'_>) {
        match piece {
            TranscriptLine::Line(line) => {
                self.lines += 1;
                self.take_line(line);
            }
            TranscriptLine::TooLong => {
                self.lines += 1;
                let session = &mut self.session;
                let mark =
                    RecordRef { record: "".into(), number: self.lines, at: None, agent: None };
                session.apply(&mark, Fact::Record(RecordLink::default()));
                session.apply(&mark, Fact::Skipped("too long"));
            }
        }
    }

    fn take_line(&mut self, line: &[u8]) {
        let line = trim_line(line);
        if line.is_empty() {
            return;
        }
        let session = &mut self.session;
        let out = &mut |mark: &RecordRef<'_>, fact: Fact<'_>| session.apply(mark, fact);
        self.reader.as_reader().read_record(self.lines, line, out);
    }

    /// How far it was read.
    pub fn position(&self) -> CursorPosition {
        let Self { version, by, offset, head, tail, .. } = self;
        CursorPosition {
            version: *version,
            by: by.clone(),
            offset: *offset,
            head: *head,
            tail: *tail,
        }
    }

    /// Takes note of what stands in the two windows.
    pub fn set_windows(&mut self, at_start: &[u8], before_offset: &[u8]) {
        let window = |bytes: &[u8]| (u64::try_from(bytes.len()).unwrap_or_default(), hash(bytes));
        self.head = window(at_start);
        self.tail = window(before_offset);
    }
}

/// How far a transcript was read, without what it told: a long one keeps megabytes of that.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct CursorPosition {
    version: u32,
    by: String,
    /// Bytes that were read.
    pub offset: u64,
    head: (u64, u64),
    tail: (u64, u64),
}

impl CursorPosition {
    /// So much of a stored cursor is enough.
    pub const BYTES_MAX: u64 = 512;

    /// Reads the beginning of a cursor that was stored; `None` where it does not tell, or where
    /// another version wrote it.
    pub fn parse(beginning: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(beginning);
        let (told, _) = text.split_once(",\"reader\":")?;
        let reached: Self = serde_json::from_str(&format!("{told}}}")).ok()?;
        (reached.version == CURSOR_VERSION && reached.by == WRITER_VERSION).then_some(reached)
    }

    /// Whether a file is still the one that was read: `at_start` and `before_offset` are what it
    /// has where the two windows are.
    pub fn is_same_file(&self, at_start: &[u8], before_offset: &[u8]) -> bool {
        let same = |(bytes, known): (u64, u64), found: &[u8]| {
            u64::try_from(found.len()) == Ok(bytes) && hash(found) == known
        };
        same(self.head, at_start) && same(self.tail, before_offset)
    }
}

/// A line without a byte order mark and the blanks around it, and without the zeros that a file has
/// where a machine went down before what stood there was on its disk.
fn trim_line(line: &[u8]) -> &[u8] {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let is_blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0;
    let Some(start) = line.iter().position(|byte| !is_blank(byte)) else { return &[] };
    let end = line.iter().rposition(|byte| !is_blank(byte)).map_or(start, |last| last + 1);
    &line[start..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_cursor_tells_how_far_it_reached() {
        for client in Client::ALL {
            let mut cursor = TranscriptCursor::new(client);
            (cursor.offset, cursor.lines) = (u64::MAX, u64::MAX);
            cursor.set_windows(&[1; WINDOW_BYTES], &[2; WINDOW_BYTES]);
            let stored = serde_json::to_vec(&cursor).unwrap();
            let length = usize::try_from(CursorPosition::BYTES_MAX).unwrap().min(stored.len());
            assert_eq!(CursorPosition::parse(&stored[..length]), Some(cursor.position()));
            assert_eq!(TranscriptCursor::parse(&stored), Some(cursor));
        }
    }

    #[test]
    fn what_does_not_tell_is_not_believed() {
        let mut other = TranscriptCursor::new(Client::Codex);
        other.version += 1;
        let other = serde_json::to_vec(&other).unwrap();
        for bytes in [&b""[..], b"{", b"{\"version\":2,\"reader\":1}", b"\xff,\"reader\":", &other]
        {
            assert_eq!(CursorPosition::parse(bytes), None);
        }
    }
}
