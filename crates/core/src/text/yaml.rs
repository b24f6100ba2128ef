//! YAML, read into a tree in which every value knows its bytes.
//!
//! Reading never fails. The whole text is parsed first; if that does not work, conflict markers
//! and tabs are looked through, and then each top-level block is parsed alone, so that a mistake
//! costs the block it stands in and nothing else.

mod salvage;
mod tree;
mod write;

pub use salvage::{MARKER_LENGTH, conflict_markers};
pub use write::{Form, block_entry, block_item, flow, scalar};

use crate::text::span::{At, Span};

/// A value and how it was written.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it says.
    pub value: Value,
    /// Its bytes, without the comments and blank lines that follow it.
    pub at: Span,
    /// How it is written.
    pub style: Style,
    /// Whether a tag such as `!!str` stands before it; what that means is not our business.
    pub tagged: bool,
}

/// What a node says. Numbers, truth values and times are text here: what a field makes of them is
/// the field's business.
#[derive(Clone, Debug)]
pub enum Value {
    /// Nothing: an empty value, `~` or `null`.
    Null,
    /// A scalar.
    Text(String),
    /// A list.
    List(Vec<Item>),
    /// A mapping, in the order written, duplicate keys included.
    Map(Vec<Entry>),
    /// A block that could not be parsed, as it is written.
    Unreadable(String),
}

/// An item of a list.
#[derive(Clone, Debug)]
pub struct Item {
    /// Where its `-` stands, in a block list.
    pub dash: Option<usize>,
    /// The item.
    pub node: Node,
}

/// An entry of a mapping.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub key: At<String>,
    /// The value.
    pub node: Node,
}

/// How a node is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A scalar without quotes.
    Plain,
    /// `'…'`
    SingleQuoted,
    /// `"…"`
    DoubleQuoted,
    /// `|` or `>`, whose trailing line breaks belong to it if `keeps`.
    BlockScalar {
        /// Whether the indicator has a `+`.
        keeps: bool,
    },
    /// A list or mapping by indentation.
    Block,
    /// A list or mapping in brackets.
    Flow,
    /// `*name`: the value stands elsewhere.
    Alias,
    /// Nothing is written.
    Absent,
}

/// A value without places: what an edit puts in, and what guards compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Data {
    /// Nothing.
    Null,
    /// Text, quoted where it would read as something else.
    Text(String),
    /// A scalar that is no text (a truth value, a number, a time), never quoted.
    Bare(String),
    /// A list.
    List(Vec<Data>),
    /// A mapping.
    Map(Vec<(String, Data)>),
}

impl Data {
    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A list of texts.
    pub fn texts<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::List(texts.into_iter().map(Self::text).collect())
    }

    /// `true` or `false`.
    pub fn flag(flag: bool) -> Self {
        Self::Bare(flag.to_string())
    }

    /// A mapping.
    pub fn map<K: Into<String>>(entries: impl IntoIterator<Item = (K, Data)>) -> Self {
        Self::Map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    /// Whether two values read the same; quoting makes no difference to us.
    pub fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Text(a) | Self::Bare(a), Self::Text(b) | Self::Bare(b)) => a == b,
            (Self::List(a), Self::List(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(b))
            }
            (Self::Map(a), Self::Map(b)) => {
                let (a, b) = (by_key(a), by_key(b));
                a.len() == b.len()
                    && a.iter().zip(b).all(|((a, va), (b, vb))| *a == b && va.same(vb))
            }
            (Self::Null | Self::Text(_) | Self::Bare(_) | Self::List(_) | Self::Map(_), _) => false,
        }
    }
}

/// The entries of a mapping sorted by key; the order of keys says nothing.
fn by_key(entries: &[(String, Data)]) -> Vec<(&str, &Data)> {
    let mut sorted: Vec<(&str, &Data)> =
        entries.iter().map(|(key, value)| (key.as_str(), value)).collect();
    sorted.sort_by_key(|(key, _)| *key);
    sorted
}

impl Node {
    /// A node where nothing is written.
    pub fn absent(at: usize) -> Self {
        Self { value: Value::Null, at: Span::empty(at), style: Style::Absent, tagged: false }
    }

    /// The value under a key of a mapping; the first one where a key is written twice.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    /// The entry of a key of a mapping.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key.value == key)
    }

    /// The entries of a mapping; none for anything else.
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            Value::Null | Value::Text(_) | Value::List(_) | Value::Unreadable(_) => &[],
        }
    }

    /// The text of a scalar, where there is any.
    pub fn text(&self) -> Option<At<&str>> {
        match &self.value {
            Value::Text(text) => Some(At::new(text.as_str(), self.at)),
            Value::Null | Value::List(_) | Value::Map(_) | Value::Unreadable(_) => None,
        }
    }

    /// The items of a list. A single value where a list was expected counts as a list of one.
    pub fn items(&self) -> Vec<&Node> {
        match &self.value {
            Value::List(items) => items.iter().map(|item| &item.node).collect(),
            Value::Text(_) | Value::Map(_) => vec![self],
            Value::Null | Value::Unreadable(_) => Vec::new(),
        }
    }

    /// Whether nothing is said: no value, blank text, an empty list or mapping.
    pub fn is_blank(&self) -> bool {
        match &self.value {
            Value::Null => true,
            Value::Text(text) => text.trim().is_empty(),
            Value::List(items) => items.iter().all(|item| item.node.is_blank()),
            Value::Map(entries) => entries.is_empty(),
            Value::Unreadable(_) => false,
        }
    }

    /// The value without its places. An unreadable block counts as its own text.
    pub fn data(&self) -> Data {
        match &self.value {
            Value::Null => Data::Null,
            // A plain `true` or `14290` is no text to other readers, and is written as it was.
            Value::Text(text) if self.style == Style::Plain && write::reads_otherwise(text) => {
                Data::Bare(text.clone())
            }
            Value::Text(text) | Value::Unreadable(text) => Data::Text(text.clone()),
            Value::List(items) => Data::List(items.iter().map(|item| item.node.data()).collect()),
            Value::Map(entries) => Data::Map(
                entries.iter().map(|entry| (entry.key.value.clone(), entry.node.data())).collect(),
            ),
        }
    }

    /// Whether this node, or anything in it, fits.
    pub fn any(&self, fits: &impl Fn(&Node) -> bool) -> bool {
        fits(self)
            || match &self.value {
                Value::List(items) => items.iter().any(|item| item.node.any(fits)),
                Value::Map(entries) => entries.iter().any(|entry| entry.node.any(fits)),
                Value::Null | Value::Text(_) | Value::Unreadable(_) => false,
            }
    }
}

/// What was read, and what was wrong with it.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The value of the whole text.
    pub root: Node,
    /// Each comment, from its `#` to the end of its line.
    pub comments: Vec<Span>,
    /// What was wrong, in the order of the text.
    pub problems: Vec<Problem>,
}

/// Something wrong with the YAML itself.
#[derive(Clone, Debug)]
pub struct Problem {
    /// What sort of problem.
    pub kind: ProblemKind,
    /// Where.
    pub at: Span,
    /// What is wrong, as a sentence without its full stop.
    pub message: String,
}

/// What sort of problem a text has as YAML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// It does not parse; the block it stands in is lost.
    Syntax,
    /// A key stands twice in one mapping.
    DuplicateKey,
    /// A merge was left unfinished.
    ConflictMarker,
    /// Lines are indented with tabs.
    Tab,
}

/// Reads the YAML that stands at `within` in `text`.
pub fn read(text: &str, within: Span) -> Reading {
    let mut reading = salvage::read(within.of(text), within.start);
    let mut duplicates = Vec::new();
    find_duplicates(&reading.root, &mut duplicates);
    // Both sides of an unfinished merge repeat their keys; one finding says it.
    if !reading.problems.iter().any(|problem| problem.kind == ProblemKind::ConflictMarker) {
        reading.problems.append(&mut duplicates);
    }
    reading.problems.sort_by_key(|problem| problem.at.start);
    reading
}

fn find_duplicates(node: &Node, problems: &mut Vec<Problem>) {
    match &node.value {
        Value::List(items) => items.iter().for_each(|item| find_duplicates(&item.node, problems)),
        Value::Map(entries) => {
            let repeated = repeated_keys(entries);
            for entry in entries {
                if repeated.contains(&entry.key.at) {
                    problems.push(Problem {
                        kind: ProblemKind::DuplicateKey,
                        at: entry.key.at,
                        message: format!("`{}` is written twice", entry.key.value),
                    });
                }
                find_duplicates(&entry.node, problems);
            }
        }
        Value::Null | Value::Text(_) | Value::Unreadable(_) => {}
    }
}

/// The places of keys that stand before in the same mapping.
fn repeated_keys(entries: &[Entry]) -> Vec<Span> {
    const FEW: usize = 32;
    let key = |entry: &Entry| (entry.key.value.clone(), entry.key.at);
    if entries.len() <= FEW {
        let before = |index: usize| entries[..index].iter().map(|entry| &entry.key.value);
        let again =
            |(index, entry): &(usize, &Entry)| before(*index).any(|k| *k == entry.key.value);
        return entries.iter().enumerate().filter(again).map(|(_, entry)| entry.key.at).collect();
    }
    let mut seen = std::collections::HashSet::new();
    entries.iter().map(key).filter(|(key, _)| !seen.insert(key.clone())).map(|(_, at)| at).collect()
}

#[cfg(test)]
mod tests;
