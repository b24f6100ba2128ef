//! The `state.recovery` field: the session that a handoff was recovered from.

use super::{FromYaml, text_of_key};
use crate::text::id::{BlobHash, SessionId};
use crate::text::yaml::YamlNode;

/// A session and its checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// The client that ran the session.
    pub client: Option<String>,
    /// The session id.
    pub session: Option<SessionId>,
    /// The SHA-256 of the checkpoint.
    pub checkpoint: BlobHash,
}

impl<'d> FromYaml<'d> for Recovery {
    fn read(node: &'d YamlNode) -> Option<Self> {
        let text =
            |key| text_of_key(node, key, "checkpoint").map(|text| text.value.trim().to_owned());
        let checkpoint = BlobHash::new(text("checkpoint")?);
        Some(Self {
            client: text("client"),
            session: text("session").map(SessionId::new),
            checkpoint,
        })
    }
}
