//! Coverage: which highlights of a session its handoff covers.
//!
//! What matters comes from [`Highlights`], what is said from the document, and a few rules compare the
//! two. They can prove that something is not covered; whether what is said is true, no program knows.
//!
//! - A correction, an answer, an open task or an agent is covered where a statement quotes it, or shares
//!   its key words.
//! - A changed file is covered where it is named.
//! - A reverted file needs a statement that says what was reverted and something of its own.
//! - A failure that is still open needs a statement that names something of what failed and adds
//!   something of its own. A failure that was fixed needs nothing.

mod findings;
mod rules;
mod statement;
mod subject;
mod words;

use crate::handoff::Handoff;
use crate::session::Provenance;
use crate::session::checkpoint::Highlights;
use crate::text::span::Span;

/// What kind of item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CoverageKind {
    /// The user corrected the agent.
    Correction,
    /// A check that failed and has not passed since.
    FailedCommand,
    /// A change that was reverted.
    RevertedEdit,
    /// A task that is open.
    OpenTask,
    /// The user decided something.
    Decision,
    /// An agent that has not reported.
    AgentInFlight,
    /// A file that was changed.
    ChangedFile,
}

impl CoverageKind {
    /// Every kind, what a successor would miss most first.
    pub const ALL: [Self; 7] = [
        Self::Correction,
        Self::FailedCommand,
        Self::RevertedEdit,
        Self::OpenTask,
        Self::Decision,
        Self::AgentInFlight,
        Self::ChangedFile,
    ];

    /// Several of them, in words.
    pub fn plural(self) -> &'static str {
        match self {
            Self::FailedCommand => "failed commands",
            Self::RevertedEdit => "reverted edits",
            Self::Correction => "corrections",
            Self::ChangedFile => "changed files",
            Self::Decision => "decisions of the user",
            Self::OpenTask => "open tasks",
            Self::AgentInFlight => "agents in flight",
        }
    }

    /// One of them, in words.
    pub fn singular(self) -> &'static str {
        match self {
            Self::FailedCommand => "failed command",
            Self::RevertedEdit => "reverted edit",
            Self::Correction => "correction",
            Self::ChangedFile => "changed file",
            Self::Decision => "decision of the user",
            Self::OpenTask => "open task",
            Self::AgentInFlight => "agent in flight",
        }
    }

    /// Whether a handoff has to cover it. The rest is captured, and easy to look up.
    pub fn is_required(self) -> bool {
        match self {
            Self::Correction | Self::FailedCommand | Self::RevertedEdit | Self::OpenTask => true,
            Self::Decision | Self::AgentInFlight | Self::ChangedFile => false,
        }
    }
}

/// How much a document says about an item; more is greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CoverageLevel {
    /// Nothing.
    #[default]
    Missing,
    /// It is named, and its cause is missing.
    Named,
    /// Enough.
    Covered,
}

impl CoverageLevel {
    /// In one word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Named => "named",
            Self::Covered => "covered",
        }
    }
}

/// Something that matters, and how much the document says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoverageItem {
    /// What kind of item.
    pub kind: CoverageKind,
    /// In one line.
    pub name: String,
    /// The record that shows it.
    pub seen: Option<Provenance>,
    /// How much the document says about it.
    pub level: CoverageLevel,
    /// Where it does.
    pub at: Option<Span>,
}

/// How many items of a kind there are, and how many the document covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoverageCount {
    /// What kind of item.
    pub kind: CoverageKind,
    /// How many there are.
    pub total: usize,
    /// How many are named; a covered item is named.
    pub named: usize,
    /// How many are covered.
    pub covered: usize,
}

/// What matters of a session, and how much a document says about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Each item, kind by kind in the order of [`What::ALL`].
    pub items: Vec<CoverageItem>,
}

impl Coverage {
    /// Compares what matters with what a document says.
    pub fn compare(highlights: &Highlights, handoff: &Handoff<'_>) -> Self {
        let statements = statement::all_statements(handoff);
        let subjects = subject::subjects(highlights);
        Self {
            items: subjects
                .iter()
                .map(|subject| rules::coverage_item(subject, &statements))
                .collect(),
        }
    }

    /// The counts of each kind of which there is an item.
    pub fn counts(&self) -> Vec<CoverageCount> {
        let of = |what| {
            let told = |least: CoverageLevel| {
                self.items.iter().filter(|item| item.kind == what && item.level >= least).count()
            };
            let happened = told(CoverageLevel::Missing);
            let (named, covered) = (told(CoverageLevel::Named), told(CoverageLevel::Covered));
            (happened > 0).then_some(CoverageCount { kind: what, total: happened, named, covered })
        };
        CoverageKind::ALL.into_iter().filter_map(of).collect()
    }

    /// What is not named at all.
    pub fn missing(&self) -> impl Iterator<Item = &CoverageItem> {
        self.items.iter().filter(|item| item.level == CoverageLevel::Missing)
    }

    /// What has to be covered.
    pub fn required(&self) -> impl Iterator<Item = &CoverageItem> {
        self.items.iter().filter(|item| item.kind.is_required())
    }

    /// What has to be covered and is not.
    pub fn uncovered(&self) -> impl Iterator<Item = &CoverageItem> {
        self.required().filter(|item| item.level < CoverageLevel::Covered)
    }
}
