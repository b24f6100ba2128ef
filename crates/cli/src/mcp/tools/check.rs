//! Look for problems in handoffs.

use super::{Arguments, Caller, Kind, OFFSET, Parameter, Reply, Tool};
use crate::diagnostic::Diagnostic;
use crate::mcp::caller;
use crate::view::{Surface, findings};
use midstride::code::drift::Ground;
use midstride::verbs::{self, Comparison};

pub(super) const TOOL: Tool = Tool {
    name: "check",
    says: "Look for gaps and for what changed in the code since",
    only_reads: true,
    parameters: &[Parameter::new("handoff", Kind::Text, "Its id; else all"), OFFSET],
    call: check,
};

fn check(caller: &Caller, arguments: &Arguments) -> Result<Reply, Diagnostic> {
    let project = caller.project()?;
    let with = Comparison::with(&project, Ground::WorkTree, false)?;
    let (judged, unread) = match arguments.text("handoff") {
        Some(name) => {
            let shelved = caller::find(&project, name)?;
            (verbs::check_these(&project, Some(&with), vec![shelved]), Vec::new())
        }
        None => {
            let (mut judged, mut unread) = (Vec::new(), Vec::new());
            for result in verbs::check_all(&project, &with) {
                match result {
                    Ok(one) => judged.push(one),
                    Err(error) => unread.push(error),
                }
            }
            (judged, unread)
        }
    };
    let reply = Reply::says(findings::summary(&judged, false));
    let reply = unread.iter().fold(reply, |reply, error| reply.and(format!("Not read: {error}")));
    let text = findings::human(&project, &judged, Surface::Called);
    Ok(match text.trim().is_empty() {
        true => reply,
        false => reply.carries("Findings", &text, arguments.place("offset").unwrap_or(0))?,
    })
}
