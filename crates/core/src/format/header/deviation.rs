//! Deviations: where the work departs from its design.

use super::{Lenient, field, text};
use crate::format::shape::{Kind, Shape};
use crate::text::span::At;
use crate::text::yaml::Node;

pub(super) static SHAPE: Shape = Shape {
    name: "a deviation",
    main: Some("deviation"),
    identity: &["deviation"],
    fields: &[
        field("deviation", Kind::Text, "What is different."),
        field("reason", Kind::Text, "Why."),
        field("impact", Kind::Text, "What follows from it."),
    ],
};

/// A departure from the design.
#[derive(Clone, Debug)]
pub struct Deviation<'d> {
    /// What is different.
    pub deviation: Option<At<&'d str>>,
    /// Why.
    pub reason: Option<At<&'d str>>,
    /// What follows from it.
    pub impact: Option<At<&'d str>>,
}

impl<'d> Lenient<'d> for Deviation<'d> {
    fn read(node: &'d Node) -> Option<Self> {
        (!node.is_blank()).then(|| Self {
            deviation: text(node, "deviation", "deviation"),
            reason: text(node, "reason", "deviation"),
            impact: text(node, "impact", "deviation"),
        })
    }
}
