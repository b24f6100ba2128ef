//! Facts: what one record of a transcript tells, in words that fit every client.

use jiff::Timestamp;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Which record tells a fact.
#[derive(Clone, Debug)]
pub struct RecordRef<'a> {
    /// Its id; where the client gives none, `line N`.
    pub record: Cow<'a, str>,
    /// Its line, counted from one.
    pub number: u64,
    /// When, as it says.
    pub at: Option<Timestamp>,
    /// The agent whose record it is, where it is not the session's own.
    pub agent: Option<Cow<'a, str>>,
}

/// How a record is linked to others.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecordLink<'a> {
    /// Its id; a record without one stands for itself.
    pub id: Option<&'a str>,
    /// The record it follows.
    pub parent: Option<&'a str>,
    /// What part it has in the conversation.
    pub role: RecordRole,
}

/// The part of a record in the conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordRole {
    /// The user says something new.
    Prompt,
    /// The conversation goes on.
    Turn,
    /// A summary takes the place of what was before.
    Boundary,
    /// Beside the conversation: progress, agents, notes of the client.
    #[default]
    Aside,
}

/// What becomes of something that was typed while the client was busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DequeueReason {
    /// It begins a turn: the record of the prompt follows.
    Next,
    /// It is put into the turn that goes on. Some versions write no other record of it.
    Delivered,
    /// The user takes it back.
    Withdrawn,
    /// It was nothing that was typed, but a notice of the client.
    Notice,
}

/// What one record tells.
#[derive(Clone, Debug)]
pub enum Fact<'a> {
    /// A record begins; what follows belongs to it.
    Record(RecordLink<'a>),
    /// It is understood as this sort of record.
    Kind(&'static str),
    /// It cannot be used, and why.
    Skipped(&'static str),
    /// Its kind is not known here.
    Unknown(String),
    /// It could be read only after it was mended.
    Repaired,
    /// Who and where.
    Identity(Identity<'a>),
    /// The user asks for something.
    Asked(Cow<'a, str>),
    /// The client says that something in the background ended, and the agent answers.
    Noticed,
    /// The user types while the client is busy.
    Queued(Cow<'a, str>),
    /// Something that was typed waits no longer.
    Dequeued {
        /// What becomes of it.
        fate: DequeueReason,
        /// What it is, where the client says it.
        text: Option<Cow<'a, str>>,
    },
    /// Something that was typed while the client was busy reaches the agent.
    Delivered(Cow<'a, str>),
    /// The agent says something.
    Said(Cow<'a, str>),
    /// The client says whether the turn is over with what was said last, or a call follows.
    TurnOver(bool),
    /// A tool is called.
    Called {
        /// The id of the call.
        call: &'a str,
        /// The tool, as the client names it.
        tool: &'a str,
        /// What for.
        what: ToolUse<'a>,
    },
    /// An agent calls a tool, as the client tells it while the agent works. Its own records tell more,
    /// where they are there.
    AgentCalled {
        /// The id of the call.
        call: &'a str,
        /// What for.
        what: ToolUse<'a>,
    },
    /// A call comes back.
    Returned {
        /// The id of the call.
        call: &'a str,
        /// How.
        outcome: ToolOutcome<'a>,
        /// What more is known.
        detail: ToolDetail<'a>,
    },
    /// Something in the background ends.
    Ended {
        /// The id of the agent or of the command.
        id: Cow<'a, str>,
        /// Whether it did what it should.
        outcome: ToolOutcome<'a>,
        /// What an agent reported.
        report: Option<Cow<'a, str>>,
    },
    /// A skill or a command of the client is used.
    Skill {
        /// Its name.
        name: Cow<'a, str>,
        /// What it was given.
        arguments: Cow<'a, str>,
    },
    /// The context was replaced by a summary.
    Compacted {
        /// What brought it about.
        trigger: Option<Cow<'a, str>>,
        /// Tokens before.
        before: Option<u64>,
        /// Tokens after.
        after: Option<u64>,
        /// The summary, where it stands in the same record.
        summary: Option<Cow<'a, str>>,
    },
    /// The summary that took the place of what was before.
    Summary(Cow<'a, str>),
    /// The model could not be reached or refused.
    ApiError {
        /// The status of the answer.
        status: Option<u64>,
        /// What was said.
        text: Cow<'a, str>,
    },
    /// The user stopped it.
    Interrupted,
    /// The last turns were taken back.
    RolledBack(u64),
    /// Tokens were used.
    Used(ResponseUsage<'a>),
}

/// Who and where, as far as a record says it.
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
    /// Whether a script started it, and no user is there.
    pub headless: Option<bool>,
}

/// Tokens of one answer of the model.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResponseUsage<'a> {
    /// The answer; several records may tell of one.
    pub answer: Option<&'a str>,
    /// Read by the model and not from its cache.
    pub input: u64,
    /// Read from its cache.
    pub cached: u64,
    /// Written by the model.
    pub output: u64,
    /// What the model can read at once, where the client says it.
    pub window: Option<u64>,
}

/// What a tool is called for.
#[derive(Clone, Debug)]
pub enum ToolUse<'a> {
    /// A command is run.
    Command(Cow<'a, str>),
    /// A file is read.
    Read(Cow<'a, str>),
    /// Files are changed.
    Change(Vec<super::ToolFileChange>),
    /// A task is made or changed.
    Task(TaskUpdate<'a>),
    /// The whole list of tasks is written anew.
    Todos(Vec<Todo<'a>>),
    /// An agent is started.
    Agent {
        /// Its type.
        kind: Option<Cow<'a, str>>,
        /// What it is asked, in a few words.
        about: Option<Cow<'a, str>>,
        /// What it is asked.
        prompt: Option<Cow<'a, str>>,
    },
    /// Agents are told to end, or are waited for.
    AgentsEnd(Vec<Cow<'a, str>>),
    /// The user is asked.
    Question,
    /// A plan is put before the user.
    Plan(Option<Cow<'a, str>>),
    /// A skill is used.
    Skill {
        /// Its name.
        name: Cow<'a, str>,
        /// What it is given.
        arguments: Cow<'a, str>,
    },
    /// A tool that changes something outside is used.
    External {
        /// What it does, in its own words.
        action: Cow<'a, str>,
        /// The title of what is made, where it is given one.
        title: Option<Cow<'a, str>>,
        /// The text that is written.
        body: Option<Cow<'a, str>>,
    },
    /// Anything else.
    Other,
}

/// One entry of a list of tasks.
#[derive(Clone, Debug)]
pub struct Todo<'a> {
    /// What is to be done.
    pub subject: Cow<'a, str>,
    /// Where it stands, as the client writes it.
    pub status: Cow<'a, str>,
}

/// A task that is made or changed.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the fields of `Task` with the same names")]
pub struct TaskUpdate<'a> {
    pub id: Option<Cow<'a, str>>,
    pub subject: Option<Cow<'a, str>>,
    pub description: Option<Cow<'a, str>>,
    pub status: Option<Cow<'a, str>>,
    pub blocked_by: Vec<Cow<'a, str>>,
    /// Tasks that it blocks.
    pub blocks: Vec<Cow<'a, str>>,
    pub owner: Option<Cow<'a, str>>,
    /// Entries that it is given; none removes one.
    pub metadata: Vec<(Cow<'a, str>, Option<Cow<'a, str>>)>,
}

impl<'a> TaskUpdate<'a> {
    /// Metadata as clients write it: null removes an entry, what is not text is kept as JSON.
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

/// How a call came back.
#[derive(Clone, Debug)]
pub enum ToolOutcome<'a> {
    /// It did what it should.
    Succeeded,
    /// It failed.
    Failed {
        /// The exit code, where there is one.
        code: Option<i64>,
        /// What it wrote.
        text: Cow<'a, str>,
    },
    /// The user did not allow it.
    Rejected {
        /// What they said.
        said: Option<Cow<'a, str>>,
    },
    /// A rule of the client or of a hook did not allow it.
    Denied(Cow<'a, str>),
    /// It was stopped.
    Interrupted,
    /// It goes on.
    Running,
}

/// What more is known of a call that came back.
#[derive(Clone, Debug, Default)]
pub enum ToolDetail<'a> {
    /// Nothing.
    #[default]
    None,
    /// The id that a new task got.
    Task(Cow<'a, str>),
    /// What the user answered.
    Answers(Vec<(Cow<'a, str>, Cow<'a, str>)>),
    /// The agent that was started.
    Agent {
        /// Its id.
        id: Cow<'a, str>,
        /// Whether it works on while the session does.
        running: bool,
        /// What it reported.
        report: Option<Cow<'a, str>>,
    },
    /// The command goes on in the background under this id.
    Background(Cow<'a, str>),
    /// What it wrote, where that is of interest.
    Output(Cow<'a, str>),
    /// The plan as it was decided on.
    Plan {
        /// Where it lies.
        path: Option<Cow<'a, str>>,
        /// What it says.
        text: Option<Cow<'a, str>>,
    },
}
