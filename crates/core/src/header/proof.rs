//! Proofs: a claim, and the command that shows it again.

use super::field;
use crate::shape::{Kind, Shape};

pub(super) static SHAPE: Shape = Shape {
    name: "a proof",
    main: None,
    identity: &["claim"],
    fields: &[
        field("claim", Kind::Text, "What is claimed."),
        field(
            "run",
            Kind::Text,
            "The command that shows it; it runs only once a person allowed it.",
        ),
        field("expect", Kind::Any, "What must come of it: an exit code, a text, a bound."),
        field("measures", Kind::Text, "The measurement its number belongs to."),
    ],
};
