//! What earlier sessions left unsettled: it is carried over until a later session settles it, the
//! user dismisses it, or enough sessions worked without touching it.

use crate::session::checkpoint::{
    Highlight, HighlightKind as Kind, PUSHED, SessionEnding, SessionSummary,
};
use crate::session::shell::{Check, GitCommand, Relation, ShellLine};
use crate::session::{Client, hash};
use jiff::Timestamp;
use std::cell::OnceCell;

/// After this many sessions with work that did not touch it, an item is only counted.
pub const SESSIONS_MAX: usize = 5;

/// The letters of a handle: no vowels, so that no word appears, and nothing that reads like another.
const LETTERS: &[u8; 24] = b"23456789bcdfghjkmnpqrtvw";
const HANDLE_LETTERS: usize = 3;

/// Something that an earlier session left open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsettledItem {
    /// What it is dismissed by.
    pub handle: String,
    /// The client of the session that left it.
    pub client: Client,
    /// The session that left it.
    pub session: String,
    /// When that session ended, as far as that is known.
    pub ended: Option<Timestamp>,
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

/// A branch that was merged or deleted. What was left open on it until then is closed; who goes on with
/// the branch after the merge has open work again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClosedBranch {
    /// When that was; without a time, everything on it is closed.
    pub at: Option<Timestamp>,
}

impl ClosedBranch {
    /// Whether all of a session came before.
    pub fn closes(self, gist: &SessionSummary) -> bool {
        self.is_after(gist.ended)
    }

    /// Whether something that a session left open came before.
    pub fn closes_item(self, gist: &SessionSummary, item: &Highlight) -> bool {
        let seen = item.seen.as_ref().and_then(|seen| seen.at);
        self.is_after(seen.or(gist.ended))
    }

    fn is_after(self, time: Option<Timestamp>) -> bool {
        self.at.zip(time).is_none_or(|(closed, time)| time <= closed)
    }

    /// A session of this branch, without what is not open any more.
    #[must_use]
    pub fn apply(self, mut gist: SessionSummary) -> SessionSummary {
        let is_left = |kind| {
            stays_open(kind) || matches!(kind, Kind::StatedPlan | Kind::OpenItem | Kind::Agent)
        };
        let items = std::mem::take(&mut gist.items).into_iter();
        let items = items.filter(|item| !is_left(item.kind) || !self.closes_item(&gist, item));
        let items = items.collect();
        if self.closes(&gist) {
            gist.ending = SessionEnding::Unknown;
        }
        SessionSummary { items, ..gist }
    }
}

/// How many things of a session stay open after it.
pub fn open_count(gist: &SessionSummary) -> usize {
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

/// What a session left open itself.
pub fn open_items(gist: &SessionSummary) -> Vec<UnsettledItem> {
    let open = gist.items.iter().filter(|item| stays_open(item.kind));
    open.map(|item| UnsettledItem::new(gist, item)).collect()
}

/// A session without what was dismissed of it.
pub fn without_dismissed(
    mut gist: SessionSummary,
    is_dismissed: impl Fn(&str) -> bool,
) -> SessionSummary {
    let session = gist.session.clone();
    gist.items.retain(|item| !stays_open(item.kind) || !is_dismissed(&handle(&session, item)));
    gist
}

/// What sessions other than the first of these left open, in their order, and what so many sessions did
/// not touch that it is only counted.
/// `is_dismissed` knows handles; `is_closed` knows what closes an item outside of these sessions.
pub fn collect_unsettled(
    sessions: &[SessionSummary],
    is_dismissed: impl Fn(&str) -> bool,
    is_closed: impl Fn(&SessionSummary, &Highlight) -> bool,
) -> (Vec<UnsettledItem>, Vec<UnsettledItem>) {
    let (mut found, mut older): (Vec<UnsettledItem>, Vec<UnsettledItem>) = (Vec::new(), Vec::new());
    let sessions: Vec<LaterSession<'_>> = sessions.iter().map(LaterSession::new).collect();
    for LaterSession { summary: gist, .. } in sessions.iter().skip(1) {
        let later: Vec<&LaterSession<'_>> =
            sessions.iter().filter(|one| one.summary.ended > gist.ended).collect();
        for item in gist.items.iter().filter(|item| stays_open(item.kind)) {
            let carried = UnsettledItem::new(gist, item);
            let is_known =
                |one: &UnsettledItem| one.item.kind == item.kind && one.item.text == item.text;
            let is_settled =
                || later.iter().any(|later| later.has_open(item) || later.settles(item));
            let is_over = is_dismissed(&carried.handle) || is_closed(gist, item) || is_settled();
            if is_over || found.iter().any(is_known) {
                continue;
            }
            match later.iter().filter(|later| later.summary.worked).count() >= SESSIONS_MAX {
                true => older.push(carried),
                false => found.push(carried),
            }
        }
    }
    (found, older)
}

impl UnsettledItem {
    fn new(gist: &SessionSummary, item: &Highlight) -> Self {
        let handle = handle(&gist.session, item);
        let (client, session, ended) = (gist.client, gist.session.clone(), gist.ended);
        Self { handle, client, session, ended, item: item.clone() }
    }
}

/// A session that may have settled what earlier ones left open.
struct LaterSession<'g> {
    summary: &'g SessionSummary,
    /// Its checks, and whether each passed. They are read once, and only where one is asked for.
    checks: OnceCell<Vec<(Check, bool)>>,
}

impl<'g> LaterSession<'g> {
    fn new(summary: &'g SessionSummary) -> Self {
        Self { summary, checks: OnceCell::new() }
    }

    /// Whether it has the same thing open itself: then it is that session's.
    fn has_open(&self, item: &Highlight) -> bool {
        self.summary.of_kind(item.kind).any(|one| one.text.trim() == item.text.trim())
    }

    /// Whether something that it did settles an item.
    fn settles(&self, item: &Highlight) -> bool {
        let is_asked_again = || {
            [Kind::Goal, Kind::Request, Kind::OpenRequest].iter().any(|kind| {
                self.summary.of_kind(*kind).any(|one| one.text.trim() == item.text.trim())
            })
        };
        let is_request = matches!(item.kind, Kind::OpenRequest | Kind::Queued);
        (item.kind == Kind::Failed && self.fixes(&item.text)) || (is_request && is_asked_again())
    }

    /// Whether it shows that a command does not fail any more: an equal or wider check ran, a stopped
    /// merge was committed, continued or aborted, a push went through.
    fn fixes(&self, failed: &str) -> bool {
        let ran = ShellLine::parse(failed);
        let mut commands = ran.commands.iter().filter_map(GitCommand::from_command);
        if let Some(git) =
            commands.find(|git| git.can_conflict() || matches!(git.verb, "push" | "commit"))
        {
            // A push without commits of the session is an effect of its own.
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

    fn gist(session: &str, items: &[(Kind, &str)]) -> SessionSummary {
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

    /// Sessions that ended one after the other, given the newest first.
    fn in_turn(mut sessions: Vec<SessionSummary>) -> Vec<SessionSummary> {
        for (at, gist) in sessions.iter_mut().rev().enumerate() {
            let second = i64::try_from(at).unwrap();
            gist.ended = Some(Timestamp::from_second(second).unwrap());
        }
        sessions
    }

    fn open_after(later: &[(Kind, &str)], failed: &str) -> bool {
        let sessions = in_turn(vec![gist("b", later), gist("a", &[(Kind::Failed, failed)])]);
        !collect_unsettled(&sessions, |_| false, |_, _| false).0.is_empty()
    }

    #[test]
    fn a_later_session_in_which_an_equal_or_wider_check_passed_settles_a_failure() {
        assert!(open_after(&[], "cargo test -p core"));
        assert!(open_after(&[(Kind::Check, "cargo clippy")], "cargo test -p core"));
        assert!(open_after(&[(Kind::Check, "cargo test -p core one")], "cargo test -p core"));
        assert!(!open_after(&[(Kind::Check, "cargo test -p core")], "cargo test -p core"));
        assert!(!open_after(&[(Kind::Check, "cargo test")], "cargo test -p core"));
        // It fails still; the later session has the wider failure itself.
        assert!(!open_after(&[(Kind::Failed, "cargo test")], "cargo test -p core"));
    }

    #[test]
    fn a_commit_settles_a_stopped_merge_and_a_push_settles_a_push() {
        assert!(open_after(&[], "git merge main"));
        assert!(!open_after(&[(Kind::Commit, "Merge main")], "git merge main"));
        assert!(open_after(&[], "git add -A && git commit -m x"));
        assert!(!open_after(&[(Kind::Commit, "x")], "git add -A && git commit -m x"));
        assert!(open_after(&[(Kind::Commit, "Fix it")], "git push origin main"));
        let mut pushed = gist("b", &[(Kind::Commit, "Fix it")]);
        pushed.items[0].state = Some("pushed".to_owned());
        let sessions = in_turn(vec![pushed, gist("a", &[(Kind::Failed, "git push origin main")])]);
        assert!(collect_unsettled(&sessions, |_| false, |_, _| false).0.is_empty());
        let mut alone = gist("b", &[(Kind::Effect, "")]);
        alone.items[0].state = Some("Pushed".to_owned());
        let sessions = in_turn(vec![alone, gist("a", &[(Kind::Failed, "git push origin main")])]);
        assert!(collect_unsettled(&sessions, |_| false, |_, _| false).0.is_empty());
    }

    #[test]
    fn a_later_session_that_aborts_or_continues_settles_a_stopped_merge() {
        let open = |failed: &str| {
            let later = SessionSummary { settles_conflicts: true, ..gist("b", &[]) };
            let sessions = in_turn(vec![later, gist("a", &[(Kind::Failed, failed)])]);
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
        let mut session = gist("a", &[(Kind::Failed, "early"), (Kind::Failed, "late")]);
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
    fn a_request_that_was_asked_again_is_that_sessions() {
        let asked = (Kind::OpenRequest, "Write the report");
        let of = |later: &[(Kind, &str)]| {
            let sessions = in_turn(vec![gist("c", &[]), gist("b", later), gist("a", &[asked])]);
            collect_unsettled(&sessions, |_| false, |_, _| false).0.len()
        };
        assert_eq!((of(&[]), of(&[(Kind::Goal, "Write the report")])), (1, 0));
    }

    #[test]
    fn an_earlier_session_settles_nothing() {
        let mut sessions = in_turn(vec![
            gist("b", &[(Kind::Check, "make lint")]),
            gist("a", &[(Kind::Failed, "make lint")]),
        ]);
        // A session on this branch comes first, whenever it was.
        sessions[0].ended = None;
        assert_eq!(collect_unsettled(&sessions, |_| false, |_, _| false).0.len(), 1);
    }

    fn texts(found: &[UnsettledItem]) -> Vec<&str> {
        found.iter().map(|one| one.item.text.as_str()).collect()
    }

    #[test]
    fn what_an_earlier_session_left_open_is_carried_over_a_trivial_one() {
        let sessions = in_turn(vec![
            gist("c", &[(Kind::Goal, "hello")]),
            gist("b", &[(Kind::Goal, "fix"), (Kind::Failed, "make lint")]),
            gist("a", &[(Kind::Task, "Wire the cache"), (Kind::Report, "Done.")]),
        ]);
        let (found, older) = collect_unsettled(&sessions, |_| false, |_, _| false);
        assert_eq!((texts(&found), older.len()), (vec!["make lint", "Wire the cache"], 0));
    }

    #[test]
    fn what_is_settled_or_dismissed_or_open_again_is_not_carried() {
        let sessions = in_turn(vec![
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
        ]);
        let is_closed = |_: &SessionSummary, item: &Highlight| item.text == "make lint";
        let (found, _) = collect_unsettled(&sessions, |_| false, is_closed);
        assert_eq!(texts(&found), ["Push?"]);
        let push = found[0].handle.clone();
        assert!(collect_unsettled(&sessions, |handle| handle == push, is_closed).0.is_empty());
    }

    #[test]
    fn after_five_sessions_an_item_is_only_counted() {
        let after = |sessions: usize| {
            let mut all: Vec<SessionSummary> =
                (0..sessions).map(|at| gist(&at.to_string(), &[])).collect();
            all.push(gist("old", &[(Kind::Task, "Wire the cache")]));
            let (found, older) = collect_unsettled(&in_turn(all), |_| false, |_, _| false);
            (found.len(), older.len())
        };
        assert_eq!((after(4), after(5)), ((1, 0), (0, 1)));
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
