//! Client tasks: applies what a session reports about its own tasks, and finds duplicates.

use super::{Task, Tasks};
use crate::text::id::{SessionId, TaskId};
use crate::work::event::{
    CLIENT, CLIENT_TASK, CapturedTask, ClientTaskKey, Envelope, Event, SESSION, TaskEvent,
};
use std::collections::{BTreeMap, BTreeSet};

impl Task {
    /// Applies a session's report. Only differences from the session's previous report count, so
    /// changes by others stay unless the session later changes the same field.
    pub(super) fn apply_captured(&mut self, now: &CapturedTask) {
        let before = self.captured.insert(now.key.clone(), now.clone());
        let before = before.as_ref();
        let differs = |of: fn(&CapturedTask) -> Option<&str>| {
            before.is_some_and(|before| of(before) != of(now))
        };
        if self.subject.is_empty() || differs(|one| Some(&one.subject)) {
            self.subject.clone_from(&now.subject);
        }
        if self.description.is_none() || differs(|one| one.description.as_deref()) {
            self.description.clone_from(&now.description);
        }
        if before.is_none_or(|before| before.status != now.status) {
            self.set_status(now.status, None);
        }
        let nothing = BTreeSet::new();
        let old = before.map_or(&nothing, |before| &before.depends_on);
        let ids = |uids: Vec<&String>| {
            uids.into_iter().filter_map(|uid| TaskId::parse(uid)).collect::<Vec<_>>()
        };
        self.depends_on.extend(ids(now.depends_on.difference(old).collect()));
        for id in ids(old.difference(&now.depends_on).collect()) {
            self.depends_on.remove(&id);
        }
        let kept = |key: &String| now.metadata.contains_key(key);
        for key in before.into_iter().flat_map(|before| before.metadata.keys()) {
            if !kept(key) {
                self.metadata.remove(key);
            }
        }
        for (key, value) in &now.metadata {
            if before.and_then(|before| before.metadata.get(key)) != Some(value) {
                self.metadata.insert(key.clone(), value.clone());
            }
        }
    }

    /// The event that records a session's report; `None` if it is already recorded.
    pub fn capture(&self, now: CapturedTask) -> Option<TaskEvent> {
        (self.captured.get(&now.key) != Some(&now)).then_some(TaskEvent::Captured(now))
    }

    /// The number its client gave it.
    pub(super) fn number(&self) -> Option<u64> {
        self.metadata.get(CLIENT_TASK)?.parse().ok()
    }

    /// Whether this session created it.
    fn is_from_session(&self, client: &str, session: &SessionId) -> bool {
        let has = |name: &str, value: &str| self.metadata.get(name).is_some_and(|it| it == value);
        has(CLIENT, client) && has(SESSION, session.as_str())
    }

    /// Whether this session has it on its own list.
    pub fn is_listed_by(&self, client: &str, session: &SessionId) -> bool {
        let is_numbered = || self.metadata.contains_key(CLIENT_TASK);
        self.is_from_session(client, session)
            && (self.is_on_list(client, session.as_str()) || is_numbered())
    }

    /// Whether this list of a client contains it.
    pub fn is_on_list(&self, client: &str, list: &str) -> bool {
        let is_list = |key: &ClientTaskKey| key.client == client && key.list == list;
        self.captured.keys().any(is_list)
    }

    /// Whether a subject refers to it: by its id alone, or by its id and subject (`t-1k3m9x0a: Warm
    /// the cache`). An id followed by other words may be a different task about this one.
    fn is_named_in(&self, subject: &str) -> bool {
        let subject = subject.trim().trim_start_matches(['[', '(']);
        let rest = subject.strip_prefix(&self.id.short());
        rest.is_some_and(|rest| {
            let rest = rest.trim_start_matches([']', ')', ':', '-', '–', '—', ' ']);
            rest.is_empty() || is_same_text(rest, &self.subject)
        })
    }

    /// Whether a briefing page lists it: by its id, by its number and subject, or by its quoted
    /// subject.
    fn is_on_page(&self, page: &str) -> bool {
        let numbered = self.number().map(|number| format!("T-{number:03} {}", self.subject.trim()));
        let quoted = format!("\"{}\"", self.subject.trim());
        page.contains(&self.id.short())
            || page.contains(&quoted)
            || numbered.is_some_and(|numbered| page.contains(&numbered))
    }

    /// Replaces linked ids in its dependencies.
    pub(super) fn resolve_links(&mut self, links: &BTreeMap<TaskId, TaskId>) {
        if links.is_empty() {
            return;
        }
        let ids = std::mem::take(&mut self.depends_on);
        let ids = ids.into_iter().map(|id| links.get(&id).cloned().unwrap_or(id));
        self.depends_on = ids.filter(|id| *id != self.id).collect();
    }
}

impl Tasks {
    /// The display name of a task: `T-004` if no other open task has that client number, else its
    /// short id.
    pub fn display_name(&self, task: &Task) -> String {
        let is_other = |other: &&Task| other.id != task.id && other.status.is_open();
        let number = task.number().filter(|_| task.status.is_open());
        let number = number
            .filter(|_| self.iter().filter(is_other).all(|other| other.number() != task.number()));
        number.map_or_else(|| task.id.short(), |number| format!("T-{number:03}"))
    }

    /// The display name for a uid. The task need not be here.
    pub fn display_name_of(&self, id: &TaskId) -> String {
        self.get(id).map_or_else(|| id.short(), |task| self.display_name(task))
    }

    /// The tasks that `t-004` means by client number: the open ones, or else all.
    pub(super) fn find_by_number(&self, typed: &str) -> Vec<&Task> {
        let digits = typed.strip_prefix("t-").filter(|digits| digits.len() == 3);
        let Some(number) = digits.and_then(|digits| digits.parse().ok()) else {
            return Vec::new();
        };
        let all: Vec<&Task> = self.iter().filter(|task| task.number() == Some(number)).collect();
        let open: Vec<&Task> = all.iter().copied().filter(|task| task.status.is_open()).collect();
        if open.is_empty() { all } else { open }
    }

    /// These ids, with links resolved.
    pub(super) fn resolve_ids(&self, ids: &BTreeSet<TaskId>) -> BTreeSet<TaskId> {
        ids.iter().map(|id| self.links.get(id).unwrap_or(id).clone()).collect()
    }

    /// The task with this subject on a client's list. The subject may be truncated.
    pub fn find_on_list(&self, client: &str, list: &str, subject: &str) -> Option<&Task> {
        let subject = subject.lines().next().unwrap_or_default().trim();
        let start = subject.trim_end_matches('…').trim_end();
        let is_truncated = start.len() < subject.len();
        let is_subject = |whole: &str| {
            let whole = whole.lines().next().unwrap_or_default().trim();
            if is_truncated { whole.starts_with(start) } else { whole == subject }
        };
        let is_it = |(key, state): (&ClientTaskKey, &CapturedTask)| {
            key.client == client && key.list == list && is_subject(&state.subject)
        };
        let on_list = || self.iter().filter(|task| task.captured.iter().any(is_it));
        on_list().find(|task| task.status.is_open()).or_else(|| on_list().next())
    }

    /// The open task with this subject that the session created or has on its list.
    pub fn find_in_session(
        &self,
        client: &str,
        session: &SessionId,
        subject: &str,
    ) -> Option<&Task> {
        let is_it = |task: &&Task| {
            task.status.is_open()
                && task.is_from_session(client, session)
                && is_same_text(&task.subject, subject)
        };
        self.iter().find(is_it)
    }

    /// The existing task that a client's new task duplicates, if that is certain: the new subject
    /// names its id, the same session created one with that subject, or the session's briefing
    /// lists an open one with that subject.
    pub fn find_same_task(&self, new: &CapturedTask, own: &TaskId, briefed: &str) -> Option<&Task> {
        let ClientTaskKey { client, list, .. } = &new.key;
        let session = SessionId::new(new.metadata.get(SESSION).unwrap_or(list));
        let is_named = |task: &Task| task.status.is_open() && task.is_named_in(&new.subject);
        let is_same = |task: &Task| {
            let is_known = || task.is_from_session(client, &session) || task.is_on_page(briefed);
            task.status.is_open() && is_same_text(&task.subject, &new.subject) && is_known()
        };
        let others =
            || self.iter().filter(|task| task.id != *own && !task.is_on_list(client, list));
        others().find(|task| is_named(task)).or_else(|| others().find(|task| is_same(task)))
    }
}

fn is_same_text(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.trim().to_lowercase()
}

/// Maps each linked task to the one that replaces it. Links to missing tasks are ignored, and in a
/// cycle the smallest uid wins.
pub(super) fn resolved_links(
    by_task: &BTreeMap<TaskId, Vec<&Envelope>>,
) -> BTreeMap<TaskId, TaskId> {
    let mut next: BTreeMap<&TaskId, TaskId> = BTreeMap::new();
    for (id, events) in by_task {
        let mut linked: Vec<TaskId> =
            events.iter().filter_map(|event| link_target(event)).collect();
        linked.sort();
        let target = linked.into_iter().find(|to| to != id && by_task.contains_key(to));
        if let Some(to) = target {
            next.insert(id, to);
        }
    }
    let mut found = BTreeMap::new();
    for start in next.keys() {
        let mut visited = BTreeSet::from([(*start).clone()]);
        let mut at = (*start).clone();
        while let Some(to) = next.get(&at) {
            if !visited.insert(to.clone()) {
                // Walk the cycle itself, without the path into it.
                let cycle = std::iter::successors(Some(to), |id| next.get(id));
                let cycle = cycle.skip(1).take_while(|id| *id != to).chain([to]);
                at = cycle.min().cloned().unwrap_or(at);
                break;
            }
            at = to.clone();
        }
        if at != **start {
            found.insert((*start).clone(), at);
        }
    }
    found
}

fn link_target(envelope: &Envelope) -> Option<TaskId> {
    let Event::Task(TaskEvent::Linked { task }) = &envelope.event else { return None };
    TaskId::parse(task)
}
