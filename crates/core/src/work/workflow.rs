//! Workflows: states that agents save under a name, with their history.

use crate::text::id::{BlobHash, SessionId};
use crate::work::event::{Envelope, Event, WorkflowEvent};
use jiff::Timestamp;
use serde_json::{Map, Value};

/// One saved state of a workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkflowState {
    /// The name of the workflow.
    pub name: String,
    /// When it was saved.
    pub at: Timestamp,
    /// Who saved it.
    pub by: String,
    /// The SHA-256 of its text.
    pub blob: BlobHash,
    /// The size of that text in bytes.
    pub bytes: u64,
    /// The client and session that saved it, if known.
    pub session: Option<(String, SessionId)>,
}

/// Every saved state, oldest first. The last one counts.
pub fn history<'e>(events: impl IntoIterator<Item = &'e Envelope>) -> Vec<WorkflowState> {
    events.into_iter().filter_map(state_from_event).collect()
}

fn state_from_event(envelope: &Envelope) -> Option<WorkflowState> {
    let Event::Workflow(WorkflowEvent::Saved { name, blob, bytes, client, session }) =
        &envelope.event
    else {
        return None;
    };
    Some(WorkflowState {
        name: name.clone(),
        at: envelope.time,
        by: envelope.source.clone(),
        blob: blob.clone(),
        bytes: *bytes,
        session: client.clone().zip(session.clone()),
    })
}

/// Applies a JSON merge patch (RFC 7396): null removes a key, objects merge key by key, and
/// everything else is replaced.
#[must_use]
pub fn apply_merge_patch(state: Value, patch: &Value) -> Value {
    let Value::Object(changes) = patch else { return patch.clone() };
    let mut fields = match state {
        Value::Object(fields) => fields,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    };
    for (key, change) in changes {
        if change.is_null() {
            fields.shift_remove(key);
        } else {
            let before = fields.get_mut(key).map(Value::take).unwrap_or_default();
            fields.insert(key.clone(), apply_merge_patch(before, change));
        }
    }
    Value::Object(fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn merge_patches_follow_rfc_7396() {
        let cases = [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
            (json!({"a": "b"}), json!({"a": null}), json!({})),
            (json!({"a": "b", "b": "c"}), json!({"a": null}), json!({"b": "c"})),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (
                json!({"a": {"b": "c"}}),
                json!({"a": {"b": "d", "c": null}}),
                json!({"a": {"b": "d"}}),
            ),
            (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
            (json!(["a", "b"]), json!({"a": "b"}), json!({"a": "b"})),
            (json!({}), json!({"a": {"bb": {"ccc": null}}}), json!({"a": {"bb": {}}})),
        ];
        for (state, patch, after) in cases {
            assert_eq!(apply_merge_patch(state.clone(), &patch), after, "{state} with {patch}");
        }
    }
}
