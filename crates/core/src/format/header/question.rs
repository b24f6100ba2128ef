//! Open questions: what is not known yet, and whether it blocks the work.

use super::{FromYaml, field, flag_of_key, text_of_key};
use crate::format::shape::{FieldKind, Shape};
use crate::text::span::{Span, Spanned};
use crate::text::yaml::YamlNode;

pub(super) static SHAPE: Shape = Shape {
    name: "a question",
    shorthand: Some("question"),
    identity: &["question"],
    guesses: &[
        ("text", "question"),
        ("q", "question"),
        ("title", "question"),
        ("description", "question"),
        ("what", "question"),
        ("why", "context"),
        ("reason", "context"),
        ("background", "context"),
        ("details", "context"),
        ("blocker", "blocking"),
        ("blocks", "blocking"),
        ("is_blocking", "blocking"),
        ("owner", "suggested_owner"),
        ("assignee", "suggested_owner"),
        ("ask", "suggested_owner"),
        ("response", "answer"),
        ("reply", "answer"),
    ],
    fields: &[
        field("question", FieldKind::Text, "What is not known."),
        field("context", FieldKind::Text, "Why it matters."),
        field("blocking", FieldKind::Flag, "Whether the work has to wait for the answer."),
        field("suggested_owner", FieldKind::Text, "Who should answer it."),
        field("answer", FieldKind::Text, "The answer, once there is one."),
    ],
};

/// An open or answered question.
#[derive(Clone, Debug)]
pub struct Question<'d> {
    /// Its span.
    pub at: Span,
    /// The question.
    pub question: Option<Spanned<&'d str>>,
    /// Why it matters.
    pub context: Option<Spanned<&'d str>>,
    /// Whether the work has to wait for an answer.
    pub blocking: bool,
    /// Who should answer it.
    pub owner: Option<Spanned<&'d str>>,
    /// The answer.
    pub answer: Option<Spanned<&'d str>>,
}

impl Question<'_> {
    /// Whether it is blocking and has no answer yet.
    pub fn blocks(&self) -> bool {
        self.blocking && self.answer.is_none()
    }
}

impl<'d> FromYaml<'d> for Question<'d> {
    fn read(node: &'d YamlNode) -> Option<Self> {
        (!node.is_blank()).then(|| Self {
            at: node.at,
            question: text_of_key(node, "question", "question"),
            context: text_of_key(node, "context", "question"),
            blocking: flag_of_key(node, "blocking").unwrap_or(false),
            owner: text_of_key(node, "suggested_owner", "question"),
            answer: text_of_key(node, "answer", "question"),
        })
    }
}
