//! What happens to a text that was kept: it is forgotten, and this is its tombstone.

use super::family::EventFamily;
use serde::{Deserialize, Serialize};

/// What happened to a kept text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind")]
pub enum TextEvent {
    /// Somebody had it removed for good.
    #[serde(rename = "text.forgotten")]
    Forgotten {
        /// The id by which it was kept.
        hash: String,
        /// What it was: `revision`, `checkpoint`, `blob`.
        what: String,
        /// Of which handoff or session.
        of: Option<String>,
        /// Whether others may have it too, and learn of it by `midstride sync`.
        #[serde(default)]
        shared: bool,
        /// Why.
        reason: Option<String>,
    },
}

impl EventFamily for TextEvent {
    const NAME: &'static str = "text";
    const VERSION: u32 = 1;

    fn kind(&self) -> &'static str {
        match self {
            Self::Forgotten { .. } => "text.forgotten",
        }
    }
}
