//! The MCP tools, one file each, with their names, parameters and the verbs they call.

mod answer;
mod brief;
mod check;
mod get;
mod resolve;
mod revise;
mod save;
mod search;
mod state_load;
mod state_save;
mod state_update;
mod tasks;
mod why;

use super::arguments::{ParameterKind, ToolArguments, ToolParameter, schema};
use super::caller::{self, Caller};
use super::reply::ToolReply;
use midstride::journal::RecordedRevision;
use midstride::workspace::{StoredHandoff, Workspace};
use midstride_surface::diagnostic::Diagnostic;
use serde_json::{Value, json};

/// An MCP tool.
pub(super) struct McpTool {
    pub(super) name: &'static str,
    description: &'static str,
    /// Whether the tool changes nothing but delivery records.
    is_read_only: bool,
    pub(super) parameters: &'static [ToolParameter],
    pub(super) call: fn(&Caller, &ToolArguments) -> Result<ToolReply, Diagnostic>,
}

/// All tools.
pub(super) const ALL: [McpTool; 13] = [
    brief::TOOL,
    save::TOOL,
    revise::TOOL,
    get::TOOL,
    search::TOOL,
    check::TOOL,
    answer::TOOL,
    resolve::TOOL,
    tasks::TOOL,
    why::TOOL,
    state_save::TOOL,
    state_load::TOOL,
    state_update::TOOL,
];

/// The parameter that names a handoff.
const HANDOFF: ToolParameter =
    ToolParameter::required("handoff", ParameterKind::Text, "Handoff id");
/// The parameter for the next page.
const OFFSET: ToolParameter =
    ToolParameter::optional("offset", ParameterKind::Number, "From the previous page");

/// The result of `tools/list`.
pub(super) fn list() -> Vec<Value> {
    ALL.iter().map(tool_json).collect()
}

fn tool_json(tool: &McpTool) -> Value {
    let mut entry = json!({
        "name": tool.name,
        "description": tool.description,
        "inputSchema": schema(tool.parameters),
    });
    // Without this hint, clients assume that a tool changes things.
    if tool.is_read_only {
        entry["annotations"] = json!({"readOnlyHint": true});
    }
    entry
}

/// The handoff that the arguments name, to be changed.
fn find_handoff(
    workspace: &Workspace,
    arguments: &ToolArguments,
) -> Result<StoredHandoff, Diagnostic> {
    caller::find_to_change(workspace, arguments.required_text("handoff"))
}

/// Reports what was recorded and which secrets were redacted.
fn recorded_reply(
    workspace: &Workspace,
    stored: &StoredHandoff,
    recorded: &RecordedRevision,
    reason: &str,
) -> ToolReply {
    let key = stored.handoff(workspace).key();
    let reason = workspace.clean(reason).0;
    let reply = ToolReply::from_text(format!("{key}@{}: {}", recorded.revision, reason.as_str()));
    let reply = match recorded.has_outside_edit {
        true => reply.with_text("Recorded an edit made outside midstride as a separate revision."),
        false => reply,
    };
    let reply = match &recorded.ledger_error {
        Some(why) => reply
            .with_text(format!("The file was written; the ledger will be updated later: {why}")),
        None => reply,
    };
    reply.with_redactions(&recorded.redacted)
}
