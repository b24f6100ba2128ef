//! Resolutions: how a handoff was closed.

use super::{FromYaml, field, text_of_key};
use crate::format::shape::{FieldKind, Shape};
use crate::text::span::{Span, Spanned};
use crate::text::yaml::YamlNode;

pub(super) static SHAPE: Shape = Shape {
    name: "a resolution",
    shorthand: Some("outcome"),
    identity: &[],
    guesses: &[],
    fields: &[
        field("commit", FieldKind::Text, "The commit that resolved it."),
        field("at", FieldKind::Time, "When."),
        field("outcome", FieldKind::Text, "The result."),
        field("reason", FieldKind::Text, "Why it was abandoned."),
    ],
};

/// How a handoff was closed.
#[derive(Clone, Debug)]
pub struct Resolution<'d> {
    /// Its span.
    pub at: Span,
    /// The commit that implemented it.
    pub commit: Option<Spanned<&'d str>>,
    /// When it was closed.
    pub time: Option<Spanned<&'d str>>,
    /// The outcome.
    pub outcome: Option<Spanned<&'d str>>,
    /// Why it was abandoned.
    pub reason: Option<Spanned<&'d str>>,
}

impl<'d> FromYaml<'d> for Resolution<'d> {
    fn read(node: &'d YamlNode) -> Option<Self> {
        (!node.is_blank()).then(|| Self {
            at: node.at,
            commit: text_of_key(node, "commit", "outcome"),
            time: text_of_key(node, "at", "outcome"),
            outcome: text_of_key(node, "outcome", "outcome"),
            reason: text_of_key(node, "reason", "outcome"),
        })
    }
}
