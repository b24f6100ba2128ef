//! Judgement as JSON, for programs and models.

use super::{Answer, Judgement, NoJudgement, Reflection, sentence};
use crate::format::header::BootKind;
use crate::text::id::nearest;
use crate::text::yaml::Data;
use serde_json::Value;

/// Every key, in the order in which they are told.
const KEYS: [&str; 20] = [
    "id",
    "title",
    "description",
    "summary",
    "decisions",
    "wrong_turns",
    "landmines",
    "questions",
    "blocking_questions",
    "assumptions",
    "next",
    "skills",
    "read",
    "tasks",
    "constraints",
    "role",
    "pattern",
    "waiting_for",
    "reflection",
    "body",
];
/// The keys of `reflection`.
const REFLECTION: [&str; 2] = ["inherit", "finds_plans"];

/// Why JSON is no judgement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// A key that has no meaning.
    #[error("there is no key `{key}`")]
    UnknownKey {
        /// The key.
        key: String,
        /// What may have been meant.
        nearest: Option<&'static str>,
        /// Every key there is.
        known: &'static [&'static str],
    },
    /// A value of another kind than its key takes.
    #[error("`{key}` is {wanted}")]
    WrongKind {
        /// The key.
        key: String,
        /// What it takes.
        wanted: &'static str,
    },
}

pub(super) fn read(text: &str) -> Result<Judgement, NoJudgement> {
    let value: Value =
        serde_json::from_str(text).map_err(|error| NoJudgement::Syntax(error.to_string()))?;
    let Value::Object(map) = value else { return Err(NoJudgement::Empty) };
    let mut judgement = Judgement::default();
    for (key, value) in map.iter().filter(|(_, value)| !value.is_null()) {
        judgement = take(judgement, key, value)?;
    }
    if judgement.is_empty() { Err(NoJudgement::Empty) } else { Ok(judgement) }
}

fn take(mut judgement: Judgement, key: &str, value: &Value) -> Result<Judgement, JsonError> {
    match key {
        "id" => judgement.id = Some(text(key, value)?),
        "title" => judgement.title = Some(text(key, value)?),
        "summary" => judgement.summary = Some(text(key, value)?),
        "description" => judgement.fields.push((key.to_owned(), Data::Text(text(key, value)?))),
        "role" => judgement.role = Some(text(key, value)?),
        "pattern" => judgement.pattern = Some(text(key, value)?),
        "waiting_for" => judgement.waiting_for = Some(text(key, value)?),
        "body" => judgement.body = Some(text(key, value)?),
        "next" => judgement.next = texts(key, value)?,
        "skills" => boot(&mut judgement, BootKind::Skill, key, value)?,
        "read" => boot(&mut judgement, BootKind::Read, key, value)?,
        "tasks" => boot(&mut judgement, BootKind::Task, key, value)?,
        "constraints" => boot(&mut judgement, BootKind::Constraint, key, value)?,
        "decisions" => entries(&mut judgement, "decisions_made", key, value, &sentence::decision)?,
        "wrong_turns" => entries(&mut judgement, "wrong_turns", key, value, &sentence::wrong_turn)?,
        "landmines" => {
            let landmines = texts(key, value)?;
            judgement = landmines.iter().fold(judgement, |all, one| all.warns(one));
        }
        "questions" => entries(&mut judgement, "open_questions", key, value, &question)?,
        "blocking_questions" => {
            let questions = texts(key, value)?;
            judgement = questions.iter().fold(judgement, |all, one| all.asks(one, true));
        }
        "assumptions" => entries(&mut judgement, "assumptions", key, value, &assumption)?,
        "reflection" => judgement.reflection = reflection(key, value)?,
        _ => return Err(unknown(key, &KEYS)),
    }
    Ok(judgement)
}

fn unknown(key: &str, known: &'static [&'static str]) -> JsonError {
    let nearest = nearest(key, known.iter().copied());
    JsonError::UnknownKey { key: key.to_owned(), nearest, known }
}

fn wrong(key: &str, wanted: &'static str) -> JsonError {
    JsonError::WrongKind { key: key.to_owned(), wanted }
}

fn text(key: &str, value: &Value) -> Result<String, JsonError> {
    let text = value.as_str().map(str::trim).filter(|text| !text.is_empty());
    text.map(str::to_owned).ok_or_else(|| wrong(key, "a text that says something"))
}

/// A list of texts; one text counts as a list of one.
fn texts(key: &str, value: &Value) -> Result<Vec<String>, JsonError> {
    match value {
        Value::Array(items) => items.iter().map(|item| text(key, item)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            Ok(vec![text(key, value)?])
        }
    }
}

fn boot(
    judgement: &mut Judgement,
    kind: BootKind,
    key: &str,
    value: &Value,
) -> Result<(), JsonError> {
    judgement.boot.extend(texts(key, value)?.iter().map(|text| (kind, kind.written(text))));
    Ok(())
}

fn question(text: &str) -> Data {
    Data::map([("question", Data::text(text))])
}

fn assumption(text: &str) -> Data {
    Data::map([("assumption", Data::text(text))])
}

/// A list of entries: sentences, or mappings with the keys of the header.
fn entries(
    judgement: &mut Judgement,
    field: &str,
    key: &str,
    value: &Value,
    said: &dyn Fn(&str) -> Data,
) -> Result<(), JsonError> {
    let one = std::slice::from_ref(value);
    for item in value.as_array().map_or(one, Vec::as_slice) {
        let entry = match item {
            Value::String(text) if !text.trim().is_empty() => said(text),
            Value::Object(map) if !map.is_empty() => data(item),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_) => {
                return Err(wrong(key, "a list of texts, or of mappings as in the header"));
            }
        };
        judgement.entries.push((field.to_owned(), entry));
    }
    Ok(())
}

fn data(value: &Value) -> Data {
    match value {
        Value::Null => Data::Null,
        Value::Bool(flag) => Data::flag(*flag),
        Value::Number(number) => Data::Bare(number.to_string()),
        Value::String(text) => Data::text(text),
        Value::Array(items) => Data::List(items.iter().map(data).collect()),
        Value::Object(map) => Data::map(map.iter().map(|(key, value)| (key, data(value)))),
    }
}

fn reflection(key: &str, value: &Value) -> Result<Reflection, JsonError> {
    let Value::Object(map) = value else { return Err(wrong(key, "a mapping of answers")) };
    let mut reflection = Reflection::default();
    for (key, value) in map {
        let plain = value.as_bool().map(|yes| Answer { yes, why: None });
        let answer = plain.or_else(|| value.as_str().and_then(Answer::read));
        let answer = answer.ok_or_else(|| wrong(key, "yes or no, and why"))?;
        match key.as_str() {
            "inherit" => reflection.inherit = Some(answer),
            "finds_plans" => reflection.finds_plans = Some(answer),
            _ => return Err(unknown(key, &REFLECTION)),
        }
    }
    Ok(reflection)
}
