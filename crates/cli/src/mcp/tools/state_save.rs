//! The `state_save` tool: saves the state of a workflow.

use super::{Caller, McpTool, ParameterKind, ToolArguments, ToolParameter, ToolReply};
use midstride::verbs::{self, SavedState, StateChange};
use midstride_surface::diagnostic::Diagnostic;

/// The parameter for the workflow's name.
pub(super) const NAME: ToolParameter =
    ToolParameter::required("name", ParameterKind::Text, "Workflow name");

pub(super) const TOOL: McpTool = McpTool {
    name: "state_save",
    description: "Save a workflow's state; earlier ones are kept",
    is_read_only: false,
    parameters: &[
        NAME,
        ToolParameter::required(
            "state",
            ParameterKind::Object,
            "Everything the next session needs",
        ),
    ],
    call: save,
};

fn save(caller: &Caller, arguments: &ToolArguments) -> Result<ToolReply, Diagnostic> {
    change_state(caller, arguments, &StateChange::Whole(arguments.value("state")))
}

/// Changes a workflow state and reports the result.
pub(super) fn change_state(
    caller: &Caller,
    arguments: &ToolArguments,
    change: &StateChange,
) -> Result<ToolReply, Diagnostic> {
    let store = caller.store()?;
    let name = arguments.required_text("name");
    let SavedState { number, is_new, redacted, .. } =
        verbs::save_state(&store, name, change, Some(&caller.name))?;
    let what = if is_new { "saved" } else { "nothing changed" };
    Ok(ToolReply::from_text(format!("{name}: state {number}, {what}")).with_redactions(&redacted))
}
