//! Clients: finds the transcripts of a project and checks whether a session is still running.
//!
//! Each client is one file. A session belongs to the project that its records name; a folder with a
//! matching name is only a hint.

pub(crate) mod active_sessions;
pub mod capture;
mod claude_code;
mod codex;
mod heads;
pub mod hook_log;
pub(crate) mod hook_memory;
pub(crate) mod hook_switch;
pub mod install;
mod source_session;
pub(crate) mod task_lists;

use crate::sys::env::{Environment, SessionName};
use crate::sys::files::{self, FileError, FileStream, FolderEntry};
use crate::sys::git::Repository;
use crate::sys::process;
use crate::workspace::Workspace;
use crate::workspace::folder::claude_memory::slug;
pub(crate) use claude_code::AgentFileCache;
pub(crate) use heads::FILE as BEGINNINGS;
use heads::{HeadCache, TranscriptHead};
use jiff::Timestamp;
use midstride_core::session::{ClientName, Session, TaskUpdate};
use midstride_core::text::id::SessionId;
pub(crate) use source_session::SourceSession;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// A transcript and what its first records say.
#[derive(Clone, Debug)]
pub struct TranscriptInfo {
    /// The client that wrote it.
    pub client: ClientName,
    /// The id of the session.
    pub session: SessionId,
    /// The session that started it as a subagent.
    pub agent_of: Option<SessionId>,
    /// The path of the file.
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// When it last changed.
    pub changed: Option<Timestamp>,
    /// When the session started.
    pub began: Option<Timestamp>,
    /// Its working directory.
    pub cwd: Option<String>,
    /// The user's first prompt.
    pub first_prompt: Option<String>,
}

/// Whether a session is still running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionLiveness {
    /// Its process exists.
    Running,
    /// Its process has exited.
    Ended,
    /// The client leaves no trace to check.
    Unknown,
}

/// A task that a client stores in a file.
#[derive(Debug)]
pub(crate) struct TaskFile {
    /// The file name, for messages.
    pub name: String,
    /// Its content.
    pub change: TaskUpdate<'static>,
}

/// A file that may be a transcript, before it is opened.
#[derive(Clone, Debug)]
pub(crate) struct TranscriptCandidate {
    /// The client that would have written it.
    pub client: ClientName,
    /// The path of the file.
    pub path: PathBuf,
    /// Its folder entry.
    pub entry: FolderEntry,
}

impl TranscriptCandidate {
    /// The session id in its file name.
    pub(crate) fn session(&self) -> SessionId {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        match self.client {
            ClientName::ClaudeCode => SessionId::new(stem),
            ClientName::Codex => codex::session_id_in(&stem),
        }
    }

    fn into_info(self, head: TranscriptHead) -> TranscriptInfo {
        let named = self.session();
        let session = match self.client {
            // A forked session has copies of the original's records, with the original's id.
            ClientName::ClaudeCode if looks_like_an_id(named.as_str()) => named,
            ClientName::ClaudeCode | ClientName::Codex => head.id.unwrap_or(named),
        };
        TranscriptInfo {
            client: self.client,
            session,
            agent_of: head.agent_of,
            path: self.path,
            bytes: self.entry.bytes,
            changed: self.entry.changed,
            began: head.began,
            cwd: head.cwd,
            first_prompt: head.about,
        }
    }
}

/// All transcripts of a project, most recently changed first, and the errors of unreadable ones.
pub fn transcripts(
    workspace: &Workspace,
    of: Option<ClientName>,
) -> (Vec<TranscriptInfo>, Vec<FileError>) {
    transcripts_where(workspace, of, &|_| true)
}

/// Like `transcripts`, but only those that `is_wanted` accepts; the others are not opened.
pub(crate) fn transcripts_where(
    workspace: &Workspace,
    of: Option<ClientName>,
    is_wanted: &dyn Fn(&TranscriptCandidate) -> bool,
) -> (Vec<TranscriptInfo>, Vec<FileError>) {
    let (mut found, mut unread) = (Vec::new(), Vec::new());
    let tops = project_folders(workspace);
    // Loaded only if a transcript is wanted at all.
    let mut beginnings: Option<HeadCache> = None;
    // Most sessions of a project start in one folder, so this saves most lookups.
    let mut inside: HashMap<String, bool> = HashMap::new();
    for client in ClientName::ALL.into_iter().filter(|client| of.is_none_or(|of| of == *client)) {
        let environment = workspace.environment();
        let candidates = match client {
            ClientName::ClaudeCode => claude_code::candidates(environment, &tops, &mut unread),
            ClientName::Codex => codex::candidates(environment, &mut unread),
        };
        for candidate in candidates.iter().filter(|one| is_wanted(one)) {
            let beginnings = beginnings.get_or_insert_with(|| HeadCache::load(workspace));
            match beginnings.get(candidate) {
                Ok(TranscriptHead { cwd: Some(cwd), .. })
                    if !*inside
                        .entry(cwd.clone())
                        .or_insert_with_key(|cwd| is_inside(&tops, cwd)) => {}
                Ok(TranscriptHead { cwd: None, .. }) => {}
                // An agent belongs to the session that started it, if that transcript exists.
                Ok(TranscriptHead { agent_of: Some(id), .. })
                    if candidates.iter().any(|one| one.session() == id) => {}
                Ok(head) => found.push(candidate.clone().into_info(head)),
                Err(error) => unread.push(error),
            }
        }
    }
    if let Some(beginnings) = beginnings {
        beginnings.save(workspace);
    }
    found.sort_by(|one, other| (other.changed, &other.session).cmp(&(one.changed, &one.session)));
    (found, unread)
}

/// Reads a transcript given by its path.
pub fn read_transcript(
    path: &Path,
    client: Option<ClientName>,
) -> Result<TranscriptInfo, FileError> {
    let mut stream = FileStream::open(path)?;
    let client = match client {
        Some(client) => client,
        None => detect_client(&stream.read_range(0, heads::HEAD_BYTES)?),
    };
    let (path, entry) = (path.to_owned(), stream.entry().clone());
    let head = heads::read(client, &path)?;
    Ok(TranscriptCandidate { client, path, entry }.into_info(head))
}

/// A transcript that its client names while writing it; its content is not read.
pub(crate) fn unread_transcript(
    path: &Path,
    client: ClientName,
) -> Result<TranscriptInfo, FileError> {
    let (path, entry) = (path.to_owned(), FileStream::open(path)?.entry().clone());
    Ok(TranscriptCandidate { client, path, entry }.into_info(TranscriptHead::default()))
}

/// Detects the format of a transcript: only Codex records have a payload.
fn detect_client(start: &[u8]) -> ClientName {
    let first = start.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    let first = String::from_utf8_lossy(first.unwrap_or_default());
    if first.contains("\"payload\"") { ClientName::Codex } else { ClientName::ClaudeCode }
}

/// The folder where Claude Code, with home `claude`, stores the transcripts of sessions started in
/// `folder`.
pub fn claude_code_transcript_folder(claude: &Path, folder: &Path) -> PathBuf {
    claude.join("projects").join(slug(&files::canonical(folder).to_string_lossy()))
}

/// The folders of a project: its own, and the other worktrees of its repository.
pub(crate) fn project_folders(workspace: &Workspace) -> Vec<PathBuf> {
    let root = files::canonical(workspace.root().path());
    let repository = workspace.repository();
    let whole = repository.filter(|repository| files::canonical(repository.work_tree()) == root);
    let others = whole.map(Repository::work_trees).unwrap_or_default();
    let mut tops: Vec<PathBuf> = others.iter().map(|top| files::canonical(top)).collect();
    tops.push(root);
    tops.sort();
    tops.dedup();
    tops
}

/// Whether a working directory is inside the project.
pub(crate) fn is_inside(tops: &[PathBuf], cwd: &str) -> bool {
    let cwd = files::canonical(Path::new(cwd));
    tops.iter().any(|top| cwd.starts_with(top))
}

fn looks_like_an_id(name: &str) -> bool {
    name.len() == 36 && name.matches('-').count() == 4
}

/// The transcripts of the agents that a session started, with their ids. Errors go to `unread`.
pub(crate) fn agent_transcripts(
    workspace: &Workspace,
    found: &TranscriptInfo,
    neighbors: &AgentFileCache,
    unread: &mut Vec<FileError>,
) -> Vec<(String, PathBuf)> {
    match found.client {
        ClientName::ClaudeCode => claude_code::agents(workspace, found, neighbors, unread),
        ClientName::Codex => codex::agents(workspace, found, unread),
    }
}

/// The session that an agent belongs to; the session itself if it is not an agent or if that
/// session is missing.
pub(crate) fn owner_transcript(
    workspace: &Workspace,
    found: TranscriptInfo,
) -> Result<TranscriptInfo, FileError> {
    /// Agents can start agents.
    const DEPTH_MAX: usize = 8;
    let mut found = found;
    for _ in 0..DEPTH_MAX {
        let above = found.agent_of.as_ref();
        let above =
            above.and_then(|id| codex::transcript_of(workspace.environment(), &found.path, id));
        let Some(path) = above else { break };
        found = read_transcript(&path, Some(found.client))?;
    }
    Ok(found)
}

/// The tasks of a list that the client stores in files.
pub(crate) fn tasks(environment: &Environment, client: ClientName, list: &str) -> Vec<TaskFile> {
    match client {
        ClientName::ClaudeCode => claude_code::tasks(environment, list),
        ClientName::Codex => Vec::new(),
    }
}

/// The transcript that another one continues, and up to which byte.
pub(crate) fn base_transcript(
    environment: &Environment,
    found: &TranscriptInfo,
) -> Option<(PathBuf, u64)> {
    match found.client {
        ClientName::ClaudeCode => None,
        ClientName::Codex => codex::base(environment, &found.path),
    }
}

/// The session whose records a transcript starts with, if the client copied them. `captured`
/// returns what was captured so far from the transcript at a path.
pub(crate) fn source_session(
    workspace: &Workspace,
    found: &TranscriptInfo,
    captured: &dyn Fn(&Path) -> Option<Session>,
) -> Option<SourceSession> {
    match found.client {
        ClientName::ClaudeCode => source_session::find_source(workspace, found, captured),
        ClientName::Codex => None,
    }
}

/// The current session of the client that started this process, if the client says so.
pub fn current_session(environment: &Environment, client: ClientName) -> Option<SessionName> {
    let id = match client {
        ClientName::ClaudeCode => claude_code::current_session(environment),
        ClientName::Codex => None,
    };
    SessionName::parse(client.name(), id?.as_str())
}

/// Checks which sessions are running. Queries each client once, and only when needed.
pub struct LivenessProbe<'e> {
    environment: &'e Environment,
    claude_code: OnceCell<Option<HashSet<SessionId>>>,
    codex: OnceCell<Option<HashSet<PathBuf>>>,
}

impl<'e> LivenessProbe<'e> {
    /// Creates a probe; nothing is queried yet.
    pub fn new(environment: &'e Environment) -> Self {
        Self { environment, claude_code: OnceCell::new(), codex: OnceCell::new() }
    }

    /// Whether a session is still running.
    pub fn check(&self, found: &TranscriptInfo) -> SessionLiveness {
        self.check_session(found.client, &found.session, &found.path)
    }

    /// Like `check`, by session id and transcript path; the transcript need not exist.
    pub(crate) fn check_session(
        &self,
        client: ClientName,
        session: &SessionId,
        transcript: &Path,
    ) -> SessionLiveness {
        let runs = match client {
            ClientName::ClaudeCode => self.claude_code().map(|ids| ids.contains(session)),
            ClientName::Codex => {
                self.codex().map(|open| open.contains(&files::canonical(transcript)))
            }
        };
        match runs {
            Some(true) => SessionLiveness::Running,
            Some(false) => SessionLiveness::Ended,
            None => SessionLiveness::Unknown,
        }
    }

    fn claude_code(&self) -> Option<&HashSet<SessionId>> {
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
