//! What Codex is to have: hooks in a file of their own, the MCP server in its configuration, the
//! skills; and, for who asks for it, its trust in the hooks.

use super::claude_code::group;
use super::entry::{Entry, What, command_of_group};
use super::hook_trust::HookTrust;
use super::place::Place;
use super::{Allow, Form, InstallError, SERVER, Scope, Wanted, Wishes, json, skill};
use crate::sys::ids::sha256;
use crate::workspace::settings::Environment;
use serde_json::{Map, Value, json};
use std::path::Path;

/// The command of every hook.
const COMMAND: &str = "midstride hook codex";

/// The events that are hooked, as hooks and as trust call them, with the seconds after which the
/// client gives up. It waits for the last two no longer than this.
const EVENTS: [(&str, &str, u32); 7] = [
    ("SessionStart", "session_start", 5),
    ("UserPromptSubmit", "user_prompt_submit", 5),
    ("PreCompact", "pre_compact", 5),
    ("PostCompact", "post_compact", 5),
    ("Stop", "stop", 5),
    ("SessionEnd", "session_end", 3),
    ("Interrupt", "interrupt", 3),
];

pub(super) fn wanted(
    environment: &Environment,
    scope: &Scope,
    wishes: Wishes,
) -> Result<Option<Vec<Wanted>>, InstallError> {
    let Some((folder, home)) = environment.codex.as_ref().zip(environment.home.as_ref()) else {
        return Ok(None);
    };
    let own = Place::anywhere(folder.join("config.toml"));
    let (hooks_file, configuration, skills) = match scope {
        Scope::User => (
            Place::anywhere(folder.join("hooks.json")),
            own.clone(),
            Place::anywhere(home.join(".agents/skills")),
        ),
        Scope::Project(root) => (
            Place::beneath(root, ".codex/hooks.json"),
            Place::beneath(root, ".codex/config.toml"),
            Place::beneath(root, ".agents/skills"),
        ),
    };
    let trusted = match wishes.trust_hooks {
        true => trust(&hooks_file)?,
        false => Vec::new(),
    };
    let server = server(wishes.allow.unwrap_or_default());
    let mut wanted = vec![Wanted { place: hooks_file, form: Form::Entries(hooks()) }];
    // Trust is this user's alone, whoever has the hooks.
    if configuration == own {
        let entries = [vec![server], trusted].concat();
        wanted.push(Wanted { place: own, form: Form::Entries(entries) });
    } else {
        wanted.push(Wanted { place: configuration, form: Form::Entries(vec![server]) });
        if !trusted.is_empty() {
            wanted.push(Wanted { place: own, form: Form::Entries(trusted) });
        }
    }
    wanted.extend(skill::wanted(&skills));
    Ok(Some(wanted))
}

fn hooks() -> Vec<Entry> {
    let hook = |(event, _, timeout)| Entry::element(&["hooks", event], group(COMMAND, timeout));
    EVENTS.map(hook).to_vec()
}

fn server(allow: Allow) -> Entry {
    let mut value = json!({ "command": SERVER, "args": ["mcp"] });
    if allow != Allow::Nothing {
        let tool = |tool: &str| (tool.to_owned(), json!({ "approval_mode": "approve" }));
        value["tools"] = Value::Object(allow.tools().into_iter().map(tool).collect::<Map<_, _>>());
    }
    Entry::member(&["mcp_servers", SERVER], value)
}

/// Trust in each of our hooks, where it is going to stand: the client knows a hook by its place and
/// by a hash of what it does.
fn trust(hooks_file: &Place) -> Result<Vec<Entry>, InstallError> {
    let text = hooks_file.read()?.unwrap_or_default();
    let fails = |error: super::Unfit| error.at(hooks_file.path());
    let with_ours = json::add(&text, &hooks()).map_err(fails)?.text;
    let top = json::value(&with_ours).map_err(fails)?;
    let entry = |hook: Placed| {
        Entry::member(&["hooks", "state", &hook.key], json!({ "trusted_hash": hook.hash }))
    };
    Ok(placed(hooks_file.path(), &top).into_iter().map(entry).collect())
}

/// One of our hooks, where it stands in a file.
struct Placed {
    event: &'static str,
    /// By which the client finds what was trusted.
    key: String,
    /// By which it sees whether this still is what was trusted.
    hash: String,
}

/// Each of our hooks that is in a file.
fn placed(path: &Path, top: &Value) -> Vec<Placed> {
    EVENTS
        .iter()
        .zip(hooks())
        .filter_map(|((name, event, _), entry)| {
            let groups =
                entry.keys.iter().try_fold(top, |value, key| value.get(key))?.as_array()?;
            let What::Element(ours) = &entry.what else { return None };
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
            Some(Placed { event: name, key, hash: hash(event, hook, group.get("matcher")) })
        })
        .collect()
}

/// The hash by which the client knows what was trusted: of JSON in its shortest form, keys sorted.
fn hash(event: &str, hook: &Value, matcher: Option<&Value>) -> String {
    const TIMEOUT_USUAL: u32 = 600;
    let timeout = hook.get("timeout").cloned().unwrap_or(TIMEOUT_USUAL.into());
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

/// How the client stands to each of our hooks that is there.
pub(super) fn trust_of_each(
    environment: &Environment,
    hooks_file: &Place,
) -> Option<Vec<(&'static str, HookTrust)>> {
    let top = json::value(&hooks_file.read().ok()??).ok()?;
    let own = Place::anywhere(environment.codex.as_ref()?.join("config.toml"));
    let configuration = super::toml::value(&own.read().ok()?.unwrap_or_default()).ok()?;
    let state = &configuration["hooks"]["state"];
    let trust = |hook: Placed| {
        let known = &state[&hook.key];
        let trust = match known["trusted_hash"].as_str() {
            _ if known["enabled"] == false => HookTrust::SwitchedOff,
            Some(trusted) if trusted == hook.hash => HookTrust::Trusted,
            Some(_) => HookTrust::Changed,
            None => HookTrust::Asked,
        };
        (hook.event, trust)
    };
    Some(placed(hooks_file.path(), &top).into_iter().map(trust).collect())
}
