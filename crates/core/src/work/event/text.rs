//! Events about stored texts. A forgotten or redacted text leaves this tombstone.

use super::family::EventFamily;
use crate::text::id::BlobHash;
use serde::{Deserialize, Serialize};

/// An event about a stored text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind")]
#[non_exhaustive]
pub enum TextEvent {
    /// The user deleted it permanently.
    #[serde(rename = "text.forgotten")]
    Forgotten {
        /// The id it was stored under.
        hash: BlobHash,
        /// What it was: `revision`, `checkpoint` or `blob`.
        what: String,
        /// The handoff or session it belonged to.
        of: Option<String>,
        /// Whether other clones may have it and should learn about this from `midstride sync`.
        #[serde(default)]
        shared: bool,
        /// Whether midstride's own references kept it, so that its object may be removed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        kept: bool,
        /// Why.
        reason: Option<String>,
    },
    /// Newer redaction rules found a secret in it. It was stored again without the secret, and its
    /// bytes were deleted.
    #[serde(rename = "text.redacted")]
    Redacted {
        /// The id it was stored under.
        hash: BlobHash,
        /// The id of the text without the secret.
        clean: BlobHash,
    },
}

impl EventFamily for TextEvent {
    const NAME: &'static str = "text";
    const VERSION: u32 = 1;

    fn kind(&self) -> &'static str {
        match self {
            Self::Forgotten { .. } => "text.forgotten",
            Self::Redacted { .. } => "text.redacted",
        }
    }
}
