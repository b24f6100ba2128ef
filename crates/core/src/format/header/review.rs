//! Reviews: who challenged the handoff, and what came of it.

use super::{Lenient, field, text};
use crate::format::shape::{Choice, Kind, Shape};
use crate::text::span::{At, Span};
use crate::text::yaml::Node;

static VERDICT: Choice =
    Choice { words: &["held", "corrected", "rejected"], aliases: &[], guesses: &[] };

pub(super) static SHAPE: Shape = Shape {
    name: "a review",
    main: Some("challenged"),
    identity: &["at", "by", "challenged"],
    fields: &[
        field("at", Kind::Time, "When."),
        field("by", Kind::Text, "Who."),
        field("challenged", Kind::Text, "What was called into question."),
        field("verdict", Kind::Choice(&VERDICT), "What came of it."),
        field("revision", Kind::Number, "The revision it was about."),
    ],
};

/// What came of a challenge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewVerdict {
    /// The handoff was right.
    Held,
    /// Something in it was wrong and is corrected.
    Corrected,
    /// It was wrong.
    Rejected,
}

impl ReviewVerdict {
    /// The word that is written.
    pub fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Corrected => "corrected",
            Self::Rejected => "rejected",
        }
    }

    /// Reads the word, with a remark behind it or without.
    fn read(text: &str) -> Option<Self> {
        let word = VERDICT.read_with_remark(text)?;
        [Self::Held, Self::Corrected, Self::Rejected].into_iter().find(|one| one.word() == word)
    }
}

/// Somebody called the handoff into question.
#[derive(Clone, Debug)]
pub struct Review<'d> {
    /// Its bytes.
    pub at: Span,
    /// When.
    pub time: Option<At<&'d str>>,
    /// Who.
    pub by: Option<At<&'d str>>,
    /// What was called into question.
    pub challenged: Option<At<&'d str>>,
    /// What came of it, as written.
    pub verdict_text: Option<At<&'d str>>,
    /// What came of it, where that is one of the words.
    pub verdict: Option<ReviewVerdict>,
    /// The number of the text it was about.
    pub revision: Option<usize>,
}

impl<'d> Lenient<'d> for Review<'d> {
    fn read(node: &'d Node) -> Option<Self> {
        let verdict_text = text(node, "verdict", "challenged");
        let revision = text(node, "revision", "challenged");
        (!node.is_blank()).then(|| Self {
            at: node.at,
            time: text(node, "at", "challenged"),
            by: text(node, "by", "challenged"),
            challenged: text(node, "challenged", "challenged"),
            verdict_text,
            verdict: verdict_text.and_then(|text| ReviewVerdict::read(text.value)),
            revision: revision.and_then(|number| number.value.trim().parse().ok()),
        })
    }
}
