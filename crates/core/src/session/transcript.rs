//! Reads transcripts, the session logs that clients write, record by record.
//!
//! The reader of a client's format turns records into facts. No error is fatal: a record that cannot
//! be used is skipped and counted.

mod lines;

pub use lines::{LINE_BYTES_MAX, LineSplitter, TranscriptLine};

use crate::session::{Fact, RecordLink, RecordRef, Session, hash};
use crate::text::id::ClientName;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt;

/// Reads the records of one client's format.
pub trait RecordReader: fmt::Debug {
    /// Emits the facts of a record. `number` counts the lines from one.
    fn read_record(
        &mut self,
        number: u64,
        line: &[u8],
        out: &mut dyn FnMut(&RecordRef<'_>, Fact<'_>),
    );

    /// The state between records, as JSON to store.
    fn state(&self) -> serde_json::Result<Box<RawValue>>;
}

/// The version of the stored cursor. If it differs, the transcript is read from the start again.
pub const CURSOR_VERSION: u32 = 6;
/// The version of midstride, which is stored too: another version may read more, and redact more
/// secrets.
const WRITER_VERSION: &str = env!("CARGO_PKG_VERSION");

/// The number of bytes, at the start of a file and before the offset that was reached, that
/// identify a file as the one that was read. Reading the whole file again at each hook would cost
/// more than reading what is new. These bytes detect a file that was replaced, that is shorter, or
/// that was truncated and grew again. They do not detect a file that was rewritten only in the
/// middle to the same length, but clients only ever append.
pub const WINDOW_BYTES: usize = 4 << 10;

/// How far a transcript was read, and the session read so far. Continuing costs only what is new.
#[derive(Debug)]
pub struct TranscriptCursor {
    /// The version of this format.
    pub version: u32,
    /// The version of midstride that wrote it.
    by: String,
    /// The number of bytes read: up to the end of the last whole line.
    pub offset: u64,
    /// The number of lines read.
    pub lines: u64,
    /// The length and hash of the window at the start of the file.
    pub head: (u64, u64),
    /// The length and hash of the window right before the offset.
    pub tail: (u64, u64),
    reader: Box<dyn RecordReader>,
    /// The session read from the transcript.
    pub session: Session,
}

impl TranscriptCursor {
    /// Creates a cursor at the start of a transcript of a client.
    pub fn new(client: ClientName, reader: Box<dyn RecordReader>) -> Self {
        Self {
            version: CURSOR_VERSION,
            by: WRITER_VERSION.to_owned(),
            offset: 0,
            lines: 0,
            head: (0, hash(b"")),
            tail: (0, hash(b"")),
            reader,
            session: Session::new(client),
        }
    }

    /// Parses a stored cursor; `None` if another version wrote it. `restore` returns the reader of
    /// the named client with a stored state.
    pub fn parse(
        bytes: &[u8],
        restore: impl FnOnce(&str, &RawValue) -> Option<Box<dyn RecordReader>>,
    ) -> Option<Self> {
        let stored: StoredCursor<&RawValue, Session> = serde_json::from_slice(bytes).ok()?;
        let (client, state) = stored.reader.into_iter().next()?;
        let is_current = stored.version == CURSOR_VERSION && stored.by == WRITER_VERSION;
        let reader = restore(&client, state).filter(|_| is_current)?;
        let StoredCursor { version, by, offset, lines, head, tail, session, .. } = stored;
        Some(Self { version, by, offset, lines, head, tail, reader, session })
    }

    /// The cursor as JSON to store.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(&StoredCursor {
            version: self.version,
            by: self.by.clone(),
            offset: self.offset,
            lines: self.lines,
            head: self.head,
            tail: self.tail,
            reader: [(self.session.client.to_string(), self.reader.state()?)].into(),
            session: &self.session,
        })
    }

    /// Reads the next line of a transcript.
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
        self.reader.read_record(self.lines, line, out);
    }

    /// Returns how far the transcript was read.
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

    /// Records the length and hash of the two windows.
    pub fn set_windows(&mut self, at_start: &[u8], before_offset: &[u8]) {
        let window = |bytes: &[u8]| (u64::try_from(bytes.len()).unwrap_or_default(), hash(bytes));
        self.head = window(at_start);
        self.tail = window(before_offset);
    }
}

/// A cursor as it is stored. The fields of [`CursorPosition`] come before `reader`, so that the start
/// of a stored cursor is enough to parse them.
#[derive(Serialize, Deserialize)]
struct StoredCursor<R, S> {
    version: u32,
    by: String,
    offset: u64,
    lines: u64,
    head: (u64, u64),
    tail: (u64, u64),
    /// The state of the reader, by the name of its client.
    reader: BTreeMap<String, R>,
    session: S,
}

/// How far a transcript was read, without the session, which takes megabytes for a long transcript.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct CursorPosition {
    version: u32,
    by: String,
    /// The number of bytes read.
    pub offset: u64,
    head: (u64, u64),
    tail: (u64, u64),
}

impl CursorPosition {
    /// The number of bytes at the start of a stored cursor that are enough to parse it.
    pub const BYTES_MAX: u64 = 512;

    /// Parses the start of a stored cursor; `None` if it is not readable, or if another version
    /// wrote it.
    pub fn parse(beginning: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(beginning);
        let (fields, _) = text.split_once(",\"reader\":")?;
        let reached: Self = serde_json::from_str(&format!("{fields}}}")).ok()?;
        (reached.version == CURSOR_VERSION && reached.by == WRITER_VERSION).then_some(reached)
    }

    /// Whether a file is still the one that was read. `at_start` and `before_offset` are the file's
    /// bytes in the two windows.
    pub fn is_same_file(&self, at_start: &[u8], before_offset: &[u8]) -> bool {
        let same = |(bytes, known): (u64, u64), found: &[u8]| {
            u64::try_from(found.len()) == Ok(bytes) && hash(found) == known
        };
        same(self.head, at_start) && same(self.tail, before_offset)
    }
}

/// Trims a byte order mark and surrounding white space off a line, and the zero bytes that a file
/// has where a machine crashed before its data reached the disk.
pub fn trim_line(line: &[u8]) -> &[u8] {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let is_blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0;
    let Some(start) = line.iter().position(|byte| !is_blank(byte)) else { return &[] };
    let end = line.iter().rposition(|byte| !is_blank(byte)).map_or(start, |last| last + 1);
    &line[start..end]
}
