//! Where Claude Code keeps transcripts, agents, tasks and the register of its processes.

use super::ClaudeCode;
use crate::clients::client::Client as _;
use crate::clients::client::{
    FolderListings, TaskFile, TranscriptCandidate, TranscriptInfo, list_or_report,
};
use crate::clients::heads::HeadCache;
use crate::clients::looks_like_an_id;
use crate::sys::env::Environment;
use crate::sys::files::{self, FileError, FolderEntry, Root};
use crate::sys::process;
use crate::workspace::Workspace;
use crate::workspace::folder::claude_memory::{HOME_VARIABLE, LENGTH_MAX, slug};
use midstride_core::session::TaskUpdate;
use midstride_core::text::id::SessionId;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Limit for the client's small files; a larger file is something else.
const SMALL_FILE_BYTES_MAX: u64 = 1 << 20;

/// The path of `.claude.json`: in the client's folder if the user moved it, otherwise in the home
/// folder.
pub(super) fn home_file(environment: &Environment) -> Option<PathBuf> {
    const NAME: &str = ".claude.json";
    match environment.variable(HOME_VARIABLE) {
        Some(folder) => Some(Path::new(&folder).join(NAME)),
        None => environment.home.as_ref().map(|home| home.join(NAME)),
    }
}

/// The folder where a client with this home stores the transcripts of sessions started in `folder`.
pub(super) fn transcript_folder(home: &Path, folder: &Path) -> PathBuf {
    home.join("projects").join(slug(&files::canonical(folder).to_string_lossy()))
}

/// The transcripts in folders with a matching name: that of the project, of a folder below it, or
/// of another one that only starts the same.
pub(super) fn candidates(
    environment: &Environment,
    tops: &[PathBuf],
    unread: &mut Vec<FileError>,
) -> Vec<TranscriptCandidate> {
    let Some(claude) = ClaudeCode.home(environment) else { return Vec::new() };
    let projects = claude.join("projects");
    let starts: Vec<String> = tops.iter().map(|top| slug_prefix(top)).collect();
    let fits = |name: &str| starts.iter().any(|start| name.starts_with(start));
    let folders =
        list_or_report(&projects, fits, unread).into_iter().filter(|entry| entry.is_folder);
    let folders: Vec<PathBuf> = folders.map(|folder| projects.join(folder.name)).collect();
    let mut found = Vec::new();
    for folder in folders {
        let sessions = list_or_report(&folder, is_session, unread).into_iter();
        found.extend(sessions.map(|entry| candidate(&folder, entry)));
    }
    found
}

/// The sessions in one folder whose names look like session ids.
pub(super) fn sessions_in(folder: &Path) -> Result<Vec<TranscriptCandidate>, FileError> {
    let sessions = FileError::unless_disk_fails(files::list_folder(folder, is_session))?;
    let candidates = sessions.into_iter().flatten().map(|entry| candidate(folder, entry));
    let is_session = |found: &TranscriptCandidate| looks_like_an_id(found.session().as_str());
    Ok(candidates.filter(is_session).collect())
}

fn candidate(folder: &Path, entry: FolderEntry) -> TranscriptCandidate {
    TranscriptCandidate { client: &ClaudeCode, path: folder.join(&entry.name), entry }
}

/// The common prefix of the folder names of a project and of the folders below it.
fn slug_prefix(top: &Path) -> String {
    let whole = slug(&top.to_string_lossy());
    whole[..whole.len().min(LENGTH_MAX)].to_owned()
}

fn is_session(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending == "jsonl")
        && !name.starts_with("agent-")
}

fn is_agent(name: &str) -> bool {
    agent_id(name).is_some()
}

/// The agent files of a session: in its own folder, or next to it, where older versions of the
/// client put them.
pub(super) fn agents(
    workspace: &Workspace,
    found: &TranscriptInfo,
    listings: &FolderListings,
    unread: &mut Vec<FileError>,
) -> Vec<(String, PathBuf)> {
    let folder = found.path.parent().unwrap_or(Path::new("."));
    let of_session = found.path.with_extension("").join("subagents");
    let own = list_or_report(&of_session, is_agent, unread).into_iter();
    let own = own.filter_map(|one| Some((agent_id(&one.name)?.to_owned(), one)));
    let mut agents: Vec<(String, PathBuf)> =
        own.map(|(id, entry)| (id, of_session.join(entry.name))).collect();
    let beside = listings.list(folder, is_agent, unread);
    if beside.is_empty() {
        return agents;
    }
    let mut beginnings = HeadCache::load(workspace);
    for entry in beside {
        let Some(id) = agent_id(&entry.name).map(str::to_owned) else { continue };
        let candidate = candidate(folder, entry);
        match beginnings.get(&candidate) {
            Ok(head) if head.id.as_ref() == Some(&found.session) => {
                agents.push((id, candidate.path));
            }
            Ok(_) => {}
            Err(error) => unread.push(error),
        }
    }
    beginnings.save(workspace);
    agents
}

fn agent_id(name: &str) -> Option<&str> {
    let id = name.strip_prefix("agent-")?.strip_suffix(".jsonl")?;
    // The agent that writes a compaction summary does no work for the session.
    (!id.starts_with("acompact-")).then_some(id)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClaudeTaskFile {
    id: String,
    subject: Option<String>,
    description: Option<String>,
    status: Option<String>,
    #[serde(default)]
    blocked_by: Vec<String>,
    owner: Option<String>,
    #[serde(default)]
    metadata: serde_json::Map<String, serde_json::Value>,
}

pub(super) fn tasks(environment: &Environment, list: &str) -> Vec<TaskFile> {
    let is_kept = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let name: String = list.chars().map(|c| if is_kept(c) { c } else { '-' }).collect();
    let folder = ClaudeCode.home(environment).map(|claude| claude.join("tasks").join(name));
    let Some(Ok(root)) = folder.map(|folder| Root::open(&folder)) else { return Vec::new() };
    let mut tasks: Vec<ClaudeTaskFile> = root
        .names(".json")
        .unwrap_or_default()
        .iter()
        .filter_map(|name| {
            serde_json::from_slice(&root.read_up_to(name, SMALL_FILE_BYTES_MAX).ok()?).ok()
        })
        .collect();
    tasks.sort_by_key(|task| (task.id.len(), task.id.clone()));
    let owned = |text: Option<String>| text.map(Cow::Owned);
    tasks
        .into_iter()
        .map(|task| TaskFile {
            name: format!("tasks/{}.json", task.id),
            change: TaskUpdate {
                id: Some(task.id.into()),
                subject: owned(task.subject),
                description: owned(task.description),
                status: owned(task.status),
                blocked_by: task.blocked_by.into_iter().map(Cow::Owned).collect(),
                blocks: Vec::new(),
                owner: owned(task.owner),
                metadata: TaskUpdate::entries(task.metadata),
            },
        })
        .collect()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RegisteredSession {
    pid: u64,
    session_id: SessionId,
    proc_start: Option<serde_json::Value>,
}

/// The sessions whose processes exist.
pub(super) fn running_sessions(environment: &Environment) -> HashSet<SessionId> {
    let folder = ClaudeCode.home(environment).map(|claude| claude.join("sessions"));
    let Some(Ok(root)) = folder.map(|folder| Root::open(&folder)) else { return HashSet::new() };
    let names = root.names(".json").unwrap_or_default();
    let read = |name: &PathBuf| -> Option<RegisteredSession> {
        serde_json::from_slice(&root.read_up_to(name, SMALL_FILE_BYTES_MAX).ok()?).ok()
    };
    let there = |one: &RegisteredSession| {
        process::start_time(one.pid)
            .is_some_and(|started| is_same_start(one.proc_start.as_ref(), &started))
    };
    names.iter().filter_map(read).filter(there).map(|one| one.session_id).collect()
}

/// The current session of the client that started this process. It is read from a file because a
/// client changes its session, for example with `/clear`, and the environment of its servers does
/// not follow.
pub(super) fn current_session(environment: &Environment) -> Option<SessionId> {
    process::ancestors().into_iter().find_map(|above| registered_session(environment, above.pid))
}

/// The session for which the client registered this process, if it is still the same process.
pub(super) fn registered_session(environment: &Environment, pid: u64) -> Option<SessionId> {
    let root = Root::open(&ClaudeCode.home(environment)?.join("sessions")).ok()?;
    let file = PathBuf::from(format!("{pid}.json"));
    let bytes = root.read_up_to(&file, SMALL_FILE_BYTES_MAX).ok()?;
    let one: RegisteredSession = serde_json::from_slice(&bytes).ok()?;
    let is_it = |started: String| is_same_start(one.proc_start.as_ref(), &started);
    let is_it = process::start_time(pid).map_or(!process::has_proc(), is_it);
    (is_it && one.pid == pid).then_some(one.session_id)
}

/// Whether a process is the registered one. Process ids are reused; start times are not. A start
/// time in another format cannot be compared and counts as the same.
fn is_same_start(registered: Option<&serde_json::Value>, started: &str) -> bool {
    let written = match registered {
        Some(serde_json::Value::String(text)) => text.trim().to_owned(),
        Some(serde_json::Value::Number(number)) => number.to_string(),
        Some(_) | None => return true,
    };
    let comparable = !written.is_empty() && written.bytes().all(|byte| byte.is_ascii_digit());
    !comparable || written == started
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::env::Variables;
    use crate::sys::files::{ScratchFolder, looked_at};

    #[test]
    fn a_reused_process_id_is_detected_by_its_start_time() {
        let text = |text: &str| serde_json::Value::String(text.to_owned());
        assert!(is_same_start(Some(&text("8812")), "8812"));
        assert!(is_same_start(Some(&8812.into()), "8812"));
        assert!(!is_same_start(Some(&text("8813")), "8812"));
        assert!(is_same_start(Some(&text("Mon Mar 16 10:00:00 2026")), "8812"));
        assert!(is_same_start(None, "8812"));
    }

    #[test]
    fn agent_files_are_distinguished_from_sessions() {
        assert_eq!(agent_id("agent-a87dc.jsonl"), Some("a87dc"));
        assert_eq!(agent_id("agent-acompact-fff.jsonl"), None);
        assert!(!is_session("agent-a87dc.jsonl") && is_session("5e55.jsonl"));
    }

    #[test]
    fn finding_agents_does_not_stat_other_transcripts() {
        let scratch = ScratchFolder::new("midstride-agents").unwrap();
        for number in 0..100 {
            scratch.write(format!("{number}.jsonl"), b"").unwrap();
        }
        let beside = |listings: &FolderListings| {
            looked_at::during(|| listings.list(scratch.path(), is_agent, &mut Vec::new()).len())
        };
        assert_eq!(beside(&FolderListings::default()), (0, 0));
        scratch.write("agent-a87dc.jsonl", b"").unwrap();
        let listings = FolderListings::default();
        assert_eq!(beside(&listings), (1, 1));
        assert_eq!(beside(&listings), (1, 0), "a folder is listed once");
        scratch.remove().unwrap();
    }

    #[test]
    fn folders_of_other_projects_are_not_scanned() {
        let scratch = ScratchFolder::new("midstride-projects").unwrap();
        for number in 0..100 {
            scratch.write(format!("projects/-other-{number}/{number}.jsonl"), b"").unwrap();
        }
        scratch.write("projects/-shop/one.jsonl", b"").unwrap();
        scratch.write("projects/-shop/notes.txt", b"").unwrap();
        let home = scratch.path().to_string_lossy().into_owned();
        let variables = Variables::Fixed([(HOME_VARIABLE.to_owned(), home)].into());
        let environment = Environment { variables, ..Environment::in_folder(scratch.path()) };
        let tops = [PathBuf::from("/shop")];
        let find = || candidates(&environment, &tops, &mut Vec::new()).len();
        assert_eq!(looked_at::during(find), (1, 2), "its folder and its transcript");
        scratch.remove().unwrap();
    }
}
