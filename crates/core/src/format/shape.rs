//! The shape of the header as data: its fields and the type of each.
//!
//! One table serves the parser (to report loose, unreadable and misspelled values), the writer (for
//! the order of keys), the JSON Schema, and the template for new documents.

use crate::format::finding::{Code, Finding};
use crate::text::edit::{Edit, HeaderPath, HeaderPathStep};
use crate::text::id::nearest_match;
use crate::text::span::Span;
use crate::text::time::{Exactness, Time, format_time};
use crate::text::yaml::{YamlData, YamlNode, YamlValue};

/// A mapping with known keys.
#[derive(Debug)]
pub struct Shape {
    /// Its name in messages: "a decision".
    pub name: &'static str,
    /// The field that a plain text sets, if plain text is allowed instead of the mapping.
    pub shorthand: Option<&'static str>,
    /// The fields that identify an entry in a list. Empty if all fields together identify it.
    pub identity: &'static [&'static str],
    /// Keys that authors and other tools write instead of a field, with the field.
    pub guesses: &'static [(&'static str, &'static str)],
    /// Its fields, in the order they are written.
    pub fields: &'static [FieldShape],
}

/// A key and the type of its value.
#[derive(Debug)]
pub struct FieldShape {
    /// The key.
    pub name: &'static str,
    /// The type of its value.
    pub kind: FieldKind,
    /// Its purpose, in one sentence.
    pub description: &'static str,
}

/// The type of a field.
#[derive(Debug)]
pub enum FieldKind {
    /// Text.
    Text,
    /// A time in ISO 8601.
    Time,
    /// `true` or `false`.
    Flag,
    /// A number.
    Number,
    /// One of several words.
    Choice(&'static WordChoice),
    /// A list of any length.
    List(&'static FieldKind),
    /// A mapping with known keys.
    Map(&'static Shape),
    /// A mapping with arbitrary keys.
    MapOf(&'static FieldKind),
    /// Any value.
    Any,
}

/// A closed set of words.
#[derive(Debug)]
pub struct WordChoice {
    /// The words in their strict form.
    pub words: &'static [&'static str],
    /// Other spellings of them.
    pub aliases: &'static [(&'static str, &'static str)],
    /// Words of other tools with a similar meaning. The author has to confirm which word is meant.
    pub guesses: &'static [(&'static str, &'static str)],
}

impl WordChoice {
    /// The word that a text means, including aliases and guesses.
    pub fn parse(&self, text: &str) -> Option<&'static str> {
        if let Some(word) = self.words.iter().find(|word| **word == text) {
            return Some(word);
        }
        let plain = text.trim().to_lowercase().replace([' ', '-'], "_");
        let alias = |(alias, word): &&(&str, &'static str)| (*alias == plain).then_some(*word);
        self.words
            .iter()
            .find(|word| **word == plain)
            .copied()
            .or_else(|| self.aliases.iter().chain(self.guesses).find_map(|pair| alias(&pair)))
    }

    fn is_guess(&self, text: &str) -> bool {
        let plain = text.trim().to_lowercase().replace([' ', '-'], "_");
        self.guesses.iter().any(|(word, _)| *word == plain)
    }

    /// The word at the start of a text with a remark: `RESOLVED (commit 41fb2c9)`.
    pub(crate) fn parse_with_remark(&self, text: &str) -> Option<&'static str> {
        let first = text.trim().split([',', ';', '(', '—', '–', '.', ':']).next()?;
        let two: Vec<&str> = first.split_whitespace().take(2).collect();
        self.parse(&two.join(" ")).or_else(|| self.parse(two.first()?))
    }
}

/// Parses a boolean in any common spelling.
pub(crate) fn parse_flag(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "y" => Some(true),
        "false" | "no" | "off" | "n" => Some(false),
        _ => None,
    }
}

impl Shape {
    /// The field with this name.
    pub fn field(&self, name: &str) -> Option<&'static FieldShape> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// The identity of a list item: the identity fields of its shape, or the whole value.
pub(crate) fn item_identity(list: Option<&FieldKind>, item: &YamlData) -> String {
    let shape = match list {
        Some(FieldKind::List(FieldKind::Map(shape))) => Some(shape),
        Some(_) | None => None,
    };
    let mut out = String::new();
    match (item, shape) {
        (YamlData::Map(entries), Some(shape)) if !shape.identity.is_empty() => {
            for name in shape.identity {
                let value = entries.iter().find(|(key, _)| key == name);
                write_identity(value.map_or(&YamlData::Null, |(_, value)| value), &mut out);
            }
        }
        _ => write_identity(item, &mut out),
    }
    out
}

/// Writes a value on one line, without insignificant whitespace and quotes.
fn write_identity(data: &YamlData, out: &mut String) {
    match data {
        YamlData::Null => out.push('~'),
        YamlData::Text(text) | YamlData::Bare(text) => {
            for word in text.split_whitespace() {
                out.push_str(word);
                out.push(' ');
            }
        }
        YamlData::List(items) => {
            out.push('[');
            for item in items {
                write_identity(item, out);
            }
            out.push(']');
        }
        YamlData::Map(entries) => {
            out.push('{');
            for (key, value) in entries {
                out.push_str(key);
                out.push(':');
                write_identity(value, out);
            }
            out.push('}');
        }
    }
    out.push(';');
}

/// Reports loose, wrong and misspelled values in a mapping of this shape.
pub(crate) fn check_mapping(
    node: &YamlNode,
    shape: &'static Shape,
    path: &mut HeaderPath,
    findings: &mut Vec<Finding>,
) {
    for entry in node.entries() {
        let key = entry.key.value.as_str();
        match shape.field(key) {
            Some(field) => with_step(path, HeaderPathStep::Key(key.to_owned()), |path| {
                check_value(&entry.node, &field.kind, key, path, findings);
            }),
            None => report_unknown(key, entry.key.at, node, shape, findings),
        }
    }
}

/// Extends the path by a step while `done` runs.
fn with_step(path: &mut HeaderPath, step: HeaderPathStep, done: impl FnOnce(&mut HeaderPath)) {
    path.0.push(step);
    done(path);
    path.0.pop();
}

/// Reports an unknown key that was probably meant as a field. Other keys may be the author's own.
fn report_unknown(
    key: &str,
    at: Span,
    node: &YamlNode,
    shape: &'static Shape,
    out: &mut Vec<Finding>,
) {
    let name = shape.name;
    let (message, field) = if let Some(known) = similar_field(key, node, shape) {
        (format!("unknown key `{key}` in {name}; did you mean `{known}`?"), known)
    } else if let Some(field) = guessed_field(key, node, shape) {
        let is_text = shape.field(field).is_some_and(|f| matches!(f.kind, FieldKind::Text));
        let part = if is_text { "text" } else { "value" };
        (format!("`{key}` is not a field of {name}; put its {part} in `{field}`"), field)
    } else if let Some(main) = missing_main_field(node, shape) {
        (format!("`{key}` is not a field of {name}, and `{main}` is missing"), main)
    } else {
        return;
    };
    out.push(Finding::new(Code::UnknownKey, at, message).with_hint(format!("write `{field}`")));
}

fn normalized_key(key: &str) -> String {
    key.to_lowercase().replace([' ', '-'], "_")
}

/// The field that is spelled almost like this key, if the mapping does not have it.
fn similar_field(key: &str, node: &YamlNode, shape: &'static Shape) -> Option<&'static str> {
    const SIMILARITY_MIN: f64 = 0.92;
    let free = shape.fields.iter().map(|field| field.name).filter(|name| node.get(name).is_none());
    let lower = normalized_key(key);
    let near = |name: &&str| strsim::jaro_winkler(&lower, name) > SIMILARITY_MIN;
    nearest_match(&lower, free).filter(near)
}

/// The field that authors often name like this, if the mapping does not have it.
fn guessed_field(key: &str, node: &YamlNode, shape: &'static Shape) -> Option<&'static str> {
    let lower = normalized_key(key);
    let guess = shape.guesses.iter().find(|(guess, _)| *guess == lower);
    guess.map(|(_, field)| *field).filter(|field| node.get(field).is_none())
}

/// The field without which an entry says nothing, if no key of the mapping is meant as it. Only for
/// shapes with guesses.
fn missing_main_field(node: &YamlNode, shape: &'static Shape) -> Option<&'static str> {
    let main = shape.identity.first().filter(|_| !shape.guesses.is_empty())?;
    let is_main = |key: &str| {
        key == *main
            || similar_field(key, node, shape) == Some(main)
            || guessed_field(key, node, shape) == Some(main)
    };
    let is_written = node.entries().iter().any(|entry| is_main(entry.key.value.as_str()));
    (!is_written).then_some(*main)
}

fn check_value(
    node: &YamlNode,
    kind: &'static FieldKind,
    key: &str,
    path: &mut HeaderPath,
    findings: &mut Vec<Finding>,
) {
    match (&node.value, kind) {
        (YamlValue::List(items), FieldKind::List(inner)) => {
            for (index, item) in items.iter().enumerate() {
                with_step(path, HeaderPathStep::Item(index), |path| {
                    check_value(&item.node, inner, key, path, findings);
                });
            }
        }
        (YamlValue::Map(_), FieldKind::Map(shape)) => check_mapping(node, shape, path, findings),
        (YamlValue::Map(entries), FieldKind::MapOf(inner)) => {
            for entry in entries {
                let key = entry.key.value.as_str();
                with_step(path, HeaderPathStep::Key(key.to_owned()), |path| {
                    check_value(&entry.node, inner, key, path, findings);
                });
            }
        }
        _ => check_leaf(node, kind, key, path, findings),
    }
}

/// Checks a value that has no parts to descend into.
fn check_leaf(
    node: &YamlNode,
    kind: &'static FieldKind,
    key: &str,
    path: &HeaderPath,
    findings: &mut Vec<Finding>,
) {
    let mut check = LeafCheck { node, key, path, findings };
    match (&node.value, kind) {
        (YamlValue::Null | YamlValue::Unreadable(_), _)
        | (_, FieldKind::Any)
        | (YamlValue::Text(_), FieldKind::Text) => {}
        (YamlValue::Text(text), FieldKind::Time) => check.check_time(text),
        (YamlValue::Text(text), FieldKind::Flag) => check.check_flag(text),
        (YamlValue::Text(text), FieldKind::Number) => check.check_number(text),
        (YamlValue::Text(text), FieldKind::Choice(choice)) => check.check_choice(text, choice),
        (YamlValue::Text(_) | YamlValue::Map(_), FieldKind::List(inner)) => {
            check.check_single(inner);
        }
        (YamlValue::Text(_), FieldKind::Map(shape)) => check.check_shorthand(shape),
        (YamlValue::List(_), _) => check.report_wrong_kind("a list", kind),
        (YamlValue::Map(_), _) => check.report_wrong_kind("a mapping", kind),
        (YamlValue::Text(_), FieldKind::MapOf(_)) => check.report_wrong_kind("text", kind),
    }
}

/// The check of one value.
struct LeafCheck<'a> {
    node: &'a YamlNode,
    key: &'a str,
    path: &'a HeaderPath,
    findings: &'a mut Vec<Finding>,
}

impl LeafCheck<'_> {
    fn report_loose(&mut self, message: String, strict: YamlData) {
        let edit = Edit::Set(self.path.clone(), strict);
        self.findings.push(Finding::new(Code::LooseForm, self.node.at, message).with_edit(edit));
    }

    fn report_unreadable(&mut self, message: String, hint: String) {
        let finding = Finding::new(Code::UnreadableValue, self.node.at, message);
        self.findings.push(finding.with_hint(hint));
    }

    fn report_wrong_kind(&mut self, found: &str, kind: &FieldKind) {
        if let (FieldKind::Text, [only]) = (kind, self.node.entries()) {
            let message = format!(
                "YAML reads this as a mapping because of the colon after `{}`",
                only.key.value
            );
            return self.report_unreadable(message, "quote the whole text".to_owned());
        }
        let takes = match kind {
            FieldKind::Text => "text",
            FieldKind::Time => "a time",
            FieldKind::Flag => "true or false",
            FieldKind::Number => "a number",
            FieldKind::Choice(_) => "one word",
            FieldKind::List(_) => "a list",
            FieldKind::Map(shape) => shape.name,
            FieldKind::MapOf(_) => "a mapping",
            FieldKind::Any => "anything",
        };
        let message = format!("`{}` must be {takes}, not {found}", self.key);
        self.report_unreadable(message, format!("write {takes}"));
    }

    fn check_time(&mut self, text: &str) {
        let Some(time) = Time::parse(text) else {
            let hint = "write it as 2026-03-21T17:24:00Z".to_owned();
            return self.report_unreadable(format!("`{}` is not a time: `{text}`", self.key), hint);
        };
        let strict = format_time(time.moment);
        match time.exactness {
            Exactness::Exact => {}
            Exactness::NoSeconds => {
                self.report_loose(format!("`{}` has no seconds", self.key), bare(strict));
            }
            Exactness::NoZone => {
                self.report_loose(
                    format!("`{}` has no time zone; midstride assumes UTC", self.key),
                    bare(strict),
                );
            }
            Exactness::DateOnly => {
                let message =
                    format!("`{}` has no time of day; midstride assumes midnight UTC", self.key);
                self.report_loose(message, bare(strict));
            }
        }
    }

    fn check_flag(&mut self, text: &str) {
        match parse_flag(text) {
            Some(flag) if text == flag.to_string() => {}
            Some(flag) => {
                let message = format!("`{}` is `{text}`, which means {flag}", self.key);
                self.report_loose(message, YamlData::flag(flag));
            }
            None => self.report_unreadable(
                format!("`{}` must be true or false, not `{text}`", self.key),
                "write `true` or `false`".to_owned(),
            ),
        }
    }

    fn check_number(&mut self, text: &str) {
        if text.trim().parse::<f64>().is_err() {
            let message = format!("`{}` must be a number, not `{text}`", self.key);
            self.report_unreadable(message, "write a number without its unit".to_owned());
        }
    }

    fn check_choice(&mut self, text: &str, choice: &WordChoice) {
        if let (None, Some(word)) = (choice.parse(text), choice.parse_with_remark(text)) {
            let message = format!("`{}` is {word} followed by a remark", self.key);
            let finding = Finding::new(Code::LooseForm, self.node.at, message);
            let hint = format!("write only `{word}` and move the remark elsewhere");
            return self.findings.push(finding.with_hint(hint));
        }
        let words = choice.words.join(", ");
        match choice.parse(text) {
            Some(word) if word == text => {}
            Some(word) if choice.is_guess(text) => {
                let message =
                    format!("`{}` is `{text}`, which midstride reads as {word}", self.key);
                let finding = Finding::new(Code::LooseForm, self.node.at, message);
                self.findings.push(finding.with_hint(format!("write one of {words}")));
            }
            Some(word) => {
                let message = format!("`{}` is `{text}`, which means {word}", self.key);
                self.report_loose(message, bare(word.to_owned()));
            }
            None => self.report_unreadable(
                format!("`{}` cannot be `{text}`", self.key),
                format!("write one of {words}"),
            ),
        }
    }

    /// Checks a single value where a list is expected.
    fn check_single(&mut self, inner: &'static FieldKind) {
        if self.fits(inner) {
            let strict = YamlData::List(vec![to_strict(self.node, inner)]);
            self.report_loose(
                format!("`{}` is a single value; it should be a list", self.key),
                strict,
            );
        }
    }

    /// Checks a plain value where a mapping is expected.
    fn check_shorthand(&mut self, shape: &'static Shape) {
        let Some(field) = shape.shorthand.and_then(|main| shape.field(main)) else {
            return self.report_wrong_kind("text", &FieldKind::Map(shape));
        };
        if self.fits(&field.kind) {
            let strict = YamlData::map([(field.name, self.node.data())]);
            self.report_loose(
                format!("{} is a plain value; it should be a mapping", shape.name),
                strict,
            );
        }
    }

    /// Whether the value would be readable as this type. Reports the problem otherwise.
    fn fits(&mut self, kind: &'static FieldKind) -> bool {
        let mut inner = Vec::new();
        check_value(self.node, kind, self.key, &mut self.path.clone(), &mut inner);
        inner.retain(|finding| finding.code == Code::UnreadableValue);
        let fits = inner.is_empty();
        self.findings.append(&mut inner);
        fits
    }
}

fn bare(text: String) -> YamlData {
    YamlData::Bare(text)
}

/// Converts a value to the strict form of its type, if that form is known.
fn to_strict(node: &YamlNode, kind: &'static FieldKind) -> YamlData {
    match (&node.value, kind) {
        (YamlValue::Text(_), FieldKind::Map(Shape { shorthand: Some(main), .. })) => {
            YamlData::map([(*main, node.data())])
        }
        _ => node.data(),
    }
}
