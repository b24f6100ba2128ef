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

/// Why an expectation is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExpectationError {
    /// It is a list, or cannot be read.
    #[error("`expect` must be an exit code, a string or a mapping")]
    Kind,
    /// The exit code is not one.
    #[error("an exit code must be a number from 0 to 255, not `{0}`")]
    ExitCode(String),
    /// `contains` has something other than texts.
    #[error("`contains` must be a string or a list of strings")]
    Contains,
    /// The pattern is not a regular expression.
    #[error("`{0}` is not a regular expression")]
    Pattern(String),
    /// `min` or `max` is not a number.
    #[error("`{key}` must be a number, not `{text}`")]
    Bound {
        /// The key.
        key: String,
        /// The value as written.
        text: String,
    },
    /// `min` is larger than `max`.
    #[error("`min` {min} is greater than `max` {max}")]
    EmptyRange {
        /// The smallest accepted number.
        min: Number,
        /// The largest accepted number.
        max: Number,
    },
    /// A key that is almost a known one.
    #[error("unknown key `{key}`; did you mean `{near}`?")]
    MisspelledKey {
        /// The key as written.
        key: String,
        /// The known key.
        near: &'static str,
    },
    /// A key that is like none of the known ones.
    #[error("unknown key `{0}`")]
    UnknownKey(String),
}

/// How a run differs from what its proof expects.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExpectationMismatch {
    /// A signal killed the command.
    #[error("it was killed by signal {0}")]
    Signal(i32),
    /// The exit code is another one.
    #[error("it exited with {code}, not {expected}")]
    ExitCode {
        /// The exit code of the command.
        code: i32,
        /// The expected exit code.
        expected: u8,
    },
    /// A text is missing in the output.
    #[error("its output does not contain `{text}`{}", dropped_note(*.dropped_bytes))]
    MissingText {
        /// The expected text.
        text: String,
        /// The number of bytes dropped from the middle of the output.
        dropped_bytes: u64,
    },
    /// The output does not match the pattern.
    #[error("nothing in its output matches `{pattern}`{}", dropped_note(*.dropped_bytes))]
    NoMatch {
        /// The regular expression.
        pattern: String,
        /// The number of bytes dropped from the middle of the output.
        dropped_bytes: u64,
    },
    /// The output has no number.
    #[error("its output contains no number")]
    NoNumber,
    /// The number is too small.
    #[error("{number} is less than {min}")]
    TooSmall {
        /// The number in the output.
        number: Number,
        /// The smallest accepted number.
        min: Number,
    },
    /// The number is too large.
    #[error("{number} is greater than {max}")]
    TooLarge {
        /// The number in the output.
        number: Number,
        /// The largest accepted number.
        max: Number,
    },
}

/// Mentions the bytes that were dropped from an output.
fn dropped_note(bytes: u64) -> String {
    match bytes {
        0 => String::new(),
        bytes => format!(" ({bytes} bytes in the middle were not kept)"),
    }
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
    /// Parses an expectation.
    pub(super) fn from_node(node: Option<&YamlNode>) -> Result<Self, ExpectationError> {
        let Some(node) = node else { return Ok(Self::default()) };
        match &node.value {
            YamlValue::Null => Ok(Self::default()),
            // An unquoted number is an exit code. Any other text must occur in the output.
            YamlValue::Text(text) if node.style == YamlStyle::Plain && is_integer(text) => {
                Ok(Self { exit: ExpectedExit::Code(exit_code(text)?), ..Self::default() })
            }
            YamlValue::Text(text) => Ok(Self { contains: vec![text.clone()], ..Self::default() }),
            YamlValue::Map(_) => Self::from_map(node),
            YamlValue::List(_) | YamlValue::Unreadable(_) => Err(ExpectationError::Kind),
        }
    }

    fn from_map(node: &YamlNode) -> Result<Self, ExpectationError> {
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
                Err(ExpectationError::EmptyRange { min: min.clone(), max: max.clone() })
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
    pub(super) fn check_output(&self, run: &Trial<'_>) -> Result<(), ExpectationMismatch> {
        match (run.end, self.exit) {
            (TrialEnd::Signal(signal), _) => return Err(ExpectationMismatch::Signal(signal)),
            (TrialEnd::Exit(code), ExpectedExit::Code(expected)) if code != i32::from(expected) => {
                return Err(ExpectationMismatch::ExitCode { code, expected });
            }
            (TrialEnd::Exit(_) | TrialEnd::TimedOut, _) => {}
        }
        let dropped_bytes = run.dropped_bytes;
        if let Some(text) = self.contains.iter().find(|text| !run.output.contains(text.as_str())) {
            return Err(ExpectationMismatch::MissingText { text: text.clone(), dropped_bytes });
        }
        match self.pattern() {
            Some(pattern) if !pattern.is_match(run.output) => {
                let pattern = pattern.as_str().to_owned();
                Err(ExpectationMismatch::NoMatch { pattern, dropped_bytes })
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
    pub(super) fn check_number(&self, number: &Number) -> Result<(), ExpectationMismatch> {
        match (&self.min, &self.max) {
            (Some(min), _) if number.value() < min.value() => {
                Err(ExpectationMismatch::TooSmall { number: number.clone(), min: min.clone() })
            }
            (_, Some(max)) if number.value() > max.value() => {
                Err(ExpectationMismatch::TooLarge { number: number.clone(), max: max.clone() })
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

fn exit_code(text: &str) -> Result<u8, ExpectationError> {
    text.parse().map_err(|_| ExpectationError::ExitCode(text.to_owned()))
}

fn parse_exit(node: &YamlNode) -> Result<ExpectedExit, ExpectationError> {
    let text = node.text().map_or("", |text| text.value.trim());
    if text == "any" { Ok(ExpectedExit::Any) } else { exit_code(text).map(ExpectedExit::Code) }
}

fn parse_texts(node: &YamlNode) -> Result<Vec<String>, ExpectationError> {
    let text = |item: &YamlNode| item.text().map(|text| text.value.to_owned());
    let texts: Option<Vec<String>> = node.items().into_iter().map(text).collect();
    texts.filter(|texts| !texts.is_empty()).ok_or(ExpectationError::Contains)
}

fn parse_pattern(node: &YamlNode) -> Result<String, ExpectationError> {
    let text = node.text().map_or("", |text| text.value);
    let pattern = compile(text).filter(|_| !text.is_empty());
    pattern.map(|_| text.to_owned()).ok_or_else(|| ExpectationError::Pattern(text.to_owned()))
}

fn parse_bound(key: &str, node: &YamlNode) -> Result<Number, ExpectationError> {
    let text = node.text().map_or("", |text| text.value);
    let wrong = || ExpectationError::Bound { key: key.to_owned(), text: text.to_owned() };
    Number::parse(text).ok_or_else(wrong)
}

fn unknown_key(key: &str) -> ExpectationError {
    match nearest_match(key, KEYS) {
        Some(near) => ExpectationError::MisspelledKey { key: key.to_owned(), near },
        None => ExpectationError::UnknownKey(key.to_owned()),
    }
}
