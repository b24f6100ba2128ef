//! What midstride installs in Claude Code: hooks and permissions in its settings, the MCP server
//! and the skills.

use super::ClaudeCode;
use super::places::home_file;
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
pub(super) const COMMAND: &str = "midstride hook claude-code";

/// The command of the status line.
const STATUS_LINE_COMMAND: &str = "midstride statusline";

/// The rule that allows `midstride save` in the client's shell.
pub(super) const SAVE_COMMAND: &str = "Bash(midstride save:*)";

/// The hooked events, with the client's timeout in seconds. A hook takes a fraction of a second;
/// the timeout is for a stalled machine. The client's default for the end of a session is only 1.5
/// seconds.
const EVENTS: [(&str, u32); 10] = [
    ("SessionStart", 10),
    ("UserPromptSubmit", 5),
    ("PreCompact", 10),
    ("PostCompact", 5),
    ("SessionEnd", 10),
    ("SubagentStart", 5),
    ("SubagentStop", 5),
    ("TaskCreated", 5),
    ("TaskCompleted", 5),
    ("Stop", 10),
];

pub(super) fn target_files(
    environment: &Environment,
    scope: &InstallScope,
    options: InstallOptions,
) -> Option<Vec<TargetFile>> {
    let (settings, servers, skills) = match scope {
        InstallScope::User => {
            let folder = ClaudeCode.home(environment)?;
            (
                ClientFile::for_user(folder.join("settings.json")),
                ClientFile::for_user(home_file(environment)?),
                ClientFile::for_user(folder.join("skills")),
            )
        }
        InstallScope::Project(root) => (
            ClientFile::in_project(root, ".claude/settings.json"),
            ClientFile::in_project(root, ".mcp.json"),
            ClientFile::in_project(root, ".claude/skills"),
        ),
    };
    let mut entries = hooks();
    entries.extend(permission_entries(options.allow.unwrap_or_default()));
    if options.status_line && *scope == InstallScope::User {
        let value = json!({ "type": "command", "command": STATUS_LINE_COMMAND });
        entries.push(ConfigEntry::member(&["statusLine"], value));
    }
    let mut wanted = vec![
        TargetFile { file: settings, content: TargetContent::Entries(entries) },
        TargetFile { file: servers, content: TargetContent::Entries(vec![server()]) },
    ];
    wanted.extend(skill::target_files(&skills));
    Some(wanted)
}

pub(super) fn hooks() -> Vec<ConfigEntry> {
    let hook =
        |(event, timeout)| ConfigEntry::element(&["hooks", event], hook_group(COMMAND, timeout));
    EVENTS.map(hook).to_vec()
}

pub(super) fn server() -> ConfigEntry {
    // No `alwaysLoad`: the skills and the server's instructions name the tools, so the model loads
    // their list when it needs one, instead of in every session.
    let value = json!({ "type": "stdio", "command": SERVER, "args": ["mcp"], "env": {} });
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

/// The settings of Claude Code for the project at `root`.
pub(super) fn settings(environment: &Environment, root: &Path) -> ClientSettings {
    let user = ClaudeCode
        .home(environment)
        .map(|folder| ClientFile::for_user(folder.join("settings.json")));
    let project = [".claude/settings.json", ".claude/settings.local.json"];
    let places = user.into_iter().chain(project.map(|path| ClientFile::in_project(root, path)));
    let files = read_values(places, |text| json_file::parse_value(text).ok());
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
