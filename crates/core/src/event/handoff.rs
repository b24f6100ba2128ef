//! What happens to a handoff. It is history: the state of a handoff is read from its file alone.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What happened to a handoff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind")]
pub enum HandoffEvent {
    /// One of its revisions, as the document tells it.
    #[serde(rename = "handoff.revised")]
    Revised {
        /// The handoff.
        key: String,
        /// Where it lay.
        path: String,
        /// When, as it is written.
        at: Option<String>,
        /// Who.
        by: Option<String>,
        /// The verb that made it, as it is written.
        verb: Option<String>,
        /// Why.
        reason: Option<String>,
        /// The text it replaced.
        was: Option<String>,
    },
    /// It was written down.
    #[serde(rename = "handoff.captured")]
    Captured {
        /// The handoff.
        key: String,
        /// Where it lay.
        path: String,
    },
}

impl HandoffEvent {
    /// The newest version of these events.
    pub(super) const VERSION: u32 = 1;

    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Captured { .. } => "handoff.captured",
            Self::Revised { .. } => "handoff.revised",
        }
    }

    pub(super) fn data(&self) -> Value {
        let mut data = serde_json::to_value(self).expect("texts are JSON");
        if let Some(fields) = data.as_object_mut() {
            fields.shift_remove(KIND);
        }
        data
    }

    /// `None` where the kind is not one of these, or the data does not fit it.
    pub(super) fn read(kind: &str, data: &Value) -> Option<Self> {
        let mut fields = data.as_object()?.clone();
        fields.insert(KIND.to_owned(), kind.into());
        serde_json::from_value(Value::Object(fields)).ok()
    }
}

/// The kind stands beside the data, not in it.
const KIND: &str = "kind";
