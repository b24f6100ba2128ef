//! What happens to a workflow: an agent writes down where it stands.

use super::family::EventFamily;
use serde::{Deserialize, Serialize};

/// What happened to a workflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind")]
pub enum WorkflowEvent {
    /// Its state was saved; the one before is history.
    #[serde(rename = "workflow.saved")]
    Saved {
        /// How the workflow is called.
        name: String,
        /// The state: the SHA-256 of its text.
        blob: String,
        /// How long that text is.
        bytes: u64,
        /// The client that runs the session, where it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        client: Option<String>,
        /// The session that saved it, where it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
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
