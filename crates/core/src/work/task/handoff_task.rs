//! Tasks in the header of a handoff, under `state.tasks`, so that they can be recreated where the
//! event log is missing.

use super::{Task, TaskNote, TaskStatus, Tasks};
use crate::text::id::{TaskId, Uid};
use crate::text::time::Time;
use crate::text::yaml::{YamlData, YamlNode};
use crate::work::event::TaskEvent;
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// A task in a handoff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandoffTask {
    /// Its name in the handoff: the short id, or the name its author uses.
    pub id: String,
    /// The uid, if it is a midstride task.
    pub uid: Option<TaskId>,
    /// What to do.
    pub subject: String,
    /// The details.
    pub description: Option<String>,
    /// Its status at that time.
    pub status: TaskStatus,
    /// Why it was blocked.
    pub reason: Option<String>,
    /// Its dependencies, by uid or by a name in the same handoff.
    pub depends_on: BTreeSet<String>,
    /// Data from tools.
    pub metadata: BTreeMap<String, String>,
    /// When it last changed.
    pub changed: Option<Timestamp>,
    /// The notes.
    pub notes: Vec<TaskNote>,
}

impl HandoffTask {
    /// A task for the header. Done dependencies are dropped: they are not in the handoff, so the
    /// task would wait for them forever.
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

    /// The YAML for the header.
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

    /// Parses an entry; `None` if it has no subject. A plain text is a subject.
    pub fn from_node(node: &YamlNode) -> Option<Self> {
        let field = |name: &str| Some(node.get(name)?.text()?.value.trim().to_owned());
        let field = |name: &str| field(name).filter(|text| !text.is_empty());
        let plain = || node.text().map(|text| text.value.trim().to_owned());
        let subject = field("subject").or_else(|| field("task")).or_else(plain)?;
        let subject = subject.lines().next().filter(|line| !line.is_empty())?.to_owned();
        let texts = |name: &str| {
            let items = node.get(name).map(YamlNode::items).unwrap_or_default();
            items.into_iter().filter_map(|item| Some(item.text()?.value.trim().to_owned()))
        };
        let metadata = node.get("metadata").map(YamlNode::entries).unwrap_or_default().iter();
        let notes = node.get("notes").map(YamlNode::items).unwrap_or_default();
        Some(Self {
            id: field("id").unwrap_or_else(|| subject.clone()),
            uid: field("uid").and_then(|uid| TaskId::parse(&uid)),
            subject,
            description: field("description"),
            status: field("status")
                .and_then(|word| TaskStatus::parse(&word))
                .unwrap_or(TaskStatus::Pending),
            reason: field("reason"),
            depends_on: texts("depends_on").collect(),
            metadata: metadata
                .filter_map(|entry| {
                    Some((entry.key.value.clone(), entry.node.text()?.value.to_owned()))
                })
                .collect(),
            changed: field("changed").and_then(|text| Time::parse(&text)).map(|time| time.moment),
            notes: notes.into_iter().filter_map(parse_note).collect(),
        })
    }

    /// The event that recreates the task, with its dependencies resolved.
    pub fn to_event(&self, depends_on: &BTreeSet<TaskId>, handoff: Option<Uid>) -> TaskEvent {
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

/// Parses a note; `None` if it has no time or no text.
fn parse_note(node: &YamlNode) -> Option<TaskNote> {
    let field = |name: &str| node.get(name).and_then(YamlNode::text).map(|text| text.value);
    Some(TaskNote {
        at: Time::parse(field("at")?)?.moment,
        by: field("by").unwrap_or("midstride").to_owned(),
        text: field("text")?.to_owned(),
    })
}
