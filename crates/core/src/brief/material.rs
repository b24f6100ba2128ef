//! The input of a briefing: items, their ranks, and the budget they have to fit.

/// How important an item is, most important first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ItemRank {
    /// Which session the page is about.
    Source,
    /// A user's instruction that limits all further work.
    Instruction,
    /// A rejected approach that the user is about to propose again.
    Rejected,
    /// What the work is for.
    Goal,
    /// The status of the work.
    Status,
    /// What to do next.
    NextAction,
    /// A rule to follow: a constraint, a correction or a binding decision.
    Constraint,
    /// A question that blocks the work.
    BlockingQuestion,
    /// What was tried and was wrong.
    WrongTurn,
    /// A known hazard.
    Landmine,
    /// A check that failed and has not passed since.
    Failure,
    /// A task, an open item or a running agent.
    Task,
    /// A decision or a finding.
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
    /// Its machine-readable name.
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

    /// Whether the rank describes a piece of work: its source, goal, status or next action. These
    /// stay together, source by source.
    pub(super) fn is_work(self) -> bool {
        matches!(self, Self::Source | Self::Goal | Self::Status | Self::NextAction)
    }
}

/// How the text of an item appears on a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ItemForm {
    /// Quoted text, after a marker.
    #[default]
    Quote,
    /// A generated line in which all untrusted text is already quoted.
    Line,
}

/// One item of a briefing. Its text, source and place are untrusted, so they must be quoted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BriefItem {
    /// How important the item is.
    pub rank: ItemRank,
    /// Its heading in our own words: `Blocking question`, `Agents in flight`.
    pub heading: &'static str,
    /// The text, of any length.
    pub text: String,
    /// How the text appears.
    pub form: ItemForm,
    /// Our own words about it, such as `changed since, checked at 4f2c1ab`. Untrusted text in it
    /// must be quoted.
    pub remark: Option<String>,
    /// Its source, such as `handoff market-page-perf` or `session 1f3a09c2`. Items from one source
    /// have the same value.
    pub source: String,
    /// Whether the page is about this source, so that the item need not name it.
    pub is_page_subject: bool,
    /// How another item's heading or leading line refers to this item. If that is on the page, this
    /// item can be dropped.
    pub mention: Option<String>,
    /// Whether its text is already the beginning of a longer one, so that its end is not worth
    /// quoting.
    pub is_beginning: bool,
    /// The number of things it represents, if more than one.
    pub count: usize,
    /// The number of things it only names or counts. They count as omitted even if the item is on
    /// the page.
    pub unbriefed: usize,
    /// The location within the source, such as `record 12`.
    pub place: Option<String>,
    /// The command that shows the source, one word each: `midstride`, `show`, `market-page-perf`.
    pub show: Vec<String>,
}

/// A step that a session performs first. It is typed so that it cannot contain a shell command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartupStep {
    /// Load a skill.
    Skill(String),
    /// Read a document.
    Read(String),
    /// Restore tasks.
    Tasks(Vec<String>),
    /// Observe a constraint.
    Constraint(String),
}

/// A startup step and the source that requests it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcedStartupStep {
    /// The step.
    pub step: StartupStep,
    /// Its source, as in [`BriefItem`].
    pub source: String,
    /// The command that shows the source, as in [`BriefItem`].
    pub show: Vec<String>,
}

/// When a session is briefed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BriefOccasion {
    /// The session starts.
    Startup,
    /// The session is resumed.
    Resume,
    /// Its context was cleared.
    Clear,
    /// Its context is about to be compacted: this goes to the summarizer.
    Summary,
    /// Its context was compacted.
    Compact,
    /// The user sends a prompt.
    Prompt,
    /// The session starts a subagent.
    Agent,
    /// The user continues earlier work in a new session.
    Continue,
}

impl BriefOccasion {
    /// Every occasion.
    pub const ALL: [Self; 8] = [
        Self::Startup,
        Self::Resume,
        Self::Clear,
        Self::Summary,
        Self::Compact,
        Self::Prompt,
        Self::Agent,
        Self::Continue,
    ];

    /// Its name, as used by clients and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Startup => "startup",
            Self::Resume => "resume",
            Self::Clear => "clear",
            Self::Summary => "summary",
            Self::Compact => "compact",
            Self::Prompt => "prompt",
            Self::Agent => "agent",
            Self::Continue => "continue",
        }
    }

    /// The occasion with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|occasion| occasion.name() == name)
    }

    /// The default token budget. A resumed or compacted session needs more than one that may be
    /// starting something else.
    pub fn tokens_max(self) -> u64 {
        match self {
            Self::Startup | Self::Clear => 500,
            Self::Resume | Self::Compact | Self::Continue => 2_000,
            Self::Summary => 1_000,
            Self::Prompt => 400,
            Self::Agent => 200,
        }
    }
}

/// The maximum size of a briefing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Tokens, as counted by [`crate::text::tokens::estimate`].
    pub tokens: u64,
    /// UTF-16 units, if the client limits those: Claude Code accepts 10,000 from a hook.
    pub utf16_units: Option<u64>,
}

impl Budget {
    /// A part of the budget, in percent.
    pub(super) fn part(self, percent: u64) -> Self {
        let part = |all: u64| all.saturating_mul(percent) / 100;
        Self { tokens: part(self.tokens), utf16_units: self.utf16_units.map(part) }
    }
}

/// How a briefing asks for each kind of startup step. A client's own tools are named, because a
/// model follows such a line more often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartupTools {
    /// The heading of a skill to load.
    pub skill_heading: &'static str,
    /// The heading of a file to read.
    pub read_heading: &'static str,
    /// The heading of a task to restore.
    pub task_heading: &'static str,
}

impl StartupTools {
    /// For a client that is not known.
    pub const UNKNOWN: Self = Self {
        skill_heading: "Load this skill first",
        read_heading: "Read first",
        task_heading: "Task to restore",
    };
}

/// Everything that a briefing may contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Material {
    /// How the session that is briefed is asked for startup steps.
    pub tools: StartupTools,
    /// When it is briefed.
    pub occasion: BriefOccasion,
    /// The role of the session.
    pub role: Option<String>,
    /// The branch of this worktree.
    pub branch: Option<String>,
    /// What to do first.
    pub startup: Vec<SourcedStartupStep>,
    /// The items, in any order of ranks. The order within one rank is kept.
    pub items: Vec<BriefItem>,
    /// The number of handoffs that were not read in time, so that the page cannot include them.
    pub unread: usize,
    /// The command that shows everything, one word each.
    pub show_all: Vec<String>,
    /// What the page is about, for the line shown to the user.
    pub headline: Option<Headline>,
}

/// What a page is about, for the one-line notice shown to the user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headline {
    /// The session or handoff.
    pub name: String,
    /// Its title or goal.
    pub title: Option<String>,
    /// Its state in our own words: `done`, `1 unchecked item`, `PR #201`.
    pub state: Vec<String>,
}
