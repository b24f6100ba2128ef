//! Open items of earlier sessions. They stay in the briefing until a later session settles them,
//! the user dismisses them, or enough sessions have worked without touching them.

use crate::session::checkpoint::{
    Highlight, HighlightKind as Kind, PUSHED, SessionEnding, SessionSummary,
};
use crate::session::hash;
use crate::session::shell::{Check, GitCommand, Relation, ShellLine};
use crate::text::id::{ClientName, SessionId};
use jiff::Timestamp;
use std::cell::OnceCell;

/// After this many sessions with work that did not touch it, an item is only counted.
pub const SESSIONS_MAX: usize = 5;

/// The letters of a handle: no vowels, so that no words appear, and no look-alikes.
const LETTERS: &[u8; 24] = b"23456789bcdfghjkmnpqrtvw";
const HANDLE_LETTERS: usize = 3;

/// Something that an earlier session left open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsettledItem {
    /// The handle for dismissing it.
    pub handle: String,
    /// The client of the session.
    pub client: ClientName,
    /// The session that left it open.
    pub session: SessionId,
    /// When that session ended, if known.
    pub ended: Option<Timestamp>,
    /// The open item.
    pub item: Highlight,
}

/// Whether a kind stays open after its session ends.
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

/// A branch that was merged or deleted. Items left open before then are closed; work after the
/// merge is open again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClosedBranch {
    /// When that happened; without a time, everything on the branch is closed.
    pub at: Option<Timestamp>,
}

impl ClosedBranch {
    /// Whether the branch was closed after the entire session.
    pub fn closes(self, summary: &SessionSummary) -> bool {
        self.is_after(summary.ended)
    }

    /// Whether the branch was closed after a session left an item open.
    pub fn closes_item(self, summary: &SessionSummary, item: &Highlight) -> bool {
        let seen = item.seen.as_ref().and_then(|seen| seen.at);
        self.is_after(seen.or(summary.ended))
    }

    fn is_after(self, time: Option<Timestamp>) -> bool {
        self.at.zip(time).is_none_or(|(closed, time)| time <= closed)
    }

    /// The session without the items that are no longer open.
    #[must_use]
    pub fn apply(self, mut summary: SessionSummary) -> SessionSummary {
        let is_left = |kind| {
            stays_open(kind) || matches!(kind, Kind::StatedPlan | Kind::OpenItem | Kind::Agent)
        };
        let items = std::mem::take(&mut summary.items).into_iter();
        let items = items.filter(|item| !is_left(item.kind) || !self.closes_item(&summary, item));
        let items = items.collect();
        if self.closes(&summary) {
            summary.ending = SessionEnding::Unknown;
        }
        SessionSummary { items, ..summary }
    }
}

/// The number of items that stay open after a session.
pub fn open_count(summary: &SessionSummary) -> usize {
    summary.items.iter().filter(|item| stays_open(item.kind)).count()
}

/// The handle of an item of a session. It depends only on the session and the item.
pub fn handle(session: &SessionId, item: &Highlight) -> String {
    let parts = [session.as_str(), item.kind.word(), item.text.trim()].join("\0");
    let mut number = hash(parts.as_bytes());
    let mut letters = String::from("k");
    for _ in 0..HANDLE_LETTERS {
        let at = usize::try_from(number % 24).unwrap_or_default();
        letters.push(char::from(LETTERS[at]));
        number /= 24;
    }
    letters
}

/// The open items of a session itself.
pub fn open_items(summary: &SessionSummary) -> Vec<UnsettledItem> {
    let open = summary.items.iter().filter(|item| stays_open(item.kind));
    open.map(|item| UnsettledItem::new(summary, item)).collect()
}

/// The session without its dismissed items.
pub fn without_dismissed(
    mut summary: SessionSummary,
    is_dismissed: impl Fn(&str) -> bool,
) -> SessionSummary {
    let session = summary.session.clone();
    summary.items.retain(|item| !stays_open(item.kind) || !is_dismissed(&handle(&session, item)));
    summary
}

/// The open items of all sessions except the first, in order, and those that [`SESSIONS_MAX`] later
/// sessions did not touch.
/// `is_dismissed` checks handles; `is_closed` checks whether something outside of these sessions
/// closes an item.
pub fn collect_unsettled(
    sessions: &[SessionSummary],
    is_dismissed: impl Fn(&str) -> bool,
    is_closed: impl Fn(&SessionSummary, &Highlight) -> bool,
) -> (Vec<UnsettledItem>, Vec<UnsettledItem>) {
    let (mut found, mut older): (Vec<UnsettledItem>, Vec<UnsettledItem>) = (Vec::new(), Vec::new());
    let sessions: Vec<LaterSession<'_>> = sessions.iter().map(LaterSession::new).collect();
    for LaterSession { summary, .. } in sessions.iter().skip(1) {
        let later: Vec<&LaterSession<'_>> =
            sessions.iter().filter(|one| one.summary.ended > summary.ended).collect();
        for item in summary.items.iter().filter(|item| stays_open(item.kind)) {
            let unsettled = UnsettledItem::new(summary, item);
            let is_known =
                |one: &UnsettledItem| one.item.kind == item.kind && one.item.text == item.text;
            let is_settled =
                || later.iter().any(|later| later.has_open(item) || later.settles(item));
            let is_over =
                is_dismissed(&unsettled.handle) || is_closed(summary, item) || is_settled();
            if is_over || found.iter().any(is_known) {
                continue;
            }
            match later.iter().filter(|later| later.summary.worked).count() >= SESSIONS_MAX {
                true => older.push(unsettled),
                false => found.push(unsettled),
            }
        }
    }
    (found, older)
}

impl UnsettledItem {
    fn new(summary: &SessionSummary, item: &Highlight) -> Self {
        let handle = handle(&summary.session, item);
        let (client, session, ended) =
            (summary.client.clone(), summary.session.clone(), summary.ended);
        Self { handle, client, session, ended, item: item.clone() }
    }
}

/// A session that may have settled open items of earlier ones.
struct LaterSession<'g> {
    summary: &'g SessionSummary,
    /// Its checks and whether each passed. Parsed once, on demand.
    checks: OnceCell<Vec<(Check, bool)>>,
}

impl<'g> LaterSession<'g> {
    fn new(summary: &'g SessionSummary) -> Self {
        Self { summary, checks: OnceCell::new() }
    }

    /// Whether it has the same item open itself. That session then reports it.
    fn has_open(&self, item: &Highlight) -> bool {
        self.summary.of_kind(item.kind).any(|one| one.text.trim() == item.text.trim())
    }

    /// Whether it did something that settles an item.
    fn settles(&self, item: &Highlight) -> bool {
        let is_asked_again = || {
            [Kind::Goal, Kind::Request, Kind::OpenRequest].iter().any(|kind| {
                self.summary.of_kind(*kind).any(|one| one.text.trim() == item.text.trim())
            })
        };
        let is_request = matches!(item.kind, Kind::OpenRequest | Kind::Queued);
        (item.kind == Kind::Failed && self.fixes(&item.text)) || (is_request && is_asked_again())
    }

    /// Whether it shows that a command no longer fails: an equal or wider check ran, a stopped
    /// merge was committed, continued or aborted, or a push succeeded.
    fn fixes(&self, failed: &str) -> bool {
        let ran = ShellLine::parse(failed);
        let mut commands = ran.commands.iter().filter_map(GitCommand::from_command);
        if let Some(git) =
            commands.find(|git| git.can_conflict() || matches!(git.verb, "push" | "commit"))
        {
            // A push without commits of the session is recorded as an effect.
            let is_push = |one: &Highlight| {
                one.state.as_deref().is_some_and(|state| state.to_lowercase().starts_with(PUSHED))
            };
            if git.verb == "push" && self.summary.of_kind(Kind::Effect).any(is_push) {
                return true;
            }
            let mut commits = self.summary.of_kind(Kind::Commit);
            return match git.verb == "push" {
                true => commits.any(is_push),
                false => self.summary.settles_conflicts || commits.next().is_some(),
            };
        }
        let failed: Vec<Check> = ran.commands.iter().flat_map(Check::all_from_command).collect();
        let covers = |(later, passed): &(Check, bool)| {
            failed.iter().any(|failed| match later.relation_to(failed) {
                Relation::Covers => true,
                Relation::Unclear => *passed,
                Relation::Narrower | Relation::Different => false,
            })
        };
        self.checks.get_or_init(|| self.read_checks()).iter().any(covers)
    }

    fn read_checks(&self) -> Vec<(Check, bool)> {
        let kinds = [(Kind::Check, true), (Kind::Passed, true), (Kind::Failed, false)];
        let runs = kinds.into_iter().flat_map(|(kind, passed)| {
            self.summary.of_kind(kind).map(move |one| (one.text.as_str(), passed))
        });
        let checks = runs.flat_map(|(command, passed)| {
            Check::parse_line(command).into_iter().map(move |check| (check, passed))
        });
        checks.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(session: &str, items: &[(Kind, &str)]) -> SessionSummary {
        let item = |(kind, text): &(Kind, &str)| Highlight {
            kind: *kind,
            text: (*text).to_owned(),
            detail: None,
            state: None,
            seen: None,
            remark: None,
            weight: 0,
        };
        SessionSummary {
            items: items.iter().map(item).collect(),
            ..SessionSummary::sample(session)
        }
    }

    /// Sessions that ended one after the other, newest first.
    fn in_turn(mut sessions: Vec<SessionSummary>) -> Vec<SessionSummary> {
        for (at, session) in sessions.iter_mut().rev().enumerate() {
            let second = i64::try_from(at).unwrap();
            session.ended = Some(Timestamp::from_second(second).unwrap());
        }
        sessions
    }

    fn open_after(later: &[(Kind, &str)], failed: &str) -> bool {
        let sessions = in_turn(vec![summary("b", later), summary("a", &[(Kind::Failed, failed)])]);
        !collect_unsettled(&sessions, |_| false, |_, _| false).0.is_empty()
    }

    #[test]
    fn a_later_session_in_which_an_equal_or_wider_check_passed_settles_a_failure() {
        assert!(open_after(&[], "cargo test -p core"));
        assert!(open_after(&[(Kind::Check, "cargo clippy")], "cargo test -p core"));
        assert!(open_after(&[(Kind::Check, "cargo test -p core one")], "cargo test -p core"));
        assert!(!open_after(&[(Kind::Check, "cargo test -p core")], "cargo test -p core"));
        assert!(!open_after(&[(Kind::Check, "cargo test")], "cargo test -p core"));
        // It still fails, but the later session has the wider failure open itself.
        assert!(!open_after(&[(Kind::Failed, "cargo test")], "cargo test -p core"));
    }

    #[test]
    fn a_commit_settles_a_stopped_merge_and_a_push_settles_a_push() {
        assert!(open_after(&[], "git merge main"));
        assert!(!open_after(&[(Kind::Commit, "Merge main")], "git merge main"));
        assert!(open_after(&[], "git add -A && git commit -m x"));
        assert!(!open_after(&[(Kind::Commit, "x")], "git add -A && git commit -m x"));
        assert!(open_after(&[(Kind::Commit, "Fix it")], "git push origin main"));
        let mut pushed = summary("b", &[(Kind::Commit, "Fix it")]);
        pushed.items[0].state = Some("pushed".to_owned());
        let sessions =
            in_turn(vec![pushed, summary("a", &[(Kind::Failed, "git push origin main")])]);
        assert!(collect_unsettled(&sessions, |_| false, |_, _| false).0.is_empty());
        let mut alone = summary("b", &[(Kind::Effect, "")]);
        alone.items[0].state = Some("Pushed".to_owned());
        let sessions =
            in_turn(vec![alone, summary("a", &[(Kind::Failed, "git push origin main")])]);
        assert!(collect_unsettled(&sessions, |_| false, |_, _| false).0.is_empty());
    }

    #[test]
    fn a_later_session_that_aborts_or_continues_settles_a_stopped_merge() {
        let open = |failed: &str| {
            let later = SessionSummary { settles_conflicts: true, ..summary("b", &[]) };
            let sessions = in_turn(vec![later, summary("a", &[(Kind::Failed, failed)])]);
            !collect_unsettled(&sessions, |_| false, |_, _| false).0.is_empty()
        };
        assert!(!open("git merge main") && !open("git rebase main") && !open("git stash pop"));
        assert!(open("git push origin main") && open("make lint"));
    }

    #[test]
    fn a_merge_closes_what_was_left_open_before_it() {
        let time = |second| Some(Timestamp::from_second(second).unwrap());
        let seen = |second| crate::session::Provenance {
            record: "r".to_owned(),
            number: 1,
            at: time(second),
            source: crate::session::Attribution::Observed,
            agent: None,
        };
        let mut session = summary("a", &[(Kind::Failed, "early"), (Kind::Failed, "late")]);
        session.ended = time(30);
        session.items[0].seen = Some(seen(10));
        session.items[1].seen = Some(seen(20));
        let left = |at: Option<Timestamp>| {
            let left = ClosedBranch { at }.apply(session.clone());
            let texts = left.items.iter().map(|item| item.text.clone()).collect::<Vec<_>>();
            (texts, left.ending)
        };
        let both = vec!["early".to_owned(), "late".to_owned()];
        assert_eq!(left(time(5)), (both.clone(), SessionEnding::Completed));
        assert_eq!(left(time(15)), (both[1..].to_vec(), SessionEnding::Completed));
        assert_eq!(left(time(40)), (Vec::new(), SessionEnding::Unknown));
        assert_eq!(left(None), (Vec::new(), SessionEnding::Unknown));
    }

    #[test]
    fn a_repeated_request_belongs_to_the_later_session() {
        let asked = (Kind::OpenRequest, "Write the report");
        let of = |later: &[(Kind, &str)]| {
            let sessions =
                in_turn(vec![summary("c", &[]), summary("b", later), summary("a", &[asked])]);
            collect_unsettled(&sessions, |_| false, |_, _| false).0.len()
        };
        assert_eq!((of(&[]), of(&[(Kind::Goal, "Write the report")])), (1, 0));
    }

    #[test]
    fn an_earlier_session_settles_nothing() {
        let mut sessions = in_turn(vec![
            summary("b", &[(Kind::Check, "make lint")]),
            summary("a", &[(Kind::Failed, "make lint")]),
        ]);
        // A session on this branch is listed first, regardless of its time.
        sessions[0].ended = None;
        assert_eq!(collect_unsettled(&sessions, |_| false, |_, _| false).0.len(), 1);
    }

    fn texts(found: &[UnsettledItem]) -> Vec<&str> {
        found.iter().map(|one| one.item.text.as_str()).collect()
    }

    #[test]
    fn open_items_survive_a_trivial_session() {
        let sessions = in_turn(vec![
            summary("c", &[(Kind::Goal, "hello")]),
            summary("b", &[(Kind::Goal, "fix"), (Kind::Failed, "make lint")]),
            summary("a", &[(Kind::Task, "Wire the cache"), (Kind::Report, "Done.")]),
        ]);
        let (found, older) = collect_unsettled(&sessions, |_| false, |_, _| false);
        assert_eq!((texts(&found), older.len()), (vec!["make lint", "Wire the cache"], 0));
    }

    #[test]
    fn settled_dismissed_and_reopened_items_are_dropped() {
        let sessions = in_turn(vec![
            summary("c", &[(Kind::Task, "Wire the cache")]),
            summary("b", &[]),
            summary(
                "a",
                &[
                    (Kind::Task, "Wire the cache"),
                    (Kind::Failed, "make lint"),
                    (Kind::Question, "Push?"),
                ],
            ),
        ]);
        let is_closed = |_: &SessionSummary, item: &Highlight| item.text == "make lint";
        let (found, _) = collect_unsettled(&sessions, |_| false, is_closed);
        assert_eq!(texts(&found), ["Push?"]);
        let push = found[0].handle.clone();
        assert!(collect_unsettled(&sessions, |handle| handle == push, is_closed).0.is_empty());
    }

    #[test]
    fn an_item_of_two_sessions_that_ended_together_is_found_once() {
        let task = (Kind::Task, "Wire the cache");
        let mut sessions = in_turn(vec![
            summary("c", &[]),
            summary("b", &[task]),
            summary("a", &[(Kind::Question, "Wire the cache"), task]),
        ]);
        // Neither is later than the other, so neither settles the other.
        sessions[2].ended = sessions[1].ended;
        let (found, _) = collect_unsettled(&sessions, |_| false, |_, _| false);
        let kinds: Vec<Kind> = found.iter().map(|one| one.item.kind).collect();
        assert_eq!(kinds, [Kind::Task, Kind::Question], "a question is not a task");
    }

    #[test]
    fn after_five_sessions_an_item_is_only_counted() {
        let after = |sessions: usize| {
            let mut all: Vec<SessionSummary> =
                (0..sessions).map(|at| summary(&at.to_string(), &[])).collect();
            all.push(summary("old", &[(Kind::Task, "Wire the cache")]));
            let (found, older) = collect_unsettled(&in_turn(all), |_| false, |_, _| false);
            (found.len(), older.len())
        };
        assert_eq!((after(4), after(5)), ((1, 0), (0, 1)));
    }

    #[test]
    fn a_handle_is_short_and_the_same_each_time() {
        let one = summary("a", &[(Kind::Task, "Wire the cache")]);
        let handle = handle(&SessionId::new("a"), &one.items[0]);
        assert_eq!(handle.len(), 4);
        assert_eq!(handle, super::handle(&SessionId::new("a"), &one.items[0]));
        assert_ne!(handle, super::handle(&SessionId::new("b"), &one.items[0]));
    }
}
