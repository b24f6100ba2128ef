//! Parses YAML into a tree in which every value has its byte span.
//!
//! Parsing never fails. Conflict markers are ignored. If the whole text does not parse, tabs in the
//! indentation are expanded. If that fails too, each top-level block is parsed on its own, so that
//! a syntax error costs only the block that contains it.

mod salvage;
mod tree;
mod write;

pub use salvage::conflict_markers;

pub(crate) use salvage::MARKER_LENGTH;
pub use write::flow;
pub(crate) use write::{QuoteStyle, block_entry, block_item, block_value, scalar};

use crate::text::span::{Span, Spanned};

/// A value and how it was written.
#[derive(Clone, Debug)]
pub struct YamlNode {
    /// The value.
    pub value: YamlValue,
    /// Its span, without the comments and blank lines that follow it.
    pub at: Span,
    /// How it is written in the text.
    pub style: YamlStyle,
    /// Whether it has a tag such as `!!str`. The tag itself is not interpreted.
    pub tagged: bool,
}

/// The value of a node. Numbers, booleans and times are text here; each field interprets its own.
#[derive(Clone, Debug)]
pub enum YamlValue {
    /// An empty value, `~` or `null`.
    Null,
    /// A scalar.
    Text(String),
    /// A list.
    List(Vec<YamlItem>),
    /// A mapping in the order written, including duplicate keys.
    Map(Vec<YamlEntry>),
    /// The source of a block that does not parse.
    Unreadable(String),
}

/// An item of a list.
#[derive(Clone, Debug)]
pub struct YamlItem {
    /// The offset of its `-`, in a block list.
    pub dash: Option<usize>,
    /// The value of the item.
    pub node: YamlNode,
}

/// An entry of a mapping.
#[derive(Clone, Debug)]
pub struct YamlEntry {
    /// The key.
    pub key: Spanned<String>,
    /// The value.
    pub node: YamlNode,
}

/// How a node is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum YamlStyle {
    /// A scalar without quotes.
    Plain,
    /// `'…'`
    SingleQuoted,
    /// `"…"`
    DoubleQuoted,
    /// `|` or `>`. Its trailing line breaks belong to it if `keeps` is set.
    BlockScalar {
        /// Whether the indicator has a `+`.
        keeps: bool,
    },
    /// A list or mapping written with indentation.
    Block,
    /// A list or mapping in brackets.
    Flow,
    /// `*name`, a reference to a value defined elsewhere.
    Alias,
    /// No value is written.
    Absent,
}

/// A value without spans: what edits write and what equality checks compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum YamlData {
    /// No value.
    Null,
    /// Text. It is quoted if it would otherwise be read as something else.
    Text(String),
    /// A scalar other than text (a boolean, a number, a time). It is never quoted.
    Bare(String),
    /// A list.
    List(Vec<YamlData>),
    /// A mapping.
    Map(Vec<(String, YamlData)>),
}

impl YamlData {
    /// Creates a text value.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Creates a list of texts.
    pub fn texts<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::List(texts.into_iter().map(Self::text).collect())
    }

    /// Creates the value `true` or `false`.
    pub fn flag(flag: bool) -> Self {
        Self::Bare(flag.to_string())
    }

    /// Creates a mapping.
    pub fn map<K: Into<String>>(entries: impl IntoIterator<Item = (K, YamlData)>) -> Self {
        Self::Map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    /// Whether two values are equal, ignoring quotes and the order of keys.
    pub fn is_equivalent_to(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Text(a) | Self::Bare(a), Self::Text(b) | Self::Bare(b)) => a == b,
            (Self::List(a), Self::List(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_equivalent_to(b))
            }
            (Self::Map(a), Self::Map(b)) => {
                let (a, b) = (sorted_by_key(a), sorted_by_key(b));
                a.len() == b.len()
                    && a.iter().zip(b).all(|((a, va), (b, vb))| *a == b && va.is_equivalent_to(vb))
            }
            (Self::Null | Self::Text(_) | Self::Bare(_) | Self::List(_) | Self::Map(_), _) => false,
        }
    }
}

/// The entries of a mapping sorted by key, because the order of keys has no meaning.
fn sorted_by_key(entries: &[(String, YamlData)]) -> Vec<(&str, &YamlData)> {
    let mut sorted: Vec<(&str, &YamlData)> =
        entries.iter().map(|(key, value)| (key.as_str(), value)).collect();
    sorted.sort_by_key(|(key, _)| *key);
    sorted
}

impl YamlNode {
    /// Creates a node for a value that is not written.
    pub(crate) fn absent(at: usize) -> Self {
        Self {
            value: YamlValue::Null,
            at: Span::empty(at),
            style: YamlStyle::Absent,
            tagged: false,
        }
    }

    /// The value of a mapping key. If the key occurs twice, the first value.
    pub fn get(&self, key: &str) -> Option<&YamlNode> {
        self.entry(key).map(|entry| &entry.node)
    }

    /// The entry of a mapping key.
    pub fn entry(&self, key: &str) -> Option<&YamlEntry> {
        self.entries().iter().find(|entry| entry.key.value == key)
    }

    /// The entries of a mapping; empty for any other value.
    pub fn entries(&self) -> &[YamlEntry] {
        match &self.value {
            YamlValue::Map(entries) => entries,
            YamlValue::Null
            | YamlValue::Text(_)
            | YamlValue::List(_)
            | YamlValue::Unreadable(_) => &[],
        }
    }

    /// The text of a scalar with its span.
    pub fn text(&self) -> Option<Spanned<&str>> {
        match &self.value {
            YamlValue::Text(text) => Some(Spanned::new(text.as_str(), self.at)),
            YamlValue::Null | YamlValue::List(_) | YamlValue::Map(_) | YamlValue::Unreadable(_) => {
                None
            }
        }
    }

    /// The items of a list. A single text or mapping counts as a list of one.
    pub fn items(&self) -> Vec<&YamlNode> {
        match &self.value {
            YamlValue::List(items) => items.iter().map(|item| &item.node).collect(),
            YamlValue::Text(_) | YamlValue::Map(_) => vec![self],
            YamlValue::Null | YamlValue::Unreadable(_) => Vec::new(),
        }
    }

    /// Whether the node is empty: no value, blank text, an empty mapping, or a list of blank items.
    pub fn is_blank(&self) -> bool {
        match &self.value {
            YamlValue::Null => true,
            YamlValue::Text(text) => text.trim().is_empty(),
            YamlValue::List(items) => items.iter().all(|item| item.node.is_blank()),
            YamlValue::Map(entries) => entries.is_empty(),
            YamlValue::Unreadable(_) => false,
        }
    }

    /// The value without its spans. An unreadable block becomes its source text.
    pub fn data(&self) -> YamlData {
        match &self.value {
            YamlValue::Null => YamlData::Null,
            // Other YAML readers do not read a plain `true` or `14290` as text, so never quote it.
            YamlValue::Text(text)
                if self.style == YamlStyle::Plain && write::reads_as_non_text(text) =>
            {
                YamlData::Bare(text.clone())
            }
            YamlValue::Text(text) | YamlValue::Unreadable(text) => YamlData::Text(text.clone()),
            YamlValue::List(items) => {
                YamlData::List(items.iter().map(|item| item.node.data()).collect())
            }
            YamlValue::Map(entries) => YamlData::Map(
                entries.iter().map(|entry| (entry.key.value.clone(), entry.node.data())).collect(),
            ),
        }
    }

    /// Whether this node or any node inside it matches.
    pub(crate) fn any_node(&self, fits: &impl Fn(&YamlNode) -> bool) -> bool {
        fits(self)
            || match &self.value {
                YamlValue::List(items) => items.iter().any(|item| item.node.any_node(fits)),
                YamlValue::Map(entries) => entries.iter().any(|entry| entry.node.any_node(fits)),
                YamlValue::Null | YamlValue::Text(_) | YamlValue::Unreadable(_) => false,
            }
    }
}

/// A parsed YAML text and its problems.
#[derive(Clone, Debug)]
pub struct ParsedYaml {
    /// The value of the whole text.
    pub root: YamlNode,
    /// The span of each comment, from its `#` to the end of the line.
    pub comments: Vec<Span>,
    /// The problems, in text order.
    pub problems: Vec<YamlProblem>,
}

/// A problem with the YAML itself.
#[derive(Clone, Debug)]
pub struct YamlProblem {
    /// The kind of problem.
    pub kind: YamlProblemKind,
    /// The span of the problem.
    pub at: Span,
    /// The message, as a sentence without its period.
    pub message: String,
}

/// The kind of a YAML problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum YamlProblemKind {
    /// A syntax error. The block that contains it is unreadable.
    Syntax,
    /// A key that occurs twice in one mapping.
    DuplicateKey,
    /// A conflict marker of an unfinished merge.
    ConflictMarker,
    /// Indentation with tabs.
    Tab,
}

/// Parses the YAML at `within` in `text`.
pub fn parse(text: &str, within: Span) -> ParsedYaml {
    let mut reading = salvage::parse(within.slice(text), within.start);
    let mut duplicates = Vec::new();
    find_duplicates(&reading.root, &mut duplicates);
    // Both sides of an unfinished merge repeat the same keys. Report only the merge.
    if !reading.problems.iter().any(|problem| problem.kind == YamlProblemKind::ConflictMarker) {
        reading.problems.append(&mut duplicates);
    }
    reading.problems.sort_by_key(|problem| problem.at.start);
    reading
}

fn find_duplicates(node: &YamlNode, problems: &mut Vec<YamlProblem>) {
    match &node.value {
        YamlValue::List(items) => {
            for item in items {
                find_duplicates(&item.node, problems);
            }
        }
        YamlValue::Map(entries) => {
            let repeated = repeated_keys(entries);
            for entry in entries {
                if repeated.contains(&entry.key.at) {
                    problems.push(YamlProblem {
                        kind: YamlProblemKind::DuplicateKey,
                        at: entry.key.at,
                        message: format!("the key `{}` appears twice", entry.key.value),
                    });
                }
                find_duplicates(&entry.node, problems);
            }
        }
        YamlValue::Null | YamlValue::Text(_) | YamlValue::Unreadable(_) => {}
    }
}

/// The spans of keys that already occurred in the same mapping.
fn repeated_keys(entries: &[YamlEntry]) -> Vec<Span> {
    const FEW: usize = 32;
    let key = |entry: &YamlEntry| (entry.key.value.clone(), entry.key.at);
    if entries.len() <= FEW {
        let before = |index: usize| entries[..index].iter().map(|entry| &entry.key.value);
        let again =
            |(index, entry): &(usize, &YamlEntry)| before(*index).any(|k| *k == entry.key.value);
        return entries.iter().enumerate().filter(again).map(|(_, entry)| entry.key.at).collect();
    }
    let mut seen = std::collections::HashSet::new();
    entries.iter().map(key).filter(|(key, _)| !seen.insert(key.clone())).map(|(_, at)| at).collect()
}

#[cfg(test)]
mod tests;
