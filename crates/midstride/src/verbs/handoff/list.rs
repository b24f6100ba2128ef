//! Lists handoffs: which ones, and in which order.

use crate::sys::files::FileError;
use crate::workspace::{DocumentSelection, FindError, StoredHandoff, Workspace};
use midstride_core::format::header::{HandoffKind, Question, Status};
use midstride_core::handoff::Handoff;
use std::cmp::Reverse;
use std::path::PathBuf;

/// Which handoffs to list. By default, the open ones.
#[derive(Clone, Debug, Default)]
pub struct ListFilter {
    /// Whether closed ones are listed too. A status decides by itself.
    pub includes_closed: bool,
    /// Only this status.
    pub status: Option<Status>,
    /// Only this kind.
    pub kind: Option<HandoffKind>,
    /// Only this stage.
    pub stage: Option<String>,
    /// Only those that are addressed to this user or agent, or wait for an answer of theirs.
    pub owner: Option<String>,
    /// Only those with a blocking question.
    pub is_blocked: bool,
    /// Only those below this path from the root.
    pub below: Option<PathBuf>,
}

/// The listed handoffs.
#[derive(Debug)]
pub struct HandoffListing {
    /// The handoffs: those in progress first, then the last changed.
    pub handoffs: Vec<StoredHandoff>,
    /// How many match but are closed, and are not listed.
    pub hidden: usize,
    /// How many documents were read.
    pub documents: usize,
    /// The files that could not be read.
    pub unread: Vec<FileError>,
}

/// Lists the handoffs of a project that match a filter.
pub fn list(workspace: &Workspace, filter: &ListFilter) -> Result<HandoffListing, FindError> {
    let DocumentSelection { documents: read, unread } = workspace.select(&[])?;
    let documents = read.len();
    let matching = read.into_iter().filter(|stored| filter.matches(workspace, stored));
    let includes_closed = filter.includes_closed || filter.status.is_some();
    let is_open = |stored: &StoredHandoff| stored.handoff(workspace).status().is_open();
    let (mut handoffs, hidden): (Vec<_>, Vec<_>) =
        matching.partition(|stored| includes_closed || is_open(stored));
    handoffs.sort_by_cached_key(|stored| {
        let handoff = stored.handoff(workspace);
        let rank = match handoff.status() {
            Status::InProgress => 0,
            Status::Planned => 1,
            Status::Resolved | Status::Superseded | Status::Abandoned => 2,
        };
        let changed = handoff.changed().map(|time| Reverse(time.moment));
        (rank, changed.is_none(), changed, handoff.key())
    });
    Ok(HandoffListing { handoffs, hidden: hidden.len(), documents, unread })
}

impl ListFilter {
    fn matches(&self, workspace: &Workspace, stored: &StoredHandoff) -> bool {
        let handoff = stored.handoff(workspace);
        self.status.is_none_or(|status| handoff.status() == status)
            && self.kind.is_none_or(|kind| handoff.kind() == kind)
            && self.stage.as_deref().is_none_or(|stage| handoff.stage() == Some(stage))
            && self.owner.as_deref().is_none_or(|owner| concerns(&handoff, owner))
            && (!self.is_blocked || handoff.questions().iter().any(Question::blocks))
            && self.below.as_ref().is_none_or(|below| stored.path.starts_with(below))
    }
}

/// Whether a handoff is addressed to a user or an agent, or waits for an answer of theirs.
fn concerns(handoff: &Handoff<'_>, owner: &str) -> bool {
    let is_asked = |question: &Question<'_>| {
        question.answer.is_none() && question.owner.is_some_and(|asked| asked.value == owner)
    };
    handoff.to().iter().any(|to| to.value == owner) || handoff.questions().iter().any(is_asked)
}
