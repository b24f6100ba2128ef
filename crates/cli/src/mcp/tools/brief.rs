//! The `brief` tool: returns the briefing for the next session.

use super::{Caller, McpTool, ParameterKind, ToolArguments, ToolParameter, ToolReply};
use midstride::verbs::{self, BUDGET, BriefRequest};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view::{self, Surface};

pub(super) const TOOL: McpTool = McpTool {
    name: "brief",
    description: "What to know before you resume work: constraints, blockers, status, next steps",
    is_read_only: true,
    parameters: &[
        ToolParameter::optional("role", ParameterKind::Text, "List handoffs for this role first"),
        ToolParameter::optional("budget", ParameterKind::Number, "Tokens, 200-20000"),
    ],
    call: brief,
};

fn brief(caller: &Caller, arguments: &ToolArguments) -> Result<ToolReply, Diagnostic> {
    let (least, most) = (BUDGET.start(), BUDGET.end());
    let tokens = arguments.number("budget");
    if tokens.is_some_and(|tokens| !BUDGET.contains(&tokens)) {
        return Err(Diagnostic::new(format!("the budget must be from {least} to {most} tokens"))
            .hint("omit `budget` to use 2000"));
    }
    let asked = BriefRequest {
        role: arguments.owned_text("role"),
        client: caller.client,
        session: caller.session().cloned(),
        tokens,
        ..BriefRequest::default()
    };
    let store = caller.store()?;
    let workspace = store.workspace();
    // If git fails here, the briefing only lacks the latest observations.
    drop(verbs::observe(workspace));
    let briefed = verbs::brief(&store, &asked, &mut |_, _| ());
    let trouble = briefed
        .ledger_error
        .as_ref()
        .map(|why| format!("Sessions and tasks are not included: {why}"));
    let reply = ToolReply::default()
        .with_briefing(&briefed.briefing.text)
        .with_text(trouble.unwrap_or_default());
    Ok(match briefed.briefing.text.is_empty() {
        true => {
            view::brief::remarks(&briefed, Surface::Tools).iter().fold(reply, ToolReply::with_text)
        }
        false => reply,
    })
}
