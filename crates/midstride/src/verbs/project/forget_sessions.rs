//! Deletes captured sessions: those that the user chooses, and those that are older than the retention.
//! Handoffs and the clients' own transcripts stay.

use crate::store::Store;
use crate::sys::files::{FileError, Lock};
use crate::verbs::handoff::forget::{ForgetError, KeptText, forget_text, kept_checkpoints};
use crate::workspace::consent::UserConsent;
use crate::workspace::user_settings::Retention;
use crate::workspace::{StoreOwner, Workspace};
use jiff::{SignedDuration, Timestamp};
use midstride_core::text::id::SessionId;
use std::path::{Path, PathBuf};

/// The file with the time when the retention was last applied.
const APPLIED_FILE: &str = "retention-applied";
/// Held by the process that applies the retention.
const LOCK: &str = "retention";
/// How often the retention is applied.
const INTERVAL: SignedDuration = SignedDuration::from_hours(24);

/// Which captured sessions to delete.
#[derive(Clone, Copy, Debug)]
pub enum SessionSelection<'s> {
    /// Those whose id starts with this.
    Id(&'s str),
    /// Those that ended before this.
    EndedBefore(Timestamp),
    /// Those that were last captured before this.
    CapturedBefore(Timestamp),
    /// All of them.
    All,
}

/// A captured session.
#[derive(Debug)]
pub struct CapturedSession {
    /// The name of its client.
    pub client: String,
    /// Its id.
    pub session: SessionId,
    /// When it was last captured.
    pub at: Timestamp,
    /// The time of its last record. Without one, when it was last captured.
    pub ended: Timestamp,
    /// What the user asked first.
    pub about: Option<String>,
    /// How many bytes are stored.
    pub bytes: usize,
    texts: Vec<KeptText>,
}

impl CapturedSession {
    /// Its transcript, which belongs to the client and stays, if it still exists.
    pub fn transcript(&self) -> Option<&Path> {
        self.texts.iter().find_map(|text| text.transcript.as_deref())
    }

    /// The handoffs that were made from it, which stay.
    pub fn handoffs(&self) -> impl Iterator<Item = &PathBuf> {
        self.texts.iter().take(1).flat_map(|text| &text.handoffs)
    }
}

/// The captured sessions of a project, newest first.
pub fn captured_sessions(
    store: &Store,
    selection: SessionSelection<'_>,
) -> Result<Vec<CapturedSession>, ForgetError> {
    let mut found = Vec::new();
    for ((client, session), kept) in kept_checkpoints(store)? {
        let Some(at) = kept.iter().map(|(at, _)| *at).max() else { continue };
        let ended = kept.iter().filter_map(|(_, text)| text.ended).max().unwrap_or(at);
        let is_selected = match selection {
            SessionSelection::Id(prefix) => session.as_str().starts_with(prefix),
            SessionSelection::EndedBefore(time) => ended < time,
            SessionSelection::CapturedBefore(time) => at < time,
            SessionSelection::All => true,
        };
        if is_selected {
            let texts: Vec<KeptText> = kept.into_iter().map(|(_, text)| text).collect();
            let bytes = texts.iter().filter_map(|text| text.bytes).sum();
            let about = texts.iter().rev().find_map(|text| text.preview.clone());
            found.push(CapturedSession { client, session, at, ended, about, bytes, texts });
        }
    }
    found.sort_by_key(|one| std::cmp::Reverse(one.ended));
    Ok(found)
}

/// Deletes captured sessions for good. `progress` gets how many are done.
pub fn forget_sessions(
    store: &Store,
    sessions: &[CapturedSession],
    reason: Option<&str>,
    _consent: &UserConsent,
    progress: &mut dyn FnMut(usize),
) -> Result<(), ForgetError> {
    delete(store, sessions, reason, progress)
}

fn delete(
    store: &Store,
    sessions: &[CapturedSession],
    reason: Option<&str>,
    progress: &mut dyn FnMut(usize),
) -> Result<(), ForgetError> {
    for (index, one) in sessions.iter().enumerate() {
        for text in &one.texts {
            forget_text(store, text, reason, &|_| ())?;
        }
        progress(index + 1);
    }
    Ok(())
}

/// Whether it is time to look for sessions that are older than the retention.
pub fn is_retention_due(workspace: &Workspace) -> bool {
    let is_own = workspace.exclusion().is_none() && workspace.store_owner() == StoreOwner::User;
    if !is_own || workspace.retention() == Retention::Forever {
        return false;
    }
    let Ok(Some(private)) = workspace.private() else { return false };
    let applied = private.read(Path::new(APPLIED_FILE)).ok();
    let applied = applied.and_then(|text| String::from_utf8_lossy(&text).trim().parse().ok());
    let now = workspace.environment().clock.now();
    applied.is_none_or(|applied: Timestamp| now.duration_since(applied) >= INTERVAL)
}

/// Deletes the sessions that are older than the retention. Returns how many; `None` if another process
/// does it.
pub fn apply_retention(store: &Store) -> Result<Option<usize>, ForgetError> {
    let workspace = store.workspace();
    let Retention::Days(days) = workspace.retention() else { return Ok(None) };
    let Some(private) = workspace.private()? else { return Ok(None) };
    let Some(_turn) = Lock::try_acquire(&private, LOCK)? else { return Ok(None) };
    let now = workspace.environment().clock.now();
    let age = SignedDuration::from_hours(24 * i64::from(days));
    let Ok(oldest) = now.checked_sub(age) else { return Ok(None) };
    let sessions = captured_sessions(store, SessionSelection::CapturedBefore(oldest))?;
    let reason = format!("older than {} (capture.retention)", workspace.retention());
    delete(store, &sessions, Some(&reason), &mut |_| ())?;
    let applied: Result<(), FileError> =
        private.put(Path::new(APPLIED_FILE), format!("{now}\n").as_bytes());
    applied?;
    Ok(Some(sessions.len()))
}
