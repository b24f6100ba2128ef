//! MCP prompts, which users pick in a client to hand work over or to continue it.

use super::caller::{self, Caller};
use super::message::{RpcError, shorten_name};
use super::reply::{ToolReply, format_error, with_withheld_note};
use midstride::verbs::{self, BriefRequest};
use midstride_surface::diagnostic::Diagnostic;
use serde_json::{Map, Value, json};

/// The result of `prompts/list`.
pub(super) fn list() -> Value {
    json!({"prompts": [
        {
            "name": "handoff",
            "description": "Save this session for the next one",
            "arguments": [{"name": "focus", "description": "What matters most", "required": false}],
        },
        {
            "name": "continue",
            "description": "Resume the work where it stopped",
            "arguments": [{"name": "handoff", "description": "Handoff id (default: open work)", "required": false}],
        },
    ]})
}

/// The result of `prompts/get`: one prompt with its arguments filled in.
pub(super) fn get(caller: &Caller, parameters: &Value) -> Result<Value, RpcError> {
    let arguments = &parameters["arguments"];
    if !(arguments.is_null() || arguments.is_object()) {
        return Err(RpcError::invalid_params("`arguments` must be an object"));
    }
    let given = |name: &str| {
        let known = arguments.as_object().into_iter().flat_map(Map::keys);
        if let Some(other) = known.into_iter().find(|other| *other != name) {
            let other = shorten_name(other);
            let wrong = format!("unknown argument `{other}`; this prompt takes `{name}`");
            return Err(RpcError::invalid_params(wrong));
        }
        let value = &arguments[name];
        let text = value.as_str().map(str::trim).filter(|text| !text.is_empty());
        match value.is_null() || value.is_string() {
            true => Ok(text),
            false => Err(RpcError::invalid_params(format!("`{name}` must be a string"))),
        }
    };
    let text = match parameters["name"].as_str() {
        Some("handoff") => handoff_prompt(given("focus")?),
        Some("continue") => continue_prompt(caller, given("handoff")?)
            .map_err(|why| RpcError::invalid_params(format_error(caller, &why)))?,
        Some(_) | None => {
            return Err(RpcError::invalid_params("`name` must be `handoff` or `continue`"));
        }
    };
    Ok(json!({"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}))
}

fn handoff_prompt(focus: Option<&str>) -> String {
    let focus = focus.map(|focus| format!("What matters most: {focus}\n\n")).unwrap_or_default();
    format!(
        "Save this session for a reader who has none of its context.\n\n{focus}\
         1. Call midstride's `save` tool with what only you know: what you found, what was decided and why, \
         wrong turns and what to do instead, landmines, open questions, and the next steps in order. \
         Omit the facts: midstride adds files, commands and commits.\n\
         2. The tool replies with what is missing. Call `save` again with only that, until it says that the handoff is complete. Pass `accept` only for something that cannot be known.\n\
         3. Answer both questions it asks (`inherit`, `finds_plans`) as a new session would.\n\
         4. Give the user the handoff's path and the command to resume it.\n"
    )
}

fn continue_prompt(caller: &Caller, handoff: Option<&str>) -> Result<String, Diagnostic> {
    let store = caller.store()?;
    let workspace = store.workspace();
    let steps = "Resume this work where it stopped.\n\
         1. Read the text below and the documents that it says to read first.\n\
         2. Check its claims before you rely on them: midstride's `check` tool shows what has changed since.\n\
         3. State the status, the next action and any blockers in three sentences. Then do the next action.\n";
    let reply = match handoff {
        Some(name) => {
            let stored = caller::find(workspace, name)?;
            let key = stored.handoff(workspace).key();
            let text = String::from_utf8_lossy(&stored.bytes);
            ToolReply::from_text(steps).with_quoted_page(&format!("Handoff {key}"), &text, 0)?
        }
        None => {
            let asked = BriefRequest {
                client: caller.client,
                session: caller.session().cloned(),
                ..BriefRequest::default()
            };
            let briefed = verbs::brief(&store, &asked, &mut |_, _| ());
            match briefed.briefing.text.is_empty() {
                true => ToolReply::from_text(steps).with_text("There is no open work here."),
                false => ToolReply::from_text(steps).with_briefing(&briefed.briefing.text),
            }
        }
    };
    Ok(with_withheld_note(caller, reply.into_text()))
}
