//! The `answer` tool: answers a question of a handoff, or records whether an assumption holds.

use super::{
    Caller, HANDOFF, McpTool, ParameterKind, ToolArguments, ToolParameter, ToolReply, find_handoff,
    recorded_reply,
};
use crate::commands::answer::AnswerInput;
use midstride::journal::RevisionInfo;
use midstride::verbs;
use midstride_core::format::header::RevisionVerb;
use midstride_core::handoff::Handoff;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view::recorded_change::closed_notice;
use std::cell::RefCell;

pub(super) const TOOL: McpTool = McpTool {
    name: "answer",
    description: "Answer a question, or say if an assumption holds; recorded as yours",
    is_read_only: false,
    parameters: &[
        HANDOFF,
        ToolParameter::required(
            "which",
            ParameterKind::Text,
            "`q1` or `a1`, in the order of the document",
        ),
        ToolParameter::optional("text", ParameterKind::Text, "The answer to a question"),
        ToolParameter::optional("holds", ParameterKind::Flag, "Of an assumption"),
    ],
    call: answer,
};

fn answer(caller: &Caller, arguments: &ToolArguments) -> Result<ToolReply, Diagnostic> {
    let store = caller.store()?;
    let workspace = store.workspace();
    let stored = find_handoff(workspace, arguments)?;
    let (which, text) = (arguments.required_text("which").to_lowercase(), arguments.text("text"));
    let (input, reason) = AnswerInput::parse(&which, text, arguments.flag("holds"), || {
        ("give `text`, and no `holds`".to_owned(), "give `holds`, and no `text`".to_owned())
    })?;
    let change = RevisionInfo::by_verb(RevisionVerb::Answer, reason, Some(caller.name.clone()));
    let before = RefCell::new(None);
    let decide = |handoff: &Handoff<'_>| {
        before.replace(input.describe_previous(handoff));
        input.decide(handoff)
    };
    let done = verbs::apply(&store, &stored, &decide, &change)?;
    let reply = recorded_reply(workspace, &stored, &done, &change.reason);
    let reply = reply.with_text(before.take().unwrap_or_default());
    Ok(reply.with_text(closed_notice(&stored.handoff(workspace)).unwrap_or_default()))
}
