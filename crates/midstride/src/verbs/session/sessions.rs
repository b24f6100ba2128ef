//! Lists sessions, shows one, and recovers those that ended without being captured.

use crate::clients::capture::agents_bytes;
use crate::clients::hook_switch::OffTimes;
use crate::clients::{
    self, Client, FolderListings, LivenessProbe, SessionLiveness, TranscriptCandidate,
    TranscriptInfo,
};
use crate::store::Store;
use crate::store::ledger::{Ledger as _, LedgerError, ProjectLedger, StreamId};
use crate::store::tombstone::Tombstone;
use crate::sys::files::{FileError, FileProblem, FileStream};
use crate::verbs::session::checkpoint::{
    CheckpointError, CheckpointOutcome, PreparedCheckpoint, append_all, capture_checkpoint,
    find_by_id,
};
use crate::workspace::{SetupMode, Workspace};
use jiff::{SignedDuration, Timestamp};
use midstride_core::session::checkpoint::{Checkpoint, CheckpointMode, SessionSummary};
use midstride_core::text::id::{BlobHash, SessionId};
use midstride_core::work::event::{Envelope, Event, SessionEvent};
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

/// How many past sessions are imported into a project that is new to midstride.
pub const IMPORTED_MAX: usize = 20;
/// How many sessions are recovered at once, unless all are requested.
pub(crate) const RECOVERED_MAX: usize = 3;
/// How many checkpoints are recorded in one transaction.
const APPEND_BATCH: usize = 8;
/// How long agents may keep writing after their session ended.
const AGENTS_WRITE_FOR: SignedDuration = SignedDuration::from_hours(7 * 24);
/// The file that stores when midstride was set up.
const SINCE_FILE: &str = "since";

/// How much of a session is captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Nothing.
    None,
    /// All but its end.
    Part,
    /// All of it.
    Whole,
    /// Nothing anymore: it was deleted, and its transcript did not change since.
    Forgotten,
}

/// A session in a list.
#[derive(Debug)]
pub struct ListedSession {
    /// The client that ran it.
    pub client: &'static dyn Client,
    /// Its id.
    pub session: SessionId,
    /// When it began.
    pub began: Option<Timestamp>,
    /// The time of its last record. Without one, when its transcript was changed.
    pub changed: Option<Timestamp>,
    /// What the user asked first.
    pub about: Option<String>,
    /// Whether it is running.
    pub life: SessionLiveness,
    /// How much of it is captured.
    pub extent: Extent,
    /// The transcript, if it still exists.
    pub transcript: Option<TranscriptInfo>,
    /// The newest checkpoint.
    pub blob: Option<BlobHash>,
}

/// The sessions of a project, newest first, and the files that could not be read.
pub fn sessions(
    store: &Store,
    client: Option<&'static dyn Client>,
) -> Result<(Vec<ListedSession>, Vec<FileError>), LedgerError> {
    let workspace = store.workspace();
    let (found, unread) = clients::transcripts(workspace, client);
    let mut known = match workspace.private()? {
        Some(_) => read_ledger_sessions(store.ledger()?)?,
        None => LedgerSessions::new(),
    };
    let is_any_forgotten = !store.tombstones()?.is_empty();
    let find_tombstone =
        |blob: &BlobHash| is_any_forgotten.then(|| store.tombstone(blob)).flatten();
    let lives = LivenessProbe::new(workspace.environment());
    let listings = FolderListings::default();
    let mut list: Vec<ListedSession> = Vec::new();
    for found in found {
        let recorded = known.remove(&(found.client.name().to_owned(), found.session.clone()));
        let tombstone = recorded.as_ref().and_then(|one| find_tombstone(&one.blob));
        let is_forgotten = tombstone.as_ref().is_some_and(|one| is_forgotten(one, &found));
        let mut listed = list_session(workspace, found, recorded, &lives, &listings);
        if is_forgotten {
            (listed.extent, listed.about) = (Extent::Forgotten, None);
        } else if tombstone.is_some() {
            listed.extent = Extent::None;
        }
        listed.read_transcript();
        list.push(listed);
    }
    for ((name, session), recorded) in known {
        let Some(of) = clients::find(&name).filter(|of| client.is_none_or(|want| want == *of))
        else {
            continue;
        };
        let (extent, about) = match find_tombstone(&recorded.blob).is_some() {
            true => (Extent::Forgotten, None),
            false => (Extent::Whole, recorded.about),
        };
        list.push(ListedSession {
            client: of,
            session,
            began: recorded.began,
            changed: recorded.ended,
            about,
            life: SessionLiveness::Ended,
            extent,
            blob: Some(recorded.blob),
            transcript: None,
        });
    }
    sort_newest_first(&mut list);
    Ok((list, unread))
}

/// Whether a session did nothing since its capture was deleted.
fn is_forgotten(tombstone: &Tombstone, found: &TranscriptInfo) -> bool {
    found.last_record_time().is_none_or(|last| last <= tombstone.forgotten_at)
}

fn sort_newest_first(list: &mut [ListedSession]) {
    list.sort_by(|one, other| (other.changed, &other.session).cmp(&(one.changed, &one.session)));
}

impl ListedSession {
    /// Reads from the transcript what the ledger does not have: the time of the last record, and what
    /// the user asked first.
    fn read_transcript(&mut self) {
        self.date_by_records();
        if self.extent == Extent::None {
            self.about = self.transcript.as_ref().and_then(TranscriptInfo::about);
        }
    }

    /// Sets the time of the last record. A transcript that was copied is newer than its records.
    fn date_by_records(&mut self) {
        let found = self.transcript.as_ref().filter(|_| self.extent != Extent::Whole);
        let last = found.and_then(TranscriptInfo::last_record_time);
        self.changed = last.or(self.changed);
    }
}

fn list_session(
    workspace: &Workspace,
    found: TranscriptInfo,
    recorded: Option<LedgerSession>,
    lives: &LivenessProbe<'_>,
    listings: &FolderListings,
) -> ListedSession {
    let extent = |recorded: &LedgerSession| recorded.extent(workspace, &found, listings);
    let extent = recorded.as_ref().map_or(Extent::None, extent);
    let ended = recorded.as_ref().filter(|_| extent == Extent::Whole).and_then(|one| one.ended);
    let (about, blob) = recorded.map(|one| (one.about, one.blob)).unzip();
    ListedSession {
        client: found.client,
        session: found.session.clone(),
        began: found.began,
        changed: ended.or(found.changed),
        about: about.flatten(),
        life: lives.check(&found),
        extent,
        blob,
        transcript: Some(found),
    }
}

/// What the ledger records about a session.
struct LedgerSession {
    blob: BlobHash,
    bytes: u64,
    /// `None` if they were not counted.
    agents_bytes: Option<u64>,
    began: Option<Timestamp>,
    ended: Option<Timestamp>,
    about: Option<String>,
}

/// The newest checkpoint of each session, by client and id.
type LedgerSessions = BTreeMap<(String, SessionId), LedgerSession>;

fn read_ledger_sessions(ledger: &ProjectLedger) -> Result<LedgerSessions, LedgerError> {
    let mut known = LedgerSessions::new();
    for last in ledger.last_per_stream(StreamId::SESSIONS)? {
        let newest = match newest_checkpoint(&last.events) {
            // The last record is about something else.
            None => newest_checkpoint(
                ledger.read(&last.stream, None)?.iter().flat_map(|one| &one.events),
            ),
            newest => newest,
        };
        known.extend(newest);
    }
    Ok(known)
}

/// A captured session: its id, when it ended, and what the user asked first.
type CapturedName = (String, Option<Timestamp>, Option<String>);

/// The captured sessions by name.
pub(in crate::verbs) fn captured_session_names(
    store: &Store,
) -> Result<Vec<CapturedName>, LedgerError> {
    let Some(ledger) = store.existing_ledger()? else { return Ok(Vec::new()) };
    let known = read_ledger_sessions(ledger)?.into_iter();
    let name = |((_, id), known): ((_, SessionId), LedgerSession)| {
        (id.as_str().to_owned(), known.ended, known.about)
    };
    Ok(known.map(name).collect())
}

/// The newest checkpoint in these events.
fn newest_checkpoint<'e>(
    events: impl IntoIterator<Item = &'e Envelope>,
) -> Option<((String, SessionId), LedgerSession)> {
    let found = events.into_iter().filter_map(|envelope| {
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
        let found = LedgerSession {
            blob: blob.clone(),
            bytes: *bytes,
            agents_bytes: *agents_bytes,
            began: time(began),
            ended: time(ended),
            about: about.clone(),
        };
        Some(((client.clone(), session.clone()), found))
    });
    found.last()
}

impl LedgerSession {
    /// How much of a session the newest checkpoint has. An incomplete last line does not count, and
    /// neither does an emptied transcript.
    fn extent(
        &self,
        workspace: &Workspace,
        found: &TranscriptInfo,
        listings: &FolderListings,
    ) -> Extent {
        const LOOKED_AT: u64 = 64 << 10;
        if self.agents_wrote(workspace, found, listings) {
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

    /// Whether agents wrote anything since. They may continue after their session was captured.
    fn agents_wrote(
        &self,
        workspace: &Workspace,
        found: &TranscriptInfo,
        listings: &FolderListings,
    ) -> bool {
        let Some(bytes) = self.agents_bytes else { return false };
        // With some clients, the session's transcript shows whether it started agents. If they wrote
        // nothing before, skip the check.
        let may_have = !found.client.profile().transcript_names_agents || bytes > 0;
        may_have && bytes != agents_bytes(workspace, found, listings)
    }
}

/// Whether a session did nothing since its last capture. Compares only the sizes of its
/// transcripts, because they only grow.
pub(in crate::verbs) fn is_captured(
    workspace: &Workspace,
    ledger: &ProjectLedger,
    found: &TranscriptInfo,
) -> Result<bool, LedgerError> {
    let stream = StreamId::session(found.client.name(), &found.session);
    let records = ledger.read(&stream, None)?;
    let recorded = newest_checkpoint(records.iter().flat_map(|record| &record.events));
    let Some((_, recorded)) = recorded.filter(|(_, recorded)| recorded.agents_bytes.is_some())
    else {
        return Ok(false);
    };
    // A forgotten checkpoint can be captured again without the secret.
    let is_there = || Ok(Tombstone::find(ledger, &recorded.blob)?.is_none());
    let extent = recorded.extent(workspace, found, &FolderListings::default());
    if extent == Extent::Whole { is_there() } else { Ok(false) }
}

/// A session as it is now, or as last captured.
#[derive(Debug)]
pub struct SessionView {
    /// What it did.
    pub checkpoint: Checkpoint,
    /// Whether exactly this state is stored.
    pub is_stored: bool,
}

/// Summarizes a session from its transcript as it is now.
pub(in crate::verbs) fn summarize_transcript(
    workspace: &Workspace,
    found: &TranscriptInfo,
) -> Result<SessionSummary, CheckpointError> {
    let draft = capture_checkpoint(workspace, found, CheckpointMode::Checkpoint)?;
    Ok(SessionSummary::from_checkpoint(&draft.serialized.checkpoint))
}

/// Reads one session from its transcript, or from its last capture if the transcript is deleted.
pub fn session(
    store: &Store,
    name: &str,
    client: Option<&'static dyn Client>,
) -> Result<SessionView, CheckpointError> {
    let workspace = store.workspace();
    let one = find_session(store, name, client)?;
    match &one.transcript {
        Some(found) => {
            let checkpoint = capture_checkpoint(workspace, found, CheckpointMode::Checkpoint)?
                .serialized
                .checkpoint;
            let stored = one.blob.as_ref().map(|blob| read_checkpoint(store, blob)).transpose()?;
            let is_stored = stored.flatten().is_some_and(|old| old.digest == checkpoint.digest);
            Ok(SessionView { checkpoint, is_stored })
        }
        None => Ok(SessionView { checkpoint: last_checkpoint(store, &one)?.0, is_stored: true }),
    }
}

/// The newest checkpoint of a session, and its blob.
pub(in crate::verbs) fn last_checkpoint(
    store: &Store,
    one: &ListedSession,
) -> Result<(Checkpoint, BlobHash), CheckpointError> {
    let session = one.session.clone();
    let Some(blob) = &one.blob else { return Err(CheckpointError::NoSuch(session.to_string())) };
    if let Some(tombstone) = store.tombstone(blob).map(Box::new) {
        return Err(CheckpointError::Forgotten { session, tombstone });
    }
    let no_such = || CheckpointError::NoSuch(session.to_string());
    let checkpoint = read_checkpoint(store, blob)?.ok_or_else(no_such)?;
    Ok((checkpoint, blob.clone()))
}

/// A session as last captured, for when its transcript is deleted.
pub(in crate::verbs) fn last_captured(
    store: &Store,
    name: &str,
    client: Option<&'static dyn Client>,
) -> Result<CheckpointOutcome, CheckpointError> {
    let (checkpoint, blob) = last_checkpoint(store, &find_session(store, name, client)?)?;
    let (is_new, new_bytes, unread, moved_from) = (false, 0, Vec::new(), None);
    Ok(CheckpointOutcome { checkpoint, blob, is_new, new_bytes, unread, moved_from })
}

pub(in crate::verbs) fn read_checkpoint(
    store: &Store,
    blob: &BlobHash,
) -> Result<Option<Checkpoint>, CheckpointError> {
    let ledger = store.ledger()?;
    Ok(ledger.get_blob(blob)?.and_then(|bytes| Checkpoint::parse(&bytes)))
}

/// Finds a session by id or by an unambiguous prefix.
pub(in crate::verbs) fn find_session(
    store: &Store,
    name: &str,
    client: Option<&'static dyn Client>,
) -> Result<ListedSession, CheckpointError> {
    let workspace = store.workspace();
    if workspace.setup() == SetupMode::NotSetUp {
        return Err(CheckpointError::NotSetUp);
    }
    let (list, unread) = sessions(store, client)?;
    let stand_in = |one: &ListedSession| TranscriptInfo {
        client: one.client,
        session: one.session.clone(),
        agent_of: None,
        path: one.session.as_str().into(),
        bytes: 0,
        changed: None,
        began: None,
        cwd: None,
    };
    let names = list.iter().map(stand_in).collect();
    let chosen = find_by_id(names, unread, name)?;
    let is_it = |one: &ListedSession| one.session == chosen.session && one.client == chosen.client;
    let mut list = list.into_iter();
    list.find(is_it).ok_or_else(|| CheckpointError::NoSuch(name.to_owned()))
}

/// The result of a recovery.
#[derive(Debug)]
pub struct RecoveryOutcome {
    /// The sessions that were captured.
    pub checkpoints: Vec<CheckpointOutcome>,
    /// The sessions that could not be captured, and why.
    pub failed: Vec<(SessionId, CheckpointError)>,
    /// How many are left.
    pub remaining: usize,
    /// Sessions that still run.
    pub running: usize,
    /// Sessions that may still be running.
    pub unknown: usize,
    /// Uncaptured sessions that began before midstride was set up.
    pub older: usize,
    /// Uncaptured sessions that began while midstride was off.
    pub off: usize,
    /// When midstride was set up. Older sessions are not recovered.
    pub since: Timestamp,
    /// Transcripts that could not be read.
    pub unread: Vec<FileError>,
}

/// Captures ended sessions that are not captured to their end: the newest few since midstride was set
/// up, or all, also older ones. `progress` gets how many are done, and of how many.
pub fn recover(
    store: &Store,
    all: bool,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<RecoveryOutcome, CheckpointError> {
    let (sessions_max, older) = match all {
        true => (usize::MAX, OlderSessions::Included),
        false => (RECOVERED_MAX, OlderSessions::Counted),
    };
    recover_here(store, &RecoveryBounds { sessions_max, bytes_max: u64::MAX, older }, progress)
}

/// Captures the newest sessions of a project that was just set up, however old they are.
pub fn import_sessions(
    store: &Store,
    sessions_max: usize,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<RecoveryOutcome, CheckpointError> {
    let older = OlderSessions::Included;
    recover_here(store, &RecoveryBounds { sessions_max, bytes_max: u64::MAX, older }, progress)
}

fn recover_here(
    store: &Store,
    bounds: &RecoveryBounds,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<RecoveryOutcome, CheckpointError> {
    if store.workspace().setup() == SetupMode::NotSetUp {
        return Err(CheckpointError::NotSetUp);
    }
    recover_within(store.workspace(), store.ledger()?, bounds, progress)
}

/// The limits for one recovery.
pub(in crate::verbs) struct RecoveryBounds {
    /// The maximum number of sessions.
    pub(in crate::verbs) sessions_max: usize,
    /// The maximum size of a transcript.
    pub(in crate::verbs) bytes_max: u64,
    /// What happens to sessions from before midstride was set up.
    pub(in crate::verbs) older: OlderSessions,
}

/// What happens to sessions from before midstride was set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::verbs) enum OlderSessions {
    /// Their transcripts are not opened.
    Skipped,
    /// They are counted.
    Counted,
    /// They are captured.
    Included,
}

/// Recovers sessions within these limits.
pub(in crate::verbs) fn recover_within(
    workspace: &Workspace,
    ledger: &ProjectLedger,
    bounds: &RecoveryBounds,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<RecoveryOutcome, CheckpointError> {
    let since = installed_since(workspace)?;
    let UnfinishedSessions { list, older, off, unread } =
        find_unfinished(workspace, ledger, since, bounds.older)?;
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
    let (mut checkpoints, mut failed, mut done) = (Vec::new(), Vec::new(), 0);
    // Batches: each transaction waits for the disk, and all sessions at once would fill the memory.
    for some in ended.chunks(APPEND_BATCH) {
        let mut ready = Vec::new();
        for (one, found) in some.iter().filter_map(|one| Some((one, one.transcript.as_ref()?))) {
            match PreparedCheckpoint::capture(workspace, ledger, found, CheckpointMode::Auto) {
                Ok(one) => ready.push(one),
                Err(error) => failed.push((one.session.clone(), error)),
            }
            done += 1;
            progress(done, ended.len());
        }
        append_all(workspace, ledger, &mut ready)?;
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
        off,
        since,
        unread,
    })
}

/// The sessions that are not captured to their end.
struct UnfinishedSessions {
    /// Sessions since the setup, newest first.
    list: Vec<ListedSession>,
    /// How many uncaptured sessions are older.
    older: usize,
    /// How many uncaptured sessions began while midstride was off.
    off: usize,
    unread: Vec<FileError>,
}

/// Finds the sessions that are not captured to their end, newest first. A client waits for this
/// whenever it starts, so transcripts that are fully captured, or that changed last before the
/// setup, are not opened, except to count them.
fn find_unfinished(
    workspace: &Workspace,
    ledger: &ProjectLedger,
    since: Timestamp,
    older: OlderSessions,
) -> Result<UnfinishedSessions, LedgerError> {
    let mut known = read_ledger_sessions(ledger)?;
    let listings = FolderListings::default();
    let now = workspace.environment().clock.now();
    let is_open = |one: &TranscriptCandidate| {
        let recorded = known.get(&(one.client.name().to_owned(), one.session()));
        let agents_wrote = |recorded: &LedgerSession| {
            // Most sessions had no agents, or ended long ago. Skip them, because a client waits.
            let had_agents = recorded.agents_bytes.is_some_and(|bytes| bytes > 0);
            let may_write =
                one.entry.changed.is_none_or(|at| now.duration_since(at) < AGENTS_WRITE_FOR);
            let found = (had_agents && may_write)
                .then(|| clients::unread_transcript(&one.path, one.client));
            found.is_some_and(|found| {
                found.is_ok_and(|found| recorded.agents_wrote(workspace, &found, &listings))
            })
        };
        let is_older =
            || older == OlderSessions::Skipped && one.entry.changed.is_some_and(|at| at < since);
        match recorded {
            Some(recorded) => recorded.bytes != one.entry.bytes || agents_wrote(recorded),
            None => !is_older(),
        }
    };
    let (found, unread) = clients::transcripts_where(workspace, None, &is_open);
    let lives = LivenessProbe::new(workspace.environment());
    let off = OffTimes::for_project(workspace);
    let is_wanted = |began: Timestamp| {
        (older == OlderSessions::Included || began >= since) && !off.contains(began)
    };
    let (ours, others): (Vec<TranscriptInfo>, Vec<TranscriptInfo>) =
        found.into_iter().partition(|one| one.began.is_some_and(is_wanted));
    let is_recorded = |one: &TranscriptInfo| {
        known.contains_key(&(one.client.name().to_owned(), one.session.clone()))
    };
    let is_off = |one: &&TranscriptInfo| one.began.is_some_and(|began| off.contains(began));
    let others = others.iter().filter(|one| !is_recorded(one));
    let (while_off, before): (Vec<_>, Vec<_>) = others.partition(is_off);
    let (while_off, before) = (while_off.len(), before.len());
    let list = ours.into_iter().map(|found| {
        let recorded = known.remove(&(found.client.name().to_owned(), found.session.clone()));
        list_session(workspace, found, recorded, &lives, &listings)
    });
    let mut list: Vec<ListedSession> = list.filter(|one| one.extent != Extent::Whole).collect();
    // Few sessions get here that were captured before, so this rarely costs anything.
    let mut forgotten = HashSet::new();
    for one in &list {
        let (Some(blob), Some(found)) = (&one.blob, &one.transcript) else { continue };
        if Tombstone::find_any(ledger, blob)?.is_some_and(|one| is_forgotten(&one, found)) {
            forgotten.insert(one.session.clone());
        }
    }
    list.retain(|one| !forgotten.contains(&one.session));
    // Files of past sessions may have been copied, so the newest file is not always the newest
    // session. A client does not wait for this.
    if older == OlderSessions::Included {
        list.iter_mut().for_each(ListedSession::date_by_records);
        sort_newest_first(&mut list);
    }
    Ok(UnfinishedSessions { list, older: before, off: while_off, unread })
}

/// The number of ended sessions in a list that are not captured at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostSessions {
    /// Those since midstride was set up, and those before.
    pub all: usize,
    /// Those before midstride was set up.
    pub older: usize,
}

/// Counts the ended sessions in a list that are not captured at all. Those from while midstride was
/// off do not count.
pub fn lost_sessions(workspace: &Workspace, list: &[ListedSession]) -> LostSessions {
    let is_lost =
        |one: &&ListedSession| one.life == SessionLiveness::Ended && one.extent == Extent::None;
    let off = OffTimes::for_project(workspace);
    let is_off = |one: &&ListedSession| one.began.is_none_or(|began| off.contains(began));
    let all = list.iter().filter(is_lost).filter(|one| !is_off(one)).count();
    let recent = uncaptured_sessions(workspace, list).into_iter().filter(is_lost).count();
    LostSessions { all, older: all - recent }
}

/// The ended sessions in a list that `recover` would capture. Those from before midstride was set up,
/// or from while it was off, do not count.
pub(in crate::verbs) fn uncaptured_sessions<'l>(
    workspace: &Workspace,
    list: &'l [ListedSession],
) -> Vec<&'l ListedSession> {
    let private = workspace.private().ok().flatten();
    let text = private.and_then(|private| private.read(Path::new(SINCE_FILE)).ok());
    let since = text.and_then(|text| String::from_utf8(text).ok()?.trim().parse().ok());
    let Some(since) = since else { return Vec::new() };
    let off = OffTimes::for_project(workspace);
    let is_wanted = |began: Timestamp| began >= since && !off.contains(began);
    let ended = list.iter().filter(|one| one.life == SessionLiveness::Ended);
    let ended = ended.filter(|one| !matches!(one.extent, Extent::Whole | Extent::Forgotten));
    ended.filter(|one| one.began.is_some_and(is_wanted)).collect()
}

/// When midstride was set up. The first call stores the time.
pub(in crate::verbs) fn installed_since(workspace: &Workspace) -> Result<Timestamp, FileError> {
    let now = workspace.environment().clock.now();
    let private = workspace.make_private()?;
    match private.create(Path::new(SINCE_FILE), format!("{now}\n").as_bytes()) {
        Ok(()) => return Ok(now),
        Err(FileError { problem: FileProblem::Exists, .. }) => {}
        Err(error) => return Err(error),
    }
    let text = private.read(Path::new(SINCE_FILE))?;
    Ok(String::from_utf8_lossy(&text).trim().parse().unwrap_or(now))
}
