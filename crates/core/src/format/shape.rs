//! The shape of the header, as data: which fields there are and what each one takes.
//!
//! One table serves the reader (what is loose, what cannot be understood, what is misspelt), the
//! writer (the order of keys), the JSON Schema and the template for new documents.

use crate::format::finding::{Code, Finding};
use crate::text::edit::{Edit, Path, Step};
use crate::text::id::nearest;
use crate::text::span::Span;
use crate::text::time::{Exactness, Time, write};
use crate::text::yaml::{Data, Node, Value};

/// A mapping with known keys.
#[derive(Debug)]
pub struct Shape {
    /// What it is called in a message: "a decision".
    pub name: &'static str,
    /// The field that a plain text fills, where one may stand for the mapping.
    pub main: Option<&'static str>,
    /// The fields that tell one entry of a list from another; none where all of them do.
    pub identity: &'static [&'static str],
    /// Its fields, in the order they are written.
    pub fields: &'static [Field],
}

/// A key and what it takes.
#[derive(Debug)]
pub struct Field {
    /// The key.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// What it is for, in one sentence.
    pub about: &'static str,
}

/// What a field takes.
#[derive(Debug)]
pub enum Kind {
    /// Text.
    Text,
    /// A time in ISO 8601.
    Time,
    /// `true` or `false`.
    Flag,
    /// A number.
    Number,
    /// One of several words.
    Choice(&'static Choice),
    /// A list of any length.
    List(&'static Kind),
    /// A mapping with known keys.
    Map(&'static Shape),
    /// A mapping with keys of the writer's choice.
    Each(&'static Kind),
    /// Anything.
    Any,
}

/// Words of which one is chosen.
#[derive(Debug)]
pub struct Choice {
    /// The words as they are written.
    pub words: &'static [&'static str],
    /// Other spellings of them.
    pub aliases: &'static [(&'static str, &'static str)],
    /// Words of other tools that mean about the same; which one is for a person to say.
    pub guesses: &'static [(&'static str, &'static str)],
}

impl Choice {
    /// The word that is meant.
    pub fn read(&self, text: &str) -> Option<&'static str> {
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
    pub fn read_with_remark(&self, text: &str) -> Option<&'static str> {
        let first = text.trim().split([',', ';', '(', '—', '–', '.', ':']).next()?;
        let two: Vec<&str> = first.split_whitespace().take(2).collect();
        self.read(&two.join(" ")).or_else(|| self.read(two.first()?))
    }
}

/// Reads a truth value as people write it.
pub fn read_flag(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "y" => Some(true),
        "false" | "no" | "off" | "n" => Some(false),
        _ => None,
    }
}

impl Shape {
    /// The field of a name.
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// What tells an item apart from the others of a list: the fields its shape names, else all it says.
pub fn identity(list: Option<&Kind>, item: &Data) -> String {
    let shape = match list {
        Some(Kind::List(Kind::Map(shape))) => Some(shape),
        Some(_) | None => None,
    };
    let mut out = String::new();
    match (item, shape) {
        (Data::Map(entries), Some(shape)) if !shape.identity.is_empty() => {
            for name in shape.identity {
                let value = entries.iter().find(|(key, _)| key == name);
                spell(value.map_or(&Data::Null, |(_, value)| value), &mut out);
            }
        }
        _ => spell(item, &mut out),
    }
    out
}

/// A value in one line, without the space and the quotes that tell nothing.
fn spell(data: &Data, out: &mut String) {
    match data {
        Data::Null => out.push('~'),
        Data::Text(text) | Data::Bare(text) => {
            for word in text.split_whitespace() {
                out.push_str(word);
                out.push(' ');
            }
        }
        Data::List(items) => {
            out.push('[');
            for item in items {
                spell(item, out);
            }
            out.push(']');
        }
        Data::Map(entries) => {
            out.push('{');
            for (key, value) in entries {
                out.push_str(key);
                out.push(':');
                spell(value, out);
            }
            out.push('}');
        }
    }
    out.push(';');
}

/// Says what is loose, wrong or misspelt in a mapping of this shape.
pub fn inspect(node: &Node, shape: &'static Shape, path: &mut Path, findings: &mut Vec<Finding>) {
    for entry in node.entries() {
        let key = entry.key.value.as_str();
        match shape.field(key) {
            Some(field) => below(path, Step::Key(key.to_owned()), |path| {
                value(&entry.node, &field.kind, key, path, findings);
            }),
            None => misspelt(key, entry.key.at, node, shape, findings),
        }
    }
}

/// Takes one step further for as long as something is done there.
fn below(path: &mut Path, step: Step, done: impl FnOnce(&mut Path)) {
    path.0.push(step);
    done(path);
    path.0.pop();
}

fn misspelt(key: &str, at: Span, node: &Node, shape: &'static Shape, out: &mut Vec<Finding>) {
    const SIMILARITY_MIN: f64 = 0.92;
    let free = shape.fields.iter().map(|field| field.name).filter(|name| node.get(name).is_none());
    let lower = key.to_lowercase().replace([' ', '-'], "_");
    let near = |name: &&str| strsim::jaro_winkler(&lower, name) > SIMILARITY_MIN;
    let meant = nearest(&lower, free).filter(near);
    if let Some(meant) = meant {
        let message = format!("`{key}` is not a key of {}; `{meant}` is", shape.name);
        out.push(Finding::new(Code::UnknownKey, at, message).think(format!("write `{meant}`")));
    }
}

fn value(
    node: &Node,
    kind: &'static Kind,
    key: &str,
    path: &mut Path,
    findings: &mut Vec<Finding>,
) {
    match (&node.value, kind) {
        (Value::List(items), Kind::List(inner)) => {
            for (index, item) in items.iter().enumerate() {
                below(path, Step::Item(index), |path| {
                    value(&item.node, inner, key, path, findings);
                });
            }
        }
        (Value::Map(_), Kind::Map(shape)) => inspect(node, shape, path, findings),
        (Value::Map(entries), Kind::Each(inner)) => {
            for entry in entries {
                let key = entry.key.value.as_str();
                below(path, Step::Key(key.to_owned()), |path| {
                    value(&entry.node, inner, key, path, findings);
                });
            }
        }
        _ => look(node, kind, key, path, findings),
    }
}

/// Looks at a value that is not taken apart further.
fn look(node: &Node, kind: &'static Kind, key: &str, path: &Path, findings: &mut Vec<Finding>) {
    let mut look = Look { node, key, path, findings };
    match (&node.value, kind) {
        (Value::Null | Value::Unreadable(_), _) | (_, Kind::Any) | (Value::Text(_), Kind::Text) => {
        }
        (Value::Text(text), Kind::Time) => look.time(text),
        (Value::Text(text), Kind::Flag) => look.flag(text),
        (Value::Text(text), Kind::Number) => look.number(text),
        (Value::Text(text), Kind::Choice(choice)) => look.choice(text, choice),
        (Value::Text(_) | Value::Map(_), Kind::List(inner)) => look.single(inner),
        (Value::Text(_), Kind::Map(shape)) => look.main(shape),
        (Value::List(_), _) => look.wrong("is a list", kind),
        (Value::Map(_), _) => look.wrong("is a mapping", kind),
        (Value::Text(_), Kind::Each(_)) => look.wrong("is text", kind),
    }
}

/// One value being looked at.
struct Look<'a> {
    node: &'a Node,
    key: &'a str,
    path: &'a Path,
    findings: &'a mut Vec<Finding>,
}

impl Look<'_> {
    fn loose(&mut self, message: String, strict: Data) {
        let edit = Edit::Set(self.path.clone(), strict);
        self.findings.push(Finding::new(Code::LooseForm, self.node.at, message).fix(edit));
    }

    fn unreadable(&mut self, message: String, advice: String) {
        let finding = Finding::new(Code::UnreadableValue, self.node.at, message);
        self.findings.push(finding.think(advice));
    }

    fn wrong(&mut self, is: &str, kind: &Kind) {
        if let (Kind::Text, [only]) = (kind, self.node.entries()) {
            let message = format!(
                "this reads as a mapping, because of the colon behind `{}`",
                only.key.value
            );
            return self.unreadable(message, "put the whole text in quotes".to_owned());
        }
        let takes = match kind {
            Kind::Text => "text",
            Kind::Time => "a time",
            Kind::Flag => "true or false",
            Kind::Number => "a number",
            Kind::Choice(_) => "one word",
            Kind::List(_) => "a list",
            Kind::Map(shape) => shape.name,
            Kind::Each(_) => "a mapping",
            Kind::Any => "anything",
        };
        let message = format!("`{}` {is}, it takes {takes}", self.key);
        self.unreadable(message, format!("write {takes}"));
    }

    fn time(&mut self, text: &str) {
        let Some(time) = Time::read(text) else {
            let advice = "write it as 2026-03-21T17:24:00Z".to_owned();
            return self.unreadable(format!("`{}` is not a time: `{text}`", self.key), advice);
        };
        let strict = write(time.moment);
        match time.exactness {
            Exactness::Exact => {}
            Exactness::NoSeconds => {
                self.loose(format!("`{}` has no seconds", self.key), bare(strict));
            }
            Exactness::NoZone => {
                self.loose(
                    format!("`{}` has no time zone; UTC is assumed", self.key),
                    bare(strict),
                );
            }
            Exactness::DateOnly => {
                let message = format!("`{}` has no time of day; midnight UTC is assumed", self.key);
                self.loose(message, bare(strict));
            }
        }
    }

    fn flag(&mut self, text: &str) {
        match read_flag(text) {
            Some(flag) if text == flag.to_string() => {}
            Some(flag) => {
                let message = format!("`{}` is `{text}`, which means {flag}", self.key);
                self.loose(message, Data::flag(flag));
            }
            None => self.unreadable(
                format!("`{}` is true or false, not `{text}`", self.key),
                "write `true` or `false`".to_owned(),
            ),
        }
    }

    fn number(&mut self, text: &str) {
        if text.trim().parse::<f64>().is_err() {
            let message = format!("`{}` is a number, not `{text}`", self.key);
            self.unreadable(message, "write a number without its unit".to_owned());
        }
    }

    fn choice(&mut self, text: &str, choice: &Choice) {
        if let (None, Some(word)) = (choice.read(text), choice.read_with_remark(text)) {
            let message = format!("`{}` is {word} with a remark behind it", self.key);
            let finding = Finding::new(Code::LooseForm, self.node.at, message);
            let advice = format!("write `{word}`, and the remark where it belongs");
            return self.findings.push(finding.think(advice));
        }
        let words = choice.words.join(", ");
        match choice.read(text) {
            Some(word) if word == text => {}
            Some(word) if choice.is_guess(text) => {
                let message = format!("`{}` is `{text}`, which is taken for {word}", self.key);
                let finding = Finding::new(Code::LooseForm, self.node.at, message);
                self.findings.push(finding.think(format!("write one of {words}")));
            }
            Some(word) => {
                let message = format!("`{}` is `{text}`, which means {word}", self.key);
                self.loose(message, bare(word.to_owned()));
            }
            None => self.unreadable(
                format!("`{}` cannot be `{text}`", self.key),
                format!("write one of {words}"),
            ),
        }
    }

    /// One value where a list is expected.
    fn single(&mut self, inner: &'static Kind) {
        if self.fits(inner) {
            let strict = Data::List(vec![strict(self.node, inner)]);
            self.loose(format!("`{}` should be a list, it is a single value", self.key), strict);
        }
    }

    /// A plain value where a mapping is expected.
    fn main(&mut self, shape: &'static Shape) {
        let Some(field) = shape.main.and_then(|main| shape.field(main)) else {
            return self.wrong("is text", &Kind::Map(shape));
        };
        if self.fits(&field.kind) {
            let strict = Data::map([(field.name, self.node.data())]);
            self.loose(format!("{} is written as a plain value", shape.name), strict);
        }
    }

    /// Whether the value would be understood in its strict place; says what is wrong otherwise.
    fn fits(&mut self, kind: &'static Kind) -> bool {
        let mut inner = Vec::new();
        value(self.node, kind, self.key, &mut self.path.clone(), &mut inner);
        inner.retain(|finding| finding.code == Code::UnreadableValue);
        let fits = inner.is_empty();
        self.findings.append(&mut inner);
        fits
    }
}

fn bare(text: String) -> Data {
    Data::Bare(text)
}

/// A value in the strict form of its kind, as far as that is known.
fn strict(node: &Node, kind: &'static Kind) -> Data {
    match (&node.value, kind) {
        (Value::Text(_), Kind::Map(Shape { main: Some(main), .. })) => {
            Data::map([(*main, node.data())])
        }
        _ => node.data(),
    }
}
