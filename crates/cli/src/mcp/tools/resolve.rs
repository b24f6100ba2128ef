//! The `resolve` tool: closes a handoff.

use super::{
    Caller, HANDOFF, McpTool, ParameterKind, ToolArguments, ToolParameter, ToolReply, find_handoff,
    recorded_reply,
};
use crate::commands::resolve::ResolveInput;
use crate::mcp::caller;
use midstride::journal::RevisionInfo;
use midstride::verbs;
use midstride_core::format::header::RevisionVerb;
use midstride_core::handoff::Handoff;
use midstride_core::handoff::lifecycle::{self, CloseReason};
use midstride_surface::diagnostic::Diagnostic;

pub(super) const TOOL: McpTool = McpTool {
    name: "resolve",
    description: "End a handoff: say how",
    is_read_only: false,
    parameters: &[
        HANDOFF,
        ToolParameter::optional("outcome", ParameterKind::Text, "What came of it"),
        ToolParameter::optional("commit", ParameterKind::Text, "That carried it out"),
        ToolParameter::optional("superseded_by", ParameterKind::Text, "Another id"),
        ToolParameter::optional("abandoned", ParameterKind::Text, "Why it was given up"),
    ],
    call: resolve,
};

fn resolve(caller: &Caller, arguments: &ToolArguments) -> Result<ToolReply, Diagnostic> {
    let store = caller.store()?;
    let workspace = store.workspace();
    let stored = find_handoff(workspace, arguments)?;
    let successor = arguments.text("superseded_by");
    let successor = successor.map(|by| caller::find_to_change(workspace, by)).transpose()?;
    let successor = successor.map(|by| by.handoff(workspace).key().to_string());
    let ended = ResolveInput {
        commit: arguments.text("commit"),
        outcome: arguments.text("outcome"),
        by: successor.as_deref(),
        abandon: arguments.text("abandoned"),
    };
    let ways =
        [ended.by.is_some(), ended.abandon.is_some(), ended.commit.or(ended.outcome).is_some()];
    if ways.iter().filter(|way| **way).count() != 1 {
        return Err(Diagnostic::new("how did it end?").hint(
            "give `outcome` or `commit`, or both; or `superseded_by` alone; or `abandoned` alone",
        ));
    }
    let (ending, reason) = ended.ending(workspace)?;
    let now = workspace.environment().clock.now();
    let change = RevisionInfo::by_verb(RevisionVerb::Resolve, reason, Some(caller.name.clone()));
    let decide = |handoff: &Handoff<'_>| lifecycle::resolve(handoff, &ending, &[], now);
    let blocking = match &ending {
        CloseReason::Resolved { .. } => verbs::blocking_questions(workspace, &stored),
        CloseReason::Superseded(_) | CloseReason::Abandoned(_) => Vec::new(),
    };
    let done = verbs::apply(&store, &stored, &decide, &change)?;
    let reply = recorded_reply(workspace, &stored, &done, &change.reason);
    let named: Vec<String> =
        blocking.iter().map(|one| format!("{} q{}", one.handoff, one.number)).collect();
    Ok(match named.as_slice() {
        [] => reply,
        named => reply.with_text(format!("Blocking questions still open: {}", named.join(", "))),
    })
}
