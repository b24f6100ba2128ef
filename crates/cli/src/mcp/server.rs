//! The server: one message in, its answers out.

use super::arguments::Arguments;
use super::caller::Caller;
use super::era::{self, Era};
use super::line::Line;
use super::message::{self, Fault, Incoming};
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
pub(super) struct Server {
    environment: Environment,
    /// How the client called itself when it opened the session.
    greeted: Option<String>,
    has_roots: bool,
}

impl Server {
    pub(super) fn new(environment: Environment) -> Self {
        Self { environment, greeted: None, has_roots: false }
    }

    /// Takes a line; gives back what is to be sent.
    pub(super) fn take(&mut self, line: Line) -> Vec<Value> {
        let bytes = match line {
            Line::TooLong { bytes, head, tail } => {
                return vec![message::too_long(bytes, &head, &tail)];
            }
            Line::Whole(bytes) => bytes,
        };
        if bytes.trim_ascii().is_empty() {
            return Vec::new();
        }
        let values = message::values(&bytes);
        if values > message::VALUES_MAX {
            return vec![message::too_many(values, &bytes)];
        }
        match serde_json::from_slice(&bytes) {
            Err(error) => vec![message::answer(&Value::Null, Err(Fault::syntax(&error)))],
            Ok(Value::Array(batch)) if batch.is_empty() => {
                let fault = Fault::request("a batch has at least one message");
                vec![message::answer(&Value::Null, Err(fault))]
            }
            Ok(Value::Array(batch)) if batch.len() > BATCH_MAX => {
                let count = batch.len();
                let fault = Fault::request(format!(
                    "the batch has {count} messages, at most {BATCH_MAX} are answered as one; send them one a line"
                ));
                vec![message::answer(&Value::Null, Err(fault))]
            }
            // Clients of 2025-03-26 may send several messages as one.
            Ok(Value::Array(batch)) => {
                let all: Vec<Value> =
                    batch.into_iter().filter_map(|one| self.message(one)).collect();
                if all.is_empty() { all } else { vec![Value::Array(all)] }
            }
            Ok(one) => self.message(one).into_iter().collect(),
        }
    }

    /// Takes a message; gives back what is to be sent.
    fn message(&mut self, message: Value) -> Option<Value> {
        match Incoming::read(message) {
            Incoming::Broken { id, fault } => Some(message::answer(&id, Err(fault))),
            Incoming::Request { id, method, parameters } => {
                Some(message::answer(&id, self.request(&method, &parameters)))
            }
            Incoming::Notification { method } => self.notice(&method),
            Incoming::Response { id, result } => {
                roots::heed(&mut self.environment, &id, result.as_ref());
                None
            }
        }
    }

    /// Requests are answered in turn, so one that is cancelled is answered already, or was never here:
    /// `notifications/cancelled` needs no answer, and neither does what nobody knows.
    fn notice(&self, method: &str) -> Option<Value> {
        let of_roots = ["notifications/initialized", "notifications/roots/list_changed"];
        let asks = self.has_roots && of_roots.contains(&method);
        asks.then(|| roots::ask(&self.environment)).flatten()
    }

    fn request(&mut self, method: &str, parameters: &Value) -> Result<Value, Fault> {
        let caller = Caller::of(&self.environment, self.greeted.as_deref(), parameters);
        self.result(&caller, method, parameters)
            .map_err(|fault| fault.without_secrets(|text| caller.clean(text)))
    }

    fn result(
        &mut self,
        caller: &Caller,
        method: &str,
        parameters: &Value,
    ) -> Result<Value, Fault> {
        let era = Era::of(method, parameters)?;
        let result = match method {
            "initialize" => self.greet(parameters)?,
            "server/discover" => era::discovered(about()),
            "ping" if era == Era::Handshake => json!({}),
            "tools/list" => {
                only_page(parameters)?;
                json!({"tools": tools::list()})
            }
            "tools/call" => call(caller, parameters)?,
            "resources/list" => resources::list(caller, parameters)?,
            "resources/templates/list" => {
                only_page(parameters)?;
                resources::templates()
            }
            "resources/read" => resources::read(caller, parameters, era)?,
            "prompts/list" => {
                only_page(parameters)?;
                prompts::list()
            }
            "prompts/get" => prompts::get(caller, parameters)?,
            _ => return Err(Fault::method(method)),
        };
        Ok(era.dress(method, result))
    }

    fn greet(&mut self, parameters: &Value) -> Result<Value, Fault> {
        if !parameters["protocolVersion"].is_string() {
            return Err(Fault::parameters(
                "`protocolVersion` has to be a text, such as `2025-11-25`",
            ));
        }
        self.greeted = parameters["clientInfo"]["name"].as_str().map(str::to_owned);
        self.has_roots = parameters["capabilities"]["roots"].is_object();
        let mut about = about();
        about.insert("protocolVersion".to_owned(), era::negotiated(parameters).into());
        Ok(Value::Object(about))
    }
}

/// What the server says about itself, in every era.
fn about() -> Map<String, Value> {
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
fn only_page(parameters: &Value) -> Result<(), Fault> {
    match parameters["cursor"].is_null() {
        true => Ok(()),
        false => Err(Fault::parameters("there is one page only; leave `cursor` out")),
    }
}

fn call(caller: &Caller, parameters: &Value) -> Result<Value, Fault> {
    let name = parameters["name"].as_str();
    let name = name.ok_or_else(|| Fault::parameters("`name` has to be the name of a tool"))?;
    let names = || tools::ALL.iter().map(|tool| tool.name);
    let tool = tools::ALL.iter().find(|tool| tool.name == name).ok_or_else(|| {
        let near = nearest_match(name, names()).map(|near| format!("; did you mean `{near}`?"));
        let known = names().collect::<Vec<_>>().join(", ");
        let name = message::name_of(name);
        Fault::parameters(match near {
            Some(near) => format!("there is no tool `{name}`{near}"),
            None => format!("there is no tool `{name}`; there are {known}"),
        })
    })?;
    let given = match &parameters["arguments"] {
        Value::Null => Map::new(),
        Value::Object(fields) => fields.clone(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            return Err(Fault::parameters("`arguments` has to be an object"));
        }
    };
    // What does not fit is told to the model, which can correct it; an error of the protocol would
    // stay with the client.
    let answer = Arguments::read(tool.parameters, given)
        .and_then(|arguments| (tool.call)(caller, &arguments));
    Ok(reply::result(caller, answer))
}
