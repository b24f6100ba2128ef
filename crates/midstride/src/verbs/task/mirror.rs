//! Mirrors a client's tasks as tasks of the project, each once, however often and in whatever order
//! the client reports them. Hooks report that a task was created and completed; captures report
//! everything else. Nothing is written back to the client.

use crate::clients::hook_memory::startup_briefing;
use crate::clients::task_lists;
use crate::store::Store;
use crate::store::ledger::{AppendError, Ledger, LedgerError, LocalLedger, StreamId};
use crate::sys::env::SessionName;
use crate::verbs::task::{TaskError, content_id, read_tasks};
use crate::workspace::Workspace;
use jiff::{Timestamp, ToSpan as _};
use midstride_core::brief::hook::ClientTask;
use midstride_core::session::checkpoint::Checkpoint;
use midstride_core::session::{self, Session, SessionTaskStatus as ClientStatus};
use midstride_core::text::id::{SessionId, TaskId};
use midstride_core::work::event::{
    CapturedTask, ClientTaskKey, Envelope, Event, TaskChange, TaskEvent, TaskStatus,
};
use midstride_core::work::mission::{AGENT, OWNER};
use midstride_core::work::task::{CLIENT, CLIENT_TASK, SESSION, Task, Tasks};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Why a task was not mirrored.
#[derive(Debug, thiserror::Error)]
pub(in crate::verbs) enum MirrorError {
    #[error("the task has neither a number nor a subject")]
    Nameless,
    #[error(transparent)]
    Append(#[from] AppendError),
}

/// Records that a session created a task and, if `is_done`, completed it.
pub(in crate::verbs) fn mirror(
    store: &Store,
    session: &SessionName,
    task: &ClientTask,
    is_done: bool,
) -> Result<(), MirrorError> {
    let workspace = store.workspace();
    let clean = |text: &str| workspace.clean(text.trim()).0.as_str().to_owned();
    let (number, subject) = (clean(&task.id), clean(&task.subject));
    let shared = task_lists::shared_list(workspace, &session.client, &session.id);
    let list = shared.as_deref().unwrap_or(session.id.as_str());
    let id = task_id(&session.client, list, TASK, &number);
    let id = id.filter(|_| !number.is_empty() && !subject.is_empty());
    let id = id.ok_or(MirrorError::Nameless)?;
    let metadata = [
        (CLIENT, session.client.as_str()),
        (SESSION, session.id.as_str()),
        (CLIENT_TASK, number.as_str()),
    ];
    let added = TaskEvent::Added {
        subject,
        description: task.description.as_deref().map(clean).filter(|text| !text.is_empty()),
        depends_on: BTreeSet::new(),
        metadata: metadata
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into_iter()
            .collect::<BTreeMap<_, _>>(),
    };
    let now = workspace.environment().clock.now();
    let event = |what, time, event| envelope(&id, &session.client, what, time, event);
    // The completion may be reported first, so always include the creation.
    let mut events = vec![event("added", now, added)];
    if is_done {
        events.push(event("completed", just_after(now), status_event(TaskStatus::Done)));
    }
    // The client reports a task only once, so a busy ledger must not lose it.
    store.append_or_spool(&StreamId::task(&id), events)?;
    Ok(())
}

/// A session's task, ready to be recorded.
pub(in crate::verbs) struct MirroredTask {
    id: TaskId,
    state: CapturedTask,
    /// When it was created.
    created: Option<Timestamp>,
    /// The record that changed it last.
    record: String,
    at: Option<Timestamp>,
    /// Orders two changes with the same time: the later one has the higher number.
    number: u64,
}

/// The tasks of a session as its transcript has them.
pub(in crate::verbs) fn tasks_of_checkpoint(
    workspace: &Workspace,
    checkpoint: &Checkpoint,
) -> Vec<MirroredTask> {
    let session = &checkpoint.session;
    let clean = |text: &str| workspace.clean(text.trim()).0.as_str().to_owned();
    let (client, list) = (session.client.as_str(), checkpoint.task_list());
    let mut named: HashMap<&str, usize> = HashMap::new();
    let mut mirrored = Vec::new();
    for task in session.tasks.iter().filter(|task| task.has_subject()) {
        let (kind, name) = match &task.id {
            Some(number) => (TASK, number.clone()),
            None => {
                let count = named.entry(&task.subject).or_default();
                *count += 1;
                let again = if *count > 1 { format!(" ({count})") } else { String::new() };
                (STEP, format!("{}{again}", task.subject))
            }
        };
        let Some(id) = task_id(client, list, kind, &name) else { continue };
        let before = task.blocked_by.iter().filter_map(|id| task_id(client, list, TASK, id));
        let key =
            ClientTaskKey { client: client.to_owned(), list: list.to_owned(), task: clean(&name) };
        let state = CapturedTask {
            key,
            subject: clean(task.subject.lines().next().unwrap_or_default()),
            description: task.description.as_deref().map(clean).filter(|text| !text.is_empty()),
            status: status(session, task),
            depends_on: before.map(|id| id.as_str().to_owned()).collect(),
            metadata: metadata(session, task, client, &checkpoint.session_id(), &clean),
        };
        let number = match task.changed.number {
            // A task file is newer than every record.
            0 => session.counts.seen.saturating_add(1),
            number => number,
        };
        let (made, record, at) = (task.seen.at, task.changed.record.clone(), task.changed.at);
        mirrored.push(MirroredTask { id, state, created: made, record, at, number });
    }
    mirrored
}

/// A task that an agent works on is in progress, whatever the client's list says.
fn status(session: &Session, task: &session::SessionTask) -> TaskStatus {
    let is_in_flight =
        || session.agent_for_task(task).is_some_and(|agent| session.is_in_flight(agent));
    match &task.status {
        ClientStatus::Pending if is_in_flight() => TaskStatus::InProgress,
        ClientStatus::Pending => TaskStatus::Pending,
        ClientStatus::InProgress => TaskStatus::InProgress,
        ClientStatus::Completed => TaskStatus::Done,
        ClientStatus::Deleted => TaskStatus::Dropped,
        ClientStatus::Other(word) => TaskStatus::parse(word).unwrap_or(TaskStatus::Pending),
    }
}

fn metadata(
    session: &Session,
    task: &session::SessionTask,
    client: &str,
    id: &SessionId,
    clean: &dyn Fn(&str) -> String,
) -> BTreeMap<String, String> {
    let given = task.metadata.iter().map(|(key, value)| (clean(key), clean(value)));
    let mut metadata: BTreeMap<String, String> = given.collect();
    let own = [
        (CLIENT, Some(client)),
        (SESSION, Some(id.as_str())),
        (CLIENT_TASK, task.id.as_deref()),
        (OWNER, task.owner.as_deref()),
        (AGENT, session.agent_for_task(task)),
    ];
    metadata
        .extend(own.into_iter().filter_map(|(key, value)| Some((key.to_owned(), clean(value?)))));
    metadata
}

/// Records the current state of a captured session's tasks.
pub(in crate::verbs) fn append_tasks(
    workspace: &Workspace,
    ledger: &dyn LocalLedger,
    checkpoint: &Checkpoint,
) -> Result<(), TaskError> {
    let streams = task_streams(workspace, ledger, &tasks_of_checkpoint(workspace, checkpoint))?;
    if !streams.is_empty() {
        ledger.append_missing(&streams)?;
    }
    Ok(())
}

/// The events that record the current state of a session's tasks. Skips what is already recorded.
pub(in crate::verbs) fn task_streams(
    workspace: &Workspace,
    ledger: &dyn Ledger,
    mirrored: &[MirroredTask],
) -> Result<Vec<(StreamId, Vec<Envelope>)>, LedgerError> {
    let now = workspace.environment().clock.now();
    let mut all: Option<Tasks> = None;
    let mut briefed: Option<String> = None;
    let is_alive = mirrored.iter().any(|one| one.state.status.is_open());
    let mut streams = Vec::new();
    for one in mirrored {
        let stream = StreamId::task(&one.id);
        let records = ledger.read(&stream, None)?;
        let events: Vec<&Envelope> = records.iter().flat_map(|record| &record.events).collect();
        let known = Task::fold(&one.id, events.iter().copied());
        let captured =
            known.as_ref().is_some_and(|task| task.captured.contains_key(&one.state.key));
        let is_recorded =
            known.as_ref().is_some_and(|task| task.capture(one.state.clone()).is_none());
        if is_recorded {
            continue;
        }
        let client = one.state.key.client.as_str();
        // All of them belong to one session. A shared list has another name.
        let session =
            || SessionId::new(one.state.metadata.get(SESSION).unwrap_or(&one.state.key.list));
        let briefed = briefed
            .get_or_insert_with(|| {
                startup_briefing(workspace, client, &session()).unwrap_or_default()
            })
            .as_str();
        let is_new = known.is_none() && !one.is_worth_adding(is_alive);
        if is_new && !one.may_be_known(briefed) {
            continue;
        }
        let same = match (captured, &mut all) {
            (true, _) => None,
            (false, Some(tasks)) => tasks.find_same_task(&one.state, &one.id, briefed),
            (false, none) => {
                none.insert(read_tasks(ledger)?.0).find_same_task(&one.state, &one.id, briefed)
            }
        };
        if is_new && same.is_none() {
            continue;
        }
        let event = TaskEvent::Captured(one.state.clone());
        let data = Event::Task(event.clone()).data().to_string();
        let added = events.iter().find(|one| is_added(one)).map(|one| one.time);
        let first = added.is_none().then(|| one.added_event(now));
        let added = added.or(first.as_ref().map(|first| first.time)).unwrap_or(now);
        let time = one.moment(added, now);
        let name = ["captured", &one.record, &data].join("\0");
        let mut pending: Vec<Envelope> = first.into_iter().collect();
        pending.push(envelope(&one.id, client, &name, time, event));
        if let Some(same) = same {
            let linked = TaskEvent::Linked { task: same.id.as_str().to_owned() };
            pending.push(envelope(&one.id, client, "linked", just_after(time), linked));
        }
        streams.push((stream, pending));
    }
    Ok(streams)
}

impl MirroredTask {
    /// Whether a finished task may match an open one on the board: its subject starts with a task
    /// id, or the session's briefing had its subject. Only then is the board read.
    fn may_be_known(&self, briefed: &str) -> bool {
        let subject = self.state.subject.trim().to_lowercase();
        let names = subject.trim_start_matches(['[', '(']).starts_with("t-");
        let is_done = self.state.status == TaskStatus::Done;
        is_done && (names || briefed.to_lowercase().contains(&subject))
    }

    /// Whether to add an unknown task. A finished task is only added while others on its list are
    /// open; otherwise it would just make the list longer.
    fn is_worth_adding(&self, is_alive: bool) -> bool {
        match self.state.status {
            TaskStatus::Pending | TaskStatus::InProgress | TaskStatus::Blocked => true,
            TaskStatus::Done => is_alive,
            TaskStatus::Dropped => false,
        }
    }

    /// The event for its creation, as a hook would have recorded it.
    fn added_event(&self, now: Timestamp) -> Envelope {
        let CapturedTask { key, subject, description, metadata, .. } = &self.state;
        let own = |name: &&str| Some(((*name).to_owned(), metadata.get(*name)?.clone()));
        let added = TaskEvent::Added {
            subject: subject.clone(),
            description: description.clone(),
            depends_on: BTreeSet::new(),
            metadata: [CLIENT, SESSION, CLIENT_TASK].iter().filter_map(own).collect(),
        };
        let time = self.created.or(self.at).unwrap_or(now).min(now);
        envelope(&self.id, &key.client, "added", time, added)
    }

    /// When it was changed: the time of its record, but not in the future and after its creation.
    fn moment(&self, added: Timestamp, now: Timestamp) -> Timestamp {
        let time = self.at.unwrap_or(now).min(now).max(just_after(added));
        let number = i64::try_from(self.number).unwrap_or(i64::MAX);
        time.checked_add(number.nanoseconds()).unwrap_or(time)
    }
}

fn is_added(envelope: &Envelope) -> bool {
    matches!(envelope.event, Event::Task(TaskEvent::Added { .. }))
}

fn status_event(status: TaskStatus) -> TaskEvent {
    TaskEvent::Changed(TaskChange { status: Some(status), ..TaskChange::default() })
}

/// Orders an event of the same moment after the creation.
fn just_after(now: Timestamp) -> Timestamp {
    now.checked_add(1.millisecond()).unwrap_or(now)
}

fn envelope(id: &TaskId, client: &str, what: &str, time: Timestamp, event: TaskEvent) -> Envelope {
    let source = client.to_owned();
    Envelope {
        id: content_id(&[id.as_str(), what]),
        time,
        source,
        received_from: None,
        event: Event::Task(event),
    }
}

/// A task with a number in its list.
const TASK: &str = "task";
/// A task without a number, identified by its text.
const STEP: &str = "step";

/// The uid of a task, derived from its list and its name there.
fn task_id(client: &str, list: &str, kind: &str, name: &str) -> Option<TaskId> {
    let hex = content_id(&[client, list, kind, name]);
    let pieces = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| hex.get(range));
    let pieces: Option<Vec<&str>> = pieces.into_iter().collect();
    TaskId::parse(&pieces?.join("-"))
}
