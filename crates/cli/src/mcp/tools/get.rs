//! Read a handoff or a part of it, or a captured session.

use super::{Caller, McpTool, OFFSET, ParameterKind, ToolArguments, ToolParameter, ToolReply};
use crate::diagnostic::Diagnostic;
use crate::mcp::caller;
use crate::view;
use midstride::verbs;
use midstride::workspace::project::Project;

pub(super) const TOOL: McpTool = McpTool {
    name: "get",
    description: "Read a handoff or a captured session",
    is_read_only: true,
    parameters: &[
        ToolParameter::required(
            "handoff",
            ParameterKind::Text,
            "Its id, or a session's; `ID@1` is an earlier text",
        ),
        ToolParameter::optional("section", ParameterKind::Text, "Only this heading or field"),
        OFFSET,
    ],
    call: get,
};

fn get(caller: &Caller, arguments: &ToolArguments) -> Result<ToolReply, Diagnostic> {
    let project = caller.project()?;
    let (name, number) = crate::commands::split_revision(arguments.required_text("handoff"));
    let shelved = match caller::find(&project, name) {
        Ok(shelved) => shelved,
        Err(missing) => return session_reply(&project, name, arguments).ok_or(missing)?,
    };
    if let Some(session) = caller.session() {
        // It is read either way; that nobody wrote down who read it is no reason to keep it back.
        let _ = verbs::acknowledge(&project, session, &[&shelved], "get");
    }
    let shelved = match number {
        Some(number) => {
            let text = project.revision_text(&shelved, number)?;
            shelved.with_text(text)
        }
        None => shelved,
    };
    let text = match arguments.text("section") {
        Some(name) => view::handoff::section(&shelved, name).ok_or_else(|| {
            let known = view::handoff::section_names(&shelved).join(", ");
            Diagnostic::new(format!("it has no section `{name}`")).hint(format!("it has {known}"))
        })?,
        None => String::from_utf8_lossy(&shelved.bytes).into_owned(),
    };
    let key = shelved.handoff(&project).key();
    let number = number.map(|number| format!("@{number}")).unwrap_or_default();
    let source = format!("Handoff {key}{number} ({})", shelved.path.display());
    ToolReply::default().with_quoted_page(&source, &text, arguments.as_usize("offset").unwrap_or(0))
}

/// The session that an id or its beginning names, if one does.
fn session_reply(
    project: &Project,
    name: &str,
    arguments: &ToolArguments,
) -> Option<Result<ToolReply, Diagnostic>> {
    /// Fewer letters name no session.
    const LENGTH_MIN: usize = 6;
    let name = name.strip_prefix("session ").unwrap_or(name);
    let shown = match name.len() < LENGTH_MIN {
        true => return None,
        false => verbs::session(project, name, None).ok()?,
    };
    let source = format!("Session {}", shown.checkpoint.session_id());
    let page = view::session::page(project, &shown.checkpoint);
    Some(ToolReply::default().with_quoted_page(
        &source,
        &page,
        arguments.as_usize("offset").unwrap_or(0),
    ))
}
