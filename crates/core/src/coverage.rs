//! Coverage: how much of what really happened in a session its handoff tells.
//!
//! What happened is taken from the checkpoint, what is told from the document. Something is *listed*
//! where the document names it, and *explained* only where its cause or its consequence stands
//! beside it, in words of its own. No model is asked: whoever names everything and explains nothing
//! is told so, and so is whoever pastes the facts that midstride collected.

mod clause;
mod command;
mod explanation;
mod facts;
mod findings;
mod happened;
mod statement;
mod telling;
mod trace;
mod words;

pub(crate) use findings::HEAVY;

use crate::checkpoint::Checkpoint;
use crate::handoff::Handoff;
use crate::session::Seen;
use crate::span::Span;
use statement::Text;

/// What sort of thing happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum What {
    /// A command failed.
    FailedCommand,
    /// A change was taken back.
    RevertedEdit,
    /// The user corrected the agent.
    Correction,
    /// A file was changed.
    ChangedFile,
    /// The user decided something.
    Decision,
    /// A task is open.
    OpenTask,
    /// An agent has not come back.
    AgentInFlight,
}

impl What {
    /// Every sort, in the order in which they are shown.
    pub const ALL: [Self; 7] = [
        Self::FailedCommand,
        Self::RevertedEdit,
        Self::Correction,
        Self::ChangedFile,
        Self::Decision,
        Self::OpenTask,
        Self::AgentInFlight,
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
}

/// How far a document tells something; more is greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Told {
    /// Not at all.
    #[default]
    Missing,
    /// It is named.
    Listed,
    /// Its cause or its consequence stands beside it.
    Explained,
}

impl Told {
    /// In one word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Listed => "listed",
            Self::Explained => "explained",
        }
    }
}

/// Something that happened, and how far the document tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// What sort of thing.
    pub what: What,
    /// In one line, as people know it.
    pub name: String,
    /// The record that tells it.
    pub seen: Option<Seen>,
    /// How much a successor would miss it.
    pub weight: u32,
    /// How far the document tells it.
    pub told: Told,
    /// Where it does.
    pub at: Option<Span>,
}

/// How many things of one sort happened, and how far they are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// What sort of thing.
    pub what: What,
    /// How many happened.
    pub happened: usize,
    /// How many of them are named; what is explained is named.
    pub listed: usize,
    /// How many of them are explained.
    pub explained: usize,
}

/// What happened in a session, and how far a document tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Each thing that happened, sort by sort, in the order of the session.
    pub items: Vec<Item>,
}

impl Coverage {
    /// Compares what happened with what is told.
    pub fn of(checkpoint: &Checkpoint, handoff: &Handoff<'_>) -> Self {
        let happened = happened::of(checkpoint);
        let text = Text::of(handoff);
        Self { items: telling::told(checkpoint, &happened, &text) }
    }

    /// How many happened and are told, for each sort of which there is one.
    pub fn counts(&self) -> Vec<Count> {
        let of = |what| {
            let told = |least: Told| {
                self.items.iter().filter(|item| item.what == what && item.told >= least).count()
            };
            let happened = told(Told::Missing);
            let (listed, explained) = (told(Told::Listed), told(Told::Explained));
            (happened > 0).then_some(Count { what, happened, listed, explained })
        };
        What::ALL.into_iter().filter_map(of).collect()
    }

    /// What is not told at all, the weightiest first.
    pub fn missing(&self) -> Vec<&Item> {
        self.told_as(Told::Missing)
    }

    /// What is told in just this way, the weightiest first.
    pub fn told_as(&self, told: Told) -> Vec<&Item> {
        let mut items: Vec<&Item> = self.items.iter().filter(|item| item.told == told).collect();
        items.sort_by_key(|item| std::cmp::Reverse(item.weight));
        items
    }

    /// How much of what happened is explained, by weight; none where nothing happened.
    pub fn explained_percent(&self) -> Option<u32> {
        let weight = |least: Told| -> u64 {
            let told = self.items.iter().filter(|item| item.told >= least);
            told.map(|item| u64::from(item.weight)).sum()
        };
        let percent = (weight(Told::Explained) * 100).checked_div(weight(Told::Missing))?;
        u32::try_from(percent).ok()
    }
}
