//! Proofs: a claim, and the command that shows it again.

use super::{Lenient, field, text};
use crate::format::shape::{Choice, Kind, Shape};
use crate::text::span::{At, Span};
use crate::text::yaml::Node;

static OUTCOME: Choice = Choice {
    words: &["holds", "broken", "timed_out"],
    aliases: &[("held", "holds"), ("failed", "broken"), ("timeout", "timed_out")],
    guesses: &[],
};

/// What came of a proof when it was last run. One run is one thing: a merge takes it whole.
pub(crate) static LAST_RUN: Shape = Shape {
    name: "a run",
    main: None,
    identity: &[],
    fields: &[
        field("at", Kind::Time, "When."),
        field("by", Kind::Text, "Who ran it."),
        field("commit", Kind::Text, "Where the repository stood."),
        field("outcome", Kind::Choice(&OUTCOME), "What came of it."),
        field("number", Kind::Number, "The number that its output gave."),
    ],
};

pub(super) static SHAPE: Shape = Shape {
    name: "a proof",
    main: None,
    identity: &["claim"],
    fields: &[
        field("claim", Kind::Text, "What is claimed."),
        field(
            "run",
            Kind::Text,
            "The command that shows it; it runs only once a person allowed it.",
        ),
        field("directory", Kind::Text, "Where it runs, from the root of the project."),
        field("timeout", Kind::Number, "After how many seconds it is stopped."),
        field("expect", Kind::Any, "What must come of it: an exit code, a text, a bound."),
        field("measures", Kind::Text, "The measurement its number belongs to."),
        field("last", Kind::Map(&LAST_RUN), "What came of it when it was last run."),
    ],
};

/// A claim, and the command that shows it again.
#[derive(Clone, Debug)]
pub struct Proof<'d> {
    /// Its bytes.
    pub at: Span,
    /// What is claimed.
    pub claim: Option<At<&'d str>>,
    /// The command that shows it.
    pub run: Option<At<&'d str>>,
    /// Where it runs.
    pub directory: Option<At<&'d str>>,
    /// After how many seconds it is stopped, as written.
    pub timeout: Option<At<&'d str>>,
    /// What must come of it, as written.
    pub expect: Option<&'d Node>,
    /// The measurement its number belongs to.
    pub measures: Option<At<&'d str>>,
    /// What came of it when it was last run.
    pub last: Option<LastRun<'d>>,
}

/// What came of a proof when it was last run.
#[derive(Clone, Debug)]
pub struct LastRun<'d> {
    /// When.
    pub time: Option<At<&'d str>>,
    /// Who ran it.
    pub by: Option<At<&'d str>>,
    /// Where the repository stood.
    pub commit: Option<At<&'d str>>,
    /// What came of it, where that is one of the words.
    pub outcome: Option<RunOutcome>,
    /// The number that its output gave, as written.
    pub number: Option<At<&'d str>>,
}

/// What came of running a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunOutcome {
    /// What was expected.
    Holds,
    /// Something else.
    Broken,
    /// Nothing in time.
    TimedOut,
}

impl RunOutcome {
    /// The word that is written.
    pub fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Broken => "broken",
            Self::TimedOut => "timed_out",
        }
    }

    fn read(text: &str) -> Option<Self> {
        let word = OUTCOME.read_with_remark(text)?;
        [Self::Holds, Self::Broken, Self::TimedOut].into_iter().find(|one| one.word() == word)
    }
}

impl<'d> Lenient<'d> for Proof<'d> {
    fn read(node: &'d Node) -> Option<Self> {
        (!node.is_blank()).then(|| Self {
            at: node.at,
            claim: text(node, "claim", ""),
            run: text(node, "run", ""),
            directory: text(node, "directory", ""),
            timeout: text(node, "timeout", ""),
            expect: node.get("expect").filter(|node| !node.is_blank()),
            measures: text(node, "measures", ""),
            last: node.get("last").and_then(LastRun::read),
        })
    }
}

impl<'d> Lenient<'d> for LastRun<'d> {
    fn read(node: &'d Node) -> Option<Self> {
        (!node.is_blank()).then(|| Self {
            time: text(node, "at", ""),
            by: text(node, "by", ""),
            commit: text(node, "commit", ""),
            outcome: text(node, "outcome", "").and_then(|text| RunOutcome::read(text.value)),
            number: text(node, "number", ""),
        })
    }
}
