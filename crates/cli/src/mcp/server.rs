//! The MCP server: takes one message and returns the responses to it.

use super::arguments::ToolArguments;
use super::caller::Caller;
use super::era::{self, ProtocolEra};
use super::line::InputLine;
use super::message::{self, IncomingMessage, RpcError};
use super::{prompts, reply, resources, roots, tools};
use midstride::sys::env::Environment;
use midstride_core::text::id::nearest_match;
use serde_json::{Map, Value, json};

/// What the server tells the model about itself.
pub(super) const INSTRUCTIONS: &str = "midstride hands work from one session to the next. Call `brief` when you pick up work. Call `save` before you finish or hand off, and add what it says is missing. `search` and `get` find what others learned.";

/// The maximum size of a batch. A batch is answered as one message, so all its responses are held
/// in memory until the last one is ready.
const BATCH_MAX: usize = 100;

/// The state of a connection.
#[derive(Debug)]
pub(super) struct McpServer {
    environment: Environment,
    /// The client's name from `initialize`.
    client_name: Option<String>,
    has_roots: bool,
}

impl McpServer {
    pub(super) fn new(environment: Environment) -> Self {
        Self { environment, client_name: None, has_roots: false }
    }

    /// Handles a line of input and returns the messages to send.
    pub(super) fn handle_line(&mut self, line: InputLine) -> Vec<Value> {
        let bytes = match line {
            InputLine::TooLong { bytes, head, tail } => {
                return vec![message::too_long_response(bytes, &head, &tail)];
            }
            InputLine::Whole(bytes) => bytes,
        };
        if bytes.trim_ascii().is_empty() {
            return Vec::new();
        }
        let values = message::count_values(&bytes);
        if values > message::VALUES_MAX {
            return vec![message::too_many_values_response(values, &bytes)];
        }
        match serde_json::from_slice(&bytes) {
            Err(error) => vec![message::response(&Value::Null, Err(RpcError::parse_error(&error)))],
            Ok(Value::Array(batch)) if batch.is_empty() => {
                let fault = RpcError::invalid_request("a batch must have at least one message");
                vec![message::response(&Value::Null, Err(fault))]
            }
            Ok(Value::Array(batch)) if batch.len() > BATCH_MAX => {
                let count = batch.len();
                let fault = RpcError::invalid_request(format!(
                    "batch too large: {count} messages, limit {BATCH_MAX}; send one message per line"
                ));
                vec![message::response(&Value::Null, Err(fault))]
            }
            // Clients that speak 2025-03-26 may send several messages in one line.
            Ok(Value::Array(batch)) => {
                let all: Vec<Value> =
                    batch.into_iter().filter_map(|one| self.handle_message(one)).collect();
                if all.is_empty() { all } else { vec![Value::Array(all)] }
            }
            Ok(one) => self.handle_message(one).into_iter().collect(),
        }
    }

    /// Handles a message and returns the message to send, if any.
    fn handle_message(&mut self, message: Value) -> Option<Value> {
        match IncomingMessage::parse(message) {
            IncomingMessage::Invalid { id, fault } => Some(message::response(&id, Err(fault))),
            IncomingMessage::Request { id, method, parameters } => {
                Some(message::response(&id, self.handle_request(&method, &parameters)))
            }
            IncomingMessage::Notification { method } => self.handle_notification(&method),
            IncomingMessage::Response { id, result } => {
                roots::apply_response(&mut self.environment, &id, result.as_ref());
                None
            }
        }
    }

    /// Handles a notification. `notifications/cancelled` is ignored: requests are answered in
    /// order, so a canceled one is either answered or was never received. Unknown notifications are
    /// ignored too.
    fn handle_notification(&self, method: &str) -> Option<Value> {
        let of_roots = ["notifications/initialized", "notifications/roots/list_changed"];
        let asks = self.has_roots && of_roots.contains(&method);
        asks.then(|| roots::roots_request(&self.environment)).flatten()
    }

    fn handle_request(&mut self, method: &str, parameters: &Value) -> Result<Value, RpcError> {
        let caller =
            Caller::from_request(&self.environment, self.client_name.as_deref(), parameters);
        let result = self
            .call_method(&caller, method, parameters)
            .map_err(|fault| fault.without_secrets(|text| caller.clean(text)))?;
        Ok(if quotes_project(method) { without_secrets(&caller, result) } else { result })
    }

    fn call_method(
        &mut self,
        caller: &Caller,
        method: &str,
        parameters: &Value,
    ) -> Result<Value, RpcError> {
        let era = ProtocolEra::from_request(method, parameters)?;
        let result = match method {
            "initialize" => self.initialize(parameters)?,
            "server/discover" => era::discovery_result(server_info()),
            "ping" if era == ProtocolEra::Handshake => json!({}),
            "tools/list" => {
                reject_cursor(parameters)?;
                json!({"tools": tools::list()})
            }
            "tools/call" => call_tool(caller, parameters)?,
            "resources/list" => resources::list(caller, parameters)?,
            "resources/templates/list" => {
                reject_cursor(parameters)?;
                resources::templates()
            }
            "resources/read" => resources::read(caller, parameters, era)?,
            "prompts/list" => {
                reject_cursor(parameters)?;
                prompts::list()
            }
            "prompts/get" => prompts::get(caller, parameters)?,
            _ => return Err(RpcError::method_not_found(method)),
        };
        Ok(era.add_result_fields(method, result))
    }

    fn initialize(&mut self, parameters: &Value) -> Result<Value, RpcError> {
        if !parameters["protocolVersion"].is_string() {
            return Err(RpcError::invalid_params(
                "`protocolVersion` must be a string, such as `2025-11-25`",
            ));
        }
        self.client_name = parameters["clientInfo"]["name"].as_str().map(str::to_owned);
        self.has_roots = parameters["capabilities"]["roots"].is_object();
        let mut about = server_info();
        about.insert("protocolVersion".to_owned(), era::negotiate_version(parameters).into());
        Ok(Value::Object(about))
    }
}

/// Whether the result of a method quotes texts of the project.
fn quotes_project(method: &str) -> bool {
    ["tools/call", "resources/list", "resources/read", "prompts/get"].contains(&method)
}

/// Redacts the secrets in every text of a result once more. Formatting a reply removes the
/// invisible characters that may split a secret, and joins texts.
fn without_secrets(caller: &Caller, result: Value) -> Value {
    match result {
        Value::String(text) => Value::String(caller.clean(&text)),
        Value::Array(values) => {
            values.into_iter().map(|value| without_secrets(caller, value)).collect()
        }
        Value::Object(fields) => {
            fields.into_iter().map(|(key, value)| (key, without_secrets(caller, value))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => result,
    }
}

/// The server's description of itself, the same in every era.
fn server_info() -> Map<String, Value> {
    let about = json!({
        "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
        "serverInfo": {"name": "midstride", "title": "midstride", "version": env!("CARGO_PKG_VERSION")},
        "instructions": INSTRUCTIONS,
    });
    match about {
        Value::Object(fields) => fields,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    }
}

/// Rejects a cursor on lists that always fit on one page.
fn reject_cursor(parameters: &Value) -> Result<(), RpcError> {
    match parameters["cursor"].is_null() {
        true => Ok(()),
        false => Err(RpcError::invalid_params("there is only one page; omit `cursor`")),
    }
}

fn call_tool(caller: &Caller, parameters: &Value) -> Result<Value, RpcError> {
    let name = parameters["name"].as_str();
    let name = name.ok_or_else(|| RpcError::invalid_params("`name` must be the name of a tool"))?;
    let names = || tools::ALL.iter().map(|tool| tool.name);
    let tool = tools::ALL.iter().find(|tool| tool.name == name).ok_or_else(|| {
        let near = nearest_match(name, names()).map(|near| format!("; did you mean `{near}`?"));
        let known = names().collect::<Vec<_>>().join(", ");
        let name = message::shorten_name(name);
        RpcError::invalid_params(match near {
            Some(near) => format!("unknown tool `{name}`{near}"),
            None => format!("unknown tool `{name}`; the tools are {known}"),
        })
    })?;
    let given = match &parameters["arguments"] {
        Value::Null => Map::new(),
        Value::Object(fields) => fields.clone(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            return Err(RpcError::invalid_params("`arguments` must be an object"));
        }
    };
    // Report invalid arguments as a tool result, so that the model sees them and can correct the
    // call. The client would keep a protocol error to itself.
    let answer = ToolArguments::parse(tool.parameters, given)
        .and_then(|arguments| (tool.call)(caller, &arguments));
    Ok(reply::tool_result(caller, answer))
}
