//! YAML, read into a tree in which every value knows its bytes.
//!
//! Reading never fails. The whole text is parsed first; if that does not work, conflict markers
//! and tabs are looked through, and then each top-level block is parsed alone, so that a mistake
//! costs the block it stands in and nothing else.

mod salvage;
mod tree;
mod write;

pub use salvage::{MARKER_LENGTH, conflict_markers};
pub use write::{QuoteStyle, block_entry, block_item, flow, scalar};

use crate::text::span::{Span, Spanned};

/// A value and how it was written.
#[derive(Clone, Debug)]
pub struct YamlNode {
    /// What it says.
    pub value: YamlValue,
    /// Its bytes, without the comments and blank lines that follow it.
    pub at: Span,
    /// How it is written.
    pub style: YamlStyle,
    /// Whether a tag such as `!!str` stands before it; what that means is not our business.
    pub tagged: bool,
}

/// What a node says. Numbers, truth values and times are text here: what a field makes of them is
/// the field's business.
#[derive(Clone, Debug)]
pub enum YamlValue {
    /// Nothing: an empty value, `~` or `null`.
    Null,
    /// A scalar.
    Text(String),
    /// A list.
    List(Vec<YamlItem>),
    /// A mapping, in the order written, duplicate keys included.
    Map(Vec<YamlEntry>),
    /// A block that could not be parsed, as it is written.
    Unreadable(String),
}

/// An item of a list.
#[derive(Clone, Debug)]
pub struct YamlItem {
    /// Where its `-` stands, in a block list.
    pub dash: Option<usize>,
    /// The item.
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
pub enum YamlData {
    /// Nothing.
    Null,
    /// Text, quoted where it would read as something else.
    Text(String),
    /// A scalar that is no text (a truth value, a number, a time), never quoted.
    Bare(String),
    /// A list.
    List(Vec<YamlData>),
    /// A mapping.
    Map(Vec<(String, YamlData)>),
}

impl YamlData {
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
    pub fn map<K: Into<String>>(entries: impl IntoIterator<Item = (K, YamlData)>) -> Self {
        Self::Map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    /// Whether two values read the same; quoting makes no difference to us.
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

/// The entries of a mapping sorted by key; the order of keys says nothing.
fn sorted_by_key(entries: &[(String, YamlData)]) -> Vec<(&str, &YamlData)> {
    let mut sorted: Vec<(&str, &YamlData)> =
        entries.iter().map(|(key, value)| (key.as_str(), value)).collect();
    sorted.sort_by_key(|(key, _)| *key);
    sorted
}

impl YamlNode {
    /// A node where nothing is written.
    pub fn absent(at: usize) -> Self {
        Self {
            value: YamlValue::Null,
            at: Span::empty(at),
            style: YamlStyle::Absent,
            tagged: false,
        }
    }

    /// The value under a key of a mapping; the first one where a key is written twice.
    pub fn get(&self, key: &str) -> Option<&YamlNode> {
        self.entry(key).map(|entry| &entry.node)
    }

    /// The entry of a key of a mapping.
    pub fn entry(&self, key: &str) -> Option<&YamlEntry> {
        self.entries().iter().find(|entry| entry.key.value == key)
    }

    /// The entries of a mapping; none for anything else.
    pub fn entries(&self) -> &[YamlEntry] {
        match &self.value {
            YamlValue::Map(entries) => entries,
            YamlValue::Null
            | YamlValue::Text(_)
            | YamlValue::List(_)
            | YamlValue::Unreadable(_) => &[],
        }
    }

    /// The text of a scalar, where there is any.
    pub fn text(&self) -> Option<Spanned<&str>> {
        match &self.value {
            YamlValue::Text(text) => Some(Spanned::new(text.as_str(), self.at)),
            YamlValue::Null | YamlValue::List(_) | YamlValue::Map(_) | YamlValue::Unreadable(_) => {
                None
            }
        }
    }

    /// The items of a list. A single value where a list was expected counts as a list of one.
    pub fn items(&self) -> Vec<&YamlNode> {
        match &self.value {
            YamlValue::List(items) => items.iter().map(|item| &item.node).collect(),
            YamlValue::Text(_) | YamlValue::Map(_) => vec![self],
            YamlValue::Null | YamlValue::Unreadable(_) => Vec::new(),
        }
    }

    /// Whether nothing is said: no value, blank text, an empty list or mapping.
    pub fn is_blank(&self) -> bool {
        match &self.value {
            YamlValue::Null => true,
            YamlValue::Text(text) => text.trim().is_empty(),
            YamlValue::List(items) => items.iter().all(|item| item.node.is_blank()),
            YamlValue::Map(entries) => entries.is_empty(),
            YamlValue::Unreadable(_) => false,
        }
    }

    /// The value without its places. An unreadable block counts as its own text.
    pub fn data(&self) -> YamlData {
        match &self.value {
            YamlValue::Null => YamlData::Null,
            // A plain `true` or `14290` is no text to other readers, and is written as it was.
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

    /// Whether this node, or anything in it, fits.
    pub fn any_node(&self, fits: &impl Fn(&YamlNode) -> bool) -> bool {
        fits(self)
            || match &self.value {
                YamlValue::List(items) => items.iter().any(|item| item.node.any_node(fits)),
                YamlValue::Map(entries) => entries.iter().any(|entry| entry.node.any_node(fits)),
                YamlValue::Null | YamlValue::Text(_) | YamlValue::Unreadable(_) => false,
            }
    }
}

/// What was read, and what was wrong with it.
#[derive(Clone, Debug)]
pub struct ParsedYaml {
    /// The value of the whole text.
    pub root: YamlNode,
    /// Each comment, from its `#` to the end of its line.
    pub comments: Vec<Span>,
    /// What was wrong, in the order of the text.
    pub problems: Vec<YamlProblem>,
}

/// Something wrong with the YAML itself.
#[derive(Clone, Debug)]
pub struct YamlProblem {
    /// What sort of problem.
    pub kind: YamlProblemKind,
    /// Where.
    pub at: Span,
    /// What is wrong, as a sentence without its full stop.
    pub message: String,
}

/// What sort of problem a text has as YAML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum YamlProblemKind {
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
pub fn parse(text: &str, within: Span) -> ParsedYaml {
    let mut reading = salvage::parse(within.slice(text), within.start);
    let mut duplicates = Vec::new();
    find_duplicates(&reading.root, &mut duplicates);
    // Both sides of an unfinished merge repeat their keys; one finding says it.
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
                        message: format!("`{}` is written twice", entry.key.value),
                    });
                }
                find_duplicates(&entry.node, problems);
            }
        }
        YamlValue::Null | YamlValue::Text(_) | YamlValue::Unreadable(_) => {}
    }
}

/// The places of keys that stand before in the same mapping.
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
