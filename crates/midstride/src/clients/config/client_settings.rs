//! Reads the client settings that decide whether midstride works: whether the client runs hooks at
//! all, and whether its agent may save.

use super::client_file::ClientFile;
use serde_json::Value;
use std::path::PathBuf;

/// The relevant settings of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientSettings {
    /// The file that switches all hooks off.
    pub hooks_off: Option<PathBuf>,
    /// Whether the agent may save.
    pub saving: SavePermission,
}

/// Whether an agent may save with midstride.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SavePermission {
    /// Allowed without asking.
    Allowed,
    /// The client asks the user each time, so a headless session cannot save.
    Prompted,
    /// The user denied it.
    Denied,
}

/// The values of the existing files, in order of increasing precedence.
pub(crate) fn read_values(
    places: impl IntoIterator<Item = ClientFile>,
    read: fn(&str) -> Option<Value>,
) -> Vec<(PathBuf, Value)> {
    let value = |place: ClientFile| {
        let text = place.read().ok()??;
        Some((place.path().to_owned(), read(&text)?))
    };
    places.into_iter().filter_map(value).collect()
}

/// The file that decides a boolean setting, if it sets this value.
pub(crate) fn last_file_with(
    files: &[(PathBuf, Value)],
    pointer: &str,
    wanted: bool,
) -> Option<PathBuf> {
    let sets_it =
        |(_, value): &&(PathBuf, Value)| value.pointer(pointer).is_some_and(Value::is_boolean);
    let (path, value) = files.iter().rev().find(sets_it)?;
    (value.pointer(pointer) == Some(&Value::Bool(wanted))).then(|| path.clone())
}
