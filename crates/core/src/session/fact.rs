//! Facts: what one transcript record says, in terms common to all clients.

use jiff::Timestamp;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The record that a fact comes from.
#[derive(Clone, Debug)]
pub struct RecordRef<'a> {
    /// Its id; `line N` where the client gives none.
    pub record: Cow<'a, str>,
    /// Its line, starting at 1.
    pub number: u64,
    /// Its timestamp.
    pub at: Option<Timestamp>,
    /// The agent that wrote the record, if not the session itself.
    pub agent: Option<Cow<'a, str>>,
}

/// How a record is linked to other records.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecordLink<'a> {
    /// Its id. A record without one is not linked.
    pub id: Option<&'a str>,
    /// The record it follows.
    pub parent: Option<&'a str>,
    /// Its role in the conversation.
    pub role: RecordRole,
}

/// The role of a record in the conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordRole {
    /// A new prompt from the user.
    Prompt,
    /// The conversation continues.
    Turn,
    /// A summary replaces everything before it.
    Boundary,
    /// Not part of the conversation: progress, agents, client notes.
    #[default]
    Aside,
}

/// Why a queued prompt is no longer queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DequeueReason {
    /// It starts a turn: the record of the prompt follows.
    Next,
    /// It is delivered into the running turn. Some versions write no other record of it.
    Delivered,
    /// The user withdraws it.
    Withdrawn,
    /// It was not a prompt but a notice from the client.
    Notice,
}

/// What one record says.
#[derive(Clone, Debug)]
pub enum Fact<'a> {
    /// A record starts; the facts that follow belong to it.
    Record(RecordLink<'a>),
    /// The record is of this known kind.
    Kind(&'static str),
    /// The record cannot be used, for this reason.
    Skipped(&'static str),
    /// The record is of an unknown kind.
    Unknown(String),
    /// The record was repaired before parsing.
    Repaired,
    /// Details of the session.
    Identity(Identity<'a>),
    /// The user sends a prompt.
    Asked(Cow<'a, str>),
    /// The client reports that a background task ended, and the agent responds.
    Noticed,
    /// The user types a prompt while the client is busy.
    Queued(Cow<'a, str>),
    /// A prompt leaves the queue.
    Dequeued {
        /// Why.
        fate: DequeueReason,
        /// Its text, where the client gives it.
        text: Option<Cow<'a, str>>,
    },
    /// A queued prompt reaches the agent.
    Delivered(Cow<'a, str>),
    /// The agent writes a message.
    Said(Cow<'a, str>),
    /// Whether the turn is over after the last message, or a call follows.
    TurnOver(bool),
    /// The agent calls a tool.
    Called {
        /// The id of the call.
        call: &'a str,
        /// The tool, as the client names it.
        tool: &'a str,
        /// What the tool is called for.
        what: ToolUse<'a>,
    },
    /// An agent calls a tool, as the client reports it while the agent runs. The agent's own
    /// records, where they exist, say more.
    AgentCalled {
        /// The id of the call.
        call: &'a str,
        /// What the tool is called for.
        what: ToolUse<'a>,
    },
    /// A call returns.
    Returned {
        /// The id of the call.
        call: &'a str,
        /// How it ended.
        outcome: ToolOutcome<'a>,
        /// Further details.
        detail: ToolDetail<'a>,
    },
    /// A background task ends.
    Ended {
        /// The id of the agent or the command.
        id: Cow<'a, str>,
        /// How it ended.
        outcome: ToolOutcome<'a>,
        /// The report of an agent.
        report: Option<Cow<'a, str>>,
    },
    /// A skill or slash command is used.
    Skill {
        /// Its name.
        name: Cow<'a, str>,
        /// Its arguments.
        arguments: Cow<'a, str>,
    },
    /// The client replaced the context with a summary.
    Compacted {
        /// What triggered it.
        trigger: Option<Cow<'a, str>>,
        /// Tokens before.
        before: Option<u64>,
        /// Tokens after.
        after: Option<u64>,
        /// The summary, where the same record has it.
        summary: Option<Cow<'a, str>>,
    },
    /// The summary that replaces the context.
    Summary(Cow<'a, str>),
    /// A request to the model failed.
    ApiError {
        /// The HTTP status.
        status: Option<u64>,
        /// The error message.
        text: Cow<'a, str>,
    },
    /// The user interrupted the agent.
    Interrupted,
    /// This many turns were rolled back.
    RolledBack(u64),
    /// Tokens were used.
    Used(ResponseUsage<'a>),
}

/// Details of the session that a record gives.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the fields of `Session` with the same names")]
pub struct Identity<'a> {
    pub session: Option<&'a str>,
    pub forked_from: Option<&'a str>,
    pub agent_of: Option<&'a str>,
    pub cwd: Option<&'a str>,
    pub version: Option<&'a str>,
    pub model: Option<&'a str>,
    pub branch: Option<&'a str>,
    pub commit: Option<&'a str>,
    pub title: Option<&'a str>,
    /// Whether a script started the session, with no user to prompt.
    pub headless: Option<bool>,
}

/// Token usage of one response.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResponseUsage<'a> {
    /// The id of the response; several records may belong to one.
    pub answer: Option<&'a str>,
    /// Uncached input tokens.
    pub input: u64,
    /// Input tokens read from the cache.
    pub cached: u64,
    /// Output tokens.
    pub output: u64,
    /// The size of the model's context window, where the client gives it.
    pub window: Option<u64>,
}

/// What a tool is called for.
#[derive(Clone, Debug)]
pub enum ToolUse<'a> {
    /// Run a command.
    Command(Cow<'a, str>),
    /// Read a file.
    Read(Cow<'a, str>),
    /// Change files.
    Change(Vec<super::ToolFileChange>),
    /// Create or change a task.
    Task(TaskUpdate<'a>),
    /// Replace the whole task list.
    Todos(Vec<Todo<'a>>),
    /// Start an agent.
    Agent {
        /// Its type.
        kind: Option<Cow<'a, str>>,
        /// A short description of the assignment.
        about: Option<Cow<'a, str>>,
        /// The full prompt.
        prompt: Option<Cow<'a, str>>,
    },
    /// Stop these agents, or wait for them.
    AgentsEnd(Vec<Cow<'a, str>>),
    /// Ask the user a question.
    Question,
    /// Propose a plan to the user.
    Plan(Option<Cow<'a, str>>),
    /// Use a skill.
    Skill {
        /// Its name.
        name: Cow<'a, str>,
        /// Its arguments.
        arguments: Cow<'a, str>,
    },
    /// Use a tool with an effect outside the project.
    External {
        /// The action, in the tool's own words.
        action: Cow<'a, str>,
        /// The title of what it creates, where it has one.
        title: Option<Cow<'a, str>>,
        /// The text that it writes.
        body: Option<Cow<'a, str>>,
    },
    /// Anything else.
    Other,
}

/// One entry of a task list.
#[derive(Clone, Debug)]
pub struct Todo<'a> {
    /// What has to be done.
    pub subject: Cow<'a, str>,
    /// Its status, as the client writes it.
    pub status: Cow<'a, str>,
}

/// A task that is created or changed.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the fields of `Task` with the same names")]
pub struct TaskUpdate<'a> {
    pub id: Option<Cow<'a, str>>,
    pub subject: Option<Cow<'a, str>>,
    pub description: Option<Cow<'a, str>>,
    pub status: Option<Cow<'a, str>>,
    pub blocked_by: Vec<Cow<'a, str>>,
    /// Tasks that this one blocks.
    pub blocks: Vec<Cow<'a, str>>,
    pub owner: Option<Cow<'a, str>>,
    /// Metadata to set; `None` removes an entry.
    pub metadata: Vec<(Cow<'a, str>, Option<Cow<'a, str>>)>,
}

impl<'a> TaskUpdate<'a> {
    /// Converts metadata from the client's JSON: null removes an entry, other non-strings stay
    /// JSON.
    pub fn entries(map: Map<String, Value>) -> Vec<(Cow<'a, str>, Option<Cow<'a, str>>)> {
        let text = |value: Value| match value {
            Value::Null => None,
            Value::String(text) => Some(text.into()),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                Some(value.to_string().into())
            }
        };
        map.into_iter().map(|(key, value)| (key.into(), text(value))).collect()
    }
}

/// How a call ended.
#[derive(Clone, Debug)]
pub enum ToolOutcome<'a> {
    /// It succeeded.
    Succeeded,
    /// It failed.
    Failed {
        /// The exit code, if any.
        code: Option<i64>,
        /// Its output.
        text: Cow<'a, str>,
    },
    /// The user rejected it.
    Rejected {
        /// The user's reason.
        said: Option<Cow<'a, str>>,
    },
    /// A rule of the client or a hook denied it.
    Denied(Cow<'a, str>),
    /// It was interrupted.
    Interrupted,
    /// It is still running.
    Running,
}

/// Further details about a call that returned.
#[derive(Clone, Debug, Default)]
pub enum ToolDetail<'a> {
    /// Nothing.
    #[default]
    None,
    /// The id of the new task.
    Task(Cow<'a, str>),
    /// The user's answers, with their questions.
    Answers(Vec<(Cow<'a, str>, Cow<'a, str>)>),
    /// The agent that was started.
    Agent {
        /// Its id.
        id: Cow<'a, str>,
        /// Whether it keeps running in the background.
        running: bool,
        /// Its report.
        report: Option<Cow<'a, str>>,
    },
    /// The command keeps running in the background under this id.
    Background(Cow<'a, str>),
    /// Its output, where it is needed.
    Output(Cow<'a, str>),
    /// The plan that was decided on.
    Plan {
        /// The path of the plan file.
        path: Option<Cow<'a, str>>,
        /// The text of the plan.
        text: Option<Cow<'a, str>>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn metadata_of_a_task_is_text_and_null_removes_an_entry() {
        let Value::Object(map) = json!({"area": "cache", "size": 3, "tags": ["a"], "old": null})
        else {
            unreachable!("an object")
        };
        let entry =
            |key: &'static str, value: Option<&'static str>| (key.into(), value.map(Cow::from));
        assert_eq!(
            TaskUpdate::entries(map),
            [
                entry("area", Some("cache")),
                entry("size", Some("3")),
                entry("tags", Some("[\"a\"]")),
                entry("old", None),
            ]
        );
        assert_eq!(TaskUpdate::entries(Map::new()), []);
    }
}
