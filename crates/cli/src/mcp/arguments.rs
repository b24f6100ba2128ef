//! The parameters of MCP tools: their JSON schema, and the validation of the arguments a model
//! sends.

use super::message::shorten_name;
use midstride_core::text::id::nearest_match;
use midstride_surface::diagnostic::Diagnostic;
use serde_json::{Map, Value, json};
use std::fmt;

/// The type of value a parameter takes.
#[derive(Clone, Copy, Debug)]
pub(super) enum ParameterKind {
    /// A string that is not blank.
    Text,
    /// A list of non-blank strings; a single string counts as a list of one.
    Texts,
    /// One of a fixed set of words.
    Word(&'static [&'static str]),
    /// A non-negative integer.
    Number,
    /// A boolean.
    Flag,
    /// An object with arbitrary keys.
    Object,
}

/// One parameter of a tool.
#[derive(Clone, Copy, Debug)]
pub(super) struct ToolParameter {
    name: &'static str,
    kind: ParameterKind,
    description: &'static str,
    is_required: bool,
}

/// An argument that has the wrong type.
#[derive(Debug)]
struct ArgumentMismatch {
    name: &'static str,
    /// What the parameter takes.
    expected: String,
}

impl fmt::Display for ArgumentMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` must be {}", self.name, self.expected)
    }
}

impl std::error::Error for ArgumentMismatch {}

impl ToolParameter {
    /// An optional parameter.
    pub(super) const fn optional(
        name: &'static str,
        kind: ParameterKind,
        description: &'static str,
    ) -> Self {
        Self { name, kind, description, is_required: false }
    }

    /// A required parameter.
    pub(super) const fn required(
        name: &'static str,
        kind: ParameterKind,
        description: &'static str,
    ) -> Self {
        Self { name, kind, description, is_required: true }
    }

    fn schema(&self) -> Value {
        let mut schema = match self.kind {
            ParameterKind::Text => json!({"type": "string"}),
            ParameterKind::Texts => json!({"type": "array", "items": {"type": "string"}}),
            ParameterKind::Word(words) => json!({"enum": words}),
            ParameterKind::Number => json!({"type": "integer"}),
            ParameterKind::Flag => json!({"type": "boolean"}),
            ParameterKind::Object => json!({"type": "object"}),
        };
        if !self.description.is_empty() {
            schema["description"] = self.description.into();
        }
        schema
    }

    /// Checks that a value has the right type.
    fn check(&self, value: &Value) -> Result<(), ArgumentMismatch> {
        let says_something =
            |value: &Value| value.as_str().is_some_and(|text| !text.trim().is_empty());
        let (fits, expected) = match self.kind {
            ParameterKind::Text => (says_something(value), "a non-blank string".to_owned()),
            ParameterKind::Texts => {
                let each = value.as_array().map(|items| items.iter().all(says_something));
                let fits = each.unwrap_or_else(|| says_something(value));
                (fits, "a list of strings".to_owned())
            }
            ParameterKind::Word(words) => {
                let fits = value.as_str().is_some_and(|word| words.contains(&word));
                (fits, format!("one of {}", words.join(", ")))
            }
            ParameterKind::Number => (value.is_u64(), "a whole number".to_owned()),
            ParameterKind::Flag => (value.is_boolean(), "true or false".to_owned()),
            ParameterKind::Object => (value.is_object(), "a JSON object".to_owned()),
        };
        if fits { Ok(()) } else { Err(ArgumentMismatch { name: self.name, expected }) }
    }
}

/// The JSON schema of a tool's input.
pub(super) fn schema(parameters: &[ToolParameter]) -> Value {
    let properties: Map<String, Value> =
        parameters.iter().map(|one| (one.name.to_owned(), one.schema())).collect();
    let needed: Vec<&str> =
        parameters.iter().filter(|one| one.is_required).map(|one| one.name).collect();
    let mut schema = json!({"type": "object", "properties": properties});
    if !needed.is_empty() {
        schema["required"] = json!(needed);
    }
    schema
}

/// The validated arguments of a tool call.
#[derive(Debug)]
pub(super) struct ToolArguments(Map<String, Value>);

impl ToolArguments {
    /// Validates arguments against the parameters of a tool. The error lists every problem, not
    /// just the first one.
    pub(super) fn parse(
        parameters: &[ToolParameter],
        given: Map<String, Value>,
    ) -> Result<Self, Diagnostic> {
        let given: Map<String, Value> =
            given.into_iter().filter(|(_, value)| !value.is_null()).collect();
        let known = |name: &str| parameters.iter().find(|one| one.name == name);
        let (mut wrong, mut near, mut fits_by_name) = (Vec::new(), Vec::new(), true);
        for (name, value) in &given {
            match known(name) {
                Some(parameter) => {
                    wrong.extend(parameter.check(value).err().map(|error| error.to_string()));
                }
                None => {
                    fits_by_name = false;
                    wrong.push(format!("unknown parameter `{}`", shorten_name(name)));
                    near.extend(nearest_match(name, parameters.iter().map(|one| one.name)));
                }
            }
        }
        let is_missing = |one: &&ToolParameter| one.is_required && !given.contains_key(one.name);
        for one in parameters.iter().filter(is_missing) {
            fits_by_name = false;
            wrong.push(format!("`{}` is missing", one.name));
        }
        if wrong.is_empty() {
            return Ok(Self(given));
        }
        let diagnostic = Diagnostic::new(wrong.join("; "));
        let near = near.into_iter().map(|near| format!("did you mean `{near}`?"));
        let diagnostic = near.fold(diagnostic, Diagnostic::hint);
        Err(if fits_by_name {
            diagnostic
        } else {
            diagnostic.hint(describe_parameters(parameters))
        })
    }

    /// A string argument, trimmed.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str).map(str::trim)
    }

    /// A string argument, trimmed and owned.
    pub(super) fn owned_text(&self, name: &str) -> Option<String> {
        self.text(name).map(str::to_owned)
    }

    /// A required string argument, trimmed.
    pub(super) fn required_text(&self, name: &str) -> &str {
        self.text(name).unwrap_or_default()
    }

    /// A string argument exactly as sent, with a final line break added if it has none.
    pub(super) fn document_text(&self, name: &str) -> String {
        let text = self.0.get(name).and_then(Value::as_str).unwrap_or_default();
        if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
    }

    /// A list of strings.
    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        match self.0.get(name) {
            Some(Value::Array(items)) => {
                items.iter().filter_map(Value::as_str).map(|text| text.trim().to_owned()).collect()
            }
            _ => self.owned_text(name).into_iter().collect(),
        }
    }

    /// A number argument.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name).and_then(Value::as_u64)
    }

    /// A number argument as `usize`, saturating.
    pub(super) fn as_usize(&self, name: &str) -> Option<usize> {
        self.number(name).map(|number| usize::try_from(number).unwrap_or(usize::MAX))
    }

    /// A boolean argument.
    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        self.0.get(name).and_then(Value::as_bool)
    }

    /// An argument as raw JSON; null if it is absent.
    pub(super) fn value(&self, name: &str) -> Value {
        self.0.get(name).cloned().unwrap_or_default()
    }

    /// The arguments that are present among these names.
    pub(super) fn subset(&self, names: &[&str]) -> Map<String, Value> {
        let given = names.iter().filter_map(|name| Some(((*name).to_owned(), self.0.get(*name)?)));
        given.map(|(name, value)| (name, value.clone())).collect()
    }
}

/// Lists the parameters of a tool in one line, for error messages.
fn describe_parameters(parameters: &[ToolParameter]) -> String {
    let names = |is_needed: bool| {
        let names = parameters.iter().filter(move |one| one.is_required == is_needed);
        names.map(|one| format!("`{}`", one.name)).collect::<Vec<_>>().join(", ")
    };
    match (names(true), names(false)) {
        (needed, more) if needed.is_empty() => format!("optional: {more}"),
        (needed, more) if more.is_empty() => format!("required: {needed}"),
        (needed, more) => format!("required: {needed}; optional: {more}"),
    }
}
