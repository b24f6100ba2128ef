//! What a task is for: agents keep questions and the state of the mission in tasks too, because those
//! outlive a session.

use super::Task;

/// What a task is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskRole {
    /// Something is to be done.
    Work,
    /// It asks something: `QUESTION: …`.
    Question,
    /// It holds the state of the mission: `MISSION STATE - …`.
    State,
}

/// How the subject of a task begins that asks something.
const QUESTION: &str = "question:";
/// How the subject of a task begins that holds the state of the mission.
const STATE: &str = "mission state";
/// The metadata that says what a task is for.
const TYPE: &str = "type";

impl Task {
    /// What it is for, by its subject and its metadata.
    pub fn role(&self) -> TaskRole {
        let kind = self.metadata.get(TYPE).map(|kind| kind.trim().to_lowercase());
        let subject = self.subject.trim();
        if starts_with(subject, QUESTION) || kind.as_deref() == Some("question") {
            return TaskRole::Question;
        }
        let is_state = matches!(kind.as_deref(), Some("handoff" | "meta")) || subject == "meta";
        if is_state || starts_with(subject, STATE) { TaskRole::State } else { TaskRole::Work }
    }

    /// What it asks, without the word before it.
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
