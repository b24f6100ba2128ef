//! The `why` tool: the session and the handoffs behind a commit or a line.

use super::{Caller, McpTool, OFFSET, ParameterKind, ToolArguments, ToolParameter, ToolReply};
use midstride::verbs::{self, CommitTarget};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;

pub(super) const TOOL: McpTool = McpTool {
    name: "why",
    description: "Why a commit or line was written: the session behind it, its decisions and wrong turns",
    is_read_only: true,
    parameters: &[
        ToolParameter::required("commit", ParameterKind::Text, "Commit, or FILE:LINE"),
        OFFSET,
    ],
    call: why,
};

fn why(caller: &Caller, arguments: &ToolArguments) -> Result<ToolReply, Diagnostic> {
    let store = caller.store()?;
    let target = CommitTarget::parse(arguments.required_text("commit").trim());
    let reason = verbs::why(&store, &target)?;
    let offset = arguments.as_usize("offset").unwrap_or(0);
    let source = format!("Commit {}", reason.commit.commit);
    ToolReply::default().with_quoted_page(&source, &view::why::text(&reason, None), offset)
}
