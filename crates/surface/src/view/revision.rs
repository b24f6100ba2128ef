//! Renders one revision of a handoff.

use crate::json::JsonAnswer;
use midstride::workspace::{StoredHandoff, Workspace};
use midstride_core::text::time::{self, Time};
use midstride_core::text::yaml::YamlNode;
use serde::Serialize;

/// The text of one revision of a handoff.
#[derive(Serialize)]
pub struct RevisionJson {
    key: String,
    revision: usize,
    at: Option<String>,
    by: Option<String>,
    /// The reason for the revision; the first revision has none.
    reason: Option<String>,
    text: String,
}

impl JsonAnswer for RevisionJson {
    const SCHEMA: &'static str = "revision/1";
}

/// Renders a revision. `now` is the current handoff, whose history describes every revision.
pub fn json(
    workspace: &Workspace,
    now: &StoredHandoff,
    revision: usize,
    text: &[u8],
) -> RevisionJson {
    let handoff = now.handoff(workspace);
    let entries = handoff.revision_nodes();
    let made = revision.checked_sub(2).and_then(|index| entries.get(index));
    let field = |key: &str| {
        let text = made.and_then(|entry| entry.get(key)).and_then(YamlNode::text);
        text.map(|text| text.value.trim().to_owned())
    };
    let written = |time: Time| time::format_time(time.moment);
    let (at, by) = match made {
        Some(_) => (field("at").map(|at| Time::parse(&at).map_or(at, written)), field("by")),
        None => (handoff.created().map(written), handoff.from().map(str::to_owned)),
    };
    RevisionJson {
        key: handoff.key().to_string(),
        revision,
        at,
        by,
        reason: field("reason"),
        text: String::from_utf8_lossy(text).into_owned(),
    }
}
