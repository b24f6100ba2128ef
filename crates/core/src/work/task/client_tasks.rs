//! Tasks of clients among the tasks of a project: how what a session says about its own task changes
//! it, and which tasks are one.

use super::{Task, Tasks};
use crate::text::id::TaskId;
use crate::work::event::{
    CLIENT, CLIENT_TASK, CapturedTask, ClientTaskKey, Envelope, Event, SESSION, TaskEvent,
};
use std::collections::{BTreeMap, BTreeSet};

impl Task {
    /// What a session says counts where it differs from what the same session said before. So what
    /// somebody else changed meanwhile stays, unless the session changes the same thing later.
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

    /// The event that tells what a session says about it; none where that was told before.
    pub fn capture(&self, now: CapturedTask) -> Option<TaskEvent> {
        (self.captured.get(&now.key) != Some(&now)).then_some(TaskEvent::Captured(now))
    }

    /// The number that its client gave it.
    pub(super) fn number(&self) -> Option<u64> {
        self.metadata.get(CLIENT_TASK)?.parse().ok()
    }

    /// Whether a session of a client made it.
    fn is_from_session(&self, client: &str, session: &str) -> bool {
        let has = |name: &str, value: &str| self.metadata.get(name).is_some_and(|it| it == value);
        has(CLIENT, client) && has(SESSION, session)
    }

    /// Whether a session of a client has it on its own list.
    pub fn is_listed_by(&self, client: &str, session: &str) -> bool {
        let is_numbered = || self.metadata.contains_key(CLIENT_TASK);
        self.is_from_session(client, session) && (self.is_on_list(client, session) || is_numbered())
    }

    /// Whether a list of a client has it.
    pub fn is_on_list(&self, client: &str, list: &str) -> bool {
        let is_list = |key: &ClientTaskKey| key.client == client && key.list == list;
        self.captured.keys().any(is_list)
    }

    /// Whether a subject refers to it: by its id alone, or by its id and its own subject (`t-1k3m9x0a: Warm
    /// the cache`). An id before other words is about the task, and need not be the task.
    fn is_named_in(&self, subject: &str) -> bool {
        let subject = subject.trim().trim_start_matches(['[', '(']);
        let rest = subject.strip_prefix(&self.id.short());
        rest.is_some_and(|rest| {
            let rest = rest.trim_start_matches([']', ')', ':', '-', '–', '—', ' ']);
            rest.is_empty() || is_same_text(rest, &self.subject)
        })
    }

    /// Whether a page of a briefing lists it: with its id, with its number, or quoted as a task of the
    /// session that the page is about.
    fn is_on_page(&self, page: &str) -> bool {
        let numbered = self.number().map(|number| format!("T-{number:03} {}", self.subject.trim()));
        let quoted = format!("\"{}\"", self.subject.trim());
        page.contains(&self.id.short())
            || page.contains(&quoted)
            || numbered.is_some_and(|numbered| page.contains(&numbered))
    }

    /// Puts the tasks it waits for in the place of those that are the same.
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
    /// What a task is called on a page: `T-004` where the number that its client gave it tells it from
    /// every other open task, else its short name.
    pub fn display_name(&self, task: &Task) -> String {
        let is_other = |other: &&Task| other.id != task.id && other.status.is_open();
        let number = task.number().filter(|_| task.status.is_open());
        let number = number
            .filter(|_| self.iter().filter(is_other).all(|other| other.number() != task.number()));
        number.map_or_else(|| task.id.short(), |number| format!("T-{number:03}"))
    }

    /// The same of a task by its uid, which need not be here.
    pub fn display_name_of(&self, id: &TaskId) -> String {
        self.get(id).map_or_else(|| id.short(), |task| self.display_name(task))
    }

    /// The tasks that `t-004` names by a client's number: open ones, else any.
    pub(super) fn find_by_number(&self, typed: &str) -> Vec<&Task> {
        let digits = typed.strip_prefix("t-").filter(|digits| digits.len() == 3);
        let Some(number) = digits.and_then(|digits| digits.parse().ok()) else {
            return Vec::new();
        };
        let all: Vec<&Task> = self.iter().filter(|task| task.number() == Some(number)).collect();
        let open: Vec<&Task> = all.iter().copied().filter(|task| task.status.is_open()).collect();
        if open.is_empty() { all } else { open }
    }

    /// These tasks, each by the uid that it is known by now.
    pub(super) fn resolve_ids(&self, ids: &BTreeSet<TaskId>) -> BTreeSet<TaskId> {
        ids.iter().map(|id| self.links.get(id).unwrap_or(id).clone()).collect()
    }

    /// The task that a list of a client has under a subject, which may be cut.
    pub fn find_on_list(&self, client: &str, list: &str, subject: &str) -> Option<&Task> {
        let subject = subject.lines().next().unwrap_or_default().trim();
        let start = subject.trim_end_matches('…').trim_end();
        let is_cut = start.len() < subject.len();
        let is_subject = |whole: &str| {
            let whole = whole.lines().next().unwrap_or_default().trim();
            if is_cut { whole.starts_with(start) } else { whole == subject }
        };
        let is_it = |(key, state): (&ClientTaskKey, &CapturedTask)| {
            key.client == client && key.list == list && is_subject(&state.subject)
        };
        let on_list = || self.iter().filter(|task| task.captured.iter().any(is_it));
        on_list().find(|task| task.status.is_open()).or_else(|| on_list().next())
    }

    /// The open task that a session added by itself or has on its list, by its subject.
    pub fn find_in_session(&self, client: &str, session: &str, subject: &str) -> Option<&Task> {
        let is_it = |task: &&Task| {
            task.status.is_open()
                && task.is_from_session(client, session)
                && is_same_text(&task.subject, subject)
        };
        self.iter().find(is_it)
    }

    /// The task that a new task of a client is, where that can be told: its subject is the id of one,
    /// alone or before the same subject, the same session added one with that subject, or the session was
    /// briefed with an open one with that subject.
    pub fn find_same_task(&self, new: &CapturedTask, own: &TaskId, briefed: &str) -> Option<&Task> {
        let ClientTaskKey { client, list, .. } = &new.key;
        let session = new.metadata.get(SESSION).unwrap_or(list);
        let is_named = |task: &Task| task.status.is_open() && task.is_named_in(&new.subject);
        let is_same = |task: &Task| {
            let is_known = || task.is_from_session(client, session) || task.is_on_page(briefed);
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

/// Which tasks are another one. Links that lead to nothing are none, and of a circle the first uid
/// stays.
pub(super) fn resolved_links(
    by_task: &BTreeMap<TaskId, Vec<&Envelope>>,
) -> BTreeMap<TaskId, TaskId> {
    let mut next: BTreeMap<&TaskId, TaskId> = BTreeMap::new();
    for (id, events) in by_task {
        let mut linked: Vec<TaskId> =
            events.iter().filter_map(|event| link_target(event)).collect();
        linked.sort();
        let there = linked.into_iter().find(|to| to != id && by_task.contains_key(to));
        if let Some(to) = there {
            next.insert(id, to);
        }
    }
    let mut found = BTreeMap::new();
    for start in next.keys() {
        let mut way = BTreeSet::from([(*start).clone()]);
        let mut at = (*start).clone();
        while let Some(to) = next.get(&at) {
            if !way.insert(to.clone()) {
                // The circle, without the way into it.
                let round = std::iter::successors(Some(to), |id| next.get(id));
                let round = round.skip(1).take_while(|id| *id != to).chain([to]);
                at = round.min().cloned().unwrap_or(at);
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
