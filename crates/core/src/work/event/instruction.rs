//! What happens to a standing instruction of the user. It is apart from its session and outlives it.

use super::family::EventFamily;
use serde::{Deserialize, Serialize};

/// What happened to a standing instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind")]
pub enum InstructionEvent {
    /// The user gave it in a session.
    #[serde(rename = "instruction.given")]
    Given {
        /// Its id, made from the session, the record and the text.
        id: String,
        /// The user's sentence.
        text: String,
        /// The branch on which it holds; on every one where none was known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
        /// The client of the session.
        client: String,
        /// The session.
        session: String,
        /// The record of the prompt.
        record: String,
        /// Whether the prompt came from a script, as in `claude -p`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        headless: bool,
    },
    /// The user took it back in a later prompt.
    #[serde(rename = "instruction.revoked")]
    Revoked {
        /// Its id.
        id: String,
        /// The session in which they did.
        session: String,
        /// The record of the prompt.
        record: String,
    },
    /// The user closed it with a command.
    #[serde(rename = "instruction.dismissed")]
    Dismissed {
        /// Its id.
        id: String,
        /// Whether it never was an instruction.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        wrong: bool,
    },
}

impl InstructionEvent {
    /// The instruction it is about.
    pub fn id(&self) -> &str {
        match self {
            Self::Given { id, .. } | Self::Revoked { id, .. } | Self::Dismissed { id, .. } => id,
        }
    }
}

impl InstructionEvent {
    /// See [`super::Event::without_session`].
    pub(super) fn without_session(&self, client: &str, session: &str) -> Option<Self> {
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
