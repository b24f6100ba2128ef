//! The `resolve` tool: closes a handoff.

use super::{
    Caller, HANDOFF, McpTool, ParameterKind, ToolArguments, ToolParameter, ToolReply, find_handoff,
    recorded_reply,
};
use crate::mcp::caller;
use midstride::verbs::{self, ResolveOutcome, ResolveRequest, TypedEnding};
use midstride_surface::diagnostic::Diagnostic;

pub(super) const TOOL: McpTool = McpTool {
    name: "resolve",
    description: "Close a handoff as resolved, superseded or abandoned",
    is_read_only: false,
    parameters: &[
        HANDOFF,
        ToolParameter::optional("outcome", ParameterKind::Text, "The result"),
        ToolParameter::optional("commit", ParameterKind::Text, "The commit that implemented it"),
        ToolParameter::optional(
            "superseded_by",
            ParameterKind::Text,
            "The handoff that replaces it",
        ),
        ToolParameter::optional("abandoned", ParameterKind::Text, "Why it was abandoned"),
    ],
    call: resolve,
};

fn resolve(caller: &Caller, arguments: &ToolArguments) -> Result<ToolReply, Diagnostic> {
    let store = caller.store()?;
    let workspace = store.workspace();
    let stored = find_handoff(workspace, arguments)?;
    let successor = arguments.text("superseded_by");
    let successor = successor.map(|by| caller::find_to_change(workspace, by)).transpose()?;
    let successor = successor.map(|by| by.handoff(workspace).key());
    let typed = TypedEnding {
        commit: arguments.text("commit"),
        outcome: arguments.text("outcome"),
        superseded_by: successor.as_ref(),
        abandoned: arguments.text("abandoned"),
    };
    let request = ResolveRequest::parse(workspace, typed, Some(caller.name.clone()))?;
    let ResolveOutcome { recorded, reason, blocking } = verbs::resolve(&store, &stored, &request)?;
    let reply = recorded_reply(workspace, &stored, &recorded, &reason);
    let named: Vec<String> =
        blocking.iter().map(|one| format!("{} q{}", one.handoff, one.number)).collect();
    Ok(match named.as_slice() {
        [] => reply,
        named => reply.with_text(format!("Blocking questions still open: {}", named.join(", "))),
    })
}
