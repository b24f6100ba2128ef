//! The shape of the header, as data: which fields there are and what each one takes.
//!
//! One table serves the reader (what is loose, what cannot be understood, what is misspelt), the
//! writer (the order of keys), the JSON Schema and the template for new documents.

use crate::format::finding::{Code, Finding};
use crate::text::edit::{Edit, HeaderPath, HeaderPathStep};
use crate::text::id::nearest_match;
use crate::text::span::Span;
use crate::text::time::{Exactness, Time, format_time};
use crate::text::yaml::{YamlData, YamlNode, YamlValue};

/// A mapping with known keys.
#[derive(Debug)]
pub struct Shape {
    /// What it is called in a message: "a decision".
    pub name: &'static str,
    /// The field that a plain text fills, where one may stand for the mapping.
    pub shorthand: Option<&'static str>,
    /// The fields that tell one entry of a list from another; none where all of them do.
    pub identity: &'static [&'static str],
    /// Its fields, in the order they are written.
    pub fields: &'static [FieldShape],
}

/// A key and what it takes.
#[derive(Debug)]
pub struct FieldShape {
    /// The key.
    pub name: &'static str,
    /// What it takes.
    pub kind: FieldKind,
    /// What it is for, in one sentence.
    pub description: &'static str,
}

/// What a field takes.
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
    /// A mapping with keys of the writer's choice.
    MapOf(&'static FieldKind),
    /// Anything.
    Any,
}

/// Words of which one is chosen.
#[derive(Debug)]
pub struct WordChoice {
    /// The words as they are written.
    pub words: &'static [&'static str],
    /// Other spellings of them.
    pub aliases: &'static [(&'static str, &'static str)],
    /// Words of other tools that mean about the same; which one is for a person to say.
    pub guesses: &'static [(&'static str, &'static str)],
}

impl WordChoice {
    /// The word that is meant.
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

    /// The word that a text starts with, where a remark follows: `RESOLVED (commit 41fb2c9)`.
    pub fn parse_with_remark(&self, text: &str) -> Option<&'static str> {
        let first = text.trim().split([',', ';', '(', '—', '–', '.', ':']).next()?;
        let two: Vec<&str> = first.split_whitespace().take(2).collect();
        self.parse(&two.join(" ")).or_else(|| self.parse(two.first()?))
    }
}

/// Reads a truth value as people write it.
pub fn parse_flag(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "y" => Some(true),
        "false" | "no" | "off" | "n" => Some(false),
        _ => None,
    }
}

impl Shape {
    /// The field of a name.
    pub fn field(&self, name: &str) -> Option<&'static FieldShape> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// What tells an item apart from the others of a list: the fields its shape names, else all it says.
pub fn item_identity(list: Option<&FieldKind>, item: &YamlData) -> String {
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

/// A value in one line, without the space and the quotes that tell nothing.
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

/// Says what is loose, wrong or misspelt in a mapping of this shape.
pub fn check_mapping(
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
            None => report_misspelled(key, entry.key.at, node, shape, findings),
        }
    }
}

/// Takes one step further for as long as something is done there.
fn with_step(path: &mut HeaderPath, step: HeaderPathStep, done: impl FnOnce(&mut HeaderPath)) {
    path.0.push(step);
    done(path);
    path.0.pop();
}

fn report_misspelled(
    key: &str,
    at: Span,
    node: &YamlNode,
    shape: &'static Shape,
    out: &mut Vec<Finding>,
) {
    const SIMILARITY_MIN: f64 = 0.92;
    let free = shape.fields.iter().map(|field| field.name).filter(|name| node.get(name).is_none());
    let lower = key.to_lowercase().replace([' ', '-'], "_");
    let near = |name: &&str| strsim::jaro_winkler(&lower, name) > SIMILARITY_MIN;
    let meant = nearest_match(&lower, free).filter(near);
    if let Some(meant) = meant {
        let message = format!("`{key}` is not a key of {}; `{meant}` is", shape.name);
        out.push(Finding::new(Code::UnknownKey, at, message).with_hint(format!("write `{meant}`")));
    }
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

/// Looks at a value that is not taken apart further.
fn check_leaf(
    node: &YamlNode,
    kind: &'static FieldKind,
    key: &str,
    path: &HeaderPath,
    findings: &mut Vec<Finding>,
) {
    let mut look = LeafCheck { node, key, path, findings };
    match (&node.value, kind) {
        (YamlValue::Null | YamlValue::Unreadable(_), _)
        | (_, FieldKind::Any)
        | (YamlValue::Text(_), FieldKind::Text) => {}
        (YamlValue::Text(text), FieldKind::Time) => look.check_time(text),
        (YamlValue::Text(text), FieldKind::Flag) => look.check_flag(text),
        (YamlValue::Text(text), FieldKind::Number) => look.check_number(text),
        (YamlValue::Text(text), FieldKind::Choice(choice)) => look.check_choice(text, choice),
        (YamlValue::Text(_) | YamlValue::Map(_), FieldKind::List(inner)) => {
            look.check_single(inner);
        }
        (YamlValue::Text(_), FieldKind::Map(shape)) => look.check_shorthand(shape),
        (YamlValue::List(_), _) => look.report_wrong_kind("is a list", kind),
        (YamlValue::Map(_), _) => look.report_wrong_kind("is a mapping", kind),
        (YamlValue::Text(_), FieldKind::MapOf(_)) => look.report_wrong_kind("is text", kind),
    }
}

/// One value being looked at.
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

    fn report_unreadable(&mut self, message: String, advice: String) {
        let finding = Finding::new(Code::UnreadableValue, self.node.at, message);
        self.findings.push(finding.with_hint(advice));
    }

    fn report_wrong_kind(&mut self, is: &str, kind: &FieldKind) {
        if let (FieldKind::Text, [only]) = (kind, self.node.entries()) {
            let message = format!(
                "this reads as a mapping, because of the colon behind `{}`",
                only.key.value
            );
            return self.report_unreadable(message, "put the whole text in quotes".to_owned());
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
        let message = format!("`{}` {is}, it takes {takes}", self.key);
        self.report_unreadable(message, format!("write {takes}"));
    }

    fn check_time(&mut self, text: &str) {
        let Some(time) = Time::parse(text) else {
            let advice = "write it as 2026-03-21T17:24:00Z".to_owned();
            return self
                .report_unreadable(format!("`{}` is not a time: `{text}`", self.key), advice);
        };
        let strict = format_time(time.moment);
        match time.exactness {
            Exactness::Exact => {}
            Exactness::NoSeconds => {
                self.report_loose(format!("`{}` has no seconds", self.key), bare(strict));
            }
            Exactness::NoZone => {
                self.report_loose(
                    format!("`{}` has no time zone; UTC is assumed", self.key),
                    bare(strict),
                );
            }
            Exactness::DateOnly => {
                let message = format!("`{}` has no time of day; midnight UTC is assumed", self.key);
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
                format!("`{}` is true or false, not `{text}`", self.key),
                "write `true` or `false`".to_owned(),
            ),
        }
    }

    fn check_number(&mut self, text: &str) {
        if text.trim().parse::<f64>().is_err() {
            let message = format!("`{}` is a number, not `{text}`", self.key);
            self.report_unreadable(message, "write a number without its unit".to_owned());
        }
    }

    fn check_choice(&mut self, text: &str, choice: &WordChoice) {
        if let (None, Some(word)) = (choice.parse(text), choice.parse_with_remark(text)) {
            let message = format!("`{}` is {word} with a remark behind it", self.key);
            let finding = Finding::new(Code::LooseForm, self.node.at, message);
            let advice = format!("write `{word}`, and the remark where it belongs");
            return self.findings.push(finding.with_hint(advice));
        }
        let words = choice.words.join(", ");
        match choice.parse(text) {
            Some(word) if word == text => {}
            Some(word) if choice.is_guess(text) => {
                let message = format!("`{}` is `{text}`, which is taken for {word}", self.key);
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

    /// One value where a list is expected.
    fn check_single(&mut self, inner: &'static FieldKind) {
        if self.fits(inner) {
            let strict = YamlData::List(vec![to_strict(self.node, inner)]);
            self.report_loose(
                format!("`{}` should be a list, it is a single value", self.key),
                strict,
            );
        }
    }

    /// A plain value where a mapping is expected.
    fn check_shorthand(&mut self, shape: &'static Shape) {
        let Some(field) = shape.shorthand.and_then(|main| shape.field(main)) else {
            return self.report_wrong_kind("is text", &FieldKind::Map(shape));
        };
        if self.fits(&field.kind) {
            let strict = YamlData::map([(field.name, self.node.data())]);
            self.report_loose(format!("{} is written as a plain value", shape.name), strict);
        }
    }

    /// Whether the value would be understood in its strict place; says what is wrong otherwise.
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

/// A value in the strict form of its kind, as far as that is known.
fn to_strict(node: &YamlNode, kind: &'static FieldKind) -> YamlData {
    match (&node.value, kind) {
        (YamlValue::Text(_), FieldKind::Map(Shape { shorthand: Some(main), .. })) => {
            YamlData::map([(*main, node.data())])
        }
        _ => node.data(),
    }
}
