//! Events about handoffs. They are history only: the state of a handoff comes from its file.

use super::family::EventFamily;
use crate::text::id::BlobHash;
use serde::{Deserialize, Serialize};

/// An event about a handoff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind")]
#[non_exhaustive]
pub enum HandoffEvent {
    /// A revision was recorded, as written in the document.
    #[serde(rename = "handoff.revised")]
    Revised {
        /// The key of the handoff.
        key: String,
        /// The path of its file at that time.
        path: String,
        /// When, as written.
        at: Option<String>,
        /// Who.
        by: Option<String>,
        /// The verb that made it, as written.
        verb: Option<String>,
        /// Why.
        reason: Option<String>,
        /// The id of the text it replaced.
        was: Option<BlobHash>,
    },
    /// The handoff was captured.
    #[serde(rename = "handoff.captured")]
    Captured {
        /// The key of the handoff.
        key: String,
        /// The path of its file at that time.
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
