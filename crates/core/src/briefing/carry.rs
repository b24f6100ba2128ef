//! What earlier sessions left unsettled: it is carried over until a later session settles it, the
//! user dismisses it, or enough sessions worked without touching it.

use crate::checkpoint::{Gist, Highlight, HighlightKind as Kind};
use crate::session::{Client, hash};

/// After so many sessions with work that did not touch it, an item is only counted.
pub const SESSIONS_MAX: usize = 5;

/// The letters of a handle: no vowels, so that no word appears, and nothing that reads like another.
const LETTERS: &[u8; 24] = b"23456789bcdfghjkmnpqrtvw";
const HANDLE_LETTERS: usize = 3;

/// Something that an earlier session left open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    /// What it is dismissed by.
    pub handle: String,
    /// The client of the session that left it.
    pub client: Client,
    /// The session that left it.
    pub session: String,
    /// When that session ended, as far as that is known.
    pub ended: Option<jiff::Timestamp>,
    /// What was left.
    pub item: Highlight,
}

/// The kinds that stay open after a session is over.
fn stays_open(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Failed
            | Kind::Task
            | Kind::Question
            | Kind::OpenRequest
            | Kind::Queued
            | Kind::Unchecked
    )
}

/// How many things of a session stay open after it.
pub fn open_count(gist: &Gist) -> usize {
    gist.items.iter().filter(|item| stays_open(item.kind)).count()
}

/// The handle of an item of a session: the same whoever asks, and however often.
pub fn handle(session: &str, item: &Highlight) -> String {
    let parts = [session, item.kind.word(), item.text.trim()].join("\0");
    let mut number = hash(parts.as_bytes());
    let mut letters = String::from("k");
    for _ in 0..HANDLE_LETTERS {
        let at = usize::try_from(number % 24).unwrap_or_default();
        letters.push(char::from(LETTERS[at]));
        number /= 24;
    }
    letters
}

/// What sessions before the first of these left open, the newest first, and how many more there are.
/// `sessions` are the sessions with work, the newest first; `is_dismissed` knows handles, and `settles`
/// says whether a later session settled an item.
pub fn unsettled(
    sessions: &[Gist],
    is_dismissed: impl Fn(&str) -> bool,
    settles: impl Fn(&Gist, &Highlight) -> bool,
) -> (Vec<Carried>, usize) {
    let mut found: Vec<Carried> = Vec::new();
    let mut more = 0;
    for (at, gist) in sessions.iter().enumerate().skip(1) {
        let later = &sessions[..at];
        for item in gist.items.iter().filter(|item| stays_open(item.kind)) {
            let handle = handle(&gist.session, item);
            let is_known = |one: &Carried| one.item.kind == item.kind && one.item.text == item.text;
            let is_settled = later.iter().any(|later| says(later, item) || settles(later, item));
            if is_dismissed(&handle) || is_settled || found.iter().any(is_known) {
                continue;
            }
            if at > SESSIONS_MAX {
                more += 1;
                continue;
            }
            let (session, ended) = (gist.session.clone(), gist.ended);
            let client = gist.client;
            found.push(Carried { handle, client, session, ended, item: item.clone() });
        }
    }
    (found, more)
}

/// Whether a later session has the same thing open itself: then it is that session's.
fn says(later: &Gist, item: &Highlight) -> bool {
    later.of_kind(item.kind).any(|one| one.text.trim() == item.text.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::{Ending, GIST_VERSION};
    use std::collections::BTreeMap;

    fn gist(session: &str, items: &[(Kind, &str)]) -> Gist {
        let item = |(kind, text): &(Kind, &str)| Highlight {
            kind: *kind,
            text: (*text).to_owned(),
            detail: None,
            state: None,
            seen: None,
            weight: 0,
        };
        Gist {
            version: GIST_VERSION,
            client: Client::ClaudeCode,
            session: session.to_owned(),
            digest: String::new(),
            folder: None,
            branch: None,
            commit: None,
            began: None,
            ended: None,
            ending: Ending::Completed,
            worked: true,
            tree: None,
            summary: None,
            items: items.iter().map(item).collect(),
            left_out: BTreeMap::new(),
            not_kept: 0,
        }
    }

    fn texts(found: &[Carried]) -> Vec<&str> {
        found.iter().map(|one| one.item.text.as_str()).collect()
    }

    #[test]
    fn what_an_earlier_session_left_open_is_carried_over_a_trivial_one() {
        let sessions = [
            gist("c", &[(Kind::Goal, "hello")]),
            gist("b", &[(Kind::Goal, "fix"), (Kind::Failed, "make lint")]),
            gist("a", &[(Kind::Task, "Wire the cache"), (Kind::Report, "Done.")]),
        ];
        let (found, more) = unsettled(&sessions, |_| false, |_, _| false);
        assert_eq!((texts(&found), more), (vec!["make lint", "Wire the cache"], 0));
    }

    #[test]
    fn what_is_settled_or_dismissed_or_open_again_is_not_carried() {
        let sessions = [
            gist("c", &[(Kind::Task, "Wire the cache")]),
            gist("b", &[]),
            gist(
                "a",
                &[
                    (Kind::Task, "Wire the cache"),
                    (Kind::Failed, "make lint"),
                    (Kind::Question, "Push?"),
                ],
            ),
        ];
        let settles =
            |later: &Gist, item: &Highlight| later.session == "b" && item.text == "make lint";
        let (found, _) = unsettled(&sessions, |_| false, settles);
        assert_eq!(texts(&found), ["Push?"]);
        let push = found[0].handle.clone();
        assert!(unsettled(&sessions, |handle| handle == push, settles).0.is_empty());
    }

    #[test]
    fn after_five_sessions_an_item_is_only_counted() {
        let mut sessions: Vec<Gist> = (0..6).map(|at| gist(&format!("s{at}"), &[])).collect();
        sessions.push(gist("old", &[(Kind::Task, "Wire the cache")]));
        assert_eq!(unsettled(&sessions, |_| false, |_, _| false).1, 1);
        sessions.remove(0);
        assert_eq!(unsettled(&sessions, |_| false, |_, _| false).0.len(), 1);
    }

    #[test]
    fn a_handle_is_short_and_the_same_each_time() {
        let one = gist("a", &[(Kind::Task, "Wire the cache")]);
        let handle = handle("a", &one.items[0]);
        assert_eq!(handle.len(), 4);
        assert_eq!(handle, super::handle("a", &one.items[0]));
        assert_ne!(handle, super::handle("b", &one.items[0]));
    }
}
