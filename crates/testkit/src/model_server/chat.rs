//! The Chat Completions API, which Qwen Code uses.

use super::Turn;
use serde_json::{Value, json};

pub(super) const PATH: &str = "/v1/chat/completions";
/// The element in which the client expects a summary.
pub(super) const SUMMARY_ELEMENT: &str = "state_snapshot";

const USAGE: (u64, u64) = (1_000, 50);

/// Whether the client asks on its own for a summary of the conversation.
pub(super) fn is_aside(body: &Value) -> bool {
    let last = body["messages"].as_array().and_then(|messages| messages.last());
    let text = last.map(Value::to_string).unwrap_or_default();
    text.contains("produce the <state_snapshot> XML")
}

/// A turn as the chunks of a streamed completion.
pub(super) fn answer(turn: &Turn, number: usize) -> Vec<(&'static str, Value)> {
    let (input, output) = turn.usage.unwrap_or(USAGE);
    let chunk = |choices: Value| {
        json!({"id": format!("chatcmpl-{number:08}"), "object": "chat.completion.chunk",
               "created": 1, "model": "told", "choices": choices})
    };
    let choice = |delta: Value, why: Option<&str>| {
        ("", chunk(json!([{"index": 0, "delta": delta, "finish_reason": why}])))
    };
    let mut events = vec![choice(json!({"role": "assistant"}), None)];
    events.extend(turn.text.iter().map(|text| choice(json!({"content": text}), None)));
    events.extend(turn.calls.iter().enumerate().map(|(index, (name, arguments))| {
        let function = json!({"name": name, "arguments": arguments.to_string()});
        let id = format!("call_{number:08}_{index}");
        let call = json!({"index": index, "id": id, "type": "function", "function": function});
        choice(json!({"tool_calls": [call]}), None)
    }));
    let why = if turn.calls.is_empty() { "stop" } else { "tool_calls" };
    events.push(choice(json!({}), Some(why)));
    let mut usage = chunk(json!([]));
    usage["usage"] = json!({"prompt_tokens": input, "completion_tokens": output,
                            "total_tokens": input + output});
    events.push(("", usage));
    events
}
