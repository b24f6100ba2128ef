//! The parts of calls and answers that all clients share.

use super::fields::HookFields;
use midstride_core::brief::BriefOccasion;
use midstride_core::brief::hook::{HookEvent, HookInput, HookOutput};
use midstride_core::session::ClientName;
use midstride_core::text::id::SessionId;
use serde_json::{Map, Value, json};

/// Builds a call from the fields every client sends.
pub(super) fn build_call(
    client: ClientName,
    event: String,
    moment: HookEvent,
    fields: &HookFields,
) -> HookInput {
    HookInput {
        client,
        event,
        session: fields.text("session_id").map(SessionId::new),
        transcript: fields.text("transcript_path"),
        folder: fields.text("cwd"),
        agent: fields.text("agent_id"),
        turn: fields.text("prompt_id").or_else(|| fields.text("turn_id")),
        // `codex exec` reports this mode, too, but still refuses tools that write.
        is_unrestricted: client == ClientName::ClaudeCode
            && fields.text("permission_mode").as_deref() == Some("bypassPermissions"),
        kind: moment,
    }
}

/// How a session starts. A forked session knows what the original knew.
pub(super) fn parse_source(fields: &HookFields) -> BriefOccasion {
    match fields.text("source").as_deref() {
        Some("resume" | "fork") => BriefOccasion::Resume,
        Some("clear") => BriefOccasion::Clear,
        Some("compact") => BriefOccasion::Compact,
        Some(_) | None => BriefOccasion::Startup,
    }
}

pub(super) fn parse_prompt(fields: &HookFields) -> HookEvent {
    fields.text("prompt").map_or(HookEvent::Other, HookEvent::Prompt)
}

/// Formats an answer as the JSON object that all clients take.
pub(super) fn format_object(call: &HookInput, answer: &HookOutput) -> String {
    let mut object = Map::new();
    let mut put = |name: &str, value: Value| object.insert(name.to_owned(), value);
    if let Some(line) = &answer.user_line {
        put("systemMessage", json!(line));
    }
    if let Some(why) = &answer.block {
        put("decision", json!("block"));
        put("reason", json!(why));
    }
    if let Some(context) = &answer.context {
        let output = json!({ "hookEventName": call.event, "additionalContext": context });
        put("hookSpecificOutput", output);
    }
    if object.is_empty() { String::new() } else { format!("{}\n", Value::Object(object)) }
}
