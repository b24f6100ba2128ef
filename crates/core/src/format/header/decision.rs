//! Decisions: what was decided, why, and what else there was.

use super::{Lenient, field, flag, text, texts};
use crate::format::shape::{Kind, Shape};
use crate::text::span::{At, Span};
use crate::text::yaml::Node;

pub(super) static SHAPE: Shape = Shape {
    name: "a decision",
    main: Some("decision"),
    identity: &["decision"],
    fields: &[
        field("decision", Kind::Text, "What was decided."),
        field("rationale", Kind::Text, "Why."),
        field("alternatives_considered", Kind::List(&Kind::Text), "What else there was."),
        field("source", Kind::Text, "Who decided: the user, an agent, a document."),
        field("binding", Kind::Flag, "Whether a successor may not depart from it."),
    ],
};

/// A decision that was made.
#[derive(Clone, Debug)]
pub struct Decision<'d> {
    /// Its bytes.
    pub at: Span,
    /// What was decided.
    pub decision: Option<At<&'d str>>,
    /// Why.
    pub rationale: Option<At<&'d str>>,
    /// What else there was.
    pub alternatives: Vec<At<&'d str>>,
    /// Whether a successor may not depart from it.
    pub binding: bool,
}

impl<'d> Lenient<'d> for Decision<'d> {
    fn read(node: &'d Node) -> Option<Self> {
        (!node.is_blank()).then(|| Self {
            at: node.at,
            decision: text(node, "decision", "decision"),
            rationale: text(node, "rationale", "decision"),
            alternatives: texts(node, "alternatives_considered"),
            binding: flag(node, "binding").unwrap_or(false),
        })
    }
}
