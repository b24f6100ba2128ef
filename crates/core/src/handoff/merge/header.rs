//! Merges headers by meaning: edits the first side until it includes the second side's changes.

use super::MergeSides;
use crate::format::document::Document;
use crate::format::header::{HANDOFF, Header, LAST_TRIAL, Status};
use crate::format::shape::{FieldKind, Shape, item_identity};
use crate::text::edit::{Edit, HeaderPath, HeaderPathStep};
use crate::text::span::{Span, line_end, line_start};
use crate::text::time::Time;
use crate::text::yaml::{YamlData, YamlNode, YamlValue};
use std::collections::HashMap;

/// The merged header, and the values that conflict.
pub(super) struct MergedHeader {
    pub(super) document: Document,
    pub(super) conflicts: Vec<HeaderConflict>,
}

/// A value of the first side for which the second side has a different one.
#[derive(Clone, Debug)]
pub(super) struct HeaderConflict {
    path: HeaderPath,
    wanted: YamlData,
}

/// Merges the headers; `None` if one cannot be read or edited.
pub(super) fn merge(sides: &MergeSides<'_>) -> Option<MergedHeader> {
    let readable_data = |document: &Document| {
        let header = document.handoff_header()?;
        let unreadable = |node: &YamlNode| matches!(node.value, YamlValue::Unreadable(_));
        (!header.root.any_node(&unreadable)).then(|| header.root.data())
    };
    let (first, second) = (readable_data(sides.first)?, readable_data(sides.second)?);
    // Without a base, everything counts as an addition.
    let base = sides.base.and_then(readable_data);
    let mut merger = HeaderMerger::default();
    let root = ThreeWay { base: base.as_ref(), first: &first, second: &second };
    merger.merge_maps(&HeaderPath::default(), root, &MapSchema::Root)?;
    let first = sides.first.clone();
    let document =
        merger.changes.iter().try_fold(first, |document, change| change.apply(&document))?;
    let document = restore_comments(document, sides)?;
    Some(MergedHeader { document, conflicts: merger.conflicts })
}

/// A value in the base and on both sides.
#[derive(Clone, Copy)]
struct ThreeWay<'d> {
    base: Option<&'d YamlData>,
    first: &'d YamlData,
    second: &'d YamlData,
}

/// What the schema says about the keys of a mapping.
enum MapSchema {
    /// The top level, which has `handoff` and other keys.
    Root,
    Shape(&'static Shape),
    Each(&'static FieldKind),
    Unknown,
}

impl MapSchema {
    fn from_kind(kind: Option<&'static FieldKind>) -> Self {
        match kind {
            Some(FieldKind::Map(shape)) => Self::Shape(shape),
            Some(FieldKind::MapOf(kind)) => Self::Each(kind),
            Some(
                FieldKind::Text
                | FieldKind::Time
                | FieldKind::Flag
                | FieldKind::Number
                | FieldKind::Choice(_)
                | FieldKind::List(_)
                | FieldKind::Any,
            )
            | None => Self::Unknown,
        }
    }

    /// The kind of a key's value, and whether the key is the handoff header itself.
    fn field(&self, key: &str) -> (Option<&'static FieldKind>, bool) {
        match self {
            Self::Root => (None, key == "handoff"),
            Self::Shape(shape) => (shape.field(key).map(|field| &field.kind), false),
            Self::Each(kind) => (Some(kind), false),
            Self::Unknown => (None, false),
        }
    }
}

/// Collects the changes to the first side, in an order in which their paths stay valid.
#[derive(Default)]
struct HeaderMerger {
    changes: Vec<HeaderChange>,
    conflicts: Vec<HeaderConflict>,
}

/// One change to the first side.
enum HeaderChange {
    Edit(Edit),
    /// Changes inside a value. If one of them cannot be applied, the whole value is set instead.
    Nested(Vec<HeaderChange>, Edit),
}

impl HeaderChange {
    fn apply(&self, document: &Document) -> Option<Document> {
        match self {
            Self::Edit(edit) => apply_edit(document, edit),
            Self::Nested(changes, whole) => {
                let mut changes = changes.iter();
                let placed = changes.try_fold(document.clone(), |made, change| change.apply(&made));
                placed.or_else(|| apply_edit(document, whole))
            }
        }
    }
}

/// Applies an edit. Removes comments that prevent it.
fn apply_edit(document: &Document, edit: &Edit) -> Option<Document> {
    const FIELD: usize = 2;
    let made = |document: &Document| document.edit(std::slice::from_ref(edit)).ok();
    let (Edit::Set(path, _) | Edit::Append(path, _) | Edit::Remove(path)) = edit else {
        return None;
    };
    // Removing the last entry of a value also removes the lines of its parent, so try those too.
    let least = path.0.len().min(FIELD);
    let enclosing =
        (least..=path.0.len()).rev().map(|length| HeaderPath(path.0[..length].to_vec()));
    let mut bare = enclosing.filter_map(|path| without_comments(document, &path));
    made(document).or_else(|| bare.find_map(|bare| made(&bare))).map(|(made, _)| made)
}

/// The document without the comments inside a value; `None` if there are none.
fn without_comments(document: &Document, path: &HeaderPath) -> Option<Document> {
    let (lines, header) = (lines_of(document, path)?, document.handoff_header()?);
    let mut text = document.text().to_owned();
    let inside = header.comments.iter().filter(|at| lines.contains(**at));
    for at in inside.rev() {
        let start = line_start(&text, at.start);
        let before = start + text[start..at.start].trim_end().len();
        let end = at.start + at.slice(&text).trim_end().len();
        let end = if before == start { line_end(&text, end) } else { end };
        text.replace_range(before..end, "");
    }
    let bare = Document::parse(text.as_bytes());
    let same = bare
        .handoff_header()
        .is_some_and(|bare| bare.root.data().is_equivalent_to(&header.root.data()));
    (same && bare.text() != document.text()).then_some(bare)
}

impl HeaderMerger {
    /// Merges two mappings; `None` if a key occurs twice, because either could be meant.
    fn merge_maps(
        &mut self,
        path: &HeaderPath,
        three: ThreeWay<'_>,
        below: &MapSchema,
    ) -> Option<()> {
        let (YamlData::Map(first), YamlData::Map(second)) = (three.first, three.second) else {
            self.push_conflict(path, three.second);
            return Some(());
        };
        let base = match three.base {
            Some(YamlData::Map(entries)) => index_by_key(entries)?,
            Some(YamlData::Null | YamlData::Text(_) | YamlData::Bare(_) | YamlData::List(_))
            | None => HashMap::new(),
        };
        let (of_first, of_second) = (index_by_key(first)?, index_by_key(second)?);
        let only_second = second.iter().filter(|(key, _)| !of_first.contains_key(key.as_str()));
        for (key, _) in first.iter().chain(only_second) {
            let here = path.clone().key(key);
            let was = base.get(key.as_str()).copied();
            let (kind, is_header) = below.field(key);
            match (of_first.get(key.as_str()), of_second.get(key.as_str())) {
                (Some(first), Some(second)) => {
                    let three = ThreeWay { base: was, first, second };
                    if is_header {
                        self.merge_value(&here, three, None, &MapSchema::Shape(&HANDOFF))?;
                    } else {
                        self.merge_value(&here, three, kind, &MapSchema::from_kind(kind))?;
                    }
                }
                // Removed by the second side and unchanged by the first.
                (Some(first), None) if was.is_some_and(|was| was.is_equivalent_to(first)) => {
                    self.push_edit(Edit::Remove(here));
                }
                (None, Some(second)) if !was.is_some_and(|was| was.is_equivalent_to(second)) => {
                    self.push_edit(Edit::Set(here, (*second).clone()));
                }
                (Some(_) | None, None) | (None, Some(_)) => {}
            }
        }
        Some(())
    }

    fn merge_value(
        &mut self,
        path: &HeaderPath,
        three: ThreeWay<'_>,
        kind: Option<&'static FieldKind>,
        below: &MapSchema,
    ) -> Option<()> {
        let ThreeWay { base, first, second } = three;
        let was = |value: &YamlData| base.is_some_and(|base| base.is_equivalent_to(value));
        if first.is_equivalent_to(second) || was(second) {
            return Some(());
        }
        if was(first) || is_blank(first) {
            self.set_value(path, (first, second), kind, below);
            return Some(());
        }
        if is_blank(second) {
            return Some(());
        }
        match (first, second) {
            (YamlData::Map(_), YamlData::Map(_)) => match latest_result(kind, first, second) {
                Some(latest) => {
                    self.set_value(path, (first, latest), kind, below);
                    Some(())
                }
                None => self.merge_maps(path, three, below),
            },
            (YamlData::List(_), _) | (_, YamlData::List(_)) => self.merge_lists(path, three, kind),
            _ => {
                match pick_scalar(path, kind, first, second) {
                    Some(chosen) => self.set_value(path, (first, chosen), kind, below),
                    None => self.push_conflict(path, second),
                }
                Some(())
            }
        }
    }

    /// Changes a value of the first side to the wanted one, with as few edits as possible.
    fn set_value(
        &mut self,
        path: &HeaderPath,
        (first, wanted): (&YamlData, &YamlData),
        kind: Option<&'static FieldKind>,
        below: &MapSchema,
    ) {
        if first.is_equivalent_to(wanted) {
            return;
        }
        let whole = Edit::Set(path.clone(), wanted.clone());
        let three = ThreeWay { base: Some(first), first, second: wanted };
        let mut inside = Self::default();
        let placed = match (first, wanted) {
            (YamlData::List(have), YamlData::List(want)) if keeps_order(have, want, kind) => {
                inside.merge_lists(path, three, kind)
            }
            (YamlData::Map(_), YamlData::Map(want)) if !want.is_empty() => {
                inside.merge_maps(path, three, below)
            }
            _ => None,
        };
        self.changes.push(match placed {
            Some(()) => HeaderChange::Nested(inside.changes, whole),
            None => HeaderChange::Edit(whole),
        });
    }

    fn push_edit(&mut self, edit: Edit) {
        self.changes.push(HeaderChange::Edit(edit));
    }

    fn push_conflict(&mut self, path: &HeaderPath, wanted: &YamlData) {
        self.conflicts.push(HeaderConflict { path: path.clone(), wanted: wanted.clone() });
    }

    /// Merges lists item by item: applies additions and removals, and merges items both sides
    /// changed.
    fn merge_lists(
        &mut self,
        path: &HeaderPath,
        three: ThreeWay<'_>,
        kind: Option<&'static FieldKind>,
    ) -> Option<()> {
        let of_item = match kind {
            Some(FieldKind::List(kind)) => Some(*kind),
            Some(_) | None => None,
        };
        let base = name_items(three.base.map(list_items).unwrap_or_default(), kind);
        let first = name_items(list_items(three.first), kind);
        let second = name_items(list_items(three.second), kind);
        // Turn a single value into a list, so that its items have paths.
        if !matches!(three.first, YamlData::List(_)) {
            let list = first.iter().map(|(_, item)| (*item).clone()).collect();
            self.push_edit(Edit::Set(path.clone(), YamlData::List(list)));
        }
        let find = |list: &[(ItemName, &'_ YamlData)], name: &ItemName| {
            list.iter().position(|(other, _)| other == name)
        };
        let was = |name: &ItemName| find(&base, name).map(|index| base[index].1);
        let untouched = |name: &ItemName, item: &YamlData| {
            was(name).is_some_and(|was| was.is_equivalent_to(item))
        };
        let mut removed = Vec::new();
        for (index, (name, item)) in first.iter().enumerate() {
            match find(&second, name) {
                Some(other) => {
                    let three = ThreeWay { base: was(name), first: item, second: second[other].1 };
                    let from = self.conflicts.len();
                    self.merge_value(
                        &path.clone().item(index),
                        three,
                        of_item,
                        &MapSchema::from_kind(of_item),
                    )?;
                    // The removals below shift the paths of conflicts.
                    for conflict in &mut self.conflicts[from..] {
                        if let Some(HeaderPathStep::Item(at)) =
                            conflict.path.0.get_mut(path.0.len())
                        {
                            *at -= removed.len();
                        }
                    }
                }
                // History entries are never dropped, whichever parts of that side were kept.
                None if *path == HeaderPath::field("revisions") => {}
                None if untouched(name, item) => removed.push(index),
                None => {}
            }
        }
        for index in removed.into_iter().rev() {
            self.push_edit(Edit::Remove(path.clone().item(index)));
        }
        for (name, item) in &second {
            let is_history = *path == HeaderPath::field("revisions");
            if find(&first, name).is_none() && (is_history || !untouched(name, item)) {
                self.push_edit(Edit::Append(path.clone(), (*item).clone()));
            }
        }
        Some(())
    }
}

/// Identifies an item within its list. The number distinguishes equal items.
type ItemName = (String, usize);

fn name_items<'d>(
    items: Vec<&'d YamlData>,
    kind: Option<&'static FieldKind>,
) -> Vec<(ItemName, &'d YamlData)> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    items
        .into_iter()
        .map(|item| {
            let name = item_identity(kind, item);
            let count = seen.entry(name.clone()).or_default();
            *count += 1;
            ((name, *count), item)
        })
        .collect()
}

/// Whether a list turns into another by only removing items and appending new ones.
fn keeps_order(have: &[YamlData], want: &[YamlData], kind: Option<&'static FieldKind>) -> bool {
    let names = |items: &[YamlData]| -> Vec<ItemName> {
        name_items(items.iter().collect(), kind).into_iter().map(|(name, _)| name).collect()
    };
    let (have, want) = (names(have), names(want));
    let kept: Vec<&ItemName> = have.iter().filter(|name| want.contains(name)).collect();
    !want.is_empty() && want.iter().take(kept.len()).eq(kept)
}

fn list_items(data: &YamlData) -> Vec<&YamlData> {
    match data {
        YamlData::Null => Vec::new(),
        YamlData::List(items) => items.iter().collect(),
        YamlData::Text(_) | YamlData::Bare(_) | YamlData::Map(_) => vec![data],
    }
}

fn index_by_key(entries: &[(String, YamlData)]) -> Option<HashMap<&str, &YamlData>> {
    let map: HashMap<&str, &YamlData> =
        entries.iter().map(|(key, data)| (key.as_str(), data)).collect();
    (map.len() == entries.len()).then_some(map)
}

fn is_blank(data: &YamlData) -> bool {
    match data {
        YamlData::Null => true,
        YamlData::Text(text) | YamlData::Bare(text) => text.trim().is_empty(),
        YamlData::List(items) => items.is_empty(),
        YamlData::Map(entries) => entries.is_empty(),
    }
}

/// Picks one of two values where their order decides: the later status or time.
fn pick_scalar<'d>(
    path: &HeaderPath,
    kind: Option<&'static FieldKind>,
    first: &'d YamlData,
    second: &'d YamlData,
) -> Option<&'d YamlData> {
    let (YamlData::Text(a) | YamlData::Bare(a), YamlData::Text(b) | YamlData::Bare(b)) =
        (first, second)
    else {
        return None;
    };
    if *path == HeaderPath::field("status") {
        let (a, b) = (lifecycle_rank(a)?, lifecycle_rank(b)?);
        return (a != b).then_some(if a > b { first } else { second });
    }
    if matches!(kind, Some(FieldKind::Time)) {
        let (a, b) = (Time::parse(a)?.moment, Time::parse(b)?.moment);
        let earlier = *path == HeaderPath::field("created");
        return (a != b).then_some(if (a < b) == earlier { first } else { second });
    }
    None
}

/// The later of two results of the same proof, with all its fields.
fn latest_result<'d>(
    kind: Option<&'static FieldKind>,
    first: &'d YamlData,
    second: &'d YamlData,
) -> Option<&'d YamlData> {
    if !matches!(kind, Some(FieldKind::Map(shape)) if std::ptr::eq(*shape, &raw const LAST_TRIAL)) {
        return None;
    }
    let moment = |run: &YamlData| {
        let YamlData::Map(entries) = run else { return None };
        match entries.iter().find(|(key, _)| key == "at") {
            Some((_, YamlData::Text(at) | YamlData::Bare(at))) => Some(Time::parse(at)?.moment),
            Some(_) | None => None,
        }
    };
    let (a, b) = (moment(first)?, moment(second)?);
    (a != b).then_some(if a > b { first } else { second })
}

/// How far along a status is. All closed statuses rank the same.
fn lifecycle_rank(status: &str) -> Option<u8> {
    Some(match Status::parse(status)? {
        Status::Planned => 0,
        Status::InProgress => 1,
        Status::Resolved | Status::Superseded | Status::Abandoned => 2,
    })
}

/// Restores comments of both sides that the merge lost, each above its field. A comment that a side
/// deleted stays deleted.
fn restore_comments(mut document: Document, sides: &MergeSides<'_>) -> Option<Document> {
    let [base, first, second] =
        [sides.base, Some(sides.first), Some(sides.second)].map(|side| side.map(comments));
    let before = base.unwrap_or_default();
    let (first, second) = (first?, second?);
    let wanted = |comment: &str| {
        let count = |side: &[&str]| side.iter().filter(|other| **other == comment).count();
        match (count(&before), count(&first), count(&second)) {
            (base, first, second) if base == first => second,
            (base, first, second) if base == second => first,
            (_, first, second) => first.max(second),
        }
    };
    for (side, texts) in [(sides.first, &first), (sides.second, &second)] {
        let header = side.handoff_header()?;
        for (comment, at) in texts.iter().zip(&header.comments) {
            let there = comments(&document).iter().filter(|other| *other == comment).count();
            if there < wanted(comment) {
                let line = format!("  {comment}{}", sides.markers.line_break);
                document = insert_comment(&document, &line, field_at(header, at.start))?;
            }
        }
    }
    Some(document)
}

fn comments(document: &Document) -> Vec<&str> {
    let comments = document.handoff_header().map(|header| header.comments.as_slice());
    comments.unwrap_or_default().iter().map(|at| at.slice(document.text()).trim()).collect()
}

/// Inserts a comment line above a field, or else at the top of the header.
fn insert_comment(document: &Document, line: &str, key: Option<&str>) -> Option<Document> {
    let header = document.handoff_header()?;
    let entry = key.and_then(|key| header.fields().entry(key));
    let above =
        entry.map_or(header.at.end, |entry| line_start(document.text(), entry.key.at.start));
    [above, header.at.start].into_iter().find_map(|place| {
        let mut text = document.text().to_owned();
        text.insert_str(place, line);
        let with = Document::parse(text.as_bytes());
        let is_comment = comments(&with).len() == comments(document).len() + 1;
        let data = with.handoff_header()?.root.data();
        (is_comment && data.is_equivalent_to(&header.root.data())).then_some(with)
    })
}

/// The field that contains or follows a comment.
fn field_at(header: &Header, byte: usize) -> Option<&str> {
    let entries = header.fields().entries();
    let entry = entries.iter().find(|entry| entry.node.at.end.max(entry.key.at.end) > byte);
    // A comment after a value, on the same line.
    let last = || entries.iter().rev().find(|entry| entry.key.at.start < byte);
    entry.or_else(last).map(|entry| entry.key.value.as_str())
}

/// The text up to the body, with conflicts between markers; `None` if the markers would break it.
pub(super) fn with_markers(
    document: &Document,
    conflicts: &[HeaderConflict],
    sides: &MergeSides<'_>,
    names: &mut Vec<String>,
) -> Option<String> {
    let mut regions = separate_conflicts(document, conflicts)?;
    regions.sort_by_key(|region| region.span.start);
    let mut text = document.text()[..document.body().start].to_owned();
    let mut resolved = document.text().to_owned();
    for ConflictRegion { span: here, conflicts, .. } in regions.iter().rev() {
        let there = apply_second_side(document, conflicts)?;
        // Keep comments of the second side that setting its values would remove.
        let lost = comments_in(document, *here).filter(|comment| {
            comments(sides.second).contains(comment) && !comments(&there).contains(comment)
        });
        let mut lines: String =
            lost.map(|comment| format!("  {comment}{}", sides.markers.line_break)).collect();
        lines.push_str(lines_of(&there, &common_path(conflicts))?.slice(there.text()));
        let there = lines;
        let mut marked = String::new();
        sides.markers.write_conflict(&mut marked, here.slice(&text), &there);
        text.replace_range(here.range(), &marked);
        resolved.replace_range(here.range(), &there);
    }
    // Resolving every conflict to the second side must give exactly its values.
    let expected = apply_second_side(document, conflicts)?;
    let resolved = Document::parse(resolved.as_bytes());
    let data = |document: &Document| document.handoff_header().map(|header| header.root.data());
    if !data(&expected)?.is_equivalent_to(&data(&resolved)?) {
        return None;
    }
    names.extend(regions.iter().map(|region| display_path(&common_path(&region.conflicts))));
    Some(text)
}

/// A path for display, without the leading `handoff`.
fn display_path(path: &HeaderPath) -> String {
    match path.0.as_slice() {
        [HeaderPathStep::Key(key), rest @ ..] if key == "handoff" && !rest.is_empty() => {
            HeaderPath(rest.to_vec()).to_string()
        }
        _ => path.to_string(),
    }
}

/// Whole lines, and the conflicts in them.
struct ConflictRegion {
    span: Span,
    conflicts: Vec<HeaderConflict>,
}

/// Groups conflicts so that their lines do not overlap. Conflicts on the same lines become one, at
/// their common parent. `None` if that is the whole header.
fn separate_conflicts(
    document: &Document,
    conflicts: &[HeaderConflict],
) -> Option<Vec<ConflictRegion>> {
    let mut regions: Vec<ConflictRegion> = Vec::new();
    for conflict in conflicts {
        let mut grouped = vec![conflict.clone()];
        let mut here = lines_of(document, &conflict.path)?;
        let overlaps = |a: Span| {
            move |region: &mut ConflictRegion| {
                a.start < region.span.end && region.span.start < a.end
            }
        };
        // The lines of the common parent may overlap more regions.
        while let Some(region) = regions.extract_if(.., overlaps(here)).next() {
            grouped.extend(region.conflicts);
            here = lines_of(document, &common_path(&grouped))?;
        }
        regions.push(ConflictRegion { span: here, conflicts: grouped });
    }
    Some(regions)
}

/// The innermost path that contains all conflicts.
fn common_path(conflicts: &[HeaderConflict]) -> HeaderPath {
    let mut paths = conflicts.iter().map(|conflict| conflict.path.0.as_slice());
    let first = paths.next().unwrap_or_default();
    let shared = |a: &[HeaderPathStep], b: &[HeaderPathStep]| {
        a.iter().zip(b).take_while(|(a, b)| a == b).count()
    };
    let length = paths.fold(first.len(), |length, path| length.min(shared(first, path)));
    HeaderPath(first[..length].to_vec())
}

/// The document with the second side's values.
fn apply_second_side(document: &Document, conflicts: &[HeaderConflict]) -> Option<Document> {
    conflicts.iter().try_fold(document.clone(), |document, HeaderConflict { path, wanted }| {
        apply_edit(&document, &Edit::Set(path.clone(), wanted.clone()))
    })
}

fn comments_in(document: &Document, lines: Span) -> impl Iterator<Item = &str> {
    let header = document.handoff_header().into_iter();
    let inside = header.flat_map(|header| &header.comments).filter(move |at| lines.contains(**at));
    inside.map(|at| at.slice(document.text()).trim())
}

/// The whole lines of a key and its value, or of a list item.
fn lines_of(document: &Document, path: &HeaderPath) -> Option<Span> {
    if path.0.is_empty() {
        return None;
    }
    let (node, start) = node_at(document, path)?;
    let end = node.at.end.max(start);
    let text = document.text();
    // A block scalar ends after its line break.
    let end = if end > start && text[..end].ends_with('\n') { end - 1 } else { end };
    Some(Span::new(line_start(text, start), line_end(text, end)))
}

/// The value at a path, and the start of its key or dash.
fn node_at<'d>(document: &'d Document, path: &HeaderPath) -> Option<(&'d YamlNode, usize)> {
    let root = &document.handoff_header()?.root;
    path.0.iter().try_fold((root, root.at.start), |(node, _), step| match (step, &node.value) {
        (HeaderPathStep::Key(key), _) => {
            let entry = node.entry(key)?;
            Some((&entry.node, entry.key.at.start))
        }
        (HeaderPathStep::Item(index), YamlValue::List(items)) => {
            let item = items.get(*index)?;
            Some((&item.node, item.dash.unwrap_or(item.node.at.start)))
        }
        (HeaderPathStep::Item(0), _) => Some((node, node.at.start)),
        (HeaderPathStep::Item(_), _) => None,
    })
}
