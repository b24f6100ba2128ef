//! Reads the mission from tasks: its state, decisions and open questions.

use super::Mission;
use crate::work::event::TaskStatus;
use crate::work::task::{Task, TaskRole, Tasks};

const DECISION: &str = "decision:";
const MODE: &str = "mode";
const ITERATION: &str = "iteration";

impl Mission {
    /// Combines the captured state with the tasks; `None` if both are empty.
    pub fn combine(captured: Option<&Self>, tasks: &Tasks) -> Option<Self> {
        let states = tasks.iter().filter(|task| task.role() == TaskRole::State);
        let is_alive = |task: &&Task| task.status != TaskStatus::Dropped;
        let from_task =
            states.filter(is_alive).max_by_key(|task| task.changed).map(state_from_task);
        let mut states: Vec<Self> = captured.cloned().into_iter().chain(from_task).collect();
        states.sort_by_key(|state| std::cmp::Reverse(state.at));
        let from_texts = Self::from_task_texts(tasks);
        let state = match states.into_iter().reduce(Self::merge_older) {
            Some(state) => state.merge_older(from_texts),
            None => from_texts,
        };
        (captured.is_some() || !state.is_empty()).then_some(state)
    }

    /// This state, filled up from an older one.
    fn merge_older(self, older: Self) -> Self {
        Self {
            decisions: append_missing(older.decisions, self.decisions),
            questions: append_missing(older.questions, self.questions),
            next: if self.next.is_empty() { older.next } else { self.next },
            mode: self.mode.or(older.mode),
            iteration: self.iteration.or(older.iteration),
            ..self
        }
    }

    fn is_empty(&self) -> bool {
        let lists = [&self.decisions, &self.questions, &self.next];
        lists.iter().all(|list| list.is_empty()) && self.mode.is_none() && self.iteration.is_none()
    }

    /// What ordinary tasks contain: decisions in descriptions, open questions, mode and iteration.
    fn from_task_texts(tasks: &Tasks) -> Self {
        let newest = |key: &str| {
            let has = tasks.iter().filter(|task| task.metadata.contains_key(key));
            has.max_by_key(|task| task.changed).and_then(|task| task.metadata.get(key))
        };
        let is_asked = |task: &&Task| task.role() == TaskRole::Question && task.status.is_open();
        let asked = tasks.iter().filter(is_asked);
        Self {
            at: tasks.iter().map(|task| task.changed).max().unwrap_or_default(),
            by: "tasks".to_owned(),
            decisions: tasks.iter().flat_map(decisions).collect(),
            questions: asked.map(|task| task.question().to_owned()).collect(),
            next: Vec::new(),
            mode: newest(MODE).cloned(),
            iteration: newest(ITERATION).and_then(|text| text.trim().parse().ok()),
        }
    }
}

/// The state in a task's description.
fn state_from_task(task: &Task) -> Mission {
    let text = task.description.as_deref().unwrap_or_default();
    Mission {
        at: task.changed,
        by: task.by.clone(),
        decisions: section_entries(text, "decisions"),
        questions: section_entries(text, "questions"),
        next: section_entries(text, "next"),
        mode: task.metadata.get(MODE).cloned(),
        iteration: task.metadata.get(ITERATION).and_then(|text| text.trim().parse().ok()),
    }
}

/// The list entries of the section whose heading contains a word. `None currently` is not an entry.
fn section_entries(text: &str, word: &str) -> Vec<String> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with('#') {
            inside = line.to_lowercase().contains(word);
        } else if inside && let Some(entry) = list_entry(line) {
            let plain = entry.trim_end_matches('.').to_lowercase();
            let is_none = matches!(plain.as_str(), "none" | "none currently");
            found.extend((!is_none).then(|| entry.to_owned()));
        }
    }
    found
}

/// The text of a list item.
fn list_entry(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = if rest.len() < line.len() { rest.strip_prefix(['.', ')']) } else { None };
    let entry = line.strip_prefix(['-', '*']).or(numbered)?.strip_prefix(' ')?.trim();
    (!entry.is_empty()).then_some(entry)
}

/// The decisions in a task's description and notes, one per line.
fn decisions(task: &Task) -> Vec<String> {
    let texts = task.description.iter().chain(task.notes.iter().map(|note| &note.text));
    let lines = texts.flat_map(|text| text.lines()).map(|line| {
        let line = line.trim();
        list_entry(line).unwrap_or(line).trim_start_matches('*')
    });
    let decided = lines.filter(|line| starts_with(line, DECISION));
    decided.map(|line| without_word(line, DECISION)).filter(|text| !text.is_empty()).collect()
}

fn starts_with(text: &str, word: &str) -> bool {
    text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

fn without_word(text: &str, word: &str) -> String {
    let text = text.trim();
    let rest = if starts_with(text, word) { &text[word.len()..] } else { text };
    rest.trim_start_matches('*').trim().to_owned()
}

fn append_missing(mut all: Vec<String>, more: Vec<String>) -> Vec<String> {
    for text in more {
        if !all.contains(&text) {
            all.push(text);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::TaskOverview;
    use super::*;
    use crate::text::id::TaskId;
    use crate::work::event::{Envelope, Event, TaskEvent};
    use jiff::Timestamp;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_774_000_000 + second).unwrap()
    }

    /// A subject, a description and metadata.
    type TaskRow<'t> = (&'t str, &'t str, &'t [(&'t str, &'t str)]);

    fn tasks(list: &[TaskRow<'_>]) -> Tasks {
        let events: Vec<(TaskId, Envelope)> = (0_u32..)
            .zip(list)
            .map(|(number, (subject, description, metadata))| {
                let id = format!("0198c0f2-4c00-7000-8000-0000{number:08x}");
                let metadata = metadata.iter();
                let added = TaskEvent::Added {
                    subject: (*subject).to_owned(),
                    description: Some((*description).to_owned()),
                    depends_on: std::collections::BTreeSet::new(),
                    metadata: metadata.map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
                };
                let (time, source) = (at(i64::from(number)), "claude-code".to_owned());
                let event = Event::Task(added);
                (
                    TaskId::parse(&id).unwrap(),
                    Envelope { id, time, source, received_from: None, event },
                )
            })
            .collect();
        Tasks::fold(events.iter().map(|(id, envelope)| (id.clone(), envelope)))
    }

    const HANDOFF: &str = "## Mission Handoff\n\n### Status Summary\n- Completed: 3 tasks\n\n\
        ### Key Decisions\n- Using JWT for auth (user preference from earlier)\n- Skipped rate \
        limiting (out of scope per user)\n\n### Open Questions\n- None currently\n\n### Next \
        Actions\nWhen resuming:\n1. Check if T-004 agent completed\n2. If complete, verify\n";

    #[test]
    fn the_mission_state_is_read_from_tasks() {
        let tasks = tasks(&[
            ("Add login", "Decision: sessions last a day\nmore", &[("iteration", "3")]),
            ("MISSION STATE - now", HANDOFF, &[("type", "handoff"), ("mode", "--fg")]),
            ("QUESTION: Which port?", "", &[]),
        ]);
        let state = Mission::combine(None, &tasks).unwrap();
        assert_eq!(
            state.decisions,
            [
                "sessions last a day",
                "Using JWT for auth (user preference from earlier)",
                "Skipped rate limiting (out of scope per user)",
            ]
        );
        assert_eq!(state.questions, ["Which port?"]);
        assert_eq!(state.next, ["Check if T-004 agent completed", "If complete, verify"]);
        assert_eq!((state.mode.as_deref(), state.iteration), (Some("--fg"), Some(3)));
        let overview = TaskOverview::from_tasks(&tasks);
        assert_eq!(overview.pending.len(), 1, "a question and a state are no work");
        let ready = tasks.iter().filter(|task| tasks.is_ready(task)).count();
        assert_eq!(ready, 1);
        // A later capture takes precedence. What it leaves out stays.
        let captured = Mission {
            at: at(60),
            by: "anna".into(),
            decisions: vec!["No Redis".into()],
            questions: Vec::new(),
            next: vec!["Ship".into()],
            mode: None,
            iteration: None,
        };
        let state = Mission::combine(Some(&captured), &tasks).unwrap();
        assert_eq!((state.next, state.mode.as_deref()), (vec!["Ship".to_owned()], Some("--fg")));
        assert_eq!(state.decisions.len(), 4);
    }

    #[test]
    fn tasks_without_mission_content_give_no_mission() {
        assert_eq!(Mission::combine(None, &tasks(&[("Add login", "", &[])])), None);
        assert_eq!(Mission::combine(None, &Tasks::default()), None);
    }
}
