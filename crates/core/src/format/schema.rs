//! Generates the JSON Schema of the header from the field table that the parser uses.

use crate::format::header::HANDOFF;
use crate::format::shape::{FieldKind, FieldShape, Shape};
use crate::format::stage::Stages;
use serde_json::{Map, Value, json};

/// The `$id` of the schema.
const ID: &str = "https://midstride.dev/schema/handoff-1.json";

/// The JSON Schema of the front matter of a handoff.
pub fn schema(stages: &Stages) -> Value {
    let mut handoff = mapping_schema(&HANDOFF);
    handoff["properties"]["stage"]["examples"] = stages.names().collect();
    handoff["properties"]["id"]["pattern"] = json!("^[a-z0-9][a-z0-9._-]*$");
    handoff["required"] = json!(["id"]);
    handoff["type"] = json!("object");
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": ID,
        "title": "Handoff",
        "description": "The front matter of a handoff document.",
        "type": "object",
        "properties": { "handoff": handoff },
        "required": ["handoff"],
    })
}

fn mapping_schema(shape: &Shape) -> Value {
    let properties: Map<String, Value> =
        shape.fields.iter().map(|field| (field.name.to_owned(), property_schema(field))).collect();
    json!({ "type": ["object", "null"], "properties": properties })
}

fn property_schema(field: &FieldShape) -> Value {
    let mut value = kind_schema(&field.kind);
    value["description"] = json!(field.description);
    value
}

/// The schema of a field kind. It covers only the strict form; loose forms are accepted by the
/// parser but not recommended. Null is always allowed.
fn kind_schema(kind_: &FieldKind) -> Value {
    match kind_ {
        FieldKind::Text => json!({ "type": ["string", "null"] }),
        FieldKind::Time => json!({ "type": ["string", "null"], "format": "date-time" }),
        FieldKind::Flag => json!({ "type": ["boolean", "null"] }),
        FieldKind::Number => json!({ "type": ["number", "null"] }),
        FieldKind::Choice(choice) => {
            // YAML reads these two as booleans.
            let word = |word: &&str| match *word {
                "true" => json!(true),
                "false" => json!(false),
                word => json!(word),
            };
            let words = choice.words.iter().map(word).chain([Value::Null]);
            json!({ "enum": words.collect::<Vec<_>>() })
        }
        FieldKind::List(inner) => json!({ "type": ["array", "null"], "items": kind_schema(inner) }),
        FieldKind::Map(shape) => mapping_schema(shape),
        FieldKind::MapOf(inner) => {
            json!({ "type": ["object", "null"], "additionalProperties": kind_schema(inner) })
        }
        FieldKind::Any => json!({}),
    }
}
