//! The tasks of a session: the client's task lists, and which agent works on which task.

use super::Session;
use super::fact::{TaskUpdate, Todo, ToolDetail};
use super::item::{Agent, AgentState, Attribution, Provenance, SessionTask, SessionTaskStatus};
use super::provenance::clean_id;
use super::text::{COMMAND_BYTES_MAX, TEXT_BYTES_MAX};
use serde::{Deserialize, Serialize};

const TASKS_MAX: usize = 2_000;
/// The maximum number of metadata entries kept for a task.
const METADATA_MAX: usize = 32;
/// The subject of a task whose creation is in no record.
const NO_SUBJECT: &str = "(no subject)";
/// The metadata key that names the agent of a task.
const AGENT: &str = "agent_id";

/// A task update, redacted and truncated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OwnedTaskUpdate {
    id: Option<String>,
    pub(super) subject: Option<String>,
    description: Option<String>,
    status: Option<SessionTaskStatus>,
    blocked_by: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    blocks: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    owner: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    metadata: Vec<(String, Option<String>)>,
}

impl SessionTask {
    /// Whether a record or a file gives the subject.
    pub fn has_subject(&self) -> bool {
        self.subject != NO_SUBJECT && !self.subject.trim().is_empty()
    }

    fn apply_update(&mut self, seen: &Provenance, change: OwnedTaskUpdate) {
        self.changed = seen.clone();
        self.subject = change.subject.unwrap_or_else(|| std::mem::take(&mut self.subject));
        self.description = change.description.or(self.description.take());
        self.status = change.status.unwrap_or_else(|| self.status.clone());
        for id in change.blocked_by {
            self.add_blocker(id);
        }
        // An empty name removes the owner.
        self.owner = change.owner.or(self.owner.take()).filter(|owner| !owner.is_empty());
        for (key, value) in change.metadata {
            match value {
                Some(value) => {
                    let is_kept =
                        self.metadata.len() < METADATA_MAX || self.metadata.contains_key(&key);
                    if is_kept {
                        self.metadata.insert(key, value);
                    }
                }
                None => drop(self.metadata.remove(&key)),
            }
        }
    }

    fn add_blocker(&mut self, id: String) {
        if !self.blocked_by.contains(&id) {
            self.blocked_by.push(id);
        }
    }
}

impl Session {
    pub(super) fn change_task(
        &mut self,
        seen: &Provenance,
        change: OwnedTaskUpdate,
        detail: &ToolDetail<'_>,
    ) {
        let given = match detail {
            ToolDetail::Task(id) => Some(self.clean_name(id)),
            ToolDetail::None
            | ToolDetail::Answers(_)
            | ToolDetail::Agent { .. }
            | ToolDetail::Background(_)
            | ToolDetail::Output(_)
            | ToolDetail::Plan { .. } => None,
        };
        let id = change.id.clone().or(given);
        let blocks = change.blocks.clone();
        let known = self.tasks.iter_mut().find(|task| id.is_some() && task.id == id);
        if let Some(task) = known {
            task.apply_update(seen, change);
        } else if self.tasks.len() < TASKS_MAX {
            let mut task = new_task(seen, NO_SUBJECT.to_owned(), SessionTaskStatus::Pending);
            task.id.clone_from(&id);
            task.apply_update(seen, change);
            self.tasks.push(task);
        }
        for blocked in blocks {
            let waiting = self.tasks.iter_mut().find(|task| task.id.as_ref() == Some(&blocked));
            if let (Some(task), Some(id)) = (waiting, &id) {
                task.changed = seen.clone();
                task.add_blocker(id.clone());
            }
        }
    }

    /// Replaces the whole list. Tasks that were on it before keep the record that created them.
    pub(super) fn replace_tasks(
        &mut self,
        seen: &Provenance,
        todos: Vec<(String, SessionTaskStatus)>,
    ) {
        let mut before: Vec<SessionTask> = std::mem::take(&mut self.tasks);
        for (subject, status) in todos.into_iter().take(TASKS_MAX) {
            let known = before.iter().position(|task| task.subject == subject);
            let task = match known.map(|at| before.remove(at)) {
                Some(task) if task.status == status => task,
                Some(task) => SessionTask { changed: seen.clone(), status, ..task },
                None => new_task(seen, subject, status),
            };
            self.tasks.push(task);
        }
        // Tasks with an id are not part of the list. An open task that is no longer on the list was
        // removed.
        for mut task in before {
            if task.id.is_none() && task.status.is_open() {
                task.status = SessionTaskStatus::Deleted;
                task.changed = seen.clone();
            }
            let is_kept = task.id.is_some() || task.status == SessionTaskStatus::Deleted;
            if is_kept && self.tasks.len() < TASKS_MAX {
                self.tasks.push(task);
            }
        }
    }

    pub(super) fn owned_update(&mut self, change: &TaskUpdate<'_>) -> OwnedTaskUpdate {
        let metadata = change.metadata.iter().take(METADATA_MAX);
        let metadata: Vec<(String, Option<String>)> = metadata
            .map(|(key, value)| {
                let value = value.as_deref().map(|value| self.clean_head(value, COMMAND_BYTES_MAX));
                (self.clean_name(key), value)
            })
            .collect();
        OwnedTaskUpdate {
            id: change.id.as_deref().map(|id| self.clean_name(id)),
            subject: change.subject.as_deref().map(|text| self.clean_head(text, COMMAND_BYTES_MAX)),
            description: change
                .description
                .as_deref()
                .map(|text| self.clean_head(text, TEXT_BYTES_MAX)),
            status: change
                .status
                .as_deref()
                .map(|status| SessionTaskStatus::parse(&self.clean_name(status))),
            blocked_by: change.blocked_by.iter().map(|id| self.clean_name(id)).collect(),
            blocks: change.blocks.iter().map(|id| self.clean_name(id)).collect(),
            owner: change.owner.as_deref().map(|owner| self.clean_name(owner)),
            metadata,
        }
    }

    pub(super) fn clean_todos(&mut self, todos: &[Todo<'_>]) -> Vec<(String, SessionTaskStatus)> {
        let mut kept = Vec::new();
        for todo in todos.iter().take(TASKS_MAX) {
            let status = SessionTaskStatus::parse(&self.clean_name(&todo.status));
            kept.push((self.clean_head(&todo.subject, COMMAND_BYTES_MAX), status));
        }
        kept
    }

    /// The id of the agent that works on a task: the one that its metadata or owner names, or a
    /// running agent that was started with the task in its description.
    pub fn agent_for_task<'s>(&'s self, task: &'s SessionTask) -> Option<&'s str> {
        if let Some(agent) = task.metadata.get(AGENT) {
            return Some(agent);
        }
        let owner = task.owner.as_deref();
        let named = |agent: &&Agent| owner.is_some() && agent.id.as_deref() == owner;
        let is_asked =
            |agent: &&Agent| agent.state == AgentState::InFlight && is_about(agent, task);
        let agents = || self.agents.iter().rev();
        let found = agents().find(named).or_else(|| agents().find(is_asked));
        found?.id.as_deref()
    }

    /// Whether an agent is still running.
    pub fn is_in_flight(&self, agent: &str) -> bool {
        let is_it = |one: &Agent| one.id.as_deref() == Some(agent);
        self.agents.iter().any(|one| is_it(one) && one.state == AgentState::InFlight)
    }
}

/// Whether an agent was started for a task: its description equals the subject, or names the task
/// as `T-4`, `#4` or `task 4`.
fn is_about(agent: &Agent, task: &SessionTask) -> bool {
    let about = agent.about.as_deref().unwrap_or_default().to_lowercase();
    let subject = task.subject.trim().to_lowercase();
    let is_subject = task.has_subject() && about.trim() == subject;
    is_subject || task.id.as_deref().is_some_and(|id| names_task(&about, id))
}

/// Whether a lowercase text names a task by number.
fn names_task(text: &str, id: &str) -> bool {
    let Ok(number) = id.parse::<u64>() else { return false };
    let is_number = |digits: &str| {
        !digits.is_empty() && digits.parse::<u64>().is_ok_and(|named| named == number)
    };
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric() && !"#-".contains(c)).collect();
    let pairs = words.windows(2).any(|pair| pair[0] == "task" && is_number(pair[1]));
    let marked = |word: &&str| {
        let digits = word.strip_prefix('#').or(word.strip_prefix("t-"));
        digits.is_some_and(is_number)
    };
    pairs || words.iter().any(marked)
}

fn new_task(seen: &Provenance, subject: String, status: SessionTaskStatus) -> SessionTask {
    SessionTask {
        seen: seen.clone(),
        changed: seen.clone(),
        id: None,
        subject,
        description: None,
        status,
        blocked_by: Vec::new(),
        owner: None,
        metadata: std::collections::BTreeMap::new(),
    }
}

/// Merges a task from the client's task file. The file is complete and current, so it replaces the
/// blockers, owner and metadata from the transcript.
pub(super) fn merge_task(session: &mut Session, file: &str, change: &TaskUpdate<'_>) {
    let record = clean_id(file).into_owned();
    let seen =
        Provenance { record, number: 0, at: None, source: Attribution::Observed, agent: None };
    let change = session.owned_update(change);
    if let Some(task) = session.tasks.iter_mut().find(|task| task.id == change.id) {
        let mut now = task.clone();
        now.blocked_by.clear();
        now.owner = None;
        now.metadata.clear();
        now.apply_update(&seen, change);
        now.changed = task.changed.clone();
        if now != *task {
            *task = SessionTask { changed: seen, ..now };
        }
        return;
    }
    session.change_task(&seen, change, &ToolDetail::None);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::id::ClientName;

    #[test]
    fn a_task_at_the_metadata_limit_still_accepts_updates() {
        let seen = Provenance {
            record: "r".to_owned(),
            number: 1,
            at: None,
            source: Attribution::Observed,
            agent: None,
        };
        let change = |key: String, value: &str| OwnedTaskUpdate {
            id: None,
            subject: None,
            description: None,
            status: None,
            blocked_by: Vec::new(),
            blocks: Vec::new(),
            owner: None,
            metadata: vec![(key, Some(value.to_owned()))],
        };
        let mut task = new_task(&seen, "Bench".to_owned(), SessionTaskStatus::Pending);
        for number in 0..=METADATA_MAX {
            task.apply_update(&seen, change(format!("k{number}"), "old"));
        }
        assert_eq!(task.metadata.len(), METADATA_MAX);
        assert!(!task.metadata.contains_key(&format!("k{METADATA_MAX}")));
        task.apply_update(&seen, change("k0".to_owned(), "new"));
        assert_eq!(task.metadata["k0"], "new");
        assert_eq!(task.metadata.len(), METADATA_MAX);
    }

    #[test]
    fn a_task_is_matched_only_by_its_exact_number() {
        for text in ["t-004: add the endpoint", "do task 4", "task #4", "#4 endpoint"] {
            assert!(names_task(text, "4"), "{text}");
        }
        for text in ["t-040", "do 4 tasks", "task 44", "#45", "4", "part-4", "section 4"] {
            assert!(!names_task(text, "4"), "{text}");
        }
        assert!(!names_task("task abc", "abc"));
    }

    #[test]
    fn a_running_agent_works_on_the_task_that_its_description_names() {
        let seen = Provenance {
            record: "r".to_owned(),
            number: 1,
            at: None,
            source: Attribution::Observed,
            agent: None,
        };
        let agent_for = |about: &str, state: AgentState| {
            let mut session = Session::new(ClientName::new("claude-code"));
            session.agents.push(Agent {
                seen: seen.clone(),
                id: Some("ag1".to_owned()),
                kind: None,
                about: Some(about.to_owned()),
                prompt: None,
                state,
                ended: None,
                report: None,
            });
            let mut task =
                new_task(&seen, "Wire the cache".to_owned(), SessionTaskStatus::InProgress);
            task.id = Some("4".to_owned());
            session.agent_for_task(&task).map(str::to_owned)
        };
        let running = Some("ag1".to_owned());
        assert_eq!(agent_for("wire the cache ", AgentState::InFlight), running);
        assert_eq!(agent_for("T-4: the cache", AgentState::InFlight), running);
        assert_eq!(agent_for("Measure the cache", AgentState::InFlight), None);
        assert_eq!(agent_for("Wire the cache", AgentState::Ended), None);
    }
}
