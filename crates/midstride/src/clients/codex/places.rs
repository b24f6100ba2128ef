//! Where Codex keeps transcripts, and how they refer to each other.

use super::Codex;
use crate::clients::client::Client as _;
use crate::clients::client::{TranscriptCandidate, TranscriptInfo, list_or_report};
use crate::clients::heads::{HeadCache, TranscriptHead};
use crate::sys::env::Environment;
use crate::sys::files::{self, FileError, FileStream, FolderEntry};
use crate::workspace::Workspace;
use midstride_core::text::id::SessionId;
use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The folder of the transcripts, by year, month and day.
const SESSIONS: &str = "sessions";
/// How many transcripts are considered, newest first.
const CANDIDATES_MAX: usize = 1_000;
/// The first record contains the client's complete instructions, so it is long.
const FIRST_RECORD_MAX: u64 = 1 << 20;

/// The newest transcripts of all projects. The first record of each names its project.
pub(super) fn candidates(
    environment: &Environment,
    unread: &mut Vec<FileError>,
) -> Vec<TranscriptCandidate> {
    candidates_from(environment, &[], unread)
}

/// Only the transcripts that started no earlier than `from`, a path below the sessions folder.
fn candidates_from(
    environment: &Environment,
    from: &[&str],
    unread: &mut Vec<FileError>,
) -> Vec<TranscriptCandidate> {
    let mut found = Vec::new();
    if let Some(codex) = Codex.home(environment) {
        collect(&codex.join(SESSIONS), 0, from, &mut found, unread);
    }
    found
}

/// Walks years, months, days and transcripts, newest first.
fn collect(
    folder: &Path,
    depth: usize,
    from: &[&str],
    found: &mut Vec<TranscriptCandidate>,
    unread: &mut Vec<FileError>,
) {
    const DAYS: usize = 3;
    let is_late = |name: &str| from.first().is_none_or(|first| name >= *first);
    let is_wanted = |name: &str| is_late(name) && (depth < DAYS || is_transcript(name));
    for entry in list_or_report(folder, is_wanted, unread).into_iter().rev() {
        if found.len() >= CANDIDATES_MAX {
            break;
        }
        let path = folder.join(&entry.name);
        if entry.is_folder && depth < DAYS {
            // Everything in a later folder is later.
            let is_first = from.first() == Some(&entry.name.as_str());
            let from = if is_first { &from[1..] } else { &[] };
            collect(&path, depth + 1, from, found, unread);
        } else if is_transcript(&entry.name) {
            found.push(TranscriptCandidate { client: &Codex, path, entry });
        }
    }
}

/// The transcripts of the agents that a session started, and of their agents, with their ids.
/// Agents start later than the session.
pub(super) fn agents(
    workspace: &Workspace,
    found: &TranscriptInfo,
    unread: &mut Vec<FileError>,
) -> Vec<(String, PathBuf)> {
    let environment = workspace.environment();
    let sessions = Codex.home(environment).map(|codex| codex.join(SESSIONS));
    let below = sessions.and_then(|sessions| found.path.strip_prefix(sessions).ok());
    let from: Option<Vec<&str>> =
        below.map(|below| below.iter().filter_map(OsStr::to_str).collect());
    let candidates = match from {
        Some(from) => candidates_from(environment, &from, unread),
        None => siblings(&found.path),
    };
    let mut beginnings = HeadCache::load(workspace);
    let mut others: Vec<(SessionId, SessionId, PathBuf)> = Vec::new();
    for candidate in candidates {
        match beginnings.get(&candidate) {
            Ok(TranscriptHead { agent_of: Some(of), .. }) => {
                others.push((of, candidate.session(), candidate.path));
            }
            Ok(_) => {}
            Err(error) => unread.push(error),
        }
    }
    beginnings.save(workspace);
    // An agent starts after the session that started it.
    others.sort_by(|(.., one), (.., other)| one.cmp(other));
    let mut owners = vec![found.session.clone()];
    let mut agents = Vec::new();
    for (of, id, path) in others.into_iter().filter(|(.., path)| *path != found.path) {
        if owners.contains(&of) {
            agents.push((id.to_string(), path));
            owners.push(id);
        }
    }
    agents
}

/// The transcripts in the same folder, for one outside the sessions folder.
fn siblings(path: &Path) -> Vec<TranscriptCandidate> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let entries = files::list_folder(folder, is_transcript).unwrap_or_default().into_iter();
    let candidate = |entry: FolderEntry| {
        let path = folder.join(&entry.name);
        TranscriptCandidate { client: &Codex, path, entry }
    };
    entries.map(candidate).collect()
}

/// The transcript of a session: next to another one, or anywhere.
pub(super) fn transcript_of(
    environment: &Environment,
    near: &Path,
    id: &SessionId,
) -> Option<PathBuf> {
    let is_it = |other: &TranscriptCandidate| other.path != near && other.session() == *id;
    let all = || candidates(environment, &mut Vec::new()).into_iter();
    let found = siblings(near).into_iter().find(is_it).or_else(|| all().find(is_it));
    found.map(|found| found.path)
}

fn is_transcript(name: &str) -> bool {
    name.starts_with("rollout-") && Path::new(name).extension().is_some_and(|end| end == "jsonl")
}

/// The session id at the end of a file name: `rollout-2026-11-15T18-50-25-<id>`.
pub(super) fn session_id_in(stem: &str) -> SessionId {
    const TIME: usize = "2026-11-15T18-50-25-".len();
    let rest = stem.strip_prefix("rollout-").unwrap_or(stem);
    SessionId::new(rest.get(TIME..).unwrap_or(rest))
}

/// The transcript that another one continues, and up to which byte.
pub(super) fn base(environment: &Environment, path: &Path) -> Option<(PathBuf, u64)> {
    let start = FileStream::open(path).ok()?.read_range(0, FIRST_RECORD_MAX).ok()?;
    let first: Value = serde_json::from_slice(start.split(|byte| *byte == b'\n').next()?).ok()?;
    let base = first.pointer("/payload/history_base")?;
    let thread = base.get("thread_id")?.as_str()?;
    let end = base.get("end_byte_offset")?.as_u64()?;
    transcript_of(environment, path, &SessionId::new(thread)).map(|path| (path, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_session_id_is_read_from_the_file_name() {
        assert_eq!(
            session_id_in("rollout-2026-11-15T18-50-25-01a1e08b-e0f1"),
            SessionId::new("01a1e08b-e0f1")
        );
        assert_eq!(session_id_in("rollout-ä"), SessionId::new("ä"));
    }
}
