//! Decides changes to tasks: returns the event to record, or why the change is refused.

use super::{Task, Tasks};
use crate::text::id::TaskId;
use crate::work::event::{TaskChange, TaskEvent, TaskStatus};
use std::collections::{BTreeMap, BTreeSet};

/// A task to add.
#[derive(Clone, Debug, Default)]
pub struct NewTask {
    /// What to do, in one line.
    pub subject: String,
    /// The details.
    pub description: Option<String>,
    /// The tasks it depends on.
    pub depends_on: BTreeSet<TaskId>,
    /// Data from tools.
    pub metadata: BTreeMap<String, String>,
}

/// A requested change to a task. Fields that are not set stay as they are.
#[derive(Clone, Debug, Default)]
pub struct TaskPatch {
    /// What to do, in one line.
    pub subject: Option<String>,
    /// The details.
    pub description: Option<String>,
    /// The new status.
    pub status: Option<TaskStatus>,
    /// Why it is blocked.
    pub reason: Option<String>,
    /// Dependencies to add.
    pub depends_on: BTreeSet<TaskId>,
    /// Dependencies to remove.
    pub removed_dependencies: BTreeSet<TaskId>,
    /// Data from tools; `None` removes an entry.
    pub metadata: BTreeMap<String, Option<String>>,
}

/// Why a change to a task is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TaskRefusal {
    /// The task has an event that this version does not know.
    #[error("it has a `{0}` event from a newer version of midstride")]
    NewerEvent(String),
    /// It already has this status.
    #[error("it is already {0}")]
    AlreadyHasStatus(TaskStatus),
    /// The change has no effect.
    #[error("the update would not change anything")]
    NoChange,
    /// A task cannot depend on itself.
    #[error("a task cannot depend on itself")]
    DependsOnItself,
    /// The tasks would depend on each other in a cycle.
    #[error("this would create a dependency cycle: {}", join_names(.0))]
    DependencyCycle(Vec<TaskId>),
    /// It does not depend on this task.
    #[error("it does not depend on {0}")]
    NotADependency(TaskId),
    /// A reason without the status blocked.
    #[error("a reason can be given only for a blocked task")]
    ReasonWithoutBlock,
}

fn join_names(path: &[TaskId]) -> String {
    path.iter().map(TaskId::short).collect::<Vec<_>>().join(" → ")
}

impl NewTask {
    /// The event that adds it. No task depends on it yet, so it cannot close a cycle.
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
    /// The event that applies a patch to a task.
    pub fn change(&self, task: &Task, patch: &TaskPatch) -> Result<TaskEvent, TaskRefusal> {
        task.check_known()?;
        let patch = &TaskPatch {
            depends_on: self.resolve_ids(&patch.depends_on),
            removed_dependencies: self.resolve_ids(&patch.removed_dependencies),
            ..patch.clone()
        };
        if patch.reason.is_some() && patch.status != Some(TaskStatus::Blocked) {
            return Err(TaskRefusal::ReasonWithoutBlock);
        }
        self.check_dependencies(task, &patch.depends_on)?;
        if let Some(missing) = patch.removed_dependencies.difference(&task.depends_on).next() {
            return Err(TaskRefusal::NotADependency(missing.clone()));
        }
        let change = task.changes_for(patch);
        if change != TaskChange::default() {
            return Ok(TaskEvent::Changed(change));
        }
        Err(patch.status.map_or(TaskRefusal::NoChange, TaskRefusal::AlreadyHasStatus))
    }

    /// Checks that new dependencies do not form a cycle.
    fn check_dependencies(
        &self,
        task: &Task,
        others: &BTreeSet<TaskId>,
    ) -> Result<(), TaskRefusal> {
        for other in others.difference(&task.depends_on) {
            if *other == task.id {
                return Err(TaskRefusal::DependsOnItself);
            }
            if let Some(path) = self.dependency_path(other, &task.id) {
                let cycle = std::iter::once(task.id.clone()).chain(path).collect();
                return Err(TaskRefusal::DependencyCycle(cycle));
            }
        }
        Ok(())
    }
}

impl Task {
    /// The event that adds a note.
    pub fn note(&self, text: &str) -> Result<TaskEvent, TaskRefusal> {
        self.check_known()?;
        Ok(TaskEvent::Noted { text: text.to_owned() })
    }

    fn check_known(&self) -> Result<(), TaskRefusal> {
        self.newer_kinds.first().map_or(Ok(()), |kind| Err(TaskRefusal::NewerEvent(kind.clone())))
    }

    /// The part of a patch that differs from the task.
    fn changes_for(&self, patch: &TaskPatch) -> TaskChange {
        let is_current = patch.status == Some(self.status) && patch.reason == self.reason;
        let uid = |id: &TaskId| id.as_str().to_owned();
        let added = patch.depends_on.difference(&self.depends_on).map(|id| (uid(id), true));
        let removed =
            patch.removed_dependencies.intersection(&self.depends_on).map(|id| (uid(id), false));
        let metadata = patch.metadata.iter().filter(|(k, v)| self.metadata.get(*k) != v.as_ref());
        TaskChange {
            subject: patch.subject.clone().filter(|subject| *subject != self.subject),
            description: patch.description.clone().filter(|d| Some(d) != self.description.as_ref()),
            status: patch.status.filter(|_| !is_current),
            reason: patch.reason.clone().filter(|_| !is_current),
            depends_on: added.chain(removed).collect(),
            metadata: metadata.map(|(key, value)| (key.clone(), value.clone())).collect(),
        }
    }
}
