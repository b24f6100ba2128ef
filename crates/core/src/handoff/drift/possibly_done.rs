//! Open handoffs that are perhaps done: nobody touched them for long, or commits went over them.

use crate::format::finding::{Code, Finding};
use crate::handoff::Handoff;
use crate::text::span::Span;
use jiff::Timestamp;

/// An open handoff that nobody touched for so many days is perhaps done.
pub const QUIET_DAYS: i64 = 30;
/// More commits than these are counted, not named.
const NAMED_COMMITS_MAX: usize = 3;

/// A commit that changed what a handoff cites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaterCommit {
    /// Its id.
    pub id: String,
    /// The first line of its message.
    pub subject: String,
}

/// An open handoff, which may be done.
#[derive(Clone, Copy, Debug)]
pub struct HandoffActivity {
    /// Where it says so.
    at: Span,
    /// When it was last changed.
    pub changed: Option<Timestamp>,
    quiet_days: Option<i64>,
}

impl HandoffActivity {
    /// `None` where a handoff has ended, or a note never had a status.
    pub fn for_open(handoff: &Handoff<'_>, now: Timestamp) -> Option<Self> {
        let changed = handoff.changed();
        let quiet_days = changed.and_then(|changed| changed.days_before(now));
        let at = handoff.node("status").map_or(Span::empty(0), |status| status.at);
        let is_open = handoff.has_status() && handoff.status().is_open();
        is_open.then_some(Self { at, changed: changed.map(|time| time.moment), quiet_days })
    }

    /// The finding that it is perhaps done, by what happened since it was last changed.
    pub fn possibly_done_finding(self, later: &[LaterCommit]) -> Option<Finding> {
        let quiet = self.quiet_days.filter(|days| *days >= QUIET_DAYS).map(describe_quiet_days);
        let overtaken = (!later.is_empty()).then(|| describe_later_commits(later));
        let told: Vec<String> = [quiet, overtaken].into_iter().flatten().collect();
        let message = format!("perhaps done: {}", told.join("; "));
        (!told.is_empty()).then(|| Finding::new(Code::MaybeDone, self.at, message))
    }
}

fn describe_quiet_days(days: i64) -> String {
    format!("untouched for {days} days")
}

fn describe_later_commits(later: &[LaterCommit]) -> String {
    let short = |id: &str| id.chars().take(8).collect::<String>();
    let named = later
        .iter()
        .take(NAMED_COMMITS_MAX)
        .map(|commit| format!("{} \"{}\"", short(&commit.id), commit.subject));
    let named = named.collect::<Vec<_>>().join(", ");
    match (later.len(), later.len().saturating_sub(NAMED_COMMITS_MAX)) {
        (1, _) => format!("a later commit changed what it cites: {named}"),
        (count, 0) => format!("{count} later commits changed what it cites: {named}"),
        (count, more) => {
            format!("{count} later commits changed what it cites: {named} and {more} more")
        }
    }
}
