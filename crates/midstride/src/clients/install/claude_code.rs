//! What midstride installs in Claude Code: hooks and permissions in its settings, the MCP server
//! and the skills.

use super::client_file::ClientFile;
use super::entry::ConfigEntry;
use super::{AllowedTools, InstallOptions, InstallScope, SERVER, TargetContent, TargetFile, skill};
use crate::sys::env::Environment;
use serde_json::{Value, json};

/// The command of every hook.
pub(super) const COMMAND: &str = "midstride hook claude-code";

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
            let folder = environment.claude.as_ref()?;
            (
                ClientFile::for_user(folder.join("settings.json")),
                ClientFile::for_user(environment.claude_json()?),
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
    let mut wanted = vec![
        TargetFile { file: settings, content: TargetContent::Entries(entries) },
        TargetFile { file: servers, content: TargetContent::Entries(vec![server()]) },
    ];
    wanted.extend(skill::target_files(&skills));
    Some(wanted)
}

pub(super) fn hooks() -> Vec<ConfigEntry> {
    let hook = |(event, timeout)| ConfigEntry::element(&["hooks", event], group(COMMAND, timeout));
    EVENTS.map(hook).to_vec()
}

/// A separate hook group, so that the user's groups stay untouched.
pub(super) fn group(command: &str, timeout: u32) -> Value {
    json!({ "hooks": [{ "type": "command", "command": command, "timeout": timeout }] })
}

pub(super) fn server() -> ConfigEntry {
    // Newer versions of Claude Code list only the names of a server's tools until the model asks
    // for them. midstride has few tools, and a model that does not see `save` does not save. Older
    // versions ignore the key.
    let value = json!({
        "type": "stdio", "command": SERVER, "args": ["mcp"], "env": {}, "alwaysLoad": true
    });
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
