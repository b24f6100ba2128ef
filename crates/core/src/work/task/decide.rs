//! What may happen to a task: an event, or why not.

use super::{Task, Tasks};
use crate::text::id::TaskId;
use crate::work::event::{TaskChange, TaskEvent, TaskStatus};
use std::collections::{BTreeMap, BTreeSet};

/// A task that somebody wants.
#[derive(Clone, Debug, Default)]
pub struct NewTask {
    /// What is to be done, in one line.
    pub subject: String,
    /// The rest of it.
    pub description: Option<String>,
    /// The tasks that come first.
    pub depends_on: BTreeSet<TaskId>,
    /// What tools know about it.
    pub metadata: BTreeMap<String, String>,
}

/// How somebody wants a task to be; what is not named stays.
#[derive(Clone, Debug, Default)]
pub struct TaskPatch {
    /// What is to be done, in one line.
    pub subject: Option<String>,
    /// The rest of it.
    pub description: Option<String>,
    /// Where it stands.
    pub status: Option<TaskStatus>,
    /// What is in the way.
    pub reason: Option<String>,
    /// Tasks that come first from now on.
    pub depends_on: BTreeSet<TaskId>,
    /// Tasks that do not come first any longer.
    pub removed_dependencies: BTreeSet<TaskId>,
    /// What tools know about it; nothing takes an entry away.
    pub metadata: BTreeMap<String, Option<String>>,
}

/// Why a task stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TaskRefusal {
    /// Something about it is not understood here.
    #[error("it has `{0}`, which a newer midstride wrote")]
    NewerEvent(String),
    /// It has that status.
    #[error("it is {0} already")]
    AlreadyHasStatus(TaskStatus),
    /// It is what it should become.
    #[error("nothing about it would change")]
    NoChange,
    /// A task cannot come before itself.
    #[error("a task cannot wait for itself")]
    DependsOnItself,
    /// Nobody could ever begin.
    #[error("they would wait for each other: {}", join_names(.0))]
    DependencyCycle(Vec<TaskId>),
    /// It does not wait for that one.
    #[error("it does not wait for {0}")]
    NotADependency(TaskId),
    /// A reason says what is in the way.
    #[error("only a blocked task has a reason")]
    ReasonWithoutBlock,
}

fn join_names(way: &[TaskId]) -> String {
    way.iter().map(TaskId::short).collect::<Vec<_>>().join(" → ")
}

impl NewTask {
    /// The event that makes it. Nobody waits for it yet, so there is no circle.
    pub fn to_event(&self) -> TaskEvent {
        TaskEvent::Added {
            subject: self.subject.clone(),
            description: self.description.clone(),
            depends_on: self.depends_on.iter().map(|id| id.as_str().to_owned()).collect(),
            metadata: self.metadata.clone(),
        }
    }
}

impl Tasks {
    /// What happens to a task so that it becomes what somebody wants.
    pub fn change(&self, task: &Task, wish: &TaskPatch) -> Result<TaskEvent, TaskRefusal> {
        task.check_known()?;
        let wish = &TaskPatch {
            depends_on: self.resolve_ids(&wish.depends_on),
            removed_dependencies: self.resolve_ids(&wish.removed_dependencies),
            ..wish.clone()
        };
        if wish.reason.is_some() && wish.status != Some(TaskStatus::Blocked) {
            return Err(TaskRefusal::ReasonWithoutBlock);
        }
        self.check_dependencies(task, &wish.depends_on)?;
        if let Some(stranger) = wish.removed_dependencies.difference(&task.depends_on).next() {
            return Err(TaskRefusal::NotADependency(stranger.clone()));
        }
        let change = task.changes_for(wish);
        if change != TaskChange::default() {
            return Ok(TaskEvent::Changed(change));
        }
        Err(wish.status.map_or(TaskRefusal::NoChange, TaskRefusal::AlreadyHasStatus))
    }

    /// Whether a task may wait for others without anybody waiting for ever.
    fn check_dependencies(
        &self,
        task: &Task,
        others: &BTreeSet<TaskId>,
    ) -> Result<(), TaskRefusal> {
        for other in others.difference(&task.depends_on) {
            if *other == task.id {
                return Err(TaskRefusal::DependsOnItself);
            }
            if let Some(way) = self.dependency_path(other, &task.id) {
                let circle = std::iter::once(task.id.clone()).chain(way).collect();
                return Err(TaskRefusal::DependencyCycle(circle));
            }
        }
        Ok(())
    }
}

impl Task {
    /// What somebody says about it.
    pub fn note(&self, text: &str) -> Result<TaskEvent, TaskRefusal> {
        self.check_known()?;
        Ok(TaskEvent::Noted { text: text.to_owned() })
    }

    fn check_known(&self) -> Result<(), TaskRefusal> {
        self.newer_kinds.first().map_or(Ok(()), |kind| Err(TaskRefusal::NewerEvent(kind.clone())))
    }

    /// The part of a wish that is not so yet.
    fn changes_for(&self, wish: &TaskPatch) -> TaskChange {
        let stands = wish.status == Some(self.status) && wish.reason == self.reason;
        let uid = |id: &TaskId| id.as_str().to_owned();
        let comes = wish.depends_on.difference(&self.depends_on).map(|id| (uid(id), true));
        let goes =
            wish.removed_dependencies.intersection(&self.depends_on).map(|id| (uid(id), false));
        let metadata = wish.metadata.iter().filter(|(k, v)| self.metadata.get(*k) != v.as_ref());
        TaskChange {
            subject: wish.subject.clone().filter(|subject| *subject != self.subject),
            description: wish.description.clone().filter(|d| Some(d) != self.description.as_ref()),
            status: wish.status.filter(|_| !stands),
            reason: wish.reason.clone().filter(|_| !stands),
            depends_on: comes.chain(goes).collect(),
            metadata: metadata.map(|(key, value)| (key.clone(), value.clone())).collect(),
        }
    }
}
