//! Platform capabilities: a decision for each, even if it does not apply.

use super::{FromYaml, field, flag_of_key, text_of_key};
use crate::format::shape::parse_flag;
use crate::format::shape::{FieldKind, Shape};
use crate::text::span::{Span, Spanned};
use crate::text::yaml::YamlNode;

pub(super) static SHAPE: Shape = Shape {
    name: "a capability decision",
    shorthand: Some("applies"),
    identity: &[],
    guesses: &[],
    fields: &[
        field("applies", FieldKind::Flag, "Whether the capability applies."),
        field("rationale", FieldKind::Text, "Why or why not."),
    ],
};

/// The decision for one capability.
#[derive(Clone, Debug)]
pub(crate) struct Capability<'d> {
    /// Its span.
    pub at: Span,
    /// Whether it applies.
    pub applies: Option<bool>,
    /// Why or why not.
    pub rationale: Option<Spanned<&'d str>>,
}

impl<'d> FromYaml<'d> for Capability<'d> {
    fn read(node: &'d YamlNode) -> Option<Self> {
        (!node.is_blank()).then(|| Self {
            at: node.at,
            applies: flag_of_key(node, "applies").or_else(|| parse_flag(node.text()?.value)),
            rationale: text_of_key(node, "rationale", "applies"),
        })
    }
}
