//! Answers a question of a handoff, or records whether an assumption holds.

use crate::journal::{RecordedRevision, RevisionInfo};
use crate::store::Store;
use crate::verbs::handoff::apply::{ApplyError, apply};
use crate::workspace::consent::UserConsent;
use crate::workspace::{StoredHandoff, Workspace};
use midstride_core::format::header::{RevisionVerb, Status, Validation};
use midstride_core::handoff::Handoff;
use midstride_core::handoff::lifecycle::{self, LifecycleRefusal};
use midstride_core::session::author_notes::AuthorNotes;
use midstride_core::text::edit::Edit;
use midstride_core::text::id::HandoffKey;
use midstride_core::text::yaml::YamlNode;
use std::cell::RefCell;

/// An answer to one question, or the validation of one assumption.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerRequest {
    /// The name of the question or the assumption, as the user typed it, for the history.
    pub name: String,
    /// What to record.
    pub answer: NumberedAnswer,
    /// Who answers.
    pub by: Option<String>,
    /// Entries that the same revision adds to the header.
    pub entries: AuthorNotes,
}

/// What to record. Questions and assumptions are counted from one, in the order of the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NumberedAnswer {
    /// The answer to a question.
    Question(usize, String),
    /// Whether an assumption holds.
    Assumption(usize, bool),
}

/// Why the input is not an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerInputError {
    /// A question needs a text, and nothing else.
    #[error("{0} is a question and takes only an answer")]
    NoText(String),
    /// An assumption holds or fails, and takes no text.
    #[error("{0} is an assumption and takes only a verdict")]
    NoVerdict(String),
    /// The name is neither `q1` nor `a1`.
    #[error("`{0}` is neither a question nor an assumption")]
    UnknownName(String),
}

/// An answer that was recorded.
#[derive(Debug)]
pub struct AnswerOutcome {
    /// The revision with the answer.
    pub recorded: RecordedRevision,
    /// Its reason.
    pub reason: String,
    /// The answer it replaced, if that was a different one.
    pub previous: Option<PreviousAnswer>,
    /// The status, if the handoff is closed. An answer does not reopen it.
    pub closed: Option<Status>,
}

/// An answer that was replaced. It stays in the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviousAnswer {
    /// The handoff.
    pub key: HandoffKey,
    /// The revision that has it.
    pub revision: usize,
    /// What it was.
    pub value: PreviousValue,
}

/// What an answer was before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PreviousValue {
    /// The text of the answer, trimmed.
    Text(String),
    /// The assumption held.
    Holds,
    /// The assumption was disproved.
    Disproved,
}

impl AnswerRequest {
    /// Parses what the user typed: `q1` with a text, or `a1` with whether it holds.
    pub fn parse(
        which: &str,
        text: Option<&str>,
        holds: Option<bool>,
        by: Option<String>,
    ) -> Result<Self, AnswerInputError> {
        let number = |prefix: char| which.strip_prefix(prefix).and_then(|n| n.parse().ok());
        let answer = match (number('q'), number('a'), text, holds) {
            (Some(question), _, Some(text), None) => {
                NumberedAnswer::Question(question, text.to_owned())
            }
            (_, Some(assumption), None, Some(holds)) => {
                NumberedAnswer::Assumption(assumption, holds)
            }
            (Some(_), ..) => return Err(AnswerInputError::NoText(which.to_owned())),
            (_, Some(_), ..) => return Err(AnswerInputError::NoVerdict(which.to_owned())),
            (None, None, ..) => return Err(AnswerInputError::UnknownName(which.to_owned())),
        };
        Ok(Self { name: which.to_owned(), answer, by, entries: AuthorNotes::default() })
    }

    /// Adds entries to the header in the same revision.
    #[must_use]
    pub fn with_entries(self, entries: AuthorNotes) -> Self {
        Self { entries, ..self }
    }
}

/// Whether the question is for the user, so that an agent must not answer it.
pub fn is_for_user(workspace: &Workspace, stored: &StoredHandoff, request: &AnswerRequest) -> bool {
    let NumberedAnswer::Question(number, _) = &request.answer else { return false };
    let handoff = stored.handoff(workspace);
    let questions = handoff.node("open_questions").map(YamlNode::items).unwrap_or_default();
    let question = number.checked_sub(1).and_then(|at| questions.get(at));
    let owner = question.and_then(|question| question.get("suggested_owner")?.text());
    owner.is_some_and(|owner| workspace.environment().names_user(owner.value))
}

/// Records an answer. A question for the user needs their consent.
pub fn answer(
    store: &Store,
    stored: &StoredHandoff,
    request: &AnswerRequest,
    consent: Option<&UserConsent>,
) -> Result<AnswerOutcome, ApplyError> {
    let workspace = store.workspace();
    if consent.is_none() && is_for_user(workspace, stored, request) {
        return Err(ApplyError::RequiresUser { question: request.name.clone() });
    }
    let AnswerRequest { name, answer, by, entries } = request;
    let change = RevisionInfo::by_verb(RevisionVerb::Answer, answer.reason(name), by.clone());
    // The document may be read again, so the last call sees the answer that is replaced.
    let previous = RefCell::new(None);
    let decide = |handoff: &Handoff<'_>| {
        previous.replace(answer.previous(handoff));
        let mut edits = answer.decide(handoff)?;
        edits.extend(entries.entry_edits(handoff.document()));
        Ok(edits)
    };
    let recorded = apply(store, stored, &decide, &change)?;
    let status = stored.handoff(workspace).status();
    Ok(AnswerOutcome {
        recorded,
        reason: change.reason,
        previous: previous.take(),
        closed: (!status.is_open()).then_some(status),
    })
}

impl NumberedAnswer {
    /// The reason for the history.
    fn reason(&self, name: &str) -> String {
        match self {
            Self::Question(..) => format!("answered {name}"),
            Self::Assumption(_, true) => format!("{name} holds"),
            Self::Assumption(_, false) => format!("{name} is disproved"),
        }
    }

    fn decide(&self, handoff: &Handoff<'_>) -> Result<Vec<Edit>, LifecycleRefusal> {
        match self {
            Self::Question(number, text) => lifecycle::answer(handoff, *number, text),
            Self::Assumption(number, holds) => lifecycle::validate(handoff, *number, *holds),
        }
    }

    /// The current answer, if this one replaces it with a different one.
    fn previous(&self, handoff: &Handoff<'_>) -> Option<PreviousAnswer> {
        let (list, number, field) = match self {
            Self::Question(number, _) => ("open_questions", *number, "answer"),
            Self::Assumption(number, _) => ("assumptions", *number, "validated"),
        };
        let items = handoff.node(list)?.items();
        let item = items.get(number.checked_sub(1)?)?;
        let before = item.get(field).and_then(YamlNode::text)?.value.trim();
        let value = match self {
            Self::Question(_, text) => (before != text && !before.is_empty())
                .then(|| PreviousValue::Text(before.to_owned())),
            Self::Assumption(_, true) => {
                (before == Validation::Disproved.word()).then_some(PreviousValue::Disproved)
            }
            Self::Assumption(_, false) => {
                (before == Validation::Holds.word()).then_some(PreviousValue::Holds)
            }
        };
        let revision = handoff.replaced_texts().len() + 1;
        value.map(|value| PreviousAnswer { key: handoff.key(), revision, value })
    }
}
