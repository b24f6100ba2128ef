//! Tell a session what it has to know: of open handoffs, of the session before it, of the tasks and
//! of the mission. Where a client waits no process is started, and nothing is judged anew.

mod upstream;

use super::hook::is_enough;
use super::instructions::read_instructions;
use super::receipts::{ReceiptError, delivered, envelope};
use super::save::InFlight;
use super::search::with_index;
use super::task::{named, read_tasks};
use super::workflow::newest_states;
use crate::client;
use crate::drift::judged_before;
use crate::files::{self, FileError};
use crate::git::{BranchState, Repository};
use crate::ids::sha256;
use crate::index::{Card, Effort, Index, IndexError, Indexing, Limit, OpenOnes, Waits, scan_open};
use crate::ledger::{Ledger as _, LedgerError, Patience, Recorded, SqliteLedger, StreamId};
use crate::note_dates::NoteDates;
use crate::observation::{branch_state, last_observation};
use crate::project::{Project, SetUp, Shelved, Spot};
use crate::settings::SessionName;
use jiff::Timestamp;
use midstride_core::anchor;
use midstride_core::briefing::carry::{self, Carried};
use midstride_core::briefing::points::{
    self, Drifted, KnownHandoff, ProofRun, Telling, headline, in_turn, of_carried,
    of_earlier_commits, of_handoff, of_instructions, of_mission, of_other_sessions, of_others,
    of_session, of_since, of_tasks, of_work_tree, of_workflow, source_of,
};
use midstride_core::briefing::{
    Boot, BootAction, Briefing, Budget, Form, Material, Occasion, Point, Rank, compose,
};
use midstride_core::checkpoint::{Checkpoint, Gist, Highlight, HighlightKind};
use midstride_core::drift::{Judgement, Verdict};
use midstride_core::event::{Delivered, Envelope, Event, ProofEvent, SessionEvent};
use midstride_core::handoff::Handoff;
use midstride_core::header::BootKind;
use midstride_core::hook::{must_survive, without_summary};
use midstride_core::instruction::Instructions;
use midstride_core::mission::{self, Mission};
use midstride_core::session::Client;
use midstride_core::task::{Role, Task, Tasks};
use std::cmp::Reverse;
use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// The tokens that a briefing may cost.
pub const BUDGET: RangeInclusive<u64> = 200..=20_000;
/// So many where nobody said, and no client asks.
const TOKENS: u64 = 2_000;
/// A handoff is told in about so many tokens; what there is no room for is not read.
const TOKENS_PER_HANDOFF: u64 = 250;
const HANDOFFS: RangeInclusive<u64> = 3..=80;
/// So many records of sessions are looked through for the one before.
const RECORDS_LOOKED_AT: usize = 200;
/// So many sessions before that one are named.
const EARLIER_MAX: usize = 10;

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// When, as the client tells; a client that tells waits for the answer.
    pub occasion: Option<Occasion>,
    /// The client that is told.
    pub client: Option<Client>,
    /// The role of whoever is told.
    pub role: Option<String>,
    /// The session that is told, which gets a receipt.
    pub session: Option<SessionName>,
    /// How many tokens it may cost.
    pub tokens: Option<u64>,
    /// The ranks that are told, where it is not all of them.
    pub only: Option<&'static [Rank]>,
    /// Whether the session that goes on has its context still: it knows what it did, and what it was
    /// told. It is told what is new.
    pub has_context: bool,
    /// When such a session was last at work, as far as that was written down: what others did since
    /// is new to it.
    pub since: Option<Timestamp>,
    /// How much of the index may be built for it; no limit where a person waits.
    pub limit: Limit,
    /// What the user asks for, where a prompt is answered.
    pub prompt: Option<String>,
}

/// What a session is told, and what of.
#[derive(Debug)]
pub struct Briefed {
    /// What it is told.
    pub briefing: Briefing,
    /// The handoffs that it is told of.
    pub handoffs: Vec<Delivered>,
    /// How many are open.
    pub open: usize,
    /// How far the index is, if handoffs were not read yet: the briefing is of the newest.
    pub indexing: Option<Indexing>,
    /// Whether the index waits to be finished.
    pub is_index_left: bool,
    /// The session that it is told of.
    pub predecessor: Option<Gist>,
    /// What became of the receipt; none where nobody is named, or nothing was said.
    pub delivery: Option<Result<Delivery, ReceiptError>>,
    /// Why the ledger could not be asked.
    pub trouble: Option<LedgerError>,
    /// What could not be read.
    pub unread: Vec<FileError>,
}

/// What became of a receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// It was written.
    New,
    /// The session was told exactly this before.
    Known,
    /// The ledger was busy; the next command writes it.
    PutAside,
}

/// Tells a session what it has to know. Whoever waits for an index to be made is told how far it is.
pub fn brief(project: &Project, asked: &Asked, progress: &mut dyn FnMut(usize, usize)) -> Briefed {
    brief_with(project, asked, |wanted| Open::find(project, asked, wanted, progress))
}

/// The same without an index, for who must not write one.
pub(super) fn brief_by_reading(project: &Project, asked: &Asked) -> Briefed {
    brief_with(project, asked, |wanted| Open::by_reading(project, asked, wanted))
}

fn brief_with(project: &Project, asked: &Asked, find: impl FnOnce(&Wanted<'_>) -> Open) -> Briefed {
    let tokens = tokens(asked);
    let (work, trouble) = match Work::look(project, asked) {
        Ok(work) => (work, None),
        Err(trouble) => (Work::default(), Some(trouble)),
    };
    let told = (tokens / TOKENS_PER_HANDOFF).clamp(*HANDOFFS.start(), *HANDOFFS.end());
    let wanted = Wanted {
        role: asked.role.as_deref(),
        branch: project.repository().and_then(Repository::branch),
        session: work.gist.as_ref().map(|gist| gist.session.clone()),
        most: usize::try_from(told).unwrap_or(usize::MAX),
        known: Known::of(asked, &work),
        may_ask_git: asked.occasion.is_none(),
    };
    let open = find(&wanted);
    Briefed { trouble, ..composed(project, asked, &wanted, open, work) }
}

/// Tells a session of these handoffs and of nothing else.
pub(super) fn brief_of(project: &Project, asked: &Asked, handoffs: Vec<Shelved>) -> Briefed {
    let wanted = Wanted {
        role: None,
        branch: project.repository().and_then(Repository::branch),
        session: None,
        most: handoffs.len(),
        known: None,
        may_ask_git: false,
    };
    let opened = |shelved| {
        let card = Card::of(project, &shelved);
        Opened { is_dated: card.changed.is_some(), card, judged: None, shelved }
    };
    let best: Vec<Opened> = handoffs.into_iter().map(opened).collect();
    let open = Open { count: best.len(), best, ..Open::default() };
    let (ledger, trouble) = match SqliteLedger::open_existing(project, patience(asked)) {
        Ok(ledger) => (ledger, None),
        Err(trouble) => (None, Some(trouble)),
    };
    let work = Work { ledger, ..Work::default() };
    Briefed { trouble, ..composed(project, asked, &wanted, open, work) }
}

/// Whether a prompt proposes what a handoff rejected.
pub(super) fn is_rejected(project: &Project, prompt: &str, shelved: &Shelved) -> bool {
    let known = KnownHandoff {
        handoff: shelved.handoff(project),
        path: shown(project, shelved),
        dated: None,
        prompt: Some(points::Asked::of(prompt)),
        runs: Vec::new(),
        drifted: Vec::new(),
        judged_at: None,
    };
    of_handoff(&known).1.iter().any(|point| point.what == points::REJECTED)
}

/// Tells a session again what it did itself.
pub(super) fn brief_again(project: &Project, asked: &Asked, gist: &Gist) -> Briefing {
    let wanted = Wanted {
        role: None,
        branch: project.repository().and_then(Repository::branch),
        session: None,
        most: 0,
        known: None,
        may_ask_git: false,
    };
    let work = Work { gist: Some(gist.clone()), is_own: true, ..Work::default() };
    let open = Open::default();
    let material = material(project, asked, &wanted, &open, &work);
    compose(&material, Budget::of(tokens(asked), asked.client))
}

/// The handoffs that a session was told of.
pub(super) fn told_of(
    ledger: &SqliteLedger,
    session: &SessionName,
) -> Result<Vec<Delivered>, LedgerError> {
    let records = ledger.read(&StreamId::receipts(&session.client, &session.id), None)?;
    let events = records.into_iter().flat_map(|record| record.events);
    let told = events.filter_map(|envelope| match envelope.event {
        Event::Session(SessionEvent::Briefed { handoffs, .. }) => Some(handoffs),
        Event::Session(
            SessionEvent::Checkpointed { .. }
            | SessionEvent::Dismissed { .. }
            | SessionEvent::Acknowledged { .. },
        )
        | Event::Handoff(_)
        | Event::Proof(_)
        | Event::Mission(_)
        | Event::Task(_)
        | Event::Text(_)
        | Event::Workflow(_)
        | Event::Instruction(_)
        | Event::Unknown(_) => None,
    });
    Ok(told.flatten().collect())
}

fn tokens(asked: &Asked) -> u64 {
    let usual = || asked.occasion.map_or(TOKENS, Occasion::tokens_max);
    asked.tokens.unwrap_or_else(usual)
}

/// What is told of all that was found, with its receipt.
fn composed(
    project: &Project,
    asked: &Asked,
    wanted: &Wanted<'_>,
    open: Open,
    work: Work,
) -> Briefed {
    let material = material(project, asked, wanted, &open, &work);
    let briefing = compose(&material, Budget::of(tokens(asked), asked.client));
    let is_told = |shelved: &&Shelved| {
        let source = source_of(&shelved.handoff(project), &shown(project, shelved));
        briefing.told.iter().any(|told| told.source == source)
    };
    let told = open.best.iter().map(|one| &one.shelved).filter(is_told);
    let handoffs: Vec<Delivered> = told.map(|shelved| delivered(project, shelved)).collect();
    let mut briefed = Briefed {
        briefing,
        handoffs,
        open: open.count,
        indexing: open.indexing,
        is_index_left: open.is_index_left,
        predecessor: work.gist,
        delivery: None,
        trouble: None,
        unread: open.unread,
    };
    briefed.delivery = deliver(project, asked, &briefed, work.ledger);
    briefed
}

/// A client that tells when it asks does not wait for others.
fn patience(asked: &Asked) -> Patience {
    if asked.occasion.is_some() { Patience::Hook } else { Patience::Command }
}

/// What the ledger tells.
#[derive(Default)]
struct Work {
    ledger: Option<SqliteLedger>,
    gist: Option<Gist>,
    is_own: bool,
    /// What sessions before that one left open, and how much more is only counted.
    carried: (Vec<Carried>, usize),
    /// The sessions with work that left it.
    before: Vec<Gist>,
    /// Other sessions, the latest first: the id of each, and what was asked first.
    earlier: Vec<(String, String)>,
    points: Vec<Point>,
    /// Whether its branch was merged or deleted.
    is_closed: bool,
}

impl Work {
    fn look(project: &Project, asked: &Asked) -> Result<Self, LedgerError> {
        let Some(ledger) = SqliteLedger::open_existing(project, patience(asked))? else {
            return Ok(Self::default());
        };
        let own = asked
            .session
            .as_ref()
            .filter(|_| matches!(asked.occasion, Some(Occasion::Resume | Occasion::Compact)));
        let records = ledger.latest_below(StreamId::SESSIONS, RECORDS_LOOKED_AT)?;
        let mut others = sessions_here(project, &records, asked.session.as_ref());
        let mut own_gist = match own.filter(|_| !asked.has_context) {
            Some(session) => gist_of_session(&ledger, session)?,
            None => None,
        };
        if asked.occasion == Some(Occasion::Compact) {
            own_gist = own_gist.map(|gist| match &gist.summary {
                Some(summary) => without_summary(&gist, summary),
                None => gist,
            });
        }
        if asked.has_context {
            others.retain(|one| one.ended > asked.since);
        }
        let dismissed = dismissed(&records);
        let is_own = own_gist.is_some();
        let branch = project.repository().and_then(Repository::branch);
        for one in &mut others {
            one.is_near = one.branch.is_some() && one.branch == branch.as_deref();
        }
        others.sort_by_cached_key(|one| one.distance(branch.as_deref()));
        let mut sessions: Vec<Gist> = own_gist.into_iter().collect();
        if is_own || own.is_none() || asked.has_context {
            sessions.extend(with_work(&ledger, &mut others, sessions.is_empty())?);
        }
        let tasks = read_tasks(&ledger)?.0;
        for (at, gist) in sessions.iter_mut().enumerate() {
            gist.items
                .retain(|item| !is_told_by_board(&tasks, gist.client, &gist.session, item, at));
        }
        let closed = closed_branches(project, &sessions);
        let is_closed =
            |gist: &Gist| gist.branch.as_ref().is_some_and(|branch| closed.contains(branch));
        let carried = carry::unsettled(
            &sessions,
            |handle| dismissed.contains(handle),
            |gist, _| is_closed(gist),
        );
        let recent: Vec<(Client, String)> = sessions
            .iter()
            .take(carry::SESSIONS_MAX + 1)
            .map(|gist| (gist.client, gist.session.clone()))
            .collect();
        let mut sessions = sessions.into_iter();
        let (gist, before) = (sessions.next(), sessions.collect());
        let is_closed = !is_own && gist.as_ref().is_some_and(is_closed);
        let gist = if is_closed { gist.map(carry::closed) } else { gist };
        let is_here = |one: &Checkpointed<'_>| one.is_here;
        let asked_first = |one: Checkpointed<'_>| (one.name.id, one.about.to_owned());
        let earlier =
            others.into_iter().filter(is_here).take(EARLIER_MAX).map(asked_first).collect();
        let mut points = Vec::new();
        let instructions = read_instructions(&ledger)?;
        if !asked.has_context && asked.occasion != Some(Occasion::Prompt) {
            points.extend(of_instructions(instructions.active(branch.as_deref())));
        }
        let gist = gist.map(|gist| without_recorded(gist, &instructions));
        let records = ledger.read(&StreamId::mission(), None)?;
        let states = mission::states(records.iter().flat_map(|record| &record.events));
        let state = Mission::of(states.last(), &tasks);
        points.extend(state.as_ref().map(of_mission).unwrap_or_default());
        points.extend(of_tasks(&tasks, |task| telling(task, gist.as_ref(), &recent)));
        points.extend(workflows(&ledger)?);
        Ok(Self { ledger: Some(ledger), gist, is_own, carried, before, earlier, points, is_closed })
    }
}

/// A session without the instructions that are recorded apart: these say whether they hold.
fn without_recorded(mut gist: Gist, instructions: &Instructions) -> Gist {
    let is_recorded = |item: &Highlight| {
        item.kind == HighlightKind::Instruction
            && instructions.iter().any(|one| one.text.trim() == item.text.trim())
    };
    gist.items.retain(|item| !is_recorded(item));
    gist
}

/// Where a task is told: with the session that is briefed, or here. Of the lists of earlier sessions, what
/// was left on the oldest is only counted.
fn telling(task: &Task, gist: Option<&Gist>, recent: &[(Client, String)]) -> Telling {
    let is_of = |client: Client, session: &str| task.is_listed_by(client.name(), session);
    if gist.is_some_and(|gist| is_of(gist.client, &gist.session)) {
        return Telling::WithSession;
    }
    let is_recent = || recent.iter().any(|(client, session)| is_of(*client, session));
    if task.captured.is_empty() || is_recent() { Telling::Here } else { Telling::Counted }
}

/// The workflow states that were saved last.
fn workflows(ledger: &SqliteLedger) -> Result<Vec<Point>, LedgerError> {
    /// Older ones are listed by `midstride state`.
    const TOLD_MAX: usize = 3;
    /// A longer state is only named.
    const BYTES_MAX: u64 = 64 << 10;
    let mut states = newest_states(ledger)?;
    states.sort_by_key(|(state, _)| Reverse(state.at));
    let mut points = Vec::new();
    for (kept, number) in states.into_iter().take(TOLD_MAX) {
        let blob = match kept.bytes <= BYTES_MAX {
            true => ledger.get_blob(&kept.blob)?,
            false => None,
        };
        let state = blob.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        points.push(of_workflow(&kept, number, state.as_ref()));
    }
    Ok(points)
}

/// Whether the tasks of the project tell of a task of a session: it is over, or the session is not the
/// first one, which tells its own.
fn is_told_by_board(
    tasks: &Tasks,
    client: Client,
    session: &str,
    item: &Highlight,
    at: usize,
) -> bool {
    let is_told = |task: &Task| at > 0 || !task.status.is_open() || task.role() != Role::Work;
    let known = || tasks.on_list(client.name(), session, &item.text);
    item.kind == HighlightKind::Task && known().is_some_and(is_told)
}

/// The agents of the session that would be briefed that have not come back.
pub fn agents_in_flight(project: &Project) -> Result<Vec<InFlight>, LedgerError> {
    let gist = Work::look(project, &Asked::default())?.gist;
    let items = gist.into_iter().flat_map(|gist| gist.items);
    let agents = items.filter(|item| item.kind == HighlightKind::Agent);
    let about = |text: String| (!text.trim().is_empty()).then_some(text);
    Ok(agents.map(|item| InFlight { id: item.detail, about: about(item.text) }).collect())
}

/// What earlier sessions left open and a briefing carries over, the newest first.
pub fn carried(project: &Project) -> Result<Vec<Carried>, LedgerError> {
    Ok(Work::look(project, &Asked::default())?.carried.0)
}

/// The handles of what was dismissed.
fn dismissed(records: &[Recorded]) -> HashSet<String> {
    let events = records.iter().flat_map(|record| &record.events);
    let handles = events.filter_map(|envelope| {
        let Event::Session(SessionEvent::Dismissed { handle, .. }) = &envelope.event else {
            return None;
        };
        Some(handle.clone())
    });
    handles.collect()
}

/// What a record of a session says about a checkpoint.
struct Checkpointed<'r> {
    name: SessionName,
    blob: &'r str,
    gist: Option<&'r str>,
    folder: Option<&'r str>,
    about: &'r str,
    ended: Option<Timestamp>,
    branch: Option<&'r str>,
    worked: Option<bool>,
    open: Option<u64>,
    /// Whether it worked in this working tree.
    is_here: bool,
    /// Whether it worked on the branch that is checked out here.
    is_near: bool,
}

impl Checkpointed<'_> {
    /// How near its work is to what is checked out now: this branch here, this branch in another
    /// working tree, another branch here, the rest. An older capture does not name its branch.
    fn distance(&self, branch: Option<&str>) -> u8 {
        let is_branch = self.branch.is_none() || branch.is_none() || self.branch == branch;
        match (is_branch, self.is_here) {
            (true, true) => 0,
            (true, false) => 1,
            (false, true) => 2,
            (false, false) => 3,
        }
    }
}

/// The session that is briefed, where `one` is wanted: the nearest that did work, or the nearest. It is
/// taken out of the list. Behind it come those that left something open, and those that may have
/// settled it since.
fn with_work(
    ledger: &SqliteLedger,
    others: &mut Vec<Checkpointed<'_>>,
    one: bool,
) -> Result<Vec<Gist>, LedgerError> {
    /// More sessions are not read; they are only named.
    const READ_MAX: usize = 12;
    // Work on another branch in another working tree is only named.
    let mut near = others.iter().take_while(|other| other.is_here || other.is_near).count();
    let mut found: Vec<Gist> = Vec::new();
    if one && let Some((at, gist)) = first_with_work(ledger, &others[..near], READ_MAX)? {
        others.remove(at);
        near -= 1;
        found.push(gist);
    }
    // Every session since the oldest open item may have settled it.
    let left_open = others[..near].iter().filter(|other| other.open != Some(0)).take(READ_MAX);
    let Some(oldest) = left_open.map(|other| other.ended).min() else { return Ok(found) };
    let since = others[..near].iter().filter(|other| other.ended >= oldest);
    let (open, settling): (Vec<_>, Vec<_>) = since.partition(|other| other.open != Some(0));
    for other in open.into_iter().chain(settling.into_iter().take(READ_MAX)) {
        found.extend(gist(ledger, other)?);
    }
    Ok(found)
}

/// The first session that did work, or the first one of this working tree where none did.
fn first_with_work(
    ledger: &SqliteLedger,
    others: &[Checkpointed<'_>],
    read_max: usize,
) -> Result<Option<(usize, Gist)>, LedgerError> {
    let may_work = others.iter().enumerate().filter(|(_, other)| other.worked != Some(false));
    for (at, other) in may_work.take(read_max) {
        if let Some(gist) = gist(ledger, other)?.filter(|gist| gist.worked) {
            return Ok(Some((at, gist)));
        }
    }
    let first = others.first().filter(|first| first.is_here);
    Ok(first.map(|first| gist(ledger, first)).transpose()?.flatten().map(|gist| (0, gist)))
}

/// The branches of these sessions that were merged or deleted: what was left open there is closed.
fn closed_branches(project: &Project, sessions: &[Gist]) -> HashSet<String> {
    let Some(repository) = project.repository() else { return HashSet::new() };
    let here = repository.branch();
    let branches = sessions.iter().filter_map(|gist| gist.branch.clone());
    let mut branches: HashSet<String> =
        branches.filter(|branch| Some(branch) != here.as_ref()).collect();
    if branches.is_empty() {
        return branches;
    }
    let observed = last_observation(project);
    branches.retain(|branch| {
        let state = branch_state(repository, branch, observed.as_ref());
        matches!(state, Some(BranchState::Merged(_) | BranchState::Deleted))
    });
    branches
}

fn checkpoints(records: &[Recorded]) -> impl DoubleEndedIterator<Item = Checkpointed<'_>> {
    let events = records.iter().flat_map(|record| &record.events);
    events.filter_map(|envelope| {
        let Event::Session(SessionEvent::Checkpointed {
            client,
            session,
            blob,
            gist,
            folder,
            about,
            ended,
            branch,
            worked,
            open,
            ..
        }) = &envelope.event
        else {
            return None;
        };
        Some(Checkpointed {
            name: SessionName { client: client.clone(), id: session.clone() },
            blob,
            gist: gist.as_deref(),
            folder: folder.as_deref(),
            about: about.as_deref().unwrap_or("nothing was asked"),
            ended: ended.as_deref().and_then(|time| time.parse().ok()),
            branch: branch.as_deref(),
            worked: *worked,
            open: *open,
            is_here: true,
            is_near: false,
        })
    })
}

/// What a session itself did before its context was replaced.
pub(super) fn gist_of_session(
    ledger: &SqliteLedger,
    session: &SessionName,
) -> Result<Option<Gist>, LedgerError> {
    let records = ledger.read(&StreamId::session(&session.client, &session.id), None)?;
    let last = checkpoints(&records).next_back();
    last.map_or(Ok(None), |last| gist(ledger, &last))
}

/// The other sessions of this repository, the latest first, each once, with whether they worked in this
/// working tree.
fn sessions_here<'r>(
    project: &Project,
    records: &'r [Recorded],
    session: Option<&SessionName>,
) -> Vec<Checkpointed<'r>> {
    let top = files::real(project.root().path());
    // A working tree may lie inside another.
    let inner =
        client::tops(project).into_iter().filter(|one| *one != top && one.starts_with(&top));
    let inner: Vec<PathBuf> = inner.collect();
    // A folder that is gone was this one before it was moved, as far as anybody can tell.
    let is_here = |folder: &str| {
        let folder = files::real(Path::new(folder));
        let is_in = |top: &PathBuf| folder.starts_with(top);
        (is_in(&top) && !inner.iter().any(is_in)) || !files::exists(&folder)
    };
    let others = checkpoints(records).filter(|one| Some(&one.name) != session);
    let others = others.map(|one| Checkpointed { is_here: one.folder.is_none_or(is_here), ..one });
    let mut others: Vec<Checkpointed<'_>> = others.collect();
    // The latest record of a session comes first, and stays there.
    others.sort_by_key(|one| Reverse(one.ended));
    let mut seen = HashSet::new();
    others.retain(|one| seen.insert((one.name.client.clone(), one.name.id.clone())));
    others
}

/// The captured sessions of this repository, the latest first, each once.
pub(super) fn latest_gists(
    ledger: &SqliteLedger,
    mut is_wanted: impl FnMut(Gist) -> bool,
) -> Result<(), LedgerError> {
    let records = ledger.latest_below(StreamId::SESSIONS, RECORDS_LOOKED_AT)?;
    let mut sessions: Vec<Checkpointed<'_>> = checkpoints(&records).collect();
    sessions.sort_by_key(|one| Reverse(one.ended));
    let mut seen = HashSet::new();
    for one in sessions {
        let is_new = seen.insert((one.name.client.clone(), one.name.id.clone()));
        let read = if is_new { gist(ledger, &one)? } else { None };
        if read.is_some_and(|gist| !is_wanted(gist)) {
            break;
        }
    }
    Ok(())
}

/// What was kept to be told; where that is missing or older than the checkpoint can tell, the
/// checkpoint tells.
fn gist(ledger: &SqliteLedger, one: &Checkpointed<'_>) -> Result<Option<Gist>, LedgerError> {
    let kept = one.gist.map(|hash| ledger.get_blob(hash)).transpose()?.flatten();
    let kept = kept.and_then(|bytes| Gist::read(&bytes));
    if kept.as_ref().is_some_and(Gist::is_current) {
        return Ok(kept);
    }
    let whole = ledger.get_blob(one.blob)?.and_then(|bytes| Checkpoint::read(&bytes));
    Ok(whole.as_ref().map(Gist::of).or(kept))
}

/// Which open handoffs come first.
struct Wanted<'a> {
    role: Option<&'a str>,
    branch: Option<String>,
    /// The session whose own handoff comes before all others.
    session: Option<String>,
    /// How many are told of.
    most: usize,
    /// What is left out, where somebody has its context still.
    known: Option<Known>,
    /// Whether git may be started: no client waits.
    may_ask_git: bool,
}

/// What a session knows that has its context still: its own handoffs, and those that it was told of.
struct Known {
    session: String,
    told: Vec<Delivered>,
}

impl Known {
    /// Where the ledger cannot tell, all of it is told once more.
    fn of(asked: &Asked, work: &Work) -> Option<Self> {
        let session = asked.session.as_ref().filter(|_| asked.has_context)?;
        let told = told_of(work.ledger.as_ref()?, session).ok()?;
        Some(Self { session: session.id.clone(), told })
    }

    fn is_own(&self, card: &Card) -> bool {
        card.waits.as_ref().is_some_and(|waits| waits.session.as_ref() == Some(&self.session))
    }
}

/// How well a handoff fits: what is smaller comes first.
type Fit = (bool, bool, bool, u8, bool, Reverse<Option<i64>>, PathBuf);

/// So many notes that are not briefed are named; the others are counted.
const OTHER_NOTES_MAX: usize = 10;

impl Wanted<'_> {
    fn fit(&self, project: &Project, spot: &Spot, card: &Card, is_sure: bool) -> Fit {
        let nobody = Waits::default();
        let waits = card.waits.as_ref().unwrap_or(&nobody);
        let is_role = |role: &str| waits.to.iter().any(|to| to.eq_ignore_ascii_case(role));
        let branch = match (&waits.branch, &self.branch) {
            (Some(theirs), Some(ours)) if theirs == ours => 0,
            (None, _) => 1,
            (Some(_), _) => 2,
        };
        (
            spot.is_archived(),
            waits.session.is_none() || waits.session != self.session,
            !self.role.is_some_and(is_role),
            branch,
            // A file that says nothing about its age may be older than it looks.
            waits.is_note && !is_sure,
            Reverse(card.changed),
            project.shown(spot),
        )
    }
}

/// The open handoffs: how many, those that are told of, and the names of the others.
#[derive(Default)]
struct Open {
    count: usize,
    best: Vec<Opened>,
    others: Vec<String>,
    /// The sessions that left one.
    sessions: HashSet<String>,
    unread: Vec<FileError>,
    indexing: Option<Indexing>,
    is_index_left: bool,
}

struct Opened {
    shelved: Shelved,
    card: Card,
    /// Whether a note is as old as its card says: a file may look new because it was copied.
    is_dated: bool,
    judged: Option<(Option<String>, Vec<Judgement>)>,
}

impl Open {
    fn find(
        project: &Project,
        asked: &Asked,
        wanted: &Wanted<'_>,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Self {
        let ask = |index: &mut Index| Self::by_index(project, asked, index, wanted, progress);
        let patience = if asked.limit.is_set() { Patience::Hook } else { Patience::Command };
        let found = with_index(project, patience, ask);
        found.unwrap_or_else(|| Self::by_reading(project, asked, wanted))
    }

    fn by_index(
        project: &Project,
        asked: &Asked,
        index: &mut Index,
        wanted: &Wanted<'_>,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Self, IndexError> {
        let freshness = index.refresh(project, Effort::Open, asked.limit, progress)?;
        let cards = index.open_ones(project)?;
        let open = Self::best_of(project, wanted, cards, Some(index), freshness.unread);
        let (indexing, is_index_left) = (freshness.indexing, freshness.is_cut_short);
        Ok(Self { indexing, is_index_left, ..open })
    }

    /// The same by reading every document; what was judged before is not known then.
    fn by_reading(project: &Project, asked: &Asked, wanted: &Wanted<'_>) -> Self {
        let OpenOnes { cards, unread, indexing } = scan_open(project, asked.limit);
        let open = Self::best_of(project, wanted, cards, None, unread);
        Self { indexing, is_index_left: indexing.is_some(), ..open }
    }

    fn best_of(
        project: &Project,
        wanted: &Wanted<'_>,
        mut cards: Vec<(Spot, Card)>,
        index: Option<&Index>,
        unread: Vec<FileError>,
    ) -> Self {
        let unsure = date_notes(project, wanted, &mut cards);
        cards.sort_by_cached_key(|(spot, card)| {
            wanted.fit(project, spot, card, !unsure.contains(spot))
        });
        let count = cards.len();
        let session = |(_, card): &(Spot, Card)| card.waits.as_ref()?.session.clone();
        let sessions = cards.iter().filter_map(session).collect();
        let is_known = |shelved: &Shelved| {
            let known = wanted.known.as_ref();
            known.is_some_and(|known| known.told.contains(&delivered(project, shelved)))
        };
        cards.retain(|(_, card)| !wanted.known.as_ref().is_some_and(|known| known.is_own(card)));
        let mut cards = cards.into_iter();
        // No more are read than are told of and were told of before.
        let best = cards.by_ref().filter_map(|(spot, card)| {
            let shelved = project.read(&spot).ok().filter(|shelved| !is_known(shelved))?;
            let judged = index.and_then(|index| judged_before(project, index, &shelved));
            Some(Opened { is_dated: !unsure.contains(&spot), shelved, card, judged })
        });
        let best = best.take(wanted.most).collect();
        let name = |(spot, _): (Spot, Card)| project.shown(&spot).display().to_string();
        let (notes, others): (Vec<_>, Vec<_>) =
            cards.partition(|(_, card)| card.waits.as_ref().is_some_and(|waits| waits.is_note));
        let others = others.into_iter().chain(notes.into_iter().take(OTHER_NOTES_MAX));
        let others = others.map(|card| project.clean(&name(card)).0.as_str().to_owned()).collect();
        Self { count, best, others, sessions, unread, ..Self::default() }
    }
}

/// Gives notes that do not say when they were written the date of their last change, and says which
/// of these dates come from the file alone.
fn date_notes(project: &Project, wanted: &Wanted<'_>, cards: &mut [(Spot, Card)]) -> HashSet<Spot> {
    let is_note = |card: &Card| card.waits.as_ref().is_some_and(|waits| waits.is_note);
    let is_undated = |card: &Card| card.changed.is_none() && is_note(card);
    let undated = cards.iter().filter(|(_, card)| is_undated(card));
    let undated: Vec<&Spot> = undated.map(|(spot, _)| spot).collect();
    if undated.is_empty() {
        return HashSet::new();
    }
    let mut dates = NoteDates::read(project);
    if wanted.may_ask_git {
        dates.ask(project, &undated);
    }
    let mut unsure = HashSet::new();
    for (spot, card) in cards.iter_mut().filter(|(_, card)| is_undated(card)) {
        let Some(dated) = dates.of(project, spot) else { continue };
        card.changed = Some(dated.second);
        if !dated.is_sure {
            unsure.insert(spot.clone());
        }
    }
    unsure
}

/// Everything there is to tell. Whoever worked last comes first; a session that left a handoff is
/// told through it.
fn material(
    project: &Project,
    asked: &Asked,
    wanted: &Wanted<'_>,
    open: &Open,
    work: &Work,
) -> Material {
    let mut boot = Vec::new();
    let mut sources = Vec::new();
    let mut briefed: HashSet<PathBuf> =
        open.best.iter().map(|one| one.shelved.path.clone()).collect();
    for one in &open.best {
        let (first, mut told) = of_opened(project, asked, work.ledger.as_ref(), one);
        let theirs = one.card.waits.as_ref().and_then(|waits| waits.branch.as_ref());
        mark_other_branch(&mut told, theirs, wanted, false);
        boot.extend(first);
        told.extend(upstream::of_builds_on(project, &one.shelved, &mut briefed));
        told.extend(unexplained(project, work, one).unwrap_or_default());
        sources.push(told);
    }
    let mut points = Vec::new();
    let before = work.gist.as_ref().map(|gist| {
        let mut told = of_session(gist);
        // A session that goes on has not ended.
        told.retain(|point| !work.is_own || point.rank != Rank::Source);
        // What its author wrote down is better than what is derived; facts stand beside it.
        let is_written = |one: &Opened| {
            let session = one.card.waits.as_ref().and_then(|waits| waits.session.as_ref());
            session == Some(&gist.session) && is_enough(&one.shelved)
        };
        if !work.is_own && open.best.iter().any(is_written) {
            told.retain(|point| point.form == Form::Line && point.rank <= Rank::Failure);
        }
        mark_other_branch(&mut told, gist.branch.as_ref(), wanted, work.is_closed);
        told
    });
    match (before, is_session_first(work, open)) {
        // Who goes on itself needs all of it.
        (Some(before), true) if work.is_own => points = before,
        (Some(before), true) => sources.insert(0, before),
        (Some(before), false) => sources.push(before),
        (None, _) => {}
    }
    points.extend(in_turn(sources));
    points.extend(of_repository(project, asked, work));
    points.extend(of_carried(&work.carried.0, work.carried.1));
    points.extend(work.points.iter().cloned());
    let has_handoff = |id: &String| open.sessions.contains(id);
    let earlier: Vec<(String, String)> =
        work.earlier.iter().filter(|(id, _)| !has_handoff(id)).cloned().collect();
    points.extend(of_other_sessions(&earlier));
    points.extend(of_others(open.others.iter().cloned()));
    if let Some(only) = asked.only {
        points.retain(|point| only.contains(&point.rank));
        let is_constraint = |one: &Boot| matches!(one.action, BootAction::Constraint(_));
        boot.retain(|one| is_constraint(one) && only.contains(&Rank::Constraint));
    }
    let most = BUDGET.end().to_string();
    Material {
        client: asked.client,
        occasion: asked.occasion.unwrap_or(Occasion::Startup),
        role: asked.role.clone(),
        branch: wanted.branch.as_deref().map(|name| project.clean(name).0.as_str().to_owned()),
        boot,
        points,
        unread: open.indexing.map_or(0, |indexing| indexing.documents - indexing.read),
        show_all: ["midstride", "brief", "--budget", &most].map(str::to_owned).to_vec(),
        headline: work.gist.as_ref().map(headline),
    }
}

/// What is uncommitted, as git said last, and what came to this branch since the session. An agent that
/// is started sees the same tree as its session.
fn of_repository(project: &Project, asked: &Asked, work: &Work) -> Vec<Point> {
    let is_wanted = asked.only.is_none() && asked.occasion != Some(Occasion::Prompt);
    let Some(gist) = work.gist.as_ref().filter(|_| is_wanted) else { return Vec::new() };
    let Some(observation) = last_observation(project) else { return Vec::new() };
    let mut points = of_work_tree(&observation.work_tree);
    points.extend(of_since(&observation, gist).filter(|_| !work.is_own));
    points.extend(of_earlier_commits(&observation, &work.before));
    for point in &mut points {
        point.text = project.clean(&point.text).0.as_str().to_owned();
    }
    points
}

/// What a session did that its handoff may not tell: it did not pass the gate. Where the session
/// itself is told there is no need.
fn unexplained(project: &Project, work: &Work, one: &Opened) -> Option<Vec<Point>> {
    let ledger = work.ledger.as_ref().filter(|_| !is_enough(&one.shelved))?;
    let handoff = one.shelved.handoff(project);
    let said = |path: &str| Some(handoff.node(path)?.text()?.value.trim());
    let name = SessionName::of(said("state.recovery.client")?, said("state.recovery.session")?)?;
    if work.gist.as_ref().is_some_and(|gist| gist.session == name.id) {
        return None;
    }
    // A ledger that cannot be read was told of when it was opened.
    let gist = gist_of_session(ledger, &name).ok()??;
    Some(of_session(&must_survive(&gist)?))
}

/// Says where the work stands that it stands on another branch than the one that is checked out.
fn mark_other_branch(
    points: &mut [Point],
    theirs: Option<&String>,
    wanted: &Wanted<'_>,
    is_closed: bool,
) {
    let other_branch = match is_closed {
        true => "on a branch that was merged or deleted",
        false => "on another branch",
    };
    if theirs.is_none() || wanted.branch.is_none() || theirs == wanted.branch.as_ref() {
        return;
    }
    if let Some(point) = points.iter_mut().find(|point| point.rank == Rank::Source) {
        point.text.push_str(", ");
        point.text.push_str(other_branch);
        return;
    }
    if let Some(point) = points.iter_mut().find(|point| point.rank >= Rank::Standing) {
        point.remark = Some(match point.remark.take() {
            Some(remark) => format!("{remark}, {other_branch}"),
            None => other_branch.to_owned(),
        });
    }
}

/// Whether what a session did comes before what handoffs say.
fn is_session_first(work: &Work, open: &Open) -> bool {
    let Some(gist) = &work.gist else { return false };
    let first = open.best.first();
    let left = first.and_then(|one| one.card.waits.as_ref()?.session.as_ref());
    if left == Some(&gist.session) {
        return false;
    }
    let changed = first.and_then(|one| one.card.changed);
    work.is_own || gist.ended.map(Timestamp::as_second) > changed
}

/// What is told of one handoff, without secrets: nobody may have written it through midstride.
fn of_opened(
    project: &Project,
    asked: &Asked,
    ledger: Option<&SqliteLedger>,
    one: &Opened,
) -> (Vec<Boot>, Vec<Point>) {
    let shelved = &one.shelved;
    // Anchors are for programs.
    let plain = anchor::without(&shelved.document);
    let document = plain.as_ref().unwrap_or(&shelved.document);
    let handoff = Handoff::of(document, &shelved.whereabouts, &project.settings().stages);
    let (judged_at, judged) =
        one.judged.as_ref().map_or((None, &[][..]), |(at, judged)| (at.clone(), judged.as_slice()));
    let known = KnownHandoff {
        runs: runs(ledger, &handoff),
        path: shown(project, shelved),
        dated: one.card.changed.filter(|_| one.is_dated).and_then(second),
        prompt: asked.prompt.as_deref().map(points::Asked::of),
        handoff,
        drifted: judged.iter().filter_map(drifted).collect(),
        judged_at,
    };
    let clean = |text: &mut String| *text = project.clean(text).0.as_str().to_owned();
    let (mut boot, mut points) = of_handoff(&known);
    boot.retain(|Boot { action, .. }| match action {
        // What is gone, or leads out of the project, is not to be read.
        BootAction::Read(path) => {
            let is_path = BootKind::Read.refusal(path).is_none();
            !is_path || project.root().has_file(Path::new(path.trim()))
        }
        BootAction::Skill(_) | BootAction::Tasks(_) | BootAction::Constraint(_) => true,
    });
    for point in &mut points {
        clean(&mut point.text);
    }
    for Boot { action, .. } in &mut boot {
        match action {
            BootAction::Skill(text) | BootAction::Read(text) | BootAction::Constraint(text) => {
                clean(text);
            }
            BootAction::Tasks(texts) => texts.iter_mut().for_each(clean),
        }
    }
    (boot, points)
}

fn second(second: i64) -> Option<Timestamp> {
    Timestamp::from_second(second).ok()
}

/// The path of a document as it is quoted: a name may hold a secret too.
fn shown(project: &Project, shelved: &Shelved) -> String {
    project.clean(&shelved.path.display().to_string()).0.as_str().to_owned()
}

/// How the proofs of a handoff ran, as the ledger tells.
fn runs(ledger: Option<&SqliteLedger>, handoff: &Handoff<'_>) -> Vec<ProofRun> {
    let uid = handoff.uid().map(|uid| uid.value.trim()).filter(|_| !handoff.proofs().is_empty());
    let (Some(ledger), Some(uid)) = (ledger, uid) else { return Vec::new() };
    let records = ledger.read(&StreamId::handoff(uid), None).unwrap_or_default();
    let run = |envelope: &Envelope| {
        let Event::Proof(ProofEvent::Ran { number, command, outcome, commit, .. }) =
            &envelope.event
        else {
            return None;
        };
        Some(ProofRun {
            number: *number,
            command: command.clone(),
            outcome: outcome.clone(),
            at: envelope.time,
            commit: commit.clone(),
        })
    };
    let mut runs: Vec<ProofRun> =
        records.iter().flat_map(|record| &record.events).filter_map(run).collect();
    runs.sort_by_key(|run| run.at);
    runs
}

/// A place that is not as it was, if it is one.
fn drifted(judged: &Judgement) -> Option<Drifted> {
    let has_drifted = match judged.verdict {
        Verdict::Moved | Verdict::Changed | Verdict::Renamed | Verdict::Deleted => true,
        Verdict::Intact | Verdict::NeverThere | Verdict::NotJudged => false,
    };
    let place = judged.place.value.clone();
    let now = judged.now.as_ref().map(ToString::to_string).filter(|now| *now != place);
    has_drifted.then_some(Drifted { place, verdict: judged.verdict, now })
}

/// Writes down that a session was told, once for each text.
fn deliver(
    project: &Project,
    asked: &Asked,
    briefed: &Briefed,
    ledger: Option<SqliteLedger>,
) -> Option<Result<Delivery, ReceiptError>> {
    let session = asked.session.as_ref()?;
    if project.set_up() == SetUp::Not || briefed.briefing.text.is_empty() {
        return None;
    }
    let tell = || -> Result<Delivery, ReceiptError> {
        let digest = sha256(briefed.briefing.text.as_bytes());
        let id = named(&[&session.client, &session.id, "briefed", &digest]);
        let event = SessionEvent::Briefed {
            client: session.client.clone(),
            session: session.id.clone(),
            source: asked.occasion.map(|occasion| occasion.name().to_owned()),
            handoffs: briefed.handoffs.clone(),
            checkpoint: briefed.predecessor.as_ref().map(|gist| gist.digest.clone()),
            digest,
            tokens: briefed.briefing.tokens,
        };
        let stream = StreamId::receipts(&session.client, &session.id);
        let events = vec![envelope(project, id, event)];
        let told = match (ledger, patience(asked)) {
            (Some(ledger), _) => ledger.unite_or_put_aside(&stream, events),
            (None, Patience::Hook) => SqliteLedger::tell_or_put_aside(project, &stream, events),
            (None, Patience::Command) => {
                SqliteLedger::open(project, Patience::Command)?.unite_or_put_aside(&stream, events)
            }
        };
        Ok(match told? {
            Some(0) => Delivery::Known,
            Some(_) => Delivery::New,
            None => Delivery::PutAside,
        })
    };
    Some(tell())
}
