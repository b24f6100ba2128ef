//! Clients: where each keeps the transcripts of a project, and whether a session still runs.
//!
//! A client is one file. A session belongs to the project that its records name; a folder whose
//! name fits is only a hint.

mod claude_code;
mod codex;

use crate::files::{self, FileError, Root, Stream};
use crate::git::Repository;
use crate::process;
use crate::project::Project;
use crate::settings::Environment;
use jiff::Timestamp;
use midstride_core::session::{Client, Session, TaskChange};
use midstride_core::transcript::{Cursor, Lines};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// So much of a transcript tells whose it is.
const HEAD_BYTES: u64 = 256 << 10;
/// Most tell it much earlier.
const STEP_BYTES: u64 = 32 << 10;

/// A transcript, and what its beginning tells.
#[derive(Clone, Debug)]
pub struct Found {
    /// The client that wrote it.
    pub client: Client,
    /// The id of the session.
    pub session: String,
    /// Where it lies.
    pub path: PathBuf,
    /// How long it is.
    pub bytes: u64,
    /// When it was changed last.
    pub changed: Option<Timestamp>,
    /// When the session began.
    pub began: Option<Timestamp>,
    /// Where it worked.
    pub cwd: Option<String>,
    /// What the user asked first.
    pub about: Option<String>,
}

/// Whether a session still runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// Its process is there.
    Runs,
    /// Its process is gone.
    Ended,
    /// The client leaves no trace by which to know.
    Unknown,
}

/// A task as a client keeps it in a file.
#[derive(Debug)]
pub struct TaskFile {
    /// The file, for people.
    pub name: String,
    /// What it says.
    pub change: TaskChange<'static>,
}

/// All transcripts of a project, the one that was changed last first. What cannot be read is told.
pub fn transcripts(project: &Project, of: Option<Client>) -> (Vec<Found>, Vec<FileError>) {
    let (mut found, mut unread) = (Vec::new(), Vec::new());
    let tops = tops(project);
    for client in Client::ALL.into_iter().filter(|client| of.is_none_or(|of| of == *client)) {
        let environment = project.environment();
        let candidates = match client {
            Client::ClaudeCode => claude_code::candidates(environment, &tops, &mut unread),
            Client::Codex => codex::candidates(environment, &mut unread),
        };
        for (path, bytes, changed) in candidates {
            match look(client, &path, bytes, changed) {
                Ok(one) if one.cwd.as_deref().is_some_and(|cwd| is_inside(&tops, cwd)) => {
                    found.push(one);
                }
                Ok(_) => {}
                Err(error) => unread.push(error),
            }
        }
    }
    found.sort_by(|one, other| (other.changed, &other.session).cmp(&(one.changed, &one.session)));
    (found, unread)
}

/// A transcript that somebody named by its path.
pub fn named(path: &Path, client: Option<Client>) -> Result<Found, FileError> {
    let (root, name) = beside(path)?;
    let mut stream = root.stream(&name)?;
    let start = stream.window(0, HEAD_BYTES)?;
    let client = client.unwrap_or_else(|| told_by(&start));
    let file = name.file_name().unwrap_or_default().to_string_lossy();
    let entry = root.entries(Path::new(""))?.into_iter().find(|entry| entry.name == file);
    look(client, path, stream.bytes(), entry.and_then(|entry| entry.changed))
}

/// The format of a transcript: Codex puts everything into a payload.
fn told_by(start: &[u8]) -> Client {
    let first = start.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    let first = String::from_utf8_lossy(first.unwrap_or_default());
    if first.contains("\"payload\"") { Client::Codex } else { Client::ClaudeCode }
}

/// The folders that a project has: its own, and other working trees of its repository.
pub fn tops(project: &Project) -> Vec<PathBuf> {
    let root = files::real(project.root().path());
    let repository = project.repository();
    let whole = repository.filter(|repository| files::real(repository.work_tree()) == root);
    let others = whole.map(Repository::work_trees).unwrap_or_default();
    let mut tops: Vec<PathBuf> = others.iter().map(|top| files::real(top)).collect();
    tops.push(root);
    tops.sort();
    tops.dedup();
    tops
}

/// Whether a folder that a record names lies in the project.
pub fn is_inside(tops: &[PathBuf], cwd: &str) -> bool {
    let cwd = files::real(Path::new(cwd));
    tops.iter().any(|top| cwd.starts_with(top))
}

/// A file by its folder and its name.
pub(crate) fn beside(path: &Path) -> Result<(Root, PathBuf), FileError> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let root = Root::open(parent.unwrap_or(Path::new(".")))?;
    Ok((root, path.file_name().map(PathBuf::from).unwrap_or_default()))
}

/// Opens a transcript.
pub(crate) fn open(path: &Path) -> Result<Stream, FileError> {
    let (root, name) = beside(path)?;
    root.stream(&name)
}

fn look(
    client: Client,
    path: &Path,
    bytes: u64,
    changed: Option<Timestamp>,
) -> Result<Found, FileError> {
    let told = beginning(client, path)?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let named = match client {
        Client::ClaudeCode => Cow::Borrowed(&*stem),
        Client::Codex => codex::id_in(&stem).into(),
    };
    let session = match client {
        // A fork has copies of the records of the session it came of, with that one's id.
        Client::ClaudeCode if looks_like_an_id(&named) => named.into_owned(),
        Client::ClaudeCode | Client::Codex => told.id.clone().unwrap_or(named.into_owned()),
    };
    Ok(Found {
        client,
        session,
        path: path.to_owned(),
        bytes,
        changed,
        began: told.began,
        cwd: told.cwd.clone(),
        about: told.requests.iter().next().map(|request| request.text.clone()),
    })
}

fn looks_like_an_id(name: &str) -> bool {
    name.len() == 36 && name.matches('-').count() == 4
}

/// What the beginning of a transcript tells.
fn beginning(client: Client, path: &Path) -> Result<Session, FileError> {
    let mut cursor = Cursor::start(client);
    let mut lines = Lines::default();
    let mut stream = open(path)?;
    let mut from = 0;
    while from < HEAD_BYTES {
        let piece = stream.window(from, from + STEP_BYTES)?;
        lines.feed(&piece, &mut |piece| cursor.take(piece));
        from += u64::try_from(piece.len()).unwrap_or_default();
        let told = &cursor.session;
        let enough = told.cwd.is_some() && told.began.is_some() && !told.requests.is_empty();
        if enough || piece.is_empty() {
            break;
        }
    }
    Ok(cursor.session)
}

/// Transcripts of the agents that a session started, with their ids.
pub(crate) fn agents(found: &Found) -> Result<Vec<(String, PathBuf)>, FileError> {
    match found.client {
        Client::ClaudeCode => claude_code::agents(found),
        Client::Codex => Ok(Vec::new()),
    }
}

/// Tasks that the client keeps in files beside the transcript.
pub(crate) fn tasks(environment: &Environment, found: &Found) -> Vec<TaskFile> {
    match found.client {
        Client::ClaudeCode => claude_code::tasks(environment, found),
        Client::Codex => Vec::new(),
    }
}

/// The transcript that another one goes on from, and up to which byte.
pub(crate) fn base(environment: &Environment, found: &Found) -> Option<(PathBuf, u64)> {
    match found.client {
        Client::ClaudeCode => None,
        Client::Codex => codex::base(environment, &found.path),
    }
}

/// Which sessions still run, asked once for all.
pub struct Lives {
    claude_code: Option<Vec<String>>,
    codex: Option<std::collections::HashSet<PathBuf>>,
}

impl Lives {
    /// Looks at what runs now.
    pub fn now(environment: &Environment) -> Self {
        let visible = process::are_visible();
        let codex = environment.codex.as_ref().filter(|_| visible);
        Self {
            claude_code: visible.then(|| claude_code::running(environment)),
            codex: codex.map(|folder| process::open_files(&files::real(folder))),
        }
    }

    /// Whether a session still runs.
    pub fn of(&self, found: &Found) -> Life {
        let runs = match found.client {
            Client::ClaudeCode => {
                self.claude_code.as_ref().map(|running| running.contains(&found.session))
            }
            Client::Codex => {
                self.codex.as_ref().map(|open| open.contains(&files::real(&found.path)))
            }
        };
        match runs {
            Some(true) => Life::Runs,
            Some(false) => Life::Ended,
            None => Life::Unknown,
        }
    }
}
