//! Decisions: what was decided, why, and the alternatives.

use super::{FromYaml, field, flag_of_key, text_of_key, texts_of_key};
use crate::format::shape::{FieldKind, Shape};
use crate::text::span::{Span, Spanned};
use crate::text::yaml::YamlNode;

pub(super) static SHAPE: Shape = Shape {
    name: "a decision",
    shorthand: Some("decision"),
    identity: &["decision"],
    guesses: &[
        ("text", "decision"),
        ("title", "decision"),
        ("description", "decision"),
        ("what", "decision"),
        ("choice", "decision"),
        ("why", "rationale"),
        ("reason", "rationale"),
        ("reasoning", "rationale"),
        ("because", "rationale"),
        ("justification", "rationale"),
        ("alternatives", "alternatives_considered"),
        ("options", "alternatives_considered"),
        ("rejected", "alternatives_considered"),
        ("by", "source"),
        ("decided_by", "source"),
    ],
    fields: &[
        field("decision", FieldKind::Text, "What was decided."),
        field("rationale", FieldKind::Text, "Why."),
        field(
            "alternatives_considered",
            FieldKind::List(&FieldKind::Text),
            "What else was considered.",
        ),
        field("source", FieldKind::Text, "Who decided: the user, an agent or a document."),
        field("binding", FieldKind::Flag, "Whether a successor must follow it."),
    ],
};

/// A decision.
#[derive(Clone, Debug)]
pub struct Decision<'d> {
    /// Its span.
    pub at: Span,
    /// What was decided.
    pub decision: Option<Spanned<&'d str>>,
    /// Why.
    pub rationale: Option<Spanned<&'d str>>,
    /// The alternatives that were considered.
    pub alternatives: Vec<Spanned<&'d str>>,
    /// Whether later sessions must follow it.
    pub binding: bool,
}

impl<'d> FromYaml<'d> for Decision<'d> {
    fn read(node: &'d YamlNode) -> Option<Self> {
        (!node.is_blank()).then(|| Self {
            at: node.at,
            decision: text_of_key(node, "decision", "decision"),
            rationale: text_of_key(node, "rationale", "decision"),
            alternatives: texts_of_key(node, "alternatives_considered"),
            binding: flag_of_key(node, "binding").unwrap_or(false),
        })
    }
}
