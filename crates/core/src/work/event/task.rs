//! What happens to a task. Its state is the fold of these.

use super::family::EventFamily;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// Nobody began.
    Pending,
    /// Somebody works on it.
    InProgress,
    /// Something outside the tasks is in the way.
    Blocked,
    /// It was carried out.
    Done,
    /// It was given up.
    Dropped,
}

impl TaskStatus {
    /// Every status, in the order of a life.
    pub const ALL: [Self; 5] =
        [Self::Pending, Self::InProgress, Self::Blocked, Self::Done, Self::Dropped];

    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Blocked => "blocked",
            Self::Done => "done",
            Self::Dropped => "dropped",
        }
    }

    /// The status of a word.
    pub fn parse(word: &str) -> Option<Self> {
        let plain = word.trim().to_lowercase().replace([' ', '-'], "_");
        match plain.as_str() {
            // What other task systems call it.
            "completed" => Some(Self::Done),
            word => Self::ALL.into_iter().find(|status| status.word() == word),
        }
    }

    /// Whether something is left to do.
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

/// What happened to a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind")]
pub enum TaskEvent {
    /// Somebody wrote it down.
    #[serde(rename = "task.added")]
    Added {
        /// What is to be done, in one line.
        subject: String,
        /// The rest of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// The uids of the tasks that come first.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        depends_on: BTreeSet<String>,
        /// What tools know about it: `agent_id`, `iteration`, `mode` and whatever else.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        metadata: BTreeMap<String, String>,
    },
    /// A handoff told how it stood; what is known from elsewhere counts more.
    #[serde(rename = "task.carried")]
    Carried {
        /// What is to be done, in one line.
        subject: String,
        /// The rest of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// Where it stood.
        status: TaskStatus,
        /// What was in the way.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The uids of the tasks that come first.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        depends_on: BTreeSet<String>,
        /// What tools know about it.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        metadata: BTreeMap<String, String>,
        /// The uid of the handoff.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        handoff: Option<String>,
    },
    /// Something about it changed; what is not named stays.
    #[serde(rename = "task.changed")]
    Changed(TaskChange),
    /// A session of a client says how its own task is.
    #[serde(rename = "task.captured")]
    Captured(CapturedTask),
    /// It is the same task as another one: what happens to either happens to both.
    #[serde(rename = "task.linked")]
    Linked {
        /// The uid of the other one.
        task: String,
    },
    /// Somebody said something about it.
    #[serde(rename = "task.noted")]
    Noted {
        /// What was said.
        text: String,
    },
}

/// The metadata that names the client, the session and the number of a client's task.
pub const CLIENT: &str = "client";
/// See [`CLIENT`].
pub const SESSION: &str = "session";
/// See [`CLIENT`].
pub const CLIENT_TASK: &str = "client_task";

impl TaskEvent {
    /// See [`super::Event::without_session`].
    pub(super) fn without_session(&self, client: &str, session: &str) -> Option<Self> {
        let is_named = |metadata: &BTreeMap<String, String>| {
            let has = |name: &str, value: &str| metadata.get(name).is_some_and(|it| it == value);
            has(CLIENT, client) && has(SESSION, session)
        };
        let quotes = match self {
            Self::Added { metadata, .. } => is_named(metadata),
            Self::Captured(CapturedTask { key, metadata, .. }) => {
                is_named(metadata) || (key.client == client && key.list == session)
            }
            // Those come from handoffs, which stay, or from whoever worked on the task later.
            Self::Carried { .. } | Self::Changed(_) | Self::Linked { .. } | Self::Noted { .. } => {
                false
            }
        };
        let status = Some(TaskStatus::Dropped);
        quotes.then(|| Self::Changed(TaskChange { status, ..TaskChange::default() }))
    }
}

/// What changes about a task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskChange {
    /// What is to be done, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The rest of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Where it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<TaskStatus>,
    /// What is in the way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Tasks by their uid, and whether they come first from now on.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub depends_on: BTreeMap<String, bool>,
    /// What tools know about it; nothing takes an entry away.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, Option<String>>,
}

/// A task of a client, as its session says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapturedTask {
    /// Which task of which client.
    #[serde(flatten)]
    pub key: ClientTaskKey,
    /// What is to be done, in one line.
    pub subject: String,
    /// The rest of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its status.
    pub status: TaskStatus,
    /// The uids of the tasks that come first.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub depends_on: BTreeSet<String>,
    /// Its session, its number there, its owner, its agent, and what the agent attached.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
}

/// What a client knows a task by. It is the same however often a session is captured or resumed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ClientTaskKey {
    /// The client.
    pub client: String,
    /// The list that the task is on: the session, unless sessions share one.
    pub list: String,
    /// Its number, or its text where the client gives no numbers.
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
