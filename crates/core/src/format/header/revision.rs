//! Revisions: when the handoff changed, by whom, and why.

use super::{FromYaml, field, text_of_key};
use crate::format::shape::{FieldKind, Shape};
use crate::text::span::{Span, Spanned};
use crate::text::yaml::YamlNode;

pub(super) static SHAPE: Shape = Shape {
    name: "a revision",
    shorthand: Some("reason"),
    identity: &["at", "by", "verb", "reason", "was", "joins"],
    fields: &[
        field("at", FieldKind::Time, "When."),
        field("by", FieldKind::Text, "Who."),
        field("verb", FieldKind::Text, "The verb that changed it, where it was not a new text."),
        field("reason", FieldKind::Text, "Why it was changed."),
        field("was", FieldKind::Text, "The git blob of the text it replaced."),
        field(
            "joins",
            FieldKind::List(&FieldKind::Text),
            "The git blobs of the two texts that a merge joined.",
        ),
        field(
            "made",
            FieldKind::Text,
            "The git blob of the text it made, where the next entry was written elsewhere.",
        ),
    ],
};

/// One change of the document.
#[derive(Clone, Debug)]
pub struct Revision<'d> {
    /// Its bytes.
    pub at: Span,
    /// When.
    pub time: Option<Spanned<&'d str>>,
    /// Who.
    pub by: Option<Spanned<&'d str>>,
    /// The verb that made it; none for a new text, or where it is not told.
    pub verb: Option<RevisionVerb>,
    /// Why.
    pub reason: Option<Spanned<&'d str>>,
}

impl<'d> FromYaml<'d> for Revision<'d> {
    fn read(node: &'d YamlNode) -> Option<Self> {
        (!node.is_blank()).then(|| Self {
            at: node.at,
            time: text_of_key(node, "at", "reason"),
            by: text_of_key(node, "by", "reason"),
            verb: RevisionVerb::from_entry(node),
            reason: text_of_key(node, "reason", "reason"),
        })
    }
}

/// What brought a revision about, if it was not that somebody wrote a new text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevisionVerb {
    /// Somebody began to work on it.
    Start,
    /// A question was answered, or an assumption looked into.
    Answer,
    /// Somebody called it into question.
    Review,
    /// It ended.
    Resolve,
    /// The work went on to the next stage.
    Advance,
    /// It was moved to the committed shelf.
    Share,
    /// It was brought into the strict form.
    Fmt,
    /// Its citations were brought up to where they are now.
    Fix,
    /// It was changed in an editor, without a word about it.
    Edit,
    /// Its proofs were run.
    Verify,
    /// A session was saved in it.
    Save,
    /// An earlier change was taken back.
    Undo,
    /// Two texts were joined.
    Merge,
    /// Somebody changed the file without midstride.
    Outside,
}

impl RevisionVerb {
    const ALL: [Self; 14] = [
        Self::Start,
        Self::Answer,
        Self::Review,
        Self::Resolve,
        Self::Advance,
        Self::Share,
        Self::Fmt,
        Self::Fix,
        Self::Edit,
        Self::Verify,
        Self::Save,
        Self::Undo,
        Self::Merge,
        Self::Outside,
    ];

    /// The word that is written.
    pub fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Answer => "answer",
            Self::Review => "review",
            Self::Resolve => "resolve",
            Self::Advance => "advance",
            Self::Share => "share",
            Self::Fmt => "fmt",
            Self::Fix => "fix",
            Self::Edit => "edit",
            Self::Verify => "verify",
            Self::Save => "save",
            Self::Undo => "undo",
            Self::Merge => "merge",
            Self::Outside => "outside",
        }
    }

    /// The verb that an entry of the history names. What a person writes as a reason is not looked
    /// at: it may say anything.
    pub fn from_entry(entry: &YamlNode) -> Option<Self> {
        let word = entry.get("verb")?.text()?.value.trim();
        Self::ALL.into_iter().find(|verb| verb.word() == word)
    }

    /// Whether `undo` reaches behind it. A merge has two texts before it, and what was private
    /// before it was shared stays so.
    pub fn ends_undo(self) -> bool {
        matches!(self, Self::Merge | Self::Share)
    }
}

impl Revision<'_> {
    /// Whether something in the handoff was corrected, rather than its life going on.
    pub fn is_correction(&self) -> bool {
        match self.verb {
            None => true,
            Some(RevisionVerb::Review) => !self.reason.is_some_and(|r| r.value.ends_with("(held)")),
            Some(_) => false,
        }
    }
}
