//! What the beginnings of transcripts tell: whose they are, and what was asked first. A transcript
//! only grows, so each is read once, and what it told is kept.

use super::Candidate;
use crate::files::{FileError, Stream};
use crate::ids::sha256;
use crate::project::Project;
use jiff::Timestamp;
use midstride_core::session::Client;
use midstride_core::transcript::{Cursor, LINE_BYTES_MAX, Lines, Opening};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
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
/// What another version kept is read again.
const VERSION: u32 = 2;
/// More are not kept once some of them were not asked for.
const KEPT_MAX: usize = 5_000;
/// A larger file is none of ours.
const KEPT_BYTES_MAX: u64 = 16 << 20;

/// What the beginning of a transcript tells.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Beginning {
    pub(super) id: Option<String>,
    pub(super) began: Option<Timestamp>,
    pub(super) cwd: Option<String>,
    pub(super) about: Option<String>,
    pub(super) opening: Opening,
}

#[derive(Default, Serialize, Deserialize)]
struct Kept {
    version: u32,
    /// By the hash of the path: with which inode, how long it was, and what it told.
    files: BTreeMap<String, (u64, u64, Beginning)>,
}

/// The beginnings that were read before, and those that are read now.
pub(super) struct Beginnings {
    before: Kept,
    now: Kept,
    is_new: bool,
}

impl Beginnings {
    /// What is kept for a project; nothing where it has no place for it.
    pub(super) fn kept(project: &Project) -> Self {
        let private = project.private().ok().flatten();
        let file = Path::new(FOLDER).join(FILE);
        let bytes = private.and_then(|root| root.read_up_to(&file, KEPT_BYTES_MAX).ok());
        let before: Option<Kept> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let before = before.filter(|kept| kept.version == VERSION).unwrap_or_default();
        let now = Kept { version: VERSION, files: BTreeMap::new() };
        Self { before, now, is_new: false }
    }

    /// The beginning of a transcript.
    pub(super) fn of(&mut self, candidate: &Candidate) -> Result<Beginning, FileError> {
        let (inode, bytes) = (candidate.entry.inode, candidate.entry.bytes);
        let name = sha256(candidate.path.as_os_str().as_encoded_bytes())[..32].to_owned();
        if let Some((of, shorter, told)) = self.before.files.remove(&name)
            && of == inode
            && shorter <= bytes
        {
            self.now.files.insert(name, (inode, shorter, told.clone()));
            return Ok(told);
        }
        let (told, is_all) = look(candidate.client, &candidate.path)?;
        if is_all {
            self.is_new = true;
            self.now.files.insert(name, (inode, bytes, told.clone()));
        }
        Ok(told)
    }

    /// Keeps what was read. Whoever cannot reads it again.
    pub(super) fn keep(mut self, project: &Project) {
        let Ok(Some(private)) = project.private() else { return };
        if self.is_new {
            // Not all are looked at each time; those that are gone go when there are too many.
            if self.before.files.len() + self.now.files.len() <= KEPT_MAX {
                self.now.files.append(&mut self.before.files);
            }
            let text = serde_json::to_string(&self.now).unwrap_or_default();
            let (clean, _) = project.clean(&text);
            let folder = private.make_below(Path::new(FOLDER));
            let _ = folder
                .and_then(|folder| folder.put_passing(Path::new(FILE), clean.as_str().as_bytes()));
        }
    }
}

/// What the beginning of a transcript tells.
pub(super) fn read(client: Client, path: &Path) -> Result<Beginning, FileError> {
    look(client, path).map(|(told, _)| told)
}

/// The same, and whether the file will tell no more when it grows.
fn look(client: Client, path: &Path) -> Result<(Beginning, bool), FileError> {
    let mut cursor = Cursor::start(client);
    let mut opening = Opening::default();
    let mut lines = Lines::default();
    let mut stream = Stream::open(path)?;
    let mut from = 0;
    let is_all = loop {
        let piece = stream.window(from, from + STEP_BYTES)?;
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
    Ok((Beginning { id: told.id, began: told.began, cwd: told.cwd, about, opening }, is_all))
}
