//! Save the state of a workflow.

use super::{Arguments, Caller, Kind, Parameter, Reply, Tool};
use crate::diagnostic::Diagnostic;
use midstride::verbs::{self, SavedState, StateChange};

/// How a workflow is called.
pub(super) const NAME: Parameter = Parameter::needed("name", Kind::Text, "Of the workflow");

pub(super) const TOOL: Tool = Tool {
    name: "state_save",
    says: "Save a workflow's state; earlier ones are kept",
    only_reads: false,
    parameters: &[
        NAME,
        Parameter::needed("state", Kind::Object, "Everything the next session needs"),
    ],
    call: save,
};

fn save(caller: &Caller, arguments: &Arguments) -> Result<Reply, Diagnostic> {
    change(caller, arguments, &StateChange::Whole(arguments.value("state")))
}

/// Changes a state, and says what became of it.
pub(super) fn change(
    caller: &Caller,
    arguments: &Arguments,
    change: &StateChange,
) -> Result<Reply, Diagnostic> {
    let project = caller.project()?;
    let name = arguments.needed("name");
    let SavedState { number, is_new, redacted, .. } =
        verbs::save_state(&project, name, change, Some(&caller.name))?;
    let what = if is_new { "saved" } else { "nothing changed" };
    Ok(Reply::says(format!("{name}: state {number}, {what}")).without(&redacted))
}
