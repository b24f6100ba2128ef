//! Assumptions: what is taken for granted, how surely, and whether anybody looked.

use super::{Lenient, field, flag, text};
use crate::shape::{Choice, Kind, Shape};
use crate::span::{At, Span};
use crate::yaml::Node;

static CONFIDENCE: Choice = Choice {
    words: &["high", "medium", "low"],
    aliases: &[("med", "medium"), ("mid", "medium")],
    guesses: &[],
};

pub(super) static SHAPE: Shape = Shape {
    name: "an assumption",
    main: Some("assumption"),
    identity: &["assumption"],
    fields: &[
        field("assumption", Kind::Text, "What is assumed."),
        field("confidence", Kind::Choice(&CONFIDENCE), "How sure the author is."),
        field("validation_needed", Kind::Flag, "Whether somebody should look."),
        field("validated", Kind::Flag, "Whether somebody looked, and it holds."),
    ],
};

/// How sure the author is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confidence {
    /// Doubtful.
    Low,
    /// Likely.
    Medium,
    /// Sure.
    High,
}

/// Something taken for granted.
#[derive(Clone, Debug)]
pub struct Assumption<'d> {
    /// Its bytes.
    pub at: Span,
    /// What is assumed.
    pub assumption: Option<At<&'d str>>,
    /// How sure the author is.
    pub confidence: Option<Confidence>,
    /// Whether somebody should look.
    pub validation_needed: bool,
    /// Whether somebody looked, and it holds.
    pub validated: bool,
}

impl<'d> Lenient<'d> for Assumption<'d> {
    fn read(node: &'d Node) -> Option<Self> {
        let confidence = text(node, "confidence", "assumption")
            .and_then(|text| CONFIDENCE.read(text.value))
            .map(|word| match word {
                "high" => Confidence::High,
                "medium" => Confidence::Medium,
                _ => Confidence::Low,
            });
        (!node.is_blank()).then(|| Self {
            at: node.at,
            assumption: text(node, "assumption", "assumption"),
            confidence,
            validation_needed: flag(node, "validation_needed").unwrap_or(false),
            validated: flag(node, "validated").unwrap_or(false),
        })
    }
}
