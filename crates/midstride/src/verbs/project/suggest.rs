//! Suggests values for an argument while the user types it. The shell waits, so no git runs, and only
//! documents that may match are read.

use crate::store::Store;
use crate::store::ledger::WaitPolicy;
use crate::sys::env::Environment;
use crate::verbs::session::sessions::captured_session_names;
use crate::verbs::task::read_tasks;
use crate::workspace::{DocumentPlace, Workspace};
use midstride_core::text::id::HandoffKey;
use std::cmp::Reverse;

/// How many documents are read for their titles. If more match, they are suggested without.
const READ_MAX: usize = 100;

/// What an argument takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuggestionKind {
    /// A handoff.
    Handoff,
    /// A handoff, or a revision of it such as `ID@2`.
    Revision,
    /// A stage of the pipeline.
    Stage,
    /// A captured session.
    Session,
    /// A task.
    Task,
}

/// A value that an argument can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// The value.
    pub value: String,
    /// Its title.
    pub about: Option<String>,
}

/// The values that begin with what was typed, in the project of a folder. None if the project is
/// excluded; documents that the user does not trust are not suggested.
pub fn suggest(
    mut environment: Environment,
    wanted: SuggestionKind,
    typed: &str,
) -> Vec<Suggestion> {
    environment.user = environment.user.without_git();
    let workspace = Workspace::discover_ignoring_settings(environment).ok();
    let workspace = workspace.filter(|workspace| workspace.exclusion().is_none());
    let Some(workspace) = workspace.and_then(Workspace::accessible) else { return Vec::new() };
    let store = Store::new(workspace, WaitPolicy::Hook);
    let mut found = match (wanted, typed.rsplit_once('@')) {
        (SuggestionKind::Handoff, _) | (SuggestionKind::Revision, None) => handoffs(&store, typed),
        (SuggestionKind::Revision, Some((key, _))) => revisions(&store, key),
        (SuggestionKind::Stage, _) => stages(&store),
        (SuggestionKind::Session, _) => sessions(&store),
        (SuggestionKind::Task, _) => tasks(&store),
    };
    found.retain(|one| one.value.starts_with(typed) && is_plain(&one.value));
    for about in found.iter_mut().filter_map(|one| one.about.as_mut()) {
        *about = store.workspace().clean(about.trim()).0.as_str().to_owned();
    }
    found
}

/// Whether a shell can insert a value as it is. An id from a document could run a command otherwise.
fn is_plain(value: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./@".contains(c);
    !value.is_empty() && !value.starts_with('-') && value.chars().all(is_plain)
}

fn handoffs(store: &Store, typed: &str) -> Vec<Suggestion> {
    let workspace = store.workspace();
    let places = workspace.document_places().into_iter().filter_map(Result::ok);
    let keyed = places.map(|place| (workspace.key_of_place(&place), place));
    let may_match = |key: &Option<HandoffKey>| {
        key.as_ref().is_none_or(|key| key.to_string().starts_with(typed))
    };
    let places: Vec<_> = keyed.filter(|(key, _)| may_match(key)).collect();
    let has_titles = places.len() <= READ_MAX;
    let suggestion = |(key, place): (Option<HandoffKey>, DocumentPlace)| match has_titles {
        true => {
            let stored = workspace.read(&place).ok()?;
            let handoff = stored.handoff(workspace);
            let about = handoff.title().or(handoff.summary()).map(str::to_owned);
            Some(Suggestion { value: handoff.key().to_string(), about })
        }
        false => key.map(|key| Suggestion { value: key.to_string(), about: None }),
    };
    places.into_iter().filter_map(suggestion).collect()
}

/// The revisions of one handoff, newest first.
fn revisions(store: &Store, key: &str) -> Vec<Suggestion> {
    let workspace = store.workspace();
    let stored = workspace.place_named(key).and_then(|place| workspace.read(&place).ok());
    let Some(stored) = stored else { return Vec::new() };
    let last = stored.handoff(workspace).replaced_texts().len() + 1;
    let revision = |number| Suggestion {
        value: format!("{key}@{number}"),
        about: (number == last).then(|| "the current text".to_owned()),
    };
    (1..=last).rev().map(revision).collect()
}

fn stages(store: &Store) -> Vec<Suggestion> {
    let names = store.workspace().settings().stages.names();
    names.map(|name| Suggestion { value: name.to_owned(), about: None }).collect()
}

/// The captured sessions, newest first.
fn sessions(store: &Store) -> Vec<Suggestion> {
    let mut found = captured_session_names(store).unwrap_or_default();
    found.sort_by_key(|(_, ended, _)| Reverse(*ended));
    let suggestion = |(session, _, about)| Suggestion { value: session, about };
    found.into_iter().map(suggestion).collect()
}

/// The tasks, open ones first.
fn tasks(store: &Store) -> Vec<Suggestion> {
    let ledger = store.existing_ledger().ok().flatten();
    let Some((tasks, _)) = ledger.and_then(|ledger| read_tasks(ledger).ok()) else {
        return Vec::new();
    };
    let mut all: Vec<_> = tasks.iter().collect();
    all.sort_by_key(|task| !task.status.is_open());
    let suggestion = |task| (tasks.display_name(task), task.subject.clone());
    let suggestions = all.into_iter().map(suggestion);
    suggestions.map(|(value, about)| Suggestion { value, about: Some(about) }).collect()
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn only_what_a_shell_inserts_as_it_is_is_suggested() {
        for plain in ["y2038", "market/spec", "market@2", "größe"] {
            assert!(is_plain(plain), "{plain}");
        }
        for odd in ["", "$(id)", "a b", "`id`", "a;id", "-rf", "a'b", "a\u{202e}b", "~", "a\nb"] {
            assert!(!is_plain(odd), "{odd:?}");
        }
    }
}
