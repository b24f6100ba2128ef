//! The `check` tool: looks for problems in handoffs.

use super::{Caller, McpTool, OFFSET, ParameterKind, ToolArguments, ToolParameter, ToolReply};
use crate::mcp::caller;
use midstride::code::CodeState;
use midstride::verbs::{self, Comparison};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view::Surface;
use midstride_surface::view::findings::{self, HintDisplay};

pub(super) const TOOL: McpTool = McpTool {
    name: "check",
    description: "Check handoffs for problems and outdated citations",
    is_read_only: true,
    parameters: &[
        ToolParameter::optional("handoff", ParameterKind::Text, "Handoff id (default: all)"),
        OFFSET,
    ],
    call: check,
};

fn check(caller: &Caller, arguments: &ToolArguments) -> Result<ToolReply, Diagnostic> {
    let store = caller.store()?;
    let workspace = store.workspace();
    let with = Comparison::against(&store, CodeState::WorkTree, false)?;
    let (checks, unread) = match arguments.text("handoff") {
        Some(name) => {
            let stored = caller::find(workspace, name)?;
            (verbs::check_documents(&store, Some(&with), vec![stored]), Vec::new())
        }
        None => {
            let (mut checks, mut unread) = (Vec::new(), Vec::new());
            for result in verbs::check_all(&store, &with) {
                match result {
                    Ok(one) => checks.push(one),
                    Err(error) => unread.push(error),
                }
            }
            (checks, unread)
        }
    };
    let hints = match arguments.text("handoff") {
        Some(_) => HintDisplay::Listed,
        None => HintDisplay::Counted { show_with: "a `check` of one handoff" },
    };
    let reply = ToolReply::from_text(findings::summary(&checks, hints));
    let reply =
        unread.iter().fold(reply, |reply, error| reply.with_text(format!("Not read: {error}")));
    let text = findings::human(workspace, &checks, Surface::Tools, None, hints);
    Ok(match text.trim().is_empty() {
        true => reply,
        false => {
            reply.with_quoted_page("Findings", &text, arguments.as_usize("offset").unwrap_or(0))?
        }
    })
}
