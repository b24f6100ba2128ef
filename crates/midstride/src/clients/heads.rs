//! Reads and caches the heads of transcripts: their session and project. A transcript only grows, so
//! each head is read once. Also reads what the user asked, and the time of the last record.

use super::client::{Client, TranscriptCandidate, TranscriptInfo, TranscriptOpening};
use crate::sys::files::{FileError, FileStream};
use crate::sys::ids::sha256;
use crate::workspace::Workspace;
use jiff::Timestamp;
use midstride_core::session::Session;
use midstride_core::session::transcript::{LINE_BYTES_MAX, LineSplitter};
use midstride_core::text::id::SessionId;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// How much of a transcript is searched for the first prompt.
pub(crate) const HEAD_BYTES: u64 = 256 << 10;
/// Read size; most transcripts have the first prompt much earlier.
const STEP_BYTES: u64 = 32 << 10;
/// A session can start with an image, and its working directory comes after it.
const SEARCHED_BYTES: u64 = 2 * LINE_BYTES_MAX as u64;
/// Next to the cursors, because it can be rebuilt just as easily.
const FOLDER: &str = "cursors";
pub(crate) const FILE: &str = "beginnings.json";
/// The first line of the file. A cache from another version is discarded.
const VERSION: &str = "{\"version\":5}";
/// Above this many, entries that were not used in this run are dropped.
const CACHED_MAX: usize = 5_000;
/// midstride does not write larger files.
const CACHE_BYTES_MAX: u64 = 16 << 20;

/// What the head of a transcript says.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct TranscriptHead {
    pub(crate) id: Option<SessionId>,
    pub(crate) agent_of: Option<SessionId>,
    pub(crate) began: Option<Timestamp>,
    pub(crate) cwd: Option<String>,
    pub(crate) opening: TranscriptOpening,
}

/// A line of the file: the inode and size of the transcript, and its head.
type CachedHead = (u64, u64, TranscriptHead);

/// Cached heads and those used in this run, as lines keyed by the hash of the path. A line is
/// parsed only when needed, because a hook needs a few out of thousands.
pub(crate) struct HeadCache {
    cached: HashMap<String, String>,
    current: BTreeMap<String, String>,
    is_dirty: bool,
}

/// How many digits of the hash identify a path.
const NAME_LETTERS: usize = 32;

impl HeadCache {
    /// Loads the cache of a project; empty if it has no private folder.
    pub(crate) fn load(workspace: &Workspace) -> Self {
        let private = workspace.private().ok().flatten();
        let file = Path::new(FOLDER).join(FILE);
        let bytes = private.and_then(|root| root.read_up_to(&file, CACHE_BYTES_MAX).ok());
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
        let lines = text.strip_prefix(VERSION).unwrap_or_default().lines();
        let owned = |(name, line): (&str, &str)| (name.to_owned(), line.to_owned());
        let cached = lines.filter_map(|line| line.split_once(' ')).map(owned).collect();
        Self { cached, current: BTreeMap::new(), is_dirty: false }
    }

    /// The head of a transcript.
    pub(crate) fn get(
        &mut self,
        candidate: &TranscriptCandidate,
    ) -> Result<TranscriptHead, FileError> {
        let (inode, bytes) = (candidate.entry.inode, candidate.entry.bytes);
        let name = sha256(candidate.path.as_os_str().as_encoded_bytes())[..NAME_LETTERS].to_owned();
        if let Some(line) = self.cached.remove(&name)
            && let Ok((of, size_then, head)) = serde_json::from_str::<CachedHead>(&line)
            && of == inode
            && size_then <= bytes
        {
            self.current.insert(name, line);
            return Ok(head);
        }
        let (head, is_all) = read_head(candidate.client, &candidate.path)?;
        if is_all {
            self.is_dirty = true;
            let line = serde_json::to_string(&(inode, bytes, &head)).unwrap_or_default();
            self.current.insert(name, line);
        }
        Ok(head)
    }

    /// Saves the cache. If that fails, the heads are read again.
    pub(crate) fn save(mut self, workspace: &Workspace) {
        let Ok(Some(private)) = workspace.private() else { return };
        if self.is_dirty {
            // Not every run uses all entries, so entries of deleted transcripts go only when there
            // are too many.
            if self.cached.len() + self.current.len() <= CACHED_MAX {
                self.current.extend(self.cached.drain());
            }
            let mut text = format!("{VERSION}\n");
            for (name, line) in &self.current {
                text.extend([name, " ", line, "\n"]);
            }
            let (clean, _) = workspace.clean(&text);
            let folder = private.make_below(Path::new(FOLDER));
            let _ = folder.and_then(|folder| {
                folder.put_without_sync(Path::new(FILE), clean.as_str().as_bytes())
            });
        }
    }
}

/// Reads the head of a transcript.
pub(crate) fn read(client: &'static dyn Client, path: &Path) -> Result<TranscriptHead, FileError> {
    read_head(client, path).map(|(head, _)| head)
}

/// Reads a head, and returns whether it is final even if the file grows.
fn read_head(
    client: &'static dyn Client,
    path: &Path,
) -> Result<(TranscriptHead, bool), FileError> {
    let (session, opening, is_all) =
        read_start(client, path, &|session| !session.requests.is_empty())?;
    let (id, agent_of) = (session.id, session.agent_of);
    let head = TranscriptHead { id, agent_of, began: session.began, cwd: session.cwd, opening };
    Ok((head, is_all))
}

/// Reads the start of a transcript until its folder and time are known and `has_request` accepts it.
/// Returns whether that is final even if the file grows.
fn read_start(
    client: &'static dyn Client,
    path: &Path,
    has_request: &dyn Fn(&Session) -> bool,
) -> Result<(Session, TranscriptOpening, bool), FileError> {
    let mut cursor = client.new_cursor();
    let mut opening = TranscriptOpening::default();
    let mut lines = LineSplitter::default();
    let mut stream = FileStream::open(path)?;
    let mut from = 0;
    let is_all = loop {
        let piece = stream.read_range(from, from + STEP_BYTES)?;
        lines.feed(&piece, &mut |piece| {
            client.read_opening(piece, &mut opening);
            cursor.take(piece);
        });
        from += u64::try_from(piece.len()).unwrap_or_default();
        let session = &cursor.session;
        let most = if session.cwd.is_some() { HEAD_BYTES } else { SEARCHED_BYTES };
        let enough = session.cwd.is_some() && session.began.is_some() && has_request(session);
        if enough || piece.is_empty() || from >= most {
            break enough || from >= most;
        }
    };
    Ok((cursor.session, opening, is_all))
}

impl TranscriptInfo {
    /// What the user asked, in one line, read from the start of the transcript. It is not cached:
    /// only captures store what the user asked.
    pub fn about(&self) -> Option<String> {
        let has_work = |session: &Session| session.requests.iter().any(|one| !one.trivial);
        read_start(self.client, &self.path, &has_work).ok()?.0.about()
    }

    /// The time of the last record, read from the end of the transcript.
    pub fn last_record_time(&self) -> Option<Timestamp> {
        /// A record is rarely longer than the first, and the second is enough for most others.
        const TAIL_BYTES: [u64; 2] = [32 << 10, 1 << 20];
        let mut stream = FileStream::open(&self.path).ok()?;
        TAIL_BYTES.into_iter().find_map(|bytes| {
            let from = self.bytes.saturating_sub(bytes);
            let piece = stream.read_range(from, self.bytes).ok()?;
            let cut = |at: usize| piece.get(at + 1..).unwrap_or_default();
            let whole = match from {
                0 => &*piece,
                _ => piece.iter().position(|byte| *byte == b'\n').map(cut).unwrap_or_default(),
            };
            let mut cursor = self.client.new_cursor();
            LineSplitter::default().feed(whole, &mut |line| cursor.take(line));
            cursor.session.ended
        })
    }
}
