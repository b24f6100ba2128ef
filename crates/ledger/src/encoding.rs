//! Records as text: a list of CloudEvents.

use crate::{AppendError, RECORD_BYTES_MAX, StreamId};
use midstride_core::work::event::Envelope;
use serde_json::Value;

/// Encodes events as one record, or fails if they cannot be one. All engines share these limits.
pub fn encode_record(stream: &StreamId, events: &[Envelope]) -> Result<String, AppendError> {
    if events.is_empty() {
        return Err(AppendError::Empty);
    }
    let events: Vec<Value> =
        events.iter().map(|event| event.to_cloud_event(stream.as_str())).collect();
    let text = Value::Array(events).to_string();
    if text.len() > RECORD_BYTES_MAX { Err(AppendError::TooLarge(text.len())) } else { Ok(text) }
}

/// Decodes the events of a record. Nothing is dropped: what cannot be read is an unknown event, and so is
/// a record that is not a list.
pub fn decode_record(text: &str) -> Vec<Envelope> {
    match serde_json::from_str(text) {
        Ok(Value::Array(events)) => events.into_iter().map(Envelope::from_stored).collect(),
        Ok(other) => vec![Envelope::from_stored(other)],
        Err(_) => vec![Envelope::from_stored(Value::from(text))],
    }
}
