//! The `state_load` tool: loads the state of a workflow, or lists all workflows.

use super::{Caller, McpTool, OFFSET, ParameterKind, ToolArguments, ToolParameter, ToolReply};
use midstride::store::Store;
use midstride::verbs::{self, LoadedState};
use midstride_core::work::workflow::WorkflowState;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view::count;

pub(super) const TOOL: McpTool = McpTool {
    name: "state_load",
    description: "Load a workflow's state; without a name, list all workflows",
    is_read_only: true,
    parameters: &[
        ToolParameter::optional("name", ParameterKind::Text, ""),
        ToolParameter::optional(
            "number",
            ParameterKind::Number,
            "An earlier state; 1 is the oldest",
        ),
        OFFSET,
    ],
    call: load,
};

fn load(caller: &Caller, arguments: &ToolArguments) -> Result<ToolReply, Diagnostic> {
    let store = caller.store()?;
    let offset = arguments.as_usize("offset").unwrap_or(0);
    let Some(name) = arguments.text("name") else { return list(&store, offset) };
    let LoadedState { state, number, history } =
        verbs::load_state(&store, name, arguments.as_usize("number"))?;
    let text = serde_json::to_string_pretty(&state).unwrap_or_default();
    let when = history.get(number.saturating_sub(1)).map(describe_save).unwrap_or_default();
    let source = format!("State {number} of {} of `{name}`, {when}", history.len());
    ToolReply::default().with_quoted_page(&source, &text, offset)
}

fn list(store: &Store, offset: usize) -> Result<ToolReply, Diagnostic> {
    let all = verbs::states(store)?;
    if all.is_empty() {
        return Ok(ToolReply::from_text("No saved states yet. Use `state_save` to save one."));
    }
    let line = |(last, number): &(WorkflowState, usize)| {
        format!(
            "{}: {}, the last one {}\n",
            last.name,
            count(*number, "state"),
            describe_save(last)
        )
    };
    let text: String = all.iter().map(line).collect();
    ToolReply::default().with_quoted_page(&count(all.len(), "workflow"), &text, offset)
}

/// When a state was saved, and by which session.
fn describe_save(kept: &WorkflowState) -> String {
    let session = kept.session.as_ref();
    let session = session.map(|(client, id)| format!(" in {client} session {id}"));
    let at = kept.at.strftime("%Y-%m-%d %H:%M");
    format!("saved {at} by {}{}", kept.by, session.unwrap_or_default())
}
