//! Clients: where each keeps the transcripts of a project, and whether a session still runs.
//!
//! A client is one file. A session belongs to the project that its records name; a folder whose
//! name fits is only a hint.

pub(crate) mod active_sessions;
pub mod capture;
mod claude_code;
mod codex;
mod heads;
pub mod hook_log;
pub mod hook_memory;
pub mod hook_switch;
pub mod install;
mod source_session;
pub(crate) mod task_lists;

use crate::sys::files::{self, FileError, FileStream, FolderEntry};
use crate::sys::git::Repository;
use crate::sys::process;
use crate::workspace::folder::claude_memory::slug;
use crate::workspace::project::Project;
use crate::workspace::settings::{Environment, SessionName};
pub(crate) use claude_code::AgentFileCache;
pub(crate) use heads::FILE as BEGINNINGS;
use heads::{HeadCache, TranscriptHead};
use jiff::Timestamp;
use midstride_core::session::{Client, Session, TaskUpdate};
pub(crate) use source_session::SourceSession;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// A transcript, and what its beginning tells.
#[derive(Clone, Debug)]
pub struct TranscriptInfo {
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
    pub first_prompt: Option<String>,
}

/// Whether a session still runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionLiveness {
    /// Its process is there.
    Running,
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
pub struct TranscriptCandidate {
    /// The client that would have written it.
    pub client: Client,
    /// Where it lies.
    pub path: PathBuf,
    /// How it looks.
    pub entry: FolderEntry,
}

impl TranscriptCandidate {
    /// The session that its name tells.
    pub fn session(&self) -> String {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        match self.client {
            Client::ClaudeCode => stem.into_owned(),
            Client::Codex => codex::session_id_in(&stem),
        }
    }

    fn into_info(self, told: TranscriptHead) -> TranscriptInfo {
        let named = self.session();
        let session = match self.client {
            // A fork has copies of the records of the session it came of, with that one's id.
            Client::ClaudeCode if looks_like_an_id(&named) => named,
            Client::ClaudeCode | Client::Codex => told.id.unwrap_or(named),
        };
        TranscriptInfo {
            client: self.client,
            session,
            agent_of: told.agent_of,
            path: self.path,
            bytes: self.entry.bytes,
            changed: self.entry.changed,
            began: told.began,
            cwd: told.cwd,
            first_prompt: told.about,
        }
    }
}

/// All transcripts of a project, the one that was changed last first. What cannot be read is told.
pub fn transcripts(project: &Project, of: Option<Client>) -> (Vec<TranscriptInfo>, Vec<FileError>) {
    transcripts_where(project, of, &|_| true)
}

/// The same, of those that are wanted as they look from outside; the others are not opened.
pub fn transcripts_where(
    project: &Project,
    of: Option<Client>,
    is_wanted: &dyn Fn(&TranscriptCandidate) -> bool,
) -> (Vec<TranscriptInfo>, Vec<FileError>) {
    let (mut found, mut unread) = (Vec::new(), Vec::new());
    let tops = project_folders(project);
    // Only read if a transcript is wanted at all.
    let mut beginnings: Option<HeadCache> = None;
    // Most sessions of a project began in one folder.
    let mut inside: HashMap<String, bool> = HashMap::new();
    for client in Client::ALL.into_iter().filter(|client| of.is_none_or(|of| of == *client)) {
        let environment = project.environment();
        let candidates = match client {
            Client::ClaudeCode => claude_code::candidates(environment, &tops, &mut unread),
            Client::Codex => codex::candidates(environment, &mut unread),
        };
        for candidate in candidates.iter().filter(|one| is_wanted(one)) {
            let beginnings = beginnings.get_or_insert_with(|| HeadCache::load(project));
            match beginnings.get(candidate) {
                Ok(TranscriptHead { cwd: Some(cwd), .. })
                    if !*inside
                        .entry(cwd.clone())
                        .or_insert_with_key(|cwd| is_inside(&tops, cwd)) => {}
                Ok(TranscriptHead { cwd: None, .. }) => {}
                // An agent belongs to the session that started it, while that one is there.
                Ok(TranscriptHead { agent_of: Some(id), .. })
                    if candidates.iter().any(|one| one.session() == id) => {}
                Ok(told) => found.push(candidate.clone().into_info(told)),
                Err(error) => unread.push(error),
            }
        }
    }
    if let Some(beginnings) = beginnings {
        beginnings.save(project);
    }
    found.sort_by(|one, other| (other.changed, &other.session).cmp(&(one.changed, &one.session)));
    (found, unread)
}

/// A transcript that somebody named by its path.
pub fn read_transcript(path: &Path, client: Option<Client>) -> Result<TranscriptInfo, FileError> {
    let mut stream = FileStream::open(path)?;
    let client = match client {
        Some(client) => client,
        None => detect_client(&stream.read_range(0, heads::HEAD_BYTES)?),
    };
    let (path, entry) = (path.to_owned(), stream.entry().clone());
    let told = heads::read(client, &path)?;
    Ok(TranscriptCandidate { client, path, entry }.into_info(told))
}

/// A transcript that its client names while it writes it: nothing of it is read.
pub fn unread_transcript(path: &Path, client: Client) -> Result<TranscriptInfo, FileError> {
    let (path, entry) = (path.to_owned(), FileStream::open(path)?.entry().clone());
    Ok(TranscriptCandidate { client, path, entry }.into_info(TranscriptHead::default()))
}

/// The format of a transcript: Codex puts everything into a payload.
fn detect_client(start: &[u8]) -> Client {
    let first = start.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    let first = String::from_utf8_lossy(first.unwrap_or_default());
    if first.contains("\"payload\"") { Client::Codex } else { Client::ClaudeCode }
}

/// Where Claude Code, whose home is `claude`, keeps the transcripts of sessions that began in a folder.
pub fn claude_code_transcript_folder(claude: &Path, folder: &Path) -> PathBuf {
    claude.join("projects").join(slug(&files::canonical(folder).to_string_lossy()))
}

/// The folders that a project has: its own, and other working trees of its repository.
pub fn project_folders(project: &Project) -> Vec<PathBuf> {
    let root = files::canonical(project.root().path());
    let repository = project.repository();
    let whole = repository.filter(|repository| files::canonical(repository.work_tree()) == root);
    let others = whole.map(Repository::work_trees).unwrap_or_default();
    let mut tops: Vec<PathBuf> = others.iter().map(|top| files::canonical(top)).collect();
    tops.push(root);
    tops.sort();
    tops.dedup();
    tops
}

/// Whether a folder that a record names lies in the project.
pub fn is_inside(tops: &[PathBuf], cwd: &str) -> bool {
    let cwd = files::canonical(Path::new(cwd));
    tops.iter().any(|top| cwd.starts_with(top))
}

fn looks_like_an_id(name: &str) -> bool {
    name.len() == 36 && name.matches('-').count() == 4
}

/// Transcripts of the agents that a session started, with their ids. What cannot be read is told.
pub(crate) fn agent_transcripts(
    project: &Project,
    found: &TranscriptInfo,
    neighbors: &AgentFileCache,
    unread: &mut Vec<FileError>,
) -> Vec<(String, PathBuf)> {
    match found.client {
        Client::ClaudeCode => claude_code::agents(project, found, neighbors, unread),
        Client::Codex => codex::agents(project, found, unread),
    }
}

/// The session that an agent belongs to; the session itself where it is none, or that one is not there.
pub(crate) fn owner_transcript(
    project: &Project,
    found: TranscriptInfo,
) -> Result<TranscriptInfo, FileError> {
    /// An agent of an agent of an agent.
    const DEPTH_MAX: usize = 8;
    let mut found = found;
    for _ in 0..DEPTH_MAX {
        let above = found.agent_of.as_deref();
        let above =
            above.and_then(|id| codex::transcript_of(project.environment(), &found.path, id));
        let Some(path) = above else { break };
        found = read_transcript(&path, Some(found.client))?;
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
pub(crate) fn base_transcript(
    environment: &Environment,
    found: &TranscriptInfo,
) -> Option<(PathBuf, u64)> {
    match found.client {
        Client::ClaudeCode => None,
        Client::Codex => codex::base(environment, &found.path),
    }
}

/// The session whose records a transcript begins with, where the client copied them. What was told
/// of another transcript so far is asked for with its path.
pub(crate) fn source_session(
    project: &Project,
    found: &TranscriptInfo,
    told: &dyn Fn(&Path) -> Option<Session>,
) -> Option<SourceSession> {
    match found.client {
        Client::ClaudeCode => source_session::find_source(project, found, told),
        Client::Codex => None,
    }
}

/// The session that the client is in now which started this process, where it says so anywhere.
pub fn current_session(environment: &Environment, client: Client) -> Option<SessionName> {
    let id = match client {
        Client::ClaudeCode => claude_code::current_session(environment),
        Client::Codex => None,
    };
    SessionName::parse(client.name(), &id?)
}

/// Which sessions still run, asked once for all and only if somebody wants to know.
pub struct LivenessProbe<'e> {
    environment: &'e Environment,
    claude_code: OnceCell<Option<HashSet<String>>>,
    codex: OnceCell<Option<HashSet<PathBuf>>>,
}

impl<'e> LivenessProbe<'e> {
    /// Looks at what runs now.
    pub fn new(environment: &'e Environment) -> Self {
        Self { environment, claude_code: OnceCell::new(), codex: OnceCell::new() }
    }

    /// Whether a session still runs.
    pub fn check(&self, found: &TranscriptInfo) -> SessionLiveness {
        self.check_session(found.client, &found.session, &found.path)
    }

    /// The same by its id and its transcript, which need not be there.
    pub(crate) fn check_session(
        &self,
        client: Client,
        session: &str,
        transcript: &Path,
    ) -> SessionLiveness {
        let runs = match client {
            Client::ClaudeCode => self.claude_code().map(|ids| ids.contains(session)),
            Client::Codex => self.codex().map(|open| open.contains(&files::canonical(transcript))),
        };
        match runs {
            Some(true) => SessionLiveness::Running,
            Some(false) => SessionLiveness::Ended,
            None => SessionLiveness::Unknown,
        }
    }

    fn claude_code(&self) -> Option<&HashSet<String>> {
        let look = || process::has_proc().then(|| claude_code::running_sessions(self.environment));
        self.claude_code.get_or_init(look).as_ref()
    }

    fn codex(&self) -> Option<&HashSet<PathBuf>> {
        let look = || {
            let folder = self.environment.codex.as_ref().filter(|_| process::has_proc());
            folder.map(|folder| process::files_being_written(&files::canonical(folder)))
        };
        self.codex.get_or_init(look).as_ref()
    }
}
