//! Reviews: who challenged the handoff, and what came of it.

use super::{FromYaml, field, text_of_key};
use crate::format::shape::{FieldKind, Shape, WordChoice};
use crate::text::span::{Span, Spanned};
use crate::text::yaml::YamlNode;

static VERDICT: WordChoice =
    WordChoice { words: &["held", "corrected", "rejected"], aliases: &[], guesses: &[] };

pub(super) static SHAPE: Shape = Shape {
    name: "a review",
    shorthand: Some("challenged"),
    identity: &["at", "by", "challenged"],
    fields: &[
        field("at", FieldKind::Time, "When."),
        field("by", FieldKind::Text, "Who."),
        field("challenged", FieldKind::Text, "What was called into question."),
        field("verdict", FieldKind::Choice(&VERDICT), "What came of it."),
        field("revision", FieldKind::Number, "The revision it was about."),
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
    fn parse(text: &str) -> Option<Self> {
        let word = VERDICT.parse_with_remark(text)?;
        [Self::Held, Self::Corrected, Self::Rejected].into_iter().find(|one| one.word() == word)
    }
}

/// Somebody called the handoff into question.
#[derive(Clone, Debug)]
pub struct Review<'d> {
    /// Its bytes.
    pub at: Span,
    /// When.
    pub time: Option<Spanned<&'d str>>,
    /// Who.
    pub by: Option<Spanned<&'d str>>,
    /// What was called into question.
    pub challenged: Option<Spanned<&'d str>>,
    /// What came of it, as written.
    pub verdict_text: Option<Spanned<&'d str>>,
    /// What came of it, where that is one of the words.
    pub verdict: Option<ReviewVerdict>,
    /// The number of the text it was about.
    pub revision: Option<usize>,
}

impl<'d> FromYaml<'d> for Review<'d> {
    fn read(node: &'d YamlNode) -> Option<Self> {
        let verdict_text = text_of_key(node, "verdict", "challenged");
        let revision = text_of_key(node, "revision", "challenged");
        (!node.is_blank()).then(|| Self {
            at: node.at,
            time: text_of_key(node, "at", "challenged"),
            by: text_of_key(node, "by", "challenged"),
            challenged: text_of_key(node, "challenged", "challenged"),
            verdict_text,
            verdict: verdict_text.and_then(|text| ReviewVerdict::parse(text.value)),
            revision: revision.and_then(|number| number.value.trim().parse().ok()),
        })
    }
}
