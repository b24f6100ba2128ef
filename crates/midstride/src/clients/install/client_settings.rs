//! Reads the client settings that decide whether midstride works: whether the client runs hooks at
//! all, and whether its agent may save.

use super::claude_code::SAVE_COMMAND;
use super::client_file::ClientFile;
use super::{SERVER, json, toml};
use crate::sys::env::Environment;
use midstride_core::session::ClientName;
use serde_json::Value;
use std::path::{Path, PathBuf};

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

/// Reads the settings of a client for a project. Unreadable files are skipped here; other checks
/// report them.
pub(crate) fn read_client_settings(
    environment: &Environment,
    client: ClientName,
    root: &Path,
) -> ClientSettings {
    match client {
        ClientName::ClaudeCode => claude_code(environment, root),
        ClientName::Codex => codex(environment, root),
    }
}

/// The values of the existing files, in order of increasing precedence.
fn values(
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
fn last_file_with(files: &[(PathBuf, Value)], pointer: &str, wanted: bool) -> Option<PathBuf> {
    let sets_it =
        |(_, value): &&(PathBuf, Value)| value.pointer(pointer).is_some_and(Value::is_boolean);
    let (path, value) = files.iter().rev().find(sets_it)?;
    (value.pointer(pointer) == Some(&Value::Bool(wanted))).then(|| path.clone())
}

fn claude_code(environment: &Environment, root: &Path) -> ClientSettings {
    let user = environment
        .claude
        .as_ref()
        .map(|folder| ClientFile::for_user(folder.join("settings.json")));
    let project = [".claude/settings.json", ".claude/settings.local.json"];
    let places = user.into_iter().chain(project.map(|path| ClientFile::in_project(root, path)));
    let files = values(places, |text| json::parse_value(text).ok());
    let has = |list: &str, rules: &[String]| {
        let lists = files.iter().filter_map(|(_, value)| value["permissions"][list].as_array());
        let mut listed = lists.flatten().filter_map(Value::as_str);
        listed.any(|rule| rules.iter().any(|one| one == rule))
    };
    let tool = format!("mcp__{SERVER}");
    let tool = [format!("{tool}__save"), format!("{tool}__*"), tool];
    let command = [SAVE_COMMAND, "Bash(midstride:*)", "Bash(*)", "Bash"].map(str::to_owned);
    let ways = [&tool[..], &command[..]];
    let is_denied = |rules: &&[String]| has("deny", rules);
    let saving = match ways.iter().any(|rules| has("allow", rules) && !is_denied(rules)) {
        true => SavePermission::Allowed,
        false if ways.iter().all(is_denied) => SavePermission::Denied,
        false => SavePermission::Prompted,
    };
    ClientSettings { hooks_off: last_file_with(&files, "/disableAllHooks", true), saving }
}

fn codex(environment: &Environment, root: &Path) -> ClientSettings {
    let user =
        environment.codex.as_ref().map(|folder| ClientFile::for_user(folder.join("config.toml")));
    let places = user.into_iter().chain([ClientFile::in_project(root, ".codex/config.toml")]);
    let files = values(places, |text| toml::parse_value(text).ok());
    let approves = |(_, value): &(PathBuf, Value)| {
        let server = &value["mcp_servers"][SERVER];
        let tool = server["tools"]["save"]["approval_mode"].as_str();
        let mode = tool.or_else(|| server["default_tools_approval_mode"].as_str());
        mode == Some("approve")
    };
    let saving =
        if files.iter().any(approves) { SavePermission::Allowed } else { SavePermission::Prompted };
    ClientSettings { hooks_off: last_file_with(&files, "/features/hooks", false), saving }
}
