//! What midstride installs in Codex: hooks in their own file, the MCP server in its configuration,
//! the skills, and on request the trust in the hooks.

use super::Codex;
use crate::clients::client::Client as _;
use crate::clients::config::client_settings::{last_file_with, read_values};
use crate::clients::config::entry::{EntryValue, command_of_group, hook_group};
use crate::clients::config::{
    AllowedTools, ClientFile, ClientFileError, ClientSettings, ConfigEntry, HookTrust,
    InstallError, InstallOptions, InstallScope, SERVER, SavePermission, TargetContent, TargetFile,
    json as json_file, skill, toml,
};
use crate::sys::env::Environment;
use crate::sys::ids::sha256;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// The command of every hook.
const COMMAND: &str = "midstride hook codex";

/// The hooked events, with their names in hooks and in trust, and the client's timeout in seconds.
/// The client waits no longer than this for the last two.
const EVENTS: [(&str, &str, u32); 7] = [
    ("SessionStart", "session_start", 5),
    ("UserPromptSubmit", "user_prompt_submit", 5),
    ("PreCompact", "pre_compact", 5),
    ("PostCompact", "post_compact", 5),
    ("Stop", "stop", 5),
    ("SessionEnd", "session_end", 3),
    ("Interrupt", "interrupt", 3),
];

pub(super) fn target_files(
    environment: &Environment,
    scope: &InstallScope,
    options: InstallOptions,
) -> Result<Vec<TargetFile>, InstallError> {
    let Some((folder, home)) = Codex.home(environment).zip(environment.home.as_ref()) else {
        return Err(InstallError::NoHome);
    };
    let own = ClientFile::for_user(folder.join("config.toml"));
    let (hooks_file, configuration, skills) = match scope {
        InstallScope::User => (
            ClientFile::for_user(folder.join("hooks.json")),
            own.clone(),
            ClientFile::for_user(home.join(".agents/skills")),
        ),
        InstallScope::Project(root) => (
            ClientFile::in_project(root, ".codex/hooks.json"),
            ClientFile::in_project(root, ".codex/config.toml"),
            ClientFile::in_project(root, ".agents/skills"),
        ),
    };
    let trusted = match options.trust_hooks {
        true => trust_entries(&hooks_file)?,
        false => Vec::new(),
    };
    let server = server(options.allow.unwrap_or_default());
    let mut wanted =
        vec![TargetFile { file: hooks_file, content: TargetContent::Entries(hooks()) }];
    // Trust belongs to the user, so it never goes into a project file.
    if configuration == own {
        let entries = [vec![server], trusted].concat();
        wanted.push(TargetFile { file: own, content: TargetContent::Entries(entries) });
    } else {
        wanted.push(TargetFile {
            file: configuration,
            content: TargetContent::Entries(vec![server]),
        });
        if !trusted.is_empty() {
            wanted.push(TargetFile { file: own, content: TargetContent::Entries(trusted) });
        }
    }
    wanted.extend(skill::target_files(&skills));
    Ok(wanted)
}

fn hooks() -> Vec<ConfigEntry> {
    let hook =
        |(event, _, timeout)| ConfigEntry::element(&["hooks", event], hook_group(COMMAND, timeout));
    EVENTS.map(hook).to_vec()
}

fn server(allow: AllowedTools) -> ConfigEntry {
    let mut value = json!({ "command": SERVER, "args": ["mcp"] });
    if allow != AllowedTools::Nothing {
        let tool = |tool: &str| (tool.to_owned(), json!({ "approval_mode": "approve" }));
        value["tools"] = Value::Object(allow.tools().into_iter().map(tool).collect::<Map<_, _>>());
    }
    ConfigEntry::member(&["mcp_servers", SERVER], value)
}

/// Trust entries for midstride's hooks at their future positions. The client identifies a hook by
/// its position and by a hash of its definition.
fn trust_entries(hooks_file: &ClientFile) -> Result<Vec<ConfigEntry>, InstallError> {
    let text = hooks_file.read()?.unwrap_or_default();
    let fails = |error: ClientFileError| error.with_path(hooks_file.path());
    let with_ours = json_file::add_entries(&text, &hooks()).map_err(fails)?.text;
    let top = json_file::parse_value(&with_ours).map_err(fails)?;
    let entry = |hook: InstalledHook| {
        ConfigEntry::member(&["hooks", "state", &hook.key], json!({ "trusted_hash": hook.hash }))
    };
    Ok(installed_hooks(hooks_file.path(), &top).into_iter().map(entry).collect())
}

/// One of midstride's hooks in a file.
struct InstalledHook {
    event: &'static str,
    /// The key under which the client stores its trust.
    key: String,
    /// The hash with which the client detects changes.
    hash: String,
}

/// All of midstride's hooks in a file.
fn installed_hooks(path: &Path, top: &Value) -> Vec<InstalledHook> {
    EVENTS
        .iter()
        .zip(hooks())
        .filter_map(|((name, event, _), entry)| {
            let groups =
                entry.keys.iter().try_fold(top, |value, key| value.get(key))?.as_array()?;
            let EntryValue::Element(ours) = &entry.what else { return None };
            let command = command_of_group(ours)?;
            let in_group = |group: &Value| {
                let hooks = group.get("hooks")?.as_array()?;
                hooks.iter().position(|hook| hook.get("command") == Some(command))
            };
            let found = groups.iter().enumerate().find_map(|(index, group)| {
                in_group(group).map(|hook| (index, hook, &group["hooks"][hook], group))
            });
            let (group_index, hook_index, hook, group) = found?;
            let key = format!("{}:{event}:{group_index}:{hook_index}", path.display());
            Some(InstalledHook { event: name, key, hash: hash(event, hook, group.get("matcher")) })
        })
        .collect()
}

/// The hash that the client stores as trusted: of compact JSON with sorted keys.
fn hash(event: &str, hook: &Value, matcher: Option<&Value>) -> String {
    const DEFAULT_TIMEOUT: u32 = 600;
    let timeout = hook.get("timeout").cloned().unwrap_or(DEFAULT_TIMEOUT.into());
    let mut known = json!({ "async": false, "command": hook["command"] });
    if let Some(message) = hook.get("statusMessage") {
        known["statusMessage"] = message.clone();
    }
    known["timeout"] = timeout;
    known["type"] = json!("command");
    let mut all = json!({ "event_name": event, "hooks": [known] });
    if let Some(matcher) = matcher {
        all["matcher"] = matcher.clone();
    }
    format!("sha256:{}", sha256(all.to_string().as_bytes()))
}

/// The trust in each of midstride's installed hooks.
pub(super) fn read_hook_trust(
    environment: &Environment,
    hooks_file: &ClientFile,
) -> Option<Vec<(&'static str, HookTrust)>> {
    let top = json_file::parse_value(&hooks_file.read().ok()??).ok()?;
    let own = ClientFile::for_user(Codex.home(environment)?.join("config.toml"));
    let configuration = toml::parse_value(&own.read().ok()?.unwrap_or_default()).ok()?;
    let state = &configuration["hooks"]["state"];
    let trust = |hook: InstalledHook| {
        let known = &state[&hook.key];
        let trust = match known["trusted_hash"].as_str() {
            _ if known["enabled"] == false => HookTrust::Disabled,
            Some(trusted) if trusted == hook.hash => HookTrust::Trusted,
            Some(_) => HookTrust::Changed,
            None => HookTrust::Pending,
        };
        (hook.event, trust)
    };
    Some(installed_hooks(hooks_file.path(), &top).into_iter().map(trust).collect())
}

/// The settings of Codex for the project at `root`.
pub(super) fn settings(environment: &Environment, root: &Path) -> ClientSettings {
    let user =
        Codex.home(environment).map(|folder| ClientFile::for_user(folder.join("config.toml")));
    let places = user.into_iter().chain([ClientFile::in_project(root, ".codex/config.toml")]);
    let files = read_values(places, |text| toml::parse_value(text).ok());
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
