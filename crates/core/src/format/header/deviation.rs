//! Deviations: where the work differs from its design.

use super::{FromYaml, field, text_of_key};
use crate::format::shape::{FieldKind, Shape};
use crate::text::span::Spanned;
use crate::text::yaml::YamlNode;

pub(super) static SHAPE: Shape = Shape {
    name: "a deviation",
    shorthand: Some("deviation"),
    identity: &["deviation"],
    guesses: &[],
    fields: &[
        field("deviation", FieldKind::Text, "What is different."),
        field("reason", FieldKind::Text, "Why."),
        field("impact", FieldKind::Text, "Its impact."),
    ],
};

/// A deviation from the design.
#[derive(Clone, Debug)]
pub struct Deviation<'d> {
    /// What is different.
    pub deviation: Option<Spanned<&'d str>>,
    /// Why.
    pub reason: Option<Spanned<&'d str>>,
    /// The consequences.
    pub impact: Option<Spanned<&'d str>>,
}

impl<'d> FromYaml<'d> for Deviation<'d> {
    fn read(node: &'d YamlNode) -> Option<Self> {
        (!node.is_blank()).then(|| Self {
            deviation: text_of_key(node, "deviation", "deviation"),
            reason: text_of_key(node, "reason", "deviation"),
            impact: text_of_key(node, "impact", "deviation"),
        })
    }
}
