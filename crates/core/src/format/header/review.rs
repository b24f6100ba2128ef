//! Reviews: who challenged the handoff, and the verdict.

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
    guesses: &[],
    fields: &[
        field("at", FieldKind::Time, "When."),
        field("by", FieldKind::Text, "Who."),
        field("challenged", FieldKind::Text, "The challenged claim."),
        field("verdict", FieldKind::Choice(&VERDICT), "The result."),
        field("revision", FieldKind::Number, "The reviewed revision."),
    ],
};

/// The verdict of a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewVerdict {
    /// The handoff was right.
    Held,
    /// Something in the handoff was wrong and has been corrected.
    Corrected,
    /// The handoff was wrong.
    Rejected,
}

impl ReviewVerdict {
    /// The word written in the document.
    pub fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Corrected => "corrected",
            Self::Rejected => "rejected",
        }
    }

    /// Parses the word, with or without a remark.
    fn parse(text: &str) -> Option<Self> {
        let word = VERDICT.parse_with_remark(text)?;
        [Self::Held, Self::Corrected, Self::Rejected].into_iter().find(|one| one.word() == word)
    }
}

/// A review of the handoff.
#[derive(Clone, Debug)]
pub struct Review<'d> {
    /// Its span.
    pub at: Span,
    /// When the review happened.
    pub time: Option<Spanned<&'d str>>,
    /// The reviewer.
    pub by: Option<Spanned<&'d str>>,
    /// What the reviewer challenged.
    pub challenged: Option<Spanned<&'d str>>,
    /// The verdict, as written.
    pub verdict_text: Option<Spanned<&'d str>>,
    /// The verdict, if it is a known word.
    pub verdict: Option<ReviewVerdict>,
    /// The number of the reviewed revision.
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
