//! The `status` and `kind` fields: closed sets of words and their aliases.

use crate::format::shape::WordChoice;
use std::fmt;

pub(super) static STATUS: WordChoice = WordChoice {
    words: &["planned", "in_progress", "resolved", "superseded", "abandoned"],
    aliases: &[
        ("open", "planned"),
        ("todo", "planned"),
        ("wip", "in_progress"),
        ("active", "in_progress"),
        ("started", "in_progress"),
        ("done", "resolved"),
        ("complete", "resolved"),
        ("completed", "resolved"),
        ("closed", "resolved"),
        ("cancelled", "abandoned"),
        ("canceled", "abandoned"),
        ("dropped", "abandoned"),
        ("wontfix", "abandoned"),
    ],
    guesses: &[
        ("draft", "planned"),
        ("proposed", "planned"),
        ("pending", "planned"),
        ("ready", "planned"),
        ("new", "planned"),
        ("partial", "in_progress"),
        ("blocked", "in_progress"),
        ("implemented", "resolved"),
        ("merged", "resolved"),
        ("shipped", "resolved"),
        ("accepted", "resolved"),
        ("replaced", "superseded"),
        ("obsolete", "superseded"),
        ("rejected", "abandoned"),
    ],
};

pub(super) static KIND: WordChoice =
    WordChoice { words: &["investigation", "session", "stage"], aliases: &[], guesses: &[] };

/// The status of a handoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// Not started.
    Planned,
    /// Work has started.
    InProgress,
    /// Done.
    Resolved,
    /// Replaced by another handoff.
    Superseded,
    /// Abandoned without a result.
    Abandoned,
}

impl Status {
    /// Every status, in lifecycle order.
    pub const ALL: [Self; 5] =
        [Self::Planned, Self::InProgress, Self::Resolved, Self::Superseded, Self::Abandoned];

    /// Parses a status, including common aliases. Words after it are a remark.
    pub fn parse(text: &str) -> Option<Self> {
        let word = STATUS.parse(text).or_else(|| STATUS.parse_with_remark(text))?;
        Self::ALL.into_iter().find(|status| status.word() == word)
    }

    /// The word written in the document.
    pub fn word(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::InProgress => "in_progress",
            Self::Resolved => "resolved",
            Self::Superseded => "superseded",
            Self::Abandoned => "abandoned",
        }
    }

    /// Whether there is still work to do.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Planned | Self::InProgress)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The kind of a handoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HandoffKind {
    /// The investigation of a problem.
    Investigation,
    /// The work of a session.
    Session,
    /// One stage of a pipeline.
    Stage,
}

impl HandoffKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Investigation, Self::Session, Self::Stage];

    /// Parses a kind.
    pub fn parse(text: &str) -> Option<Self> {
        let word = KIND.parse(text)?;
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// The word written in the document.
    pub fn word(self) -> &'static str {
        match self {
            Self::Investigation => "investigation",
            Self::Session => "session",
            Self::Stage => "stage",
        }
    }
}

impl fmt::Display for HandoffKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_spellings_of_a_status_are_parsed() {
        assert_eq!(Status::parse("PLANNED"), Some(Status::Planned));
        assert_eq!(Status::parse("In Progress"), Some(Status::InProgress));
        assert_eq!(Status::parse("RESOLVED (commit abc)"), Some(Status::Resolved));
        assert_eq!(Status::parse("complete"), Some(Status::Resolved));
        assert_eq!(Status::parse("purple"), None);
    }
}
