//! Tasks of a client, written down as tasks of the project: each once, however often and in whatever
//! order the client tells. Nothing is ever told back to the client. It says nothing when it deletes one;
//! its transcript does.

use crate::ledger::{AppendError, Ledger, LedgerError, SqliteLedger, StreamId};
use crate::project::Project;
use crate::settings::SessionName;
use crate::verbs::task::named;
use jiff::{Timestamp, ToSpan as _};
use midstride_core::checkpoint::Checkpoint;
use midstride_core::event::{Envelope, Event, TaskChange, TaskEvent, TaskStatus};
use midstride_core::hook::ClientTask;
use midstride_core::id::TaskId;
use midstride_core::session::TaskStatus as ClientStatus;
use midstride_core::task::Task;
use std::collections::{BTreeMap, BTreeSet};

/// Why a task was not written down.
#[derive(Debug, thiserror::Error)]
pub(super) enum MirrorError {
    #[error("the task has no number and no subject")]
    Nameless,
    #[error(transparent)]
    Append(#[from] AppendError),
}

/// Writes down a task that a session made, and that it carried it out.
pub(super) fn mirror(
    project: &Project,
    session: &SessionName,
    task: &ClientTask,
    is_done: bool,
) -> Result<(), MirrorError> {
    let clean = |text: &str| project.clean(text.trim()).0.as_str().to_owned();
    let (number, subject) = (clean(&task.id), clean(&task.subject));
    let id = task_id(&session.client, &session.id, &number);
    let id = id.filter(|_| !number.is_empty() && !subject.is_empty());
    let id = id.ok_or(MirrorError::Nameless)?;
    let metadata =
        [("client", &session.client), ("session", &session.id), ("client_task", &number)];
    let added = TaskEvent::Added {
        subject,
        description: task.description.as_deref().map(clean).filter(|text| !text.is_empty()),
        depends_on: BTreeSet::new(),
        metadata: metadata
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .into_iter()
            .collect::<BTreeMap<_, _>>(),
    };
    let now = project.environment().clock.now();
    let event = |what, time, event| envelope(&id, &session.client, what, time, event);
    // Whoever is told of the end first knows of the beginning too.
    let mut events = vec![event("added", now, added)];
    if is_done {
        events.push(event("completed", after(now), became(TaskStatus::Done)));
    }
    // The client tells of a task once.
    SqliteLedger::tell_or_put_aside(project, &StreamId::task(&id), events)?;
    Ok(())
}

/// What gives up the tasks that a session deleted. Only those that were written down are known here,
/// and what somebody ended meanwhile stays as it is.
pub(super) fn given_up(
    ledger: &dyn Ledger,
    checkpoint: &Checkpoint,
    now: Timestamp,
) -> Result<Vec<(StreamId, Vec<Envelope>)>, LedgerError> {
    let client = checkpoint.client().name();
    let is_deleted = |status: &ClientStatus| *status == ClientStatus::Deleted;
    let deleted = checkpoint.session.tasks.iter().filter(|task| is_deleted(&task.status));
    let mut streams = Vec::new();
    for number in deleted.filter_map(|task| task.id.as_deref()) {
        let Some(id) = task_id(client, checkpoint.session_id(), number) else { continue };
        let stream = StreamId::task(&id);
        let records = ledger.read(&stream, None)?;
        let task = Task::fold(&id, records.iter().flat_map(|record| &record.events));
        if task.is_some_and(|task| task.status.is_open()) {
            let became = became(TaskStatus::Dropped);
            streams.push((stream, vec![envelope(&id, client, "deleted", after(now), became)]));
        }
    }
    Ok(streams)
}

fn became(status: TaskStatus) -> TaskEvent {
    TaskEvent::Changed(TaskChange { status: Some(status), ..TaskChange::default() })
}

/// What is told in the same moment as the beginning comes behind it.
fn after(now: Timestamp) -> Timestamp {
    now.checked_add(1.millisecond()).unwrap_or(now)
}

fn envelope(id: &TaskId, client: &str, what: &str, time: Timestamp, event: TaskEvent) -> Envelope {
    let source = client.to_owned();
    Envelope { id: named(&[id.as_str(), what]), time, source, event: Event::Task(event) }
}

/// The uid of a task that is known by its session and its number there.
fn task_id(client: &str, session: &str, number: &str) -> Option<TaskId> {
    let hex = named(&[client, session, "task", number]);
    let pieces = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| hex.get(range));
    let pieces: Option<Vec<&str>> = pieces.into_iter().collect();
    TaskId::parse(&pieces?.join("-"))
}
