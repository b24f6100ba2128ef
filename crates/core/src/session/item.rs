//! What is kept of a session, item by item. These are stored: a field is added, never given another
//! meaning.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The client that ran a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Client {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
}

impl Client {
    /// Every client whose transcripts are read.
    pub const ALL: [Self; 2] = [Self::ClaudeCode, Self::Codex];

    /// Its name, as it is typed and stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
        }
    }

    /// The client of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|client| client.name() == name)
    }
}

/// Where an item was observed, and whose word it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The id of the record.
    pub record: String,
    /// Its line in the transcript.
    pub number: u64,
    /// When, as the record says.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub at: Option<Timestamp>,
    /// Whose word it is.
    pub source: Attribution,
    /// The agent that did it, where it was not the session itself.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub agent: Option<String>,
}

impl Provenance {
    /// Whether it came later. Records of agents may be counted in another file: there the time says it.
    pub fn is_after(&self, other: &Self) -> bool {
        match (self.at, other.at) {
            (Some(this), Some(that)) if self.agent != other.agent => this > that,
            _ => self.number > other.number,
        }
    }
}

/// Whose word something is.
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

/// What the user asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Where it stands.
    pub seen: Provenance,
    /// What was asked.
    pub text: String,
    /// Why it is taken for a correction, if it is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub correction: Option<Correction>,
    /// The sentences in it that limit all further work.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub limits: Vec<String>,
    /// The branch that was checked out, where it limits further work.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<String>,
    /// Whether it came from a script, as in `claude -p`.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub headless: bool,
    /// Whether it names no work of its own: an answer, "go on", "commit and push".
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub trivial: bool,
}

/// Why something the user said is taken for a correction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Correction {
    /// They stopped the agent first.
    AfterInterrupt,
    /// They rejected a call first, or with it.
    AfterRejection,
    /// It is worded as one.
    Worded,
}

/// What the user typed and the client did not get to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueuedPrompt {
    /// Where it stands.
    pub seen: Provenance,
    /// What was typed.
    pub text: String,
}

/// What the user answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserAnswer {
    /// Where it stands.
    pub seen: Provenance,
    /// What the client asked.
    pub question: String,
    /// What was chosen or said.
    pub answer: String,
}

/// A plan document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanDocument {
    /// Where it is told.
    pub seen: Provenance,
    /// What came of it.
    pub state: PlanState,
    /// Where it lies.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<String>,
    /// How it begins.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub text: Option<String>,
}

/// What came of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlanState {
    /// It was read.
    Read,
    /// It was written.
    Written,
    /// It was put before the user, who has not decided.
    Proposed,
    /// The user approved it.
    Approved,
    /// The user rejected it.
    Rejected,
}

impl PlanState {
    /// In a few words.
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
    /// Where it was made.
    pub seen: Provenance,
    /// Where it was changed last.
    pub changed: Provenance,
    /// Its id, where the client gives one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub id: Option<String>,
    /// What is to be done.
    pub subject: String,
    /// In more words.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
    /// Where it stands.
    pub status: SessionTaskStatus,
    /// Tasks that have to end first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub blocked_by: Vec<String>,
    /// Who does it, as the client names them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub owner: Option<String>,
    /// What the agent attached to it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub metadata: BTreeMap<String, String>,
}

/// Where a task stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionTaskStatus {
    /// Not begun.
    Pending,
    /// Begun.
    InProgress,
    /// Done.
    Completed,
    /// Taken off the list.
    Deleted,
    /// Anything else, as the client writes it.
    Other(String),
}

impl SessionTaskStatus {
    /// Reads a status as clients write it.
    pub fn parse(text: &str) -> Self {
        match text {
            "pending" | "todo" | "open" | "" => Self::Pending,
            "in_progress" | "in-progress" | "active" => Self::InProgress,
            "completed" | "done" => Self::Completed,
            "deleted" | "cancelled" | "canceled" => Self::Deleted,
            other => Self::Other(other.chars().take(40).collect()),
        }
    }

    /// Whether something is left to do.
    pub fn is_open(&self) -> bool {
        !matches!(self, Self::Completed | Self::Deleted)
    }

    /// In one word.
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
    /// Where it was started.
    pub seen: Provenance,
    /// Its id, where it is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub id: Option<String>,
    /// Its type.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kind: Option<String>,
    /// What it was asked, in a few words.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub about: Option<String>,
    /// What it was asked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub prompt: Option<String>,
    /// Whether it still works.
    pub state: AgentState,
    /// Where its end is told.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended: Option<Provenance>,
    /// What it reported at its end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub report: Option<String>,
}

/// Whether an agent still works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentState {
    /// Nothing tells its end.
    InFlight,
    /// It came back.
    Ended,
    /// It failed, was stopped or was not allowed.
    Failed,
}

/// A command that was run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutedCommand {
    /// Where it was called.
    pub seen: Provenance,
    /// The command.
    pub text: String,
    /// How it ended.
    pub exit: CommandStatus,
    /// Its exit code, where it is told.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<i64>,
    /// The last lines of what it wrote when it failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
    /// Where its end is told.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended: Option<Provenance>,
    /// The id under which it goes on in the background.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub background: Option<String>,
    /// When the same command passed, after it had failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub passed_later: Option<LaterPass>,
    pub(super) hash: u64,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommandStatus {
    /// Nothing tells its end.
    Running,
    /// It did what it should.
    Passed,
    /// It failed.
    Failed,
    /// It was not allowed, so it never ran.
    NotAllowed,
    /// It was stopped.
    Interrupted,
}

/// What made a failed command pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaterPass {
    /// Where it passed.
    pub seen: Provenance,
    /// Files that were changed in between.
    pub changed: Vec<String>,
}

/// A call of a tool that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolError {
    /// Where it came back.
    pub seen: Provenance,
    /// The tool.
    pub tool: String,
    /// The file it was about.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<String>,
    /// What it said, the last lines.
    pub text: String,
}

/// A call that was not allowed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejection {
    /// Where that is told.
    pub seen: Provenance,
    /// The tool.
    pub tool: String,
    /// What it was called for, where it is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub about: Option<String>,
    /// What the user said, or the rule.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub said: Option<String>,
}

/// A moment at which the user stopped the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interrupt {
    /// Where that is told.
    pub seen: Provenance,
}

/// A skill or a command of the client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skill {
    /// Where it was used.
    pub seen: Provenance,
    /// Its name.
    pub name: String,
    /// What it was given.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub arguments: String,
}

/// A summary that took the place of the context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compaction {
    /// Where that is told.
    pub seen: Provenance,
    /// What brought it about.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub trigger: Option<String>,
    /// Tokens before.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tokens_before: Option<u64>,
    /// Tokens after.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tokens_after: Option<u64>,
    /// Tells two summaries apart.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub summary_hash: Option<String>,
}

/// An answer that the model did not give.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiError {
    /// Where that is told.
    pub seen: Provenance,
    /// The status of the answer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub status: Option<u64>,
    /// What was said.
    pub text: String,
}

/// A turn: everything from one prompt to the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// The record that started it.
    pub seen: Provenance,
    /// What started it.
    pub start: TurnStart,
    /// What the agent said, oldest first. Of an earlier turn that is its last text, and longer ones
    /// before it; of the latest turn it is every text.
    pub said: Vec<AgentMessage>,
    /// What happened last in it.
    pub end: TurnEnd,
    /// Whether it is over, where the client says so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub is_over: Option<bool>,
}

impl Turn {
    /// The bytes of its texts.
    pub(super) fn bytes(&self) -> usize {
        self.said.iter().map(|said| said.text.len()).sum()
    }
}

/// What started a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TurnStart {
    /// A prompt of the user.
    User,
    /// A notice that something in the background ended.
    Notice,
    /// The client, before any prompt.
    Client,
}

/// What happened last in a turn. A turn in which the agent spoke last is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TurnEnd {
    /// Nothing yet.
    Nothing,
    /// The agent said something.
    Said,
    /// A tool was called, or a call came back.
    Called,
    /// The user stopped it.
    Interrupted,
    /// The model could not be reached or refused.
    Failed,
}

/// What the agent said to the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentMessage {
    /// The record.
    pub seen: Provenance,
    /// The text.
    pub text: String,
}

/// What the agent said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastMessage {
    /// Where it stands.
    pub seen: Provenance,
    /// What was said.
    pub text: String,
    /// Secrets that were not kept, by kind. They count only while these are the last words.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub redacted: BTreeMap<String, u64>,
}
