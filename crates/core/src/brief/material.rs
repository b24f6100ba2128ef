//! What there is to tell, before anybody asks how much of it fits.

use crate::session::Client;

/// How important a point is; the first comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ItemRank {
    /// Which session the page is about.
    Source,
    /// An instruction of the user that limits all further work.
    Instruction,
    /// What the user is about to propose, and was rejected before.
    Rejected,
    /// What the work is for.
    Goal,
    /// Where the work stands.
    Status,
    /// What to do next.
    NextAction,
    /// What must be kept to: constraints, corrections and binding decisions.
    Constraint,
    /// A question that holds the work up.
    BlockingQuestion,
    /// What was tried and was wrong.
    WrongTurn,
    /// What will bite.
    Landmine,
    /// A check that failed and has not passed since.
    Failure,
    /// A task, an open item or a running agent.
    Task,
    /// A decision that was taken, or something that was found out.
    Decision,
    /// A proof with its state, or a citation that drifted.
    Proof,
    /// What to load or read first.
    Read,
    /// What an agent reported.
    Report,
    /// A changed file.
    File,
    /// Anything else.
    #[default]
    Rest,
}

impl ItemRank {
    /// In one word, for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Instruction => "instruction",
            Self::Rejected => "rejected",
            Self::Goal => "goal",
            Self::Status => "standing",
            Self::NextAction => "next-action",
            Self::BlockingQuestion => "blocking-question",
            Self::Constraint => "constraint",
            Self::WrongTurn => "wrong-turn",
            Self::Landmine => "landmine",
            Self::Failure => "failure",
            Self::Task => "task",
            Self::Decision => "decision",
            Self::Proof => "proof",
            Self::Read => "read",
            Self::Report => "report",
            Self::File => "file",
            Self::Rest => "rest",
        }
    }

    /// Whether it says what one piece of work is about, where it is and what is next. Those go
    /// together, source by source.
    pub(super) fn is_work(self) -> bool {
        matches!(self, Self::Source | Self::Goal | Self::Status | Self::NextAction)
    }
}

/// How the text of a point appears on a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ItemForm {
    /// Somebody else's words, behind a marker.
    #[default]
    Quote,
    /// A line of our own, in which everything that somebody else wrote is quoted already.
    Line,
}

/// One thing worth telling. Its text, source and place are carried: somebody wrote them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BriefItem {
    /// How important it is.
    pub rank: ItemRank,
    /// Its heading in our own words: `Blocking question`, `Agent in flight`.
    pub heading: &'static str,
    /// What was said, of any length.
    pub text: String,
    /// How it appears.
    pub form: ItemForm,
    /// Our own words about it: `changed since, judged at 4f2c1ab`. What somebody else wrote
    /// is in quotes there.
    pub remark: Option<String>,
    /// Where it comes from: `handoff market-page-perf`, `session 1f3a09c2`. Points of one source
    /// have the same words here.
    pub source: String,
    /// Whether the page is about this source, so that the point need not name it.
    pub is_page_subject: bool,
    /// How the heading of another point names it, or the line that a point that leads quotes. Where that
    /// is on the page, this need not be.
    pub mention: Option<String>,
    /// Whether its text is a beginning already, so that its end says nothing.
    pub is_beginning: bool,
    /// How many things it stands for, where it is more than one.
    pub count: usize,
    /// How many things it only names or counts: these are omitted, wherever it is.
    pub unbriefed: usize,
    /// Where in there, if that helps: `record 12`.
    pub place: Option<String>,
    /// The command that shows the source, word by word: `midstride`, `show`, `market-page-perf`.
    pub show: Vec<String>,
}

/// What a session does first. Typed, so that nothing in it can be a shell command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartupStep {
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
pub struct SourcedStartupStep {
    /// What is to be done.
    pub step: StartupStep,
    /// Where it comes from, as in [`Point`].
    pub source: String,
    /// The command that shows the source, as in [`Point`].
    pub show: Vec<String>,
}

/// When a session is briefed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BriefOccasion {
    /// It starts.
    Startup,
    /// It goes on where it was left.
    Resume,
    /// Its context was cleared.
    Clear,
    /// Its context is about to be compacted: the summarizer gets this.
    Summary,
    /// Its context was compacted.
    Compact,
    /// The user asks for something.
    Prompt,
    /// It starts an agent.
    Agent,
}

impl BriefOccasion {
    /// Every occasion.
    pub const ALL: [Self; 7] = [
        Self::Startup,
        Self::Resume,
        Self::Clear,
        Self::Summary,
        Self::Compact,
        Self::Prompt,
        Self::Agent,
    ];

    /// Its name, as clients and people type it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Startup => "startup",
            Self::Resume => "resume",
            Self::Clear => "clear",
            Self::Summary => "summary",
            Self::Compact => "compact",
            Self::Prompt => "prompt",
            Self::Agent => "agent",
        }
    }

    /// The occasion of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|occasion| occasion.name() == name)
    }

    /// The tokens a briefing may cost if nobody says otherwise: whoever goes on needs more than
    /// whoever may be starting something else.
    pub fn tokens_max(self) -> u64 {
        match self {
            Self::Startup | Self::Clear => 500,
            Self::Resume | Self::Compact => 2_000,
            Self::Summary => 1_000,
            Self::Prompt => 400,
            Self::Agent => 200,
        }
    }
}

/// How long a briefing may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Tokens, as [`crate::text::tokens::estimate`] counts them.
    pub tokens: u64,
    /// UTF-16 units, where a client counts those: Claude Code takes 10,000 from a hook.
    pub utf16_units: Option<u64>,
}

impl Budget {
    /// A part of it, in percent.
    pub(super) fn part(self, percent: u64) -> Self {
        let part = |all: u64| all.saturating_mul(percent) / 100;
        Self { tokens: part(self.tokens), utf16_units: self.utf16_units.map(part) }
    }
}

impl Budget {
    /// What a client takes from a hook, within a number of tokens.
    pub fn for_client(tokens: u64, client: Option<Client>) -> Self {
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
    pub occasion: BriefOccasion,
    /// The role of the session.
    pub role: Option<String>,
    /// The branch of this worktree.
    pub branch: Option<String>,
    /// What to do first.
    pub startup: Vec<SourcedStartupStep>,
    /// What to know, in any order of ranks; within one rank the given order stays.
    pub items: Vec<BriefItem>,
    /// Handoffs that were not read in time: the page cannot know what they say.
    pub unread: usize,
    /// The command that shows all of this, word by word.
    pub show_all: Vec<String>,
    /// What the user is told that the page is about.
    pub headline: Option<Headline>,
}

/// What a page is about, for the user's one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headline {
    /// The session or handoff.
    pub name: String,
    /// What it was for.
    pub title: Option<String>,
    /// Its state, in our own words: `done`, `1 unchecked item`, `PR #201`.
    pub state: Vec<String>,
}
