//! Give a handoff its next text.

use super::{Arguments, Caller, HANDOFF, Kind, Parameter, Reply, Tool, handoff, recorded};
use crate::diagnostic::Diagnostic;
use crate::view::recorded::ended;
use crate::view::{Surface, findings};
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
    let done = match verbs::revise(&project, &shelved, &arguments.whole("text"), &change)? {
        Revised::Recorded(done) => done,
        Revised::Unchanged => return Ok(Reply::says("Nothing changed.")),
    };
    let reply = recorded(&project, &shelved, &done, &change.reason);
    // It is recorded, whatever can be said about it now.
    let Ok((after, faults)) = verbs::faults_of_revision(&project, &shelved) else {
        return Ok(reply);
    };
    let was_open = shelved.handoff(&project).status().is_open();
    let reply = match ended(&after.handoff(&project)) {
        Some(ended) if !was_open => reply.and(ended),
        Some(_) | None => reply,
    };
    let lines = findings::lines(&after.document, &faults, Surface::Called);
    Ok(lines.iter().fold(reply, Reply::and))
}
