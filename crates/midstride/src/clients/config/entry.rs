//! Entries that midstride wants in a client's file, and how to find them again.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// One of midstride's entries in a client's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ConfigEntry {
    /// The keys that lead to it, from the top.
    pub keys: Vec<String>,
    /// Its value, and how it is stored.
    pub what: EntryValue,
}

/// How an entry is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EntryValue {
    /// As the value of the last key.
    Member(Value),
    /// As an element of the list at the keys.
    Element(Value),
}

impl ConfigEntry {
    pub(crate) fn member(keys: &[&str], value: Value) -> Self {
        Self { keys: owned(keys), what: EntryValue::Member(value) }
    }

    pub(crate) fn element(keys: &[&str], value: Value) -> Self {
        Self { keys: owned(keys), what: EntryValue::Element(value) }
    }

    /// The value itself.
    pub(crate) fn value(&self) -> &Value {
        match &self.what {
            EntryValue::Member(value) | EntryValue::Element(value) => value,
        }
    }

    /// The name to show to the user.
    pub(crate) fn name(&self) -> String {
        match &self.what {
            EntryValue::Element(Value::String(text)) => text.clone(),
            EntryValue::Member(_) | EntryValue::Element(_) => self.keys.join("."),
        }
    }

    /// The entry's current value in a tree, which the user may have changed.
    pub(crate) fn find<'v>(&self, top: &'v Value) -> Option<&'v Value> {
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

/// A hook group is midstride's if it runs midstride's command; anything else if it is equal.
fn is_same_element(there: &Value, ours: &Value) -> bool {
    match command_of_group(ours) {
        Some(command) => hooks_of(there).any(|hook| hook.get("command") == Some(command)),
        None => there == ours,
    }
}

fn hooks_of(group: &Value) -> impl Iterator<Item = &Value> {
    group.get("hooks").and_then(Value::as_array).into_iter().flatten()
}

/// The command that a hook group runs.
pub(crate) fn command_of_group(group: &Value) -> Option<&Value> {
    hooks_of(group).next()?.get("command")
}

/// A separate hook group, so that the user's groups stay untouched.
pub(crate) fn hook_group(command: &str, timeout: u32) -> Value {
    json!({ "hooks": [{ "type": "command", "command": command, "timeout": timeout }] })
}

/// Adds an entry to a tree. If an element's list is another kind of value, that value stays, and
/// the caller notices that the element is missing.
pub(crate) fn with_entry(mut top: Value, entry: &ConfigEntry) -> Value {
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
