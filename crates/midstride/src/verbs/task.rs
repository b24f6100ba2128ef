//! Adds, changes and annotates tasks in the ledger, with one stream per task.

pub(in crate::verbs) mod decision;
pub(in crate::verbs) mod mirror;
pub(in crate::verbs) mod redactor;
pub(in crate::verbs) mod transfer;

use crate::store::Store;
use crate::store::ledger::{
    AppendError, ExpectedVersion, Ledger, LedgerError, LocalLedger as _, ProjectLedger, StreamId,
    Version,
};
use crate::sys::files::{FileError, Lock};
use crate::sys::ids::{new_uid, sha256};
use crate::verbs::task::decision::{DecidedEvent, append_decided, next_moment};
use crate::verbs::task::redactor::Redactor;
use crate::workspace::{SetupMode, Workspace};
use jiff::Timestamp;
use midstride_core::text::id::TaskId;
use midstride_core::text::redact::Redaction;
use midstride_core::work::event::{Envelope, Event, TaskEvent};
use midstride_core::work::task::{
    CLIENT, NewTask, SESSION, Task, TaskNotFound, TaskPatch, TaskRefusal, TaskStatus, Tasks,
};
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

/// Why a task was not changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// The project is not set up.
    #[error("this project is not set up")]
    NotSetUp,
    /// The tasks are in a handoff that the user does not trust.
    #[error("the tasks in `{}` were not created, because the handoff is not trusted", .0.display())]
    Untrusted(PathBuf),
    /// It was not found.
    #[error(transparent)]
    Find(#[from] TaskNotFound),
    /// The change does not fit the task.
    #[error("{id} was not changed: {why}")]
    Refused {
        /// The task.
        id: TaskId,
        /// The reason.
        why: TaskRefusal,
    },
    /// The task has an event at the last representable time.
    #[error(
        "the last change is dated {0}, the latest possible time, so no later change can be \
         recorded"
    )]
    EndOfTime(Timestamp),
    /// The ledger cannot be read.
    #[error(transparent)]
    Read(#[from] LedgerError),
    /// The ledger cannot be written.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The lock could not be taken.
    #[error(transparent)]
    File(#[from] FileError),
}

/// All tasks of a project, from the ledger.
#[derive(Debug)]
pub struct TaskBoard<'s> {
    ledger: &'s ProjectLedger,
    /// The tasks.
    pub tasks: Tasks,
    versions: HashMap<TaskId, Version>,
}

/// A task that was added or changed.
#[derive(Debug)]
pub struct ChangedTask {
    /// Its id.
    pub id: TaskId,
    /// Secrets that were not written.
    pub redacted: Vec<Redaction>,
}

/// A change to a task, and what it means for other tasks.
#[derive(Debug)]
pub struct TaskChangeOutcome {
    /// The task.
    pub task: ChangedTask,
    /// Its status before the change, if it was known.
    pub previous_status: Option<TaskStatus>,
    /// Other tasks that are ready to start now and were not before.
    pub newly_ready: Vec<TaskId>,
}

/// Decides on an event for a task, given all tasks.
type TaskDecision<'d> = &'d dyn Fn(&Tasks, &Task) -> Result<TaskEvent, TaskRefusal>;

impl<'s> TaskBoard<'s> {
    /// Reads all tasks.
    pub fn open(store: &'s Store) -> Result<Self, TaskError> {
        let ledger = open_ledger(store)?;
        let mut board = Self { ledger, tasks: Tasks::default(), versions: HashMap::new() };
        board.reload()?;
        Ok(board)
    }

    /// The ledger the tasks are in.
    pub(in crate::verbs) fn ledger(&self) -> &'s ProjectLedger {
        self.ledger
    }

    /// Reads the tasks again.
    pub(in crate::verbs) fn reload(&mut self) -> Result<(), LedgerError> {
        (self.tasks, self.versions) = read_tasks(self.ledger)?;
        Ok(())
    }

    /// Appends an event to a task. If another process changed it meanwhile, decides again.
    fn append_change(
        &mut self,
        workspace: &Workspace,
        wanted: &str,
        by: &str,
        decide: TaskDecision<'_>,
    ) -> Result<TaskId, TaskError> {
        let Self { ledger, tasks, versions } = self;
        let ledger = *ledger;
        let mut id = tasks.find(wanted)?.id.clone();
        let mut stale = false;
        append_decided(workspace, ledger, by, || {
            if std::mem::replace(&mut stale, true) {
                (*tasks, *versions) = read_tasks(ledger)?;
            }
            let task = tasks.find(wanted)?;
            id = task.id.clone();
            let refused = |why| TaskError::Refused { id: task.id.clone(), why };
            let event = Event::Task(decide(tasks, task).map_err(refused)?);
            let version = versions.get(&task.id).copied();
            let stream = StreamId::task(&task.id);
            Ok::<_, TaskError>(DecidedEvent { stream, version, last: Some(task.changed), event })
        })?;
        self.reload()?;
        Ok(id)
    }
}

pub(in crate::verbs) fn read_tasks(
    ledger: &dyn Ledger,
) -> Result<(Tasks, HashMap<TaskId, Version>), LedgerError> {
    let records = ledger.read_with_prefix(StreamId::TASKS)?;
    let known = records.iter().filter_map(|record| Some((record.stream.task_id()?, record)));
    let versions = known.clone().map(|(id, record)| (id, record.version)).collect();
    let tasks =
        Tasks::fold(known.flat_map(|(id, record)| {
            record.events.iter().map(move |envelope| (id.clone(), envelope))
        }));
    Ok((tasks, versions))
}

/// The ledger of a project that is set up. Refuses a folder that is not.
pub(in crate::verbs) fn open_ledger(store: &Store) -> Result<&ProjectLedger, TaskError> {
    match store.workspace().setup() {
        SetupMode::NotSetUp => Err(TaskError::NotSetUp),
        SetupMode::Committed | SetupMode::Private => Ok(store.ledger()?),
    }
}

/// The envelope for a task event. A note's id is derived from its content, so that it is the same
/// in every clone. All other events get a random id.
pub(in crate::verbs) fn task_envelope(
    id: &TaskId,
    time: Timestamp,
    by: &str,
    event: TaskEvent,
) -> Envelope {
    let name = match &event {
        TaskEvent::Noted { text } => content_id(&[id.as_str(), &time.to_string(), by, text]),
        TaskEvent::Added { .. }
        | TaskEvent::Carried { .. }
        | TaskEvent::Changed(_)
        | TaskEvent::Captured(_)
        | TaskEvent::Linked { .. }
        | _ => new_uid(time),
    };
    Envelope {
        id: name,
        time,
        source: by.to_owned(),
        received_from: None,
        event: Event::Task(event),
    }
}

/// An id derived from the content.
pub(in crate::verbs) fn content_id(parts: &[&str]) -> String {
    sha256(parts.join("\0").as_bytes())[..32].to_owned()
}

/// Adds a task. Reads no other tasks unless it depends on some.
fn add_task(
    store: &Store,
    wanted: &NewTask,
    before: &[String],
    by: Option<&str>,
) -> Result<ChangedTask, TaskError> {
    let workspace = store.workspace();
    let mut redactor = Redactor::for_project(workspace);
    let mut new = NewTask {
        subject: redactor.clean(&wanted.subject),
        description: wanted.description.as_deref().map(|text| redactor.clean(text)),
        depends_on: wanted.depends_on.clone(),
        metadata: redactor.clean_all(&wanted.metadata),
    };
    let by = redactor.clean(&actor(workspace, by));
    let now = workspace.environment().clock.now();
    let id = TaskId::parse(&new_uid(now)).expect("a uid is one");
    let ledger = open_ledger(store)?;
    if !before.is_empty() {
        let board = TaskBoard::open(store)?;
        for name in before {
            new.depends_on.insert(board.tasks.find(name)?.id.clone());
        }
    }
    let envelope = task_envelope(&id, now, &by, new.to_event());
    ledger.append(&StreamId::task(&id), ExpectedVersion::NoStream, &[envelope])?;
    Ok(ChangedTask { id, redacted: redactor.redactions })
}

/// A task a session added or already had.
#[derive(Debug)]
pub struct AddedTask {
    /// The task.
    pub task: ChangedTask,
    /// Whether it is new.
    pub is_new: bool,
}

/// Adds a task for the current session. If the session already has a task with this subject, on its
/// client's list or here, updates that one instead.
pub fn add_session_task(
    store: &Store,
    wanted: &NewTask,
    before: &[String],
    by: Option<&str>,
) -> Result<AddedTask, TaskError> {
    let workspace = store.workspace();
    let Some(session) = &workspace.environment().session else {
        return Ok(AddedTask { task: add_task(store, wanted, before, by)?, is_new: true });
    };
    let mut board = TaskBoard::open(store)?;
    let subject = Redactor::for_project(workspace).clean(&wanted.subject);
    let known = board.tasks.find_in_session(&session.client, &session.id, &subject);
    let Some(id) = known.map(|task| task.id.as_str().to_owned()) else {
        let mut wanted = wanted.clone();
        let own = [(CLIENT, session.client.as_str()), (SESSION, session.id.as_str())];
        wanted.metadata.extend(own.map(|(name, value)| (name.to_owned(), value.to_owned())));
        return Ok(AddedTask { task: add_task(store, &wanted, before, by)?, is_new: true });
    };
    let metadata = wanted.metadata.iter().map(|(key, value)| (key.clone(), Some(value.clone())));
    let change = TaskChangeRequest {
        patch: TaskPatch {
            description: wanted.description.clone(),
            metadata: metadata.collect(),
            ..TaskPatch::default()
        },
        depends_on: before.to_vec(),
        removed_dependencies: Vec::new(),
    };
    let done = match change_task(workspace, &mut board, &id, &change, by) {
        Err(TaskError::Refused { id, why: TaskRefusal::NoChange }) => {
            ChangedTask { id, redacted: Vec::new() }
        }
        done => done?.task,
    };
    Ok(AddedTask { task: done, is_new: false })
}

/// Changes to a task. Other tasks are named the way users type them.
#[derive(Clone, Debug, Default)]
pub struct TaskChangeRequest {
    /// The changes, without dependencies.
    pub patch: TaskPatch,
    /// Dependencies to add.
    pub depends_on: Vec<String>,
    /// Dependencies to remove.
    pub removed_dependencies: Vec<String>,
}

/// Changes a task.
pub fn change_task(
    workspace: &Workspace,
    board: &mut TaskBoard,
    wanted: &str,
    typed: &TaskChangeRequest,
    by: Option<&str>,
) -> Result<TaskChangeOutcome, TaskError> {
    let previous_status = board.tasks.find(wanted).ok().map(|task| task.status);
    let were_ready = ready_ids(&board.tasks);
    let mut redactor = Redactor::for_project(workspace);
    let by = redactor.clean(&actor(workspace, by));
    let patch = &typed.patch;
    let mut clean_patch = TaskPatch {
        subject: patch.subject.as_deref().map(|text| redactor.clean(text)),
        description: patch.description.as_deref().map(|text| redactor.clean(text)),
        reason: patch.reason.as_deref().map(|text| redactor.clean(text)),
        metadata: patch
            .metadata
            .iter()
            .map(|(key, value)| (redactor.clean(key), value.as_deref().map(|v| redactor.clean(v))))
            .collect(),
        ..patch.clone()
    };
    // When two processes add dependencies at once, the second must see what the first added, or a
    // cycle could form.
    let _turn = match typed.depends_on.is_empty() {
        true => None,
        false => {
            let turn = Lock::acquire(&workspace.make_private()?, "task-dependencies")?;
            board.reload()?;
            Some(turn)
        }
    };
    for (names, ids) in [
        (&typed.depends_on, &mut clean_patch.depends_on),
        (&typed.removed_dependencies, &mut clean_patch.removed_dependencies),
    ] {
        for name in names {
            ids.insert(board.tasks.find_or_uid(name)?);
        }
    }
    let id = board
        .append_change(workspace, wanted, &by, &|tasks, task| tasks.change(task, &clean_patch))?;
    let is_newly_ready = |other: &TaskId| *other != id && !were_ready.contains(other);
    let newly_ready = ready_ids(&board.tasks).into_iter().filter(is_newly_ready).collect();
    let task = ChangedTask { id, redacted: redactor.redactions };
    Ok(TaskChangeOutcome { task, previous_status, newly_ready })
}

fn ready_ids(tasks: &Tasks) -> BTreeSet<TaskId> {
    tasks.iter().filter(|task| tasks.is_ready(task)).map(|task| task.id.clone()).collect()
}

/// Adds a note to a task.
pub fn note_task(
    workspace: &Workspace,
    board: &mut TaskBoard,
    wanted: &str,
    text: &str,
    by: Option<&str>,
) -> Result<ChangedTask, TaskError> {
    let mut redactor = Redactor::for_project(workspace);
    let (by, text) = (redactor.clean(&actor(workspace, by)), redactor.clean(text));
    let task = board.tasks.find(wanted)?;
    let id = task.id.clone();
    let event = task.note(&text).map_err(|why| TaskError::Refused { id: id.clone(), why })?;
    // A note does not depend on the task's state, so concurrent notes do not conflict.
    let envelope = task_envelope(&id, next_moment(workspace, Some(task.changed))?, &by, event);
    board.ledger.append_missing(&[(StreamId::task(&id), vec![envelope])])?;
    board.reload()?;
    Ok(ChangedTask { id, redacted: redactor.redactions })
}

/// The actor: the given name, or else the agent or the user that runs the command.
pub(in crate::verbs) fn actor(workspace: &Workspace, by: Option<&str>) -> String {
    workspace.environment().author(by)
}
