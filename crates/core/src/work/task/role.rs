//! The role of a task. Agents also store questions and the mission state in tasks, because tasks
//! outlive a session.

use super::Task;

/// What a task is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskRole {
    /// Work to do.
    Work,
    /// A question: `QUESTION: …`.
    Question,
    /// The mission state: `MISSION STATE - …`.
    State,
}

/// How the subject of a question starts.
const QUESTION: &str = "question:";
/// How the subject of a mission state starts.
const STATE: &str = "mission state";
/// The metadata key for the role.
const TYPE: &str = "type";

impl Task {
    /// The role, from its subject and metadata.
    pub fn role(&self) -> TaskRole {
        let kind = self.metadata.get(TYPE).map(|kind| kind.trim().to_lowercase());
        let subject = self.subject.trim();
        if starts_with(subject, QUESTION) || kind.as_deref() == Some("question") {
            return TaskRole::Question;
        }
        let is_state = matches!(kind.as_deref(), Some("handoff" | "meta")) || subject == "meta";
        if is_state || starts_with(subject, STATE) { TaskRole::State } else { TaskRole::Work }
    }

    /// The question, without its prefix.
    pub fn question(&self) -> &str {
        let subject = self.subject.trim();
        let rest =
            if starts_with(subject, QUESTION) { &subject[QUESTION.len()..] } else { subject };
        rest.trim()
    }
}

fn starts_with(text: &str, word: &str) -> bool {
    text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}
