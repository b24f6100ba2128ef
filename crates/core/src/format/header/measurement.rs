//! Measurements: a number before and after.

use super::{Lenient, field, text};
use crate::format::shape::{Kind, Shape};
use crate::text::span::At;
use crate::text::yaml::Node;

pub(super) static SHAPE: Shape = Shape {
    name: "a measurement",
    main: None,
    identity: &["name"],
    fields: &[
        field("name", Kind::Text, "What is measured."),
        field("before", Kind::Number, "The number before."),
        field("after", Kind::Number, "The number after."),
        field("unit", Kind::Text, "The unit of both."),
    ],
};

/// A number before and after.
#[derive(Clone, Debug)]
pub struct Measurement<'d> {
    /// What is measured.
    pub name: Option<At<&'d str>>,
    /// The number before, as written.
    pub before: Option<At<&'d str>>,
    /// The number after, as written.
    pub after: Option<At<&'d str>>,
    /// The unit of both.
    pub unit: Option<At<&'d str>>,
}

impl Measurement<'_> {
    /// How many times less there is now, or more; `None` where that cannot be said.
    pub fn ratio(&self) -> Option<f64> {
        let number = |text: Option<At<&str>>| text?.value.trim().parse::<f64>().ok();
        let (before, after) = (number(self.before)?, number(self.after)?);
        let (large, small) = (before.abs().max(after.abs()), before.abs().min(after.abs()));
        (small > 0.0).then(|| large / small)
    }
}

impl<'d> Lenient<'d> for Measurement<'d> {
    fn read(node: &'d Node) -> Option<Self> {
        (!node.is_blank()).then(|| Self {
            name: text(node, "name", ""),
            before: text(node, "before", ""),
            after: text(node, "after", ""),
            unit: text(node, "unit", ""),
        })
    }
}
