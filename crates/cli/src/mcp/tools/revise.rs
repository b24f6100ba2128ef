//! The `revise` tool: replaces the text of a handoff.

use super::{
    Caller, HANDOFF, McpTool, ParameterKind, ToolArguments, ToolParameter, ToolReply, find_handoff,
    recorded_reply,
};
use midstride::journal::RevisionInfo;
use midstride::verbs::{self, ReviseOutcome, RevisionEffects};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view::recorded_change::closed_notice;
use midstride_surface::view::{self, Surface};

pub(super) const TOOL: McpTool = McpTool {
    name: "revise",
    description: "Replace a handoff's text; the old text is kept",
    is_read_only: false,
    parameters: &[
        HANDOFF,
        ToolParameter::required(
            "text",
            ParameterKind::Text,
            "The whole document, or only the body",
        ),
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
    let RevisionEffects { after, findings, closed } =
        verbs::revision_effects(workspace, &stored, &done);
    let closed = closed.map(|status| closed_notice(&after.handoff(workspace).key(), status));
    let reply = closed.into_iter().fold(reply, ToolReply::with_text);
    let lines = view::findings::lines(&after.document, &findings, Surface::Tools);
    Ok(lines.iter().fold(reply, ToolReply::with_text))
}
