//! The server: one message in, its answers out.

use super::arguments::ToolArguments;
use super::caller::Caller;
use super::era::{self, ProtocolEra};
use super::line::InputLine;
use super::message::{self, IncomingMessage, RpcError};
use super::{prompts, reply, resources, roots, tools};
use midstride::workspace::settings::Environment;
use midstride_core::text::id::nearest_match;
use serde_json::{Map, Value, json};

/// What a client tells its model about this server.
const INSTRUCTIONS: &str = "midstride carries work from one session to the next. Call `brief` when you take work over, \
     `save` before you end or hand over, and add what it says is missing. `search` and `get` find what others learned.";

/// A batch is answered as a whole, which is held until its last message is answered.
const BATCH_MAX: usize = 100;

/// What is known of the client.
#[derive(Debug)]
pub(super) struct McpServer {
    environment: Environment,
    /// How the client called itself when it opened the session.
    client_name: Option<String>,
    has_roots: bool,
}

impl McpServer {
    pub(super) fn new(environment: Environment) -> Self {
        Self { environment, client_name: None, has_roots: false }
    }

    /// Takes a line; gives back what is to be sent.
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
                let fault = RpcError::invalid_request("a batch has at least one message");
                vec![message::response(&Value::Null, Err(fault))]
            }
            Ok(Value::Array(batch)) if batch.len() > BATCH_MAX => {
                let count = batch.len();
                let fault = RpcError::invalid_request(format!(
                    "the batch has {count} messages, at most {BATCH_MAX} are answered as one; send them one a line"
                ));
                vec![message::response(&Value::Null, Err(fault))]
            }
            // Clients of 2025-03-26 may send several messages as one.
            Ok(Value::Array(batch)) => {
                let all: Vec<Value> =
                    batch.into_iter().filter_map(|one| self.handle_message(one)).collect();
                if all.is_empty() { all } else { vec![Value::Array(all)] }
            }
            Ok(one) => self.handle_message(one).into_iter().collect(),
        }
    }

    /// Takes a message; gives back what is to be sent.
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

    /// Requests are answered in turn, so one that is cancelled is answered already, or was never here:
    /// `notifications/cancelled` needs no answer, and neither does what nobody knows.
    fn handle_notification(&self, method: &str) -> Option<Value> {
        let of_roots = ["notifications/initialized", "notifications/roots/list_changed"];
        let asks = self.has_roots && of_roots.contains(&method);
        asks.then(|| roots::roots_request(&self.environment)).flatten()
    }

    fn handle_request(&mut self, method: &str, parameters: &Value) -> Result<Value, RpcError> {
        let caller =
            Caller::from_request(&self.environment, self.client_name.as_deref(), parameters);
        self.call_method(&caller, method, parameters)
            .map_err(|fault| fault.without_secrets(|text| caller.clean(text)))
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
                "`protocolVersion` has to be a text, such as `2025-11-25`",
            ));
        }
        self.client_name = parameters["clientInfo"]["name"].as_str().map(str::to_owned);
        self.has_roots = parameters["capabilities"]["roots"].is_object();
        let mut about = server_info();
        about.insert("protocolVersion".to_owned(), era::negotiate_version(parameters).into());
        Ok(Value::Object(about))
    }
}

/// What the server says about itself, in every era.
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

/// What fits on one page has no second one.
fn reject_cursor(parameters: &Value) -> Result<(), RpcError> {
    match parameters["cursor"].is_null() {
        true => Ok(()),
        false => Err(RpcError::invalid_params("there is one page only; leave `cursor` out")),
    }
}

fn call_tool(caller: &Caller, parameters: &Value) -> Result<Value, RpcError> {
    let name = parameters["name"].as_str();
    let name =
        name.ok_or_else(|| RpcError::invalid_params("`name` has to be the name of a tool"))?;
    let names = || tools::ALL.iter().map(|tool| tool.name);
    let tool = tools::ALL.iter().find(|tool| tool.name == name).ok_or_else(|| {
        let near = nearest_match(name, names()).map(|near| format!("; did you mean `{near}`?"));
        let known = names().collect::<Vec<_>>().join(", ");
        let name = message::shorten_name(name);
        RpcError::invalid_params(match near {
            Some(near) => format!("there is no tool `{name}`{near}"),
            None => format!("there is no tool `{name}`; there are {known}"),
        })
    })?;
    let given = match &parameters["arguments"] {
        Value::Null => Map::new(),
        Value::Object(fields) => fields.clone(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            return Err(RpcError::invalid_params("`arguments` has to be an object"));
        }
    };
    // What does not fit is told to the model, which can correct it; an error of the protocol would
    // stay with the client.
    let answer = ToolArguments::parse(tool.parameters, given)
        .and_then(|arguments| (tool.call)(caller, &arguments));
    Ok(reply::tool_result(caller, answer))
}
