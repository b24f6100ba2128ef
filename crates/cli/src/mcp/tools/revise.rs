//! Give a handoff its next text.

use super::{Arguments, Caller, HANDOFF, Kind, Parameter, Reply, Tool, handoff, recorded};
use crate::diagnostic::Diagnostic;
use midstride::journal::Change;
use midstride::verbs::{self, Revised};

pub(super) const TOOL: Tool = Tool {
    name: "revise",
    says: "Replace a handoff's text; the old one is kept",
    only_reads: false,
    parameters: &[
        HANDOFF,
        Parameter::needed("text", Kind::Text, "Whole document, or the body alone"),
        Parameter::needed("reason", Kind::Text, "Why"),
    ],
    call: revise,
};

fn revise(caller: &Caller, arguments: &Arguments) -> Result<Reply, Diagnostic> {
    let project = caller.project()?;
    let shelved = handoff(&project, arguments)?;
    let change = Change::by_text(arguments.needed("reason"), Some(caller.name.clone()));
    Ok(match verbs::revise(&project, &shelved, arguments.needed("text"), &change)? {
        Revised::Recorded(done) => recorded(&project, &shelved, &done, &change.reason),
        Revised::Unchanged => Reply::says("Nothing changed."),
    })
}
