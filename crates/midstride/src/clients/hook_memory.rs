//! State that the hooks of a session keep for later hooks. Losing it only means that something is
//! repeated.

use crate::sys::env::SessionName;
use crate::sys::files::{self, FileError, Root};
use crate::workspace::Workspace;
use jiff::{SignedDuration, Timestamp};
use midstride_core::text::id::SessionId;
use midstride_core::text::redact::RedactionRules;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The folder of the state files, inside the private folder.
pub(crate) const FOLDER: &str = "hooks";
/// With more sessions than this, the state of the oldest is deleted.
const SESSIONS_MAX: usize = 64;
/// midstride does not write larger files.
const BYTES_MAX: u64 = 1 << 20;
/// The same call within this time is a duplicate: if hooks are installed both for the user and for
/// the project, the client calls both at once.
const SAME_WITHIN: SignedDuration = SignedDuration::from_secs(2);
/// How many recent calls to remember.
const ANSWERED_MAX: usize = 32;

/// Where a session runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SessionLocation {
    /// The root of its project.
    pub(crate) root: PathBuf,
    /// Its transcript.
    pub(crate) transcript: PathBuf,
    /// When it started.
    pub(crate) at: Timestamp,
}

impl SessionLocation {
    /// `None` without a transcript, or if its path has a secret that must not be stored.
    pub(crate) fn new(workspace: &Workspace, transcript: Option<&str>) -> Option<Self> {
        let transcript = transcript.filter(|path| workspace.clean(path).1.is_empty());
        let root = files::canonical(workspace.root().path());
        let at = workspace.environment().clock.now();
        Some(Self { root, transcript: transcript?.into(), at })
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct HookMemory {
    /// What the session was given after a compaction.
    pub(crate) told: Option<String>,
    /// The briefing it got at start, and when.
    pub(crate) briefed: Option<(Timestamp, String)>,
    /// Whether that was on resume and no prompt has come since. A client adds such a briefing to
    /// the first message, and a compaction before that leaves it in the context.
    pub(crate) waits: bool,
    /// SHA-256 of the summary that was last compared.
    pub(crate) compared: Option<String>,
    /// What that summary omitted, for the next prompt.
    pub(crate) missing: Option<String>,
    /// Whether the agent was reminded.
    pub(crate) nudged: bool,
    /// Whether the hook has checked if a reminder is needed.
    pub(crate) weighed: bool,
    /// How many times in a row the agent was kept from stopping.
    pub(crate) blocked: u8,
    /// Whether its client reported that it ended.
    pub(crate) ended: bool,
    /// Where the session runs.
    pub(crate) place: Option<SessionLocation>,
    /// The files it changed, according to the part of its transcript that was read.
    pub(crate) edited: Vec<String>,
    /// The most recent calls.
    answered: Vec<AnsweredCall>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct AnsweredCall {
    /// Identifies the call.
    call: String,
    at: Timestamp,
}

impl HookMemory {
    /// Whether this call is not a duplicate. Records it.
    pub(crate) fn is_first(&mut self, call: &str, now: Timestamp) -> bool {
        // `abs`, because the clock may be set back.
        self.answered.retain(|one| now.duration_since(one.at).abs() < SAME_WITHIN);
        let is_first = self.answered.iter().all(|one| one.call != call);
        if is_first {
            let over = (self.answered.len() + 1).saturating_sub(ANSWERED_MAX);
            self.answered.drain(..over);
            self.answered.push(AnsweredCall { call: call.to_owned(), at: now });
        }
        is_first
    }

    /// Resets the state when a session ends, for the case that it is resumed. It keeps the
    /// reminder, the briefing and what was missing, and drops the recent calls, so that the next
    /// call counts as new.
    pub(crate) fn end(&mut self) {
        let Self { missing, nudged, briefed, .. } = std::mem::take(self);
        *self = Self { missing, nudged, briefed, ended: true, ..Self::default() };
    }

    pub(crate) fn read(workspace: &Workspace, session: &SessionName) -> Self {
        let folder = workspace.private().ok().flatten();
        let folder = folder.and_then(|folder| folder.open_below(Path::new(FOLDER)).ok().flatten());
        let bytes =
            folder.and_then(|folder| folder.read_up_to(&file_name(session), BYTES_MAX).ok());
        Self::parse(bytes.as_deref())
    }

    fn parse(bytes: Option<&[u8]>) -> Self {
        bytes.and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default()
    }

    /// Changes the state under a lock: of two hooks called at once, the second sees the change of
    /// the first.
    pub(crate) fn change<T>(
        workspace: &Workspace,
        session: &SessionName,
        change: impl FnOnce(&mut Self) -> T,
    ) -> Result<T, FileError> {
        let folder: Root = workspace.make_private()?.make_below(Path::new(FOLDER))?;
        folder.update_without_sync(&file_name(session), BYTES_MAX, |bytes| {
            let before = Self::parse(bytes.as_deref());
            let mut kept = before.clone();
            let given = change(&mut kept);
            let written = || {
                let text = serde_json::to_string(&kept).unwrap_or_default();
                // Unchanged text was redacted when it was new.
                let is_same = kept.told == before.told
                    && kept.missing == before.missing
                    && kept.briefed == before.briefed;
                match is_same {
                    true => text.into_bytes(),
                    false => workspace.clean(&text).0.as_str().as_bytes().to_vec(),
                }
            };
            ((kept != before).then(written), given)
        })
    }

    /// The session that was briefed last, and its briefing.
    pub(crate) fn newest_briefing(
        workspace: &Workspace,
    ) -> Result<Option<(SessionName, String)>, FileError> {
        let Some(private) = workspace.private()? else { return Ok(None) };
        let Some(folder) = private.open_below(Path::new(FOLDER))? else { return Ok(None) };
        let briefed = folder.names(".json")?.into_iter().filter_map(|name| {
            let kept = Self::parse(folder.read_up_to(&name, BYTES_MAX).ok().as_deref());
            let (at, text) = kept.briefed?;
            Some((at, parse_file_name(&name)?, text))
        });
        let newest = briefed.max_by_key(|(at, ..)| *at);
        Ok(newest.map(|(_, session, text)| (session, text)))
    }

    /// Deletes the stored briefings of all sessions.
    pub(crate) fn forget_briefings(workspace: &Workspace) -> Result<(), FileError> {
        let Some(private) = workspace.private()? else { return Ok(()) };
        let Some(folder) = private.open_below(Path::new(FOLDER))? else { return Ok(()) };
        for session in folder.names(".json")?.iter().filter_map(|name| parse_file_name(name)) {
            Self::change(workspace, &session, |kept| kept.briefed = None)?;
        }
        Ok(())
    }

    /// Deletes the state of a session.
    pub(crate) fn remove(workspace: &Workspace, session: &SessionName) -> Result<(), FileError> {
        let Some(private) = workspace.private()? else { return Ok(()) };
        let Some(folder) = private.open_below(Path::new(FOLDER))? else { return Ok(()) };
        files::remove_if_exists(&folder.path().join(file_name(session)))
    }

    /// Renames the files of sessions whose id has a secret; returns how many there were.
    pub(crate) fn redact_file_names(workspace: &Workspace) -> Result<usize, FileError> {
        let Some(private) = workspace.private()? else { return Ok(0) };
        let Some(folder) = private.open_below(Path::new(FOLDER))? else { return Ok(0) };
        let mut renamed = 0;
        for name in folder.names("")? {
            let Some(clean) = redacted_file_name(&name, workspace.rules()) else { continue };
            match folder.rename(&name, &clean) {
                Err(error) if !error.is_missing() => return Err(error),
                done => renamed += usize::from(done.is_ok()),
            }
        }
        Ok(renamed)
    }

    /// Deletes the state of the sessions that wrote longest ago, down to `SESSIONS_MAX`.
    pub(crate) fn prune(workspace: &Workspace) -> Result<(), FileError> {
        let Some(private) = workspace.private()? else { return Ok(()) };
        let Some(folder) = private.open_below(Path::new(FOLDER))? else { return Ok(()) };
        let names = folder.names(".json")?;
        let Some(over) = names.len().checked_sub(SESSIONS_MAX).filter(|over| *over > 0) else {
            return Ok(());
        };
        let written = |name: &PathBuf| folder.stamp(name).map_or(0, |stamp| stamp.modified);
        let mut names = names;
        names.sort_by_cached_key(written);
        for name in &names[..over] {
            // Another session may delete the same file at the same time.
            files::remove_if_exists(&folder.path().join(name))?;
        }
        Ok(())
    }
}

/// The file name of a session's state. Session names have no character that could leave the folder.
fn file_name(session: &SessionName) -> PathBuf {
    PathBuf::from(format!("{}.{}.json", session.client, session.id))
}

/// The session of a file name.
fn parse_file_name(name: &Path) -> Option<SessionName> {
    let (client, id) = name.to_str()?.strip_suffix(".json")?.split_once('.')?;
    SessionName::parse(client, id)
}

/// The name of a session's file without the secret in the id; `None` if there is none.
fn redacted_file_name(name: &Path, rules: &RedactionRules) -> Option<PathBuf> {
    let (client, rest) = name.to_str()?.split_once('.')?;
    let (id, ending) = rest.rsplit_once('.')?;
    let clean = SessionId::new(id).redacted(rules);
    (clean.as_str() != id).then(|| PathBuf::from(format!("{client}.{clean}.{ending}")))
}

/// The newest session that was briefed at start, and its briefing; `None` if there is none.
pub fn last_briefing(workspace: &Workspace) -> Result<Option<(SessionName, String)>, FileError> {
    HookMemory::newest_briefing(workspace)
}

/// The briefing that a session got at start.
pub(crate) fn startup_briefing(
    workspace: &Workspace,
    client: &str,
    session: &SessionId,
) -> Option<String> {
    let session = SessionName::parse(client, session.as_str())?;
    HookMemory::read(workspace, &session).briefed.map(|(_, text)| text)
}

/// Deletes the state that the hooks of a session keep.
pub(crate) fn clear_memory(workspace: &Workspace, session: &SessionName) -> Result<(), FileError> {
    HookMemory::remove(workspace, session)
}

/// Deletes the stored briefings of all sessions, because they quote earlier sessions.
pub(crate) fn forget_briefings(workspace: &Workspace) -> Result<(), FileError> {
    HookMemory::forget_briefings(workspace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_call_within_two_seconds_is_a_duplicate() {
        let at = |time: &str| time.parse::<Timestamp>().unwrap();
        let now = at("2026-03-22T10:00:00Z");
        let mut kept = HookMemory::default();
        assert!(kept.is_first("start", now));
        assert!(!kept.is_first("start", now));
        assert!(kept.is_first("stop", now));
        assert!(!kept.is_first("start", at("2026-03-22T10:00:01.9Z")));
        // Later, or after the clock was set back, it is another call.
        assert!(kept.is_first("start", at("2026-03-22T10:00:02Z")));
        assert!(kept.is_first("start", at("2026-03-22T09:00:00Z")));
        assert!(kept.is_first("start", Timestamp::MAX) && kept.is_first("start", Timestamp::MIN));
    }

    #[test]
    fn only_the_most_recent_calls_are_remembered() {
        let now = Timestamp::UNIX_EPOCH;
        let mut kept = HookMemory::default();
        let mut is_first = |number: usize| kept.is_first(&number.to_string(), now);
        assert!((0..100).all(&mut is_first));
        assert!(!is_first(99) && is_first(0));
        assert_eq!(kept.answered.len(), ANSWERED_MAX);
    }

    #[test]
    fn ending_a_session_keeps_its_reminder_and_missing_items() {
        let lost = Some("lost".to_owned());
        let mut kept =
            HookMemory { nudged: true, blocked: 2, missing: lost.clone(), ..HookMemory::default() };
        kept.is_first("start", Timestamp::UNIX_EPOCH);
        kept.end();
        assert_eq!((kept.nudged, kept.blocked, &kept.missing), (true, 0, &lost));
        assert!(kept.ended && kept.is_first("start", Timestamp::UNIX_EPOCH));
    }
}
