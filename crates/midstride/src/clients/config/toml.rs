//! Edits TOML that users edit too: midstride's tables go at the end. All other bytes stay
//! unchanged.

use super::entry::{ConfigEntry, with_entry};
use super::splice::{TextDraft, line_end};
use super::{ClientFileError, EntryInsertion};
use serde_json::{Map, Value};
use std::ops::Range;
use toml_edit::{Document, Item, Key, TableLike};

/// Whether a text has no values and no comments.
pub(crate) fn is_blank(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim().is_empty()
}

/// The value of a text.
pub(crate) fn parse_value(text: &str) -> Result<Value, ClientFileError> {
    read(text)?;
    toml_edit::de::from_str(text).map_err(|error| unreadable(&error.to_string()))
}

/// Adds missing entries to a text.
pub(crate) fn add_entries(
    text: &str,
    entries: &[ConfigEntry],
) -> Result<EntryInsertion, ClientFileError> {
    let mut draft = TextDraft::new(text);
    let mut added = EntryInsertion::default();
    let mut expected = parse_value(text)?;
    for entry in entries {
        if entry.find(&parse_value(&draft.text)?).is_some() {
            continue;
        }
        insert_entry(&mut draft, entry)?;
        expected = with_entry(expected, entry);
        added.entries.push(entry.clone());
    }
    if parse_value(&draft.text)? != expected {
        return Err(ClientFileError::Unverified("the values".to_owned()));
    }
    Ok(EntryInsertion { text: draft.text, splices: draft.splices, ..added })
}

/// Removes entries from a text.
pub(crate) fn remove_entries(
    text: &str,
    entries: &[ConfigEntry],
) -> Result<String, ClientFileError> {
    let mut draft = TextDraft::new(text);
    for entry in entries {
        for range in ranges_of(&draft.text, entry)? {
            draft.remove(range);
        }
    }
    let left = parse_value(&draft.text)?;
    match entries.iter().find(|entry| entry.find(&left).is_some()) {
        Some(entry) => Err(ClientFileError::Unverified(entry.name())),
        None => Ok(draft.text),
    }
}

fn read(text: &str) -> Result<Document<String>, ClientFileError> {
    text.parse().map_err(|error: toml_edit::TomlError| unreadable(&error.to_string()))
}

fn unreadable(error: &str) -> ClientFileError {
    ClientFileError::Unreadable(error.trim_end().to_owned())
}

fn insert_entry(draft: &mut TextDraft, entry: &ConfigEntry) -> Result<(), ClientFileError> {
    let document = read(&draft.text)?;
    let (_, above) = entry.keys.split_last().expect("an entry has a key");
    let mut here: &dyn TableLike = document.as_table();
    let mut inside = None;
    for (depth, key) in above.iter().enumerate() {
        let Some(item) = here.get(key) else { break };
        let found = || format!("a value ({})", item.type_name());
        let unexpected = || ClientFileError::unexpected(&above[..=depth], &found(), "a table");
        here = item.as_table_like().ok_or_else(unexpected)?;
        inside = item.as_inline_table().map(|table| (depth, table));
    }
    if let Some((depth, table)) = inside {
        let member =
            format!("{} = {}", dotted_path(&entry.keys[depth + 1..]), inline(entry.value()));
        let last = table.iter().filter_map(|(_, value)| value.span()).map(|span| span.end).max();
        let start = table.span().ok_or_else(|| ClientFileError::Unverified(entry.name()))?.start;
        match last {
            Some(last) => draft.insert(last, &format!(", {member}")),
            None => draft.insert(start + 1, &format!(" {member} ")),
        }
        return Ok(());
    }
    let block = block(entry, line_end(&draft.text));
    let gap = leading_blank_line(&draft.text);
    draft.insert(draft.text.len(), &format!("{gap}{block}"));
    Ok(())
}

/// The blank line before an appended table, unless the text is empty.
fn leading_blank_line(text: &str) -> String {
    let end = line_end(text);
    match (is_blank(text), text.ends_with('\n')) {
        (true, _) => String::new(),
        (false, true) => end.to_owned(),
        (false, false) => format!("{end}{end}"),
    }
}

fn block(entry: &ConfigEntry, end: &str) -> String {
    let mut out = format!("[{}]{end}", dotted_path(&entry.keys));
    let mut lines = Vec::new();
    if let Some(members) = entry.value().as_object() {
        flatten(members, &mut Vec::new(), &mut lines);
    }
    for line in lines {
        out.push_str(&line);
        out.push_str(end);
    }
    out
}

/// Nested members become dotted keys.
fn flatten(members: &Map<String, Value>, above: &mut Vec<String>, lines: &mut Vec<String>) {
    for (key, value) in members {
        above.push(key.clone());
        match value.as_object() {
            Some(members) => flatten(members, above, lines),
            None => lines.push(format!("{} = {}", dotted_path(above), inline(value))),
        }
        above.pop();
    }
}

fn dotted_path(keys: &[String]) -> String {
    let keys: Vec<String> =
        keys.iter().map(|key| Key::new(key).display_repr().into_owned()).collect();
    keys.join(".")
}

fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => toml_edit::Value::from(text.as_str()).to_string(),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", "))
        }
        Value::Object(members) => {
            let member = |(key, value): (&String, &Value)| {
                format!("{} = {}", dotted_path(std::slice::from_ref(key)), inline(value))
            };
            format!("{{ {} }}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
        Value::Bool(_) | Value::Number(_) | Value::Null => value.to_string(),
    }
}

/// The ranges of an entry, from back to front, even if it was rewritten since.
fn ranges_of(text: &str, entry: &ConfigEntry) -> Result<Vec<Range<usize>>, ClientFileError> {
    let document = read(text)?;
    let (last, above) = entry.keys.split_last().expect("an entry has a key");
    let mut here: &dyn TableLike = document.as_table();
    let mut is_inline = false;
    for key in above {
        let Some(item) = here.get(key) else { return Ok(Vec::new()) };
        is_inline |= item.is_inline_table();
        let Some(table) = item.as_table_like() else { return Ok(Vec::new()) };
        here = table;
    }
    let Some(item) = here.get(last) else { return Ok(Vec::new()) };
    let mut ranges = Vec::new();
    if is_inline {
        ranges.extend(inline_range(text, here, last, item));
    } else {
        collect(text, item, &mut ranges);
    }
    ranges.sort_by_key(|range| std::cmp::Reverse(range.start));
    ranges.dedup();
    Ok(ranges)
}

/// The range of a member of an inline table, including a comma.
fn inline_range(text: &str, table: &dyn TableLike, key: &str, item: &Item) -> Option<Range<usize>> {
    let start = table.key(key)?.span()?.start;
    let end = item.span()?.end;
    let behind = text[end..].len() - text[end..].trim_start().len();
    if text[end + behind..].starts_with(',') {
        let end = end + behind + 1;
        return Some(start..end + text[end..].len() - text[end..].trim_start().len());
    }
    let before = text[..start].trim_end();
    let start = before.strip_suffix(',').map_or(before.len(), str::len);
    let is_alone = before.ends_with('{') && text[end + behind..].starts_with('}');
    Some(start..if is_alone { end + behind } else { end })
}

/// The lines of a value, or of each table below an item with the values directly in it.
fn collect(text: &str, item: &Item, ranges: &mut Vec<Range<usize>>) {
    match item {
        Item::None => {}
        Item::Value(value) => ranges.extend(value.span().map(|span| whole_lines(text, span))),
        Item::Table(table) if table.is_dotted() => {
            table.iter().for_each(|(_, item)| collect(text, item, ranges));
        }
        Item::Table(table) => collect_table(text, table, ranges),
        Item::ArrayOfTables(tables) => {
            tables.iter().for_each(|table| collect_table(text, table, ranges));
        }
    }
}

fn collect_table(text: &str, table: &toml_edit::Table, ranges: &mut Vec<Range<usize>>) {
    let mut own = Vec::new();
    for (_, item) in table {
        let stands_here =
            item.is_value() || item.as_table().is_some_and(toml_edit::Table::is_dotted);
        collect(text, item, if stands_here { &mut own } else { ranges });
    }
    let header = if table.is_implicit() { None } else { table.span() };
    if let Some(header) = header {
        let first_line = header.start..header.start + 1;
        let lines = whole_lines(text, first_line);
        let end = own.iter().map(|range| range.end).max().unwrap_or(lines.end).max(lines.end);
        ranges.push(without_gap(text, lines.start)..end);
    } else {
        ranges.extend(own);
    }
}

fn whole_lines(text: &str, span: Range<usize>) -> Range<usize> {
    let start = text[..span.start].rfind('\n').map_or(0, |line| line + 1);
    let end = text[span.end..].find('\n').map_or(text.len(), |line| span.end + line + 1);
    start..end
}

/// The start of the blank line before a table, if there is one.
fn without_gap(text: &str, start: usize) -> usize {
    let before = &text[..start];
    let gap = ["\r\n", "\n"].into_iter().find_map(|end| before.strip_suffix(end));
    gap.filter(|rest| rest.ends_with('\n')).map_or(start, str::len)
}
