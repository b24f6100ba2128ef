//! Measurements: a number before and after.

use super::{Lenient, field, text};
use crate::shape::{Kind, Shape};
use crate::span::At;
use crate::yaml::Node;

pub(super) static SHAPE: Shape = Shape {
    name: "a measurement",
    main: None,
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
    /// The number before.
    pub before: Option<f64>,
    /// The number after.
    pub after: Option<f64>,
    /// The unit of both.
    pub unit: Option<At<&'d str>>,
}

impl<'d> Lenient<'d> for Measurement<'d> {
    fn read(node: &'d Node) -> Option<Self> {
        let number = |key| text(node, key, "").and_then(|text| text.value.trim().parse().ok());
        (!node.is_blank()).then(|| Self {
            name: text(node, "name", ""),
            before: number("before"),
            after: number("after"),
            unit: text(node, "unit", ""),
        })
    }
}
