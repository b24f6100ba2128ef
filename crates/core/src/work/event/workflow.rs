//! Events about workflows, whose state agents save under a name.

use super::family::EventFamily;
use crate::text::id::{BlobHash, SessionId};
use serde::{Deserialize, Serialize};

/// An event about a workflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind")]
#[non_exhaustive]
pub enum WorkflowEvent {
    /// Its state was saved. It replaces the previous state.
    #[serde(rename = "workflow.saved")]
    Saved {
        /// The name of the workflow.
        name: String,
        /// The SHA-256 of the state's text.
        blob: BlobHash,
        /// The size of that text in bytes.
        bytes: u64,
        /// The client that runs the session, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        client: Option<String>,
        /// The session that saved it, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
    },
}

impl EventFamily for WorkflowEvent {
    const NAME: &'static str = "workflow";
    const VERSION: u32 = 1;

    fn kind(&self) -> &'static str {
        match self {
            Self::Saved { .. } => "workflow.saved",
        }
    }
}
