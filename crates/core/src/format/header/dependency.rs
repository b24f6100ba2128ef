//! Dependencies: what a handoff builds on, and what builds on it.

use super::{Lenient, field, text};
use crate::format::shape::{Choice, Kind, Shape};
use crate::text::span::{At, Span};
use crate::text::yaml::Node;

static UPSTREAM_RELATION: Choice =
    Choice { words: &["derived_from", "references", "supersedes"], aliases: &[], guesses: &[] };
static DOWNSTREAM_RELATION: Choice =
    Choice { words: &["enables", "informs", "blocks"], aliases: &[], guesses: &[] };

pub(super) static SHAPE: Shape = Shape {
    name: "dependencies",
    main: None,
    identity: &[],
    fields: &[
        field("upstream", Kind::List(&Kind::Map(&UPSTREAM)), "What this builds on."),
        field("downstream", Kind::List(&Kind::Map(&DOWNSTREAM)), "What builds on this."),
    ],
};

static UPSTREAM: Shape = Shape {
    name: "an upstream artifact",
    main: Some("artifact"),
    identity: &["artifact"],
    fields: &[
        field("artifact", Kind::Text, "A path, or the id of a handoff."),
        field("relationship", Kind::Choice(&UPSTREAM_RELATION), "How this builds on it."),
    ],
};

static DOWNSTREAM: Shape = Shape {
    name: "a downstream artifact",
    main: Some("artifact"),
    identity: &["artifact"],
    fields: &[
        field("artifact", Kind::Text, "A path, or the id of a handoff."),
        field("relationship", Kind::Choice(&DOWNSTREAM_RELATION), "What this does for it."),
    ],
};

/// An artifact this one is connected with.
#[derive(Clone, Debug)]
pub struct Dependency<'d> {
    /// Its bytes.
    pub at: Span,
    /// A path, or the id of a handoff.
    pub artifact: Option<At<&'d str>>,
    /// How they are connected.
    pub relationship: Option<At<&'d str>>,
}

impl<'d> Lenient<'d> for Dependency<'d> {
    fn read(node: &'d Node) -> Option<Self> {
        (!node.is_blank()).then(|| Self {
            at: node.at,
            artifact: text(node, "artifact", "artifact"),
            relationship: text(node, "relationship", "artifact"),
        })
    }
}

/// What a handoff builds on, and what builds on it.
#[derive(Clone, Debug, Default)]
pub struct Dependencies<'d> {
    /// What it builds on.
    pub upstream: Vec<Dependency<'d>>,
    /// What builds on it.
    pub downstream: Vec<Dependency<'d>>,
}

impl<'d> Lenient<'d> for Dependencies<'d> {
    fn read(node: &'d Node) -> Option<Self> {
        let list = |key| {
            let items = node.get(key).map(Node::items).unwrap_or_default();
            items.into_iter().filter_map(Dependency::read).collect()
        };
        Some(Self { upstream: list("upstream"), downstream: list("downstream") })
    }
}
