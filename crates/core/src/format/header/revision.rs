//! Revisions: when the handoff changed, who changed it, and why.

use super::{FromYaml, field, text_of_key};
use crate::format::shape::{FieldKind, Shape};
use crate::text::span::{Span, Spanned};
use crate::text::yaml::YamlNode;

pub(super) static SHAPE: Shape = Shape {
    name: "a revision",
    shorthand: Some("reason"),
    identity: &["at", "by", "verb", "reason", "was", "joins"],
    guesses: &[],
    fields: &[
        field("at", FieldKind::Time, "When."),
        field("by", FieldKind::Text, "Who."),
        field(
            "verb",
            FieldKind::Text,
            "The verb that changed it; absent for newly written content.",
        ),
        field("reason", FieldKind::Text, "Why it was changed."),
        field("was", FieldKind::Text, "The git blob of the version it replaced."),
        field(
            "joins",
            FieldKind::List(&FieldKind::Text),
            "The git blobs of the two versions that a merge joined.",
        ),
        field(
            "made",
            FieldKind::Text,
            "The git blob of the version it produced, if the next entry was written elsewhere.",
        ),
    ],
};

/// One change to the document.
#[derive(Clone, Debug)]
pub struct Revision<'d> {
    /// Its span.
    pub at: Span,
    /// When it changed.
    pub time: Option<Spanned<&'d str>>,
    /// Who changed it.
    pub by: Option<Spanned<&'d str>>,
    /// The verb that changed it. `None` for a new text or an unknown verb.
    pub verb: Option<RevisionVerb>,
    /// Why it changed.
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

/// The verb of a revision that is not a new text from an author.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevisionVerb {
    /// Work on it started.
    Start,
    /// A question was answered or an assumption was validated.
    Answer,
    /// It was reviewed.
    Review,
    /// It was closed.
    Resolve,
    /// It was reopened.
    Reopen,
    /// The work moved to the next stage.
    Advance,
    /// It was moved to the committed folder.
    Share,
    /// It was formatted into the strict form.
    Fmt,
    /// Its citations were updated to the current code.
    Fix,
    /// It was edited in an editor, without a reason.
    Edit,
    /// Its proofs were run.
    Verify,
    /// A session was saved to it.
    Save,
    /// An earlier change was undone.
    Undo,
    /// Two versions were merged.
    Merge,
    /// The file was changed without midstride.
    Outside,
}

impl RevisionVerb {
    const ALL: [Self; 15] = [
        Self::Start,
        Self::Answer,
        Self::Review,
        Self::Resolve,
        Self::Reopen,
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

    /// The word written in the document.
    pub fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Answer => "answer",
            Self::Review => "review",
            Self::Resolve => "resolve",
            Self::Reopen => "reopen",
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

    /// The verb of a revision entry. Does not look at the reason, because it is free text.
    pub(crate) fn from_entry(entry: &YamlNode) -> Option<Self> {
        let word = entry.get("verb")?.text()?.value.trim();
        Self::ALL.into_iter().find(|verb| verb.word() == word)
    }

    /// Whether a revision with this verb changed the content. The others record a step of the
    /// lifecycle, or rewrite the text without changing what it says. What a merge joins is counted
    /// where it was written, and an undo counts like the revision that it undoes.
    pub(crate) fn changes_content(self, reason: &str) -> bool {
        match self {
            Self::Edit | Self::Save | Self::Outside => true,
            Self::Review => reason.trim_end().ends_with("(corrected)"),
            Self::Start
            | Self::Answer
            | Self::Resolve
            | Self::Reopen
            | Self::Advance
            | Self::Share
            | Self::Fmt
            | Self::Fix
            | Self::Verify
            | Self::Undo
            | Self::Merge => false,
        }
    }

    /// Whether `undo` stops here. A merge has two previous versions, and versions from before the
    /// handoff was shared stay private.
    pub(crate) fn ends_undo(self) -> bool {
        matches!(self, Self::Merge | Self::Share)
    }
}

impl Revision<'_> {
    /// Whether the revision corrected the content, rather than recording a lifecycle step.
    pub(crate) fn is_correction(&self) -> bool {
        match self.verb {
            None => true,
            Some(RevisionVerb::Review) => !self.reason.is_some_and(|r| r.value.ends_with("(held)")),
            Some(_) => false,
        }
    }
}
