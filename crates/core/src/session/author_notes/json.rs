//! Parses author notes from JSON, for programs and models.

use super::{AuthorNotes, AuthorNotesError, Reflection, ReflectionAnswer, sentence};
use crate::format::header::StartupKind;
use crate::text::id::nearest_match;
use crate::text::yaml::YamlData;
use serde_json::Value;

/// Every key, in the order in which errors list them.
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

/// Why JSON is not valid as author notes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotesJsonError {
    /// An unknown key.
    #[error("unknown key `{key}`")]
    UnknownKey {
        /// The key.
        key: String,
        /// The known key that is most similar.
        nearest: Option<&'static str>,
        /// Every known key.
        known: &'static [&'static str],
    },
    /// A value of the wrong kind for its key.
    #[error("`{key}` must be {wanted}")]
    WrongKind {
        /// The key.
        key: String,
        /// The kind it takes.
        wanted: &'static str,
    },
}

pub(super) fn parse(text: &str) -> Result<AuthorNotes, AuthorNotesError> {
    let value: Value =
        serde_json::from_str(text).map_err(|error| AuthorNotesError::Syntax(error.to_string()))?;
    let Value::Object(map) = value else { return Err(AuthorNotesError::Empty) };
    let mut notes = AuthorNotes::default();
    for (key, value) in map.iter().filter(|(_, value)| !value.is_null()) {
        notes = take_key(notes, key, value)?;
    }
    if notes.is_empty() { Err(AuthorNotesError::Empty) } else { Ok(notes) }
}

fn take_key(
    mut notes: AuthorNotes,
    key: &str,
    value: &Value,
) -> Result<AuthorNotes, NotesJsonError> {
    match key {
        "id" => notes.id = Some(text(key, value)?),
        "title" => notes.title = Some(text(key, value)?),
        "summary" => notes.summary = Some(text(key, value)?),
        "description" => notes.fields.push((key.to_owned(), YamlData::Text(text(key, value)?))),
        "role" => notes.role = Some(text(key, value)?),
        "pattern" => notes.pattern = Some(text(key, value)?),
        "waiting_for" => notes.waiting_for = Some(text(key, value)?),
        "body" => notes.body = Some(text(key, value)?),
        "next" => notes.next = texts(key, value)?,
        "skills" => startup_steps(&mut notes, StartupKind::Skill, key, value)?,
        "read" => startup_steps(&mut notes, StartupKind::Read, key, value)?,
        "tasks" => startup_steps(&mut notes, StartupKind::Task, key, value)?,
        "constraints" => startup_steps(&mut notes, StartupKind::Constraint, key, value)?,
        "decisions" => {
            entries(&mut notes, "decisions_made", key, value, &sentence::parse_decision)?;
        }
        "wrong_turns" => {
            entries(&mut notes, "wrong_turns", key, value, &sentence::parse_wrong_turn)?;
        }
        "landmines" => {
            let landmines = texts(key, value)?;
            notes = landmines.iter().fold(notes, |all, one| all.with_landmine(one));
        }
        "questions" => entries(&mut notes, "open_questions", key, value, &question)?,
        "blocking_questions" => {
            let questions = texts(key, value)?;
            notes = questions.iter().fold(notes, |all, one| all.with_question(one, true));
        }
        "assumptions" => entries(&mut notes, "assumptions", key, value, &sentence::assumption)?,
        "reflection" => notes.reflection = reflection(key, value)?,
        _ => return Err(unknown_key(key, &KEYS)),
    }
    Ok(notes)
}

fn unknown_key(key: &str, known: &'static [&'static str]) -> NotesJsonError {
    let nearest = nearest_match(key, known.iter().copied());
    NotesJsonError::UnknownKey { key: key.to_owned(), nearest, known }
}

fn wrong_kind(key: &str, wanted: &'static str) -> NotesJsonError {
    NotesJsonError::WrongKind { key: key.to_owned(), wanted }
}

fn text(key: &str, value: &Value) -> Result<String, NotesJsonError> {
    let text = value.as_str().map(str::trim).filter(|text| !text.is_empty());
    text.map(str::to_owned).ok_or_else(|| wrong_kind(key, "a string that is not blank"))
}

/// A list of texts. A single text counts as a list of one.
fn texts(key: &str, value: &Value) -> Result<Vec<String>, NotesJsonError> {
    match value {
        Value::Array(items) => items.iter().map(|item| text(key, item)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            Ok(vec![text(key, value)?])
        }
    }
}

fn startup_steps(
    notes: &mut AuthorNotes,
    kind: StartupKind,
    key: &str,
    value: &Value,
) -> Result<(), NotesJsonError> {
    notes.boot.extend(texts(key, value)?.iter().map(|text| (kind, kind.normalize(text))));
    Ok(())
}

fn question(text: &str) -> YamlData {
    YamlData::map([("question", YamlData::text(text))])
}

/// A list of entries: sentences, or mappings with the keys of the header.
fn entries(
    notes: &mut AuthorNotes,
    field: &str,
    key: &str,
    value: &Value,
    to_entry: &dyn Fn(&str) -> YamlData,
) -> Result<(), NotesJsonError> {
    let one = std::slice::from_ref(value);
    for item in value.as_array().map_or(one, Vec::as_slice) {
        let entry = match item {
            Value::String(text) if !text.trim().is_empty() => to_entry(text),
            Value::Object(map) if !map.is_empty() => data(item),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_) => {
                return Err(wrong_kind(
                    key,
                    "a list of strings, or of mappings like those in the header",
                ));
            }
        };
        notes.entries.push((field.to_owned(), entry));
    }
    Ok(())
}

fn data(value: &Value) -> YamlData {
    match value {
        Value::Null => YamlData::Null,
        Value::Bool(flag) => YamlData::flag(*flag),
        Value::Number(number) => YamlData::Bare(number.to_string()),
        Value::String(text) => YamlData::text(text),
        Value::Array(items) => YamlData::List(items.iter().map(data).collect()),
        Value::Object(map) => YamlData::map(map.iter().map(|(key, value)| (key, data(value)))),
    }
}

fn reflection(key: &str, value: &Value) -> Result<Reflection, NotesJsonError> {
    let Value::Object(map) = value else { return Err(wrong_kind(key, "a mapping of answers")) };
    let mut reflection = Reflection::default();
    for (key, value) in map {
        let plain = value.as_bool().map(|yes| ReflectionAnswer { yes, why: None });
        let answer = plain.or_else(|| value.as_str().and_then(ReflectionAnswer::parse));
        let answer = answer
            .ok_or_else(|| wrong_kind(key, "yes or no, optionally followed by the reason"))?;
        match key.as_str() {
            "inherit" => reflection.inherit = Some(answer),
            "finds_plans" => reflection.finds_plans = Some(answer),
            _ => return Err(unknown_key(key, &REFLECTION)),
        }
    }
    Ok(reflection)
}
