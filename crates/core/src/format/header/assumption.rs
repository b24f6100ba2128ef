//! Assumptions: what is assumed, how confidently, and whether it was validated.

use super::{FromYaml, field, flag_of_key, text_of_key};
use crate::format::shape::{FieldKind, Shape, WordChoice};
use crate::text::span::{Span, Spanned};
use crate::text::yaml::YamlNode;

static CONFIDENCE: WordChoice = WordChoice {
    words: &["high", "medium", "low"],
    aliases: &[("med", "medium"), ("mid", "medium")],
    guesses: &[],
};

/// Older documents have a plain `true` or `false` here. `false` means not yet validated.
static VALIDATED: WordChoice = WordChoice {
    words: &["true", "false", "failed"],
    aliases: &[
        ("yes", "true"),
        ("on", "true"),
        ("y", "true"),
        ("no", "false"),
        ("off", "false"),
        ("n", "false"),
        ("disproved", "failed"),
        ("refuted", "failed"),
    ],
    guesses: &[],
};

pub(super) static SHAPE: Shape = Shape {
    name: "an assumption",
    shorthand: Some("assumption"),
    identity: &["assumption"],
    guesses: &[
        ("text", "assumption"),
        ("claim", "assumption"),
        ("statement", "assumption"),
        ("title", "assumption"),
        ("description", "assumption"),
        ("what", "assumption"),
        ("certainty", "confidence"),
        ("verified", "validated"),
        ("confirmed", "validated"),
        ("holds", "validated"),
        ("needs_validation", "validation_needed"),
        ("validate", "validation_needed"),
    ],
    fields: &[
        field("assumption", FieldKind::Text, "What is assumed."),
        field("confidence", FieldKind::Choice(&CONFIDENCE), "How sure the author is."),
        field("validation_needed", FieldKind::Flag, "Whether it should be checked."),
        field(
            "validated",
            FieldKind::Choice(&VALIDATED),
            "The result of validation: `true` if it holds, `failed` if it was disproved, `false` \
             if it is not checked yet.",
        ),
    ],
};

/// How confident the author is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confidence {
    /// Doubtful.
    Low,
    /// Likely.
    Medium,
    /// Sure.
    High,
}

/// The validation state of an assumption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validation {
    /// Not yet validated.
    Pending,
    /// Validated and true.
    Holds,
    /// Validated and false.
    Disproved,
}

impl Validation {
    fn parse(text: &str) -> Option<Self> {
        Some(match VALIDATED.parse(text)? {
            "true" => Self::Holds,
            "failed" => Self::Disproved,
            _ => Self::Pending,
        })
    }

    /// The word written in the document.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "false",
            Self::Holds => "true",
            Self::Disproved => "failed",
        }
    }
}

/// An assumption.
#[derive(Clone, Debug)]
pub struct Assumption<'d> {
    /// Its span.
    pub at: Span,
    /// What is assumed.
    pub assumption: Option<Spanned<&'d str>>,
    /// How confident the author is.
    pub confidence: Option<Confidence>,
    /// Whether the author asks for validation.
    pub validation_needed: bool,
    /// The validation state.
    pub validation: Validation,
}

impl Assumption<'_> {
    /// Whether it still has to be validated.
    pub(crate) fn needs_validation(&self) -> bool {
        self.validation_needed && self.validation == Validation::Pending
    }
}

impl<'d> FromYaml<'d> for Assumption<'d> {
    fn read(node: &'d YamlNode) -> Option<Self> {
        let confidence = text_of_key(node, "confidence", "assumption")
            .and_then(|text| CONFIDENCE.parse(text.value))
            .map(|word| match word {
                "high" => Confidence::High,
                "medium" => Confidence::Medium,
                _ => Confidence::Low,
            });
        (!node.is_blank()).then(|| Self {
            at: node.at,
            assumption: text_of_key(node, "assumption", "assumption"),
            confidence,
            validation_needed: flag_of_key(node, "validation_needed").unwrap_or(false),
            validation: node
                .get("validated")
                .and_then(YamlNode::text)
                .and_then(|text| Validation::parse(text.value))
                .unwrap_or(Validation::Pending),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn validation_parses_old_and_new_words() {
        for (text, expected) in [
            ("true", Some(Validation::Holds)),
            ("yes", Some(Validation::Holds)),
            ("false", Some(Validation::Pending)),
            ("failed", Some(Validation::Disproved)),
            ("Disproved", Some(Validation::Disproved)),
            ("perhaps", None),
        ] {
            assert_eq!(Validation::parse(text), expected, "{text}");
        }
        for one in [Validation::Pending, Validation::Holds, Validation::Disproved] {
            assert_eq!(Validation::parse(one.word()), Some(one));
        }
    }
}
