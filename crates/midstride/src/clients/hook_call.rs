//! The parts of hook calls and answers that clients share. A call is read as its texts and flags;
//! other fields, and values of an unexpected type, are ignored.

use midstride_core::brief::BriefOccasion;
use midstride_core::brief::hook::{HookEvent, HookInput, HookOutput};
use midstride_core::text::id::{ClientName, SessionId};
use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::fmt;

/// The maximum number of fields. Each one costs more memory than its bytes.
const FIELDS_MAX: usize = 1_000;

/// The fields of a call, by name.
#[derive(Debug)]
pub struct HookFields(HashMap<String, HookField>);

impl HookFields {
    /// Parses a call.
    pub fn parse(bytes: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_str(&String::from_utf8_lossy(bytes))
    }

    /// A text field that is not blank.
    pub fn text(&self, name: &str) -> Option<String> {
        match self.0.get(name)? {
            HookField::Text(text) if !text.trim().is_empty() => Some(text.clone()),
            HookField::Text(_) | HookField::Flag(_) | HookField::Other => None,
        }
    }

    /// Whether a flag is set.
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.0.get(name), Some(HookField::Flag(true)))
    }
}

impl<'de> Deserialize<'de> for HookFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(HookFieldsVisitor)
    }
}

struct HookFieldsVisitor;

impl<'de> Visitor<'de> for HookFieldsVisitor {
    type Value = HookFields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<HookFields, A::Error> {
        let mut fields = HashMap::new();
        while let Some((name, field)) = map.next_entry()? {
            fields.insert(name, field);
            if fields.len() > FIELDS_MAX {
                return Err(A::Error::custom(format_args!("it has more than {FIELDS_MAX} fields")));
            }
        }
        Ok(HookFields(fields))
    }
}

#[derive(Debug)]
enum HookField {
    Text(String),
    Flag(bool),
    Other,
}

impl<'de> Deserialize<'de> for HookField {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(HookFieldVisitor)
    }
}

struct HookFieldVisitor;

impl<'de> Visitor<'de> for HookFieldVisitor {
    type Value = HookField;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_str<E>(self, text: &str) -> Result<HookField, E> {
        Ok(HookField::Text(text.to_owned()))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<HookField, E> {
        Ok(HookField::Flag(flag))
    }

    fn visit_i64<E>(self, _: i64) -> Result<HookField, E> {
        Ok(HookField::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<HookField, E> {
        Ok(HookField::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<HookField, E> {
        Ok(HookField::Other)
    }

    fn visit_unit<E>(self) -> Result<HookField, E> {
        Ok(HookField::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<HookField, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(HookField::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<HookField, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(HookField::Other)
    }
}

/// Builds a call from the fields every client sends. It is restricted unless the client says
/// otherwise.
pub(crate) fn build_call(
    client: ClientName,
    event: String,
    moment: HookEvent,
    fields: &HookFields,
) -> HookInput {
    HookInput {
        client,
        event,
        session: fields.text("session_id").map(SessionId::new),
        transcript: fields.text("transcript_path"),
        folder: fields.text("cwd"),
        agent: fields.text("agent_id"),
        turn: fields.text("prompt_id").or_else(|| fields.text("turn_id")),
        is_unrestricted: false,
        kind: moment,
    }
}

/// How a session starts. A forked session knows what the original knew.
pub(crate) fn parse_source(fields: &HookFields) -> BriefOccasion {
    match fields.text("source").as_deref() {
        Some("resume" | "fork") => BriefOccasion::Resume,
        Some("clear") => BriefOccasion::Clear,
        Some("compact") => BriefOccasion::Compact,
        Some(_) | None => BriefOccasion::Startup,
    }
}

pub(crate) fn parse_prompt(fields: &HookFields) -> HookEvent {
    fields.text("prompt").map_or(HookEvent::Other, HookEvent::Prompt)
}

/// Formats an answer as the JSON object that all clients take.
pub(crate) fn format_object(call: &HookInput, answer: &HookOutput) -> String {
    let mut object = Map::new();
    let mut put = |name: &str, value: Value| object.insert(name.to_owned(), value);
    if let Some(line) = &answer.user_line {
        put("systemMessage", json!(line));
    }
    if let Some(why) = &answer.block {
        put("decision", json!("block"));
        put("reason", json!(why));
    }
    if let Some(context) = &answer.context {
        let output = json!({ "hookEventName": call.event, "additionalContext": context });
        put("hookSpecificOutput", output);
    }
    if object.is_empty() { String::new() } else { format!("{}\n", Value::Object(object)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_an_unexpected_type_are_ignored() {
        let fields = HookFields::parse(
            br#"{"a": "x", "b": [1, {"c": 2}], "d": null, "e": -1.5, "f": true, "g": {"a": "y"},
                 "h": " ", "a": "z", "f2": "true"}"#,
        )
        .unwrap();
        assert_eq!(fields.text("a").as_deref(), Some("z"));
        let texts = ["b", "d", "e", "f", "g", "h", "none"].map(|name| fields.text(name));
        assert_eq!(texts, [const { None }; 7]);
        assert_eq!([fields.flag("f"), fields.flag("f2"), fields.flag("a")], [true, false, false]);
    }

    #[test]
    fn invalid_calls_are_reported() {
        let deep = "[".repeat(100_000);
        for text in ["", "[]", "{", "\"x\"", "{\"a\": \"\\ud800\"}", deep.as_str()] {
            assert!(HookFields::parse(text.as_bytes()).is_err(), "{text:.20}");
        }
        assert!(HookFields::parse(b"{\"a\": \"\xff\"}").is_ok());
    }

    #[test]
    fn the_number_of_fields_is_limited() {
        let call = |count: usize| {
            let fields: Vec<String> = (0..count).map(|at| format!("\"f{at}\": 1")).collect();
            HookFields::parse(format!("{{{}}}", fields.join(",")).as_bytes())
        };
        assert!(call(FIELDS_MAX).is_ok());
        let error = call(FIELDS_MAX + 1).unwrap_err().to_string();
        assert!(error.contains("it has more than 1000 fields"), "{error}");
    }
}
