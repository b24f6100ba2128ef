//! The handoff header: all its fields, and typed access to each.
//!
//! Typed values borrow from the parsed tree. Nothing is copied, and each part keeps its span.

mod assumption;
mod capability;
mod decision;
mod dependency;
mod deviation;
mod foreign;
mod measurement;
mod proof;
mod question;
mod recovery;
mod resolution;
mod review;
mod revision;
mod startup;
mod status;
mod wrong_turn;

pub use assumption::{Assumption, Confidence, Validation};
pub(crate) use capability::Capability;
pub use decision::Decision;
pub use dependency::{Dependencies, Dependency};
pub use deviation::Deviation;
pub use measurement::Measurement;
pub(crate) use proof::LAST_TRIAL;
pub use proof::{LastTrial, Proof, RecordedOutcome};
pub use question::Question;
pub use recovery::Recovery;
pub use resolution::Resolution;
pub use review::{Review, ReviewVerdict};
pub use revision::{Revision, RevisionVerb};
pub(crate) use startup::StartupEntries;
pub use startup::StartupKind;
pub use status::{HandoffKind, Status};
pub use wrong_turn::WrongTurn;

use crate::format::shape::{FieldKind, FieldShape, Shape, parse_flag};
use crate::text::span::{Span, Spanned};
use crate::text::yaml::{YamlNode, YamlValue};

/// Every field of `handoff:`, in the order they are written.
pub static HANDOFF: Shape = Shape {
    name: "a handoff",
    shorthand: None,
    identity: &[],
    guesses: &[],
    fields: &[
        field("format", FieldKind::Number, "The format version; 1 if absent."),
        field("id", FieldKind::Text, "The handoff's slug; `feat-NNN` in a pipeline."),
        field(
            "uid",
            FieldKind::Text,
            "Never changes; distinguishes two handoffs with the same id.",
        ),
        field("title", FieldKind::Text, "What it is about, in one line."),
        field("description", FieldKind::Text, "One line that helps a later session find it."),
        field("kind", FieldKind::Choice(&status::KIND), "The kind of handoff."),
        field("stage", FieldKind::Text, "The pipeline stage the document belongs to."),
        field("status", FieldKind::Choice(&status::STATUS), "Its status."),
        field("from", FieldKind::Text, "Who wrote it."),
        field("to", FieldKind::List(&FieldKind::Text), "Who resumes it."),
        field("created", FieldKind::Time, "When it was captured."),
        field(
            "updated",
            FieldKind::Time,
            "When it last changed. Used only in older documents; newer ones record the time in \
             the last revision.",
        ),
        field("at_commit", FieldKind::Text, "The commit the repository was at."),
        field("context_summary", FieldKind::Text, "One to three sentences for the next session."),
        field(
            "decisions_made",
            FieldKind::List(&FieldKind::Map(&decision::SHAPE)),
            "What was decided, and why.",
        ),
        field(
            "wrong_turns",
            FieldKind::List(&FieldKind::Map(&wrong_turn::SHAPE)),
            "What was tried and turned out wrong.",
        ),
        field(
            "open_questions",
            FieldKind::List(&FieldKind::Map(&question::SHAPE)),
            "What is not known yet.",
        ),
        field(
            "assumptions",
            FieldKind::List(&FieldKind::Map(&assumption::SHAPE)),
            "What is assumed.",
        ),
        field(
            "landmines",
            FieldKind::List(&FieldKind::Text),
            "What could trip up the next session.",
        ),
        field(
            "proofs",
            FieldKind::List(&FieldKind::Map(&proof::SHAPE)),
            "Commands that verify claims.",
        ),
        field(
            "measurements",
            FieldKind::List(&FieldKind::Map(&measurement::SHAPE)),
            "Numbers before and after the change.",
        ),
        field(
            "implements",
            FieldKind::List(&FieldKind::Text),
            "The design sections that this implements.",
        ),
        field(
            "deviations",
            FieldKind::List(&FieldKind::Map(&deviation::SHAPE)),
            "Where it departs from the design.",
        ),
        field(
            "dependencies",
            FieldKind::Map(&dependency::SHAPE),
            "What it builds on and what builds on it.",
        ),
        field(
            "platform_capabilities",
            FieldKind::MapOf(&FieldKind::Map(&capability::SHAPE)),
            "One decision for each capability.",
        ),
        field(
            "boot",
            FieldKind::Map(&startup::SHAPE),
            "What a session does first. Shell commands are not allowed.",
        ),
        field("state", FieldKind::Any, "The session's machine-readable state."),
        field(
            "reviews",
            FieldKind::List(&FieldKind::Map(&review::SHAPE)),
            "Who challenged it, and the result.",
        ),
        field(
            "revisions",
            FieldKind::List(&FieldKind::Map(&revision::SHAPE)),
            "When it changed, by whom and why.",
        ),
        field("superseded_by", FieldKind::Text, "The handoff that replaced it."),
        field("resolution", FieldKind::Map(&resolution::SHAPE), "How it was closed."),
    ],
};

/// Creates a field; keeps the tables in this module short.
const fn field(name: &'static str, kind: FieldKind, about: &'static str) -> FieldShape {
    FieldShape { name, kind, description: about }
}

/// Where a header was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderLocation {
    /// Under `handoff:` in the front matter, the format of midstride.
    FrontMatter,
    /// In the front matter of another tool.
    Foreign,
    /// In a `## Handoff` section of the body.
    Section,
}

/// A parsed header.
#[derive(Clone, Debug)]
pub struct Header {
    /// Where it was found.
    pub location: HeaderLocation,
    /// Its span, without the fences.
    pub at: Span,
    /// The parsed tree.
    pub root: YamlNode,
    /// The spans of its comments.
    pub comments: Vec<Span>,
}

impl Header {
    /// The mapping with the handoff fields.
    pub fn fields(&self) -> &YamlNode {
        match self.location {
            HeaderLocation::FrontMatter => self.root.get("handoff").unwrap_or(&self.root),
            HeaderLocation::Foreign | HeaderLocation::Section => &self.root,
        }
    }

    /// The value of a field, also under the names that other tools use for it.
    pub fn get(&self, name: &str) -> Option<&YamlNode> {
        self.fields()
            .get(name)
            .or_else(|| foreign::foreign_names(name).iter().find_map(|other| self.root.get(other)))
    }

    /// The text of a field, unless it is blank.
    pub fn text(&self, name: &str) -> Option<Spanned<&str>> {
        self.get(name).and_then(YamlNode::text).filter(|text| !text.value.trim().is_empty())
    }

    /// The typed entries of a list field.
    pub fn list<'d, T: FromYaml<'d>>(&'d self, name: &str) -> Vec<T> {
        let items = self.get(name).map(YamlNode::items).unwrap_or_default();
        items.into_iter().filter_map(T::read).collect()
    }
}

/// A typed value that is read leniently.
pub trait FromYaml<'d>: Sized {
    /// Reads the value. Returns `None` if it is empty.
    fn read(node: &'d YamlNode) -> Option<Self>;
}

impl<'d> FromYaml<'d> for Spanned<&'d str> {
    fn read(node: &'d YamlNode) -> Option<Self> {
        node.text()
    }
}

/// The text of a key. If the node is plain text, that text is the value of the key `main`.
fn text_of_key<'d>(node: &'d YamlNode, key: &str, main: &str) -> Option<Spanned<&'d str>> {
    let written = match &node.value {
        YamlValue::Text(_) if key == main => node.text(),
        YamlValue::Text(_)
        | YamlValue::Null
        | YamlValue::List(_)
        | YamlValue::Map(_)
        | YamlValue::Unreadable(_) => node.get(key).and_then(YamlNode::text),
    };
    written.filter(|text| !text.value.trim().is_empty())
}

/// The boolean value of a key.
fn flag_of_key(node: &YamlNode, key: &str) -> Option<bool> {
    parse_flag(node.get(key)?.text()?.value)
}

/// The texts of a list under a key.
fn texts_of_key<'d>(node: &'d YamlNode, key: &str) -> Vec<Spanned<&'d str>> {
    let items = node.get(key).map(YamlNode::items).unwrap_or_default();
    items.into_iter().filter_map(YamlNode::text).collect()
}
