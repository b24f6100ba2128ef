//! Proofs: a claim and the command that verifies it.

use super::{FromYaml, field, text_of_key};
use crate::format::shape::{FieldKind, Shape, WordChoice};
use crate::text::span::{Span, Spanned};
use crate::text::yaml::YamlNode;

static OUTCOME: WordChoice = WordChoice {
    words: &["holds", "broken", "timed_out"],
    aliases: &[("held", "holds"), ("failed", "broken"), ("timeout", "timed_out")],
    guesses: &[],
};

/// The last run of a proof. A merge takes a run as a whole and never mixes two runs.
pub(crate) static LAST_TRIAL: Shape = Shape {
    name: "a run",
    shorthand: None,
    identity: &[],
    guesses: &[],
    fields: &[
        field("at", FieldKind::Time, "When."),
        field("by", FieldKind::Text, "Who ran it."),
        field("commit", FieldKind::Text, "The commit the repository was at."),
        field("outcome", FieldKind::Choice(&OUTCOME), "The result."),
        field("number", FieldKind::Number, "The number found in its output."),
    ],
};

pub(super) static SHAPE: Shape = Shape {
    name: "a proof",
    shorthand: None,
    identity: &["claim"],
    guesses: &[
        ("text", "claim"),
        ("statement", "claim"),
        ("title", "claim"),
        ("description", "claim"),
        ("what", "claim"),
        ("proves", "claim"),
        ("command", "run"),
        ("cmd", "run"),
        ("shell", "run"),
        ("script", "run"),
        ("dir", "directory"),
        ("cwd", "directory"),
        ("folder", "directory"),
        ("workdir", "directory"),
        ("seconds", "timeout"),
        ("expected", "expect"),
        ("metric", "measures"),
    ],
    fields: &[
        field("claim", FieldKind::Text, "What is claimed."),
        field(
            "run",
            FieldKind::Text,
            "The command that proves it. It runs only after the user approves it.",
        ),
        field("directory", FieldKind::Text, "Where it runs, relative to the project root."),
        field("timeout", FieldKind::Number, "The timeout in seconds."),
        field("expect", FieldKind::Any, "The expected result: an exit code, a string or a bound."),
        field("measures", FieldKind::Text, "The measurement that its number belongs to."),
        field("last", FieldKind::Map(&LAST_TRIAL), "The result of its last run."),
    ],
};

/// A claim and the command that verifies it.
#[derive(Clone, Debug)]
pub struct Proof<'d> {
    /// Its span.
    pub at: Span,
    /// The claim.
    pub claim: Option<Spanned<&'d str>>,
    /// The command that verifies it.
    pub run: Option<Spanned<&'d str>>,
    /// The directory the command runs in.
    pub directory: Option<Spanned<&'d str>>,
    /// The timeout in seconds, as written.
    pub timeout: Option<Spanned<&'d str>>,
    /// The expected result, as written.
    pub expect: Option<&'d YamlNode>,
    /// The measurement that its number belongs to.
    pub measures: Option<Spanned<&'d str>>,
    /// The last run.
    pub last: Option<LastTrial<'d>>,
}

/// The last run of a proof.
#[derive(Clone, Debug)]
pub struct LastTrial<'d> {
    /// When it ran.
    pub time: Option<Spanned<&'d str>>,
    /// Who ran it.
    pub by: Option<Spanned<&'d str>>,
    /// The commit the repository was at.
    pub commit: Option<Spanned<&'d str>>,
    /// The outcome, if it is a known word.
    pub outcome: Option<RecordedOutcome>,
    /// The number in its output, as written.
    pub number: Option<Spanned<&'d str>>,
}

/// The recorded outcome of a proof run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordedOutcome {
    /// The result was as expected.
    Holds,
    /// The result was different.
    Broken,
    /// The command timed out.
    TimedOut,
}

impl RecordedOutcome {
    /// The word written in the document.
    pub fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Broken => "broken",
            Self::TimedOut => "timed_out",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let word = OUTCOME.parse_with_remark(text)?;
        [Self::Holds, Self::Broken, Self::TimedOut].into_iter().find(|one| one.word() == word)
    }
}

impl<'d> FromYaml<'d> for Proof<'d> {
    fn read(node: &'d YamlNode) -> Option<Self> {
        (!node.is_blank()).then(|| Self {
            at: node.at,
            claim: text_of_key(node, "claim", ""),
            run: text_of_key(node, "run", ""),
            directory: text_of_key(node, "directory", ""),
            timeout: text_of_key(node, "timeout", ""),
            expect: node.get("expect").filter(|node| !node.is_blank()),
            measures: text_of_key(node, "measures", ""),
            last: node.get("last").and_then(LastTrial::read),
        })
    }
}

impl<'d> FromYaml<'d> for LastTrial<'d> {
    fn read(node: &'d YamlNode) -> Option<Self> {
        (!node.is_blank()).then(|| Self {
            time: text_of_key(node, "at", ""),
            by: text_of_key(node, "by", ""),
            commit: text_of_key(node, "commit", ""),
            outcome: text_of_key(node, "outcome", "")
                .and_then(|text| RecordedOutcome::parse(text.value)),
            number: text_of_key(node, "number", ""),
        })
    }
}
