//! Dependencies: the artifacts a handoff builds on, and those that build on it.

use super::{FromYaml, field, text_of_key};
use crate::format::shape::{FieldKind, Shape, WordChoice};
use crate::text::span::{Span, Spanned};
use crate::text::yaml::YamlNode;

/// The relationship of a handoff to the document it was made from.
const DERIVED_FROM: &str = "derived_from";
static UPSTREAM_RELATION: WordChoice =
    WordChoice { words: &[DERIVED_FROM, "references", "supersedes"], aliases: &[], guesses: &[] };
static DOWNSTREAM_RELATION: WordChoice =
    WordChoice { words: &["enables", "informs", "blocks"], aliases: &[], guesses: &[] };

pub(super) static SHAPE: Shape = Shape {
    name: "dependencies",
    shorthand: None,
    identity: &[],
    guesses: &[],
    fields: &[
        field("upstream", FieldKind::List(&FieldKind::Map(&UPSTREAM)), "What this builds on."),
        field("downstream", FieldKind::List(&FieldKind::Map(&DOWNSTREAM)), "What builds on this."),
    ],
};

static UPSTREAM: Shape = Shape {
    name: "an upstream artifact",
    shorthand: Some("artifact"),
    identity: &["artifact"],
    guesses: &[],
    fields: &[
        field("artifact", FieldKind::Text, "A path or a handoff id."),
        field(
            "relationship",
            FieldKind::Choice(&UPSTREAM_RELATION),
            "How this handoff builds on the artifact.",
        ),
    ],
};

static DOWNSTREAM: Shape = Shape {
    name: "a downstream artifact",
    shorthand: Some("artifact"),
    identity: &["artifact"],
    guesses: &[],
    fields: &[
        field("artifact", FieldKind::Text, "A path or a handoff id."),
        field(
            "relationship",
            FieldKind::Choice(&DOWNSTREAM_RELATION),
            "How this handoff affects the artifact.",
        ),
    ],
};

/// An artifact that the handoff depends on, or that depends on it.
#[derive(Clone, Debug)]
pub struct Dependency<'d> {
    /// Its span.
    pub at: Span,
    /// A path or a handoff id.
    pub artifact: Option<Spanned<&'d str>>,
    /// The relationship between the two.
    pub relationship: Option<Spanned<&'d str>>,
}

impl Dependency<'_> {
    /// Whether the handoff was made from the artifact.
    pub fn is_origin(&self) -> bool {
        self.relationship.is_some_and(|relationship| relationship.value.trim() == DERIVED_FROM)
    }
}

impl<'d> FromYaml<'d> for Dependency<'d> {
    fn read(node: &'d YamlNode) -> Option<Self> {
        (!node.is_blank()).then(|| Self {
            at: node.at,
            artifact: text_of_key(node, "artifact", "artifact"),
            relationship: text_of_key(node, "relationship", "artifact"),
        })
    }
}

/// The dependencies of a handoff in both directions.
#[derive(Clone, Debug, Default)]
pub struct Dependencies<'d> {
    /// The artifacts that the handoff builds on.
    pub upstream: Vec<Dependency<'d>>,
    /// The artifacts that build on the handoff.
    pub downstream: Vec<Dependency<'d>>,
}

impl<'d> FromYaml<'d> for Dependencies<'d> {
    fn read(node: &'d YamlNode) -> Option<Self> {
        let list = |key| {
            let items = node.get(key).map(YamlNode::items).unwrap_or_default();
            items.into_iter().filter_map(Dependency::read).collect()
        };
        Some(Self { upstream: list("upstream"), downstream: list("downstream") })
    }
}
