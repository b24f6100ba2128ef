//! What the beginnings of transcripts tell: whose they are, and what was asked first. A transcript
//! only grows, so each is read once, and what it told is kept.

use super::TranscriptCandidate;
use crate::sys::files::{FileError, FileStream};
use crate::sys::ids::sha256;
use crate::workspace::project::Project;
use jiff::Timestamp;
use midstride_core::session::Client;
use midstride_core::session::transcript::{
    LINE_BYTES_MAX, LineSplitter, TranscriptCursor, TranscriptOpening,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// So much of a transcript tells what was asked first, if anything was.
pub(super) const HEAD_BYTES: u64 = 256 << 10;
/// Most tell it much earlier.
const STEP_BYTES: u64 = 32 << 10;
/// A session can begin with a picture; behind it stands where it worked.
const SEARCHED_BYTES: u64 = 2 * LINE_BYTES_MAX as u64;
/// Beside the cursors: it is as easily made again.
const FOLDER: &str = "cursors";
pub(crate) const FILE: &str = "beginnings.json";
/// The first line. What another version kept is read again.
const VERSION: &str = "{\"version\":4}";
/// More are not kept once some of them were not asked for.
const CACHED_MAX: usize = 5_000;
/// A larger file is none of ours.
const CACHE_BYTES_MAX: u64 = 16 << 20;

/// What the beginning of a transcript tells.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct TranscriptHead {
    pub(super) id: Option<String>,
    pub(super) agent_of: Option<String>,
    pub(super) began: Option<Timestamp>,
    pub(super) cwd: Option<String>,
    pub(super) about: Option<String>,
    pub(super) opening: TranscriptOpening,
}

/// A line of the file: with which inode, how long the transcript was, and what it told.
type CachedHead = (u64, u64, TranscriptHead);

/// The beginnings that were read before, and those that are read now: lines by the hash of the path.
/// A line is parsed when it is asked for. A hook asks for a few of thousands.
pub(super) struct HeadCache {
    cached: HashMap<String, String>,
    current: BTreeMap<String, String>,
    is_dirty: bool,
}

/// Letters of a hash that stand for a path.
const NAME_LETTERS: usize = 32;

impl HeadCache {
    /// What is kept for a project; nothing where it has no place for it.
    pub(super) fn load(project: &Project) -> Self {
        let private = project.private().ok().flatten();
        let file = Path::new(FOLDER).join(FILE);
        let bytes = private.and_then(|root| root.read_up_to(&file, CACHE_BYTES_MAX).ok());
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
        let lines = text.strip_prefix(VERSION).unwrap_or_default().lines();
        let owned = |(name, line): (&str, &str)| (name.to_owned(), line.to_owned());
        let cached = lines.filter_map(|line| line.split_once(' ')).map(owned).collect();
        Self { cached, current: BTreeMap::new(), is_dirty: false }
    }

    /// The beginning of a transcript.
    pub(super) fn get(
        &mut self,
        candidate: &TranscriptCandidate,
    ) -> Result<TranscriptHead, FileError> {
        let (inode, bytes) = (candidate.entry.inode, candidate.entry.bytes);
        let name = sha256(candidate.path.as_os_str().as_encoded_bytes())[..NAME_LETTERS].to_owned();
        if let Some(line) = self.cached.remove(&name)
            && let Ok((of, shorter, told)) = serde_json::from_str::<CachedHead>(&line)
            && of == inode
            && shorter <= bytes
        {
            self.current.insert(name, line);
            return Ok(told);
        }
        let (told, is_all) = read_head(candidate.client, &candidate.path)?;
        if is_all {
            self.is_dirty = true;
            let line = serde_json::to_string(&(inode, bytes, &told)).unwrap_or_default();
            self.current.insert(name, line);
        }
        Ok(told)
    }

    /// Keeps what was read. Whoever cannot reads it again.
    pub(super) fn save(mut self, project: &Project) {
        let Ok(Some(private)) = project.private() else { return };
        if self.is_dirty {
            // Not all are looked at each time; those that are gone go when there are too many.
            if self.cached.len() + self.current.len() <= CACHED_MAX {
                self.current.extend(self.cached.drain());
            }
            let mut text = format!("{VERSION}\n");
            for (name, line) in &self.current {
                text.extend([name, " ", line, "\n"]);
            }
            let (clean, _) = project.clean(&text);
            let folder = private.make_below(Path::new(FOLDER));
            let _ = folder.and_then(|folder| {
                folder.put_without_sync(Path::new(FILE), clean.as_str().as_bytes())
            });
        }
    }
}

/// What the beginning of a transcript tells.
pub(super) fn read(client: Client, path: &Path) -> Result<TranscriptHead, FileError> {
    read_head(client, path).map(|(told, _)| told)
}

/// The same, and whether the file will tell no more when it grows.
fn read_head(client: Client, path: &Path) -> Result<(TranscriptHead, bool), FileError> {
    let mut cursor = TranscriptCursor::new(client);
    let mut opening = TranscriptOpening::default();
    let mut lines = LineSplitter::default();
    let mut stream = FileStream::open(path)?;
    let mut from = 0;
    let is_all = loop {
        let piece = stream.read_range(from, from + STEP_BYTES)?;
        lines.feed(&piece, &mut |piece| {
            opening.take(piece);
            cursor.take(piece);
        });
        from += u64::try_from(piece.len()).unwrap_or_default();
        let told = &cursor.session;
        let most = if told.cwd.is_some() { HEAD_BYTES } else { SEARCHED_BYTES };
        let enough = told.cwd.is_some() && told.began.is_some() && !told.requests.is_empty();
        if enough || piece.is_empty() || from >= most {
            break enough || from >= most;
        }
    };
    let told = cursor.session;
    let about = told.requests.iter().next().map(|request| request.text.clone());
    let (id, agent_of) = (told.id, told.agent_of);
    Ok((TranscriptHead { id, agent_of, began: told.began, cwd: told.cwd, about, opening }, is_all))
}
