//! What happens to a session: it was captured.

use super::family::Family;
use serde::{Deserialize, Serialize};

/// What happened to a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind")]
pub enum SessionEvent {
    /// What it did was written down.
    #[serde(rename = "session.checkpointed")]
    Checkpointed {
        /// The client that ran it.
        client: String,
        /// Its id.
        session: String,
        /// The last record that is in the checkpoint.
        last_record: Option<String>,
        /// Tells two checkpoints apart.
        digest: String,
        /// The checkpoint: the SHA-256 of its text.
        blob: String,
        /// What brought it about.
        mode: String,
        /// Bytes of the transcript that are in it.
        bytes: u64,
        /// When the session began, as it is written.
        began: Option<String>,
        /// When its last record was written.
        ended: Option<String>,
        /// What the user asked first, in one line.
        about: Option<String>,
    },
}

impl Family for SessionEvent {
    const NAME: &'static str = "session";
    const VERSION: u32 = 1;

    fn kind(&self) -> &'static str {
        match self {
            Self::Checkpointed { .. } => "session.checkpointed",
        }
    }
}
