//! Events about standing instructions of the user, which outlive the session they were given in.

use super::family::EventFamily;
use crate::text::id::SessionId;
use serde::{Deserialize, Serialize};

/// An event about a standing instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind")]
#[non_exhaustive]
pub enum InstructionEvent {
    /// The user gave it in a session.
    #[serde(rename = "instruction.given")]
    Given {
        /// The id, derived from the session, the record and the text.
        id: String,
        /// The user's sentence.
        text: String,
        /// The branch it applies to; `None` for every branch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
        /// The client of the session.
        client: String,
        /// The session id.
        session: SessionId,
        /// The id of the transcript record with the prompt.
        record: String,
        /// Whether the prompt came from a script, as in `claude -p`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        headless: bool,
    },
    /// The user revoked it in a later prompt.
    #[serde(rename = "instruction.revoked")]
    Revoked {
        /// The instruction id.
        id: String,
        /// The session in which the user revoked it.
        session: SessionId,
        /// The id of the transcript record with the prompt.
        record: String,
    },
    /// The user dismissed it with a command.
    #[serde(rename = "instruction.dismissed")]
    Dismissed {
        /// The instruction id.
        id: String,
        /// Whether it was never an instruction in the first place.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        wrong: bool,
    },
}

impl InstructionEvent {
    /// The id of the instruction.
    pub fn id(&self) -> &str {
        match self {
            Self::Given { id, .. } | Self::Revoked { id, .. } | Self::Dismissed { id, .. } => id,
        }
    }
}

impl InstructionEvent {
    /// See [`super::Event::without_session`].
    pub(super) fn without_session(&self, client: &str, session: &SessionId) -> Option<Self> {
        match self {
            Self::Given { id, client: its, session: of, .. } if its == client && of == session => {
                Some(Self::Dismissed { id: id.clone(), wrong: false })
            }
            Self::Given { .. } | Self::Revoked { .. } | Self::Dismissed { .. } => None,
        }
    }
}

impl EventFamily for InstructionEvent {
    const NAME: &'static str = "instruction";
    const VERSION: u32 = 1;

    fn kind(&self) -> &'static str {
        match self {
            Self::Given { .. } => "instruction.given",
            Self::Revoked { .. } => "instruction.revoked",
            Self::Dismissed { .. } => "instruction.dismissed",
        }
    }
}
