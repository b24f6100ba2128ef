//! Renders a change that was recorded in a handoff.

use super::{count, one_line, sanitize, shell_word};
use crate::json::JsonAnswer;
use midstride::journal::RecordedRevision;
use midstride::verbs::{
    BlockingQuestion, PreviousAnswer, PreviousValue, ReopenOutcome, TaskImport,
};
use midstride::workspace::{StoredHandoff, Workspace};
use midstride_core::format::header::Status;
use midstride_core::text::id::HandoffKey;
use serde::Serialize;

/// How questions and assumptions are named.
pub const ANSWER_NAMES_HINT: &str = "q1 is the first question; a1 is the first assumption";

/// A new revision of a handoff.
#[derive(Serialize)]
pub struct RecordedChangeJson {
    key: String,
    path: String,
    revision: usize,
    reason: String,
    outside: bool,
    redacted: Vec<String>,
    untold: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks: Option<super::task::TaskImportJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    findings: Option<Vec<super::findings::FindingJson>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocking_questions: Option<Vec<BlockingQuestionJson>>,
}

impl JsonAnswer for RecordedChangeJson {
    const SCHEMA: &'static str = "change/1";
}

/// A question that blocks the work.
#[derive(Serialize)]
struct BlockingQuestionJson {
    handoff: String,
    question: String,
    text: String,
    owner: Option<String>,
}

impl RecordedChangeJson {
    /// Adds the imported tasks.
    #[must_use]
    pub fn with_tasks(self, imported: &TaskImport) -> Self {
        Self { tasks: Some(super::task::import_json(imported)), ..self }
    }

    /// Adds the questions that block the work.
    #[must_use]
    pub fn with_blocking(self, questions: &[BlockingQuestion]) -> Self {
        let json = |one: &BlockingQuestion| BlockingQuestionJson {
            handoff: one.handoff.to_string(),
            question: format!("q{}", one.number),
            text: one.question.clone(),
            owner: one.owner.clone(),
        };
        Self { blocking_questions: Some(questions.iter().map(json).collect()), ..self }
    }

    /// Adds the findings of the new text.
    #[must_use]
    pub fn with_findings(self, findings: Vec<super::findings::FindingJson>) -> Self {
        Self { findings: Some(findings), ..self }
    }
}

/// The JSON for a new revision and the reason for it.
pub fn json(
    workspace: &Workspace,
    stored: &StoredHandoff,
    recorded: &RecordedRevision,
    reason: &str,
) -> RecordedChangeJson {
    RecordedChangeJson {
        key: stored.handoff(workspace).key().to_string(),
        path: stored.path.display().to_string(),
        revision: recorded.revision,
        reason: reason.to_owned(),
        outside: recorded.has_outside_edit,
        redacted: recorded.redacted.iter().map(|secret| secret.kind.to_string()).collect(),
        untold: recorded.ledger_error.clone(),
        tasks: None,
        findings: None,
        blocking_questions: None,
    }
}

/// The questions that block the work, with the command that answers the first one.
pub fn blocking_text(questions: &[BlockingQuestion]) -> Option<String> {
    let first = questions.first()?;
    let verb = if questions.len() == 1 { "is" } else { "are" };
    let mut out = format!("{} {verb} open:", count(questions.len(), "blocking question"));
    for one in questions {
        let owner = one.owner.as_ref().map_or_else(String::new, |owner| format!(" ({owner})"));
        let line = format!("{} q{}{owner}: {}", one.handoff, one.number, one.question);
        out.push_str(&format!("\n  {}", sanitize(&line)));
    }
    let key = shell_word(&first.handoff.to_string());
    out.push_str(&format!("\nNext: midstride answer {key} q{} \"the answer\"", first.number));
    Some(out)
}

/// A notice that the changed handoff is closed.
pub fn closed_notice(key: &HandoffKey, status: Status) -> String {
    let name = shell_word(&key.to_string());
    format!("`{key}` is {status} and stays closed\nhint: reopen it with midstride reopen {name}")
}

/// The status of a reopened handoff, and what its resolution said.
pub fn reopened(key: &HandoffKey, outcome: &ReopenOutcome) -> String {
    let ReopenOutcome { recorded, was, status, resolution, .. } = outcome;
    let name = shell_word(&format!("{key}@{}", recorded.revision - 1));
    let said = match resolution {
        Some(text) => format!("{was}: {}", one_line(text, 200)),
        None => was.to_string(),
    };
    format!(
        "The handoff is {status} again. It was {said}\nhint: see how it was closed with midstride show {name}"
    )
}

/// The answer that was replaced, and the revision that has it.
pub fn previous_answer(previous: &PreviousAnswer) -> String {
    let PreviousAnswer { key, revision, value } = previous;
    let was = match value {
        PreviousValue::Text(text) => format!("the answer was \"{}\"", one_line(text, 200)),
        PreviousValue::Disproved => "it was disproved".to_owned(),
        PreviousValue::Holds => "it held".to_owned(),
    };
    format!("Previously, {was} (see `{key}@{revision}`)")
}
