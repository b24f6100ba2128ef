//! The Claude Code plugin: the same hooks, server and skills, as files of a repository.

use super::install;
use crate::clients::config::{entry, skill};
use serde_json::{Value, json};
use std::path::PathBuf;

/// The name of the plugin.
const NAME: &str = "midstride";
const DESCRIPTION: &str =
    "Hands work from one session to the next: briefings, checkpoints and checked handoffs";

/// The files of the plugin, and the marketplace file with which a repository offers it.
pub(super) fn plugin_files() -> Vec<(PathBuf, String)> {
    let about = json!({
        "name": NAME,
        "version": env!("CARGO_PKG_VERSION"),
        "description": DESCRIPTION,
        "author": { "name": "midstride" },
        "repository": env!("CARGO_PKG_REPOSITORY"),
        "license": env!("CARGO_PKG_LICENSE"),
    });
    let offer = json!({
        "name": "midstride",
        "description": DESCRIPTION,
        "owner": { "name": "midstride" },
        "plugins": [{
            "name": NAME,
            "source": "./plugin",
            "description": DESCRIPTION,
        }],
    });
    let hooks = install::hooks();
    let mut hooks = hooks.iter().fold(Value::Null, entry::with_entry);
    if let Some(command) = hooks.pointer_mut("/hooks/SessionStart/0/hooks/0/command") {
        *command = command.as_str().map(explain_missing_program).into();
    }
    let servers = entry::with_entry(Value::Null, &install::server());
    let mut files = vec![
        (".claude-plugin/marketplace.json".into(), to_pretty_json(&offer)),
        ("plugin/.claude-plugin/plugin.json".into(), to_pretty_json(&about)),
        ("plugin/hooks/hooks.json".into(), to_pretty_json(&hooks)),
        ("plugin/.mcp.json".into(), to_pretty_json(&servers)),
    ];
    files.extend(skill::SKILLS.map(|(name, text)| {
        (PathBuf::from(format!("plugin/skills/{name}/SKILL.md")), text.to_owned())
    }));
    files
}

/// A command that says how to install midstride if that is missing. A plugin can be installed before
/// the program.
fn explain_missing_program(command: &str) -> String {
    let repository = env!("CARGO_PKG_REPOSITORY");
    let install = format!("cargo install --locked --git {repository} midstride-cli");
    let message = format!("midstride is not installed. Install it with: {install}");
    let answer = json!({ "systemMessage": message });
    format!("command -v midstride >/dev/null || {{ echo '{answer}'; exit 0; }}; exec {command}")
}

/// Whether settings of Claude Code enable the plugin, from any marketplace.
pub(super) fn is_enabled(top: &Value) -> bool {
    let enabled = top.get("enabledPlugins").and_then(Value::as_object);
    let is_ours = |name: &str| name.split('@').next() == Some(NAME);
    enabled
        .is_some_and(|all| all.iter().any(|(name, on)| is_ours(name) && *on == Value::Bool(true)))
}

fn to_pretty_json(value: &Value) -> String {
    format!("{value:#}\n")
}
