//! The `revise` tool: replaces the text of a handoff.

use super::{
    Caller, HANDOFF, McpTool, ParameterKind, ToolArguments, ToolParameter, ToolReply, find_handoff,
    recorded_reply,
};
use midstride::journal::RevisionInfo;
use midstride::verbs::{self, ReviseOutcome};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view::recorded_change::closed_notice;
use midstride_surface::view::{Surface, findings};

pub(super) const TOOL: McpTool = McpTool {
    name: "revise",
    description: "Replace a handoff's text; the old one is kept",
    is_read_only: false,
    parameters: &[
        HANDOFF,
        ToolParameter::required("text", ParameterKind::Text, "Whole document, or the body alone"),
        ToolParameter::required("reason", ParameterKind::Text, "Why"),
    ],
    call: revise,
};

fn revise(caller: &Caller, arguments: &ToolArguments) -> Result<ToolReply, Diagnostic> {
    let store = caller.store()?;
    let workspace = store.workspace();
    let stored = find_handoff(workspace, arguments)?;
    let change =
        RevisionInfo::by_text(arguments.required_text("reason"), Some(caller.name.clone()));
    let done = match verbs::revise(&store, &stored, &arguments.document_text("text"), &change)? {
        ReviseOutcome::Recorded(done) => done,
        ReviseOutcome::Unchanged => return Ok(ToolReply::from_text("Nothing changed.")),
    };
    let reply = recorded_reply(workspace, &stored, &done, &change.reason);
    let (after, faults) = verbs::findings_since(workspace, &stored, &done);
    let was_open = stored.handoff(workspace).status().is_open();
    let reply = match closed_notice(&after.handoff(workspace)) {
        Some(ended) if !was_open => reply.with_text(ended),
        Some(_) | None => reply,
    };
    let lines = findings::lines(&after.document, &faults, Surface::Tools);
    Ok(lines.iter().fold(reply, ToolReply::with_text))
}
