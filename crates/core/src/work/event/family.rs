//! What all families of events have in common: a kind beside the data, and a version.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The kind stands beside the data, not in it.
const KIND: &str = "kind";

/// Events about one sort of thing, told apart by their kind: `task.added`.
pub(super) trait EventFamily: Serialize + DeserializeOwned {
    /// What their kinds begin with, up to the dot.
    const NAME: &'static str;
    /// The newest version of these events.
    const VERSION: u32;

    /// What sort of event.
    fn kind(&self) -> &'static str;

    /// What belongs to it.
    fn data(&self) -> Value {
        let mut data = serde_json::to_value(self).expect("texts are JSON");
        if let Some(fields) = data.as_object_mut() {
            fields.shift_remove(KIND);
        }
        data
    }

    /// `None` where the kind is not one of these, is newer, or the data does not fit it.
    fn parse(kind: &str, version: u32, data: &Value) -> Option<Self> {
        if kind.split('.').next() != Some(Self::NAME) || version > Self::VERSION {
            return None;
        }
        let mut fields = data.as_object()?.clone();
        fields.insert(KIND.to_owned(), kind.into());
        serde_json::from_value(Value::Object(fields)).ok()
    }
}
