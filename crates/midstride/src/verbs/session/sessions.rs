//! Find sessions, show one, and recover those that ended without being captured.

use crate::clients::capture::agents_bytes;
use crate::clients::hook_switch::OffTimes;
use crate::clients::{
    self, AgentFileCache, LivenessProbe, SessionLiveness, TranscriptCandidate, TranscriptInfo,
};
use crate::store::ledger::{Ledger as _, LedgerError, SqliteLedger, StreamId, WaitPolicy};
use crate::store::tombstone::Tombstone;
use crate::sys::files::{FileError, FileProblem, FileStream};
use crate::verbs::session::checkpoint::{
    CheckpointError, CheckpointOutcome, PreparedCheckpoint, append_all, capture_checkpoint,
    find_by_id,
};
use crate::workspace::project::{Project, SetupMode};
use jiff::{SignedDuration, Timestamp};
use midstride_core::session::Client;
use midstride_core::session::checkpoint::{Checkpoint, CheckpointMode};
use midstride_core::work::event::{Envelope, Event, SessionEvent};
use std::collections::BTreeMap;
use std::path::Path;

/// So many sessions are brought in at once, unless all are wanted.
pub const RECOVERED_MAX: usize = 3;
/// So many are told to the ledger in one turn.
const APPEND_BATCH: usize = 8;
/// Agents may write on after their session ended, but not longer than this.
const AGENTS_WRITE_FOR: SignedDuration = SignedDuration::from_hours(7 * 24);
/// The file that says since when midstride is here.
const SINCE_FILE: &str = "since";

/// How much of a session is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Nothing.
    None,
    /// Not its end.
    Part,
    /// All of it.
    Whole,
}

/// A session in a list.
#[derive(Debug)]
pub struct ListedSession {
    /// The client that ran it.
    pub client: Client,
    /// Its id.
    pub session: String,
    /// When it began.
    pub began: Option<Timestamp>,
    /// When its transcript was changed, or its last record was written.
    pub changed: Option<Timestamp>,
    /// What the user asked first.
    pub about: Option<String>,
    /// Whether it runs.
    pub life: SessionLiveness,
    /// How much of it is written down.
    pub extent: Extent,
    /// The transcript, while it is there.
    pub transcript: Option<TranscriptInfo>,
    /// The newest checkpoint.
    pub blob: Option<String>,
}

/// The sessions of a project, the newest first, and what could not be read.
pub fn sessions(
    project: &Project,
    client: Option<Client>,
) -> Result<(Vec<ListedSession>, Vec<FileError>), LedgerError> {
    let (found, unread) = clients::transcripts(project, client);
    let mut known = match project.private()? {
        Some(_) => read_ledger_sessions(&SqliteLedger::open(project, WaitPolicy::Command)?)?,
        None => LedgerSessions::new(),
    };
    let lives = LivenessProbe::new(project.environment());
    let neighbors = AgentFileCache::default();
    let mut list: Vec<ListedSession> = Vec::new();
    for found in found {
        let told = known.remove(&(found.client.name().to_owned(), found.session.clone()));
        list.push(list_session(project, found, told, &lives, &neighbors));
    }
    for ((name, session), told) in known {
        let Some(of) = Client::from_name(&name).filter(|of| client.is_none_or(|want| want == *of))
        else {
            continue;
        };
        list.push(ListedSession {
            client: of,
            session,
            began: told.began,
            changed: told.ended,
            about: told.about,
            life: SessionLiveness::Ended,
            extent: Extent::Whole,
            blob: Some(told.blob),
            transcript: None,
        });
    }
    list.sort_by(|one, other| (other.changed, &other.session).cmp(&(one.changed, &one.session)));
    Ok((list, unread))
}

fn list_session(
    project: &Project,
    found: TranscriptInfo,
    told: Option<LedgerSession>,
    lives: &LivenessProbe<'_>,
    neighbors: &AgentFileCache,
) -> ListedSession {
    let extent = |told: &LedgerSession| told.extent(project, &found, neighbors);
    let extent = told.as_ref().map_or(Extent::None, extent);
    ListedSession {
        client: found.client,
        session: found.session.clone(),
        began: found.began,
        changed: found.changed,
        about: found.first_prompt.clone(),
        life: lives.check(&found),
        extent,
        blob: told.map(|told| told.blob),
        transcript: Some(found),
    }
}

/// What the ledger tells of a session.
struct LedgerSession {
    blob: String,
    bytes: u64,
    /// None: nobody counted them.
    agents_bytes: Option<u64>,
    began: Option<Timestamp>,
    ended: Option<Timestamp>,
    about: Option<String>,
}

/// The newest checkpoint of each session, by client and id.
type LedgerSessions = BTreeMap<(String, String), LedgerSession>;

fn read_ledger_sessions(ledger: &SqliteLedger) -> Result<LedgerSessions, LedgerError> {
    let mut known = LedgerSessions::new();
    for last in ledger.last_per_stream(StreamId::SESSIONS)? {
        let told = match newest_checkpoint(&last.events) {
            // Something else happened to it since.
            None => newest_checkpoint(
                ledger.read(&last.stream, None)?.iter().flat_map(|one| &one.events),
            ),
            told => told,
        };
        known.extend(told);
    }
    Ok(known)
}

/// The newest checkpoint that events tell of.
fn newest_checkpoint<'e>(
    events: impl IntoIterator<Item = &'e Envelope>,
) -> Option<((String, String), LedgerSession)> {
    let told = events.into_iter().filter_map(|envelope| {
        let Event::Session(SessionEvent::Checkpointed {
            client,
            session,
            blob,
            bytes,
            agents_bytes,
            began,
            ended,
            about,
            ..
        }) = &envelope.event
        else {
            return None;
        };
        let time = |text: &Option<String>| text.as_deref().and_then(|t| t.parse().ok());
        let told = LedgerSession {
            blob: blob.clone(),
            bytes: *bytes,
            agents_bytes: *agents_bytes,
            began: time(began),
            ended: time(ended),
            about: about.clone(),
        };
        Some(((client.clone(), session.clone()), told))
    });
    told.last()
}

impl LedgerSession {
    /// How much of a session the newest checkpoint has. Half a line at the end is no more of it, and a
    /// transcript that somebody emptied takes nothing away.
    fn extent(
        &self,
        project: &Project,
        found: &TranscriptInfo,
        neighbors: &AgentFileCache,
    ) -> Extent {
        const LOOKED_AT: u64 = 64 << 10;
        if self.agents_wrote(project, found, neighbors) {
            return Extent::Part;
        }
        if self.bytes == found.bytes || found.bytes == 0 {
            return Extent::Whole;
        }
        let rest = FileStream::open(&found.path)
            .and_then(|mut stream| stream.read_range(self.bytes, self.bytes + LOOKED_AT));
        match rest {
            Ok(rest) if self.bytes < found.bytes && !rest.contains(&b'\n') => Extent::Whole,
            Ok(_) | Err(_) => Extent::Part,
        }
    }

    /// Whether agents wrote something since: they may go on after their session was written down.
    fn agents_wrote(
        &self,
        project: &Project,
        found: &TranscriptInfo,
        neighbors: &AgentFileCache,
    ) -> bool {
        let Some(bytes) = self.agents_bytes else { return false };
        // Codex tells in the transcript of a session that it started an agent, and nothing came there.
        let may_have = found.client != Client::Codex || bytes > 0;
        may_have && bytes != agents_bytes(project, found, neighbors)
    }
}

/// Whether a session did nothing since it was written down last. Nothing of its transcripts is read for
/// that: they only grow, so their lengths tell.
pub(in crate::verbs) fn is_captured(
    project: &Project,
    ledger: &SqliteLedger,
    found: &TranscriptInfo,
) -> Result<bool, LedgerError> {
    let stream = StreamId::session(found.client.name(), &found.session);
    let records = ledger.read(&stream, None)?;
    let told = newest_checkpoint(records.iter().flat_map(|record| &record.events));
    let Some((_, told)) = told.filter(|(_, told)| told.agents_bytes.is_some()) else {
        return Ok(false);
    };
    // What was forgotten can be written down again without what made it so.
    let is_there = || Ok(Tombstone::find(ledger, &told.blob)?.is_none());
    let extent = told.extent(project, found, &AgentFileCache::default());
    if extent == Extent::Whole { is_there() } else { Ok(false) }
}

/// A session as it is now, or as it was written down last.
#[derive(Debug)]
pub struct SessionView {
    /// What it did.
    pub checkpoint: Checkpoint,
    /// Whether exactly this is written down.
    pub is_stored: bool,
}

/// One session: as it is in its transcript, or as it was written down if that is gone.
pub fn session(
    project: &Project,
    name: &str,
    client: Option<Client>,
) -> Result<SessionView, CheckpointError> {
    let one = find_session(project, name, client)?;
    match &one.transcript {
        Some(found) => {
            let checkpoint = capture_checkpoint(project, found, CheckpointMode::Checkpoint)?
                .serialized
                .checkpoint;
            let stored =
                one.blob.as_deref().map(|blob| read_checkpoint(project, blob)).transpose()?;
            let is_stored = stored.flatten().is_some_and(|old| old.digest == checkpoint.digest);
            Ok(SessionView { checkpoint, is_stored })
        }
        None => Ok(SessionView { checkpoint: last_checkpoint(project, &one)?.0, is_stored: true }),
    }
}

/// The newest checkpoint of a session, and where it is.
pub(in crate::verbs) fn last_checkpoint(
    project: &Project,
    one: &ListedSession,
) -> Result<(Checkpoint, String), CheckpointError> {
    let session = one.session.clone();
    let Some(blob) = &one.blob else { return Err(CheckpointError::NoSuch(session)) };
    if let Some(tombstone) = project.tombstone(blob).map(Box::new) {
        return Err(CheckpointError::Forgotten { session, tombstone });
    }
    let checkpoint = read_checkpoint(project, blob)?.ok_or(CheckpointError::NoSuch(session))?;
    Ok((checkpoint, blob.clone()))
}

/// A session as it was written down last, for when its transcript is gone.
pub(in crate::verbs) fn last_captured(
    project: &Project,
    name: &str,
    client: Option<Client>,
) -> Result<CheckpointOutcome, CheckpointError> {
    let (checkpoint, blob) = last_checkpoint(project, &find_session(project, name, client)?)?;
    let (is_new, new_bytes, unread, moved_from) = (false, 0, Vec::new(), None);
    Ok(CheckpointOutcome { checkpoint, blob, is_new, new_bytes, unread, moved_from })
}

pub(in crate::verbs) fn read_checkpoint(
    project: &Project,
    blob: &str,
) -> Result<Option<Checkpoint>, CheckpointError> {
    let ledger = SqliteLedger::open(project, WaitPolicy::Command)?;
    Ok(ledger.get_blob(blob)?.and_then(|bytes| Checkpoint::parse(&bytes)))
}

/// The session of an id, or of a beginning that no other has.
pub(in crate::verbs) fn find_session(
    project: &Project,
    name: &str,
    client: Option<Client>,
) -> Result<ListedSession, CheckpointError> {
    if project.setup() == SetupMode::NotSetUp {
        return Err(CheckpointError::NotSetUp);
    }
    let (list, unread) = sessions(project, client)?;
    let stand_in = |one: &ListedSession| TranscriptInfo {
        client: one.client,
        session: one.session.clone(),
        agent_of: None,
        path: one.session.clone().into(),
        bytes: 0,
        changed: None,
        began: None,
        cwd: None,
        first_prompt: None,
    };
    let names = list.iter().map(stand_in).collect();
    let chosen = find_by_id(names, unread, name)?;
    let is_it = |one: &ListedSession| one.session == chosen.session && one.client == chosen.client;
    let mut list = list.into_iter();
    list.find(is_it).ok_or_else(|| CheckpointError::NoSuch(name.to_owned()))
}

/// What was brought in.
#[derive(Debug)]
pub struct RecoveryOutcome {
    /// Sessions that are written down now.
    pub checkpoints: Vec<CheckpointOutcome>,
    /// Sessions that could not be, with why.
    pub failed: Vec<(String, CheckpointError)>,
    /// How many more there are.
    pub remaining: usize,
    /// Sessions that still run.
    pub running: usize,
    /// Sessions of which nobody knows whether they run.
    pub unknown: usize,
    /// Sessions that began before midstride was here, or while it was off, and are not written down.
    pub older: usize,
    /// Since when midstride is here; older sessions are left alone.
    pub since: Timestamp,
    /// Transcripts that could not be read.
    pub unread: Vec<FileError>,
}

/// Writes down sessions that ended and are not written down to their end: the newest few, or all.
pub fn recover(project: &Project, all: bool) -> Result<RecoveryOutcome, CheckpointError> {
    if project.setup() == SetupMode::NotSetUp {
        return Err(CheckpointError::NotSetUp);
    }
    let most = if all { usize::MAX } else { RECOVERED_MAX };
    let ledger = SqliteLedger::open(project, WaitPolicy::Command)?;
    recover_within(
        project,
        &ledger,
        &RecoveryBounds { sessions_max: most, bytes_max: u64::MAX, counts_older: true },
    )
}

/// How much is recovered at once.
pub(in crate::verbs) struct RecoveryBounds {
    /// Maximum sessions.
    pub(in crate::verbs) sessions_max: usize,
    /// Maximum length of a transcript.
    pub(in crate::verbs) bytes_max: u64,
    /// Whether sessions are counted that are older than midstride is here.
    pub(in crate::verbs) counts_older: bool,
}

/// The same within bounds.
pub(in crate::verbs) fn recover_within(
    project: &Project,
    ledger: &SqliteLedger,
    bounds: &RecoveryBounds,
) -> Result<RecoveryOutcome, CheckpointError> {
    let since = installed_since(project)?;
    let UnfinishedSessions { list, older, unread } =
        find_unfinished(project, ledger, since, bounds.counts_older)?;
    let (ended, others): (Vec<ListedSession>, Vec<ListedSession>) =
        list.into_iter().partition(|one| one.life == SessionLiveness::Ended);
    let running = others.iter().filter(|one| one.life == SessionLiveness::Running).count();
    let all = ended.len();
    let is_short = |one: &ListedSession| {
        one.transcript.as_ref().is_some_and(|found| found.bytes <= bounds.bytes_max)
    };
    let ended: Vec<ListedSession> =
        ended.into_iter().take(bounds.sessions_max).filter(is_short).collect();
    let left = all - ended.len();
    let (mut checkpoints, mut failed) = (Vec::new(), Vec::new());
    // A few at once: each turn of the ledger waits for the disk, and all at once would fill memory.
    for some in ended.chunks(APPEND_BATCH) {
        let mut ready = Vec::new();
        for (one, found) in some.iter().filter_map(|one| Some((one, one.transcript.as_ref()?))) {
            match PreparedCheckpoint::capture(project, ledger, found, CheckpointMode::Auto) {
                Ok(one) => ready.push(one),
                Err(error) => failed.push((one.session.clone(), error)),
            }
        }
        append_all(project, ledger, &mut ready)?;
        checkpoints.extend(ready.into_iter().map(|one| one.outcome));
    }
    let unknown = others.len() - running;
    Ok(RecoveryOutcome {
        checkpoints,
        failed,
        remaining: left,
        running,
        unknown,
        older,
        since,
        unread,
    })
}

/// What is not written down to its end.
struct UnfinishedSessions {
    /// Sessions since then, the newest first.
    list: Vec<ListedSession>,
    /// How many there are from before, of which nothing is written down.
    older: usize,
    unread: Vec<FileError>,
}

/// Sessions since then that are not written down to their end, the newest first. A client waits for
/// this at each of its starts: what is written down whole is not opened, and what was last changed
/// before midstride was here neither, unless it is counted.
fn find_unfinished(
    project: &Project,
    ledger: &SqliteLedger,
    since: Timestamp,
    counts_older: bool,
) -> Result<UnfinishedSessions, LedgerError> {
    let mut known = read_ledger_sessions(ledger)?;
    let neighbors = AgentFileCache::default();
    let now = project.environment().clock.now();
    let is_open = |one: &TranscriptCandidate| {
        let told = known.get(&(one.client.name().to_owned(), one.session()));
        let agents_wrote = |told: &LedgerSession| {
            // Most sessions had none, or ended long ago, and a client waits.
            let had_agents = told.agents_bytes.is_some_and(|bytes| bytes > 0);
            let may_write =
                one.entry.changed.is_none_or(|at| now.duration_since(at) < AGENTS_WRITE_FOR);
            let found = (had_agents && may_write)
                .then(|| clients::unread_transcript(&one.path, one.client));
            found.is_some_and(|found| {
                found.is_ok_and(|found| told.agents_wrote(project, &found, &neighbors))
            })
        };
        let is_older = || !counts_older && one.entry.changed.is_some_and(|at| at < since);
        match told {
            Some(told) => told.bytes != one.entry.bytes || agents_wrote(told),
            None => !is_older(),
        }
    };
    let (found, unread) = clients::transcripts_where(project, None, &is_open);
    let lives = LivenessProbe::new(project.environment());
    let off = OffTimes::for_project(project);
    let is_wanted = |began: Timestamp| began >= since && !off.contains(began);
    let (ours, older): (Vec<TranscriptInfo>, Vec<TranscriptInfo>) =
        found.into_iter().partition(|one| one.began.is_some_and(is_wanted));
    let is_told = |one: &TranscriptInfo| {
        known.contains_key(&(one.client.name().to_owned(), one.session.clone()))
    };
    let older = older.iter().filter(|one| !is_told(one)).count();
    let list = ours.into_iter().map(|found| {
        let told = known.remove(&(found.client.name().to_owned(), found.session.clone()));
        list_session(project, found, told, &lives, &neighbors)
    });
    let list = list.filter(|one| one.extent != Extent::Whole).collect();
    Ok(UnfinishedSessions { list, older, unread })
}

/// Since when midstride is here: written down once, by whoever comes first.
pub(in crate::verbs) fn installed_since(project: &Project) -> Result<Timestamp, FileError> {
    let now = project.environment().clock.now();
    let private = project.make_private()?;
    match private.create(Path::new(SINCE_FILE), format!("{now}\n").as_bytes()) {
        Ok(()) => return Ok(now),
        Err(FileError { problem: FileProblem::Exists, .. }) => {}
        Err(error) => return Err(error),
    }
    let text = private.read(Path::new(SINCE_FILE))?;
    Ok(String::from_utf8_lossy(&text).trim().parse().unwrap_or(now))
}
