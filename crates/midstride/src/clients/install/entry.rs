//! What we want in a file of a client: entries, known again by what they are for.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One thing of ours in a file of somebody else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigEntry {
    /// The keys that lead there, from the top.
    pub keys: Vec<String>,
    /// What is there.
    pub what: EntryValue,
}

/// How it is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryValue {
    /// As the value of the last key.
    Member(Value),
    /// In the list that the keys lead to, among others.
    Element(Value),
}

impl ConfigEntry {
    pub(super) fn member(keys: &[&str], value: Value) -> Self {
        Self { keys: owned(keys), what: EntryValue::Member(value) }
    }

    pub(super) fn element(keys: &[&str], value: Value) -> Self {
        Self { keys: owned(keys), what: EntryValue::Element(value) }
    }

    /// The value itself.
    pub fn value(&self) -> &Value {
        match &self.what {
            EntryValue::Member(value) | EntryValue::Element(value) => value,
        }
    }

    /// How a person calls it.
    pub fn name(&self) -> String {
        match &self.what {
            EntryValue::Element(Value::String(text)) => text.clone(),
            EntryValue::Member(_) | EntryValue::Element(_) => self.keys.join("."),
        }
    }

    /// What is there for it in a tree; somebody may have changed it since.
    pub(super) fn find<'v>(&self, top: &'v Value) -> Option<&'v Value> {
        let there = self.keys.iter().try_fold(top, |value, key| value.get(key))?;
        match &self.what {
            EntryValue::Member(_) => Some(there),
            EntryValue::Element(ours) => {
                there.as_array()?.iter().find(|element| is_same_element(element, ours))
            }
        }
    }
}

fn owned(keys: &[&str]) -> Vec<String> {
    keys.iter().map(|key| (*key).to_owned()).collect()
}

/// A group of hooks is ours by the command that it runs; anything else by being equal.
fn is_same_element(there: &Value, ours: &Value) -> bool {
    match command_of_group(ours) {
        Some(command) => hooks_of(there).any(|hook| hook.get("command") == Some(command)),
        None => there == ours,
    }
}

fn hooks_of(group: &Value) -> impl Iterator<Item = &Value> {
    group.get("hooks").and_then(Value::as_array).into_iter().flatten()
}

/// The command that a group of hooks of ours runs.
pub(super) fn command_of_group(group: &Value) -> Option<&Value> {
    hooks_of(group).next()?.get("command")
}

/// A tree with an entry in it; what is in its way is left, and the caller sees that it is missing.
pub(super) fn with_entry(mut top: Value, entry: &ConfigEntry) -> Value {
    let (last, above) = entry.keys.split_last().map_or((None, &[][..]), |(k, a)| (Some(k), a));
    let mut here = &mut top;
    for key in above {
        here = child_mut(here, key);
    }
    let Some(last) = last else { return top };
    let there = child_mut(here, last);
    match &entry.what {
        EntryValue::Member(value) => *there = value.clone(),
        EntryValue::Element(value) => {
            if there.is_null() {
                *there = Value::Array(Vec::new());
            }
            if let Some(list) = there.as_array_mut() {
                list.push(value.clone());
            }
        }
    }
    top
}

fn child_mut<'v>(value: &'v mut Value, key: &str) -> &'v mut Value {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    value
        .as_object_mut()
        .expect("it was just made one")
        .entry(key.to_owned())
        .or_insert(Value::Null)
}
