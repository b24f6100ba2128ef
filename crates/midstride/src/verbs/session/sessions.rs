//! Find sessions, show one, and recover those that ended without being captured.

use crate::clients::capture::agents_length;
use crate::clients::hook_switch::OffTimes;
use crate::clients::{self, Candidate, Found, Life, Lives, Neighbors};
use crate::store::ledger::{Ledger as _, LedgerError, Patience, SqliteLedger, StreamId};
use crate::store::tombstone::Tombstone;
use crate::sys::files::{FileError, Problem, Stream};
use crate::verbs::session::checkpoint::{CheckpointError, Checkpointed, Ready, by_id, take, tell};
use crate::workspace::project::{Project, SetUp};
use jiff::{SignedDuration, Timestamp};
use midstride_core::session::Client;
use midstride_core::session::checkpoint::{Checkpoint, CheckpointMode};
use midstride_core::work::event::{Envelope, Event, SessionEvent};
use std::collections::BTreeMap;
use std::path::Path;

/// So many sessions are brought in at once, unless all are wanted.
pub const RECOVERED_MAX: usize = 3;
/// So many are told to the ledger in one turn.
const TOLD_AT_ONCE: usize = 8;
/// Agents may write on after their session ended, but not longer than this.
const AGENTS_WRITE_FOR: SignedDuration = SignedDuration::from_hours(7 * 24);
/// The file that says since when midstride is here.
const SINCE: &str = "since";

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
pub struct Listed {
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
    pub life: Life,
    /// How much of it is written down.
    pub extent: Extent,
    /// The transcript, while it is there.
    pub found: Option<Found>,
    /// The newest checkpoint.
    pub blob: Option<String>,
}

/// The sessions of a project, the newest first, and what could not be read.
pub fn sessions(
    project: &Project,
    client: Option<Client>,
) -> Result<(Vec<Listed>, Vec<FileError>), LedgerError> {
    let (found, unread) = clients::transcripts(project, client);
    let mut known = match project.private()? {
        Some(_) => known(&SqliteLedger::open(project, Patience::Command)?)?,
        None => Known::new(),
    };
    let lives = Lives::now(project.environment());
    let neighbors = Neighbors::default();
    let mut list: Vec<Listed> = Vec::new();
    for found in found {
        let told = known.remove(&(found.client.name().to_owned(), found.session.clone()));
        list.push(listed(project, found, told, &lives, &neighbors));
    }
    for ((name, session), told) in known {
        let Some(of) = Client::from_name(&name).filter(|of| client.is_none_or(|want| want == *of))
        else {
            continue;
        };
        list.push(Listed {
            client: of,
            session,
            began: told.began,
            changed: told.ended,
            about: told.about,
            life: Life::Ended,
            extent: Extent::Whole,
            blob: Some(told.blob),
            found: None,
        });
    }
    list.sort_by(|one, other| (other.changed, &other.session).cmp(&(one.changed, &one.session)));
    Ok((list, unread))
}

fn listed(
    project: &Project,
    found: Found,
    told: Option<Told>,
    lives: &Lives<'_>,
    neighbors: &Neighbors,
) -> Listed {
    let extent = |told: &Told| told.extent(project, &found, neighbors);
    let extent = told.as_ref().map_or(Extent::None, extent);
    Listed {
        client: found.client,
        session: found.session.clone(),
        began: found.began,
        changed: found.changed,
        about: found.about.clone(),
        life: lives.of(&found),
        extent,
        blob: told.map(|told| told.blob),
        found: Some(found),
    }
}

/// What the ledger tells of a session.
struct Told {
    blob: String,
    bytes: u64,
    /// None: nobody counted them.
    agents_bytes: Option<u64>,
    began: Option<Timestamp>,
    ended: Option<Timestamp>,
    about: Option<String>,
}

/// The newest checkpoint of each session, by client and id.
type Known = BTreeMap<(String, String), Told>;

fn known(ledger: &SqliteLedger) -> Result<Known, LedgerError> {
    let mut known = Known::new();
    for last in ledger.last_below(StreamId::SESSIONS)? {
        let told = match newest(&last.events) {
            // Something else happened to it since.
            None => newest(ledger.read(&last.stream, None)?.iter().flat_map(|one| &one.events)),
            told => told,
        };
        known.extend(told);
    }
    Ok(known)
}

/// The newest checkpoint that events tell of.
fn newest<'e>(events: impl IntoIterator<Item = &'e Envelope>) -> Option<((String, String), Told)> {
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
        let told = Told {
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

impl Told {
    /// How much of a session the newest checkpoint has. Half a line at the end is no more of it, and a
    /// transcript that somebody emptied takes nothing away.
    fn extent(&self, project: &Project, found: &Found, neighbors: &Neighbors) -> Extent {
        const LOOKED_AT: u64 = 64 << 10;
        if self.agents_wrote(project, found, neighbors) {
            return Extent::Part;
        }
        if self.bytes == found.bytes || found.bytes == 0 {
            return Extent::Whole;
        }
        let rest = Stream::open(&found.path)
            .and_then(|mut stream| stream.window(self.bytes, self.bytes + LOOKED_AT));
        match rest {
            Ok(rest) if self.bytes < found.bytes && !rest.contains(&b'\n') => Extent::Whole,
            Ok(_) | Err(_) => Extent::Part,
        }
    }

    /// Whether agents wrote something since: they may go on after their session was written down.
    fn agents_wrote(&self, project: &Project, found: &Found, neighbors: &Neighbors) -> bool {
        let Some(bytes) = self.agents_bytes else { return false };
        // Codex tells in the transcript of a session that it started an agent, and nothing came there.
        let may_have = found.client != Client::Codex || bytes > 0;
        may_have && bytes != agents_length(project, found, neighbors)
    }
}

/// Whether a session did nothing since it was written down last. Nothing of its transcripts is read for
/// that: they only grow, so their lengths tell.
pub(in crate::verbs) fn is_written_down(
    project: &Project,
    ledger: &SqliteLedger,
    found: &Found,
) -> Result<bool, LedgerError> {
    let stream = StreamId::session(found.client.name(), &found.session);
    let records = ledger.read(&stream, None)?;
    let told = newest(records.iter().flat_map(|record| &record.events));
    let Some((_, told)) = told.filter(|(_, told)| told.agents_bytes.is_some()) else {
        return Ok(false);
    };
    // What was forgotten can be written down again without what made it so.
    let is_there = || Ok(Tombstone::of(ledger, &told.blob)?.is_none());
    let extent = told.extent(project, found, &Neighbors::default());
    if extent == Extent::Whole { is_there() } else { Ok(false) }
}

/// A session as it is now, or as it was written down last.
#[derive(Debug)]
pub struct Shown {
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
) -> Result<Shown, CheckpointError> {
    let one = pick(project, name, client)?;
    match &one.found {
        Some(found) => {
            let checkpoint = take(project, found, CheckpointMode::Checkpoint)?.written.checkpoint;
            let stored = one.blob.as_deref().map(|blob| stored(project, blob)).transpose()?;
            let is_stored = stored.flatten().is_some_and(|old| old.digest == checkpoint.digest);
            Ok(Shown { checkpoint, is_stored })
        }
        None => Ok(Shown { checkpoint: last_of(project, &one)?.0, is_stored: true }),
    }
}

/// The newest checkpoint of a session, and where it is.
pub(in crate::verbs) fn last_of(
    project: &Project,
    one: &Listed,
) -> Result<(Checkpoint, String), CheckpointError> {
    let session = one.session.clone();
    let Some(blob) = &one.blob else { return Err(CheckpointError::NoSuch(session)) };
    if let Some(tombstone) = project.tombstone(blob).map(Box::new) {
        return Err(CheckpointError::Forgotten { session, tombstone });
    }
    let checkpoint = stored(project, blob)?.ok_or(CheckpointError::NoSuch(session))?;
    Ok((checkpoint, blob.clone()))
}

/// A session as it was written down last, for when its transcript is gone.
pub(in crate::verbs) fn last_written(
    project: &Project,
    name: &str,
    client: Option<Client>,
) -> Result<Checkpointed, CheckpointError> {
    let (checkpoint, blob) = last_of(project, &pick(project, name, client)?)?;
    let (is_new, new_bytes, unread, moved_from) = (false, 0, Vec::new(), None);
    Ok(Checkpointed { checkpoint, blob, is_new, new_bytes, unread, moved_from })
}

pub(in crate::verbs) fn stored(
    project: &Project,
    blob: &str,
) -> Result<Option<Checkpoint>, CheckpointError> {
    let ledger = SqliteLedger::open(project, Patience::Command)?;
    Ok(ledger.get_blob(blob)?.and_then(|bytes| Checkpoint::parse(&bytes)))
}

/// The session of an id, or of a beginning that no other has.
pub(in crate::verbs) fn pick(
    project: &Project,
    name: &str,
    client: Option<Client>,
) -> Result<Listed, CheckpointError> {
    if project.set_up() == SetUp::Not {
        return Err(CheckpointError::NotSetUp);
    }
    let (list, unread) = sessions(project, client)?;
    let stand_in = |one: &Listed| Found {
        client: one.client,
        session: one.session.clone(),
        agent_of: None,
        path: one.session.clone().into(),
        bytes: 0,
        changed: None,
        began: None,
        cwd: None,
        about: None,
    };
    let names = list.iter().map(stand_in).collect();
    let chosen = by_id(names, unread, name)?;
    let is_it = |one: &Listed| one.session == chosen.session && one.client == chosen.client;
    let mut list = list.into_iter();
    list.find(is_it).ok_or_else(|| CheckpointError::NoSuch(name.to_owned()))
}

/// What was brought in.
#[derive(Debug)]
pub struct Recovered {
    /// Sessions that are written down now.
    pub checkpoints: Vec<Checkpointed>,
    /// Sessions that could not be, with why.
    pub failed: Vec<(String, CheckpointError)>,
    /// How many more there are.
    pub left: usize,
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
pub fn recover(project: &Project, all: bool) -> Result<Recovered, CheckpointError> {
    if project.set_up() == SetUp::Not {
        return Err(CheckpointError::NotSetUp);
    }
    let most = if all { usize::MAX } else { RECOVERED_MAX };
    let ledger = SqliteLedger::open(project, Patience::Command)?;
    recover_some(project, &ledger, &Bounds { most, bytes_max: u64::MAX, counts_older: true })
}

/// How much is recovered at once.
pub(in crate::verbs) struct Bounds {
    /// Maximum sessions.
    pub(in crate::verbs) most: usize,
    /// Maximum length of a transcript.
    pub(in crate::verbs) bytes_max: u64,
    /// Whether sessions are counted that are older than midstride is here.
    pub(in crate::verbs) counts_older: bool,
}

/// The same within bounds.
pub(in crate::verbs) fn recover_some(
    project: &Project,
    ledger: &SqliteLedger,
    bounds: &Bounds,
) -> Result<Recovered, CheckpointError> {
    let since = since(project)?;
    let Unfinished { list, older, unread } =
        unfinished(project, ledger, since, bounds.counts_older)?;
    let (ended, others): (Vec<Listed>, Vec<Listed>) =
        list.into_iter().partition(|one| one.life == Life::Ended);
    let running = others.iter().filter(|one| one.life == Life::Runs).count();
    let all = ended.len();
    let is_short =
        |one: &Listed| one.found.as_ref().is_some_and(|found| found.bytes <= bounds.bytes_max);
    let ended: Vec<Listed> = ended.into_iter().take(bounds.most).filter(is_short).collect();
    let left = all - ended.len();
    let (mut checkpoints, mut failed) = (Vec::new(), Vec::new());
    // A few at once: each turn of the ledger waits for the disk, and all at once would fill memory.
    for some in ended.chunks(TOLD_AT_ONCE) {
        let mut ready = Vec::new();
        for (one, found) in some.iter().filter_map(|one| Some((one, one.found.as_ref()?))) {
            match Ready::of(project, ledger, found, CheckpointMode::Auto) {
                Ok(one) => ready.push(one),
                Err(error) => failed.push((one.session.clone(), error)),
            }
        }
        tell(project, ledger, &mut ready)?;
        checkpoints.extend(ready.into_iter().map(|one| one.done));
    }
    let unknown = others.len() - running;
    Ok(Recovered { checkpoints, failed, left, running, unknown, older, since, unread })
}

/// What is not written down to its end.
struct Unfinished {
    /// Sessions since then, the newest first.
    list: Vec<Listed>,
    /// How many there are from before, of which nothing is written down.
    older: usize,
    unread: Vec<FileError>,
}

/// Sessions since then that are not written down to their end, the newest first. A client waits for
/// this at each of its starts: what is written down whole is not opened, and what was last changed
/// before midstride was here neither, unless it is counted.
fn unfinished(
    project: &Project,
    ledger: &SqliteLedger,
    since: Timestamp,
    counts_older: bool,
) -> Result<Unfinished, LedgerError> {
    let mut known = known(ledger)?;
    let neighbors = Neighbors::default();
    let now = project.environment().clock.now();
    let is_open = |one: &Candidate| {
        let told = known.get(&(one.client.name().to_owned(), one.session()));
        let agents_wrote = |told: &Told| {
            // Most sessions had none, or ended long ago, and a client waits.
            let had_agents = told.agents_bytes.is_some_and(|bytes| bytes > 0);
            let may_write =
                one.entry.changed.is_none_or(|at| now.duration_since(at) < AGENTS_WRITE_FOR);
            let found = (had_agents && may_write).then(|| clients::called(&one.path, one.client));
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
    let (found, unread) = clients::transcripts_that(project, None, &is_open);
    let lives = Lives::now(project.environment());
    let off = OffTimes::of(project);
    let is_wanted = |began: Timestamp| began >= since && !off.has(began);
    let (ours, older): (Vec<Found>, Vec<Found>) =
        found.into_iter().partition(|one| one.began.is_some_and(is_wanted));
    let is_told =
        |one: &Found| known.contains_key(&(one.client.name().to_owned(), one.session.clone()));
    let older = older.iter().filter(|one| !is_told(one)).count();
    let list = ours.into_iter().map(|found| {
        let told = known.remove(&(found.client.name().to_owned(), found.session.clone()));
        listed(project, found, told, &lives, &neighbors)
    });
    let list = list.filter(|one| one.extent != Extent::Whole).collect();
    Ok(Unfinished { list, older, unread })
}

/// Since when midstride is here: written down once, by whoever comes first.
pub(in crate::verbs) fn since(project: &Project) -> Result<Timestamp, FileError> {
    let now = project.environment().clock.now();
    let private = project.make_private()?;
    match private.create(Path::new(SINCE), format!("{now}\n").as_bytes()) {
        Ok(()) => return Ok(now),
        Err(FileError { problem: Problem::Exists, .. }) => {}
        Err(error) => return Err(error),
    }
    let text = private.read(Path::new(SINCE))?;
    Ok(String::from_utf8_lossy(&text).trim().parse().unwrap_or(now))
}
