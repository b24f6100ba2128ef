//! The `answer` tool: answers a question of a handoff, or records whether an assumption holds.

use super::{
    Caller, HANDOFF, McpTool, ParameterKind, ToolArguments, ToolParameter, ToolReply, find_handoff,
    recorded_reply,
};
use midstride::verbs::{self, AnswerInputError, AnswerOutcome, AnswerRequest};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view::recorded_change;

pub(super) const TOOL: McpTool = McpTool {
    name: "answer",
    description: "Answer a question or validate an assumption; recorded under your name",
    is_read_only: false,
    parameters: &[
        HANDOFF,
        ToolParameter::required("which", ParameterKind::Text, "`q1` or `a1`, in document order"),
        ToolParameter::optional("text", ParameterKind::Text, "The answer to a question"),
        ToolParameter::optional("holds", ParameterKind::Flag, "Whether the assumption holds"),
    ],
    call: answer,
};

fn answer(caller: &Caller, arguments: &ToolArguments) -> Result<ToolReply, Diagnostic> {
    let store = caller.store()?;
    let workspace = store.workspace();
    let stored = find_handoff(workspace, arguments)?;
    let (which, text) = (arguments.required_text("which").to_lowercase(), arguments.text("text"));
    let request =
        AnswerRequest::parse(&which, text, arguments.flag("holds"), Some(caller.name.clone()))
            .map_err(|error| explain_input(&error))?;
    let AnswerOutcome { recorded, reason, previous, closed } =
        verbs::answer(&store, &stored, &request, None)?;
    let reply = recorded_reply(workspace, &stored, &recorded, &reason);
    let before = previous.as_ref().map(recorded_change::previous_answer);
    let key = stored.handoff(workspace).key();
    let closed = closed.map(|status| recorded_change::closed_notice(&key, status));
    Ok(before.into_iter().chain(closed).fold(reply, ToolReply::with_text))
}

/// Explains what is missing, with the arguments to give.
fn explain_input(error: &AnswerInputError) -> Diagnostic {
    Diagnostic::new(error.to_string()).hint(match error {
        AnswerInputError::NoText(_) => "pass `text`, not `holds`",
        AnswerInputError::NoVerdict(_) => "pass `holds`, not `text`",
        AnswerInputError::UnknownName(_) | _ => recorded_change::ANSWER_NAMES_HINT,
    })
}
