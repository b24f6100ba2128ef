//! What a proof expects of its command, and the checks against a run.

use super::number::{self, Number};
use super::{Trial, TrialEnd};
use crate::text::id::nearest_match;
use crate::text::yaml::{YamlNode, YamlStyle, YamlValue};
use regex::{Regex, RegexBuilder};
use serde_json::{Value as Json, json};

/// The memory limit of a compiled pattern.
const PATTERN_BYTES_MAX: usize = 1 << 20;
/// The keys of an expectation.
const KEYS: [&str; 5] = ["exit", "contains", "matches", "min", "max"];

/// What a proof expects: the exit code, and what the output contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// The expected exit code.
    pub exit: ExpectedExit,
    /// Texts that the output must all contain.
    pub contains: Vec<String>,
    /// A regular expression that the output must match. `^` and `$` match at line breaks.
    pub matches: Option<String>,
    /// The smallest accepted number in the output.
    pub min: Option<Number>,
    /// The largest accepted number in the output.
    pub max: Option<Number>,
}

/// The expected exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedExit {
    /// Exactly this code.
    Code(u8),
    /// Any code.
    Any,
}

impl Default for Expectation {
    fn default() -> Self {
        Self {
            exit: ExpectedExit::Code(0),
            contains: Vec::new(),
            matches: None,
            min: None,
            max: None,
        }
    }
}

impl Expectation {
    /// Parses an expectation. The error says what is wrong with it.
    pub(super) fn from_node(node: Option<&YamlNode>) -> Result<Self, String> {
        let Some(node) = node else { return Ok(Self::default()) };
        match &node.value {
            YamlValue::Null => Ok(Self::default()),
            // An unquoted number is an exit code. Any other text must occur in the output.
            YamlValue::Text(text) if node.style == YamlStyle::Plain && is_integer(text) => {
                Ok(Self { exit: ExpectedExit::Code(exit_code(text)?), ..Self::default() })
            }
            YamlValue::Text(text) => Ok(Self { contains: vec![text.clone()], ..Self::default() }),
            YamlValue::Map(_) => Self::from_map(node),
            YamlValue::List(_) | YamlValue::Unreadable(_) => {
                Err("what is expected is an exit code, a text or a mapping".to_owned())
            }
        }
    }

    fn from_map(node: &YamlNode) -> Result<Self, String> {
        let mut expectation = Self::default();
        for entry in node.entries() {
            let key = entry.key.value.as_str();
            match key {
                "exit" => expectation.exit = parse_exit(&entry.node)?,
                "contains" => expectation.contains = parse_texts(&entry.node)?,
                "matches" => expectation.matches = Some(parse_pattern(&entry.node)?),
                "min" => expectation.min = Some(parse_bound(key, &entry.node)?),
                "max" => expectation.max = Some(parse_bound(key, &entry.node)?),
                _ => return Err(unknown_key(key)),
            }
        }
        match (&expectation.min, &expectation.max) {
            (Some(min), Some(max)) if min.value() > max.value() => {
                Err(format!("no number is at least {min} and at most {max}"))
            }
            _ => Ok(expectation),
        }
    }

    /// Everything as JSON.
    pub(super) fn data(&self) -> Json {
        json!({
            "exit": match self.exit { ExpectedExit::Code(code) => json!(code), ExpectedExit::Any => json!("any") },
            "contains": self.contains,
            "matches": self.matches,
            "min": self.min.as_ref().map(Number::to_string),
            "max": self.max.as_ref().map(Number::to_string),
        })
    }

    /// Whether a number with a minimum or maximum is expected.
    pub(super) fn is_bounded(&self) -> bool {
        self.min.is_some() || self.max.is_some()
    }

    /// Checks how the command ended and its output, except for the number.
    pub(super) fn check_output(&self, run: &Trial<'_>) -> Result<(), String> {
        match (run.end, self.exit) {
            (TrialEnd::Signal(signal), _) => return Err(format!("signal {signal} ended it")),
            (TrialEnd::Exit(code), ExpectedExit::Code(wanted)) if code != i32::from(wanted) => {
                return Err(format!("it exited with {code}, not with {wanted}"));
            }
            (TrialEnd::Exit(_) | TrialEnd::TimedOut, _) => {}
        }
        let not_kept = match run.dropped_bytes {
            0 => String::new(),
            bytes => format!(" ({bytes} bytes in the middle were not kept)"),
        };
        if let Some(text) = self.contains.iter().find(|text| !run.output.contains(text.as_str())) {
            return Err(format!("its output does not contain `{text}`{not_kept}"));
        }
        match self.pattern() {
            Some(pattern) if !pattern.is_match(run.output) => {
                Err(format!("nothing in its output matches `{}`{not_kept}", pattern.as_str()))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// The number in the output: the first capture group of the pattern, or else the last number.
    pub(super) fn number_in(&self, output: &str) -> Option<Number> {
        let group = self.pattern().filter(|pattern| pattern.captures_len() > 1);
        match group {
            Some(pattern) => Number::parse(pattern.captures(output)?.get(1)?.as_str()),
            None => number::last_number(output),
        }
    }

    /// Checks the number in the output.
    pub(super) fn check_number(&self, number: &Number) -> Result<(), String> {
        match (&self.min, &self.max) {
            (Some(min), _) if number.value() < min.value() => {
                Err(format!("{number} is under {min}"))
            }
            (_, Some(max)) if number.value() > max.value() => {
                Err(format!("{number} is over {max}"))
            }
            _ => Ok(()),
        }
    }

    fn pattern(&self) -> Option<Regex> {
        self.matches.as_deref().and_then(compile)
    }
}

fn compile(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).multi_line(true).size_limit(PATTERN_BYTES_MAX).build().ok()
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn exit_code(text: &str) -> Result<u8, String> {
    text.parse().map_err(|_| format!("an exit code is a number from 0 to 255, not `{text}`"))
}

fn parse_exit(node: &YamlNode) -> Result<ExpectedExit, String> {
    let text = node.text().map_or("", |text| text.value.trim());
    if text == "any" { Ok(ExpectedExit::Any) } else { exit_code(text).map(ExpectedExit::Code) }
}

fn parse_texts(node: &YamlNode) -> Result<Vec<String>, String> {
    let text = |item: &YamlNode| item.text().map(|text| text.value.to_owned());
    let texts: Option<Vec<String>> = node.items().into_iter().map(text).collect();
    let texts = texts.filter(|texts| !texts.is_empty());
    texts.ok_or_else(|| "`contains` takes a text, or a list of texts".to_owned())
}

fn parse_pattern(node: &YamlNode) -> Result<String, String> {
    let text = node.text().map_or("", |text| text.value);
    let pattern = compile(text).filter(|_| !text.is_empty());
    pattern.map(|_| text.to_owned()).ok_or_else(|| format!("`{text}` is no regular expression"))
}

fn parse_bound(key: &str, node: &YamlNode) -> Result<Number, String> {
    let text = node.text().map_or("", |text| text.value);
    Number::parse(text).ok_or_else(|| format!("`{key}` is a number, not `{text}`"))
}

fn unknown_key(key: &str) -> String {
    match nearest_match(key, KEYS) {
        Some(near) => format!("`{key}` is not known; `{near}` is"),
        None => format!("`{key}` is not known here"),
    }
}
