//! Tasks: units of work with a status, dependencies, and data from tools.
//!
//! A task is the fold of its events. Events from two machines give the same task in any order: for
//! each field the later event wins, by its time and then its id, and no note is ever lost.

mod client_tasks;
mod decide;
mod handoff_task;
mod role;

pub use decide::{NewTask, TaskPatch, TaskRefusal};
pub use handoff_task::HandoffTask;
pub use role::TaskRole;

use crate::text::id::{TaskId, Uid};
use crate::work::event::{
    CapturedTask, ClientTaskKey, Envelope, Event, TaskEvent, timestamp_after,
};
use jiff::Timestamp;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

pub use crate::work::event::{CLIENT, CLIENT_TASK, SESSION, TaskStatus};

/// A unit of work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its uid.
    pub id: TaskId,
    /// What to do, in one line; empty if the event that added it is missing.
    pub subject: String,
    /// The details.
    pub description: Option<String>,
    /// The status.
    pub status: TaskStatus,
    /// Why it is blocked, if it is.
    pub reason: Option<String>,
    /// The tasks it depends on.
    pub depends_on: BTreeSet<TaskId>,
    /// Data from tools, such as `agent_id`, `iteration` and `mode`.
    pub metadata: BTreeMap<String, String>,
    /// The notes, in order.
    pub notes: Vec<TaskNote>,
    /// The last report of each client's session about it.
    pub captured: BTreeMap<ClientTaskKey, CapturedTask>,
    /// The uid of the handoff it came with.
    pub handoff: Option<Uid>,
    /// Who added it.
    pub by: String,
    /// The time of its first event.
    pub added: Timestamp,
    /// The time of its last event.
    pub changed: Timestamp,
    /// Kinds of events that a newer midstride wrote. With any of these, the task cannot be changed
    /// here.
    pub newer_kinds: BTreeSet<String>,
}

/// A note on a task.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskNote {
    /// When it was added.
    pub at: Timestamp,
    /// Who added it.
    pub by: String,
    /// The text.
    pub text: String,
}

impl Task {
    /// Folds events into a task, in any order and with duplicates; `None` without events.
    pub fn fold<'e>(id: &TaskId, events: impl IntoIterator<Item = &'e Envelope>) -> Option<Self> {
        let mut events: Vec<&Envelope> = events.into_iter().collect();
        events.sort_by(|one, other| event_order(one, other));
        events.dedup_by_key(|envelope| &envelope.id);
        let mut task = Self::empty(id, events.first()?);
        // A task that several clients know was added several times. The first one names it.
        let is_added =
            |envelope: &&Envelope| matches!(envelope.event, Event::Task(TaskEvent::Added { .. }));
        let repeats = events.iter().copied().filter(is_added).skip(1);
        let later: HashSet<&str> = repeats.map(|envelope| envelope.id.as_str()).collect();
        for envelope in events {
            task.apply(envelope, later.contains(envelope.id.as_str()));
        }
        task.notes.sort();
        task.notes.dedup();
        Some(task)
    }

    fn empty(id: &TaskId, first: &Envelope) -> Self {
        Self {
            id: id.clone(),
            subject: String::new(),
            description: None,
            status: TaskStatus::Pending,
            reason: None,
            depends_on: BTreeSet::new(),
            metadata: BTreeMap::new(),
            notes: Vec::new(),
            captured: BTreeMap::new(),
            handoff: None,
            by: first.source.clone(),
            added: first.time,
            changed: first.time,
            newer_kinds: BTreeSet::new(),
        }
    }

    fn apply(&mut self, envelope: &Envelope, is_again: bool) {
        self.added = self.added.min(envelope.time);
        self.changed = self.changed.max(envelope.time);
        match &envelope.event {
            Event::Task(TaskEvent::Added { metadata, .. }) if is_again => {
                self.set_status(TaskStatus::Pending, None);
                self.metadata.extend(metadata.clone());
            }
            Event::Task(event) => self.apply_event(event, envelope),
            Event::Unknown(unknown) => {
                self.newer_kinds.insert(unknown.kind.clone());
            }
            // Events about other things do not affect a task.
            Event::Handoff(_)
            | Event::Proof(_)
            | Event::Mission(_)
            | Event::Session(_)
            | Event::Text(_)
            | Event::Workflow(_)
            | Event::Instruction(_) => {}
        }
    }

    fn apply_event(&mut self, event: &TaskEvent, envelope: &Envelope) {
        match event {
            TaskEvent::Added { subject, description, depends_on, metadata } => {
                self.subject.clone_from(subject);
                self.description.clone_from(description);
                self.set_status(TaskStatus::Pending, None);
                self.depends_on.extend(depends_on.iter().filter_map(|id| TaskId::parse(id)));
                self.metadata.extend(metadata.clone());
                self.by.clone_from(&envelope.source);
            }
            TaskEvent::Carried {
                subject,
                description,
                status,
                reason,
                depends_on,
                metadata,
                handoff,
            } => {
                self.subject.clone_from(subject);
                self.description.clone_from(description);
                self.set_status(*status, reason.as_ref());
                self.depends_on.extend(depends_on.iter().filter_map(|id| TaskId::parse(id)));
                self.metadata.extend(metadata.clone());
                self.handoff.clone_from(handoff);
            }
            TaskEvent::Changed(change) => {
                if let Some(subject) = &change.subject {
                    self.subject.clone_from(subject);
                }
                if change.description.is_some() {
                    self.description.clone_from(&change.description);
                }
                if let Some(status) = change.status {
                    self.set_status(status, change.reason.as_ref());
                }
                for (id, depends) in &change.depends_on {
                    match (TaskId::parse(id), depends) {
                        (Some(id), true) => _ = self.depends_on.insert(id),
                        (Some(id), false) => _ = self.depends_on.remove(&id),
                        (None, _) => {}
                    }
                }
                for (name, value) in &change.metadata {
                    match value {
                        Some(value) => _ = self.metadata.insert(name.clone(), value.clone()),
                        None => _ = self.metadata.remove(name),
                    }
                }
            }
            TaskEvent::Captured(captured) => self.apply_captured(captured),
            // `Tasks::fold` resolves links, because it sees all tasks.
            TaskEvent::Linked { .. } => {}
            TaskEvent::Noted { text } => self.notes.push(TaskNote {
                at: envelope.time,
                by: envelope.source.clone(),
                text: text.clone(),
            }),
        }
    }

    fn set_status(&mut self, status: TaskStatus, reason: Option<&String>) {
        self.status = status;
        self.reason = reason.filter(|_| status == TaskStatus::Blocked).cloned();
    }

    /// The time for a new event: now, but after its last event.
    pub fn next_timestamp(&self, now: Timestamp) -> Option<Timestamp> {
        timestamp_after(Some(self.changed), now)
    }
}

/// The order in which events apply. Events from handoffs come first, so that any other event
/// overrides them.
fn event_order(one: &Envelope, other: &Envelope) -> Ordering {
    let is_direct =
        |envelope: &Envelope| !matches!(envelope.event, Event::Task(TaskEvent::Carried { .. }));
    let data = |envelope: &Envelope| envelope.event.data().to_string();
    (is_direct(one), one.time, &one.id)
        .cmp(&(is_direct(other), other.time, &other.id))
        // Ids are unique. If two events share one anyway, the order is still well defined.
        .then_with(|| data(one).cmp(&data(other)))
}

/// All tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tasks {
    by_id: BTreeMap<TaskId, Task>,
    /// The ids, oldest task first.
    order: Vec<TaskId>,
    /// Other uids of linked tasks, each with the uid that is used.
    links: BTreeMap<TaskId, TaskId>,
}

/// Why a task was not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TaskNotFound {
    /// No task matches.
    #[error("there is no task `{0}`")]
    None(String),
    /// Several tasks match.
    #[error("`{wanted}` matches {} tasks", candidates.len())]
    Ambiguous {
        /// The name that was asked for.
        wanted: String,
        /// The id and subject of each match.
        candidates: Vec<(TaskId, String)>,
    },
}

/// A task that another one waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AwaitedTask<'t> {
    /// The id of the task.
    pub id: &'t TaskId,
    /// Its status; `None` if the task is not here.
    pub status: Option<TaskStatus>,
}

impl Tasks {
    /// Folds the events of many tasks.
    pub fn fold<'e>(events: impl IntoIterator<Item = (TaskId, &'e Envelope)>) -> Self {
        let mut by_task: BTreeMap<TaskId, Vec<&Envelope>> = BTreeMap::new();
        for (id, envelope) in events {
            by_task.entry(id).or_default().push(envelope);
        }
        let links = client_tasks::resolved_links(&by_task);
        for (id, to) in &links {
            let linked = by_task.remove(id).unwrap_or_default();
            by_task.entry(to.clone()).or_default().extend(linked);
        }
        let folded = by_task.into_iter().filter_map(|(id, events)| {
            let mut task = Task::fold(&id, events)?;
            task.resolve_links(&links);
            Some((id, task))
        });
        Self::new(folded.collect(), links)
    }

    fn new(by_id: BTreeMap<TaskId, Task>, links: BTreeMap<TaskId, TaskId>) -> Self {
        let mut order: Vec<TaskId> = by_id.keys().cloned().collect();
        order.sort_by_key(|id| by_id.get(id).map(|task| (task.added, task.number())));
        Self { by_id, order, links }
    }

    /// The task with this id, also if it is linked.
    pub fn get(&self, id: &TaskId) -> Option<&Task> {
        self.by_id.get(self.links.get(id).unwrap_or(id))
    }

    /// Every task, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Task> {
        self.order.iter().filter_map(|id| self.by_id.get(id))
    }

    /// Whether there are no tasks.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// Finds a task by its short name or uid, by the start of either, or by its client's number, as
    /// in `T-004`.
    pub fn find(&self, wanted: &str) -> Result<&Task, TaskNotFound> {
        let typed = wanted.trim().to_lowercase();
        if let Some(task) = TaskId::parse(&typed).and_then(|id| self.get(&id)) {
            return Ok(task);
        }
        let matches = |task: &&Task| {
            let (short, uid) = (task.id.short(), task.id.as_str());
            short.starts_with(&typed) || short[2..].starts_with(&typed) || uid.starts_with(&typed)
        };
        let mut found: Vec<&Task> = match typed.is_empty() {
            true => Vec::new(),
            false => self.iter().filter(matches).collect(),
        };
        found.extend(self.find_by_number(&typed));
        match found.as_slice() {
            [] => Err(TaskNotFound::None(wanted.to_owned())),
            [one] => Ok(one),
            several => Err(TaskNotFound::Ambiguous {
                wanted: wanted.to_owned(),
                candidates: several.iter().map(|t| (t.id.clone(), t.subject.clone())).collect(),
            }),
        }
    }

    /// Finds a task like [`Self::find`], or accepts the full uid of a task that is not here.
    pub fn find_or_uid(&self, wanted: &str) -> Result<TaskId, TaskNotFound> {
        let found = self.find(wanted).map(|task| task.id.clone());
        found.or_else(|why| TaskId::parse(wanted).ok_or(why))
    }

    /// The dependencies of a task that are not done.
    pub fn awaited_tasks<'t>(&'t self, task: &'t Task) -> Vec<AwaitedTask<'t>> {
        let status = |id: &TaskId| self.get(id).map(|other| other.status);
        task.depends_on
            .iter()
            .map(|id| AwaitedTask { id, status: status(id) })
            .filter(|awaited| awaited.status != Some(TaskStatus::Done))
            .collect()
    }

    /// Whether it is ready to start: it is work, it is pending, and its dependencies are done.
    pub fn is_ready(&self, task: &Task) -> bool {
        let is_work = task.role() == TaskRole::Work;
        is_work && task.status == TaskStatus::Pending && self.awaited_tasks(task).is_empty()
    }

    /// Whether it is blocked: by its status, or by a dependency that is not done.
    pub fn is_blocked(&self, task: &Task) -> bool {
        match task.status {
            TaskStatus::Blocked => true,
            TaskStatus::Pending => !self.awaited_tasks(task).is_empty(),
            TaskStatus::InProgress | TaskStatus::Done | TaskStatus::Dropped => false,
        }
    }

    /// Cycles of open tasks that depend on each other. A single clone refuses to create one, but
    /// two clones together can.
    pub fn cycles(&self) -> Vec<Vec<TaskId>> {
        let mut done: HashSet<&TaskId> = HashSet::new();
        let mut found = Vec::new();
        for start in self.by_id.keys() {
            self.find_cycles_from(start, &mut done, &mut found);
        }
        found
    }

    /// Follows dependencies with an explicit stack, because chains can be long.
    fn find_cycles_from<'t>(
        &'t self,
        start: &'t TaskId,
        done: &mut HashSet<&'t TaskId>,
        found: &mut Vec<Vec<TaskId>>,
    ) {
        if done.contains(start) {
            return;
        }
        let mut path: Vec<(&TaskId, Vec<&TaskId>)> = vec![(start, self.open_dependencies(start))];
        let mut on_path: HashSet<&TaskId> = HashSet::from([start]);
        while let Some((id, before)) = path.last_mut() {
            let id = *id;
            match before.pop() {
                Some(next) if on_path.contains(next) => {
                    let from = path.iter().position(|(id, _)| *id == next).unwrap_or_default();
                    found.push(path[from..].iter().map(|(id, _)| (*id).clone()).collect());
                }
                Some(next) if !done.contains(next) => {
                    on_path.insert(next);
                    path.push((next, self.open_dependencies(next)));
                }
                Some(_) => {}
                None => {
                    done.insert(id);
                    on_path.remove(id);
                    path.pop();
                }
            }
        }
    }

    /// The open dependencies of an open task.
    fn open_dependencies(&self, id: &TaskId) -> Vec<&TaskId> {
        let open = |id: &TaskId| self.by_id.get(id).filter(|task| task.status.is_open());
        let before = open(id).map(|task| task.depends_on.iter()).into_iter().flatten();
        before.filter(|id| open(id).is_some()).collect()
    }

    /// A path from one task to another along dependencies, both ends included.
    fn dependency_path(&self, from: &TaskId, to: &TaskId) -> Option<Vec<TaskId>> {
        let mut came_from: HashMap<&TaskId, &TaskId> = HashMap::new();
        let mut next = vec![from];
        let mut seen: HashSet<&TaskId> = HashSet::from([from]);
        while let Some(at) = next.pop() {
            if at == to {
                let back = std::iter::successors(Some(at), |at| came_from.get(at).copied());
                let mut path: Vec<TaskId> = back.cloned().collect();
                path.reverse();
                return Some(path);
            }
            for before in self.by_id.get(at).map(|task| &task.depends_on).into_iter().flatten() {
                if seen.insert(before) {
                    came_from.insert(before, at);
                    next.push(before);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
