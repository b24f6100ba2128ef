//! The `state_update` tool: changes the state of a workflow.

use super::state_save::{NAME, change_state};
use super::{Caller, McpTool, ParameterKind, ToolArguments, ToolParameter, ToolReply};
use midstride::verbs::StateChange;
use midstride_surface::diagnostic::Diagnostic;

pub(super) const TOOL: McpTool = McpTool {
    name: "state_update",
    description: "Change part of a workflow's state",
    is_read_only: false,
    parameters: &[
        NAME,
        ToolParameter::required(
            "patch",
            ParameterKind::Object,
            "JSON merge patch: null removes, lists are replaced",
        ),
    ],
    call: update,
};

fn update(caller: &Caller, arguments: &ToolArguments) -> Result<ToolReply, Diagnostic> {
    change_state(caller, arguments, &StateChange::Patch(arguments.value("patch")))
}
