//! Open work of a project: its handoffs and tasks, and what waits for the user.

use super::last_session::LastSession;
use crate::store::Store;
use crate::store::ledger::LedgerError;
use crate::sys::files::FileError;
use crate::verbs::handoff::list::{HandoffListing, ListFilter, list};
use crate::verbs::task::read_tasks;
use crate::workspace::{FindError, StoredHandoff, Workspace};
use jiff::Timestamp;
use midstride_core::format::header::{Question, Status};
use midstride_core::handoff::topic::BodyTopics;
use midstride_core::session::checkpoint::{HighlightKind, SessionEnding};
use midstride_core::text::id::{SessionId, TaskId};
use midstride_core::work::task::{Task, TaskRole, TaskStatus};
use std::path::PathBuf;

/// Keys up to this length are shown as they are.
const SHORT_KEY_LENGTH: usize = 24;

/// An open handoff, or a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenHandoff {
    /// Its key.
    pub key: String,
    /// The key, or the start of a long one. Every command accepts it.
    pub short_key: String,
    /// Its title, or else its summary.
    pub title: Option<String>,
    /// Its status.
    pub status: Status,
    /// Whether it is a note without a status.
    pub is_note: bool,
    /// When it last changed.
    pub changed: Option<Timestamp>,
    /// Its path from the root.
    pub path: PathBuf,
    /// Its first next step.
    pub next_step: Option<String>,
}

/// A task that is in progress or ready to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenTask {
    /// Its id.
    pub id: TaskId,
    /// The id as shown.
    pub name: String,
    /// What is to be done.
    pub subject: String,
    /// Its status.
    pub status: TaskStatus,
}

/// Something that waits for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingItem {
    /// Where it comes from.
    pub source: WaitingSource,
    /// The question, or the title of the handoff to review.
    pub text: String,
    /// Who should answer, if that is not the user.
    pub owner: Option<String>,
    /// Whether it blocks its handoff.
    pub is_blocking: bool,
}

/// Where something that waits comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitingSource {
    /// A question of a handoff.
    Question {
        /// The key of the handoff.
        handoff: String,
        /// The key as shown.
        short_key: String,
        /// The number of the question.
        number: usize,
    },
    /// A question that the last session ended with.
    Session(SessionId),
    /// A question on the task list, by the name of its task.
    Task(String),
    /// A handoff that is addressed to the user.
    Review {
        /// The key of the handoff.
        handoff: String,
        /// The key as shown.
        short_key: String,
    },
}

/// The open work of a project.
#[derive(Debug, Default)]
pub(super) struct OpenWork {
    /// Open handoffs, then notes.
    pub(super) handoffs: Vec<OpenHandoff>,
    pub(super) tasks: Vec<OpenTask>,
    /// What blocks comes first.
    pub(super) waiting: Vec<WaitingItem>,
    /// The first handoff, which decides the next command.
    pub(super) first: Option<StoredHandoff>,
    pub(super) unread: Vec<FileError>,
}

impl OpenWork {
    pub(super) fn read(workspace: &Workspace) -> Result<Self, FindError> {
        let all = ListFilter { includes_closed: true, ..ListFilter::default() };
        let HandoffListing { handoffs: documents, unread, .. } = list(workspace, &all)?;
        let keys: Vec<String> =
            documents.iter().map(|stored| stored.handoff(workspace).key().to_string()).collect();
        let mut work = Self { unread, ..Self::default() };
        for (stored, key) in documents.into_iter().zip(&keys) {
            if stored.handoff(workspace).status().is_open() {
                work.add_document(workspace, stored, short_key(key, &keys));
            }
        }
        work.handoffs.sort_by_key(|one| one.is_note);
        Ok(work)
    }

    fn add_document(&mut self, workspace: &Workspace, stored: StoredHandoff, short_key: String) {
        let clean = |text: &str| workspace.clean(text.trim()).0.as_str().to_owned();
        let handoff = stored.handoff(workspace);
        let key = handoff.key().to_string();
        let title = handoff.title().or(handoff.summary()).map(clean);
        let names_user = |name: &str| workspace.environment().names_user(name);
        let is_for_user = |one: &Question<'_>| one.owner.is_some_and(|to| names_user(to.value));
        for (number, question) in handoff.open_questions() {
            if question.blocks() || is_for_user(&question) {
                let (handoff, short_key) = (key.clone(), short_key.clone());
                self.waiting.push(WaitingItem {
                    source: WaitingSource::Question { handoff, short_key, number },
                    text: question.question.map_or_else(String::new, |text| clean(text.value)),
                    owner: question
                        .owner
                        .map(|to| to.value)
                        .filter(|to| !names_user(to))
                        .map(clean),
                    is_blocking: question.blocks(),
                });
            }
        }
        if handoff.to().iter().any(|to| names_user(to.value)) {
            let (handoff, short_key) = (key.clone(), short_key.clone());
            self.waiting.push(WaitingItem {
                source: WaitingSource::Review { handoff, short_key },
                text: title.clone().unwrap_or_default(),
                owner: None,
                is_blocking: false,
            });
        }
        let steps = BodyTopics::from_document(handoff.document()).next_steps();
        let first_step = |text: String| {
            let mut lines = text.lines().map(|line| without_list_marker(line).to_owned());
            lines.find(|line| !line.is_empty())
        };
        self.handoffs.push(OpenHandoff {
            short_key,
            title,
            status: handoff.status(),
            is_note: !handoff.has_status(),
            changed: handoff.changed().map(|time| time.moment),
            path: stored.path.clone(),
            next_step: steps.and_then(first_step).map(|text| clean(&text)),
            key,
        });
        if handoff.is_handoff() && self.first.is_none() {
            self.first = Some(stored);
        }
    }

    /// Adds the tasks that are in progress or ready, and the questions among them.
    pub(super) fn add_tasks(&mut self, store: &Store) -> Result<(), LedgerError> {
        let Some(ledger) = store.existing_ledger()? else { return Ok(()) };
        let tasks = read_tasks(ledger)?.0;
        let is_open = |task: &&Task| task.status == TaskStatus::InProgress || tasks.is_ready(task);
        for task in tasks.iter().filter(|task| task.role() == TaskRole::Work).filter(is_open) {
            let (id, name) = (task.id.clone(), tasks.display_name(task));
            let (subject, status) = (task.subject.trim().to_owned(), task.status);
            self.tasks.push(OpenTask { id, name, subject, status });
        }
        self.tasks.sort_by_key(|task| task.status != TaskStatus::InProgress);
        let is_question = |task: &&Task| task.role() == TaskRole::Question;
        for task in tasks.iter().filter(is_question).filter(|task| task.status.is_open()) {
            let source = WaitingSource::Task(tasks.display_name(task));
            let text = task.question().to_owned();
            self.waiting.push(WaitingItem { source, text, owner: None, is_blocking: false });
        }
        Ok(())
    }

    /// Adds the question that the last session ended with, and puts what blocks first.
    pub(super) fn add_session_question(&mut self, last: Option<&LastSession>) {
        let asked = last.and_then(|last| {
            let summary = last.summary.as_ref()?;
            let is_asked = summary.ending == SessionEnding::Asked;
            let question = summary.of_kind(HighlightKind::Question).next().filter(|_| is_asked)?;
            let source = WaitingSource::Session(last.session.clone());
            let text = question.text.trim().to_owned();
            Some(WaitingItem { source, text, owner: None, is_blocking: false })
        });
        self.waiting.extend(asked);
        self.waiting.sort_by_key(|item| {
            let rank = match item.source {
                WaitingSource::Session(_) => 0,
                WaitingSource::Question { .. } | WaitingSource::Task(_) => 1,
                WaitingSource::Review { .. } => 2,
            };
            (!item.is_blocking, rank)
        });
    }
}

/// A line of a list without its bullet, number and box.
fn without_list_marker(line: &str) -> &str {
    let line = line.trim();
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = numbered.strip_prefix(['.', ')']).filter(|_| numbered.len() < line.len());
    let line = numbered.unwrap_or(line).trim_start_matches(['-', '*', '+', ' ']);
    line.strip_prefix("[ ]").unwrap_or(line).trim()
}

/// The key, or for a long one the shortest start of it that no other key has.
fn short_key(key: &str, all: &[String]) -> String {
    let is_unique = |start: &str| {
        all.iter().filter(|other| *other != key).all(|other| !other.starts_with(start))
    };
    let starts = key.char_indices().map(|(at, _)| &key[..at]);
    let mut starts = starts.filter(|start| start.len() >= SHORT_KEY_LENGTH);
    starts.find(|start| is_unique(start)).unwrap_or(key).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_key_is_shortened_to_a_unique_start() {
        let keys = ["market", "the-market-page-takes-14-s-cold", "the-market-page-takes-14-s-warm"];
        let keys: Vec<String> = keys.map(str::to_owned).into();
        assert_eq!(short_key("market", &keys), "market");
        assert_eq!(short_key(&keys[1], &keys), "the-market-page-takes-14-s-c");
        assert_eq!(short_key(&keys[1], &keys[..2]), "the-market-page-takes-14");
    }

    #[test]
    fn list_markers_are_removed() {
        for line in ["- [ ] Warm it", "2. Warm it", "  * Warm it", "Warm it", "3) Warm it"] {
            assert_eq!(without_list_marker(line), "Warm it");
        }
        assert_eq!(without_list_marker("14 s is too long"), "14 s is too long");
    }
}
