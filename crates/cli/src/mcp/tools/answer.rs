//! Answer a question of a handoff, or say whether an assumption holds.

use super::{Arguments, Caller, HANDOFF, Kind, Parameter, Reply, Tool, handoff, recorded};
use crate::commands::answer::Said;
use crate::diagnostic::Diagnostic;
use crate::view::recorded::ended;
use midstride::journal::Change;
use midstride::verbs;
use midstride_core::format::header::RevisionVerb;
use midstride_core::handoff::Handoff;
use std::cell::RefCell;

pub(super) const TOOL: Tool = Tool {
    name: "answer",
    says: "Answer a question, or say if an assumption holds; recorded as yours",
    only_reads: false,
    parameters: &[
        HANDOFF,
        Parameter::needed("which", Kind::Text, "`q1` or `a1`, in the order of the document"),
        Parameter::new("text", Kind::Text, "The answer to a question"),
        Parameter::new("holds", Kind::Flag, "Of an assumption"),
    ],
    call: answer,
};

fn answer(caller: &Caller, arguments: &Arguments) -> Result<Reply, Diagnostic> {
    let project = caller.project()?;
    let shelved = handoff(&project, arguments)?;
    let (which, text) = (arguments.needed("which").to_lowercase(), arguments.text("text"));
    let (said, reason) = Said::of(&which, text, arguments.flag("holds"), || {
        ("give `text`, and no `holds`".to_owned(), "give `holds`, and no `text`".to_owned())
    })?;
    let change = Change::by_verb(RevisionVerb::Answer, reason, Some(caller.name.clone()));
    let before = RefCell::new(None);
    let decide = |handoff: &Handoff<'_>| {
        before.replace(said.before(handoff));
        said.decide(handoff)
    };
    let done = verbs::live(&project, &shelved, &decide, &change)?;
    let reply = recorded(&project, &shelved, &done, &change.reason);
    let reply = reply.and(before.take().unwrap_or_default());
    Ok(reply.and(ended(&shelved.handoff(&project)).unwrap_or_default()))
}
