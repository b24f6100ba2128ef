//! Stores tasks in a session handoff, and imports those that are missing here.

use crate::store::Store;
use crate::store::ledger::{LocalLedger as _, StreamId, encode_record};
use crate::sys::ids::uid_of;
use crate::verbs::task::redactor::Redactor;
use crate::verbs::task::{TaskBoard, TaskError, content_id, task_envelope};
use crate::workspace::StoredHandoff;
use jiff::Timestamp;
use midstride_core::handoff::Handoff;
use midstride_core::text::id::TaskId;
use midstride_core::text::redact::Redaction;
use midstride_core::text::yaml::{YamlData, YamlNode};
use midstride_core::work::event::{Envelope, Event, TaskEvent};
use midstride_core::work::task::{HandoffTask, SESSION, Task, TaskNote, TaskStatus, Tasks};
use std::collections::{BTreeMap, BTreeSet};

/// How many tasks a header lists, so that it stays readable. The rest are counted, and `sync`
/// transfers them.
const HEADER_TASKS_MAX: usize = 200;

/// The path of the tasks in the header.
const TASKS_PATH: &str = "state.tasks";

/// The tasks stored in a new handoff.
#[derive(Debug, Default)]
pub struct TaskSnapshot {
    /// The value of `state`.
    pub(in crate::verbs) state: Option<YamlData>,
    /// How many tasks it stores.
    pub tasks: usize,
    /// How many open tasks did not fit.
    pub omitted: usize,
}

/// The open tasks for a session handoff: tasks in progress first, then those that are ready.
pub(in crate::verbs) fn open_tasks(store: &Store) -> Result<TaskSnapshot, TaskError> {
    let tasks = TaskBoard::open(store)?.tasks;
    let (carried, left_out) = header_entries(&tasks);
    let count = carried.len();
    let state = (count > 0).then(|| YamlData::map([("tasks", YamlData::List(carried))]));
    Ok(TaskSnapshot { state, tasks: count, omitted: left_out })
}

/// The open tasks as header entries, and how many did not fit.
fn header_entries(tasks: &Tasks) -> (Vec<YamlData>, usize) {
    let mut open: Vec<&Task> = tasks.iter().filter(|task| task.status.is_open()).collect();
    open.sort_by_key(|task| (task.status != TaskStatus::InProgress, !tasks.is_ready(task)));
    let left_out = open.len().saturating_sub(HEADER_TASKS_MAX);
    open.truncate(HEADER_TASKS_MAX);
    (open.iter().map(|task| HandoffTask::from_task(task, tasks).data()).collect(), left_out)
}

/// The tasks for a saved session: the project's open tasks, including the client's, and entries
/// that others wrote. `before` is the existing handoff.
pub(in crate::verbs) fn tasks_of_session(
    tasks: &Tasks,
    before: Option<&Handoff<'_>>,
) -> (Vec<YamlData>, usize) {
    let entries =
        before.and_then(|before| before.node(TASKS_PATH)).map(YamlNode::items).unwrap_or_default();
    let is_known = |carried: &HandoffTask| {
        let here = carried.uid.as_ref().is_some_and(|uid| tasks.get(uid).is_some());
        here || carried.metadata.contains_key(SESSION)
    };
    let theirs = entries
        .into_iter()
        .filter(|entry| !HandoffTask::from_node(entry).is_some_and(|c| is_known(&c)));
    let (ours, left_out) = header_entries(tasks);
    (theirs.map(YamlNode::data).chain(ours).take(HEADER_TASKS_MAX).collect(), left_out)
}

/// The result of importing the tasks of a handoff.
#[derive(Debug, Default)]
pub struct TaskImport {
    /// Tasks that were created.
    pub created: Vec<TaskId>,
    /// Tasks that already exist and are unchanged.
    pub existing: Vec<TaskId>,
    /// Entries that are empty or too large for a record.
    pub unreadable: usize,
    /// Dependencies that are neither in the handoff nor here.
    pub unknown: Vec<String>,
    /// Secrets that were not written.
    pub redacted: Vec<Redaction>,
}

/// Creates the tasks of a handoff that are missing here. The events are the same wherever this
/// runs, so importing twice, or on two machines, has the same result as importing once.
pub fn import_tasks(store: &Store, stored: &StoredHandoff) -> Result<TaskImport, TaskError> {
    let workspace = store.workspace();
    let handoff = stored.handoff(workspace);
    let entries = handoff.node(TASKS_PATH).map(YamlNode::items).unwrap_or_default();
    let mut imported = TaskImport::default();
    if entries.is_empty() {
        return Ok(imported);
    }
    // Sessions are briefed on tasks, so they need the same trust as the handoff.
    if !workspace.may_pass_on(stored) {
        return Err(TaskError::Untrusted(stored.path.clone()));
    }
    let board = TaskBoard::open(store)?;
    let mut redactor = Redactor::for_project(workspace);
    let read: Vec<HandoffTask> =
        entries.iter().filter_map(|entry| HandoffTask::from_node(entry)).collect();
    imported.unreadable = entries.len() - read.len();
    let uids: Vec<TaskId> = read.iter().map(|carried| task_uid(&handoff, carried)).collect();
    let names: BTreeMap<&str, &TaskId> =
        read.iter().map(|carried| carried.id.as_str()).zip(&uids).collect();
    let mut streams = Vec::new();
    for (carried, id) in read.iter().zip(&uids) {
        if board.tasks.get(id).is_some() || imported.created.contains(id) {
            imported.existing.push(id.clone());
            continue;
        }
        let before = find_dependencies(carried, &names, &board.tasks, &mut imported.unknown);
        let events = import_events(&handoff, carried, id, &before, &mut redactor);
        let stream = StreamId::task(id);
        let fits = |event| encode_record(&stream, std::slice::from_ref(event)).is_ok();
        let now = workspace.environment().clock.now();
        if !events.iter().all(fits) || events.iter().any(|event| event.is_ahead_of(now)) {
            imported.unreadable += 1;
            continue;
        }
        imported.created.push(id.clone());
        streams.push((stream, events));
    }
    board.ledger().append_missing(&streams)?;
    imported.redacted = redactor.redactions;
    Ok(imported)
}

/// The uid of an imported task. For a hand-written entry it is derived from the handoff and the
/// entry's name.
fn task_uid(handoff: &Handoff<'_>, carried: &HandoffTask) -> TaskId {
    let made = || {
        let whole = handoff.uid().map_or_else(|| handoff.key().to_string(), |u| u.to_string());
        let uid = uid_of(&[whole.trim(), "task", &carried.id]);
        TaskId::parse(&uid).expect("a uid is one")
    };
    carried.uid.clone().unwrap_or_else(made)
}

/// The dependencies of an imported task, given by uid, by name in the same handoff, or as users
/// type them.
fn find_dependencies(
    carried: &HandoffTask,
    names: &BTreeMap<&str, &TaskId>,
    tasks: &Tasks,
    unknown: &mut Vec<String>,
) -> BTreeSet<TaskId> {
    let mut found = BTreeSet::new();
    for name in &carried.depends_on {
        let here = || tasks.find_or_uid(name).ok();
        match names.get(name.as_str()).map(|id| (*id).clone()).or_else(here) {
            Some(id) => {
                let known = names.values().any(|other| **other == id) || tasks.get(&id).is_some();
                if !known {
                    unknown.push(id.short());
                }
                found.insert(id);
            }
            None => unknown.push(name.clone()),
        }
    }
    found
}

fn import_events(
    handoff: &Handoff<'_>,
    carried: &HandoffTask,
    id: &TaskId,
    before: &BTreeSet<TaskId>,
    redactor: &mut Redactor<'_>,
) -> Vec<Envelope> {
    let clean = HandoffTask {
        subject: redactor.clean(&carried.subject),
        description: carried.description.as_deref().map(|text| redactor.clean(text)),
        reason: carried.reason.as_deref().map(|text| redactor.clean(text)),
        metadata: redactor.clean_all(&carried.metadata),
        ..carried.clone()
    };
    let created = || handoff.created().map(|time| time.moment);
    let time = carried.changed.or_else(created).unwrap_or(Timestamp::UNIX_EPOCH);
    let event = clean.to_event(before, handoff.uid());
    let mut noted = |note: &TaskNote| {
        let (by, text) = (redactor.clean(&note.by), redactor.clean(&note.text));
        task_envelope(id, note.at, &by, TaskEvent::Noted { text })
    };
    let notes: Vec<Envelope> = carried.notes.iter().map(&mut noted).collect();
    let event = Event::Task(event);
    let name = content_id(&[id.as_str(), "carried", &time.to_string(), &event.data().to_string()]);
    let first =
        Envelope { id: name, time, source: "midstride".to_owned(), received_from: None, event };
    std::iter::once(first).chain(notes).collect()
}
