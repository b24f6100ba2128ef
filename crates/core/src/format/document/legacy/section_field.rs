//! Reads the fields of a `## Handoff` section: `Key: value` lines, and lists below a key.

use super::node::{block_node, text_node};
use super::question::question_node;
use crate::format::header::HANDOFF;
use crate::format::shape::FieldKind;
use crate::text::span::{Span, Spanned};
use crate::text::yaml::{YamlEntry, YamlItem, YamlNode, YamlValue};

/// A header field that a section states.
pub(super) struct SectionField {
    /// The field and its value.
    pub(super) entry: YamlEntry,
    /// The lines that state it.
    pub(super) lines: Span,
    /// Whether the value holds everything that the lines say, so that it can replace them.
    pub(super) is_complete: bool,
}

/// A line of a section, split into its parts.
struct SectionLine<'t> {
    at: Span,
    /// The width of the indentation, with the bullet or number.
    indent: usize,
    is_item: bool,
    /// The text without indentation, bullet and line break.
    content: Spanned<&'t str>,
}

impl<'t> SectionLine<'t> {
    fn read(line: &'t str, start: usize) -> Self {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        let marker = marker_length(text);
        let content = text[marker..].trim();
        let lead = content.as_ptr() as usize - line.as_ptr() as usize;
        let content_at = Span::new(start + lead, start + lead + content.len());
        Self {
            at: Span::new(start, start + line.len()),
            indent,
            is_item: marker > 0,
            content: Spanned::new(content, content_at),
        }
    }

    fn is_blank(&self) -> bool {
        self.content.value.is_empty() && !self.is_item
    }

    /// The field that the line states, and the value behind its colon, which may be empty.
    fn field(&self) -> Option<(&'static str, &'static FieldKind, Spanned<&'t str>)> {
        let (key, value) = split_key(self.content)?;
        let (name, kind) = field_for_name(key)?;
        Some((name, kind, value))
    }

    /// Whether the line continues the text of the line before it.
    fn continues_text(&self) -> bool {
        let is_markup = self.content.value.starts_with(['-', '*', '#', '`']);
        !self.is_blank() && !self.is_item && !is_markup && parse_key_value(self.content).is_none()
    }
}

/// The length of a bullet or list number with its space, or 0.
fn marker_length(text: &str) -> usize {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let marks: &[char] = if digits > 0 { &['.', ')'] } else { &['-', '*', '+'] };
    match text[digits..].strip_prefix(marks) {
        Some(rest) if rest.starts_with([' ', '\t']) || rest.trim().is_empty() => {
            text.len() - rest.trim_start_matches([' ', '\t']).len()
        }
        _ => 0,
    }
}

/// Splits `**Key**: value`, with or without the markup. The value may be empty.
fn split_key(content: Spanned<&str>) -> Option<(&str, Spanned<&str>)> {
    let text = content.value;
    let colon = text.find(':')?;
    let key = text[..colon].trim_matches(['*', '_', '`', ' ']);
    if key.is_empty() || key.split_whitespace().count() > 3 {
        return None;
    }
    let value = text[colon + 1..].trim_start_matches(['*', '_', ' ']).trim_end();
    let start = content.at.start + value.as_ptr() as usize - text.as_ptr() as usize;
    Some((key, Spanned::new(value, Span::new(start, start + value.len()))))
}

/// Splits `**Key**: value` with a value, with or without the markup.
pub(super) fn parse_key_value(content: Spanned<&str>) -> Option<(&str, Spanned<&str>)> {
    split_key(content).filter(|(_, value)| !value.value.is_empty())
}

/// The content of a line without bullets, for [`parse_key_value`].
pub(super) fn line_content(line: &str, at: usize) -> Spanned<&str> {
    let content = line.trim_start().trim_start_matches(['-', '*', ' ']).trim_end();
    let start = at + content.as_ptr() as usize - line.as_ptr() as usize;
    Spanned::new(content, Span::new(start, start + content.len()))
}

/// Maps the name of a field in prose to its header field.
fn field_for_name(name: &str) -> Option<(&'static str, &'static FieldKind)> {
    let plain = name.to_lowercase().replace([' ', '-'], "_");
    let alias = match plain.as_str() {
        "captured" | "date" => "created",
        "summary" | "context" => "context_summary",
        "commit" => "at_commit",
        "topic" => "title",
        "author" => "from",
        "owner" | "next" => "to",
        "questions" => "open_questions",
        "decisions" | "key_decisions" => "decisions_made",
        other => other,
    };
    let field = HANDOFF.fields.iter().find(|field| field.name == alias)?;
    Some((field.name, &field.kind))
}

/// Reads the fields of a section. The first statement of a field counts.
pub(super) fn read_fields(text: &str, within: Span) -> Vec<SectionField> {
    let mut start = within.start;
    let lines: Vec<SectionLine<'_>> = within
        .slice(text)
        .split_inclusive('\n')
        .map(|line| {
            let read = SectionLine::read(line, start);
            start += line.len();
            read
        })
        .collect();
    let mut fields: Vec<SectionField> = Vec::new();
    let mut next = 0;
    while let Some(line) = lines.get(next) {
        let below = &lines[next + 1..];
        let field = line
            .field()
            .filter(|(name, ..)| fields.iter().all(|field| field.entry.key.value != *name));
        let (read, used) = match field {
            Some((name, FieldKind::List(item), value)) => {
                let below = &below[..list_length(line, value.value, below)];
                (read_list(name, item, line, value, below), below.len())
            }
            Some((name, _, value)) => (read_text(name, line, value, below), nested(line, below)),
            None => (None, if line.is_item { nested(line, below) } else { 0 }),
        };
        fields.extend(read);
        next += 1 + used;
    }
    fields
}

/// The number of lines that are indented below an item.
fn nested(line: &SectionLine<'_>, below: &[SectionLine<'_>]) -> usize {
    let is_nested = |one: &SectionLine<'_>| one.is_blank() || one.indent > line.indent;
    let length = below.iter().take_while(|one| is_nested(one)).count();
    without_blank_end(&below[..length])
}

/// The number of lines that belong to the list of a key.
fn list_length(line: &SectionLine<'_>, value: &str, below: &[SectionLine<'_>]) -> usize {
    let mut length = 0;
    for one in below {
        let follows_text = length == 0 || !below[length - 1].is_blank();
        // Below `**Open questions**:` the items may start in the same column.
        let is_item_of_key = one.is_item && !line.is_item && value.is_empty();
        let belongs = one.is_blank()
            || one.indent > line.indent
            || is_item_of_key
            || (follows_text && one.continues_text());
        if !belongs {
            break;
        }
        length += 1;
    }
    without_blank_end(&below[..length])
}

fn without_blank_end(lines: &[SectionLine<'_>]) -> usize {
    lines.iter().rposition(|line| !line.is_blank()).map_or(0, |last| last + 1)
}

/// Reads a value of one line. A value that continues on the next line stays in the text.
fn read_text(
    name: &'static str,
    line: &SectionLine<'_>,
    value: Spanned<&str>,
    below: &[SectionLine<'_>],
) -> Option<SectionField> {
    let is_cut = below.first().is_some_and(SectionLine::continues_text);
    (!value.value.is_empty() && !is_cut).then(|| SectionField {
        entry: entry(name, line.at, text_node(value.value.to_owned(), value.at)),
        lines: line.at,
        is_complete: true,
    })
}

/// Reads the items of a list: those below the key, or else the value behind the colon.
fn read_list(
    name: &'static str,
    item: &FieldKind,
    line: &SectionLine<'_>,
    value: Spanned<&str>,
    below: &[SectionLine<'_>],
) -> Option<SectionField> {
    let (texts, is_complete) = match below.iter().position(|one| one.is_item) {
        Some(first) => {
            let (texts, has_all) = list_items(&below[first..]);
            (texts, has_all && first == 0 && value.value.is_empty())
        }
        None if matches!(item, FieldKind::Text) && name == "to" => {
            recipients(&joined(value, below))
        }
        None => (vec![joined(value, below)], true),
    };
    let texts: Vec<Spanned<String>> =
        texts.into_iter().filter(|text| !states_none(&text.value)).collect();
    let is_stated = !value.value.is_empty() || !below.is_empty();
    let mut all_complete = is_complete;
    let items = texts.into_iter().map(|text| {
        let node = if name == "open_questions" {
            let (node, is_complete) = question_node(&text);
            all_complete &= is_complete;
            node
        } else {
            text_node(text.value, text.at)
        };
        YamlItem { dash: None, node }
    });
    let node = block_node(YamlValue::List(items.collect()), line.content.at);
    let end = below.last().map_or(line.at.end, |last| last.at.end);
    is_stated.then(|| SectionField {
        entry: entry(name, line.at, node),
        lines: Span::new(line.at.start, end),
        is_complete: all_complete,
    })
}

/// The texts of the items, and whether they are all there is: no list in an item.
fn list_items(lines: &[SectionLine<'_>]) -> (Vec<Spanned<String>>, bool) {
    let outermost = lines.iter().filter(|line| line.is_item).map(|line| line.indent).min();
    let mut items: Vec<Spanned<String>> = Vec::new();
    let mut is_complete = true;
    for line in lines.iter().filter(|line| !line.is_blank()) {
        let is_outer = line.is_item && Some(line.indent) == outermost;
        match items.last_mut().filter(|_| !is_outer) {
            Some(_) if line.is_item => is_complete = false,
            Some(item) => {
                item.value.push(' ');
                item.value.push_str(line.content.value);
                item.at.end = line.content.at.end;
            }
            None => items.push(line.content.map(str::to_owned)),
        }
    }
    (items, is_complete)
}

/// A value with the lines that continue it.
fn joined(value: Spanned<&str>, below: &[SectionLine<'_>]) -> Spanned<String> {
    let mut text = value.map(str::to_owned);
    for line in below.iter().filter(|line| !line.is_blank()) {
        text.value.push(' ');
        text.value.push_str(line.content.value);
        text.at.end = line.content.at.end;
    }
    text
}

/// Splits `api-dev, sre (parallel)` into names. Remarks in parentheses are not part of a name.
fn recipients(text: &Spanned<String>) -> (Vec<Spanned<String>>, bool) {
    let mut depth = 0_usize;
    let mut plain = String::new();
    for c in text.value.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    let names = plain.split([',', ';']).map(str::trim).filter(|name| !name.is_empty());
    let names = names.map(|name| Spanned::new(name.to_owned(), text.at)).collect();
    (names, !text.value.contains('('))
}

/// Whether a text says that a list is empty.
fn states_none(text: &str) -> bool {
    let plain = text.trim_matches(['*', '_', '(', ')', '.', ' ', '-', '—']).to_lowercase();
    matches!(plain.as_str(), "" | "none" | "n/a" | "nothing" | "none yet" | "none currently")
}

fn entry(name: &str, at: Span, node: YamlNode) -> YamlEntry {
    YamlEntry { key: Spanned::new(name.to_owned(), at), node }
}
