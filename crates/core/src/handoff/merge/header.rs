//! Headers, merged by meaning: the first side is edited until it says what both say.

use super::MergeSides;
use crate::format::document::Document;
use crate::format::header::{HANDOFF, Header, LAST_TRIAL, Status};
use crate::format::shape::{FieldKind, Shape, item_identity};
use crate::text::edit::{Edit, HeaderPath, HeaderPathStep};
use crate::text::span::{Span, line_end, line_start};
use crate::text::time::Time;
use crate::text::yaml::{YamlData, YamlNode, YamlValue};
use std::collections::HashMap;

/// A header that says what both sides say, and what they could not agree on.
pub(super) struct MergedHeader {
    pub(super) document: Document,
    pub(super) conflicts: Vec<HeaderConflict>,
}

/// A place where the first side's value stands and the second side wants another.
#[derive(Clone, Debug)]
pub(super) struct HeaderConflict {
    path: HeaderPath,
    wanted: YamlData,
}

/// Joins the headers. `None` where one cannot be read or edited.
pub(super) fn merge(sides: &MergeSides<'_>) -> Option<MergedHeader> {
    let whole = |document: &Document| {
        let header = document.handoff_header()?;
        let unreadable = |node: &YamlNode| matches!(node.value, YamlValue::Unreadable(_));
        (!header.root.any_node(&unreadable)).then(|| header.root.data())
    };
    let (first, second) = (whole(sides.first)?, whole(sides.second)?);
    // A base that says nothing makes everything an addition.
    let base = sides.base.and_then(whole);
    let mut joining = HeaderMerger::default();
    let root = ThreeWay { base: base.as_ref(), first: &first, second: &second };
    joining.merge_maps(&HeaderPath::default(), root, &MapSchema::Root)?;
    let first = sides.first.clone();
    let document =
        joining.changes.iter().try_fold(first, |document, change| change.apply(&document))?;
    let document = restore_comments(document, sides)?;
    Some(MergedHeader { document, conflicts: joining.conflicts })
}

/// A value on both sides, and before.
#[derive(Clone, Copy)]
struct ThreeWay<'d> {
    base: Option<&'d YamlData>,
    first: &'d YamlData,
    second: &'d YamlData,
}

/// What the table of shapes says about the keys of a mapping.
enum MapSchema {
    /// The keys beside `handoff`.
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

    /// What a key takes, and whether that is the header itself.
    fn field(&self, key: &str) -> (Option<&'static FieldKind>, bool) {
        match self {
            Self::Root => (None, key == "handoff"),
            Self::Shape(shape) => (shape.field(key).map(|field| &field.kind), false),
            Self::Each(kind) => (Some(kind), false),
            Self::Unknown => (None, false),
        }
    }
}

/// Changes of the first side, made so that their places hold one after the other.
#[derive(Default)]
struct HeaderMerger {
    changes: Vec<HeaderChange>,
    conflicts: Vec<HeaderConflict>,
}

/// One change of the first side.
enum HeaderChange {
    Edit(Edit),
    /// A value that changes in places; where one of them cannot be edited, the value is set.
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

/// The document with an edit. Comments that are in its way are taken out.
fn apply_edit(document: &Document, edit: &Edit) -> Option<Document> {
    const FIELD: usize = 2;
    let made = |document: &Document| document.edit(std::slice::from_ref(edit)).ok();
    let (Edit::Set(path, _) | Edit::Append(path, _) | Edit::Remove(path)) = edit else {
        return None;
    };
    // What goes with its last part takes the lines of what holds it along.
    let least = path.0.len().min(FIELD);
    let around = (least..=path.0.len()).rev().map(|length| HeaderPath(path.0[..length].to_vec()));
    let mut bare = around.filter_map(|path| without_comments(document, &path));
    made(document).or_else(|| bare.find_map(|bare| made(&bare))).map(|(made, _)| made)
}

/// The document without the comments in a value; `None` where there are none.
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
    /// `None` where a key is written twice: nobody can tell which one is meant.
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
                // Taken out by the second side, and not touched by the first.
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

    /// Makes a value of the first side the wanted one, changing as little as possible.
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

    /// Lists, item by item: what one side added or took out counts, what both changed is merged.
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
        // A single value where a list is meant becomes one, so that items have places.
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
                    // What is taken out below moves the places of what conflicts.
                    for conflict in &mut self.conflicts[from..] {
                        if let Some(HeaderPathStep::Item(at)) =
                            conflict.path.0.get_mut(path.0.len())
                        {
                            *at -= removed.len();
                        }
                    }
                }
                // What happened in one line of work happened, whichever part of it was taken over.
                None if *path == HeaderPath::field("revisions") => {}
                None if untouched(name, item) => removed.push(index),
                None => {}
            }
        }
        for index in removed.into_iter().rev() {
            self.push_edit(Edit::Remove(path.clone().item(index)));
        }
        for (name, item) in &second {
            let happened = *path == HeaderPath::field("revisions");
            if find(&first, name).is_none() && (happened || !untouched(name, item)) {
                self.push_edit(Edit::Append(path.clone(), (*item).clone()));
            }
        }
        Some(())
    }
}

/// What tells an item apart from the others of its list; the second of two equal ones is another.
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

/// Whether a list becomes another by taking items out and adding some behind them.
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

/// Which of two values stands, where their order tells.
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

/// Of two runs of a proof the later one is the last, with all that belongs to it.
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

/// How far a handoff is in its life; every end is equally far.
fn lifecycle_rank(status: &str) -> Option<u8> {
    Some(match Status::parse(status)? {
        Status::Planned => 0,
        Status::InProgress => 1,
        Status::Resolved | Status::Superseded | Status::Abandoned => 2,
    })
}

/// Brings in the comments of both sides that are missing, each above the field it stood at. One
/// that a side took out is not missed.
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

/// The document with a line that says nothing, above a field or else on top of the header.
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

/// The field that a comment stands in or above.
fn field_at(header: &Header, byte: usize) -> Option<&str> {
    let entries = header.fields().entries();
    let entry = entries.iter().find(|entry| entry.node.at.end.max(entry.key.at.end) > byte);
    // Behind a value on its line.
    let last = || entries.iter().rev().find(|entry| entry.key.at.start < byte);
    entry.or_else(last).map(|entry| entry.key.value.as_str())
}

/// The text up to the body, with what conflicts between markers. `None` where the markers would
/// cut something apart.
pub(super) fn with_markers(
    document: &Document,
    conflicts: &[HeaderConflict],
    sides: &MergeSides<'_>,
    told: &mut Vec<String>,
) -> Option<String> {
    let mut regions = separate_conflicts(document, conflicts)?;
    regions.sort_by_key(|region| region.span.start);
    let mut text = document.text()[..document.body().start].to_owned();
    let mut decided = document.text().to_owned();
    for ConflictRegion { span: here, conflicts, .. } in regions.iter().rev() {
        let there = apply_second_side(document, conflicts)?;
        // A comment in a value that gives way is still the second side's, if it has it.
        let gone = comments_in(document, *here).filter(|comment| {
            comments(sides.second).contains(comment) && !comments(&there).contains(comment)
        });
        let mut lines: String =
            gone.map(|comment| format!("  {comment}{}", sides.markers.line_break)).collect();
        lines.push_str(lines_of(&there, &common_path(conflicts))?.slice(there.text()));
        let there = lines;
        let mut marked = String::new();
        sides.markers.write_conflict(&mut marked, here.slice(&text), &there);
        text.replace_range(here.range(), &marked);
        decided.replace_range(here.range(), &there);
    }
    // Whoever decides for the second side everywhere gets what it says.
    let meant = apply_second_side(document, conflicts)?;
    let decided = Document::parse(decided.as_bytes());
    let data = |document: &Document| document.handoff_header().map(|header| header.root.data());
    if !data(&meant)?.is_equivalent_to(&data(&decided)?) {
        return None;
    }
    told.extend(regions.iter().map(|region| display_path(&common_path(&region.conflicts))));
    Some(text)
}

/// A place as people know it: fields are named without the key that holds them all.
fn display_path(path: &HeaderPath) -> String {
    match path.0.as_slice() {
        [HeaderPathStep::Key(key), rest @ ..] if key == "handoff" && !rest.is_empty() => {
            HeaderPath(rest.to_vec()).to_string()
        }
        _ => path.to_string(),
    }
}

/// Whole lines, and what conflicts in them.
struct ConflictRegion {
    span: Span,
    conflicts: Vec<HeaderConflict>,
}

/// Conflicts whose lines do not overlap: those on the same lines become one, of what holds them
/// all. `None` where that is the whole header.
fn separate_conflicts(
    document: &Document,
    conflicts: &[HeaderConflict],
) -> Option<Vec<ConflictRegion>> {
    let mut apart: Vec<ConflictRegion> = Vec::new();
    for conflict in conflicts {
        let mut joined = vec![conflict.clone()];
        let mut here = lines_of(document, &conflict.path)?;
        let meets = |a: Span| {
            move |region: &mut ConflictRegion| {
                a.start < region.span.end && region.span.start < a.end
            }
        };
        // What holds them all may reach over further ones.
        while let Some(region) = apart.extract_if(.., meets(here)).next() {
            joined.extend(region.conflicts);
            here = lines_of(document, &common_path(&joined))?;
        }
        apart.push(ConflictRegion { span: here, conflicts: joined });
    }
    Some(apart)
}

/// The innermost place that holds all conflicts.
fn common_path(conflicts: &[HeaderConflict]) -> HeaderPath {
    let mut paths = conflicts.iter().map(|conflict| conflict.path.0.as_slice());
    let first = paths.next().unwrap_or_default();
    let shared = |a: &[HeaderPathStep], b: &[HeaderPathStep]| {
        a.iter().zip(b).take_while(|(a, b)| a == b).count()
    };
    let length = paths.fold(first.len(), |length, path| length.min(shared(first, path)));
    HeaderPath(first[..length].to_vec())
}

/// The document with what the second side wants.
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

/// The whole lines of a key and its value, or of an item.
fn lines_of(document: &Document, path: &HeaderPath) -> Option<Span> {
    if path.0.is_empty() {
        return None;
    }
    let (node, start) = node_at(document, path)?;
    let end = node.at.end.max(start);
    let text = document.text();
    // A block scalar ends behind its line break.
    let end = if end > start && text[..end].ends_with('\n') { end - 1 } else { end };
    Some(Span::new(line_start(text, start), line_end(text, end)))
}

/// The value at a path, and where its key or dash stands.
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
