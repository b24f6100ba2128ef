//! Tasks in the header of a handoff: an entry of `state.tasks` each, so that they can be made again
//! where the ledger did not come along.

use super::{Note, Task, TaskStatus, Tasks};
use crate::text::id::TaskId;
use crate::text::time::Time;
use crate::text::yaml::{Data, Node};
use crate::work::event::TaskEvent;
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// A task as a handoff carries it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    /// Its name in the handoff: the short one, or whatever its author calls it.
    pub id: String,
    /// Its uid, where it is one of ours.
    pub uid: Option<TaskId>,
    /// What is to be done.
    pub subject: String,
    /// The rest of it.
    pub description: Option<String>,
    /// Where it stood.
    pub status: TaskStatus,
    /// What was in the way.
    pub reason: Option<String>,
    /// What came first, by uid or by a name in the same handoff.
    pub depends_on: BTreeSet<String>,
    /// What tools know about it.
    pub metadata: BTreeMap<String, String>,
    /// When it last changed.
    pub changed: Option<Timestamp>,
    /// What was said about it.
    pub notes: Vec<Note>,
}

impl Carried {
    /// A task on its way. What it waited for and is done stays behind: it is not carried, and would
    /// be waited for in vain.
    pub fn of(task: &Task, tasks: &Tasks) -> Self {
        let awaited = tasks.awaited(task).into_iter().map(|awaited| awaited.id.as_str().to_owned());
        Self {
            id: task.id.short(),
            uid: Some(task.id.clone()),
            subject: task.subject.clone(),
            description: task.description.clone(),
            status: task.status,
            reason: task.reason.clone(),
            depends_on: awaited.collect(),
            metadata: task.metadata.clone(),
            changed: Some(task.changed),
            notes: task.notes.clone(),
        }
    }

    /// As it is written in the header.
    pub fn data(&self) -> Data {
        let text = |text: &Option<String>| text.clone().map(Data::Text);
        let some = |list: Vec<Data>| (!list.is_empty()).then_some(Data::List(list));
        let metadata = self.metadata.iter().map(|(key, value)| (key.as_str(), Data::text(value)));
        let note = |note: &Note| {
            let at = Data::Text(note.at.to_string());
            Data::map([("at", at), ("by", Data::text(&note.by)), ("text", Data::text(&note.text))])
        };
        let entries = [
            ("id", Some(Data::text(&self.id))),
            ("uid", self.uid.as_ref().map(|uid| Data::text(uid.as_str()))),
            ("subject", Some(Data::text(&self.subject))),
            ("description", text(&self.description)),
            ("status", Some(Data::Bare(self.status.word().to_owned()))),
            ("reason", text(&self.reason)),
            ("depends_on", some(self.depends_on.iter().map(Data::text).collect())),
            ("metadata", (!self.metadata.is_empty()).then(|| Data::map(metadata))),
            ("changed", self.changed.map(|moment| Data::Text(moment.to_string()))),
            ("notes", some(self.notes.iter().map(note).collect())),
        ];
        Data::map(entries.into_iter().filter_map(|(key, value)| Some((key, value?))))
    }

    /// Reads an entry, whoever wrote it; `None` where it does not say what is to be done. A plain
    /// text is a subject.
    pub fn read(node: &Node) -> Option<Self> {
        let said = |name: &str| Some(node.get(name)?.text()?.value.trim().to_owned());
        let said = |name: &str| said(name).filter(|text| !text.is_empty());
        let plain = || node.text().map(|text| text.value.trim().to_owned());
        let subject = said("subject").or_else(|| said("task")).or_else(plain)?;
        let subject = subject.lines().next().filter(|line| !line.is_empty())?.to_owned();
        let texts = |name: &str| {
            let items = node.get(name).map(Node::items).unwrap_or_default();
            items.into_iter().filter_map(|item| Some(item.text()?.value.trim().to_owned()))
        };
        let metadata = node.get("metadata").map(Node::entries).unwrap_or_default().iter();
        let notes = node.get("notes").map(Node::items).unwrap_or_default();
        Some(Self {
            id: said("id").unwrap_or_else(|| subject.clone()),
            uid: said("uid").and_then(|uid| TaskId::parse(&uid)),
            subject,
            description: said("description"),
            status: said("status")
                .and_then(|word| TaskStatus::read(&word))
                .unwrap_or(TaskStatus::Pending),
            reason: said("reason"),
            depends_on: texts("depends_on").collect(),
            metadata: metadata
                .filter_map(|entry| {
                    Some((entry.key.value.clone(), entry.node.text()?.value.to_owned()))
                })
                .collect(),
            changed: said("changed").and_then(|text| Time::read(&text)).map(|time| time.moment),
            notes: notes.into_iter().filter_map(note).collect(),
        })
    }

    /// The event that makes it again, once it is known which tasks it waits for.
    pub fn event(&self, depends_on: &BTreeSet<TaskId>, handoff: Option<String>) -> TaskEvent {
        TaskEvent::Carried {
            subject: self.subject.clone(),
            description: self.description.clone(),
            status: self.status,
            reason: self.reason.clone(),
            depends_on: depends_on.iter().map(|id| id.as_str().to_owned()).collect(),
            metadata: self.metadata.clone(),
            handoff,
        }
    }
}

/// A note without a time or a text is nobody's.
fn note(node: &Node) -> Option<Note> {
    let said = |name: &str| node.get(name).and_then(Node::text).map(|text| text.value);
    Some(Note {
        at: Time::read(said("at")?)?.moment,
        by: said("by").unwrap_or("midstride").to_owned(),
        text: said("text")?.to_owned(),
    })
}
