//! The header: every field it may have, and the typed reading of each.
//!
//! A typed value borrows from the tree that was read; nothing is copied, and each part still knows
//! its bytes.

mod assumption;
mod boot;
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
mod status;
mod wrong_turn;

pub use assumption::{Assumption, Confidence, Validation};
pub use boot::{Boot, BootAction, BootKind, NoBoot};
pub use capability::Capability;
pub use decision::Decision;
pub use dependency::{Dependencies, Dependency};
pub use deviation::Deviation;
pub use measurement::Measurement;
pub(crate) use proof::LAST_RUN;
pub use proof::{LastRun, Proof, RunOutcome};
pub use question::Question;
pub use recovery::Recovery;
pub use resolution::Resolution;
pub use review::{Review, ReviewVerdict};
pub use revision::{Revision, Verb};
pub use status::{HandoffKind, Status};
pub use wrong_turn::WrongTurn;

use crate::format::shape::{Field, Kind, Shape, read_flag};
use crate::text::span::{At, Span};
use crate::text::yaml::{Node, Value};

/// Every field of `handoff:`, in the order they are written.
pub static HANDOFF: Shape = Shape {
    name: "a handoff",
    main: None,
    identity: &[],
    fields: &[
        field("format", Kind::Number, "The version of the format; 1 where it is absent."),
        field("id", Kind::Text, "A slug by which people name the handoff; in a pipeline feat-NNN."),
        field("uid", Kind::Text, "Never changes; tells two handoffs with one id apart."),
        field("title", Kind::Text, "What it is about, in one line."),
        field("description", Kind::Text, "One line by which a later session finds it."),
        field("kind", Kind::Choice(&status::KIND), "What sort of handoff this is."),
        field("stage", Kind::Text, "The stage of a pipeline document."),
        field("status", Kind::Choice(&status::STATUS), "Where its life stands."),
        field("from", Kind::Text, "Who wrote it."),
        field("to", Kind::List(&Kind::Text), "Who takes it over."),
        field("created", Kind::Time, "When it was captured."),
        field("updated", Kind::Time, "Read from older documents; the last revision tells it."),
        field("at_commit", Kind::Text, "Where the repository stood."),
        field("context_summary", Kind::Text, "One to three sentences for whoever comes next."),
        field(
            "decisions_made",
            Kind::List(&Kind::Map(&decision::SHAPE)),
            "What was decided, and why.",
        ),
        field(
            "wrong_turns",
            Kind::List(&Kind::Map(&wrong_turn::SHAPE)),
            "What was tried and was wrong.",
        ),
        field("open_questions", Kind::List(&Kind::Map(&question::SHAPE)), "What is not known yet."),
        field(
            "assumptions",
            Kind::List(&Kind::Map(&assumption::SHAPE)),
            "What is taken for granted.",
        ),
        field("landmines", Kind::List(&Kind::Text), "What will bite whoever works here next."),
        field("proofs", Kind::List(&Kind::Map(&proof::SHAPE)), "Commands that show a claim again."),
        field(
            "measurements",
            Kind::List(&Kind::Map(&measurement::SHAPE)),
            "Numbers before and after.",
        ),
        field(
            "implements",
            Kind::List(&Kind::Text),
            "Sections of the design that this carries out.",
        ),
        field(
            "deviations",
            Kind::List(&Kind::Map(&deviation::SHAPE)),
            "Where it departs from the design.",
        ),
        field(
            "dependencies",
            Kind::Map(&dependency::SHAPE),
            "What it builds on and what builds on it.",
        ),
        field(
            "platform_capabilities",
            Kind::Each(&Kind::Map(&capability::SHAPE)),
            "A decision on each capability.",
        ),
        field("boot", Kind::Map(&boot::SHAPE), "What a session does first; never a shell command."),
        field("state", Kind::Any, "The machine-readable state of a session."),
        field(
            "reviews",
            Kind::List(&Kind::Map(&review::SHAPE)),
            "Who challenged it, and what came of it.",
        ),
        field(
            "revisions",
            Kind::List(&Kind::Map(&revision::SHAPE)),
            "When it changed, by whom and why.",
        ),
        field("superseded_by", Kind::Text, "The handoff that took its place."),
        field("resolution", Kind::Map(&resolution::SHAPE), "How it ended."),
    ],
};

/// Shortens the tables of this room.
const fn field(name: &'static str, kind: Kind, about: &'static str) -> Field {
    Field { name, kind, about }
}

/// Where the values of a header were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Under `handoff:` in the front matter: the format of midstride.
    FrontMatter,
    /// In the front matter of another tool.
    Foreign,
    /// In a section `## Handoff` of the body.
    Section,
}

/// A header that was read.
#[derive(Clone, Debug)]
pub struct Header {
    /// Where it was found.
    pub place: Place,
    /// Its bytes, without the fences around it.
    pub at: Span,
    /// Everything in it.
    pub root: Node,
    /// Its comments.
    pub comments: Vec<Span>,
}

impl Header {
    /// The mapping that holds the fields of the handoff.
    pub fn fields(&self) -> &Node {
        match self.place {
            Place::FrontMatter => self.root.get("handoff").unwrap_or(&self.root),
            Place::Foreign | Place::Section => &self.root,
        }
    }

    /// The value of a field, found under a foreign name where the header is another tool's.
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.fields()
            .get(name)
            .or_else(|| foreign::names(name).iter().find_map(|other| self.root.get(other)))
    }

    /// The value of a field as text.
    pub fn text(&self, name: &str) -> Option<At<&str>> {
        self.get(name).and_then(Node::text).filter(|text| !text.value.trim().is_empty())
    }

    /// The typed entries of a list field.
    pub fn list<'d, T: Lenient<'d>>(&'d self, name: &str) -> Vec<T> {
        let items = self.get(name).map(Node::items).unwrap_or_default();
        items.into_iter().filter_map(T::read).collect()
    }
}

/// A typed value that makes the best of what was written.
pub trait Lenient<'d>: Sized {
    /// Reads it; `None` where nothing is said.
    fn read(node: &'d Node) -> Option<Self>;
}

impl<'d> Lenient<'d> for At<&'d str> {
    fn read(node: &'d Node) -> Option<Self> {
        node.text()
    }
}

/// The text of a key; where the node itself is plain text it stands for the key `main`.
fn text<'d>(node: &'d Node, key: &str, main: &str) -> Option<At<&'d str>> {
    let written = match &node.value {
        Value::Text(_) if key == main => node.text(),
        Value::Text(_) | Value::Null | Value::List(_) | Value::Map(_) | Value::Unreadable(_) => {
            node.get(key).and_then(Node::text)
        }
    };
    written.filter(|text| !text.value.trim().is_empty())
}

/// The truth value of a key.
fn flag(node: &Node, key: &str) -> Option<bool> {
    read_flag(node.get(key)?.text()?.value)
}

/// The texts of a list under a key.
fn texts<'d>(node: &'d Node, key: &str) -> Vec<At<&'d str>> {
    let items = node.get(key).map(Node::items).unwrap_or_default();
    items.into_iter().filter_map(Node::text).collect()
}
