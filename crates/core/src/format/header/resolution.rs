//! Resolutions: how a handoff ended.

use super::{Lenient, field, text};
use crate::format::shape::{Kind, Shape};
use crate::text::span::{At, Span};
use crate::text::yaml::Node;

pub(super) static SHAPE: Shape = Shape {
    name: "a resolution",
    main: Some("outcome"),
    identity: &[],
    fields: &[
        field("commit", Kind::Text, "The commit that carried it out."),
        field("at", Kind::Time, "When."),
        field("outcome", Kind::Text, "What came of it."),
        field("reason", Kind::Text, "Why it was given up."),
    ],
};

/// How a handoff ended.
#[derive(Clone, Debug)]
pub struct Resolution<'d> {
    /// Its bytes.
    pub at: Span,
    /// The commit that carried it out.
    pub commit: Option<At<&'d str>>,
    /// When.
    pub time: Option<At<&'d str>>,
    /// What came of it.
    pub outcome: Option<At<&'d str>>,
    /// Why it was given up.
    pub reason: Option<At<&'d str>>,
}

impl<'d> Lenient<'d> for Resolution<'d> {
    fn read(node: &'d Node) -> Option<Self> {
        (!node.is_blank()).then(|| Self {
            at: node.at,
            commit: text(node, "commit", "outcome"),
            time: text(node, "at", "outcome"),
            outcome: text(node, "outcome", "outcome"),
            reason: text(node, "reason", "outcome"),
        })
    }
}
