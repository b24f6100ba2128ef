//! Finds the sessions that are at work in a project, so that a new session learns of them.
//!
//! Each session has a marker file from its first hook to its last, so only running ones are
//! checked. What they did comes from their hook memory; no transcript is read.

use super::hook_memory::{FOLDER, HookMemory, SessionLocation};
use crate::clients::{self, Client, LivenessProbe, SessionLiveness};
use crate::sys::env::SessionName;
use crate::sys::files::{self, FileError};
use crate::sys::git::Repository;
use crate::workspace::Workspace;
use jiff::{SignedDuration, Timestamp};
use midstride_core::text::id::SessionId;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};

/// The suffix of a marker file.
const MARKER_SUFFIX: &str = ".running";
/// A session that has written nothing for this long is not at work, even if it has not ended.
const ACTIVE_WITHIN: SignedDuration = SignedDuration::from_hours(4);
/// The same if the system cannot say whether its process exists.
const ACTIVE_WITHOUT_PROCESS: SignedDuration = SignedDuration::from_mins(10);

/// A session at work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ActiveSession {
    /// The client that runs it.
    pub(crate) client: &'static dyn Client,
    /// Its id.
    pub(crate) session: SessionId,
    /// The top of its working tree.
    pub(crate) root: PathBuf,
    /// The branch checked out there now.
    pub(crate) branch: Option<String>,
    /// When it last wrote to its transcript.
    pub(crate) active: Timestamp,
    /// The files it changed, relative to the top of its working tree.
    pub(crate) edited: Vec<String>,
}

/// Marks a session as running.
pub(crate) fn add_marker(workspace: &Workspace, session: &SessionName) -> Result<(), FileError> {
    workspace.make_private()?.make_below(Path::new(FOLDER))?.touch(&marker_name(session))
}

/// Removes the marker of a session that ended.
pub(crate) fn remove_marker(workspace: &Workspace, session: &SessionName) -> Result<(), FileError> {
    let Some(private) = workspace.private()? else { return Ok(()) };
    files::remove_if_exists(&private.path().join(FOLDER).join(marker_name(session)))
}

fn marker_name(session: &SessionName) -> PathBuf {
    PathBuf::from(format!("{}.{}{MARKER_SUFFIX}", session.client, session.id))
}

/// The sessions at work in this repository, most recently active first. They have started and not
/// ended, their process is not known to have exited, and they wrote to their transcript within the
/// last hours.
pub(crate) fn find_active_sessions(
    workspace: &Workspace,
    except: &[Option<&SessionName>],
) -> Vec<ActiveSession> {
    let private = workspace.private().ok().flatten();
    let folder = private.and_then(|private| private.open_below(Path::new(FOLDER)).ok().flatten());
    let marks = folder.and_then(|folder| folder.names(MARKER_SUFFIX).ok()).unwrap_or_default();
    let lives = LivenessProbe::new(workspace.environment());
    let mut found: Vec<ActiveSession> = Vec::new();
    for session in marks.iter().filter_map(|mark| parse_marker(mark)) {
        if except.contains(&Some(&session)) {
            continue;
        }
        match read_active_session(workspace, &session, &lives) {
            Some(one) => found.push(one),
            // If it is still running, its next prompt creates the marker again.
            None => drop(remove_marker(workspace, &session)),
        }
    }
    found.sort_by_key(|one| Reverse(one.active));
    found
}

fn parse_marker(mark: &Path) -> Option<SessionName> {
    let (client, id) = mark.to_str()?.strip_suffix(MARKER_SUFFIX)?.split_once('.')?;
    SessionName::parse(client, id)
}

fn read_active_session(
    workspace: &Workspace,
    session: &SessionName,
    lives: &LivenessProbe<'_>,
) -> Option<ActiveSession> {
    let client = clients::find(&session.client)?;
    let HookMemory { place, edited, ended, .. } = HookMemory::read(workspace, session);
    let SessionLocation { root, transcript, at } = place.filter(|_| !ended)?;
    let now = workspace.environment().clock.now();
    let written = files::read_entry(&transcript).and_then(|entry| entry.changed);
    let active = [Some(at), written].into_iter().flatten().max()?;
    let age = now.duration_since(active).abs();
    if age >= ACTIVE_WITHIN {
        return None;
    }
    let is_at_work = match lives.check_session(client, &session.id, &transcript) {
        SessionLiveness::Running => true,
        SessionLiveness::Unknown => age < ACTIVE_WITHOUT_PROCESS,
        SessionLiveness::Ended => false,
    };
    if !is_at_work {
        return None;
    }
    let repository = Repository::discover(&root).ok().flatten();
    let branch = repository.and_then(|repository| repository.branch());
    Some(ActiveSession { client, session: session.id.clone(), root, branch, active, edited })
}
