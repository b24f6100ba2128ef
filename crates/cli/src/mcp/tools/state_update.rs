//! Change the state of a workflow.

use super::state_save::{NAME, change};
use super::{Arguments, Caller, Kind, Parameter, Reply, Tool};
use crate::diagnostic::Diagnostic;
use midstride::verbs::StateChange;

pub(super) const TOOL: Tool = Tool {
    name: "state_update",
    says: "Change part of a workflow's state",
    only_reads: false,
    parameters: &[
        NAME,
        Parameter::needed(
            "patch",
            Kind::Object,
            "JSON merge patch: null removes, lists are replaced",
        ),
    ],
    call: update,
};

fn update(caller: &Caller, arguments: &Arguments) -> Result<Reply, Diagnostic> {
    change(caller, arguments, &StateChange::Patch(arguments.value("patch")))
}
