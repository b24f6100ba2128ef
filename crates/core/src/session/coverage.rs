//! Measures coverage: which highlights of a session its handoff covers.
//!
//! The items come from [`Highlights`], the statements from the document, and a few rules compare
//! the two. The rules can prove that something is not covered; they cannot prove that a statement
//! is true.
//!
//! - A correction, an answer, an open task, or an agent is covered if a statement quotes it or
//!   shares its key words.
//! - A changed file is covered if it is named.
//! - A reverted file needs a statement that says what was reverted and adds something new.
//! - A failure that is still open needs a statement that names something of what failed and adds
//!   something new. A failure that was fixed needs nothing.

mod findings;
mod rules;
mod statement;
mod subject;
mod words;

use crate::handoff::Handoff;
use crate::session::Provenance;
use crate::session::checkpoint::Highlights;
use crate::text::span::Span;

/// The kind of a coverage item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CoverageKind {
    /// The user corrected the agent.
    Correction,
    /// A check that failed and has not passed since.
    FailedCommand,
    /// A change that was reverted.
    RevertedEdit,
    /// An open task.
    OpenTask,
    /// A decision of the user.
    Decision,
    /// An agent that has not reported.
    AgentInFlight,
    /// A changed file.
    ChangedFile,
}

impl CoverageKind {
    /// Every kind, starting with what the next session would miss most.
    pub const ALL: [Self; 7] = [
        Self::Correction,
        Self::FailedCommand,
        Self::RevertedEdit,
        Self::OpenTask,
        Self::Decision,
        Self::AgentInFlight,
        Self::ChangedFile,
    ];

    /// Returns the plural name.
    pub fn plural(self) -> &'static str {
        match self {
            Self::FailedCommand => "failed commands",
            Self::RevertedEdit => "reverted edits",
            Self::Correction => "corrections",
            Self::ChangedFile => "changed files",
            Self::Decision => "user decisions",
            Self::OpenTask => "open tasks",
            Self::AgentInFlight => "agents in flight",
        }
    }

    /// Returns the singular name.
    pub fn singular(self) -> &'static str {
        match self {
            Self::FailedCommand => "failed command",
            Self::RevertedEdit => "reverted edit",
            Self::Correction => "correction",
            Self::ChangedFile => "changed file",
            Self::Decision => "user decision",
            Self::OpenTask => "open task",
            Self::AgentInFlight => "agent in flight",
        }
    }

    /// Whether a handoff must cover it. The rest is captured, and easy to look up.
    pub fn is_required(self) -> bool {
        match self {
            Self::Correction | Self::FailedCommand | Self::RevertedEdit | Self::OpenTask => true,
            Self::Decision | Self::AgentInFlight | Self::ChangedFile => false,
        }
    }
}

/// How much a document says about an item, in ascending order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CoverageLevel {
    /// It says nothing.
    #[default]
    Missing,
    /// It names the item, but not its cause.
    Named,
    /// It says enough.
    Covered,
}

impl CoverageLevel {
    /// Returns the level as one word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Named => "named",
            Self::Covered => "covered",
        }
    }
}

/// A highlight of the session, and how much the document says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoverageItem {
    /// Its kind.
    pub kind: CoverageKind,
    /// Its name, on one line.
    pub name: String,
    /// The record that shows it.
    pub seen: Option<Provenance>,
    /// How much the document says about it.
    pub level: CoverageLevel,
    /// Where the document says it.
    pub at: Option<Span>,
}

/// The number of items of a kind, and how many the document covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoverageCount {
    /// The kind of item.
    pub kind: CoverageKind,
    /// The number of items.
    pub total: usize,
    /// The number of named items; a covered item counts as named.
    pub named: usize,
    /// The number of covered items.
    pub covered: usize,
}

/// How much a document says about the highlights of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// The items, kind by kind in the order of [`CoverageKind::ALL`].
    pub items: Vec<CoverageItem>,
}

impl Coverage {
    /// Compares the highlights of a session with its handoff.
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

    /// Returns the counts of each kind that has items.
    pub fn counts(&self) -> Vec<CoverageCount> {
        let of = |what| {
            let count = |least: CoverageLevel| {
                self.items.iter().filter(|item| item.kind == what && item.level >= least).count()
            };
            let happened = count(CoverageLevel::Missing);
            let (named, covered) = (count(CoverageLevel::Named), count(CoverageLevel::Covered));
            (happened > 0).then_some(CoverageCount { kind: what, total: happened, named, covered })
        };
        CoverageKind::ALL.into_iter().filter_map(of).collect()
    }

    /// Returns the items that are not named at all.
    pub fn missing(&self) -> impl Iterator<Item = &CoverageItem> {
        self.items.iter().filter(|item| item.level == CoverageLevel::Missing)
    }

    /// Returns the items that must be covered.
    pub fn required(&self) -> impl Iterator<Item = &CoverageItem> {
        self.items.iter().filter(|item| item.kind.is_required())
    }

    /// Returns the items that must be covered and are not.
    pub fn uncovered(&self) -> impl Iterator<Item = &CoverageItem> {
        self.required().filter(|item| item.level < CoverageLevel::Covered)
    }
}
