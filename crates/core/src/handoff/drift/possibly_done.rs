//! Finds open handoffs that are possibly done: untouched for a long time, or overtaken by commits.

use crate::format::finding::{Code, Finding};
use crate::handoff::Handoff;
use crate::text::id::CommitId;
use crate::text::span::Span;
use jiff::Timestamp;

/// Days without a change after which an open handoff is possibly done.
const QUIET_DAYS: i64 = 30;
/// How many commits a message names; the rest are only counted.
const NAMED_COMMITS_MAX: usize = 3;

/// A commit that changed files a handoff cites, after the handoff's last change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaterCommit {
    /// The commit id.
    pub id: CommitId,
    /// The first line of its message.
    pub subject: String,
}

/// How long an open handoff has been untouched.
#[derive(Clone, Copy, Debug)]
pub struct HandoffActivity {
    /// The span of its `status`.
    at: Span,
    /// When the handoff was last changed.
    pub changed: Option<Timestamp>,
    quiet_days: Option<i64>,
}

impl HandoffActivity {
    /// The activity of an open handoff; `None` if it is closed or has no status.
    pub fn for_open(handoff: &Handoff<'_>, now: Timestamp) -> Option<Self> {
        let changed = handoff.changed();
        let quiet_days = changed.and_then(|changed| changed.days_before(now));
        let at = handoff.node("status").map_or(Span::empty(0), |status| status.at);
        let is_open = handoff.has_status() && handoff.status().is_open();
        is_open.then_some(Self { at, changed: changed.map(|time| time.moment), quiet_days })
    }

    /// The finding that it is possibly done, based on what happened since its last change.
    pub fn possibly_done_finding(self, later: &[LaterCommit]) -> Option<Finding> {
        let quiet = self.quiet_days.filter(|days| *days >= QUIET_DAYS).map(describe_quiet_days);
        let overtaken = (!later.is_empty()).then(|| describe_later_commits(later));
        let reasons: Vec<String> = [quiet, overtaken].into_iter().flatten().collect();
        let message = format!("possibly done: {}", reasons.join("; "));
        (!reasons.is_empty()).then(|| Finding::new(Code::MaybeDone, self.at, message))
    }
}

fn describe_quiet_days(days: i64) -> String {
    format!("unchanged for {days} days")
}

fn describe_later_commits(later: &[LaterCommit]) -> String {
    let short = |id: &CommitId| id.as_str().chars().take(8).collect::<String>();
    let named = later
        .iter()
        .take(NAMED_COMMITS_MAX)
        .map(|commit| format!("{} \"{}\"", short(&commit.id), commit.subject));
    let named = named.collect::<Vec<_>>().join(", ");
    match (later.len(), later.len().saturating_sub(NAMED_COMMITS_MAX)) {
        (1, _) => format!("a later commit changed the cited code: {named}"),
        (count, 0) => format!("{count} later commits changed the cited code: {named}"),
        (count, more) => {
            format!("{count} later commits changed the cited code: {named} and {more} more")
        }
    }
}
