//! Reviews: who challenged the handoff, and what came of it.

use super::field;
use crate::shape::{Choice, Kind, Shape};

static VERDICT: Choice =
    Choice { words: &["held", "corrected", "rejected"], aliases: &[], guesses: &[] };

pub(super) static SHAPE: Shape = Shape {
    name: "a review",
    main: Some("challenged"),
    identity: &["at", "by", "challenged"],
    fields: &[
        field("at", Kind::Time, "When."),
        field("by", Kind::Text, "Who."),
        field("challenged", Kind::Text, "What was called into question."),
        field("verdict", Kind::Choice(&VERDICT), "What came of it."),
        field("revision", Kind::Number, "The revision it was about."),
    ],
};
