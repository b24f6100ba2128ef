//! Clients: finds the transcripts of a project and checks whether a session is still running.
//!
//! Everything that differs between clients is in the folder of the client, behind [`Client`]. A
//! session belongs to the project that its records name; a folder with a matching name is only a
//! hint.

pub(crate) mod active_sessions;
mod agents;
pub mod capture;
mod claude_code;
mod client;
mod codex;
mod config;
#[cfg(test)]
mod config_tests;
mod heads;
pub mod hook_call;
pub mod hook_log;
pub(crate) mod hook_memory;
pub(crate) mod hook_switch;
pub mod install;
mod lenient;
mod qwen_code;
pub(crate) mod task_lists;

pub use agents::{agent_variables, find_automation_above};
pub use client::{
    Client, ClientProfile, CompactionBehavior, FolderListings, HooksSetting, RunningSessions,
    SourceSession, TaskFile, TranscriptCandidate, TranscriptInfo, TranscriptOpening,
};
pub use config::skill::skill_headers;
pub(crate) use heads::FILE as BEGINNINGS;

use crate::sys::env::{self, Environment, SessionName};
use crate::sys::files::{self, FileError, FileStream};
use crate::sys::git::Repository;
use crate::workspace::Workspace;
use heads::{HeadCache, TranscriptHead};
use midstride_core::session::transcript::TranscriptCursor;
use midstride_core::text::id::SessionId;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Every client, in display order.
pub const ALL: [&dyn Client; 3] = [&claude_code::ClaudeCode, &codex::Codex, &qwen_code::QwenCode];

/// The client with this name.
pub fn find(name: &str) -> Option<&'static dyn Client> {
    ALL.into_iter().find(|client| client.name() == name)
}

/// The product name of a client; its name if this version does not know it.
pub fn title(name: &str) -> &str {
    find(name).map_or(name, |client| client.title())
}

/// Reads the environment of this process.
pub fn read_environment() -> std::io::Result<Environment> {
    let mut environment = Environment::from_process(agents::detect_automation)?;
    environment.session = agents::detect_session(|name| environment.variable(name));
    Ok(environment)
}

/// The variables that name the folders of clients, for a hint.
pub fn home_variables() -> String {
    one_of(ALL.map(|client| client.profile().home_variable))
}

/// Alternatives in a sentence, as in "a, b or c".
pub fn one_of<const COUNT: usize>(words: [&str; COUNT]) -> String {
    match words.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => words.concat(),
    }
}

/// The variables for a midstride process that continues after its client exits.
pub fn detached_process_variables(project: &Path) -> Vec<(OsString, OsString)> {
    env::detached_process_variables(project, &ALL.map(|client| client.profile().home_variable))
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

/// Parses a stored cursor; `None` if another version wrote it.
pub fn parse_cursor(bytes: &[u8]) -> Option<TranscriptCursor> {
    TranscriptCursor::parse(bytes, |client, state| find(client)?.restore_reader(state))
}

impl TranscriptCandidate {
    fn into_info(self, head: TranscriptHead) -> TranscriptInfo {
        let named = self.session();
        let is_named = self.client.profile().file_name_has_session_id;
        // A forked session has copies of the original's records, with the original's id.
        let session = match head.id {
            Some(id) if !is_named || !looks_like_an_id(named.as_str()) => id,
            Some(_) | None => named,
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
        }
    }
}

/// All transcripts of a project, most recently changed first, and the errors of unreadable ones.
pub fn transcripts(
    workspace: &Workspace,
    of: Option<&'static dyn Client>,
) -> (Vec<TranscriptInfo>, Vec<FileError>) {
    transcripts_where(workspace, of, &|_| true)
}

/// Like `transcripts`, but only those that `is_wanted` accepts; the others are not opened.
pub(crate) fn transcripts_where(
    workspace: &Workspace,
    of: Option<&'static dyn Client>,
    is_wanted: &dyn Fn(&TranscriptCandidate) -> bool,
) -> (Vec<TranscriptInfo>, Vec<FileError>) {
    let (mut found, mut unread) = (Vec::new(), Vec::new());
    let tops = project_folders(workspace);
    // Loaded only if a transcript is wanted at all.
    let mut beginnings: Option<HeadCache> = None;
    // Most sessions of a project start in one folder, so this saves most lookups.
    let mut inside: HashMap<String, bool> = HashMap::new();
    for client in ALL.into_iter().filter(|client| of.is_none_or(|of| of == *client)) {
        let environment = workspace.environment();
        let candidates = client.transcript_candidates(environment, &tops, &mut unread);
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
                Ok(head) => {
                    let info = candidate.clone().into_info(head);
                    let session = workspace.redact_session_id(info.session);
                    found.push(TranscriptInfo { session, ..info });
                }
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
    client: Option<&'static dyn Client>,
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
    client: &'static dyn Client,
) -> Result<TranscriptInfo, FileError> {
    let (path, entry) = (path.to_owned(), FileStream::open(path)?.entry().clone());
    Ok(TranscriptCandidate { client, path, entry }.into_info(TranscriptHead::default()))
}

/// Detects the client that wrote a transcript; the first client if none matches.
fn detect_client(start: &[u8]) -> &'static dyn Client {
    let first = start.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    let first = String::from_utf8_lossy(first.unwrap_or_default());
    ALL.into_iter().find(|client| client.is_transcript_start(&first)).unwrap_or(ALL[0])
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
        let above = above
            .and_then(|id| found.client.transcript_of(workspace.environment(), &found.path, id));
        let Some(path) = above else { break };
        found = read_transcript(&path, Some(found.client))?;
    }
    Ok(found)
}

/// The session of a client to which an MCP request belongs, if it is known.
pub fn session_of_request(
    environment: &Environment,
    client: &'static dyn Client,
    parameters: &serde_json::Value,
) -> Option<SessionName> {
    let id = client.session_of_request(environment, parameters)?;
    SessionName::parse(client.name(), id.as_str())
}

/// Checks which sessions are running. Queries each client once, and only when needed.
pub struct LivenessProbe<'e> {
    environment: &'e Environment,
    running: [OnceCell<Option<RunningSessions>>; ALL.len()],
}

impl<'e> LivenessProbe<'e> {
    /// Creates a probe; nothing is queried yet.
    pub fn new(environment: &'e Environment) -> Self {
        Self { environment, running: [const { OnceCell::new() }; ALL.len()] }
    }

    /// Whether a session is still running.
    pub fn check(&self, found: &TranscriptInfo) -> SessionLiveness {
        self.check_session(found.client, &found.session, &found.path)
    }

    /// Like `check`, by session id and transcript path; the transcript need not exist.
    pub(crate) fn check_session(
        &self,
        client: &'static dyn Client,
        session: &SessionId,
        transcript: &Path,
    ) -> SessionLiveness {
        let is_running = match self.running_sessions(client) {
            Some(RunningSessions::Ids(ids)) => ids.contains(session),
            Some(RunningSessions::Transcripts(open)) => {
                open.contains(&files::canonical(transcript))
            }
            None => return SessionLiveness::Unknown,
        };
        if is_running { SessionLiveness::Running } else { SessionLiveness::Ended }
    }

    fn running_sessions(&self, client: &'static dyn Client) -> Option<&RunningSessions> {
        let at = ALL.into_iter().position(|one| one == client)?;
        let look = || client.running_sessions(self.environment);
        self.running[at].get_or_init(look).as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_client_of_a_transcript_is_detected_by_its_own_marks() {
        for client in ALL {
            let sample = client.profile().sample_transcript;
            assert_eq!(detect_client(sample.as_bytes()).name(), client.name());
            let first = sample.lines().next().unwrap();
            let named = ALL.into_iter().filter(|other| other.is_transcript_start(first));
            assert_eq!(named.count(), 1, "{first}");
        }
        assert_eq!(detect_client(b"\n").name(), ALL[0].name());
    }

    #[test]
    fn a_new_cursor_is_stored_with_the_empty_state_of_its_reader() {
        let stored: Vec<String> = ALL.map(|client| client.new_cursor().to_json().unwrap()).into();
        let by = env!("CARGO_PKG_VERSION");
        let start = format!(r#"{{"version":6,"by":"{by}","offset":0,"lines":0,"head":[0,"#);
        assert!(stored.iter().all(|text| text.starts_with(&start)), "{stored:?}");
        let states = [
            r#","reader":{"claude-code":{"open":{},"agent_calls":[]}},"session":{"client":"claude-code","#,
            r#","reader":{"codex":{"cwd":"","known":[],"running":[],"polls":[],"prompt":null,"ordinal":null}},"session":{"client":"codex","#,
            r#","reader":{"qwen-code":{"open":{}}},"session":{"client":"qwen-code","#,
        ];
        for (text, state) in stored.iter().zip(states) {
            assert!(text.contains(state), "{text:.300}");
        }
    }
}
