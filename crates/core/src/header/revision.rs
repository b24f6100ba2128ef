//! Revisions: when the handoff changed, by whom, and why.

use super::{Lenient, field, text};
use crate::shape::{Kind, Shape};
use crate::span::{At, Span};
use crate::yaml::Node;

pub(super) static SHAPE: Shape = Shape {
    name: "a revision",
    main: Some("reason"),
    identity: &["at", "by", "reason", "was"],
    fields: &[
        field("at", Kind::Time, "When."),
        field("by", Kind::Text, "Who."),
        field("reason", Kind::Text, "Why it was changed."),
        field("was", Kind::Text, "The git blob of the text it replaced."),
        field(
            "made",
            Kind::Text,
            "The git blob of the text it made, where the next entry was written elsewhere.",
        ),
    ],
};

/// One change of the document.
#[derive(Clone, Debug)]
pub struct Revision<'d> {
    /// Its bytes.
    pub at: Span,
    /// When.
    pub time: Option<At<&'d str>>,
    /// Who.
    pub by: Option<At<&'d str>>,
    /// Why.
    pub reason: Option<At<&'d str>>,
}

impl<'d> Lenient<'d> for Revision<'d> {
    fn read(node: &'d Node) -> Option<Self> {
        (!node.is_blank()).then(|| Self {
            at: node.at,
            time: text(node, "at", "reason"),
            by: text(node, "by", "reason"),
            reason: text(node, "reason", "reason"),
        })
    }
}

/// Reasons that a verb writes for a step in which nothing was found to be wrong, by their start.
const ROUTINE: [&str; 10] = [
    "abandoned: ",
    "advanced to ",
    "answered ",
    "edited",
    "formatted",
    "merged",
    "resolved",
    "shared",
    "started",
    "superseded by ",
];

impl Revision<'_> {
    /// Whether something in the handoff was corrected, rather than its life going on.
    pub fn corrects(&self) -> bool {
        let reason = self.reason.map_or("", |reason| reason.value.trim());
        let validated = reason.ends_with(" holds") || reason.ends_with(" does not hold");
        let held = reason.starts_with("reviewed: ") && reason.ends_with("(held)");
        let routine = ROUTINE.iter().any(|start| reason.starts_with(start));
        !(routine || validated || held || reason.starts_with("undo of @"))
    }
}
