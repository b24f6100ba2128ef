//! What all event families share: a kind, a version and data.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The serde tag. The kind is stored next to the data, not in it.
const KIND: &str = "kind";

/// Events about one subject, distinguished by their kind: `task.added`.
pub(super) trait EventFamily: Serialize + DeserializeOwned {
    /// The part of the kind before the dot.
    const NAME: &'static str;
    /// The newest version of these events.
    const VERSION: u32;

    /// The kind of the event.
    fn kind(&self) -> &'static str;

    /// The data of the event.
    fn data(&self) -> Value {
        let mut data = serde_json::to_value(self).expect("texts are JSON");
        if let Some(fields) = data.as_object_mut() {
            fields.shift_remove(KIND);
        }
        data
    }

    /// Parses an event; `None` if the kind is of another family or newer, or the data does not
    /// match.
    fn parse(kind: &str, version: u32, data: &Value) -> Option<Self> {
        if kind.split('.').next() != Some(Self::NAME) || version > Self::VERSION {
            return None;
        }
        let mut fields = data.as_object()?.clone();
        fields.insert(KIND.to_owned(), kind.into());
        serde_json::from_value(Value::Object(fields)).ok()
    }
}
