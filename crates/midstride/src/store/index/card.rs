//! The index card of a document: the metadata that hits are filtered and sorted by.

use crate::workspace::{StoredHandoff, Workspace};
use midstride_core::format::header::{HandoffKind, Status};
use midstride_core::handoff::Handoff;
use midstride_core::text::id::SessionId;
use midstride_core::text::yaml::YamlNode;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The metadata of a document that hits are filtered and sorted by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexCard {
    /// Its status.
    pub status: Status,
    /// Its kind.
    pub kind: HandoffKind,
    /// Its stage.
    pub stage: Option<String>,
    /// When it last changed, in Unix seconds, if it says so.
    pub changed: Option<i64>,
    /// Who and what it is waiting for, if it is open.
    pub routing: Option<HandoffRouting>,
    /// References to the documents that it was made from.
    pub made_from: Vec<String>,
}

/// Who and what an open handoff is waiting for. This selects the few handoffs that a session is
/// briefed on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandoffRouting {
    /// Whether it is a note, which has no midstride header.
    #[serde(default)]
    pub is_note: bool,
    /// Who should pick it up.
    pub to: Vec<String>,
    /// The branch it was saved on, if it says so.
    pub branch: Option<String>,
    /// The session it was saved from, if it says so.
    pub session: Option<SessionId>,
}

impl HandoffRouting {
    fn from_handoff(handoff: &Handoff<'_>) -> Option<Self> {
        let text_at = |path| {
            let text = handoff.node(path).and_then(YamlNode::text);
            text.map(|text| text.value.trim().to_owned()).filter(|text| !text.is_empty())
        };
        handoff.is_open().then(|| Self {
            is_note: !handoff.is_handoff(),
            to: handoff.to().iter().map(|to| to.value.trim().to_owned()).collect(),
            branch: text_at("state.environment.branch"),
            session: text_at("state.recovery.session").map(SessionId::new),
        })
    }
}

impl IndexCard {
    /// Builds the card of a document.
    pub(crate) fn from_document(workspace: &Workspace, stored: &StoredHandoff) -> Self {
        let handoff = stored.handoff(workspace);
        Self {
            status: handoff.status(),
            kind: handoff.kind(),
            stage: handoff.stage().map(str::to_owned),
            changed: changed(&handoff),
            routing: HandoffRouting::from_handoff(&handoff),
            made_from: made_from(&handoff),
        }
    }
}

/// References to the documents that a handoff was made from. A stage builds on them instead.
fn made_from(handoff: &Handoff<'_>) -> Vec<String> {
    if !handoff.is_handoff() || !handoff.is_adopted() {
        return Vec::new();
    }
    let upstream = handoff.dependencies().upstream.into_iter();
    let made = upstream
        .filter(midstride_core::format::header::Dependency::is_origin)
        .filter_map(|one| one.artifact);
    made.map(|artifact| artifact.value.trim().to_owned()).collect()
}

/// When a document says it last changed; for a note, the date in its name also counts.
fn changed(handoff: &Handoff<'_>) -> Option<i64> {
    let stated = || handoff.stated_date().filter(|_| !handoff.is_handoff());
    let named = || handoff.time_from_name().filter(|_| !handoff.is_handoff());
    handoff.changed().or_else(stated).or_else(named).map(|time| time.moment.as_second())
}

/// What a hit must match in addition to the words.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Only this status.
    pub status: Option<Status>,
    /// Only this kind.
    pub kind: Option<HandoffKind>,
    /// Only this stage.
    pub stage: Option<String>,
    /// Only documents below this path, relative to the project root.
    pub below: Option<PathBuf>,
    /// Only documents changed at or after this second.
    pub since: Option<i64>,
    /// Only documents changed before this second, or without a time of change.
    pub until: Option<i64>,
}

impl Filter {
    /// Whether every document matches.
    pub fn is_empty(&self) -> bool {
        let Self { status, kind, stage, below, since, until } = self;
        let has_times = since.is_some() || until.is_some();
        let has_fields = status.is_some() || kind.is_some() || stage.is_some() || below.is_some();
        !has_fields && !has_times
    }

    /// Whether the document with this card and path matches.
    pub fn matches(&self, card: &IndexCard, path: impl FnOnce() -> PathBuf) -> bool {
        let below = |folder: &PathBuf| path().starts_with::<&Path>(folder);
        self.status.is_none_or(|status| card.status == status)
            && self.kind.is_none_or(|kind| card.kind == kind)
            && (self.stage.is_none() || self.stage == card.stage)
            && self.since.is_none_or(|since| card.changed.is_some_and(|at| at >= since))
            && self.until.is_none_or(|until| card.changed.is_none_or(|at| at < until))
            && self.below.as_ref().is_none_or(below)
    }
}
