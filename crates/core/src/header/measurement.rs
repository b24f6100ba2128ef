//! Measurements: a number before and after.

use super::field;
use crate::shape::{Kind, Shape};

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
