//! What there is to tell, before anybody asks how much of it fits.

use crate::session::Client;

/// How important a point is; the first comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rank {
    /// What must be kept to: constraints and binding decisions.
    Constraint,
    /// A question that holds the work up.
    BlockingQuestion,
    /// Where the work stands.
    Standing,
    /// What to do next.
    NextAction,
    /// What was tried and was wrong.
    WrongTurn,
    /// What will bite.
    Landmine,
    /// A task.
    Task,
    /// A decision that was taken.
    Decision,
    /// A proof with its state, or a citation that drifted.
    Proof,
    /// What to load or read first.
    Read,
    /// Anything else.
    Rest,
}

impl Rank {
    /// In one word, for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Constraint => "constraint",
            Self::BlockingQuestion => "blocking-question",
            Self::Standing => "standing",
            Self::NextAction => "next-action",
            Self::WrongTurn => "wrong-turn",
            Self::Landmine => "landmine",
            Self::Task => "task",
            Self::Decision => "decision",
            Self::Proof => "proof",
            Self::Read => "read",
            Self::Rest => "rest",
        }
    }
}

impl Rank {
    /// What its points are, in a few words.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::BlockingQuestion => "blocking question",
            Self::Standing => "state of the work",
            Self::NextAction => "next action",
            Self::WrongTurn => "wrong turn",
            Self::Read => "to read",
            Self::Rest => "other",
            Self::Constraint | Self::Landmine | Self::Task | Self::Decision | Self::Proof => {
                self.name()
            }
        }
    }
}

/// One thing worth telling. Its text, source and place are carried: somebody wrote them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// How important it is.
    pub rank: Rank,
    /// Its kind in our own words, as one begins a line: `Blocking question`, `Agent in flight`.
    pub what: &'static str,
    /// What was said, of any length.
    pub text: String,
    /// Our own words about it: `changed since, judged at 4f2c1ab`. Nothing carried belongs here.
    pub remark: Option<String>,
    /// Where it comes from: `handoff market-page-perf`, `session 1f3a09c2`. Points of one source
    /// have the same words here.
    pub source: String,
    /// Where in there, if that helps: `record 12`.
    pub place: Option<String>,
    /// The command that shows the source, word by word: `midstride`, `show`, `market-page-perf`.
    pub show: Vec<String>,
}

/// What a session does first. Typed, so that nothing in it can be a shell command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BootAction {
    /// Load a skill.
    Skill(String),
    /// Read a document.
    Read(String),
    /// Restore tasks.
    Tasks(Vec<String>),
    /// Keep to something.
    Constraint(String),
}

/// Boot actions are carried in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boot {
    /// What is to be done.
    pub action: BootAction,
    /// Where it comes from, as in [`Point`].
    pub source: String,
    /// The command that shows the source, as in [`Point`].
    pub show: Vec<String>,
}

/// When a session is briefed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// It starts.
    Startup,
    /// It goes on where it was left.
    Resume,
    /// Its context was cleared.
    Clear,
    /// Its context was compacted.
    Compact,
    /// The user asks for something.
    Prompt,
    /// It starts an agent.
    Agent,
}

impl Occasion {
    /// Every occasion.
    pub const ALL: [Self; 6] =
        [Self::Startup, Self::Resume, Self::Clear, Self::Compact, Self::Prompt, Self::Agent];

    /// Its name, as clients and people type it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Startup => "startup",
            Self::Resume => "resume",
            Self::Clear => "clear",
            Self::Compact => "compact",
            Self::Prompt => "prompt",
            Self::Agent => "agent",
        }
    }

    /// The occasion of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|occasion| occasion.name() == name)
    }

    /// The tokens a briefing may cost if nobody says otherwise: whoever goes on needs more than
    /// whoever may be starting something else.
    pub fn tokens_max(self) -> u64 {
        match self {
            Self::Startup | Self::Clear => 500,
            Self::Resume | Self::Compact => 2_000,
            Self::Prompt => 400,
            Self::Agent => 200,
        }
    }
}

/// How long a briefing may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Tokens, as [`crate::tokens::estimate`] counts them.
    pub tokens: u64,
    /// UTF-16 units, where a client counts those: Claude Code takes 10,000 from a hook.
    pub utf16_units: Option<u64>,
}

impl Budget {
    /// What a client takes from a hook, within a number of tokens.
    pub fn of(tokens: u64, client: Option<Client>) -> Self {
        let utf16_units = (client == Some(Client::ClaudeCode)).then_some(10_000);
        Self { tokens, utf16_units }
    }
}

/// Everything there is to tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Material {
    /// The client that is told.
    pub client: Option<Client>,
    /// When it is told.
    pub occasion: Occasion,
    /// The role of the session.
    pub role: Option<String>,
    /// The branch of this worktree.
    pub branch: Option<String>,
    /// What to do first.
    pub boot: Vec<Boot>,
    /// What to know, in any order of ranks; within one rank the given order stays.
    pub points: Vec<Point>,
    /// The command that shows all of this, word by word.
    pub show_all: Vec<String>,
}
