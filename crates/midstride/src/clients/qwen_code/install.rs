//! What midstride installs in Qwen Code: hooks, permissions and the MCP server in its settings, and the
//! skills.

use super::QwenCode;
use crate::clients::client::Client as _;
use crate::clients::config::client_settings::{last_file_with, read_values};
use crate::clients::config::entry::hook_group;
use crate::clients::config::{
    AllowedTools, ClientFile, ClientSettings, ConfigEntry, InstallOptions, InstallScope, SERVER,
    SavePermission, TargetContent, TargetFile, json as json_file, skill,
};
use crate::sys::env::Environment;
use serde_json::{Value, json};
use std::path::Path;

/// The command of every hook.
const COMMAND: &str = "midstride hook qwen-code";

/// The rule that allows `midstride save` in the client's shell. A rule for `Bash` is read and matches
/// nothing.
const SAVE_COMMAND: &str = "run_shell_command(midstride save *)";

/// The hooked events, with the client's timeout in milliseconds. A hook takes a fraction of a second; the
/// timeout is for a stalled machine.
const EVENTS: [(&str, u32); 8] = [
    ("SessionStart", 10_000),
    ("UserPromptSubmit", 5_000),
    ("PreCompact", 10_000),
    ("PostCompact", 5_000),
    ("SubagentStart", 5_000),
    ("SubagentStop", 5_000),
    ("Stop", 10_000),
    ("SessionEnd", 10_000),
];

pub(super) fn target_files(
    environment: &Environment,
    scope: &InstallScope,
    options: InstallOptions,
) -> Option<Vec<TargetFile>> {
    let (settings, skills) = match scope {
        InstallScope::User => {
            let folder = QwenCode.home(environment)?;
            (
                ClientFile::for_user(folder.join("settings.json")),
                ClientFile::for_user(folder.join("skills")),
            )
        }
        InstallScope::Project(root) => (
            ClientFile::in_project(root, ".qwen/settings.json"),
            ClientFile::in_project(root, ".qwen/skills"),
        ),
    };
    let mut entries = hooks();
    entries.push(server());
    entries.extend(permission_entries(options.allow.unwrap_or_default()));
    let mut wanted = vec![TargetFile { file: settings, content: TargetContent::Entries(entries) }];
    wanted.extend(skill::target_files(&skills));
    Some(wanted)
}

fn hooks() -> Vec<ConfigEntry> {
    let hook =
        |(event, timeout)| ConfigEntry::element(&["hooks", event], hook_group(COMMAND, timeout));
    EVENTS.map(hook).to_vec()
}

fn server() -> ConfigEntry {
    let value = json!({ "command": SERVER, "args": ["mcp"] });
    ConfigEntry::member(&["mcpServers", SERVER], value)
}

/// The rules that allow midstride's tools. For saving they also allow the command, because an agent
/// may prefer its shell.
fn permission_entries(allow: AllowedTools) -> impl Iterator<Item = ConfigEntry> {
    let tools = allow.tools().into_iter().map(|tool| format!("mcp__{SERVER}__{tool}"));
    let command = (allow == AllowedTools::Save).then(|| SAVE_COMMAND.to_owned());
    let rules = tools.chain(command).map(Value::String);
    rules.map(|rule| ConfigEntry::element(&["permissions", "allow"], rule))
}

/// The settings of Qwen Code for the project at `root`.
pub(super) fn settings(environment: &Environment, root: &Path) -> ClientSettings {
    let user =
        QwenCode.home(environment).map(|folder| ClientFile::for_user(folder.join("settings.json")));
    let places = user.into_iter().chain([ClientFile::in_project(root, ".qwen/settings.json")]);
    let files = read_values(places, |text| json_file::parse_value(text).ok());
    let has = |list: &str, rules: &[String]| {
        let lists = files.iter().filter_map(|(_, value)| value["permissions"][list].as_array());
        let mut listed = lists.flatten().filter_map(Value::as_str);
        listed.any(|rule| rules.iter().any(|one| one == rule))
    };
    let tool = format!("mcp__{SERVER}");
    let tool = [format!("{tool}__save"), format!("{tool}__*"), tool];
    let command = [SAVE_COMMAND, "run_shell_command(midstride *)", "run_shell_command"];
    let command = command.map(str::to_owned);
    let ways = [&tool[..], &command[..]];
    let is_denied = |rules: &&[String]| has("deny", rules);
    let saving = match ways.iter().any(|rules| has("allow", rules) && !is_denied(rules)) {
        true => SavePermission::Allowed,
        false if ways.iter().all(is_denied) => SavePermission::Denied,
        false => SavePermission::Prompted,
    };
    ClientSettings { hooks_off: last_file_with(&files, "/disableAllHooks", true), saving }
}
