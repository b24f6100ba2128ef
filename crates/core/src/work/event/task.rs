//! Events about tasks. The state of a task is the fold of its events.

use super::family::EventFamily;
use crate::text::id::{SessionId, Uid};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The status of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// Not started.
    Pending,
    /// In progress.
    InProgress,
    /// Blocked by something other than tasks.
    Blocked,
    /// Done.
    Done,
    /// Given up.
    Dropped,
}

impl TaskStatus {
    /// Every status, in lifecycle order.
    pub const ALL: [Self; 5] =
        [Self::Pending, Self::InProgress, Self::Blocked, Self::Done, Self::Dropped];

    /// The word for this status.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Blocked => "blocked",
            Self::Done => "done",
            Self::Dropped => "dropped",
        }
    }

    /// Parses a status word.
    pub fn parse(word: &str) -> Option<Self> {
        let plain = word.trim().to_lowercase().replace([' ', '-'], "_");
        match plain.as_str() {
            // Other task systems use this word.
            "completed" => Some(Self::Done),
            word => Self::ALL.into_iter().find(|status| status.word() == word),
        }
    }

    /// Whether the task is not closed yet.
    pub fn is_open(self) -> bool {
        match self {
            Self::Pending | Self::InProgress | Self::Blocked => true,
            Self::Done | Self::Dropped => false,
        }
    }
}

impl std::fmt::Display for TaskStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

/// An event about a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind")]
#[non_exhaustive]
pub enum TaskEvent {
    /// It was added.
    #[serde(rename = "task.added")]
    Added {
        /// What to do, in one line.
        subject: String,
        /// The details.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// The uids of the tasks it depends on.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        depends_on: BTreeSet<String>,
        /// Data from tools, such as `agent_id`, `iteration` and `mode`.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        metadata: BTreeMap<String, String>,
    },
    /// It came with a handoff. Other events about the task take precedence.
    #[serde(rename = "task.carried")]
    Carried {
        /// What to do, in one line.
        subject: String,
        /// The details.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// Its status at that time.
        status: TaskStatus,
        /// Why it was blocked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The uids of the tasks it depends on.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        depends_on: BTreeSet<String>,
        /// Data from tools.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        metadata: BTreeMap<String, String>,
        /// The uid of the handoff.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        handoff: Option<Uid>,
    },
    /// It was changed. Fields that are not set stay as they are.
    #[serde(rename = "task.changed")]
    Changed(TaskChange),
    /// A client's session reported its own task.
    #[serde(rename = "task.captured")]
    Captured(CapturedTask),
    /// It is the same task as another one: events of either apply to both.
    #[serde(rename = "task.linked")]
    Linked {
        /// The uid of the other task.
        task: String,
    },
    /// A note was added.
    #[serde(rename = "task.noted")]
    Noted {
        /// The text of the note.
        text: String,
    },
}

/// The metadata key for the client. With [`SESSION`] and [`CLIENT_TASK`], it identifies a client's
/// task.
pub const CLIENT: &str = "client";
/// The metadata key for the session. See [`CLIENT`].
pub const SESSION: &str = "session";
/// The metadata key for the client's task number. See [`CLIENT`].
pub const CLIENT_TASK: &str = "client_task";

impl TaskEvent {
    /// See [`super::Event::without_session`].
    pub(super) fn without_session(&self, client: &str, session: &SessionId) -> Option<Self> {
        let is_named = |metadata: &BTreeMap<String, String>| {
            let has = |name: &str, value: &str| metadata.get(name).is_some_and(|it| it == value);
            has(CLIENT, client) && has(SESSION, session.as_str())
        };
        let quotes = match self {
            Self::Added { metadata, .. } => is_named(metadata),
            Self::Captured(CapturedTask { key, metadata, .. }) => {
                is_named(metadata) || (key.client == client && key.list == session.as_str())
            }
            // These come from handoffs, which stay, or from later work on the task.
            Self::Carried { .. } | Self::Changed(_) | Self::Linked { .. } | Self::Noted { .. } => {
                false
            }
        };
        let status = Some(TaskStatus::Dropped);
        quotes.then(|| Self::Changed(TaskChange { status, ..TaskChange::default() }))
    }
}

/// A change to a task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskChange {
    /// What to do, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The details.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The new status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<TaskStatus>,
    /// Why it is blocked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Dependencies by uid: `true` adds one, `false` removes it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub depends_on: BTreeMap<String, bool>,
    /// Data from tools; `None` removes an entry.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, Option<String>>,
}

/// A client's task, as reported by its session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapturedTask {
    /// Identifies the client's task.
    #[serde(flatten)]
    pub key: ClientTaskKey,
    /// What to do, in one line.
    pub subject: String,
    /// The details.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its status.
    pub status: TaskStatus,
    /// The uids of the tasks it depends on.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub depends_on: BTreeSet<String>,
    /// Its session, number, owner and agent, and data that the agent attached.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
}

/// Identifies a client's task. It stays the same when a session is captured again or resumed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ClientTaskKey {
    /// The client.
    pub client: String,
    /// The list that contains the task: the session, unless sessions share a list.
    pub list: String,
    /// The task number, or its text if the client has no numbers.
    pub task: String,
}

impl EventFamily for TaskEvent {
    const NAME: &'static str = "task";
    const VERSION: u32 = 1;

    fn kind(&self) -> &'static str {
        match self {
            Self::Added { .. } => "task.added",
            Self::Carried { .. } => "task.carried",
            Self::Changed(_) => "task.changed",
            Self::Captured(_) => "task.captured",
            Self::Linked { .. } => "task.linked",
            Self::Noted { .. } => "task.noted",
        }
    }
}
