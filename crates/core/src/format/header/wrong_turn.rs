//! Wrong turns: what was tried, why it was wrong, and what took its place.

use super::{Lenient, field, text};
use crate::format::shape::{Kind, Shape};
use crate::text::span::{At, Span};
use crate::text::yaml::Node;

pub(super) static SHAPE: Shape = Shape {
    name: "a wrong turn",
    main: Some("tried"),
    identity: &["tried"],
    fields: &[
        field("tried", Kind::Text, "What was tried or believed."),
        field("why_wrong", Kind::Text, "Why it was wrong."),
        field("replaced_by", Kind::Text, "What took its place."),
    ],
};

/// Something that was tried and was wrong.
#[derive(Clone, Debug)]
pub struct WrongTurn<'d> {
    /// Its bytes.
    pub at: Span,
    /// What was tried or believed.
    pub tried: Option<At<&'d str>>,
    /// Why it was wrong.
    pub why_wrong: Option<At<&'d str>>,
    /// What took its place.
    pub replaced_by: Option<At<&'d str>>,
}

impl<'d> Lenient<'d> for WrongTurn<'d> {
    fn read(node: &'d Node) -> Option<Self> {
        // People shorten these two.
        let any = |key, short| text(node, key, "tried").or_else(|| text(node, short, "tried"));
        (!node.is_blank()).then(|| Self {
            at: node.at,
            tried: text(node, "tried", "tried"),
            why_wrong: any("why_wrong", "why"),
            replaced_by: any("replaced_by", "instead"),
        })
    }
}
