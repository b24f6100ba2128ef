//! The items stored for a session.
//!
//! The stored format is stable: fields may be added, but never change their meaning.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where an item was seen, and who said it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The id of the record.
    pub record: String,
    /// The line in the transcript.
    pub number: u64,
    /// The timestamp of the record.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub at: Option<Timestamp>,
    /// Who said it.
    pub source: Attribution,
    /// The agent that did it, if not the session itself.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub agent: Option<String>,
}

impl Provenance {
    /// Whether this came later. Records of agents may be in another file, where line numbers do not
    /// compare; there the timestamps decide.
    pub fn is_after(&self, other: &Self) -> bool {
        match (self.at, other.at) {
            (Some(this), Some(that)) if self.agent != other.agent => this > that,
            _ => self.number > other.number,
        }
    }
}

/// Who said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Attribution {
    /// The user said it.
    User,
    /// The client recorded it as it happened.
    Observed,
    /// The agent said it.
    Agent,
}

/// A prompt from the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The record of the prompt.
    pub seen: Provenance,
    /// The text of the prompt.
    pub text: String,
    /// Why it counts as a correction, if it does.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub correction: Option<Correction>,
    /// The sentences that limit all further work.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub limits: Vec<String>,
    /// The branch that was checked out, where the prompt limits further work.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<String>,
    /// Whether a script sent it, as in `claude -p`.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub headless: bool,
    /// Whether it names no work: an answer, "go on", "commit and push".
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub trivial: bool,
}

/// Why a prompt counts as a correction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Correction {
    /// The user interrupted the agent first.
    AfterInterrupt,
    /// The user rejected a call, before the prompt or with it.
    AfterRejection,
    /// It is worded as a correction.
    Worded,
}

/// A prompt that was queued and never delivered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueuedPrompt {
    /// The record of the prompt.
    pub seen: Provenance,
    /// The text of the prompt.
    pub text: String,
}

/// An answer of the user to a question of the client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserAnswer {
    /// The record of the answer.
    pub seen: Provenance,
    /// The question.
    pub question: String,
    /// The option that the user chose, or the text they wrote.
    pub answer: String,
}

/// A plan document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanDocument {
    /// The record that mentions the plan.
    pub seen: Provenance,
    /// The state of the plan.
    pub state: PlanState,
    /// The path of the plan file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<String>,
    /// The beginning of the text.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub text: Option<String>,
}

/// The state of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlanState {
    /// It was read.
    Read,
    /// It was written.
    Written,
    /// It was proposed, and the user has not decided.
    Proposed,
    /// The user approved it.
    Approved,
    /// The user rejected it.
    Rejected,
}

impl PlanState {
    /// A short description.
    pub fn description(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Written => "written",
            Self::Proposed => "proposed, not decided",
            Self::Approved => "approved by the user",
            Self::Rejected => "rejected by the user",
        }
    }
}

/// A task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionTask {
    /// The record that created the task.
    pub seen: Provenance,
    /// The record that changed it last.
    pub changed: Provenance,
    /// The id, where the client assigns one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub id: Option<String>,
    /// What has to be done.
    pub subject: String,
    /// A longer description.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
    /// The status.
    pub status: SessionTaskStatus,
    /// The ids of tasks that must end first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub blocked_by: Vec<String>,
    /// The owner, as the client names them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub owner: Option<String>,
    /// Metadata that the agent attached.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub metadata: BTreeMap<String, String>,
}

/// The status of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionTaskStatus {
    /// Not started.
    Pending,
    /// Started.
    InProgress,
    /// Done.
    Completed,
    /// Removed from the list.
    Deleted,
    /// Anything else, as the client writes it.
    Other(String),
}

impl SessionTaskStatus {
    /// Parses a status as clients write it.
    pub fn parse(text: &str) -> Self {
        match text {
            "pending" | "todo" | "open" | "" => Self::Pending,
            "in_progress" | "in-progress" | "active" => Self::InProgress,
            "completed" | "done" => Self::Completed,
            "deleted" | "cancelled" | "canceled" => Self::Deleted,
            other => Self::Other(other.chars().take(40).collect()),
        }
    }

    /// Whether there is work left to do.
    pub fn is_open(&self) -> bool {
        !matches!(self, Self::Completed | Self::Deleted)
    }

    /// The name of the status.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in progress",
            Self::Completed => "completed",
            Self::Deleted => "deleted",
            Self::Other(other) => other,
        }
    }
}

/// An agent that the session started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    /// The record that started the agent.
    pub seen: Provenance,
    /// The id, where it is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub id: Option<String>,
    /// The type of the agent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kind: Option<String>,
    /// A short description of the assignment.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub about: Option<String>,
    /// The full prompt.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub prompt: Option<String>,
    /// Whether it is still running.
    pub state: AgentState,
    /// The record of its end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended: Option<Provenance>,
    /// Its final report.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub report: Option<String>,
}

/// Whether an agent is still running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentState {
    /// No record of its end.
    InFlight,
    /// It finished.
    Ended,
    /// It failed, was stopped or was not allowed.
    Failed,
}

/// A command that the session ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutedCommand {
    /// The record of the call.
    pub seen: Provenance,
    /// The command line.
    pub text: String,
    /// How it ended.
    pub exit: CommandStatus,
    /// The exit code, where a record gives it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<i64>,
    /// The last lines of its output when it failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
    /// The record of its end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended: Option<Provenance>,
    /// The id under which it runs in the background.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub background: Option<String>,
    /// The later run in which the same command passed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub passed_later: Option<LaterPass>,
    pub(super) hash: u64,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommandStatus {
    /// No record of its end.
    Running,
    /// It succeeded.
    Passed,
    /// It failed.
    Failed,
    /// It was not allowed, so it never ran.
    NotAllowed,
    /// It was interrupted.
    Interrupted,
}

/// A later run in which a failed command passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaterPass {
    /// The record of the run that passed.
    pub seen: Provenance,
    /// Files that changed between the two runs.
    pub changed: Vec<String>,
}

/// A tool call that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolError {
    /// The record of the result.
    pub seen: Provenance,
    /// The tool.
    pub tool: String,
    /// The file that the call was about.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<String>,
    /// The last lines of the error.
    pub text: String,
}

/// A call that was rejected or denied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejection {
    /// The record of the rejection.
    pub seen: Provenance,
    /// The tool.
    pub tool: String,
    /// What the call was for, where it is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub about: Option<String>,
    /// The user's reason, or the rule.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub said: Option<String>,
}

/// An interrupt by the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interrupt {
    /// The record of the interrupt.
    pub seen: Provenance,
}

/// A use of a skill or slash command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skill {
    /// The record of the use.
    pub seen: Provenance,
    /// Its name.
    pub name: String,
    /// The arguments.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub arguments: String,
}

/// A compaction: the client replaced the context with a summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compaction {
    /// The record of the compaction.
    pub seen: Provenance,
    /// What triggered it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub trigger: Option<String>,
    /// Tokens before.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tokens_before: Option<u64>,
    /// Tokens after.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tokens_after: Option<u64>,
    /// A hash of the summary, to distinguish two compactions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub summary_hash: Option<String>,
}

/// A failed request to the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiError {
    /// The record of the error.
    pub seen: Provenance,
    /// The HTTP status.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub status: Option<u64>,
    /// The error message.
    pub text: String,
}

/// A turn: everything from one prompt to the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// The record that started it.
    pub seen: Provenance,
    /// What started it.
    pub start: TurnStart,
    /// The agent's messages, oldest first. An earlier turn keeps its last message and the longer
    /// ones before it; the latest turn keeps every message.
    pub said: Vec<AgentMessage>,
    /// The last event in it.
    pub end: TurnEnd,
    /// Whether it is over, where the client says so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub is_over: Option<bool>,
}

impl Turn {
    /// The total size of its messages in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.said.iter().map(|message| message.text.len()).sum()
    }
}

/// What started a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TurnStart {
    /// A prompt from the user.
    User,
    /// A notice that a background task ended.
    Notice,
    /// The client, before any prompt.
    Client,
}

/// The last event of a turn. A turn that ends with a message from the agent is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TurnEnd {
    /// Nothing yet.
    Nothing,
    /// The agent wrote a message.
    Said,
    /// The agent called a tool, or a call returned.
    Called,
    /// The user interrupted the agent.
    Interrupted,
    /// A request to the model failed.
    Failed,
}

/// A message from the agent to the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentMessage {
    /// The record of the message.
    pub seen: Provenance,
    /// The text.
    pub text: String,
}

/// The agent's last message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastMessage {
    /// The record of the message.
    pub seen: Provenance,
    /// The text.
    pub text: String,
    /// Redacted secrets, by kind. They count only while this is the last message.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub redacted: BTreeMap<String, u64>,
}
