//! Read a handoff or a part of it, or a captured session.

use super::{Arguments, Caller, Kind, OFFSET, Parameter, Reply, Tool};
use crate::diagnostic::Diagnostic;
use crate::mcp::caller;
use crate::view;
use midstride::verbs;
use midstride::workspace::project::Project;

pub(super) const TOOL: Tool = Tool {
    name: "get",
    says: "Read a handoff or a captured session",
    only_reads: true,
    parameters: &[
        Parameter::needed(
            "handoff",
            Kind::Text,
            "Its id, or a session's; `ID@1` is an earlier text",
        ),
        Parameter::new("section", Kind::Text, "Only this heading or field"),
        OFFSET,
    ],
    call: get,
};

fn get(caller: &Caller, arguments: &Arguments) -> Result<Reply, Diagnostic> {
    let project = caller.project()?;
    let (name, number) = crate::commands::revision_of(arguments.needed("handoff"));
    let shelved = match caller::find(&project, name) {
        Ok(shelved) => shelved,
        Err(missing) => return session(&project, name, arguments).ok_or(missing)?,
    };
    if let Some(session) = caller.session() {
        // It is read either way; that nobody wrote down who read it is no reason to keep it back.
        let _ = verbs::acknowledge(&project, session, &[&shelved], "get");
    }
    let shelved = match number {
        Some(number) => {
            let text = project.text_of(&shelved, number)?;
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
    Reply::default().carries(&source, &text, arguments.place("offset").unwrap_or(0))
}

/// The session that an id or its beginning names, if one does.
fn session(
    project: &Project,
    name: &str,
    arguments: &Arguments,
) -> Option<Result<Reply, Diagnostic>> {
    /// Fewer letters name no session.
    const LENGTH_MIN: usize = 6;
    let name = name.strip_prefix("session ").unwrap_or(name);
    let shown = match name.len() < LENGTH_MIN {
        true => return None,
        false => verbs::session(project, name, None).ok()?,
    };
    let source = format!("Session {}", shown.checkpoint.session_id());
    let page = view::session::page(project, &shown.checkpoint);
    Some(Reply::default().carries(&source, &page, arguments.place("offset").unwrap_or(0)))
}
