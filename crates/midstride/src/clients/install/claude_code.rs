//! What Claude Code is to have: hooks and permissions in its settings, the MCP server, the skills.

use super::entry::Entry;
use super::place::Place;
use super::{Allow, Form, SERVER, Scope, Wanted, Wishes, skill};
use crate::workspace::settings::Environment;
use serde_json::{Value, json};

/// The command of every hook.
pub(super) const COMMAND: &str = "midstride hook claude-code";

/// The rule that allows `midstride save` in the client's shell.
pub(super) const SAVE_COMMAND: &str = "Bash(midstride save:*)";

/// The events that are hooked, with the seconds after which the client gives up. A hook answers
/// within a fraction of a second; this is for a machine that stands still. Without one of its own,
/// the end of a session waits for a second and a half only.
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

pub(super) fn wanted(
    environment: &Environment,
    scope: &Scope,
    wishes: Wishes,
) -> Option<Vec<Wanted>> {
    let (settings, servers, skills) = match scope {
        Scope::User => {
            let folder = environment.claude.as_ref()?;
            (
                Place::anywhere(folder.join("settings.json")),
                Place::anywhere(environment.claude_json()?),
                Place::anywhere(folder.join("skills")),
            )
        }
        Scope::Project(root) => (
            Place::beneath(root, ".claude/settings.json"),
            Place::beneath(root, ".mcp.json"),
            Place::beneath(root, ".claude/skills"),
        ),
    };
    let mut entries = hooks();
    entries.extend(allowed(wishes.allow.unwrap_or_default()));
    let mut wanted = vec![
        Wanted { place: settings, form: Form::Entries(entries) },
        Wanted { place: servers, form: Form::Entries(vec![server()]) },
    ];
    wanted.extend(skill::wanted(&skills));
    Some(wanted)
}

pub(super) fn hooks() -> Vec<Entry> {
    let hook = |(event, timeout)| Entry::element(&["hooks", event], group(COMMAND, timeout));
    EVENTS.map(hook).to_vec()
}

/// A group of its own, so that nobody's group is touched.
pub(super) fn group(command: &str, timeout: u32) -> Value {
    json!({ "hooks": [{ "type": "command", "command": command, "timeout": timeout }] })
}

pub(super) fn server() -> Entry {
    // Newer versions only name the tools of a server until the model asks for them; these are few, and
    // a model that does not see `save` does not save. Older versions pass over the key.
    let value = json!({
        "type": "stdio", "command": SERVER, "args": ["mcp"], "env": {}, "alwaysLoad": true
    });
    Entry::member(&["mcpServers", SERVER], value)
}

/// The rules that allow our tools, and for saving the command as well: an agent may prefer its shell.
fn allowed(allow: Allow) -> impl Iterator<Item = Entry> {
    let tools = allow.tools().into_iter().map(|tool| format!("mcp__{SERVER}__{tool}"));
    let command = (allow == Allow::Save).then(|| SAVE_COMMAND.to_owned());
    let rules = tools.chain(command).map(Value::String);
    rules.map(|rule| Entry::element(&["permissions", "allow"], rule))
}
