//! Wrong turns: what was tried, why it was wrong, and what replaced it.

use super::{FromYaml, field, text_of_key};
use crate::format::shape::{FieldKind, Shape};
use crate::text::span::{Span, Spanned};
use crate::text::yaml::YamlNode;

pub(super) static SHAPE: Shape = Shape {
    name: "a wrong turn",
    shorthand: Some("tried"),
    identity: &["tried"],
    guesses: &[],
    fields: &[
        field("tried", FieldKind::Text, "What was tried or believed."),
        field("why_wrong", FieldKind::Text, "Why it was wrong."),
        field("replaced_by", FieldKind::Text, "What replaced it."),
    ],
};

/// Something that was tried and was wrong.
#[derive(Clone, Debug)]
pub struct WrongTurn<'d> {
    /// Its span.
    pub at: Span,
    /// What was tried or believed.
    pub tried: Option<Spanned<&'d str>>,
    /// Why it was wrong.
    pub why_wrong: Option<Spanned<&'d str>>,
    /// What replaced it.
    pub replaced_by: Option<Spanned<&'d str>>,
}

impl<'d> FromYaml<'d> for WrongTurn<'d> {
    fn read(node: &'d YamlNode) -> Option<Self> {
        // These two keys are often shortened.
        let any = |key, short| {
            text_of_key(node, key, "tried").or_else(|| text_of_key(node, short, "tried"))
        };
        (!node.is_blank()).then(|| Self {
            at: node.at,
            tried: text_of_key(node, "tried", "tried"),
            why_wrong: any("why_wrong", "why"),
            replaced_by: any("replaced_by", "instead"),
        })
    }
}
