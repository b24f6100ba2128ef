//! Edits JSON that users edit too, with comments, trailing commas and any indentation. All other
//! bytes stay unchanged; the result is parsed and compared before it is used.

use super::entry::{ConfigEntry, EntryValue, command_of_group, with_entry};
use super::splice::{TextDraft, line_end};
use super::{ClientFileError, EntryInsertion, FilledContainer};
use jsonc_parser::ast;
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use serde::de::IgnoredAny;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Map, Value};

/// The indentation if the text has none.
const INDENT: &str = "  ";
/// May precede a text and is not part of it.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Whether a text has no values and no comments.
pub(crate) fn is_blank(text: &str) -> bool {
    JsonText::read(text).is_ok_and(|json| {
        let empty = json.value().as_object().is_some_and(Map::is_empty);
        (json.top.is_none() || empty) && json.comments().next().is_none()
    })
}

/// Whether a text is JSON without comments and trailing commas, or blank. Clients skip a file that
/// is not, and some also one that starts with a byte order mark.
pub(crate) fn is_strict(text: &str, accepts_byte_order_mark: bool) -> bool {
    let unmarked = text.strip_prefix(BYTE_ORDER_MARK).filter(|_| accepts_byte_order_mark);
    let text = unmarked.unwrap_or(text);
    text.trim().is_empty() || serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// The value of a text.
pub(crate) fn parse_value(text: &str) -> Result<Value, ClientFileError> {
    Ok(JsonText::read(text)?.value())
}

/// Adds missing entries to a text.
pub(crate) fn add_entries(
    text: &str,
    entries: &[ConfigEntry],
) -> Result<EntryInsertion, ClientFileError> {
    let mut draft = TextDraft::new(text);
    let mut added = EntryInsertion::default();
    let mut expected = JsonText::read(text)?.value();
    if JsonText::read(text)?.top.is_none() {
        let end = line_end(text);
        // On the last line it would become part of a comment.
        let gap = if text.trim().is_empty() || text.ends_with('\n') { "" } else { end };
        draft.insert(text.len(), &format!("{gap}{{}}{end}"));
        added.made.push(Vec::new());
    }
    for entry in entries {
        if entry.find(&parse_value(&draft.text)?).is_some() {
            continue;
        }
        create_parents(&mut draft, entry, &mut added)?;
        insert_entry(&mut draft, entry)?;
        expected = with_entry(expected, entry);
        added.entries.push(entry.clone());
    }
    verify_edit(text, &draft.text, &expected)?;
    Ok(EntryInsertion { text: draft.text, splices: draft.splices, ..added })
}

/// Removes entries from a text, and the containers created for them if they are empty now.
pub(crate) fn remove_entries(
    text: &str,
    entries: &[ConfigEntry],
    made: &[Vec<String>],
    filled: &[FilledContainer],
) -> Result<String, ClientFileError> {
    let mut draft = TextDraft::new(text);
    let mut comments = 0;
    for entry in entries {
        while let Some(ranges) = JsonText::read(&draft.text)?.entry_ranges(entry) {
            comments += ranges.comments;
            ranges.remove(&mut draft);
        }
    }
    for keys in made.iter().rev().filter(|keys| !keys.is_empty()) {
        if let Some(ranges) = JsonText::read(&draft.text)?.empty_member_ranges(keys) {
            ranges.remove(&mut draft);
        }
    }
    for FilledContainer { keys, was } in filled.iter().rev() {
        if let Some(range) = JsonText::read(&draft.text)?.emptied_range(keys, was) {
            draft.replace(range.start..range.end, was);
        }
    }
    let left = parse_value(&draft.text)?;
    match entries.iter().find(|entry| entry.find(&left).is_some()) {
        Some(entry) => Err(ClientFileError::Unverified(entry.name())),
        None => keeps_comments(text, &draft.text, comments).map(|()| draft.text),
    }
}

/// Checks that all comments are still there and that the values are as expected.
fn verify_edit(before: &str, after: &str, expected: &Value) -> Result<(), ClientFileError> {
    if parse_value(after)? != *expected && !expected.is_null() {
        return Err(ClientFileError::Unverified("the values".to_owned()));
    }
    keeps_comments(before, after, 0)
}

/// Only comments inside a removed entry may disappear.
fn keeps_comments(before: &str, after: &str, ours: usize) -> Result<(), ClientFileError> {
    let (before, after) = (JsonText::read(before)?, JsonText::read(after)?);
    let mut left = before.comments();
    let are_kept = after.comments().all(|comment| left.any(|other| other == comment));
    if are_kept && after.comments().count() + ours == before.comments().count() {
        Ok(())
    } else {
        Err(ClientFileError::Unverified("the comments".to_owned()))
    }
}

/// Creates the objects and the list that an entry needs, if they are missing.
fn create_parents(
    draft: &mut TextDraft,
    entry: &ConfigEntry,
    added: &mut EntryInsertion,
) -> Result<(), ClientFileError> {
    let parents = match entry.what {
        EntryValue::Member(_) => &entry.keys[..entry.keys.len() - 1],
        EntryValue::Element(_) => &entry.keys[..],
    };
    for depth in 0..=parents.len() {
        let keys = parents[..depth].to_vec();
        let is_list = depth == entry.keys.len();
        let empty = if is_list { Value::Array(Vec::new()) } else { Value::Object(Map::new()) };
        let json = JsonText::read(&draft.text)?;
        let Some(there) = json.find(&keys) else {
            let (key, above) = keys.split_last().expect("there is a key at each depth");
            json.object(above)?.append(Some(key), &empty).apply(draft);
            added.made.push(keys);
            continue;
        };
        let range = json.shifted(there.range());
        let is_null = there.as_null_keyword().is_some();
        let is_empty = json.container_of(there).is_some_and(|it| it.items.is_empty());
        if (is_null || is_empty) && !added.made.contains(&keys) {
            let was = draft.text[range.start..range.end].to_owned();
            added.filled.push(FilledContainer { keys, was });
        }
        if is_null {
            draft.replace(range.start..range.end, &empty.to_string());
        }
    }
    Ok(())
}

fn insert_entry(draft: &mut TextDraft, entry: &ConfigEntry) -> Result<(), ClientFileError> {
    let json = JsonText::read(&draft.text)?;
    let insertion = match &entry.what {
        EntryValue::Member(value) => {
            let (key, above) = entry.keys.split_last().expect("an entry has a key");
            json.object(above)?.append(Some(key), value)
        }
        EntryValue::Element(value) => json.list(&entry.keys)?.append(None, value),
    };
    insertion.apply(draft);
    Ok(())
}

/// A parsed text.
struct JsonText<'t> {
    text: &'t str,
    top: Option<ast::Value<'t>>,
    tokens: Vec<TokenAndRange<'t>>,
    /// Length of the byte order mark before the parsed text.
    shift: usize,
}

impl<'t> JsonText<'t> {
    fn read(whole: &'t str) -> Result<Self, ClientFileError> {
        let text = whole.strip_prefix(BYTE_ORDER_MARK).unwrap_or(whole);
        let collect =
            CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let strict = ParseOptions {
            allow_comments: true,
            allow_trailing_commas: true,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        let parsed = parse_to_ast(text, &collect, &strict);
        let parsed = parsed.map_err(|error| ClientFileError::Unreadable(error.to_string()))?;
        let json = Self {
            text: whole,
            top: parsed.value,
            tokens: parsed.tokens.unwrap_or_default(),
            shift: whole.len() - text.len(),
        };
        match &json.top {
            None | Some(ast::Value::Object(_)) => Ok(json),
            Some(other) => Err(ClientFileError::unexpected(&[], kind_name(other), "an object")),
        }
    }

    fn value(&self) -> Value {
        self.top.as_ref().map_or(Value::Null, to_plain_value)
    }

    fn comments(&self) -> impl Iterator<Item = &str> {
        self.tokens.iter().filter(|token| is_comment(&token.token)).map(|token| {
            let text = token.token.as_str();
            text.trim_end_matches('\r')
        })
    }

    fn shifted(&self, range: Range) -> Range {
        Range::new(range.start + self.shift, range.end + self.shift)
    }

    fn find(&self, keys: &[String]) -> Option<&ast::Value<'t>> {
        keys.iter().try_fold(self.top.as_ref()?, |value, key| Some(&member(value, key)?.value))
    }

    /// The object at the keys.
    fn object(&self, keys: &[String]) -> Result<JsonContainer<'_>, ClientFileError> {
        self.container(keys, |value| value.as_object().is_some(), "an object")
    }

    /// The list at the keys.
    fn list(&self, keys: &[String]) -> Result<JsonContainer<'_>, ClientFileError> {
        self.container(keys, |value| value.as_array().is_some(), "a list")
    }

    fn container(
        &self,
        keys: &[String],
        is_it: impl Fn(&ast::Value<'_>) -> bool,
        wanted: &'static str,
    ) -> Result<JsonContainer<'_>, ClientFileError> {
        let value = self.find(keys).ok_or_else(|| ClientFileError::Unverified(keys.join(".")))?;
        let container = self.container_of(value).filter(|_| is_it(value));
        container.ok_or_else(|| ClientFileError::unexpected(keys, kind_name(value), wanted))
    }

    fn container_of(&self, value: &ast::Value<'_>) -> Option<JsonContainer<'_>> {
        let (range, items): (Range, Vec<Range>) = match value {
            ast::Value::Object(object) => {
                (object.range, object.properties.iter().map(|one| one.range).collect())
            }
            ast::Value::Array(array) => {
                (array.range, array.elements.iter().map(Ranged::range).collect())
            }
            ast::Value::StringLit(_)
            | ast::Value::NumberLit(_)
            | ast::Value::BooleanLit(_)
            | ast::Value::NullKeyword(_) => return None,
        };
        let items = items.into_iter().map(|item| self.shifted(item)).collect();
        let range = self.shifted(range);
        let marks = self.tokens.iter().map(|token| {
            let kind = match token.token {
                Token::Comma => JsonMarkKind::Comma,
                Token::CommentLine(_) => JsonMarkKind::LineComment,
                Token::CommentBlock(_) => JsonMarkKind::BlockComment,
                Token::OpenBrace
                | Token::CloseBrace
                | Token::OpenBracket
                | Token::CloseBracket
                | Token::Colon
                | Token::String(_)
                | Token::Word(_)
                | Token::Boolean(_)
                | Token::Number(_)
                | Token::Null => JsonMarkKind::Other,
            };
            (kind, self.shifted(token.range))
        });
        let inside = |range_of: &(JsonMarkKind, Range)| {
            range_of.1.start > range.start && range_of.1.end < range.end
        };
        let marks = marks.filter(inside).collect();
        Some(JsonContainer { text: self.text, range, items, marks, is_flat: self.is_flat() })
    }

    fn is_flat(&self) -> bool {
        let top = self.top.as_ref().and_then(ast::Value::as_object);
        top.is_some_and(|top| !top.properties.is_empty()) && !self.text.trim().contains('\n')
    }

    /// The ranges of one of midstride's entries, even if it was changed since.
    fn entry_ranges(&self, entry: &ConfigEntry) -> Option<JsonItemRanges> {
        match &entry.what {
            EntryValue::Member(_) => self.member_ranges(&entry.keys),
            EntryValue::Element(ours) => {
                let list = self.find(&entry.keys)?;
                let elements = &list.as_array()?.elements;
                match command_of_group(ours) {
                    Some(command) => elements
                        .iter()
                        .enumerate()
                        .find_map(|(index, group)| self.hook_ranges(list, index, group, command)),
                    None => {
                        let index =
                            elements.iter().position(|element| to_plain_value(element) == *ours)?;
                        Some(self.container_of(list)?.item_ranges(index))
                    }
                }
            }
        }
    }

    fn member_ranges(&self, keys: &[String]) -> Option<JsonItemRanges> {
        let (key, above) = keys.split_last()?;
        let object = self.find(above)?;
        let is_it = |one: &ast::ObjectProp<'_>| one.name.as_str() == key;
        let index = object.as_object()?.properties.iter().rposition(is_it)?;
        Some(self.container_of(object)?.item_ranges(index))
    }

    fn empty_member_ranges(&self, keys: &[String]) -> Option<JsonItemRanges> {
        let container = self.container_of(self.find(keys)?)?;
        let is_empty = container.items.is_empty() && container.marks.is_empty();
        if is_empty { self.member_ranges(keys) } else { None }
    }

    /// The range of a container that was empty before, if it is empty again; whitespace may differ.
    fn emptied_range(&self, keys: &[String], was: &str) -> Option<Range> {
        let there = self.find(keys)?;
        let container = self.container_of(there)?;
        let range = container.range;
        let dense = |text: &str| text.split_whitespace().collect::<String>();
        let now = dense(&self.text[range.start..range.end]);
        let is_same = now == dense(was) || (was == "null" && container.marks.is_empty());
        (container.items.is_empty() && is_same).then_some(range)
    }

    /// The ranges of a hook in a group, or of the whole group if it has no other hook.
    fn hook_ranges(
        &self,
        groups: &ast::Value<'_>,
        index: usize,
        group: &ast::Value<'_>,
        command: &Value,
    ) -> Option<JsonItemRanges> {
        let list = &member(group, "hooks")?.value;
        let hooks = &list.as_array()?.elements;
        let is_ours = |hook: &ast::Value<'_>| {
            member(hook, "command").is_some_and(|c| to_plain_value(&c.value) == *command)
        };
        let at = hooks.iter().position(is_ours)?;
        let ranges = if hooks.len() == 1 {
            self.container_of(groups)?.item_ranges(index)
        } else {
            self.container_of(list)?.item_ranges(at)
        };
        Some(ranges)
    }
}

/// The last member with a name: if a key occurs twice, readers use the last.
fn member<'v, 't>(value: &'v ast::Value<'t>, key: &str) -> Option<&'v ast::ObjectProp<'t>> {
    value.as_object()?.properties.iter().rfind(|one| one.name.as_str() == key)
}

fn is_comment(token: &Token<'_>) -> bool {
    matches!(token, Token::CommentLine(_) | Token::CommentBlock(_))
}

fn kind_name(value: &ast::Value<'_>) -> &'static str {
    match value {
        ast::Value::StringLit(_) => "a string",
        ast::Value::NumberLit(_) => "a number",
        ast::Value::BooleanLit(_) => "true or false",
        ast::Value::Object(_) => "an object",
        ast::Value::Array(_) => "a list",
        ast::Value::NullKeyword(_) => "null",
    }
}

/// Converts to a value without ranges and comments.
fn to_plain_value(value: &ast::Value<'_>) -> Value {
    match value {
        ast::Value::StringLit(text) => Value::String(text.value.to_string()),
        ast::Value::NumberLit(number) => {
            serde_json::from_str(number.value).unwrap_or(Value::String(number.value.to_owned()))
        }
        ast::Value::BooleanLit(boolean) => Value::Bool(boolean.value),
        ast::Value::NullKeyword(_) => Value::Null,
        ast::Value::Array(array) => array.elements.iter().map(to_plain_value).collect(),
        ast::Value::Object(object) => {
            let members = object.properties.iter();
            members.map(|one| (one.name.as_str().to_owned(), to_plain_value(&one.value))).collect()
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JsonMarkKind {
    Comma,
    LineComment,
    BlockComment,
    Other,
}

impl JsonMarkKind {
    fn is_comment(self) -> bool {
        matches!(self, Self::LineComment | Self::BlockComment)
    }
}

/// An object or list, with the ranges of everything in it.
struct JsonContainer<'t> {
    text: &'t str,
    range: Range,
    items: Vec<Range>,
    marks: Vec<(JsonMarkKind, Range)>,
    /// Whether the whole text is not empty and on one line.
    is_flat: bool,
}

/// Texts to insert, from back to front.
struct JsonInsertion {
    texts: Vec<(usize, String)>,
}

impl JsonInsertion {
    fn apply(self, draft: &mut TextDraft) {
        for (at, text) in self.texts {
            draft.insert(at, &text);
        }
    }
}

/// The ranges to remove for an item.
struct JsonItemRanges {
    /// From back to front.
    ranges: Vec<(usize, usize)>,
    /// Number of comments in it.
    comments: usize,
}

impl JsonItemRanges {
    fn remove(self, draft: &mut TextDraft) {
        for (start, end) in self.ranges {
            draft.remove(start..end);
        }
    }
}

impl JsonContainer<'_> {
    /// Appends an item in the layout of the others.
    fn append(&self, key: Option<&String>, value: &Value) -> JsonInsertion {
        let last = self.items.last();
        let trailing = last.and_then(|last| self.comma_behind(last.end));
        let breaks = |first: &Range| self.text[self.range.start..first.start].contains('\n');
        let on_own_line = self.items.first().map_or(!self.is_flat, breaks);
        let behind = self.marks.last().map_or(self.range.start + 1, |(_, mark)| mark.end);
        let item = match on_own_line {
            true => self.on_own_line(key, value, behind),
            false => self.in_line(key, value),
        };
        let comma = if trailing.is_some() { "," } else { "" };
        let mut texts = vec![(behind, format!("{item}{comma}"))];
        if let (Some(last), None) = (last, trailing) {
            texts.push((last.end, ",".to_owned()));
        }
        JsonInsertion { texts }
    }

    fn on_own_line(&self, key: Option<&String>, value: &Value, behind: usize) -> String {
        let end = line_end(self.text);
        let outer = self.indent_at(self.range.start);
        let inner = match self.items.last() {
            Some(last) => self.indent_at(last.start).to_owned(),
            None => format!("{outer}{}", indent_unit(self.text)),
        };
        let lines = pretty(value, indent_unit(self.text)).replace('\n', &format!("{end}{inner}"));
        let is_closed_here = !self.text[behind..self.range.end].contains('\n');
        let close = match is_closed_here && self.items.is_empty() {
            true => format!("{end}{outer}"),
            false => String::new(),
        };
        format!("{end}{inner}{}{lines}{close}", name(key))
    }

    fn in_line(&self, key: Option<&String>, value: &Value) -> String {
        let gap = if self.items.is_empty() { "" } else { " " };
        format!("{gap}{}{value}", name(key))
    }

    /// The indentation of the line at a position.
    fn indent_at(&self, at: usize) -> &str {
        let start = self.text[..at].rfind('\n').map_or(0, |line| line + 1);
        let line = &self.text[start..];
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    /// The comma after an item, with only comments in between.
    fn comma_behind(&self, end: usize) -> Option<Range> {
        let mut behind = self.marks.iter().filter(|(_, mark)| mark.start >= end);
        let next = behind.find(|(sort, _)| !sort.is_comment());
        next.filter(|(sort, _)| *sort == JsonMarkKind::Comma).map(|(_, mark)| *mark)
    }

    /// The item with the whitespace before it and one comma: the one after it or, for the last
    /// item, the one before it.
    fn item_ranges(&self, index: usize) -> JsonItemRanges {
        let item = self.items[index];
        let before = self.marks.iter().rfind(|(_, mark)| mark.end <= item.start);
        let start = before.map_or(self.range.start + 1, |(_, mark)| mark.end);
        let mut ranges = Vec::new();
        let comma_behind = self.comma_behind(item.end);
        let previous = index.checked_sub(1).and_then(|index| self.items.get(index));
        let comma_before = previous.and_then(|previous| self.comma_behind(previous.end));
        let mut end = item.end;
        match comma_behind {
            Some(comma) if comma.start == end => end = comma.end,
            Some(comma) => ranges.push((comma.start, comma.end)),
            None => {}
        }
        let inside = |mark: &Range| mark.start >= item.start && mark.end <= item.end;
        let comments =
            self.marks.iter().filter(|(sort, mark)| sort.is_comment() && inside(mark)).count();
        let is_alone = self.items.len() == 1;
        let nothing_else =
            self.marks.iter().all(|(sort, mark)| inside(mark) || *sort == JsonMarkKind::Comma);
        if is_alone && nothing_else {
            let ranges = vec![(self.range.start + 1, self.range.end - 1)];
            return JsonItemRanges { ranges, comments };
        }
        let ends_line = before.is_some_and(|(sort, _)| *sort == JsonMarkKind::LineComment);
        let rest = self.text[end..].trim_start_matches([' ', '\t', '\r']);
        let start = if ends_line && !rest.starts_with('\n') { item.start } else { start };
        ranges.push((start, end));
        if let (None, Some(comma)) = (comma_behind, comma_before) {
            ranges.push((comma.start, comma.end));
        }
        // The ranges do not overlap: a comma is never inside the ranges before or after it.
        ranges.sort_unstable_by(|a, b| b.cmp(a));
        JsonItemRanges { ranges, comments }
    }
}

fn name(key: Option<&String>) -> String {
    key.map(|key| format!("{}: ", Value::from(key.as_str()))).unwrap_or_default()
}

/// The indentation of the first indented line that is not a comment.
fn indent_unit(text: &str) -> &str {
    let indented = text.lines().filter_map(|line| {
        let content = line.trim_start_matches([' ', '\t']);
        let indent = &line[..line.len() - content.len()];
        (!indent.is_empty() && content.starts_with(['"', '{', '['])).then_some(indent)
    });
    indented.into_iter().next().unwrap_or(INDENT)
}

fn pretty(value: &Value, indent: &str) -> String {
    let mut bytes = Vec::new();
    let formatter = PrettyFormatter::with_indent(indent.as_bytes());
    let written =
        serde::Serialize::serialize(value, &mut Serializer::with_formatter(&mut bytes, formatter));
    written.expect("a value is written into memory");
    String::from_utf8(bytes).expect("JSON is text")
}
