//! Load the state of a workflow, or list what there is.

use super::{Arguments, Caller, Kind, OFFSET, Parameter, Reply, Tool};
use crate::diagnostic::Diagnostic;
use crate::view::count;
use midstride::verbs::{self, LoadedState};
use midstride::workspace::project::Project;
use midstride_core::work::workflow::WorkflowState;

pub(super) const TOOL: Tool = Tool {
    name: "state_load",
    says: "Load a workflow's state; without a name, list them",
    only_reads: true,
    parameters: &[
        Parameter::new("name", Kind::Text, ""),
        Parameter::new("number", Kind::Number, "An earlier one; 1 is the oldest"),
        OFFSET,
    ],
    call: load,
};

fn load(caller: &Caller, arguments: &Arguments) -> Result<Reply, Diagnostic> {
    let project = caller.project()?;
    let offset = arguments.place("offset").unwrap_or(0);
    let Some(name) = arguments.text("name") else { return list(&project, offset) };
    let LoadedState { state, number, history } =
        verbs::load_state(&project, name, arguments.place("number"))?;
    let text = serde_json::to_string_pretty(&state).unwrap_or_default();
    let when = history.get(number.saturating_sub(1)).map(saved).unwrap_or_default();
    let source = format!("State {number} of {} of `{name}`, {when}", history.len());
    Reply::default().carries(&source, &text, offset)
}

fn list(project: &Project, offset: usize) -> Result<Reply, Diagnostic> {
    let all = verbs::states(project)?;
    if all.is_empty() {
        return Ok(Reply::says("No state was saved yet. `state_save` saves one."));
    }
    let line = |(last, number): &(WorkflowState, usize)| {
        format!("{}: {}, the last {}\n", last.name, count(*number, "state"), saved(last))
    };
    let text: String = all.iter().map(line).collect();
    Reply::default().carries(&count(all.len(), "workflow"), &text, offset)
}

/// When a state was saved, and by whom.
fn saved(kept: &WorkflowState) -> String {
    let session = kept.session.as_ref();
    let session = session.map(|(client, id)| format!(" in {client} session {id}"));
    let at = kept.at.strftime("%Y-%m-%d %H:%M");
    format!("saved {at} by {}{}", kept.by, session.unwrap_or_default())
}
