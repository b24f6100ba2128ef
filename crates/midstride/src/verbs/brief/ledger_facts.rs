//! Reads what the ledger knows about earlier work: the session to brief on, what others left open,
//! tasks and standing instructions.

use super::BriefRequest;
use crate::clients;
use crate::store::Store;
use crate::store::ledger::{
    Ledger as _, LedgerError, LedgerRecord, LocalLedger as _, ProjectLedger, StreamId, WaitPolicy,
};
use crate::store::tombstone::Tombstone;
use crate::sys::env::SessionName;
use crate::sys::files;
use crate::sys::git::{BranchState, Repository};
use crate::verbs::handoff::save::InFlightAgent;
use crate::verbs::task::read_tasks;
use crate::verbs::work::instructions::read_instructions;
use crate::verbs::work::workflow::newest_states;
use crate::workspace::Workspace;
use crate::workspace::observation::{branch_state, commits_made, last_observation};
use jiff::Timestamp;
use midstride_core::brief::hook::without_summary;
use midstride_core::brief::items::{
    OtherSession, SessionScope, TaskPlacement, instruction_items, mission_items,
    older_workflows_item, task_items, workflow_item,
};
use midstride_core::brief::unsettled::{self, ClosedBranch, UnsettledItem};
use midstride_core::brief::{BriefItem, BriefOccasion};
use midstride_core::session::checkpoint::{Checkpoint, Highlight, HighlightKind, SessionSummary};
use midstride_core::session::instruction::Instructions;
use midstride_core::session::repository::ReflogCommitState;
use midstride_core::text::id::{BlobHash, ClientName, SessionId};
use midstride_core::work::event::{Event, SessionEvent};
use midstride_core::work::mission::{self, Mission};
use midstride_core::work::task::{Task, TaskRole, Tasks};
use midstride_core::work::workflow::WorkflowState;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// How many of the latest session records are read.
const RECORDS_MAX: usize = 200;
/// How many earlier sessions are named.
const EARLIER_MAX: usize = 10;

/// The facts from the ledger.
#[derive(Default)]
pub(super) struct LedgerFacts<'s> {
    pub(super) ledger: Option<&'s ProjectLedger>,
    pub(super) summary: Option<SessionSummary>,
    pub(super) is_own: bool,
    /// What that session left open.
    pub(super) own_unsettled: Vec<UnsettledItem>,
    /// What earlier sessions left open, and what is only counted.
    pub(super) unsettled: (Vec<UnsettledItem>, Vec<UnsettledItem>),
    /// The sessions with work that left it.
    pub(super) earlier_sessions: Vec<SessionSummary>,
    /// The nearest sessions with work before that one, whatever they left open.
    pub(super) earlier_work: Vec<SessionSummary>,
    /// The newest session with work, if it is not the one of the briefing.
    pub(super) newest: Option<NewestSession>,
    /// Other sessions, nearest first, then latest.
    pub(super) other_sessions: Vec<OtherSession>,
    pub(super) items: Vec<BriefItem>,
    /// Whether the session's branch was merged or deleted.
    pub(super) is_branch_closed: bool,
}

/// The newest session with work, where a page is about an older one that is nearer.
#[derive(Clone, Debug)]
pub struct NewestSession {
    /// What it did.
    pub summary: SessionSummary,
    /// Among which sessions the one of the page is the last.
    pub scope: SessionScope,
}

impl<'s> LedgerFacts<'s> {
    pub(super) fn read(store: &'s Store, asked: &BriefRequest) -> Result<Self, LedgerError> {
        Self::read_with(store, asked, asked.about.as_deref().cloned())
    }

    /// The same with a session that is newer than its last capture.
    fn read_with(
        store: &'s Store,
        asked: &BriefRequest,
        newest: Option<SessionSummary>,
    ) -> Result<Self, LedgerError> {
        let workspace = store.workspace();
        let Some(ledger) = store.existing_ledger()? else {
            return Ok(Self { summary: newest, ..Self::default() });
        };
        let own = asked.session.as_ref().filter(|_| {
            matches!(asked.occasion, Some(BriefOccasion::Resume | BriefOccasion::Compact))
        });
        let records = ledger.latest_with_prefix(StreamId::SESSIONS, RECORDS_MAX)?;
        let mut others = sessions_here(workspace, &records, asked.session.as_ref());
        let mut own_summary = match own.filter(|_| !asked.has_context) {
            Some(session) => summary_of_session(ledger, session)?,
            None => None,
        };
        if asked.occasion == Some(BriefOccasion::Compact) {
            own_summary = own_summary.map(|session_summary| match &session_summary.summary {
                Some(summary) => without_summary(&session_summary, summary),
                None => session_summary,
            });
        }
        if asked.has_context {
            others.retain(|one| one.ended > asked.since);
        }
        let dismissed = dismissed_handles(&records);
        let is_own = own_summary.is_some();
        let branch = workspace.repository().and_then(Repository::branch);
        let worked = WorkSessionEnds::from_checkpoints(&others);
        sort_by_nearness(workspace, branch.as_deref(), &mut others);
        others.retain(|one| newest.as_ref().is_none_or(|newest| newest.session != one.name.id));
        let mut sessions: Vec<SessionSummary> = newest.or(own_summary).into_iter().collect();
        if is_own || own.is_none() || asked.has_context {
            sessions.extend(sessions_with_work(ledger, &mut others, sessions.is_empty())?);
        }
        let newest = match sessions.first().filter(|_| !is_own && !asked.has_context) {
            Some(briefed) => take_newest(ledger, &mut others, briefed, branch.as_deref())?,
            None => None,
        };
        let worked_before = match is_own || asked.has_context {
            true => Vec::new(),
            false => open_earlier_work(workspace, ledger, &others, &sessions)?,
        };
        let tasks = read_tasks(ledger)?.0;
        for (at, summary) in sessions.iter_mut().enumerate() {
            let (client, list) = (summary.client.clone(), summary.task_list().to_owned());
            summary.items.retain(|item| !is_covered_by_board(&tasks, &client, &list, item, at));
        }
        let closed = closed_branches(workspace, &sessions);
        let closed_for = |summary: &SessionSummary| closed.get(summary.branch.as_ref()?).copied();
        let carried = unsettled::collect_unsettled(
            &sessions,
            |handle| dismissed.contains(handle),
            |summary, item| {
                closed_for(summary).is_some_and(|closed| closed.closes_item(summary, item))
            },
        );
        let recent: Vec<(ClientName, SessionId, Option<String>)> = sessions
            .iter()
            .take(unsettled::SESSIONS_MAX + 1)
            .map(|summary| {
                (summary.client.clone(), summary.session.clone(), summary.task_list.clone())
            })
            .collect();
        let mut sessions = sessions.into_iter();
        let (summary, before) = (sessions.next(), sessions.collect());
        let closed = summary.as_ref().filter(|_| !is_own).and_then(closed_for);
        let is_closed =
            closed.zip(summary.as_ref()).is_some_and(|(closed, summary)| closed.closes(summary));
        let open =
            summary.as_ref().filter(|_| !is_own).map(unsettled::open_items).unwrap_or_default();
        let open = open.into_iter().filter(|one| !dismissed.contains(&one.handle)).collect();
        let summary = summary.map(|summary| {
            unsettled::without_dismissed(summary, |handle| dismissed.contains(handle))
        });
        let summary = summary.map(|summary| match closed {
            Some(closed) => closed.apply(summary),
            None => summary,
        });
        let earlier = name_others(ledger, others, branch.as_deref())?;
        let mut items = Vec::new();
        let instructions = read_instructions(workspace, ledger)?;
        if !asked.has_context && asked.occasion != Some(BriefOccasion::Prompt) {
            items.extend(instruction_items(instructions.active(branch.as_deref())));
        }
        let summary = summary.map(|summary| drop_recorded_instructions(summary, &instructions));
        let summary = summary.map(|summary| drop_replaced_commits(workspace, summary));
        items.extend(current_mission_items(ledger, &tasks)?);
        items.extend(task_items(&tasks, |task| task_placement(task, summary.as_ref(), &recent)));
        items.extend(collect_workflow_items(ledger, &worked)?);
        Ok(Self {
            ledger: Some(ledger),
            summary,
            is_own,
            own_unsettled: open,
            unsettled: carried,
            earlier_sessions: before,
            earlier_work: worked_before,
            newest,
            other_sessions: earlier,
            items,
            is_branch_closed: is_closed,
        })
    }
}

/// Names the nearest other sessions, without those that were forgotten.
fn name_others(
    ledger: &ProjectLedger,
    others: Vec<CheckpointRecord<'_>>,
    branch: Option<&str>,
) -> Result<Vec<OtherSession>, LedgerError> {
    let mut named = Vec::new();
    for one in others {
        if named.len() == EARLIER_MAX {
            break;
        }
        if Tombstone::find_any(ledger, one.blob)?.is_none() {
            named.push(one.into_other_session(branch));
        }
    }
    Ok(named)
}

/// The earlier sessions with work whose branch was neither merged nor deleted.
fn open_earlier_work(
    workspace: &Workspace,
    ledger: &ProjectLedger,
    others: &[CheckpointRecord<'_>],
    sessions: &[SessionSummary],
) -> Result<Vec<SessionSummary>, LedgerError> {
    let worked = earlier_sessions_with_work(ledger, others, sessions)?;
    let closed = closed_branches(workspace, &worked);
    let is_over = |summary: &SessionSummary| {
        let closed = summary.branch.as_ref().and_then(|branch| closed.get(branch));
        closed.is_some_and(|closed| closed.closes(summary))
    };
    Ok(worked.into_iter().filter(|summary| !is_over(summary)).collect())
}

/// The state of the mission, as items.
fn current_mission_items(
    ledger: &ProjectLedger,
    tasks: &Tasks,
) -> Result<Vec<BriefItem>, LedgerError> {
    let records = ledger.read(&StreamId::mission(), None)?;
    let states = mission::states(records.iter().flat_map(|record| &record.events));
    let state = Mission::combine(states.last(), tasks);
    Ok(state.as_ref().map(mission_items).unwrap_or_default())
}

/// Drops the instructions that are recorded separately. Those records know whether they are active.
fn drop_recorded_instructions(
    mut summary: SessionSummary,
    instructions: &Instructions,
) -> SessionSummary {
    let is_recorded = |item: &Highlight| {
        item.kind == HighlightKind::Instruction
            && instructions.iter().any(|one| one.text.trim() == item.text.trim())
    };
    summary.items.retain(|item| !is_recorded(item));
    summary
}

/// Drops commits that were amended, rebased or reset away since the session was captured.
fn drop_replaced_commits(workspace: &Workspace, mut summary: SessionSummary) -> SessionSummary {
    let is_commit =
        |item: &Highlight| matches!(item.kind, HighlightKind::Commit | HighlightKind::Message);
    let Some(began) = summary.began.filter(|_| summary.items.iter().any(is_commit)) else {
        return summary;
    };
    let made = commits_made(workspace, began, summary.ended);
    let is_replaced = |id: &str| {
        let made = made.iter().find(|made| made.id.starts_with(id));
        made.is_some_and(|made| made.state == ReflogCommitState::Replaced)
    };
    summary
        .items
        .retain(|item| !is_commit(item) || !item.detail.as_deref().is_some_and(is_replaced));
    summary
}

/// Whether a task appears with the session of the briefing, here, or only in a count. Tasks that
/// only older sessions list are counted.
fn task_placement(
    task: &Task,
    summary: Option<&SessionSummary>,
    recent: &[(ClientName, SessionId, Option<String>)],
) -> TaskPlacement {
    let is_of = |client: &ClientName, session: &SessionId, shared: Option<&String>| match shared {
        Some(list) => task.is_on_list(client.as_str(), list),
        None => task.is_listed_by(client.as_str(), session),
    };
    if summary
        .is_some_and(|summary| is_of(&summary.client, &summary.session, summary.task_list.as_ref()))
    {
        return TaskPlacement::WithSession;
    }
    let is_recent = || {
        let mut recent = recent.iter();
        recent.any(|(client, session, list)| is_of(client, session, list.as_ref()))
    };
    if task.captured.is_empty() || is_recent() {
        TaskPlacement::Here
    } else {
        TaskPlacement::Counted
    }
}

/// When sessions with work ended. A workflow state that none of the latest saved again is only
/// counted.
struct WorkSessionEnds(Vec<(SessionName, Timestamp)>);

impl WorkSessionEnds {
    fn from_checkpoints(sessions: &[CheckpointRecord<'_>]) -> Self {
        let worked = sessions.iter().filter(|one| one.worked != Some(false));
        Self(worked.filter_map(|one| Some((one.name.clone(), one.ended?))).collect())
    }

    /// How many sessions ended after a state was saved, without the one that saved it.
    fn count_since(&self, state: &WorkflowState) -> usize {
        let saved = |name: &SessionName| {
            let by = state.session.as_ref();
            by.is_some_and(|(client, id)| (&name.client, &name.id) == (client, id))
        };
        self.0.iter().filter(|(name, ended)| *ended > state.at && !saved(name)).count()
    }
}

/// The workflow states saved last. A state that five sessions with work did not save again is only
/// counted.
fn collect_workflow_items(
    ledger: &ProjectLedger,
    worked: &WorkSessionEnds,
) -> Result<Vec<BriefItem>, LedgerError> {
    /// Older ones are listed by `midstride session state`.
    const SHOWN_MAX: usize = 3;
    /// A larger state is only named.
    const BYTES_MAX: u64 = 64 << 10;
    let states = newest_states(ledger)?;
    let all = states.len();
    let is_recent = |state: &WorkflowState| worked.count_since(state) < unsettled::SESSIONS_MAX;
    let mut states: Vec<_> = states.into_iter().filter(|(state, _)| is_recent(state)).collect();
    states.sort_by_key(|(state, _)| Reverse(state.at));
    let mut items = Vec::new();
    let older = all - states.len().min(SHOWN_MAX);
    if older > 0 {
        items.push(older_workflows_item(older));
    }
    for (kept, number) in states.into_iter().take(SHOWN_MAX) {
        let blob = match kept.bytes <= BYTES_MAX {
            true => ledger.get_blob(&kept.blob)?,
            false => None,
        };
        let state = blob.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        items.push(workflow_item(&kept, number, state.as_ref()));
    }
    Ok(items)
}

/// Whether the project's task list already covers a task of a session: the task is closed, or the
/// session is not the first one, which lists its own tasks.
fn is_covered_by_board(
    tasks: &Tasks,
    client: &ClientName,
    list: &str,
    item: &Highlight,
    at: usize,
) -> bool {
    let is_covered =
        |task: &Task| at > 0 || !task.status.is_open() || task.role() != TaskRole::Work;
    let known = || tasks.find_on_list(client.as_str(), list, &item.text);
    item.kind == HighlightKind::Task && known().is_some_and(is_covered)
}

/// The last session with work, and what it and earlier sessions left open.
pub(in crate::verbs) struct UnfinishedWork {
    /// The session, without what was dismissed or closed with its branch.
    pub(in crate::verbs) last: Option<SessionSummary>,
    /// What that session left open.
    pub(in crate::verbs) own: Vec<UnsettledItem>,
    /// The newest session with work, if it is not that one.
    pub(in crate::verbs) newest: Option<NewestSession>,
    /// What earlier sessions left open.
    pub(in crate::verbs) earlier: Vec<UnsettledItem>,
}

/// Reads what sessions left unfinished, from the point of view of `own`. `newest` is a session that
/// is newer than its last capture.
pub(in crate::verbs) fn unfinished_work(
    store: &Store,
    own: Option<&SessionName>,
    newest: Option<SessionSummary>,
) -> Result<UnfinishedWork, LedgerError> {
    let asked = BriefRequest { session: own.cloned(), ..BriefRequest::default() };
    let facts = LedgerFacts::read_with(store, &asked, newest)?;
    let LedgerFacts { summary: last, newest, own_unsettled: own, unsettled: (earlier, _), .. } =
        facts;
    Ok(UnfinishedWork { last, own, newest, earlier })
}

/// The agents still running when the session that a briefing would cover ended.
pub fn agents_in_flight(store: &Store) -> Result<Vec<InFlightAgent>, LedgerError> {
    let summary = LedgerFacts::read(store, &BriefRequest::default())?.summary;
    let items = summary.into_iter().flat_map(|summary| summary.items);
    let agents = items.filter(|item| item.kind == HighlightKind::Agent);
    let about = |text: String| (!text.trim().is_empty()).then_some(text);
    Ok(agents.map(|item| InFlightAgent { id: item.detail, about: about(item.text) }).collect())
}

/// What sessions left open, newest first. What a briefing only counts comes last.
pub(crate) fn open_session_items(store: &Store) -> Result<Vec<UnsettledItem>, LedgerError> {
    let LedgerFacts { own_unsettled: open, unsettled: (carried, older), .. } =
        LedgerFacts::read(store, &BriefRequest::default())?;
    Ok([open, carried, older].concat())
}

/// The handles of all dismissed items.
fn dismissed_handles(records: &[LedgerRecord]) -> HashSet<String> {
    let events = records.iter().flat_map(|record| &record.events);
    let handles = events.filter_map(|envelope| {
        let Event::Session(SessionEvent::Dismissed { handle, .. }) = &envelope.event else {
            return None;
        };
        Some(handle.clone())
    });
    handles.collect()
}

/// What a ledger record says about a checkpoint.
struct CheckpointRecord<'r> {
    name: SessionName,
    blob: &'r BlobHash,
    summary_blob: Option<&'r BlobHash>,
    folder: Option<&'r str>,
    about: &'r str,
    ended: Option<Timestamp>,
    branch: Option<&'r str>,
    worked: Option<bool>,
    open: Option<u64>,
    edited_below: Option<&'r str>,
    /// Whether the session worked in this working tree.
    is_here: bool,
    nearness: Nearness,
}

/// How near a session's work is to the current checkout and folder, nearest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Nearness {
    /// In this working tree, on this branch.
    Here,
    /// On this branch, in another working tree.
    Branch,
    /// In this folder of a repository with several projects, on another branch.
    Folder,
    /// In this working tree, on another branch.
    WorkTree,
    /// Anything else. The session is only named.
    #[default]
    Rest,
}

impl CheckpointRecord<'_> {
    /// Older captures do not name their branch.
    fn nearness(&self, branch: Option<&str>, is_in_folder: bool) -> Nearness {
        let is_branch = self.branch.is_none() || branch.is_none() || self.branch == branch;
        match (is_branch, self.is_here) {
            (true, true) => Nearness::Here,
            // An unknown working tree may be on any branch.
            (true, false) if self.branch.is_some() && branch.is_some() => Nearness::Branch,
            _ if is_in_folder => Nearness::Folder,
            (_, true) => Nearness::WorkTree,
            (_, false) => Nearness::Rest,
        }
    }

    /// Whether its open items count as open here.
    fn leaves_open_here(&self) -> bool {
        self.is_here || self.nearness == Nearness::Branch
    }

    /// Converts to a session that is only named, with its branch if it is not the current one.
    fn into_other_session(self, branch: Option<&str>) -> OtherSession {
        let other = self.branch.filter(|theirs| Some(*theirs) != branch);
        let branch = other.map(str::to_owned);
        let first_request = self.about.to_owned();
        OtherSession { id: self.name.id, first_request, branch, ended: self.ended }
    }
}

/// Sorts sessions by nearness. Equally near sessions keep their order.
fn sort_by_nearness(
    workspace: &Workspace,
    branch: Option<&str>,
    others: &mut [CheckpointRecord<'_>],
) {
    let current = files::canonical(&workspace.environment().folder);
    let root = files::canonical(workspace.root().path());
    let below = current.strip_prefix(&root).ok().filter(|below| !below.as_os_str().is_empty());
    let tops = below.map(|_| clients::project_folders(workspace)).unwrap_or_default();
    for one in others.iter_mut() {
        let is_in_folder = below.is_some_and(|below| is_in_folder(&tops, below, one));
        one.nearness = one.nearness(branch, is_in_folder);
    }
    others.sort_by_key(|one| one.nearness);
}

/// Whether a session began in this folder of any working tree, or below or above it, or changed
/// files only there.
fn is_in_folder(tops: &[PathBuf], folder: &Path, one: &CheckpointRecord<'_>) -> bool {
    let began = one.folder.map(|began| files::canonical(Path::new(began)));
    // A working tree can be inside another one.
    let top = |began: &PathBuf| {
        let tops = tops.iter().filter(|top| began.starts_with(top));
        tops.max_by_key(|top| top.as_os_str().len())
    };
    let began = began.and_then(|began| Some(began.strip_prefix(top(&began)?).ok()?.to_owned()));
    let is_near = |began: PathBuf| {
        let is_top = began.as_os_str().is_empty();
        !is_top && (began.starts_with(folder) || folder.starts_with(&began))
    };
    began.is_some_and(is_near)
        || one.edited_below.is_some_and(|edited| Path::new(edited).starts_with(folder))
}

/// Takes the session to brief on out of the list if `one` is set: the nearest that did work, or
/// else the nearest. After it come the sessions that left something open and those that may have
/// settled it since.
fn sessions_with_work(
    ledger: &ProjectLedger,
    others: &mut Vec<CheckpointRecord<'_>>,
    one: bool,
) -> Result<Vec<SessionSummary>, LedgerError> {
    /// How many sessions are read. The rest are only named.
    const READ_MAX: usize = 12;
    let mut near = others.iter().take_while(|other| other.nearness != Nearness::Rest).count();
    let mut found: Vec<SessionSummary> = Vec::new();
    if one && let Some((at, summary)) = first_session_with_work(ledger, &others[..near], READ_MAX)?
    {
        others.remove(at);
        near -= 1;
        found.push(summary);
    }
    let near = || others[..near].iter().filter(|other| other.leaves_open_here());
    // Every session since the oldest open item may have settled it.
    let left_open = near().filter(|other| other.open != Some(0)).take(READ_MAX);
    let Some(oldest) = left_open.map(|other| other.ended).min() else { return Ok(found) };
    let since = near().filter(|other| other.ended >= oldest);
    let (open, settling): (Vec<_>, Vec<_>) = since.partition(|other| other.open != Some(0));
    for other in open.into_iter().chain(settling.into_iter().take(READ_MAX)) {
        found.extend(read_summary(ledger, other)?);
    }
    Ok(found)
}

/// Takes the newest session with work out of the list, if it ended after the one of the briefing.
fn take_newest(
    ledger: &ProjectLedger,
    others: &mut Vec<CheckpointRecord<'_>>,
    briefed: &SessionSummary,
    branch: Option<&str>,
) -> Result<Option<NewestSession>, LedgerError> {
    let is_newer = |other: &CheckpointRecord<'_>| {
        other.worked == Some(true) && briefed.ended.is_some() && other.ended > briefed.ended
    };
    let mut newer: Vec<usize> = (0..others.len()).filter(|at| is_newer(&others[*at])).collect();
    newer.sort_by_key(|at| Reverse(others[*at].ended));
    let mut found = None;
    for at in newer {
        // A forgotten session has no summary.
        found = read_summary(ledger, &others[at])?.map(|summary| (at, summary));
        if found.is_some() {
            break;
        }
    }
    let Some((at, summary)) = found else { return Ok(None) };
    let other = &others[at];
    let is_on_branch = |theirs: Option<&str>| theirs.is_none() || theirs == branch;
    let scope = match (is_on_branch(briefed.branch.as_deref()), is_on_branch(other.branch)) {
        (true, false) => SessionScope::Branch,
        (_, _) if other.is_here => SessionScope::Folder,
        (_, _) => SessionScope::WorkTree,
    };
    others.remove(at);
    Ok(Some(NewestSession { summary, scope }))
}

/// The nearest sessions with work before the one in the briefing, so that the agent does not repeat
/// what they did outside the repository.
fn earlier_sessions_with_work(
    ledger: &ProjectLedger,
    others: &[CheckpointRecord<'_>],
    sessions: &[SessionSummary],
) -> Result<Vec<SessionSummary>, LedgerError> {
    const READ_MAX: usize = 3;
    let near = others.iter().take_while(|other| other.nearness != Nearness::Rest);
    let near = near.filter(|other| other.leaves_open_here() && other.worked != Some(false));
    let mut found = Vec::new();
    for other in near.take(READ_MAX) {
        let known =
            sessions.iter().skip(1).find(|summary| summary.session == other.name.id).cloned();
        found.extend(match known {
            Some(summary) => Some(summary),
            None => read_summary(ledger, other)?,
        });
    }
    Ok(found)
}

/// The first session that did work, or else the first one of this working tree.
fn first_session_with_work(
    ledger: &ProjectLedger,
    others: &[CheckpointRecord<'_>],
    read_max: usize,
) -> Result<Option<(usize, SessionSummary)>, LedgerError> {
    let may_work = others.iter().enumerate().filter(|(_, other)| other.worked != Some(false));
    for (at, other) in may_work.take(read_max) {
        if let Some(summary) = read_summary(ledger, other)?.filter(|summary| summary.worked) {
            return Ok(Some((at, summary)));
        }
    }
    let first = others.first().filter(|first| first.is_here);
    Ok(first
        .map(|first| read_summary(ledger, first))
        .transpose()?
        .flatten()
        .map(|summary| (0, summary)))
}

/// The branches of these sessions that were merged or deleted.
fn closed_branches(
    workspace: &Workspace,
    sessions: &[SessionSummary],
) -> HashMap<String, ClosedBranch> {
    let Some(repository) = workspace.repository() else { return HashMap::new() };
    let here = repository.branch();
    let names = sessions.iter().filter_map(|summary| summary.branch.clone());
    let names: HashSet<String> = names.filter(|branch| Some(branch) != here.as_ref()).collect();
    if names.is_empty() {
        return HashMap::new();
    }
    let observed = last_observation(workspace);
    let branches = repository.branches();
    let closed = names.into_iter().filter_map(|branch| {
        let at = match branch_state(&branches, &branch, observed.as_ref())? {
            BranchState::Merged(merge) => merge.at,
            BranchState::Deleted => None,
            BranchState::Exists | BranchState::Renamed(_) => return None,
        };
        Some((branch, ClosedBranch { at }))
    });
    closed.collect()
}

fn checkpoints(records: &[LedgerRecord]) -> impl DoubleEndedIterator<Item = CheckpointRecord<'_>> {
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
            edited_below,
            ..
        }) = &envelope.event
        else {
            return None;
        };
        Some(CheckpointRecord {
            name: SessionName { client: client.clone(), id: session.clone() },
            blob,
            summary_blob: gist.as_ref(),
            folder: folder.as_deref(),
            about: about.as_deref().unwrap_or("no request"),
            ended: ended.as_deref().and_then(|time| time.parse().ok()),
            branch: branch.as_deref(),
            worked: *worked,
            open: *open,
            edited_below: edited_below.as_deref(),
            is_here: true,
            nearness: Nearness::default(),
        })
    })
}

/// The summary of what a session did before its context was replaced.
pub(in crate::verbs) fn summary_of_session(
    ledger: &ProjectLedger,
    session: &SessionName,
) -> Result<Option<SessionSummary>, LedgerError> {
    let records = ledger.read(&StreamId::session(&session.client, &session.id), None)?;
    let last = checkpoints(&records).next_back();
    last.map_or(Ok(None), |last| read_summary(ledger, &last))
}

/// The other sessions of this repository, latest first, each once, and whether they worked in this
/// working tree.
fn sessions_here<'r>(
    workspace: &Workspace,
    records: &'r [LedgerRecord],
    session: Option<&SessionName>,
) -> Vec<CheckpointRecord<'r>> {
    let top = files::canonical(workspace.root().path());
    // A working tree can be inside another one.
    let inner = clients::project_folders(workspace)
        .into_iter()
        .filter(|one| *one != top && one.starts_with(&top));
    let inner: Vec<PathBuf> = inner.collect();
    // A folder that no longer exists may be this one before it was moved.
    let is_here = |folder: &str| {
        let folder = files::canonical(Path::new(folder));
        let is_in = |top: &PathBuf| folder.starts_with(top);
        (is_in(&top) && !inner.iter().any(is_in)) || !files::exists(&folder)
    };
    let others = checkpoints(records).filter(|one| Some(&one.name) != session);
    let others =
        others.map(|one| CheckpointRecord { is_here: one.folder.is_none_or(is_here), ..one });
    let mut others: Vec<CheckpointRecord<'_>> = others.collect();
    // The latest record of a session comes first and is the one kept.
    others.sort_by_key(|one| Reverse(one.ended));
    let mut seen = HashSet::new();
    others.retain(|one| seen.insert((one.name.client.clone(), one.name.id.clone())));
    others
}

/// Visits the captured sessions of this repository, latest first, each once, until `is_wanted`
/// returns false.
pub(in crate::verbs) fn visit_latest_summaries(
    ledger: &ProjectLedger,
    mut is_wanted: impl FnMut(SessionSummary) -> bool,
) -> Result<(), LedgerError> {
    let records = ledger.latest_with_prefix(StreamId::SESSIONS, RECORDS_MAX)?;
    let mut sessions: Vec<CheckpointRecord<'_>> = checkpoints(&records).collect();
    sessions.sort_by_key(|one| Reverse(one.ended));
    let mut seen = HashSet::new();
    for one in sessions {
        let is_new = seen.insert((one.name.client.clone(), one.name.id.clone()));
        let read = if is_new { read_summary(ledger, &one)? } else { None };
        if read.is_some_and(|summary| !is_wanted(summary)) {
            break;
        }
    }
    Ok(())
}

/// Reads the stored summary. If it is missing or outdated, derives it from the checkpoint.
fn read_summary(
    ledger: &ProjectLedger,
    one: &CheckpointRecord<'_>,
) -> Result<Option<SessionSummary>, LedgerError> {
    let kept = one.summary_blob.map(|hash| ledger.get_blob(hash)).transpose()?.flatten();
    let kept = kept.and_then(|bytes| match ledger.wait_policy() {
        WaitPolicy::Hook => SessionSummary::parse_first(&bytes),
        WaitPolicy::Command => SessionSummary::parse(&bytes),
    });
    if kept.as_ref().is_some_and(SessionSummary::is_current) {
        return Ok(kept);
    }
    let whole = ledger.get_blob(one.blob)?.and_then(|bytes| Checkpoint::parse(&bytes));
    Ok(whole.as_ref().map(SessionSummary::from_checkpoint).or(kept))
}
