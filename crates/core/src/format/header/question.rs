//! Open questions: what is not known yet, and whether the work has to wait for it.

use super::{Lenient, field, flag, text};
use crate::format::shape::{Kind, Shape};
use crate::text::span::{At, Span};
use crate::text::yaml::Node;

pub(super) static SHAPE: Shape = Shape {
    name: "a question",
    main: Some("question"),
    identity: &["question"],
    fields: &[
        field("question", Kind::Text, "What is not known."),
        field("context", Kind::Text, "Why it matters."),
        field("blocking", Kind::Flag, "Whether the work has to wait for the answer."),
        field("suggested_owner", Kind::Text, "Who should answer it."),
        field("answer", Kind::Text, "The answer, once there is one."),
    ],
};

/// A question to whoever comes next.
#[derive(Clone, Debug)]
pub struct Question<'d> {
    /// Its bytes.
    pub at: Span,
    /// What is not known.
    pub question: Option<At<&'d str>>,
    /// Why it matters.
    pub context: Option<At<&'d str>>,
    /// Whether the work has to wait for the answer.
    pub blocking: bool,
    /// Who should answer it.
    pub owner: Option<At<&'d str>>,
    /// The answer.
    pub answer: Option<At<&'d str>>,
}

impl Question<'_> {
    /// Whether the work has to wait.
    pub fn blocks(&self) -> bool {
        self.blocking && self.answer.is_none()
    }
}

impl<'d> Lenient<'d> for Question<'d> {
    fn read(node: &'d Node) -> Option<Self> {
        (!node.is_blank()).then(|| Self {
            at: node.at,
            question: text(node, "question", "question"),
            context: text(node, "context", "question"),
            blocking: flag(node, "blocking").unwrap_or(false),
            owner: text(node, "suggested_owner", "question"),
            answer: text(node, "answer", "question"),
        })
    }
}
