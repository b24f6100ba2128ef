//! The JSON-RPC 2.0 messages that MCP uses.

use super::line::{LINE_BYTES_MAX, edges};
use midstride_core::text::redact::CleanText;
use midstride_surface::view::one_line;
use serde_json::{Value, json};

/// The maximum number of values in a message. A value of two bytes takes hundreds of bytes once it
/// is parsed.
pub(super) const VALUES_MAX: usize = 200_000;

/// The width at which unknown names are truncated in error messages.
const NAME_WIDTH: usize = 80;

/// A JSON-RPC error.
#[derive(Debug)]
pub(super) struct RpcError {
    code: i32,
    message: String,
    data: Option<Value>,
}

impl RpcError {
    fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The bytes are not JSON.
    pub(super) fn parse_error(error: &serde_json::Error) -> Self {
        Self::new(-32700, format!("invalid JSON: {error}; send one JSON-RPC message per line"))
    }

    /// The JSON is not a valid request.
    pub(super) fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(-32600, message)
    }

    /// The message has more values than any tool needs.
    pub(super) fn too_many_values(values: usize) -> Self {
        Self::invalid_request(format!(
            "message too large: about {values} values, limit {VALUES_MAX}; send less, and refer to files instead of quoting them"
        ))
    }

    /// The method does not exist.
    pub(super) fn method_not_found(name: &str) -> Self {
        Self::new(-32601, format!("unknown method `{}`", shorten_name(name)))
    }

    /// The parameters are invalid.
    pub(super) fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(-32602, message)
    }

    /// The resource does not exist. Since 2026-07-28, that is an invalid parameter.
    pub(super) fn resource_not_found(message: impl Into<String>, is_modern: bool) -> Self {
        Self::new(if is_modern { -32602 } else { -32002 }, message)
    }

    /// The server does not support the requested protocol version.
    pub(super) fn unsupported_version(requested: &str, supported: &[&str]) -> Self {
        let requested = shorten_name(requested);
        let message = format!(
            "protocol version `{requested}` is not supported; use one of {}",
            supported.join(", ")
        );
        let data = json!({"requested": requested, "supported": supported});
        Self { data: Some(data), ..Self::new(-32022, message) }
    }

    /// Redacts secrets from the error, which may quote what the client sent.
    pub(super) fn without_secrets(self, clean: impl Fn(&str) -> String) -> Self {
        let mut data = self.data;
        if let Some(Value::String(requested)) = data.as_mut().and_then(|it| it.get_mut("requested"))
        {
            *requested = clean(requested);
        }
        Self { message: clean(&self.message), data, ..self }
    }

    fn into_json(self) -> Value {
        let mut error = json!({"code": self.code, "message": self.message});
        if let Some(data) = self.data {
            error["data"] = data;
        }
        error
    }
}

/// A name from the client as one short line. Secrets are redacted first: half of one is not recognized.
pub(super) fn shorten_name(sent: &str) -> String {
    one_line(CleanText::redact(sent).0.as_str(), NAME_WIDTH)
}

/// A message from the client.
#[derive(Debug)]
pub(super) enum IncomingMessage {
    /// A request, which needs an answer.
    Request { id: Value, method: String, parameters: Value },
    /// A notification, which needs none.
    Notification { method: String },
    /// The answer to a request of the server.
    Response { id: Value, result: Option<Value> },
    /// A malformed message, with its id if it could be read.
    Invalid { id: Value, fault: RpcError },
}

impl IncomingMessage {
    /// Parses a message.
    pub(super) fn parse(message: Value) -> Self {
        let Value::Object(mut fields) = message else {
            let fault = RpcError::invalid_request("a message must be a JSON object");
            return Self::Invalid { id: Value::Null, fault };
        };
        let id = fields.remove("id");
        let known = id.clone().filter(is_id).unwrap_or_default();
        let broken = |fault: RpcError| Self::Invalid { id: known.clone(), fault };
        if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return broken(RpcError::invalid_request("`jsonrpc` must be `\"2.0\"`"));
        }
        let method = match fields.remove("method") {
            Some(Value::String(method)) => method,
            Some(_) => return broken(RpcError::invalid_request("`method` must be a string")),
            None if fields.contains_key("result") || fields.contains_key("error") => {
                return Self::Response { id: known, result: fields.remove("result") };
            }
            None => return broken(RpcError::invalid_request("`method` is missing")),
        };
        let parameters = fields.remove("params").unwrap_or_else(|| json!({}));
        match id {
            None => Self::Notification { method },
            Some(id) if !is_id(&id) => {
                broken(RpcError::invalid_request("`id` must be a string or a number"))
            }
            Some(_) if !parameters.is_object() => {
                broken(RpcError::invalid_params("`params` must be an object"))
            }
            Some(id) => Self::Request { id, method, parameters },
        }
    }
}

fn is_id(id: &Value) -> bool {
    id.is_string() || id.is_number()
}

/// Builds the response to a request.
pub(super) fn response(id: &Value, result: Result<Value, RpcError>) -> Value {
    match result {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(fault) => json!({"jsonrpc": "2.0", "id": id, "error": fault.into_json()}),
    }
}

/// Builds a request to the client.
pub(super) fn request(id: &str, method: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method})
}

/// Builds the response to a line that is too long to parse. It needs the id, because the client
/// waits for an answer to it.
pub(super) fn too_long_response(bytes: usize, head: &[u8], tail: &[u8]) -> Value {
    let why = format!(
        "message too large: {bytes} bytes, limit {LINE_BYTES_MAX}; send less, and refer to files instead of quoting them"
    );
    let id = id_in_head(head).or_else(|| id_in_tail(tail));
    response(&id.unwrap_or_default(), Err(RpcError::invalid_request(why)))
}

/// Builds the response to a line with too many values to parse.
pub(super) fn too_many_values_response(values: usize, line: &[u8]) -> Value {
    let (head, tail) = edges(line);
    let id = id_in_head(head).or_else(|| id_in_tail(tail));
    response(&id.unwrap_or_default(), Err(RpcError::too_many_values(values)))
}

/// An upper bound on the number of values in JSON text: every value but the first follows a `[`,
/// `{` or `,`.
pub(super) fn count_values(json: &[u8]) -> usize {
    let (mut count, mut in_text, mut escaped) = (1, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'[' | b'{' | b',' if !in_text => count += 1,
            _ => {}
        }
    }
    count
}

const ID: &str = "\"id\":";

/// The message id, if it comes before `params`, the only member that can be long.
fn id_in_head(head: &[u8]) -> Option<Value> {
    let text = String::from_utf8_lossy(head);
    let at = text.find(ID)?;
    (!text[..at].contains("\"params\""))
        .then(|| parse_leading_id(&text[at + ID.len()..]))?
        .map(|(id, _)| id)
}

/// The message id, if it is the last member of the message.
fn id_in_tail(tail: &[u8]) -> Option<Value> {
    let text = String::from_utf8_lossy(tail);
    let at = text.rfind(ID)?;
    let (id, rest) = parse_leading_id(&text[at + ID.len()..])?;
    (rest.trim() == "}").then_some(id)
}

/// The id at the start of a text, and the text after it.
fn parse_leading_id(text: &str) -> Option<(Value, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let id = values.next()?.ok().filter(is_id)?;
    let end = values.byte_offset();
    Some((id, text.get(end..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_without_parsing() {
        let cases = [
            ("7", 1),
            ("[]", 2),
            ("[1,2,[3]]", 5),
            (r#"{"a": "x,[{\",", "b": {"c\\": 1}}"#, 4),
            (r#""[,,,,""#, 1),
        ];
        for (json, count) in cases {
            assert_eq!(count_values(json.as_bytes()), count, "{json}");
        }
    }

    #[test]
    fn an_overlong_message_is_answered_with_its_id() {
        let of = |head: &str, tail: &str| {
            too_long_response(9, head.as_bytes(), tail.as_bytes())["id"].clone()
        };
        assert_eq!(of(r#"{"jsonrpc":"2.0","id":5,"method":"x","params":{"a":"xxx"#, "xxx"), 5);
        assert_eq!(of(r#"{"method":"x","params":{"id":7,"a":"xxx"#, r#"xx"},"id":"six"}"#), "six");
        assert_eq!(
            of(r#"{"method":"x","params":{"id":7,"a":"xxx"#, r#"xx","id":8}}"#),
            Value::Null
        );
        assert_eq!(of("xx", "xx"), Value::Null);
    }
}
