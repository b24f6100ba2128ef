//! The Messages API, which Claude Code uses.

use super::Turn;
use serde_json::{Value, json};

const USAGE: (u64, u64) = (1_000, 50);

/// Whether the client asks on its own for a summary or a title of the conversation.
pub(super) fn is_aside(body: &Value) -> bool {
    if body["system"].to_string().contains("Generate a concise, sentence-case title") {
        return true;
    }
    // The output of hooks may follow the request as system messages, so look for the last user
    // message.
    let mut messages = body["messages"].as_array().into_iter().flatten();
    let last = messages.rfind(|message| message["role"] == "user");
    let text = last.map(|message| message["content"].to_string()).unwrap_or_default();
    text.contains("detailed summary of the conversation so far")
}

/// A turn as the events of a streamed message.
pub(super) fn answer(turn: &Turn, number: usize) -> Vec<(&'static str, Value)> {
    let (input, output) = turn.usage.unwrap_or(USAGE);
    let id = format!("msg_{number:08}");
    let usage = |output: u64| {
        json!({"input_tokens": input, "cache_creation_input_tokens": 0,
               "cache_read_input_tokens": 0, "output_tokens": output})
    };
    let message = json!({"id": id, "type": "message", "role": "assistant", "model": "told",
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage(1)});
    let mut events = vec![("message_start", json!({"type": "message_start", "message": message}))];
    let text = turn.text.iter().map(|text| {
        (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": text}))
    });
    let calls = turn.calls.iter().enumerate().map(|(index, (name, arguments))| {
        let id = format!("toolu_{number:08}_{index}");
        (
            json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
            json!({"type": "input_json_delta", "partial_json": arguments.to_string()}),
        )
    });
    for (index, (block, delta)) in text.chain(calls).enumerate() {
        let start = json!({"type": "content_block_start", "index": index, "content_block": block});
        let delta = json!({"type": "content_block_delta", "index": index, "delta": delta});
        let stop = json!({"type": "content_block_stop", "index": index});
        events.push(("content_block_start", start));
        events.push(("content_block_delta", delta));
        events.push(("content_block_stop", stop));
    }
    let why = if turn.calls.is_empty() { "end_turn" } else { "tool_use" };
    let delta = json!({"stop_reason": why, "stop_sequence": null});
    let end = json!({"type": "message_delta", "delta": delta, "usage": usage(output)});
    events.push(("message_delta", end));
    events.push(("message_stop", json!({"type": "message_stop"})));
    events
}
