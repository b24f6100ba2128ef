//! Tasks of a client, written down as tasks of the project: each once, however often and in whatever
//! order the client tells. Nothing is ever told back to the client.

use crate::ledger::{AppendError, LedgerError, Patience, SqliteLedger, StreamId};
use crate::project::Project;
use crate::settings::SessionName;
use crate::verbs::task::named;
use jiff::ToSpan as _;
use midstride_core::event::{Envelope, Event, TaskChange, TaskEvent, TaskStatus};
use midstride_core::hook::ClientTask;
use midstride_core::id::TaskId;
use std::collections::{BTreeMap, BTreeSet};

/// Why a task was not written down.
#[derive(Debug, thiserror::Error)]
pub(super) enum MirrorError {
    #[error("the task has no number and no subject")]
    Nameless,
    #[error(transparent)]
    Read(#[from] LedgerError),
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
    let parts = [session.client.as_str(), &session.id, "task", &number];
    let id = task_id(&parts).filter(|_| !number.is_empty() && !subject.is_empty());
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
    let event = |what: &str, time, event| Envelope {
        id: named(&[id.as_str(), what]),
        time,
        source: session.client.clone(),
        event: Event::Task(event),
    };
    // Whoever is told of the end first knows of the beginning too.
    let mut events = vec![event("added", now, added)];
    if is_done {
        let change = TaskChange { status: Some(TaskStatus::Done), ..TaskChange::default() };
        let later = now.checked_add(1.millisecond()).unwrap_or(now);
        events.push(event("completed", later, TaskEvent::Changed(change)));
    }
    let stream = StreamId::task(&id);
    match SqliteLedger::open(project, Patience::Hook) {
        Ok(ledger) => drop(ledger.unite_or_put_aside(&stream, events)?),
        // The client tells of a task once.
        Err(why) => SqliteLedger::put_aside(project, &stream, &events).map_err(|_| why)?,
    }
    Ok(())
}

/// The uid of a task that is known by its session and its number there.
fn task_id(parts: &[&str]) -> Option<TaskId> {
    let hex = named(parts);
    let pieces = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| hex.get(range));
    let pieces: Option<Vec<&str>> = pieces.into_iter().collect();
    TaskId::parse(&pieces?.join("-"))
}
