//! Measurements: a number before and after the change.

use super::{FromYaml, field, text_of_key};
use crate::format::shape::{FieldKind, Shape};
use crate::text::span::Spanned;
use crate::text::yaml::YamlNode;

pub(super) static SHAPE: Shape = Shape {
    name: "a measurement",
    shorthand: None,
    identity: &["name"],
    guesses: &[],
    fields: &[
        field("name", FieldKind::Text, "What is measured."),
        field("before", FieldKind::Number, "The number before the change."),
        field("after", FieldKind::Number, "The number after the change."),
        field("unit", FieldKind::Text, "The unit of both numbers."),
    ],
};

/// A number before and after the change.
#[derive(Clone, Debug)]
pub struct Measurement<'d> {
    /// What is measured.
    pub name: Option<Spanned<&'d str>>,
    /// The number before, as written.
    pub before: Option<Spanned<&'d str>>,
    /// The number after, as written.
    pub after: Option<Spanned<&'d str>>,
    /// The unit of both numbers.
    pub unit: Option<Spanned<&'d str>>,
}

impl Measurement<'_> {
    /// The larger number divided by the smaller one. `None` if a number is missing or the smaller
    /// one is zero.
    pub fn ratio(&self) -> Option<f64> {
        let number = |text: Option<Spanned<&str>>| text?.value.trim().parse::<f64>().ok();
        let (before, after) = (number(self.before)?, number(self.after)?);
        let (large, small) = (before.abs().max(after.abs()), before.abs().min(after.abs()));
        (small > 0.0).then(|| large / small)
    }
}

impl<'d> FromYaml<'d> for Measurement<'d> {
    fn read(node: &'d YamlNode) -> Option<Self> {
        (!node.is_blank()).then(|| Self {
            name: text_of_key(node, "name", ""),
            before: text_of_key(node, "before", ""),
            after: text_of_key(node, "after", ""),
            unit: text_of_key(node, "unit", ""),
        })
    }
}
