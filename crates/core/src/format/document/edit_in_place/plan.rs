//! Plans the byte replacements of an edit.

use super::{DocumentEditError, no_such_path, replacement};
use crate::format::document::Document;
use crate::format::header::{HANDOFF, Header};
use crate::format::shape;
use crate::text::edit::{Edit, HeaderPath, HeaderPathStep, Replacement};
use crate::text::span::{Span, line_end, line_start};
use crate::text::yaml::{
    self, QuoteStyle, YamlData, YamlEntry, YamlItem, YamlNode, YamlStyle, YamlValue,
};

/// The parent of a value.
#[derive(Clone, Copy)]
enum ValueParent<'d> {
    Root,
    Entry { map: &'d YamlNode, entry: &'d YamlEntry },
    Item { list: &'d YamlNode, item: &'d YamlItem },
}

/// An edit being planned.
pub(super) struct EditPlan<'d> {
    pub(super) document: &'d Document,
    pub(super) header: &'d Header,
    pub(super) path: &'d HeaderPath,
    pub(super) replacements: Vec<Replacement>,
}

impl<'d> EditPlan<'d> {
    fn text(&self) -> &'d str {
        &self.document.text
    }

    pub(super) fn add_edit(&mut self, edit: &Edit) -> Result<(), DocumentEditError> {
        match edit {
            Edit::Set(path, value) => self.set(&path.0, value),
            Edit::Append(path, value) => self.append(&path.0, value),
            Edit::Remove(path) => self.remove(&path.0),
            Edit::Body(..) => Ok(()),
        }
    }

    /// Follows the path as far as it exists. Returns the last node found, its parent, and the
    /// remaining steps.
    fn resolve<'s>(
        &self,
        steps: &'s [HeaderPathStep],
    ) -> Result<(&'d YamlNode, ValueParent<'d>, &'s [HeaderPathStep]), DocumentEditError> {
        let mut node = &self.header.root;
        let mut holder = ValueParent::Root;
        for (depth, step) in steps.iter().enumerate() {
            let so_far = || HeaderPath(steps[..=depth].to_vec()).to_string();
            match (&node.value, step) {
                (YamlValue::Unreadable(_), _) => {
                    return Err(DocumentEditError::Unreadable(so_far()));
                }
                (YamlValue::Map(entries), HeaderPathStep::Key(key)) => {
                    let mut named = entries.iter().filter(|entry| entry.key.value == *key);
                    let Some(entry) = named.next() else {
                        return Ok((node, holder, &steps[depth..]));
                    };
                    if named.next().is_some() {
                        return Err(DocumentEditError::Ambiguous(so_far()));
                    }
                    holder = ValueParent::Entry { map: node, entry };
                    node = &entry.node;
                }
                (YamlValue::List(items), HeaderPathStep::Item(index)) => {
                    let item = items.get(*index).ok_or_else(|| no_such_path(self.path))?;
                    holder = ValueParent::Item { list: node, item };
                    node = &item.node;
                }
                (YamlValue::Null, HeaderPathStep::Key(_)) => {
                    return Ok((node, holder, &steps[depth..]));
                }
                _ => return Err(no_such_path(self.path)),
            }
            if node.style == YamlStyle::Alias {
                return Err(DocumentEditError::Unreadable(so_far()));
            }
        }
        Ok((node, holder, &[]))
    }

    fn set(&mut self, steps: &[HeaderPathStep], value: &YamlData) -> Result<(), DocumentEditError> {
        let (node, holder, left) = self.resolve(steps)?;
        let Some((first, rest)) = left.split_first() else {
            return self.replace(node, holder, value);
        };
        let HeaderPathStep::Key(key) = first else {
            return Err(no_such_path(self.path));
        };
        let nested = rest.iter().rev().try_fold(value.clone(), |inner, step| match step {
            HeaderPathStep::Key(key) => Ok(YamlData::map([(key.as_str(), inner)])),
            HeaderPathStep::Item(_) => Err(no_such_path(self.path)),
        })?;
        let depth = steps.len() - left.len();
        self.insert_entry(node, holder, &steps[..depth], key, &nested)
    }

    fn append(
        &mut self,
        steps: &[HeaderPathStep],
        value: &YamlData,
    ) -> Result<(), DocumentEditError> {
        let (node, holder, left) = self.resolve(steps)?;
        let list = YamlData::List(vec![value.clone()]);
        if !left.is_empty() {
            return self.set(steps, &list);
        }
        match &node.value {
            YamlValue::Null => self.replace(node, holder, &list),
            YamlValue::Unreadable(_) => Err(DocumentEditError::Unreadable(self.path.to_string())),
            YamlValue::Text(_) | YamlValue::Map(_) => {
                let both = YamlData::List(vec![node.data(), value.clone()]);
                self.replace(node, holder, &both)
            }
            YamlValue::List(items) => match (items.last(), node.style) {
                (None, _) => self.replace(node, holder, &list),
                (Some(last), YamlStyle::Flow) => {
                    self.insert(last.node.at.end, format!(", {}", yaml::flow(value)));
                    Ok(())
                }
                (Some(last), _) => {
                    let dash = last.dash.ok_or_else(|| self.corruption_error())?;
                    let indent = dash - line_start(self.text(), dash);
                    let lines = yaml::block_item(list_key(steps), value, indent);
                    let place =
                        self.skip_trailing_comments(self.line_after(&last.node, dash), indent);
                    self.insert_lines(place, &lines);
                    Ok(())
                }
            },
        }
    }

    fn remove(&mut self, steps: &[HeaderPathStep]) -> Result<(), DocumentEditError> {
        let (node, holder, left) = self.resolve(steps)?;
        if !left.is_empty() {
            return Err(no_such_path(self.path));
        }
        let (parts, start) = match holder {
            ValueParent::Root => return Err(no_such_path(self.path)),
            ValueParent::Entry { map, entry } => {
                let starts = map.entries().iter().map(|entry| entry.key.at.start).collect();
                ((map, starts), entry.key.at.start)
            }
            ValueParent::Item { list, item } => {
                let YamlValue::List(items) = &list.value else {
                    return Err(no_such_path(self.path));
                };
                let starts: Vec<usize> =
                    items.iter().map(|item| item.dash.unwrap_or(item.node.at.start)).collect();
                ((list, starts), item.dash.unwrap_or(item.node.at.start))
            }
        };
        let (parent, starts): (&YamlNode, Vec<usize>) = parts;
        if starts.len() == 1 {
            // Removing the last part removes the whole collection and leaves an empty value.
            let depth = steps.len() - 1;
            let (_, holder, _) = self.resolve(&steps[..depth])?;
            return self.replace(parent, holder, &YamlData::Null);
        }
        let next = starts.iter().copied().find(|other| *other > start);
        let line = line_start(self.text(), start);
        let leads_its_line = self.text()[line..start].trim().is_empty();
        let cut = if parent.style == YamlStyle::Flow {
            let before = starts.iter().copied().rfind(|other| *other < start);
            match (next, before) {
                (Some(next), _) => Span::new(start, next),
                (None, _) => Span::new(self.comma_before(parent, start), node.at.end),
            }
        } else if leads_its_line {
            Span::new(line, self.line_after(node, start))
        } else {
            Span::new(start, next.ok_or_else(|| self.corruption_error())?)
        };
        self.replacements.push(replacement(self.text(), cut, String::new()));
        Ok(())
    }

    /// The offset of the comma before the last part of a flow collection.
    fn comma_before(&self, parent: &YamlNode, start: usize) -> usize {
        let before = &self.text()[parent.at.start..start];
        parent.at.start + before.rfind(',').unwrap_or(before.len())
    }

    /// Adds a key to a mapping, in format order.
    fn insert_entry(
        &mut self,
        map: &'d YamlNode,
        holder: ValueParent<'d>,
        at: &[HeaderPathStep],
        key: &str,
        value: &YamlData,
    ) -> Result<(), DocumentEditError> {
        let Some(first) = map.entries().first() else {
            return self.replace(map, holder, &YamlData::map([(key, value.clone())]));
        };
        let neighbour = entry_before(map, at, key);
        if map.style == YamlStyle::Flow {
            let written = yaml::flow(&YamlData::map([(key, value.clone())]));
            let inner = &written[1..written.len() - 1];
            let last = map.entries().last().unwrap_or(first);
            self.insert(last.node.at.end.max(last.key.at.end), format!(", {inner}"));
            return Ok(());
        }
        let column = first.key.at.start - line_start(self.text(), first.key.at.start);
        let place = self.line_after(&neighbour.node, neighbour.key.at.start);
        let place = self.skip_trailing_comments(place, column);
        self.insert_lines(place, &yaml::block_entry(key, value, column));
        Ok(())
    }

    /// The start of the line after a value that starts at `start`.
    fn line_after(&self, node: &YamlNode, start: usize) -> usize {
        let end = node.at.end.max(start);
        if end > start && self.text()[..end].ends_with('\n') {
            end
        } else {
            line_end(self.text(), end)
        }
    }

    /// Skips comments indented deeper than `column`, because they belong to the value before them.
    fn skip_trailing_comments(&self, mut place: usize, column: usize) -> usize {
        let limit = self.header.at.end;
        while place < limit {
            let line = &self.text()[place..line_end(self.text(), place)];
            let indent = line.len() - line.trim_start().len();
            if indent <= column || !line.trim_start().starts_with('#') {
                break;
            }
            place += line.len();
        }
        place
    }

    /// Replaces a value.
    fn replace(
        &mut self,
        old: &'d YamlNode,
        holder: ValueParent<'d>,
        new: &YamlData,
    ) -> Result<(), DocumentEditError> {
        // An old tag would apply to the new value.
        if old.any_node(&|node| node.tagged) {
            return Err(self.corruption_error());
        }
        let text = self.text();
        let in_brackets = match holder {
            ValueParent::Root => false,
            ValueParent::Entry { map, .. } => map.style == YamlStyle::Flow,
            ValueParent::Item { list, .. } => list.style == YamlStyle::Flow,
        };
        if in_brackets {
            let space = if old.style == YamlStyle::Absent { " " } else { "" };
            let written = format!("{space}{}", yaml::flow(new));
            self.replacements.push(replacement(text, old.at, written));
            return Ok(());
        }
        let (announced_at, rendered) = match holder {
            ValueParent::Root => return self.replace_root(old, new),
            ValueParent::Entry { entry, .. } => {
                let key = entry.key.at;
                let column = key.start - line_start(text, key.start);
                // Dashes before the key count too, so that nested lines are indented below the key.
                let colon = text[key.end..].find(':').ok_or_else(|| self.corruption_error())?;
                (key.end + colon + 1, yaml::block_value(&entry.key.value, new, column))
            }
            ValueParent::Item { item, .. } => {
                let dash = item.dash.ok_or_else(|| self.corruption_error())?;
                let column = dash - line_start(text, dash);
                (
                    dash + 1,
                    yaml::block_item(list_key(&self.path.0), new, column)[column + 1..].to_owned(),
                )
            }
        };
        let (head, tail) = rendered.split_once('\n').unwrap_or((&rendered, ""));
        let head = requote(old, new).unwrap_or_else(|| head.trim_start().to_owned());
        self.replace_value(old, announced_at, &head, tail);
        Ok(())
    }

    /// Adds the first key to an empty header.
    fn replace_root(&mut self, old: &'d YamlNode, new: &YamlData) -> Result<(), DocumentEditError> {
        let YamlData::Map(entries) = new else {
            return Err(no_such_path(self.path));
        };
        let lines: String =
            entries.iter().map(|(key, value)| yaml::block_entry(key, value, 0)).collect();
        let end =
            if old.style == YamlStyle::Flow { old.at } else { Span::empty(self.header.at.end) };
        self.replacements.push(replacement(self.text(), end, String::new()));
        self.insert_lines(self.header.at.end, &lines);
        Ok(())
    }

    /// Writes `head` on the line of the key or dash, and `tail` on the lines below it.
    fn replace_value(&mut self, old: &YamlNode, announced_at: usize, head: &str, tail: &str) {
        let text = self.text();
        let same_line = !text[announced_at..old.at.start.max(announced_at)].contains('\n');
        match old.style {
            YamlStyle::BlockScalar { .. } if same_line => {
                let line = line_end(text, old.at.start);
                let token = text[old.at.start..line].find(char::is_whitespace).unwrap_or(0);
                let token = Span::new(old.at.start, old.at.start + token);
                self.replace_inline(announced_at, token, head);
                let below = Span::new(line, self.line_after(old, old.at.start).max(line));
                self.replacements.push(replacement(text, below, self.with_line_breaks(tail)));
            }
            YamlStyle::Block if !same_line => {
                if !head.is_empty() {
                    self.insert(announced_at, format!(" {head}"));
                }
                let lines =
                    Span::new(line_start(text, old.at.start), self.line_after(old, old.at.start));
                self.replacements.push(replacement(text, lines, self.with_line_breaks(tail)));
            }
            YamlStyle::Block => {
                let whole = format!("{head}\n{tail}");
                let written = self.with_line_breaks(whole.trim_end_matches('\n'));
                self.replacements.push(replacement(text, old.at, written));
            }
            YamlStyle::Plain
            | YamlStyle::SingleQuoted
            | YamlStyle::DoubleQuoted
            | YamlStyle::Flow
            | YamlStyle::Alias
            | YamlStyle::Absent
            | YamlStyle::BlockScalar { .. } => {
                self.replace_inline(announced_at, old.at, head);
                if !tail.is_empty() {
                    self.insert_lines(line_end(text, old.at.end), tail);
                }
            }
        }
    }

    /// Replaces `old` with `head`. An empty `head` also removes the blank before it.
    fn replace_inline(&mut self, announced_at: usize, old: Span, head: &str) {
        let text = self.text();
        let between = text.get(announced_at..old.start).unwrap_or_default();
        let blank = !between.is_empty() && between.trim().is_empty();
        let (at, new) = match (head.is_empty(), blank) {
            (true, true) => (Span::new(announced_at, old.end), String::new()),
            (true, false) => (old, String::new()),
            (false, _) if between.is_empty() => (old, format!(" {head}")),
            (false, _) => (old, head.to_owned()),
        };
        self.replacements.push(replacement(text, at, new));
    }

    fn insert(&mut self, at: usize, new: String) {
        self.replacements.push(Replacement { at, old: String::new(), new });
    }

    fn insert_lines(&mut self, at: usize, lines: &str) {
        let starts_line = at == 0 || self.text()[..at].ends_with('\n');
        let break_first = if starts_line { "" } else { "\n" };
        self.insert(at, self.with_line_breaks(&format!("{break_first}{lines}")));
    }

    /// Converts line breaks to those of the header.
    fn with_line_breaks(&self, lines: &str) -> String {
        if self.header.at.slice(self.text()).contains("\r\n") {
            lines.replace('\n', "\r\n")
        } else {
            lines.to_owned()
        }
    }

    fn corruption_error(&self) -> DocumentEditError {
        DocumentEditError::WouldCorrupt(self.path.to_string())
    }
}

/// The key of the list that a path names, or whose item it names.
fn list_key(steps: &[HeaderPathStep]) -> &str {
    let mut keys = steps.iter().rev().filter_map(|step| match step {
        HeaderPathStep::Key(key) => Some(key.as_str()),
        HeaderPathStep::Item(_) => None,
    });
    keys.next().unwrap_or_default()
}

/// Formats a new text with the quotes of the old one.
fn requote(old: &YamlNode, new: &YamlData) -> Option<String> {
    let form = match old.style {
        YamlStyle::SingleQuoted => QuoteStyle::SingleQuoted,
        YamlStyle::DoubleQuoted => QuoteStyle::DoubleQuoted,
        YamlStyle::Plain
        | YamlStyle::BlockScalar { .. }
        | YamlStyle::Block
        | YamlStyle::Flow
        | YamlStyle::Alias
        | YamlStyle::Absent => return None,
    };
    match new {
        YamlData::Text(text) if !text.contains('\n') => Some(yaml::scalar(text, form, 0)),
        YamlData::Text(_)
        | YamlData::Null
        | YamlData::Bare(_)
        | YamlData::List(_)
        | YamlData::Map(_) => None,
    }
}

/// The entry after which a new key belongs: the last one that precedes it in format order.
fn entry_before<'d>(map: &'d YamlNode, at: &[HeaderPathStep], key: &str) -> &'d YamlEntry {
    let entries = map.entries();
    let last = &entries[entries.len() - 1];
    let Some(shape) = shape_at(at) else {
        return last;
    };
    let rank = |name: &str| shape.fields.iter().position(|field| field.name == name);
    let Some(own) = rank(key) else { return last };
    let earlier = |entry: &&YamlEntry| rank(&entry.key.value).is_some_and(|rank| rank < own);
    entries.iter().rfind(earlier).unwrap_or(last)
}

/// The shape of the mapping at a path.
fn shape_at(steps: &[HeaderPathStep]) -> Option<&'static shape::Shape> {
    let (first, rest) = steps.split_first()?;
    if *first != HeaderPathStep::Key("handoff".to_owned()) {
        return None;
    }
    let mut kind = &shape::FieldKind::Map(&HANDOFF);
    for step in rest {
        kind = match (kind, step) {
            (shape::FieldKind::Map(shape), HeaderPathStep::Key(key)) => &shape.field(key)?.kind,
            (shape::FieldKind::List(inner), HeaderPathStep::Item(_))
            | (shape::FieldKind::MapOf(inner), HeaderPathStep::Key(_)) => inner,
            _ => return None,
        };
    }
    if let shape::FieldKind::Map(shape) = kind { Some(shape) } else { None }
}
