//! The `get` tool: reads a handoff, a section of one, or a captured session.

use super::{Caller, McpTool, OFFSET, ParameterKind, ToolArguments, ToolParameter, ToolReply};
use crate::mcp::caller;
use midstride::store::Store;
use midstride::verbs;
use midstride_core::text::id::split_revision;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;

pub(super) const TOOL: McpTool = McpTool {
    name: "get",
    description: "Read a handoff or a captured session",
    is_read_only: true,
    parameters: &[
        ToolParameter::required(
            "handoff",
            ParameterKind::Text,
            "Handoff or session id; `ID@1` for an earlier revision",
        ),
        ToolParameter::optional("section", ParameterKind::Text, "Only this heading or field"),
        OFFSET,
    ],
    call: get,
};

fn get(caller: &Caller, arguments: &ToolArguments) -> Result<ToolReply, Diagnostic> {
    let store = caller.store()?;
    let workspace = store.workspace();
    let (name, number) = split_revision(arguments.required_text("handoff"));
    let stored = match caller::find(workspace, name) {
        Ok(stored) => stored,
        Err(missing) => return session_reply(&store, name, arguments).ok_or(missing)?,
    };
    if let Some(session) = caller.session() {
        // Return the handoff even if the acknowledgment cannot be recorded.
        let _ = verbs::acknowledge(&store, session, &[&stored], "get");
    }
    let stored = match number {
        Some(number) => {
            let text = store.revision_text(&stored, number)?;
            stored.with_text(text)
        }
        None => stored,
    };
    let text = match arguments.text("section") {
        Some(name) => view::handoff::section(workspace, &stored, name, None).ok_or_else(|| {
            let known = view::handoff::section_names(&stored).join(", ");
            Diagnostic::new(format!("the handoff has no `{name}` section"))
                .hint(format!("its sections are {known}"))
        })?,
        None => String::from_utf8_lossy(&stored.bytes).into_owned(),
    };
    let key = stored.handoff(workspace).key();
    let number = number.map(|number| format!("@{number}")).unwrap_or_default();
    let source = format!("Handoff {key}{number} ({})", stored.path.display());
    ToolReply::default().with_quoted_page(&source, &text, arguments.as_usize("offset").unwrap_or(0))
}

/// The page of the session that an id or a prefix names, if there is one.
fn session_reply(
    store: &Store,
    name: &str,
    arguments: &ToolArguments,
) -> Option<Result<ToolReply, Diagnostic>> {
    /// The minimum length of a session id prefix.
    const LENGTH_MIN: usize = 6;
    let workspace = store.workspace();
    let name = name.strip_prefix("session ").unwrap_or(name);
    let shown = match name.len() < LENGTH_MIN {
        true => return None,
        false => verbs::session(store, name, None).ok()?,
    };
    let source = format!("Session {}", shown.checkpoint.session_id());
    let page = view::session::page(workspace, &shown.checkpoint);
    Some(ToolReply::default().with_quoted_page(
        &source,
        &page,
        arguments.as_usize("offset").unwrap_or(0),
    ))
}
