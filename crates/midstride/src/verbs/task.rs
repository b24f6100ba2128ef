//! Tasks: added, changed and noted in the ledger, one stream each.

pub(in crate::verbs) mod decision;
pub(in crate::verbs) mod mirror;
pub(in crate::verbs) mod redactor;
pub(in crate::verbs) mod transfer;

use crate::store::ledger::{
    AppendError, ExpectedVersion, Ledger, LedgerError, SqliteLedger, StreamId, StreamVersion,
    WaitPolicy,
};
use crate::sys::files::{FileError, Lock};
use crate::sys::ids::{new_uid, sha256};
use crate::verbs::task::decision::{DecidedEvent, append_decided, next_moment};
use crate::verbs::task::redactor::Redactor;
use crate::workspace::project::{Project, SetupMode};
use jiff::Timestamp;
use midstride_core::text::id::TaskId;
use midstride_core::text::redact::Redaction;
use midstride_core::work::event::{Envelope, Event, TaskEvent};
use midstride_core::work::task::{
    CLIENT, NewTask, SESSION, Task, TaskNotFound, TaskPatch, TaskRefusal, Tasks,
};
use std::collections::HashMap;

/// Why a task is as it was.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// The project has no place for it.
    #[error("this project is not set up")]
    NotSetUp,
    /// It was not found.
    #[error(transparent)]
    Find(#[from] TaskNotFound),
    /// What was asked does not fit.
    #[error("{id} stays as it is: {why}")]
    Refused {
        /// The task.
        id: TaskId,
        /// Why.
        why: TaskRefusal,
    },
    /// Something claims to have happened at the last moment there is.
    #[error("nothing can come after {0}, when it was changed last")]
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

/// All tasks of a project, as the ledger tells them now.
#[derive(Debug)]
pub struct TaskBoard {
    ledger: SqliteLedger,
    /// The tasks.
    pub tasks: Tasks,
    versions: HashMap<TaskId, StreamVersion>,
}

/// A task that was added or changed.
#[derive(Debug)]
pub struct ChangedTask {
    /// Which.
    pub id: TaskId,
    /// Secrets that were not written.
    pub redacted: Vec<Redaction>,
}

/// Something that may happen to a task, decided on how all of them stand.
type TaskDecision<'d> = &'d dyn Fn(&Tasks, &Task) -> Result<TaskEvent, TaskRefusal>;

impl TaskBoard {
    /// Reads all tasks.
    pub fn open(project: &Project) -> Result<Self, TaskError> {
        let ledger = open_ledger(project)?;
        let mut board = Self { ledger, tasks: Tasks::default(), versions: HashMap::new() };
        board.reload()?;
        Ok(board)
    }

    /// The ledger they are in.
    pub(in crate::verbs) fn ledger(&self) -> &SqliteLedger {
        &self.ledger
    }

    /// Reads them again.
    pub(in crate::verbs) fn reload(&mut self) -> Result<(), LedgerError> {
        (self.tasks, self.versions) = read_tasks(&self.ledger)?;
        Ok(())
    }

    /// Appends what happens to a task; where somebody else was faster, what happens to it then.
    fn append_change(
        &mut self,
        project: &Project,
        wanted: &str,
        by: &str,
        decide: TaskDecision<'_>,
    ) -> Result<TaskId, TaskError> {
        let Self { ledger, tasks, versions } = self;
        let mut id = tasks.find(wanted)?.id.clone();
        let mut stale = false;
        append_decided(project, ledger, by, || {
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
) -> Result<(Tasks, HashMap<TaskId, StreamVersion>), LedgerError> {
    let records = ledger.read_with_prefix(StreamId::TASKS)?;
    let known = records.iter().filter_map(|record| Some((record.stream.task_id()?, record)));
    let versions = known.clone().map(|(id, record)| (id, record.version)).collect();
    let tasks =
        Tasks::fold(known.flat_map(|(id, record)| {
            record.events.iter().map(move |envelope| (id.clone(), envelope))
        }));
    Ok((tasks, versions))
}

/// The ledger of a project that is set up; a folder that nobody set up is left as it is.
pub(in crate::verbs) fn open_ledger(project: &Project) -> Result<SqliteLedger, TaskError> {
    match project.setup() {
        SetupMode::NotSetUp => Err(TaskError::NotSetUp),
        SetupMode::Committed | SetupMode::Private => {
            Ok(SqliteLedger::open(project, WaitPolicy::Command)?)
        }
    }
}

/// Something that happens to a task. A note is named by what it says, so that it is the same one
/// whichever way it comes; whatever else happens is named by chance.
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
        | TaskEvent::Linked { .. } => new_uid(time),
    };
    Envelope { id: name, time, source: by.to_owned(), event: Event::Task(event) }
}

/// An id for what is known by what it says.
pub(in crate::verbs) fn content_id(parts: &[&str]) -> String {
    sha256(parts.join("\0").as_bytes())[..32].to_owned()
}

/// Adds a task. Nothing is read unless it waits for others.
pub fn add_task(
    project: &Project,
    wanted: &NewTask,
    before: &[String],
    by: Option<&str>,
) -> Result<ChangedTask, TaskError> {
    let mut sieve = Redactor::for_project(project);
    let mut new = NewTask {
        subject: sieve.clean(&wanted.subject),
        description: wanted.description.as_deref().map(|text| sieve.clean(text)),
        depends_on: wanted.depends_on.clone(),
        metadata: sieve.clean_all(&wanted.metadata),
    };
    let by = sieve.clean(actor(project, by));
    let now = project.environment().clock.now();
    let id = TaskId::parse(&new_uid(now)).expect("a uid is one");
    let board;
    let opened;
    let ledger = if before.is_empty() {
        opened = open_ledger(project)?;
        &opened
    } else {
        board = TaskBoard::open(project)?;
        for name in before {
            new.depends_on.insert(board.tasks.find(name)?.id.clone());
        }
        board.ledger()
    };
    let envelope = task_envelope(&id, now, &by, new.to_event());
    ledger.append(&StreamId::task(&id), ExpectedVersion::NoStream, &[envelope])?;
    Ok(ChangedTask { id, redacted: sieve.redactions })
}

/// A task that a session added, or had already.
#[derive(Debug)]
pub struct AddedTask {
    /// Which.
    pub task: ChangedTask,
    /// Whether it is new.
    pub is_new: bool,
}

/// Adds a task for the session that asks. One that the session has under that subject, on the list of
/// its client or here, is that task: it gets what is new.
pub fn add_session_task(
    project: &Project,
    wanted: &NewTask,
    before: &[String],
    by: Option<&str>,
) -> Result<AddedTask, TaskError> {
    let Some(session) = &project.environment().session else {
        return Ok(AddedTask { task: add_task(project, wanted, before, by)?, is_new: true });
    };
    let mut board = TaskBoard::open(project)?;
    let subject = Redactor::for_project(project).clean(&wanted.subject);
    let known = board.tasks.find_in_session(&session.client, &session.id, &subject);
    let Some(id) = known.map(|task| task.id.as_str().to_owned()) else {
        let mut wanted = wanted.clone();
        let own = [(CLIENT, &session.client), (SESSION, &session.id)];
        wanted.metadata.extend(own.map(|(name, value)| (name.to_owned(), value.clone())));
        return Ok(AddedTask { task: add_task(project, &wanted, before, by)?, is_new: true });
    };
    let metadata = wanted.metadata.iter().map(|(key, value)| (key.clone(), Some(value.clone())));
    let wish = TaskChangeRequest {
        patch: TaskPatch {
            description: wanted.description.clone(),
            metadata: metadata.collect(),
            ..TaskPatch::default()
        },
        depends_on: before.to_vec(),
        removed_dependencies: Vec::new(),
    };
    let done = match change_task(project, &mut board, &id, &wish, by) {
        Err(TaskError::Refused { id, why: TaskRefusal::NoChange }) => {
            ChangedTask { id, redacted: Vec::new() }
        }
        done => done?,
    };
    Ok(AddedTask { task: done, is_new: false })
}

/// What is to change about a task; other tasks are named as people type them.
#[derive(Clone, Debug, Default)]
pub struct TaskChangeRequest {
    /// What changes, other tasks apart.
    pub patch: TaskPatch,
    /// Tasks that come first from now on.
    pub depends_on: Vec<String>,
    /// Tasks that do not come first any longer.
    pub removed_dependencies: Vec<String>,
}

/// Changes a task.
pub fn change_task(
    project: &Project,
    board: &mut TaskBoard,
    wanted: &str,
    typed: &TaskChangeRequest,
    by: Option<&str>,
) -> Result<ChangedTask, TaskError> {
    let mut sieve = Redactor::for_project(project);
    let by = sieve.clean(actor(project, by));
    let said = &typed.patch;
    let mut wish = TaskPatch {
        subject: said.subject.as_deref().map(|text| sieve.clean(text)),
        description: said.description.as_deref().map(|text| sieve.clean(text)),
        reason: said.reason.as_deref().map(|text| sieve.clean(text)),
        metadata: said
            .metadata
            .iter()
            .map(|(key, value)| (sieve.clean(key), value.as_deref().map(|v| sieve.clean(v))))
            .collect(),
        ..said.clone()
    };
    // Of two who let tasks wait for each other at once, the second has to see what the first did.
    let _turn = match typed.depends_on.is_empty() {
        true => None,
        false => {
            let turn = Lock::acquire(&project.make_private()?, "task-dependencies")?;
            board.reload()?;
            Some(turn)
        }
    };
    for (names, ids) in [
        (&typed.depends_on, &mut wish.depends_on),
        (&typed.removed_dependencies, &mut wish.removed_dependencies),
    ] {
        for name in names {
            ids.insert(board.tasks.find_or_uid(name)?);
        }
    }
    let id = board.append_change(project, wanted, &by, &|tasks, task| tasks.change(task, &wish))?;
    Ok(ChangedTask { id, redacted: sieve.redactions })
}

/// Says something about a task.
pub fn note_task(
    project: &Project,
    board: &mut TaskBoard,
    wanted: &str,
    text: &str,
    by: Option<&str>,
) -> Result<ChangedTask, TaskError> {
    let mut sieve = Redactor::for_project(project);
    let (by, text) = (sieve.clean(actor(project, by)), sieve.clean(text));
    let task = board.tasks.find(wanted)?;
    let id = task.id.clone();
    let event = task.note(&text).map_err(|why| TaskError::Refused { id: id.clone(), why })?;
    // What is said hangs on nothing, so nobody who says something at once is in the way.
    let envelope = task_envelope(&id, next_moment(project, Some(task.changed))?, &by, event);
    board.ledger.append_missing(&[(StreamId::task(&id), vec![envelope])])?;
    board.reload()?;
    Ok(ChangedTask { id, redacted: sieve.redactions })
}

/// Who does something: whoever is named, else the user.
pub(in crate::verbs) fn actor<'p>(project: &'p Project, by: Option<&'p str>) -> &'p str {
    by.or(project.environment().user.as_deref()).unwrap_or("midstride")
}
