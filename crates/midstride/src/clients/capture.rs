//! Capture: reading a transcript from where it was left, and keeping what it told for the next time.

use crate::clients::{self, Found, Neighbors};
use crate::sys::files::{self, FileError, Problem, Root, Stream};
use crate::sys::ids::sha256;
use crate::workspace::project::Project;
use midstride_core::session::transcript::{
    CursorPosition, LineSplitter, TranscriptCursor, WINDOW_BYTES,
};
use midstride_core::session::{Client, CopiedRecords, Session};
use std::path::{Path, PathBuf};

/// Where cursors lie, with what is never committed.
const FOLDER: &str = "cursors";
/// A larger cursor is none of ours.
const CURSOR_BYTES_MAX: u64 = 256 << 20;
/// A longer cursor takes milliseconds to be written.
const CURSOR_BYTES_SHORT: u64 = 128 << 10;
/// A session that goes on from a session that goes on from a session.
const BASES_MAX: usize = 16;

/// What was captured.
#[derive(Debug)]
pub struct Captured {
    /// What the session did, with its agents.
    pub session: Session,
    /// Bytes of the transcript that are in it.
    pub bytes: u64,
    /// How long the transcripts of its agents were.
    pub agents_bytes: u64,
    /// Bytes that had not been read before, of all its files.
    pub new_bytes: u64,
    /// Files of agents that could not be read.
    pub unread: Vec<FileError>,
}

/// What reading on would bring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum News {
    /// Nothing.
    Nothing,
    /// Not so much that it is worth reading and writing all that is kept, which is long.
    Little,
    /// Enough, or what is kept is short, or nobody knows.
    Enough,
}

/// What reading on would bring, of a session and its agents. Nothing that is kept is read for that,
/// so it costs the same for a session of any length. Who waits until as much is new as is kept pays
/// no more for what is kept than for what is new.
pub fn news(project: &Project, found: &Found) -> News {
    let private = project.private().ok().flatten();
    let cursors = private.and_then(|private| private.below(Path::new(FOLDER)).ok().flatten());
    let Some(cursors) = cursors else { return News::Enough };
    let agents = match found.client {
        Client::ClaudeCode => {
            clients::agents(project, found, &Neighbors::default(), &mut Vec::new())
        }
        // Its transcript names its agents, and they are captured with it.
        Client::Codex => Vec::new(),
    };
    let agents = agents.into_iter().map(|(_, path)| path);
    let of_files = agents.chain([found.path.clone()]).map(|path| news_of(&cursors, &path));
    of_files.max().unwrap_or(News::Enough)
}

/// The same of one file. What cannot be read is told by whoever reads on.
fn news_of(cursors: &Root, path: &Path) -> News {
    let look = || -> Result<Option<News>, FileError> {
        let mut kept = Stream::open(&cursors.path().join(cursor_name(path)))?;
        let Some(reached) = CursorPosition::parse(&kept.window(0, CursorPosition::BYTES_MAX)?)
        else {
            return Ok(None);
        };
        let mut stream = Stream::open(path)?;
        if !fits(&reached, &mut stream)? {
            return Ok(None);
        }
        Ok(match stream.bytes().saturating_sub(reached.offset) {
            0 => Some(News::Nothing),
            new => Some(News::Little).filter(|_| is_little(new, kept.bytes())),
        })
    };
    look().ok().flatten().unwrap_or(News::Enough)
}

/// Whether so much that is new is not worth writing so much that is kept.
fn is_little(new: u64, kept: u64) -> bool {
    kept > CURSOR_BYTES_SHORT && new < kept
}

/// How much there is to read of the agents of a session. What cannot be looked at is nothing.
pub(crate) fn agents_length(project: &Project, found: &Found, neighbors: &Neighbors) -> u64 {
    let agents = clients::agents(project, found, neighbors, &mut Vec::new());
    agents.iter().filter_map(|(_, path)| files::size(path)).sum()
}

/// Captures a session: only what is new is read.
pub fn capture(project: &Project, found: &Found) -> Result<Captured, FileError> {
    // Cursors only spare work: who may not write here is shown what there is all the same.
    let private = project.make_private();
    let cursors = private.and_then(|private| private.make_below(Path::new(FOLDER))).ok();
    let read_on = |path: &Path, before: &dyn Fn(&mut TranscriptCursor)| {
        read_on(project, cursors.as_ref(), path, found.client, before)
    };
    let read =
        read_on(&found.path, &|cursor| read_before(project, found, cursors.as_ref(), cursor))?;
    let Read { cursor, new: mut new_bytes, .. } = read;
    let bytes = cursor.offset;
    let mut session = cursor.session;
    // The name of the file is the session's; records that were copied name another.
    if session.id.as_deref() != Some(&found.session) && found.client == Client::ClaudeCode {
        let named = session.id.replace(found.session.clone());
        session.forked_from = session.forked_from.or(named);
    }
    let (mut unread, mut agents_bytes) = (Vec::new(), 0);
    // Codex tells in the transcript that it started an agent; to look for their files takes long.
    let may_have_agents = found.client == Client::ClaudeCode || !session.agents.is_empty();
    let agents = may_have_agents
        .then(|| clients::agents(project, found, &Neighbors::default(), &mut unread));
    for (id, path) in agents.into_iter().flatten() {
        match read_on(&path, &|_| {}) {
            Ok(Read { cursor: agent, new, length }) => {
                new_bytes += new;
                agents_bytes += length;
                session.merge_agent(&id, &agent.session);
            }
            Err(error) => unread.push(error),
        }
    }
    let shared = clients::task_lists::of(project, found.client.name(), &found.session);
    session.task_list = shared.or(session.task_list.take());
    let list = session.task_list.clone().unwrap_or_else(|| found.session.clone());
    for task in clients::tasks(project.environment(), found.client, &list) {
        session.merge_task(&task.name, &task.change);
    }
    Ok(Captured { session, bytes, agents_bytes, new_bytes, unread })
}

/// Removes what is kept of a session's transcripts from one capture to the next, and says of how
/// many: the next capture reads them from their start.
pub fn start_over(project: &Project, client: Client, session: &str) -> Result<usize, FileError> {
    let Some(private) = project.private()? else { return Ok(0) };
    let Some(cursors) = private.below(Path::new(FOLDER))? else { return Ok(0) };
    let (found, _) = clients::transcripts(project, Some(client));
    let ours = found.iter().filter(|found| found.session == session);
    let neighbors = Neighbors::default();
    let agents_of = |found| clients::agents(project, found, &neighbors, &mut Vec::new());
    let agents = ours.clone().flat_map(agents_of);
    let paths = agents.map(|(_, path)| path).chain(ours.clone().map(|found| found.path.clone()));
    let names: Vec<PathBuf> = paths.map(|path| cursor_name(&path)).collect();
    let mut removed = 0;
    for name in cursors.names(".json")? {
        // A transcript that is gone has left its cursor, which knows whose it was.
        let is_its = || {
            let cursor = kept(&cursors, &name)?;
            Ok(cursor.is_some_and(|(cursor, _)| cursor.session.id.as_deref() == Some(session)))
        };
        let is_beginnings = name == Path::new(clients::BEGINNINGS);
        if is_beginnings || names.contains(&name) || is_its()? {
            files::remove(&cursors.path().join(&name))?;
            removed += usize::from(!is_beginnings);
        }
    }
    Ok(removed)
}

/// What has to be known before the next record of a transcript is read. Only its beginning can be
/// another session's: once a record of its own came, nothing is looked for any more.
fn read_before(
    project: &Project,
    found: &Found,
    cursors: Option<&Root>,
    cursor: &mut TranscriptCursor,
) {
    if !cursor.session.can_have_copies() {
        return;
    }
    if cursor.lines == 0 {
        for (base, end) in bases(project, found) {
            read_base(cursor, &base, end);
        }
    }
    let told = |path: &Path| told(cursors?, path).ok().flatten();
    if let Some(origin) = clients::origin(project, found, &told) {
        cursor.session.forked_from = Some(origin.session);
        cursor.session.expect_copies(CopiedRecords::WithIds(origin.ids));
    }
}

/// What was captured of a transcript so far, as far as that still holds.
fn told(cursors: &Root, path: &Path) -> Result<Option<Session>, FileError> {
    let Some((cursor, _)) = kept(cursors, &cursor_name(path))? else { return Ok(None) };
    let fits = fits(&cursor.position(), &mut Stream::open(path)?)?;
    Ok(fits.then_some(cursor.session))
}

/// What a transcript goes on from, the oldest first.
fn bases(project: &Project, found: &Found) -> Vec<(PathBuf, u64)> {
    let mut bases: Vec<(PathBuf, u64)> = Vec::new();
    let mut next = clients::base(project.environment(), found);
    while let Some((path, end)) = next {
        let known = path == found.path || bases.iter().any(|(other, _)| *other == path);
        if known || bases.len() >= BASES_MAX {
            break;
        }
        let further = Found { path: path.clone(), ..found.clone() };
        bases.push((path, end));
        next = clients::base(project.environment(), &further);
    }
    bases.reverse();
    bases
}

/// What reading on in a file came to.
struct Read {
    cursor: TranscriptCursor,
    /// Bytes that had not been read before.
    new: u64,
    /// How long the file was, with half a line at its end.
    length: u64,
}

/// Reads a file from where it was left, or from its start where it is not the same any more.
fn read_on(
    project: &Project,
    cursors: Option<&Root>,
    path: &Path,
    client: Client,
    before: &dyn Fn(&mut TranscriptCursor),
) -> Result<Read, FileError> {
    let mut stream = Stream::open(path)?;
    let name = cursor_name(path);
    let left = cursors.and_then(|cursors| kept(cursors, &name).ok().flatten());
    let (mut cursor, kept_bytes) = match left {
        Some((cursor, bytes))
            if cursor.session.client == client && fits(&cursor.position(), &mut stream)? =>
        {
            (cursor, bytes)
        }
        Some(_) | None => (TranscriptCursor::new(client), 0),
    };
    if stream.bytes() > cursor.offset {
        before(&mut cursor);
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
        let (start, end) = (stream.window(0, start)?, stream.window(end, cursor.offset)?);
        cursor.set_windows(&start, &end);
        let is_worth_it = match take_out_more(project, &mut cursor) {
            // What is not kept is read again: that costs less than writing all that is kept.
            Cleaned::Nothing => !is_little(new, kept_bytes),
            Cleaned::Out => true,
            Cleaned::Not => false,
        };
        if let Some(cursors) = cursors.filter(|_| is_worth_it) {
            keep(cursors, &name, &cursor);
        }
    }
    Ok(Read { cursor, new, length: stream.bytes() })
}

/// Where the cursor of a transcript lies.
fn cursor_name(path: &Path) -> PathBuf {
    PathBuf::from(format!("{}.json", &sha256(path.as_os_str().as_encoded_bytes())[..32]))
}

/// What comes before a transcript. One that is gone costs itself: the rest is captured.
fn read_base(cursor: &mut TranscriptCursor, path: &Path, end: u64) {
    let Ok(mut stream) = Stream::open(path) else { return };
    // What it told is that session's own.
    cursor.session.expect_copies(CopiedRecords::All);
    let mut lines = LineSplitter::default();
    let _ = stream
        .each_chunk(0, Some(end), &mut |chunk| lines.feed(chunk, &mut |piece| cursor.take(piece)));
    cursor.session.expect_copies(CopiedRecords::None);
}

/// How far the first window reaches, and where the second begins.
fn windows(offset: u64) -> (u64, u64) {
    let size = u64::try_from(WINDOW_BYTES).unwrap_or_default();
    (offset.min(size), offset.saturating_sub(size))
}

fn fits(reached: &CursorPosition, stream: &mut Stream) -> Result<bool, FileError> {
    if stream.bytes() < reached.offset {
        return Ok(false);
    }
    let (start, end) = windows(reached.offset);
    Ok(reached.is_same_file(&stream.window(0, start)?, &stream.window(end, reached.offset)?))
}

/// A cursor that was stored, and how long it is.
fn kept(cursors: &Root, name: &Path) -> Result<Option<(TranscriptCursor, u64)>, FileError> {
    match cursors.read_up_to(name, CURSOR_BYTES_MAX) {
        Ok(bytes) => {
            let length = u64::try_from(bytes.len()).unwrap_or_default();
            Ok(TranscriptCursor::parse(&bytes).map(|cursor| (cursor, length)))
        }
        Err(FileError { problem: Problem::NotFound | Problem::TooLarge(_), .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Stores a cursor where that is possible: else the next capture reads it all again.
fn keep(cursors: &Root, name: &Path, cursor: &TranscriptCursor) {
    let written = serde_json::to_vec(cursor).unwrap_or_default();
    let _ = cursors.put_passing(name, &written);
}

/// What taking out what the project alone calls a secret came to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cleaned {
    /// There was nothing.
    Nothing,
    /// It is out.
    Out,
    /// Without it nothing could be read any more, so it is still there.
    Not,
}

fn take_out_more(project: &Project, cursor: &mut TranscriptCursor) -> Cleaned {
    if !project.adds_rules() {
        return Cleaned::Nothing;
    }
    let written = serde_json::to_string(cursor).unwrap_or_default();
    let (clean, found) = project.clean_more(written);
    if found.is_empty() {
        return Cleaned::Nothing;
    }
    let Some(clean) = TranscriptCursor::parse(clean.as_bytes()) else { return Cleaned::Not };
    *cursor = clean;
    Cleaned::Out
}
