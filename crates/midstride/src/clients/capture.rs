//! Captures a session: reads its transcript from where the last capture stopped and saves the
//! position.

use crate::clients::{self, Client, FolderListings, TranscriptInfo};
use crate::sys::files::{self, FileError, FileProblem, FileStream, Root};
use crate::sys::ids::sha256;
use crate::workspace::Workspace;
use midstride_core::session::transcript::{
    CursorPosition, LineSplitter, TranscriptCursor, WINDOW_BYTES,
};
use midstride_core::session::{CopiedRecords, Session};
use midstride_core::text::id::SessionId;
use std::path::{Path, PathBuf};

/// The folder of the cursors, inside the private folder.
pub(crate) const FOLDER: &str = "cursors";
/// midstride does not write larger cursors.
const CURSOR_BYTES_MAX: u64 = 256 << 20;
/// A larger cursor takes milliseconds to write.
const CURSOR_BYTES_SHORT: u64 = 128 << 10;
/// How many sessions in a row can each continue another one.
const BASES_MAX: usize = 16;

/// The result of a capture.
#[derive(Debug)]
pub struct CaptureOutcome {
    /// What the session and its agents did.
    pub session: Session,
    /// Bytes of the transcript that were captured.
    pub bytes: u64,
    /// Total size of the transcripts of its agents.
    pub agents_bytes: u64,
    /// Newly read bytes in all its files.
    pub new_bytes: u64,
    /// Errors of agent files that could not be read.
    pub unread: Vec<FileError>,
}

/// How much there is to capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnreadAmount {
    /// Nothing new.
    Nothing,
    /// Too little to be worth reading and rewriting a large cursor.
    Little,
    /// Enough, or the cursor is small, or the amount is unknown.
    Enough,
}

/// How much of a session and its agents is not captured yet. It reads only the first bytes of each
/// cursor, so the cost does not depend on the length of the session. Waiting until the new part is
/// as large as the cursor keeps the cost of the cursor no higher than that of the new part.
pub fn unread_amount(workspace: &Workspace, found: &TranscriptInfo) -> UnreadAmount {
    let private = workspace.private().ok().flatten();
    let cursors = private.and_then(|private| private.open_below(Path::new(FOLDER)).ok().flatten());
    let Some(cursors) = cursors else { return UnreadAmount::Enough };
    // Agents that the transcript names are captured with it.
    let has_other_agents = !found.client.profile().transcript_names_agents;
    let agents = has_other_agents.then(|| {
        let listings = FolderListings::default();
        found.client.agent_transcripts(workspace, found, &listings, &mut Vec::new())
    });
    let agents = agents.into_iter().flatten().map(|(_, path)| path);
    let of_files =
        agents.chain([found.path.clone()]).map(|path| unread_amount_in_file(&cursors, &path));
    of_files.max().unwrap_or(UnreadAmount::Enough)
}

/// The amount for one file. Errors are left to the capture itself.
fn unread_amount_in_file(cursors: &Root, path: &Path) -> UnreadAmount {
    let look = || -> Result<Option<UnreadAmount>, FileError> {
        let mut kept = FileStream::open(&cursors.path().join(cursor_name(path)))?;
        let Some(reached) = CursorPosition::parse(&kept.read_range(0, CursorPosition::BYTES_MAX)?)
        else {
            return Ok(None);
        };
        let mut stream = FileStream::open(path)?;
        if !matches_cursor(&reached, &mut stream)? {
            return Ok(None);
        }
        Ok(match stream.bytes().saturating_sub(reached.offset) {
            0 => Some(UnreadAmount::Nothing),
            new => Some(UnreadAmount::Little).filter(|_| is_little(new, kept.bytes())),
        })
    };
    look().ok().flatten().unwrap_or(UnreadAmount::Enough)
}

/// Whether the new part is too small to be worth writing a cursor of this size.
fn is_little(new: u64, kept: u64) -> bool {
    kept > CURSOR_BYTES_SHORT && new < kept
}

/// Total size of the agent transcripts of a session. Files that cannot be read count as empty.
pub(crate) fn agents_bytes(
    workspace: &Workspace,
    found: &TranscriptInfo,
    listings: &FolderListings,
) -> u64 {
    let agents = found.client.agent_transcripts(workspace, found, listings, &mut Vec::new());
    agents.iter().filter_map(|(_, path)| files::size(path)).sum()
}

/// Captures a session, reading only what is new.
pub fn capture(workspace: &Workspace, found: &TranscriptInfo) -> Result<CaptureOutcome, FileError> {
    // Cursors only save work, so the capture continues if they cannot be written.
    let private = workspace.make_private();
    let cursors = private.and_then(|private| private.make_below(Path::new(FOLDER))).ok();
    let read_on = |path: &Path, before: &PrepareCursor<'_>| {
        read_new_bytes(workspace, cursors.as_ref(), path, found.client, before)
    };
    let read =
        read_on(&found.path, &|cursor| prepare_cursor(workspace, found, cursors.as_ref(), cursor))?;
    let ReadOutcome { cursor, new: mut new_bytes, .. } = read;
    let bytes = cursor.offset;
    let mut session = cursor.session;
    // The file name has the id of this session; copied records have another session's id.
    let profile = found.client.profile();
    if session.id.as_ref() != Some(&found.session) && profile.file_name_has_session_id {
        let named = session.id.replace(found.session.clone());
        session.forked_from = session.forked_from.or(named);
    }
    let (mut unread, mut agents_bytes) = (Vec::new(), 0);
    let may_have_agents = !profile.transcript_names_agents || !session.agents.is_empty();
    let agents = may_have_agents.then(|| {
        found.client.agent_transcripts(workspace, found, &FolderListings::default(), &mut unread)
    });
    for (id, path) in agents.into_iter().flatten() {
        match read_on(&path, &|_| Ok(())) {
            Ok(ReadOutcome { cursor: agent, new, length }) => {
                new_bytes += new;
                agents_bytes += length;
                session.merge_agent(&id, &agent.session);
            }
            Err(error) => unread.push(error),
        }
    }
    let shared = clients::task_lists::shared_list(workspace, found.client.name(), &found.session);
    session.task_list = shared.or(session.task_list.take());
    let list = session.task_list.as_deref().unwrap_or(found.session.as_str());
    for task in found.client.tasks(workspace.environment(), list) {
        session.merge_task(&task.name, &task.change);
    }
    Ok(CaptureOutcome { session, bytes, agents_bytes, new_bytes, unread })
}

/// Removes the cursors of a session and returns how many there were; the next capture reads its
/// transcripts from the start.
pub fn remove_cursors(
    workspace: &Workspace,
    client: &'static dyn Client,
    session: &SessionId,
) -> Result<usize, FileError> {
    let Some(private) = workspace.private()? else { return Ok(0) };
    let Some(cursors) = private.open_below(Path::new(FOLDER))? else { return Ok(0) };
    let (found, _) = clients::transcripts(workspace, Some(client));
    let ours = found.iter().filter(|found| found.session == *session);
    let listings = FolderListings::default();
    let agents_of = |found| client.agent_transcripts(workspace, found, &listings, &mut Vec::new());
    let agents = ours.clone().flat_map(agents_of);
    let paths = agents.map(|(_, path)| path).chain(ours.clone().map(|found| found.path.clone()));
    let names: Vec<PathBuf> = paths.map(|path| cursor_name(&path)).collect();
    let mut removed = 0;
    for name in cursors.names(".json")? {
        // The transcript may be deleted; its cursor still has the session id.
        let is_its = || {
            let cursor = load_cursor(&cursors, &name)?;
            Ok(cursor.is_some_and(|(cursor, _)| cursor.session.id.as_ref() == Some(session)))
        };
        let is_beginnings = name == Path::new(clients::BEGINNINGS);
        if is_beginnings || names.contains(&name) || is_its()? {
            files::remove(&cursors.path().join(&name))?;
            removed += usize::from(!is_beginnings);
        }
    }
    Ok(removed)
}

/// Prepares a cursor for the next record. Only the beginning of a transcript can be copied from
/// another session, so after its first own record there is nothing to prepare.
fn prepare_cursor(
    workspace: &Workspace,
    found: &TranscriptInfo,
    cursors: Option<&Root>,
    cursor: &mut TranscriptCursor,
) -> Result<(), FileError> {
    if !cursor.session.can_have_copies() {
        return Ok(());
    }
    if cursor.lines == 0 {
        for (base, end) in base_transcripts(workspace, found) {
            read_base(cursor, &base, end)?;
        }
    }
    let captured = |path: &Path| {
        let Some(cursors) = cursors else { return Ok(None) };
        Ok(FileError::unless_disk_fails(captured_session(cursors, path))?.flatten())
    };
    if let Some(origin) = found.client.source_session(workspace, found, &captured)? {
        cursor.session.forked_from = Some(origin.session);
        cursor.session.expect_copies(CopiedRecords::WithIds(origin.ids));
    }
    Ok(())
}

/// What was captured of a transcript so far, if the file still matches its cursor.
fn captured_session(cursors: &Root, path: &Path) -> Result<Option<Session>, FileError> {
    let Some((cursor, _)) = load_cursor(cursors, &cursor_name(path))? else { return Ok(None) };
    let fits = matches_cursor(&cursor.position(), &mut FileStream::open(path)?)?;
    Ok(fits.then_some(cursor.session))
}

/// The transcripts that a transcript continues, oldest first.
fn base_transcripts(workspace: &Workspace, found: &TranscriptInfo) -> Vec<(PathBuf, u64)> {
    let mut bases: Vec<(PathBuf, u64)> = Vec::new();
    let mut next = found.client.base_transcript(workspace.environment(), &found.path);
    while let Some((path, end)) = next {
        let known = path == found.path || bases.iter().any(|(other, _)| *other == path);
        if known || bases.len() >= BASES_MAX {
            break;
        }
        next = found.client.base_transcript(workspace.environment(), &path);
        bases.push((path, end));
    }
    bases.reverse();
    bases
}

/// The result of reading the new part of a file.
struct ReadOutcome {
    cursor: TranscriptCursor,
    /// Newly read bytes.
    new: u64,
    /// The size of the file, including an incomplete last line.
    length: u64,
}

/// Prepares a cursor before the first new record.
type PrepareCursor<'p> = dyn Fn(&mut TranscriptCursor) -> Result<(), FileError> + 'p;

/// Reads a file from where its cursor stopped, or from its start if it is not the same file any
/// more.
fn read_new_bytes(
    workspace: &Workspace,
    cursors: Option<&Root>,
    path: &Path,
    client: &'static dyn Client,
    before: &PrepareCursor<'_>,
) -> Result<ReadOutcome, FileError> {
    let mut stream = FileStream::open(path)?;
    let name = cursor_name(path);
    let left = cursors.and_then(|cursors| load_cursor(cursors, &name).ok().flatten());
    let (mut cursor, kept_bytes) = match left {
        Some((cursor, bytes))
            if cursor.session.client.as_str() == client.name()
                && matches_cursor(&cursor.position(), &mut stream)? =>
        {
            (cursor, bytes)
        }
        Some(_) | None => (client.new_cursor(), 0),
    };
    if stream.bytes() > cursor.offset {
        before(&mut cursor)?;
    }
    let mut lines = LineSplitter::default();
    let from = cursor.offset;
    stream
        .each_chunk(from, None, &mut |chunk| lines.feed(chunk, &mut |piece| cursor.take(piece)))?;
    cursor.offset += lines.complete_bytes();
    cursor.session.settle();
    let new = cursor.offset - from;
    if new > 0 {
        let (start, end) = windows(cursor.offset);
        let (start, end) = (stream.read_range(0, start)?, stream.read_range(end, cursor.offset)?);
        cursor.set_windows(&start, &end);
        let is_worth_it = match remove_project_secrets(workspace, &mut cursor) {
            // Without the saved cursor this part is read again, which costs less than rewriting a
            // large cursor.
            SecretRemoval::Nothing => !is_little(new, kept_bytes),
            SecretRemoval::Removed => true,
            SecretRemoval::Failed => false,
        };
        if let Some(cursors) = cursors.filter(|_| is_worth_it) {
            save_cursor(cursors, &name, &cursor);
        }
    }
    Ok(ReadOutcome { cursor, new, length: stream.bytes() })
}

/// The file name of a transcript's cursor.
fn cursor_name(path: &Path) -> PathBuf {
    PathBuf::from(format!("{}.json", &sha256(path.as_os_str().as_encoded_bytes())[..32]))
}

/// Reads the transcript that another one continues. If it is missing, the rest is captured without
/// it.
fn read_base(cursor: &mut TranscriptCursor, path: &Path, end: u64) -> Result<(), FileError> {
    let Some(mut stream) = FileError::unless_disk_fails(FileStream::open(path))? else {
        return Ok(());
    };
    // These records belong to the other session.
    cursor.session.expect_copies(CopiedRecords::All);
    let mut lines = LineSplitter::default();
    stream.each_chunk(0, Some(end), &mut |chunk| {
        lines.feed(chunk, &mut |piece| cursor.take(piece));
    })?;
    cursor.session.expect_copies(CopiedRecords::None);
    Ok(())
}

/// The end of the first window and the start of the second.
fn windows(offset: u64) -> (u64, u64) {
    let size = u64::try_from(WINDOW_BYTES).unwrap_or_default();
    (offset.min(size), offset.saturating_sub(size))
}

fn matches_cursor(reached: &CursorPosition, stream: &mut FileStream) -> Result<bool, FileError> {
    if stream.bytes() < reached.offset {
        return Ok(false);
    }
    let (start, end) = windows(reached.offset);
    Ok(reached
        .is_same_file(&stream.read_range(0, start)?, &stream.read_range(end, reached.offset)?))
}

/// A stored cursor and its size.
fn load_cursor(cursors: &Root, name: &Path) -> Result<Option<(TranscriptCursor, u64)>, FileError> {
    match cursors.read_up_to(name, CURSOR_BYTES_MAX) {
        Ok(bytes) => {
            let length = u64::try_from(bytes.len()).unwrap_or_default();
            Ok(clients::parse_cursor(&bytes).map(|cursor| (cursor, length)))
        }
        Err(FileError { problem: FileProblem::NotFound | FileProblem::TooLarge(_), .. }) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Saves a cursor. If that fails, the next capture reads everything again.
fn save_cursor(cursors: &Root, name: &Path, cursor: &TranscriptCursor) {
    let written = cursor.to_json().unwrap_or_default();
    let _ = cursors.put_without_sync(name, written.as_bytes());
}

/// The result of removing what only the project's own rules call a secret.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SecretRemoval {
    /// There was none.
    Nothing,
    /// All secrets were removed.
    Removed,
    /// The cursor would be unreadable without the secret, so the secret is still in it.
    Failed,
}

fn remove_project_secrets(workspace: &Workspace, cursor: &mut TranscriptCursor) -> SecretRemoval {
    if !workspace.has_added_rules() {
        return SecretRemoval::Nothing;
    }
    let written = cursor.to_json().unwrap_or_default();
    let (clean, found) = workspace.clean_with_added_rules(written);
    if found.is_empty() {
        return SecretRemoval::Nothing;
    }
    let Some(clean) = clients::parse_cursor(clean.as_bytes()) else {
        return SecretRemoval::Failed;
    };
    *cursor = clean;
    SecretRemoval::Removed
}
