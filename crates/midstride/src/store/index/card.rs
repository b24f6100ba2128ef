//! What hits are filtered and ordered by.

use crate::workspace::project::{Project, StoredHandoff};
use midstride_core::format::header::{HandoffKind, Status};
use midstride_core::handoff::Handoff;
use midstride_core::text::yaml::YamlNode;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What hits are filtered and ordered by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexCard {
    /// Its status.
    pub status: Status,
    /// Its kind.
    pub kind: HandoffKind,
    /// Its stage.
    pub stage: Option<String>,
    /// When it was last changed, in seconds, where it says so.
    pub changed: Option<i64>,
    /// Whom it waits for, if it is open.
    pub routing: Option<HandoffRouting>,
}

/// Whom and what an open handoff waits for: what the few are chosen by that a session is told of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandoffRouting {
    /// Whether it is a note, which has no header of ours.
    #[serde(default)]
    pub is_note: bool,
    /// Who takes it over.
    pub to: Vec<String>,
    /// The branch it was saved on, where it says so.
    pub branch: Option<String>,
    /// The session it was saved from, where it says so.
    pub session: Option<String>,
}

impl HandoffRouting {
    fn from_handoff(handoff: &Handoff<'_>) -> Option<Self> {
        let said = |path| {
            let text = handoff.node(path).and_then(YamlNode::text);
            text.map(|text| text.value.trim().to_owned()).filter(|text| !text.is_empty())
        };
        handoff.is_open().then(|| Self {
            is_note: !handoff.is_handoff(),
            to: handoff.to().iter().map(|to| to.value.trim().to_owned()).collect(),
            branch: said("state.environment.branch"),
            session: said("state.recovery.session"),
        })
    }
}

impl IndexCard {
    /// The card of a document.
    pub fn from_document(project: &Project, shelved: &StoredHandoff) -> Self {
        let handoff = shelved.handoff(project);
        Self {
            status: handoff.status(),
            kind: handoff.kind(),
            stage: handoff.stage().map(str::to_owned),
            changed: changed(&handoff),
            routing: HandoffRouting::from_handoff(&handoff),
        }
    }
}

/// When a document says it was last changed; the name of a note may say it too.
fn changed(handoff: &Handoff<'_>) -> Option<i64> {
    let named = || handoff.time_from_name().filter(|_| !handoff.is_handoff());
    handoff.changed().or_else(named).map(|time| time.moment.as_second())
}

/// What hits have to be, besides having the words.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Only this status.
    pub status: Option<Status>,
    /// Only this kind.
    pub kind: Option<HandoffKind>,
    /// Only this stage.
    pub stage: Option<String>,
    /// Only what lies below this path, as it counts from the root of the project.
    pub below: Option<PathBuf>,
    /// Only what was changed at or after this second.
    pub since: Option<i64>,
    /// Only what was changed before this second, or does not say when.
    pub until: Option<i64>,
}

impl Filter {
    /// Whether a document at a path is wanted.
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
