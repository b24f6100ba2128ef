//! What happens to a session: it is captured, it is told of handoffs, it takes one over.

use super::family::EventFamily;
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
        /// How long the transcripts of its agents were; none: it was written down before they were
        /// counted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agents_bytes: Option<u64>,
        /// When the session began, as it is written.
        began: Option<String>,
        /// When its last record was written.
        ended: Option<String>,
        /// What the user asked first, in one line.
        about: Option<String>,
        /// The folder it worked in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        folder: Option<String>,
        /// What a briefing tells of the checkpoint: the SHA-256 of its text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gist: Option<String>,
        /// The branch that was checked out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
        /// Whether it did work worth a briefing; none: it was captured before that was looked at.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worked: Option<bool>,
        /// How many things it left open.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        open: Option<u64>,
        /// The folder below the top of the project that has every file it changed; none where that is
        /// the top, or it changed none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edited_below: Option<Box<str>>,
    },
    /// It was told what it has to know.
    #[serde(rename = "session.briefed")]
    Briefed {
        /// The client that runs it.
        client: String,
        /// Its id.
        session: String,
        /// What brought it about: `startup`, `resume`, `clear`, `compact`, `prompt`, `agent`.
        source: Option<String>,
        /// The handoffs that it was told of.
        handoffs: Vec<DeliveredHandoff>,
        /// The checkpoint that it was told of, by its digest.
        checkpoint: Option<String>,
        /// Tells two briefings apart: the SHA-256 of the text.
        digest: String,
        /// How many tokens that was.
        tokens: u64,
    },
    /// Something that it left open was dismissed.
    #[serde(rename = "session.dismissed")]
    Dismissed {
        /// The client that ran it.
        client: String,
        /// Its id.
        session: String,
        /// The handle of the item, as the briefing shows it.
        handle: String,
        /// Whether the item was not true.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        wrong: bool,
        /// The session whose agent settled it; none where the user did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by_session: Option<String>,
    },
    /// It took a handoff over.
    #[serde(rename = "session.acknowledged")]
    Acknowledged {
        /// The client that runs it.
        client: String,
        /// Its id.
        session: String,
        /// The handoff.
        handoff: DeliveredHandoff,
        /// What told so: `start`, `answer`, `resolve`, `get` where it read all of it, or
        /// `brief` where it was said in words.
        verb: String,
    },
}

/// A handoff as a session was told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveredHandoff {
    /// Its uid; none where it has none yet.
    pub uid: Option<String>,
    /// Its id, with its stage where it has one.
    pub id: String,
    /// The number of the text, as in `ID@2`.
    pub revision: Option<usize>,
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
