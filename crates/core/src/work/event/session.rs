//! Events about sessions: checkpoints, briefings, dismissed items and acknowledged handoffs.

use super::family::EventFamily;
use crate::text::id::{BlobHash, SessionId, Uid};
use serde::{Deserialize, Serialize};

/// An event about a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind")]
#[non_exhaustive]
pub enum SessionEvent {
    /// A checkpoint of its work was saved.
    #[serde(rename = "session.checkpointed")]
    Checkpointed {
        /// The client that ran it.
        client: String,
        /// The session id.
        session: SessionId,
        /// The last transcript record in the checkpoint.
        last_record: Option<String>,
        /// Distinguishes two checkpoints.
        digest: String,
        /// The SHA-256 of the checkpoint's text.
        blob: BlobHash,
        /// What triggered it.
        mode: String,
        /// The number of transcript bytes it covers.
        bytes: u64,
        /// The total size of its agents' transcripts; `None` in checkpoints from before this was
        /// counted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agents_bytes: Option<u64>,
        /// When the session began, as written.
        began: Option<String>,
        /// When its last record was written.
        ended: Option<String>,
        /// The user's first request, in one line.
        about: Option<String>,
        /// The folder it worked in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        folder: Option<String>,
        /// The SHA-256 of the checkpoint's summary, which goes into briefings.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gist: Option<BlobHash>,
        /// The branch that was checked out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
        /// Whether it did work worth a briefing; `None` in checkpoints from before this was
        /// checked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worked: Option<bool>,
        /// The number of items it left open.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        open: Option<u64>,
        /// The deepest folder that contains every file it changed; `None` if that is the project
        /// root or if it changed no files.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edited_below: Option<Box<str>>,
    },
    /// It was briefed.
    #[serde(rename = "session.briefed")]
    Briefed {
        /// The client that runs it.
        client: String,
        /// The session id.
        session: SessionId,
        /// What triggered it: `startup`, `resume`, `clear`, `compact`, `prompt` or `agent`.
        source: Option<String>,
        /// The handoffs in the briefing.
        handoffs: Vec<DeliveredHandoff>,
        /// The digest of the checkpoint in the briefing.
        checkpoint: Option<String>,
        /// The SHA-256 of the text. Distinguishes two briefings.
        digest: String,
        /// The size of the briefing in tokens.
        tokens: u64,
    },
    /// An item that it left open was dismissed.
    #[serde(rename = "session.dismissed")]
    Dismissed {
        /// The client that ran it.
        client: String,
        /// The session id.
        session: SessionId,
        /// The handle of the item, as shown in the briefing.
        handle: String,
        /// Whether the item was wrong.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        wrong: bool,
        /// The session whose agent dismissed it; `None` if the user did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by_session: Option<SessionId>,
    },
    /// It picked up a handoff.
    #[serde(rename = "session.acknowledged")]
    Acknowledged {
        /// The client that runs it.
        client: String,
        /// The session id.
        session: SessionId,
        /// The handoff.
        handoff: DeliveredHandoff,
        /// What showed it: `start`, `answer`, `resolve`, `get` if it read the whole handoff, or
        /// `brief` if the handoff was named in words.
        verb: String,
    },
}

/// A handoff as it was delivered to a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveredHandoff {
    /// The uid, if it has one.
    pub uid: Option<Uid>,
    /// The id, with the stage if it has one.
    pub id: String,
    /// The revision, as in `ID@2`.
    pub revision: Option<usize>,
}

impl SessionEvent {
    /// The client that ran the session.
    pub fn client(&self) -> &str {
        match self {
            Self::Checkpointed { client, .. }
            | Self::Briefed { client, .. }
            | Self::Dismissed { client, .. }
            | Self::Acknowledged { client, .. } => client,
        }
    }
}

impl EventFamily for SessionEvent {
    const NAME: &'static str = "session";
    const VERSION: u32 = 1;

    fn kind(&self) -> &'static str {
        match self {
            Self::Checkpointed { .. } => "session.checkpointed",
            Self::Briefed { .. } => "session.briefed",
            Self::Dismissed { .. } => "session.dismissed",
            Self::Acknowledged { .. } => "session.acknowledged",
        }
    }
}
