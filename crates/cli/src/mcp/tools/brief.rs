//! What whoever takes the work over has to know.

use super::{Arguments, Caller, Kind, Parameter, Reply, Tool};
use crate::diagnostic::Diagnostic;
use crate::view::{self, Surface};
use midstride::verbs::{self, Asked, BUDGET};

pub(super) const TOOL: Tool = Tool {
    name: "brief",
    says: "What to know before going on: constraints, blockers, where the work stands, what is next",
    only_reads: true,
    parameters: &[
        Parameter::new("role", Kind::Text, "Handoffs to this role first"),
        Parameter::new("budget", Kind::Number, "Tokens, 200-20000"),
    ],
    call: brief,
};

fn brief(caller: &Caller, arguments: &Arguments) -> Result<Reply, Diagnostic> {
    let (least, most) = (BUDGET.start(), BUDGET.end());
    let tokens = arguments.number("budget");
    if tokens.is_some_and(|tokens| !BUDGET.contains(&tokens)) {
        return Err(Diagnostic::new(format!("a briefing has from {least} to {most} tokens"))
            .hint("leave `budget` out for 2000"));
    }
    let asked = Asked {
        role: arguments.owned("role"),
        client: caller.client,
        session: caller.session().cloned(),
        tokens,
        ..Asked::default()
    };
    let project = caller.project()?;
    // What git cannot say is missing, nothing else.
    drop(verbs::observe(&project));
    let briefed = verbs::brief(&project, &asked, &mut |_, _| ());
    let trouble =
        briefed.trouble.as_ref().map(|why| format!("Sessions and tasks are not told: {why}"));
    let reply = Reply::default().briefs(&briefed.briefing.text).and(trouble.unwrap_or_default());
    Ok(match briefed.briefing.text.is_empty() {
        true => view::brief::remarks(&briefed, Surface::Called).iter().fold(reply, Reply::and),
        false => reply,
    })
}
