//! Checks that the schema agrees with the parser, using an independent validator.

use midstride_core::format::document::Document;
use midstride_core::format::stage::Stages;
use midstride_core::text::yaml::{YamlNode, YamlStyle, YamlValue};
use midstride_testkit::{fixtures, markdown_below};
use serde_json::{Map, Value as Json, json};

/// The tree as any YAML parser would see it: unquoted booleans and numbers are not strings.
fn as_json(node: &YamlNode) -> Json {
    match &node.value {
        YamlValue::Null | YamlValue::Unreadable(_) => Json::Null,
        YamlValue::Text(text) if node.style == YamlStyle::Plain => match text.as_str() {
            "true" => json!(true),
            "false" => json!(false),
            text => match (text.parse::<i64>(), text.parse::<f64>()) {
                (Ok(number), _) => json!(number),
                (Err(_), Ok(number)) => json!(number),
                (Err(_), Err(_)) => json!(text),
            },
        },
        YamlValue::Text(text) => json!(text),
        YamlValue::List(items) => items.iter().map(|item| as_json(&item.node)).collect(),
        YamlValue::Map(entries) => {
            let entries = entries.iter().map(|e| (e.key.value.clone(), as_json(&e.node)));
            Json::Object(entries.collect::<Map<_, _>>())
        }
    }
}

#[test]
fn valid_documents_match_the_schema() {
    let schema = midstride_core::format::schema::schema(&Stages::shipped());
    let validator = jsonschema::validator_for(&schema).expect("the schema is a schema");
    let mut count = 0;
    for path in markdown_below(&fixtures("good")) {
        let document = Document::parse(&std::fs::read(&path).unwrap());
        let header = document.handoff_header().expect("a good document has a header");
        let json = as_json(&header.root);
        let errors: Vec<String> = validator
            .iter_errors(&json)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{}: {errors:?}", path.display());
        count += 1;
    }
    assert!(count >= 10, "there are {count} good documents");
}

#[test]
fn invalid_values_do_not_match_the_schema() {
    let schema = midstride_core::format::schema::schema(&Stages::shipped());
    let validator = jsonschema::validator_for(&schema).unwrap();
    for wrong in [
        json!({}),
        json!({ "handoff": {} }),
        json!({ "handoff": { "id": "Not A Slug" } }),
        json!({ "handoff": { "id": "a", "status": "DONE" } }),
        json!({ "handoff": { "id": "a", "to": "ops" } }),
        json!({ "handoff": { "id": "a", "open_questions": [{ "blocking": "yes" }] } }),
        json!({ "handoff": { "id": "a", "assumptions": [{ "confidence": "huge" }] } }),
    ] {
        assert!(!validator.is_valid(&wrong), "{wrong}");
    }
}
