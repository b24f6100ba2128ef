//! Tasks in the header of a handoff: an entry of `state.tasks` each, so that they can be made again
//! where the ledger did not come along.

use super::{Task, TaskNote, TaskStatus, Tasks};
use crate::text::id::TaskId;
use crate::text::time::Time;
use crate::text::yaml::{YamlData, YamlNode};
use crate::work::event::TaskEvent;
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// A task as a handoff carries it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandoffTask {
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
    pub notes: Vec<TaskNote>,
}

impl HandoffTask {
    /// A task on its way. What it waited for and is done stays behind: it is not carried, and would
    /// be waited for in vain.
    pub fn from_task(task: &Task, tasks: &Tasks) -> Self {
        let awaited =
            tasks.awaited_tasks(task).into_iter().map(|awaited| awaited.id.as_str().to_owned());
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
    pub fn data(&self) -> YamlData {
        let text = |text: &Option<String>| text.clone().map(YamlData::Text);
        let some = |list: Vec<YamlData>| (!list.is_empty()).then_some(YamlData::List(list));
        let metadata =
            self.metadata.iter().map(|(key, value)| (key.as_str(), YamlData::text(value)));
        let note = |note: &TaskNote| {
            let at = YamlData::Text(note.at.to_string());
            YamlData::map([
                ("at", at),
                ("by", YamlData::text(&note.by)),
                ("text", YamlData::text(&note.text)),
            ])
        };
        let entries = [
            ("id", Some(YamlData::text(&self.id))),
            ("uid", self.uid.as_ref().map(|uid| YamlData::text(uid.as_str()))),
            ("subject", Some(YamlData::text(&self.subject))),
            ("description", text(&self.description)),
            ("status", Some(YamlData::Bare(self.status.word().to_owned()))),
            ("reason", text(&self.reason)),
            ("depends_on", some(self.depends_on.iter().map(YamlData::text).collect())),
            ("metadata", (!self.metadata.is_empty()).then(|| YamlData::map(metadata))),
            ("changed", self.changed.map(|moment| YamlData::Text(moment.to_string()))),
            ("notes", some(self.notes.iter().map(note).collect())),
        ];
        YamlData::map(entries.into_iter().filter_map(|(key, value)| Some((key, value?))))
    }

    /// Reads an entry, whoever wrote it; `None` where it does not say what is to be done. A plain
    /// text is a subject.
    pub fn from_node(node: &YamlNode) -> Option<Self> {
        let said = |name: &str| Some(node.get(name)?.text()?.value.trim().to_owned());
        let said = |name: &str| said(name).filter(|text| !text.is_empty());
        let plain = || node.text().map(|text| text.value.trim().to_owned());
        let subject = said("subject").or_else(|| said("task")).or_else(plain)?;
        let subject = subject.lines().next().filter(|line| !line.is_empty())?.to_owned();
        let texts = |name: &str| {
            let items = node.get(name).map(YamlNode::items).unwrap_or_default();
            items.into_iter().filter_map(|item| Some(item.text()?.value.trim().to_owned()))
        };
        let metadata = node.get("metadata").map(YamlNode::entries).unwrap_or_default().iter();
        let notes = node.get("notes").map(YamlNode::items).unwrap_or_default();
        Some(Self {
            id: said("id").unwrap_or_else(|| subject.clone()),
            uid: said("uid").and_then(|uid| TaskId::parse(&uid)),
            subject,
            description: said("description"),
            status: said("status")
                .and_then(|word| TaskStatus::parse(&word))
                .unwrap_or(TaskStatus::Pending),
            reason: said("reason"),
            depends_on: texts("depends_on").collect(),
            metadata: metadata
                .filter_map(|entry| {
                    Some((entry.key.value.clone(), entry.node.text()?.value.to_owned()))
                })
                .collect(),
            changed: said("changed").and_then(|text| Time::parse(&text)).map(|time| time.moment),
            notes: notes.into_iter().filter_map(parse_note).collect(),
        })
    }

    /// The event that makes it again, once it is known which tasks it waits for.
    pub fn to_event(&self, depends_on: &BTreeSet<TaskId>, handoff: Option<String>) -> TaskEvent {
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
fn parse_note(node: &YamlNode) -> Option<TaskNote> {
    let said = |name: &str| node.get(name).and_then(YamlNode::text).map(|text| text.value);
    Some(TaskNote {
        at: Time::parse(said("at")?)?.moment,
        by: said("by").unwrap_or("midstride").to_owned(),
        text: said("text")?.to_owned(),
    })
}
