//! Platform capabilities: a decision on each, even if it does not apply.

use super::{Lenient, field, flag, text};
use crate::format::shape::read_flag;
use crate::format::shape::{Kind, Shape};
use crate::text::span::{At, Span};
use crate::text::yaml::Node;

pub(super) static SHAPE: Shape = Shape {
    name: "a capability decision",
    main: Some("applies"),
    identity: &[],
    fields: &[
        field("applies", Kind::Flag, "Whether the capability applies."),
        field("rationale", Kind::Text, "Why or why not."),
    ],
};

/// A decision on one capability.
#[derive(Clone, Debug)]
pub struct Capability<'d> {
    /// Its bytes.
    pub at: Span,
    /// Whether it applies.
    pub applies: Option<bool>,
    /// Why or why not.
    pub rationale: Option<At<&'d str>>,
}

impl<'d> Lenient<'d> for Capability<'d> {
    fn read(node: &'d Node) -> Option<Self> {
        (!node.is_blank()).then(|| Self {
            at: node.at,
            applies: flag(node, "applies").or_else(|| read_flag(node.text()?.value)),
            rationale: text(node, "rationale", "applies"),
        })
    }
}
