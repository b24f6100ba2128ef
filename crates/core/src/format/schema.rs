//! The JSON Schema of the header, made from the table that reads it.

use crate::format::header::HANDOFF;
use crate::format::shape::{Field, Kind, Shape};
use crate::format::stage::Stages;
use serde_json::{Map, Value, json};

/// Where the schema says it lives.
const ID: &str = "https://midstride.dev/schema/handoff-1.json";

/// The schema of the front matter of a handoff.
pub fn schema(stages: &Stages) -> Value {
    let mut handoff = mapping(&HANDOFF);
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

fn mapping(shape: &Shape) -> Value {
    let properties: Map<String, Value> =
        shape.fields.iter().map(|field| (field.name.to_owned(), property(field))).collect();
    json!({ "type": ["object", "null"], "properties": properties })
}

fn property(field: &Field) -> Value {
    let mut value = kind(&field.kind);
    value["description"] = json!(field.about);
    value
}

/// The strict form only: the loose ones are read, not recommended. Nothing said is always allowed.
fn kind(kind_: &Kind) -> Value {
    match kind_ {
        Kind::Text => json!({ "type": ["string", "null"] }),
        Kind::Time => json!({ "type": ["string", "null"], "format": "date-time" }),
        Kind::Flag => json!({ "type": ["boolean", "null"] }),
        Kind::Number => json!({ "type": ["number", "null"] }),
        Kind::Choice(choice) => {
            // YAML reads these two as booleans.
            let word = |word: &&str| match *word {
                "true" => json!(true),
                "false" => json!(false),
                word => json!(word),
            };
            let words = choice.words.iter().map(word).chain([Value::Null]);
            json!({ "enum": words.collect::<Vec<_>>() })
        }
        Kind::List(inner) => json!({ "type": ["array", "null"], "items": kind(inner) }),
        Kind::Map(shape) => mapping(shape),
        Kind::Each(inner) => {
            json!({ "type": ["object", "null"], "additionalProperties": kind(inner) })
        }
        Kind::Any => json!({}),
    }
}
