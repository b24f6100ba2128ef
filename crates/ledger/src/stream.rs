//! The names of streams.

use midstride_core::text::id::{BlobHash, HandoffId, SessionId, TaskId, Uid};
use std::fmt;

/// The name of a stream, such as `handoff/<uid>`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(String);

impl StreamId {
    /// The stream of a handoff.
    pub fn handoff(uid: &Uid) -> Self {
        Self(format!("handoff/{uid}"))
    }

    /// The stream of a task.
    pub fn task(id: &TaskId) -> Self {
        Self(format!("{}{}", Self::TASKS, id.as_str()))
    }

    /// Name prefix of all task streams.
    pub const TASKS: &str = "task/";

    /// The stream of a stored text, by the text's id.
    pub fn text(hash: &BlobHash) -> Self {
        Self(format!("{}{hash}", Self::TEXTS))
    }

    /// Name prefix of all streams of stored texts.
    pub const TEXTS: &str = "text/";

    /// The stream of what other clones propose for a stored text.
    pub fn proposal(hash: &BlobHash) -> Self {
        Self(format!("{}{hash}", Self::PROPOSALS))
    }

    /// Name prefix of all streams of proposals.
    pub const PROPOSALS: &str = "proposed/text/";

    /// Whether this is the stream of what other clones propose for a stored text.
    pub fn is_proposal(&self) -> bool {
        self.0.starts_with(Self::PROPOSALS)
    }

    /// The stream of where a redacted text is stored now.
    pub fn redaction(hash: &BlobHash) -> Self {
        Self(format!("{}{hash}", Self::REDACTIONS))
    }

    /// Name prefix of all streams of redactions. They are not exchanged with other clones.
    pub const REDACTIONS: &str = "redacted/text/";

    /// The hash of the text, if this is the stream of a text or of a proposal about one.
    pub fn text_hash(&self) -> Option<BlobHash> {
        let name = self.0.strip_prefix(Self::TEXTS).or(self.0.strip_prefix(Self::PROPOSALS));
        BlobHash::parse(name?)
    }

    /// The stream of the user's standing instructions.
    pub fn instructions() -> Self {
        Self("instructions".to_owned())
    }

    /// The stream of the mission.
    pub fn mission() -> Self {
        Self("mission".to_owned())
    }

    /// The task id, if this is the stream of a task.
    pub fn task_id(&self) -> Option<TaskId> {
        TaskId::parse(self.0.strip_prefix(Self::TASKS)?)
    }

    /// The stream of a session.
    pub fn session(client: &str, id: &SessionId) -> Self {
        Self(format!("{}{client}/{id}", Self::SESSIONS))
    }

    /// Name prefix of all session streams.
    pub const SESSIONS: &str = "session/";

    /// The stream of what was delivered to a session and what the session picked up.
    pub fn deliveries(client: &str, session: &SessionId) -> Self {
        Self(format!("{}{client}/{session}", Self::DELIVERIES))
    }

    /// Name prefix of all delivery streams.
    pub const DELIVERIES: &str = "receipt/";

    /// The stream of a workflow.
    pub fn workflow(name: &HandoffId) -> Self {
        Self(format!("{}{name}", Self::WORKFLOWS))
    }

    /// Name prefix of all workflow streams.
    pub const WORKFLOWS: &str = "workflow/";

    /// A stream by its full name.
    pub fn from_name(name: &str) -> Self {
        Self(name.to_owned())
    }

    /// The name of the stream.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
