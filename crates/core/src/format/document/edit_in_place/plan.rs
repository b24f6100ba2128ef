//! Which bytes give way to which, so that an edit changes nothing else.

use super::{EditRefused, no_place, replacement};
use crate::format::document::Document;
use crate::format::header::{HANDOFF, Header};
use crate::format::shape;
use crate::text::edit::{Edit, Path, Replacement, Step};
use crate::text::span::{Span, line_end, line_start};
use crate::text::yaml::{self, Data, Entry, Form, Item, Node, Style, Value};

/// A value and what it hangs on.
#[derive(Clone, Copy)]
enum Holder<'d> {
    Root,
    Entry { map: &'d Node, entry: &'d Entry },
    Item { list: &'d Node, item: &'d Item },
}

/// An edit being planned.
pub(super) struct Plan<'d> {
    pub(super) document: &'d Document,
    pub(super) header: &'d Header,
    pub(super) path: &'d Path,
    pub(super) replacements: Vec<Replacement>,
}

impl<'d> Plan<'d> {
    fn text(&self) -> &'d str {
        &self.document.text
    }

    pub(super) fn make(&mut self, edit: &Edit) -> Result<(), EditRefused> {
        match edit {
            Edit::Set(path, value) => self.set(&path.0, value),
            Edit::Append(path, value) => self.append(&path.0, value),
            Edit::Remove(path) => self.remove(&path.0),
            Edit::Body(..) => Ok(()),
        }
    }

    /// Follows the path as far as it exists: the value, or its last holder and the steps left.
    fn follow<'s>(
        &self,
        steps: &'s [Step],
    ) -> Result<(&'d Node, Holder<'d>, &'s [Step]), EditRefused> {
        let mut node = &self.header.root;
        let mut holder = Holder::Root;
        for (depth, step) in steps.iter().enumerate() {
            let so_far = || Path(steps[..=depth].to_vec()).to_string();
            match (&node.value, step) {
                (Value::Unreadable(_), _) => return Err(EditRefused::Unreadable(so_far())),
                (Value::Map(entries), Step::Key(key)) => {
                    let mut named = entries.iter().filter(|entry| entry.key.value == *key);
                    let Some(entry) = named.next() else {
                        return Ok((node, holder, &steps[depth..]));
                    };
                    if named.next().is_some() {
                        return Err(EditRefused::Ambiguous(so_far()));
                    }
                    holder = Holder::Entry { map: node, entry };
                    node = &entry.node;
                }
                (Value::List(items), Step::Item(index)) => {
                    let item = items.get(*index).ok_or_else(|| no_place(self.path))?;
                    holder = Holder::Item { list: node, item };
                    node = &item.node;
                }
                (Value::Null, Step::Key(_)) => return Ok((node, holder, &steps[depth..])),
                _ => return Err(no_place(self.path)),
            }
            if node.style == Style::Alias {
                return Err(EditRefused::Unreadable(so_far()));
            }
        }
        Ok((node, holder, &[]))
    }

    fn set(&mut self, steps: &[Step], value: &Data) -> Result<(), EditRefused> {
        let (node, holder, left) = self.follow(steps)?;
        let Some((first, rest)) = left.split_first() else {
            return self.replace(node, holder, value);
        };
        let Step::Key(key) = first else {
            return Err(no_place(self.path));
        };
        let nested = rest.iter().rev().try_fold(value.clone(), |inner, step| match step {
            Step::Key(key) => Ok(Data::map([(key.as_str(), inner)])),
            Step::Item(_) => Err(no_place(self.path)),
        })?;
        let depth = steps.len() - left.len();
        self.insert_entry(node, holder, &steps[..depth], key, &nested)
    }

    fn append(&mut self, steps: &[Step], value: &Data) -> Result<(), EditRefused> {
        let (node, holder, left) = self.follow(steps)?;
        let list = Data::List(vec![value.clone()]);
        if !left.is_empty() {
            return self.set(steps, &list);
        }
        match &node.value {
            Value::Null => self.replace(node, holder, &list),
            Value::Unreadable(_) => Err(EditRefused::Unreadable(self.path.to_string())),
            Value::Text(_) | Value::Map(_) => {
                let both = Data::List(vec![node.data(), value.clone()]);
                self.replace(node, holder, &both)
            }
            Value::List(items) => match (items.last(), node.style) {
                (None, _) => self.replace(node, holder, &list),
                (Some(last), Style::Flow) => {
                    self.insert(last.node.at.end, format!(", {}", yaml::flow(value)));
                    Ok(())
                }
                (Some(last), _) => {
                    let dash = last.dash.ok_or_else(|| self.harm())?;
                    let indent = dash - line_start(self.text(), dash);
                    let lines = yaml::block_item(value, indent);
                    let place = self.after_its_comments(self.after(&last.node, dash), indent);
                    self.insert_lines(place, &lines);
                    Ok(())
                }
            },
        }
    }

    fn remove(&mut self, steps: &[Step]) -> Result<(), EditRefused> {
        let (node, holder, left) = self.follow(steps)?;
        if !left.is_empty() {
            return Err(no_place(self.path));
        }
        let (parts, start) = match holder {
            Holder::Root => return Err(no_place(self.path)),
            Holder::Entry { map, entry } => {
                let starts = map.entries().iter().map(|entry| entry.key.at.start).collect();
                ((map, starts), entry.key.at.start)
            }
            Holder::Item { list, item } => {
                let Value::List(items) = &list.value else {
                    return Err(no_place(self.path));
                };
                let starts: Vec<usize> =
                    items.iter().map(|item| item.dash.unwrap_or(item.node.at.start)).collect();
                ((list, starts), item.dash.unwrap_or(item.node.at.start))
            }
        };
        let (parent, starts): (&Node, Vec<usize>) = parts;
        if starts.len() == 1 {
            // The last part takes its brackets or its lines with it and leaves nothing said.
            let depth = steps.len() - 1;
            let (_, holder, _) = self.follow(&steps[..depth])?;
            return self.replace(parent, holder, &Data::Null);
        }
        let next = starts.iter().copied().find(|other| *other > start);
        let line = line_start(self.text(), start);
        let leads_its_line = self.text()[line..start].trim().is_empty();
        let cut = if parent.style == Style::Flow {
            let before = starts.iter().copied().rfind(|other| *other < start);
            match (next, before) {
                (Some(next), _) => Span::new(start, next),
                (None, _) => Span::new(self.flow_gap(parent, start), node.at.end),
            }
        } else if leads_its_line {
            Span::new(line, self.after(node, start))
        } else {
            Span::new(start, next.ok_or_else(|| self.harm())?)
        };
        self.replacements.push(replacement(self.text(), cut, String::new()));
        Ok(())
    }

    /// Where the comma before the last part of a flow collection stands.
    fn flow_gap(&self, parent: &Node, start: usize) -> usize {
        let before = &self.text()[parent.at.start..start];
        parent.at.start + before.rfind(',').unwrap_or(before.len())
    }

    /// Adds a key to a mapping, at its place in the order of the format.
    fn insert_entry(
        &mut self,
        map: &'d Node,
        holder: Holder<'d>,
        at: &[Step],
        key: &str,
        value: &Data,
    ) -> Result<(), EditRefused> {
        let Some(first) = map.entries().first() else {
            return self.replace(map, holder, &Data::map([(key, value.clone())]));
        };
        let neighbour = before_in_order(map, at, key);
        if map.style == Style::Flow {
            let written = yaml::flow(&Data::map([(key, value.clone())]));
            let inner = &written[1..written.len() - 1];
            let last = map.entries().last().unwrap_or(first);
            self.insert(last.node.at.end.max(last.key.at.end), format!(", {inner}"));
            return Ok(());
        }
        let column = first.key.at.start - line_start(self.text(), first.key.at.start);
        let place = self.after(&neighbour.node, neighbour.key.at.start);
        let place = self.after_its_comments(place, column);
        self.insert_lines(place, &yaml::block_entry(key, value, column));
        Ok(())
    }

    /// The start of the line behind a value that starts at `start`.
    fn after(&self, node: &Node, start: usize) -> usize {
        let end = node.at.end.max(start);
        if end > start && self.text()[..end].ends_with('\n') {
            end
        } else {
            line_end(self.text(), end)
        }
    }

    /// Comments that are indented further than `column` belong to what stands before them.
    fn after_its_comments(&self, mut place: usize, column: usize) -> usize {
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

    /// Puts a value in the place of another.
    fn replace(
        &mut self,
        old: &'d Node,
        holder: Holder<'d>,
        new: &Data,
    ) -> Result<(), EditRefused> {
        // A tag would stand before a value it was not meant for.
        if old.any(&|node| node.tagged) {
            return Err(self.harm());
        }
        let text = self.text();
        let in_brackets = match holder {
            Holder::Root => false,
            Holder::Entry { map, .. } => map.style == Style::Flow,
            Holder::Item { list, .. } => list.style == Style::Flow,
        };
        if in_brackets {
            let space = if old.style == Style::Absent { " " } else { "" };
            let written = format!("{space}{}", yaml::flow(new));
            self.replacements.push(replacement(text, old.at, written));
            return Ok(());
        }
        let (announced_at, rendered) = match holder {
            Holder::Root => return self.replace_root(old, new),
            Holder::Entry { entry, .. } => {
                let key = entry.key.at;
                let column = key.start - line_start(text, key.start);
                // The column of a key behind dashes counts too, so its lines stay below it.
                let colon = text[key.end..].find(':').ok_or_else(|| self.harm())?;
                let rendered = yaml::block_entry("k", new, column);
                (key.end + colon + 1, rendered[column + 2..].to_owned())
            }
            Holder::Item { item, .. } => {
                let dash = item.dash.ok_or_else(|| self.harm())?;
                let column = dash - line_start(text, dash);
                (dash + 1, yaml::block_item(new, column)[column + 1..].to_owned())
            }
        };
        let (head, tail) = rendered.split_once('\n').unwrap_or((&rendered, ""));
        let head = keep_quotes(old, new).unwrap_or_else(|| head.trim_start().to_owned());
        self.put(old, announced_at, &head, tail);
        Ok(())
    }

    /// A header without any key gets its first one.
    fn replace_root(&mut self, old: &'d Node, new: &Data) -> Result<(), EditRefused> {
        let Data::Map(entries) = new else {
            return Err(no_place(self.path));
        };
        let lines: String =
            entries.iter().map(|(key, value)| yaml::block_entry(key, value, 0)).collect();
        let end = if old.style == Style::Flow { old.at } else { Span::empty(self.header.at.end) };
        self.replacements.push(replacement(self.text(), end, String::new()));
        self.insert_lines(self.header.at.end, &lines);
        Ok(())
    }

    /// `head` goes on the line that announces the value, `tail` on the lines below it.
    fn put(&mut self, old: &Node, announced_at: usize, head: &str, tail: &str) {
        let text = self.text();
        let same_line = !text[announced_at..old.at.start.max(announced_at)].contains('\n');
        match old.style {
            Style::BlockScalar { .. } if same_line => {
                let line = line_end(text, old.at.start);
                let token = text[old.at.start..line].find(char::is_whitespace).unwrap_or(0);
                let token = Span::new(old.at.start, old.at.start + token);
                self.swap(announced_at, token, head);
                let below = Span::new(line, self.after(old, old.at.start).max(line));
                self.replacements.push(replacement(text, below, self.line_breaks(tail)));
            }
            Style::Block if !same_line => {
                if !head.is_empty() {
                    self.insert(announced_at, format!(" {head}"));
                }
                let lines =
                    Span::new(line_start(text, old.at.start), self.after(old, old.at.start));
                self.replacements.push(replacement(text, lines, self.line_breaks(tail)));
            }
            Style::Block => {
                let whole = format!("{head}\n{tail}");
                let written = self.line_breaks(whole.trim_end_matches('\n'));
                self.replacements.push(replacement(text, old.at, written));
            }
            Style::Plain
            | Style::SingleQuoted
            | Style::DoubleQuoted
            | Style::Flow
            | Style::Alias
            | Style::Absent
            | Style::BlockScalar { .. } => {
                self.swap(announced_at, old.at, head);
                if !tail.is_empty() {
                    self.insert_lines(line_end(text, old.at.end), tail);
                }
            }
        }
    }

    /// Puts `head` where `old` stood; nothing takes the blank before it along.
    fn swap(&mut self, announced_at: usize, old: Span, head: &str) {
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
        self.insert(at, self.line_breaks(&format!("{break_first}{lines}")));
    }

    /// Line breaks as the header has them.
    fn line_breaks(&self, lines: &str) -> String {
        if self.header.at.of(self.text()).contains("\r\n") {
            lines.replace('\n', "\r\n")
        } else {
            lines.to_owned()
        }
    }

    fn harm(&self) -> EditRefused {
        EditRefused::WouldHarm(self.path.to_string())
    }
}

/// A new text in the quotes of the old one.
fn keep_quotes(old: &Node, new: &Data) -> Option<String> {
    let form = match old.style {
        Style::SingleQuoted => Form::SingleQuoted,
        Style::DoubleQuoted => Form::DoubleQuoted,
        Style::Plain
        | Style::BlockScalar { .. }
        | Style::Block
        | Style::Flow
        | Style::Alias
        | Style::Absent => return None,
    };
    match new {
        Data::Text(text) if !text.contains('\n') => Some(yaml::scalar(text, form, 0)),
        Data::Text(_) | Data::Null | Data::Bare(_) | Data::List(_) | Data::Map(_) => None,
    }
}

/// The entry behind which a new key belongs: the last one that comes before it in the format.
fn before_in_order<'d>(map: &'d Node, at: &[Step], key: &str) -> &'d Entry {
    let entries = map.entries();
    let last = &entries[entries.len() - 1];
    let Some(shape) = shape_at(at) else {
        return last;
    };
    let rank = |name: &str| shape.fields.iter().position(|field| field.name == name);
    let Some(own) = rank(key) else { return last };
    let earlier = |entry: &&Entry| rank(&entry.key.value).is_some_and(|rank| rank < own);
    entries.iter().rfind(earlier).unwrap_or(last)
}

/// The shape of the mapping at a path.
fn shape_at(steps: &[Step]) -> Option<&'static shape::Shape> {
    let (first, rest) = steps.split_first()?;
    if *first != Step::Key("handoff".to_owned()) {
        return None;
    }
    let mut kind = &shape::Kind::Map(&HANDOFF);
    for step in rest {
        kind = match (kind, step) {
            (shape::Kind::Map(shape), Step::Key(key)) => &shape.field(key)?.kind,
            (shape::Kind::List(inner), Step::Item(_))
            | (shape::Kind::Each(inner), Step::Key(_)) => inner,
            _ => return None,
        };
    }
    if let shape::Kind::Map(shape) = kind { Some(shape) } else { None }
}
