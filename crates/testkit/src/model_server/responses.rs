//! The Responses API, which Codex uses.

use super::Turn;
use serde_json::{Value, json};

const USAGE: (u64, u64) = (1_000, 50);

/// Whether the client asks on its own for a summary of the conversation.
pub(super) fn is_aside(body: &Value) -> bool {
    let last = body["input"].as_array().and_then(|items| items.last());
    let text = last.map(Value::to_string).unwrap_or_default();
    text.contains("CONTEXT CHECKPOINT COMPACTION")
}

/// A turn as the events of a streamed response.
pub(super) fn answer(turn: &Turn, number: usize) -> Vec<(&'static str, Value)> {
    let (input, output) = turn.usage.unwrap_or(USAGE);
    let id = format!("resp_{number:08}");
    let created = json!({"type": "response.created", "response": {"id": id}});
    let mut events = vec![("response.created", created)];
    let text = turn.text.iter().map(|text| {
        json!({"type": "message", "role": "assistant", "id": format!("msg_{number:08}"),
               "content": [{"type": "output_text", "text": text}]})
    });
    let calls = turn.calls.iter().enumerate().map(|(index, (name, arguments))| {
        call(name, arguments, &format!("call_{number:08}_{index}"))
    });
    for item in text.chain(calls) {
        let done = json!({"type": "response.output_item.done", "item": item});
        events.push(("response.output_item.done", done));
    }
    let usage = json!({"input_tokens": input, "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": output, "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": input + output});
    let completed = json!({"type": "response.completed", "response": {"id": id, "usage": usage}});
    events.push(("response.completed", completed));
    events
}

/// A function call, or a call of a free-form tool if the arguments are plain text. A tool of an MCP
/// server is named `server/tool`, one of the client's own families `family::tool`.
fn call(name: &str, arguments: &Value, id: &str) -> Value {
    if let Some((family, tool)) = name.split_once("::") {
        return json!({"type": "function_call", "call_id": id, "name": tool,
                      "namespace": family, "arguments": arguments.to_string()});
    }
    match (arguments, name.split_once('/')) {
        (Value::String(input), _) => {
            json!({"type": "custom_tool_call", "call_id": id, "name": name, "input": input})
        }
        (_, Some((server, tool))) => {
            json!({"type": "function_call", "call_id": id, "name": tool,
                   "namespace": format!("mcp__{server}"), "arguments": arguments.to_string()})
        }
        (_, None) => json!({"type": "function_call", "call_id": id, "name": name,
                            "arguments": arguments.to_string()}),
    }
}
