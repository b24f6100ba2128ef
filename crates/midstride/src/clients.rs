//! Clients: where each keeps the transcripts of a project, and whether a session still runs.
//!
//! A client is one file. A session belongs to the project that its records name; a folder whose
//! name fits is only a hint.

pub(crate) mod at_work;
mod beginnings;
pub mod capture;
mod claude_code;
mod codex;
pub mod hook_log;
pub mod hook_memory;
pub mod hook_switch;
pub mod install;
mod origins;
pub(crate) mod task_lists;

use crate::sys::files::{self, Entry, FileError, Stream};
use crate::sys::git::Repository;
use crate::sys::process;
use crate::workspace::project::Project;
use crate::workspace::settings::{Environment, SessionName};
use crate::workspace::shelf::claude_memory::slug;
pub(crate) use beginnings::FILE as BEGINNINGS;
use beginnings::{Beginning, Beginnings};
pub(crate) use claude_code::Neighbors;
use jiff::Timestamp;
use midstride_core::session::{Client, Session, TaskUpdate};
pub(crate) use origins::Origin;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// A transcript, and what its beginning tells.
#[derive(Clone, Debug)]
pub struct Found {
    /// The client that wrote it.
    pub client: Client,
    /// The id of the session.
    pub session: String,
    /// The session that started it as an agent of its own.
    pub agent_of: Option<String>,
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
    pub change: TaskUpdate<'static>,
}

/// A file that may be a transcript, as it looks from outside.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The client that would have written it.
    pub client: Client,
    /// Where it lies.
    pub path: PathBuf,
    /// How it looks.
    pub entry: Entry,
}

impl Candidate {
    /// The session that its name tells.
    pub fn session(&self) -> String {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        match self.client {
            Client::ClaudeCode => stem.into_owned(),
            Client::Codex => codex::id_in(&stem),
        }
    }

    fn found(self, told: Beginning) -> Found {
        let named = self.session();
        let session = match self.client {
            // A fork has copies of the records of the session it came of, with that one's id.
            Client::ClaudeCode if looks_like_an_id(&named) => named,
            Client::ClaudeCode | Client::Codex => told.id.unwrap_or(named),
        };
        Found {
            client: self.client,
            session,
            agent_of: told.agent_of,
            path: self.path,
            bytes: self.entry.bytes,
            changed: self.entry.changed,
            began: told.began,
            cwd: told.cwd,
            about: told.about,
        }
    }
}

/// All transcripts of a project, the one that was changed last first. What cannot be read is told.
pub fn transcripts(project: &Project, of: Option<Client>) -> (Vec<Found>, Vec<FileError>) {
    transcripts_that(project, of, &|_| true)
}

/// The same, of those that are wanted as they look from outside; the others are not opened.
pub fn transcripts_that(
    project: &Project,
    of: Option<Client>,
    is_wanted: &dyn Fn(&Candidate) -> bool,
) -> (Vec<Found>, Vec<FileError>) {
    let (mut found, mut unread) = (Vec::new(), Vec::new());
    let tops = tops(project);
    // Only read if a transcript is wanted at all.
    let mut beginnings: Option<Beginnings> = None;
    // Most sessions of a project began in one folder.
    let mut inside: HashMap<String, bool> = HashMap::new();
    for client in Client::ALL.into_iter().filter(|client| of.is_none_or(|of| of == *client)) {
        let environment = project.environment();
        let candidates = match client {
            Client::ClaudeCode => claude_code::candidates(environment, &tops, &mut unread),
            Client::Codex => codex::candidates(environment, &mut unread),
        };
        for candidate in candidates.iter().filter(|one| is_wanted(one)) {
            let beginnings = beginnings.get_or_insert_with(|| Beginnings::kept(project));
            match beginnings.of(candidate) {
                Ok(Beginning { cwd: Some(cwd), .. })
                    if !*inside
                        .entry(cwd.clone())
                        .or_insert_with_key(|cwd| is_inside(&tops, cwd)) => {}
                Ok(Beginning { cwd: None, .. }) => {}
                // An agent belongs to the session that started it, while that one is there.
                Ok(Beginning { agent_of: Some(id), .. })
                    if candidates.iter().any(|one| one.session() == id) => {}
                Ok(told) => found.push(candidate.clone().found(told)),
                Err(error) => unread.push(error),
            }
        }
    }
    if let Some(beginnings) = beginnings {
        beginnings.keep(project);
    }
    found.sort_by(|one, other| (other.changed, &other.session).cmp(&(one.changed, &one.session)));
    (found, unread)
}

/// A transcript that somebody named by its path.
pub fn named(path: &Path, client: Option<Client>) -> Result<Found, FileError> {
    let mut stream = Stream::open(path)?;
    let client = match client {
        Some(client) => client,
        None => told_by(&stream.window(0, beginnings::HEAD_BYTES)?),
    };
    let (path, entry) = (path.to_owned(), stream.entry().clone());
    let told = beginnings::read(client, &path)?;
    Ok(Candidate { client, path, entry }.found(told))
}

/// A transcript that its client names while it writes it: nothing of it is read.
pub fn called(path: &Path, client: Client) -> Result<Found, FileError> {
    let (path, entry) = (path.to_owned(), Stream::open(path)?.entry().clone());
    Ok(Candidate { client, path, entry }.found(Beginning::default()))
}

/// The format of a transcript: Codex puts everything into a payload.
fn told_by(start: &[u8]) -> Client {
    let first = start.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    let first = String::from_utf8_lossy(first.unwrap_or_default());
    if first.contains("\"payload\"") { Client::Codex } else { Client::ClaudeCode }
}

/// Where Claude Code, whose home is `claude`, keeps the transcripts of sessions that began in a folder.
pub fn transcripts_of_claude_code(claude: &Path, folder: &Path) -> PathBuf {
    claude.join("projects").join(slug(&files::real(folder).to_string_lossy()))
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

fn looks_like_an_id(name: &str) -> bool {
    name.len() == 36 && name.matches('-').count() == 4
}

/// Transcripts of the agents that a session started, with their ids. What cannot be read is told.
pub(crate) fn agents(
    project: &Project,
    found: &Found,
    neighbors: &Neighbors,
    unread: &mut Vec<FileError>,
) -> Vec<(String, PathBuf)> {
    match found.client {
        Client::ClaudeCode => claude_code::agents(project, found, neighbors, unread),
        Client::Codex => codex::agents(project, found, unread),
    }
}

/// The session that an agent belongs to; the session itself where it is none, or that one is not there.
pub(crate) fn owner(project: &Project, found: Found) -> Result<Found, FileError> {
    /// An agent of an agent of an agent.
    const DEPTH_MAX: usize = 8;
    let mut found = found;
    for _ in 0..DEPTH_MAX {
        let above = found.agent_of.as_deref();
        let above =
            above.and_then(|id| codex::transcript_of(project.environment(), &found.path, id));
        let Some(path) = above else { break };
        found = named(&path, Some(found.client))?;
    }
    Ok(found)
}

/// Tasks of a list that the client keeps in files.
pub(crate) fn tasks(environment: &Environment, client: Client, list: &str) -> Vec<TaskFile> {
    match client {
        Client::ClaudeCode => claude_code::tasks(environment, list),
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

/// The session whose records a transcript begins with, where the client copied them. What was told
/// of another transcript so far is asked for with its path.
pub(crate) fn origin(
    project: &Project,
    found: &Found,
    told: &dyn Fn(&Path) -> Option<Session>,
) -> Option<Origin> {
    match found.client {
        Client::ClaudeCode => origins::of(project, found, told),
        Client::Codex => None,
    }
}

/// The session that the client is in now which started this process, where it says so anywhere.
pub fn session_around(environment: &Environment, client: Client) -> Option<SessionName> {
    let id = match client {
        Client::ClaudeCode => claude_code::around(environment),
        Client::Codex => None,
    };
    SessionName::of(client.name(), &id?)
}

/// Which sessions still run, asked once for all and only if somebody wants to know.
pub struct Lives<'e> {
    environment: &'e Environment,
    claude_code: OnceCell<Option<HashSet<String>>>,
    codex: OnceCell<Option<HashSet<PathBuf>>>,
}

impl<'e> Lives<'e> {
    /// Looks at what runs now.
    pub fn now(environment: &'e Environment) -> Self {
        Self { environment, claude_code: OnceCell::new(), codex: OnceCell::new() }
    }

    /// Whether a session still runs.
    pub fn of(&self, found: &Found) -> Life {
        self.of_session(found.client, &found.session, &found.path)
    }

    /// The same by its id and its transcript, which need not be there.
    pub(crate) fn of_session(&self, client: Client, session: &str, transcript: &Path) -> Life {
        let runs = match client {
            Client::ClaudeCode => self.claude_code().map(|ids| ids.contains(session)),
            Client::Codex => self.codex().map(|open| open.contains(&files::real(transcript))),
        };
        match runs {
            Some(true) => Life::Runs,
            Some(false) => Life::Ended,
            None => Life::Unknown,
        }
    }

    fn claude_code(&self) -> Option<&HashSet<String>> {
        let look = || process::are_visible().then(|| claude_code::running(self.environment));
        self.claude_code.get_or_init(look).as_ref()
    }

    fn codex(&self) -> Option<&HashSet<PathBuf>> {
        let look = || {
            let folder = self.environment.codex.as_ref().filter(|_| process::are_visible());
            folder.map(|folder| process::files_being_written(&files::real(folder)))
        };
        self.codex.get_or_init(look).as_ref()
    }
}
