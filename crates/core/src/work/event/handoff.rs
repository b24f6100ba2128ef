//! What happens to a handoff. It is history: the state of a handoff is read from its file alone.

use super::family::EventFamily;
use serde::{Deserialize, Serialize};

/// What happened to a handoff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind")]
pub enum HandoffEvent {
    /// One of its revisions, as the document tells it.
    #[serde(rename = "handoff.revised")]
    Revised {
        /// The handoff.
        key: String,
        /// Where it lay.
        path: String,
        /// When, as it is written.
        at: Option<String>,
        /// Who.
        by: Option<String>,
        /// The verb that made it, as it is written.
        verb: Option<String>,
        /// Why.
        reason: Option<String>,
        /// The text it replaced.
        was: Option<String>,
    },
    /// It was written down.
    #[serde(rename = "handoff.captured")]
    Captured {
        /// The handoff.
        key: String,
        /// Where it lay.
        path: String,
    },
}

impl EventFamily for HandoffEvent {
    const NAME: &'static str = "handoff";
    const VERSION: u32 = 1;

    fn kind(&self) -> &'static str {
        match self {
            Self::Captured { .. } => "handoff.captured",
            Self::Revised { .. } => "handoff.revised",
        }
    }
}
