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
pub struct Wish {
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
    pub no_longer: BTreeSet<TaskId>,
    /// What tools know about it; nothing takes an entry away.
    pub metadata: BTreeMap<String, Option<String>>,
}

/// Why a task stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Something about it is not understood here.
    #[error("it has `{0}`, which a newer midstride wrote")]
    Newer(String),
    /// It has that status.
    #[error("it is {0} already")]
    Already(TaskStatus),
    /// It is what it should become.
    #[error("nothing about it would change")]
    Nothing,
    /// A task cannot come before itself.
    #[error("a task cannot wait for itself")]
    Itself,
    /// Nobody could ever begin.
    #[error("they would wait for each other: {}", names(.0))]
    Circle(Vec<TaskId>),
    /// It does not wait for that one.
    #[error("it does not wait for {0}")]
    DoesNotWait(TaskId),
    /// A reason says what is in the way.
    #[error("only a blocked task has a reason")]
    Reason,
}

fn names(way: &[TaskId]) -> String {
    way.iter().map(TaskId::short).collect::<Vec<_>>().join(" → ")
}

impl NewTask {
    /// The event that makes it. Nobody waits for it yet, so there is no circle.
    pub fn added(&self) -> TaskEvent {
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
    pub fn change(&self, task: &Task, wish: &Wish) -> Result<TaskEvent, Refusal> {
        task.understood()?;
        let wish = &Wish {
            depends_on: self.followed(&wish.depends_on),
            no_longer: self.followed(&wish.no_longer),
            ..wish.clone()
        };
        if wish.reason.is_some() && wish.status != Some(TaskStatus::Blocked) {
            return Err(Refusal::Reason);
        }
        self.may_wait(task, &wish.depends_on)?;
        if let Some(stranger) = wish.no_longer.difference(&task.depends_on).next() {
            return Err(Refusal::DoesNotWait(stranger.clone()));
        }
        let change = task.changes(wish);
        if change != TaskChange::default() {
            return Ok(TaskEvent::Changed(change));
        }
        Err(wish.status.map_or(Refusal::Nothing, Refusal::Already))
    }

    /// Whether a task may wait for others without anybody waiting for ever.
    fn may_wait(&self, task: &Task, others: &BTreeSet<TaskId>) -> Result<(), Refusal> {
        for other in others.difference(&task.depends_on) {
            if *other == task.id {
                return Err(Refusal::Itself);
            }
            if let Some(way) = self.way(other, &task.id) {
                let circle = std::iter::once(task.id.clone()).chain(way).collect();
                return Err(Refusal::Circle(circle));
            }
        }
        Ok(())
    }
}

impl Task {
    /// What somebody says about it.
    pub fn note(&self, text: &str) -> Result<TaskEvent, Refusal> {
        self.understood()?;
        Ok(TaskEvent::Noted { text: text.to_owned() })
    }

    fn understood(&self) -> Result<(), Refusal> {
        self.newer.first().map_or(Ok(()), |kind| Err(Refusal::Newer(kind.clone())))
    }

    /// The part of a wish that is not so yet.
    fn changes(&self, wish: &Wish) -> TaskChange {
        let stands = wish.status == Some(self.status) && wish.reason == self.reason;
        let uid = |id: &TaskId| id.as_str().to_owned();
        let comes = wish.depends_on.difference(&self.depends_on).map(|id| (uid(id), true));
        let goes = wish.no_longer.intersection(&self.depends_on).map(|id| (uid(id), false));
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
