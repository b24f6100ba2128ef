//! Headers, merged by meaning: the first side is edited until it says what both say.

use super::Sides;
use crate::format::document::Document;
use crate::format::header::{HANDOFF, Header, LAST_RUN, Status};
use crate::format::shape::{Kind, Shape, identity};
use crate::text::edit::{Edit, Path, Step};
use crate::text::span::{Span, line_end, line_start};
use crate::text::time::Time;
use crate::text::yaml::{Data, Node, Value};
use std::collections::HashMap;

/// A header that says what both sides say, and what they could not agree on.
pub(super) struct Joined {
    pub(super) document: Document,
    pub(super) conflicts: Vec<Conflict>,
}

/// A place where the first side's value stands and the second side wants another.
#[derive(Clone, Debug)]
pub(super) struct Conflict {
    path: Path,
    wanted: Data,
}

/// Joins the headers. `None` where one cannot be read or edited.
pub(super) fn merge(sides: &Sides<'_>) -> Option<Joined> {
    let whole = |document: &Document| {
        let header = document.handoff_header()?;
        let unreadable = |node: &Node| matches!(node.value, Value::Unreadable(_));
        (!header.root.any(&unreadable)).then(|| header.root.data())
    };
    let (first, second) = (whole(sides.first)?, whole(sides.second)?);
    // A base that says nothing makes everything an addition.
    let base = sides.base.and_then(whole);
    let mut joining = Joining::default();
    let root = Three { base: base.as_ref(), first: &first, second: &second };
    joining.maps(&Path::default(), root, &Below::Root)?;
    let first = sides.first.clone();
    let document =
        joining.changes.iter().try_fold(first, |document, change| change.made(&document))?;
    let document = with_comments(document, sides)?;
    Some(Joined { document, conflicts: joining.conflicts })
}

/// A value on both sides, and before.
#[derive(Clone, Copy)]
struct Three<'d> {
    base: Option<&'d Data>,
    first: &'d Data,
    second: &'d Data,
}

/// What the table of shapes says about the keys of a mapping.
enum Below {
    /// The keys beside `handoff`.
    Root,
    Shape(&'static Shape),
    Each(&'static Kind),
    Unknown,
}

impl Below {
    fn of(kind: Option<&'static Kind>) -> Self {
        match kind {
            Some(Kind::Map(shape)) => Self::Shape(shape),
            Some(Kind::Each(kind)) => Self::Each(kind),
            Some(
                Kind::Text
                | Kind::Time
                | Kind::Flag
                | Kind::Number
                | Kind::Choice(_)
                | Kind::List(_)
                | Kind::Any,
            )
            | None => Self::Unknown,
        }
    }

    /// What a key takes, and whether that is the header itself.
    fn field(&self, key: &str) -> (Option<&'static Kind>, bool) {
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
struct Joining {
    changes: Vec<Change>,
    conflicts: Vec<Conflict>,
}

/// One change of the first side.
enum Change {
    Edit(Edit),
    /// A value that changes in places; where one of them cannot be edited, the value is set.
    Places(Vec<Change>, Edit),
}

impl Change {
    fn made(&self, document: &Document) -> Option<Document> {
        match self {
            Self::Edit(edit) => edited(document, edit),
            Self::Places(changes, whole) => {
                let mut changes = changes.iter();
                let placed = changes.try_fold(document.clone(), |made, change| change.made(&made));
                placed.or_else(|| edited(document, whole))
            }
        }
    }
}

/// The document with an edit. Comments that are in its way are taken out.
fn edited(document: &Document, edit: &Edit) -> Option<Document> {
    const FIELD: usize = 2;
    let made = |document: &Document| document.edit(std::slice::from_ref(edit)).ok();
    let (Edit::Set(path, _) | Edit::Append(path, _) | Edit::Remove(path)) = edit else {
        return None;
    };
    // What goes with its last part takes the lines of what holds it along.
    let least = path.0.len().min(FIELD);
    let around = (least..=path.0.len()).rev().map(|length| Path(path.0[..length].to_vec()));
    let mut bare = around.filter_map(|path| without_comments(document, &path));
    made(document).or_else(|| bare.find_map(|bare| made(&bare))).map(|(made, _)| made)
}

/// The document without the comments in a value; `None` where there are none.
fn without_comments(document: &Document, path: &Path) -> Option<Document> {
    let (lines, header) = (lines_of(document, path)?, document.handoff_header()?);
    let mut text = document.text().to_owned();
    let inside = header.comments.iter().filter(|at| lines.contains(**at));
    for at in inside.rev() {
        let start = line_start(&text, at.start);
        let before = start + text[start..at.start].trim_end().len();
        let end = at.start + at.of(&text).trim_end().len();
        let end = if before == start { line_end(&text, end) } else { end };
        text.replace_range(before..end, "");
    }
    let bare = Document::parse(text.as_bytes());
    let same = bare.handoff_header().is_some_and(|bare| bare.root.data().same(&header.root.data()));
    (same && bare.text() != document.text()).then_some(bare)
}

impl Joining {
    /// `None` where a key is written twice: nobody can tell which one is meant.
    fn maps(&mut self, path: &Path, three: Three<'_>, below: &Below) -> Option<()> {
        let (Data::Map(first), Data::Map(second)) = (three.first, three.second) else {
            self.conflict(path, three.second);
            return Some(());
        };
        let base = match three.base {
            Some(Data::Map(entries)) => by_key(entries)?,
            Some(Data::Null | Data::Text(_) | Data::Bare(_) | Data::List(_)) | None => {
                HashMap::new()
            }
        };
        let (of_first, of_second) = (by_key(first)?, by_key(second)?);
        let only_second = second.iter().filter(|(key, _)| !of_first.contains_key(key.as_str()));
        for (key, _) in first.iter().chain(only_second) {
            let here = path.clone().key(key);
            let was = base.get(key.as_str()).copied();
            let (kind, is_header) = below.field(key);
            match (of_first.get(key.as_str()), of_second.get(key.as_str())) {
                (Some(first), Some(second)) => {
                    let three = Three { base: was, first, second };
                    if is_header {
                        self.value(&here, three, None, &Below::Shape(&HANDOFF))?;
                    } else {
                        self.value(&here, three, kind, &Below::of(kind))?;
                    }
                }
                // Taken out by the second side, and not touched by the first.
                (Some(first), None) if was.is_some_and(|was| was.same(first)) => {
                    self.change(Edit::Remove(here));
                }
                (None, Some(second)) if !was.is_some_and(|was| was.same(second)) => {
                    self.change(Edit::Set(here, (*second).clone()));
                }
                (Some(_) | None, None) | (None, Some(_)) => {}
            }
        }
        Some(())
    }

    fn value(
        &mut self,
        path: &Path,
        three: Three<'_>,
        kind: Option<&'static Kind>,
        below: &Below,
    ) -> Option<()> {
        let Three { base, first, second } = three;
        let was = |value: &Data| base.is_some_and(|base| base.same(value));
        if first.same(second) || was(second) {
            return Some(());
        }
        if was(first) || is_blank(first) {
            self.set(path, (first, second), kind, below);
            return Some(());
        }
        if is_blank(second) {
            return Some(());
        }
        match (first, second) {
            (Data::Map(_), Data::Map(_)) => match latest_run(kind, first, second) {
                Some(latest) => {
                    self.set(path, (first, latest), kind, below);
                    Some(())
                }
                None => self.maps(path, three, below),
            },
            (Data::List(_), _) | (_, Data::List(_)) => self.lists(path, three, kind),
            _ => {
                match scalar(path, kind, first, second) {
                    Some(chosen) => self.set(path, (first, chosen), kind, below),
                    None => self.conflict(path, second),
                }
                Some(())
            }
        }
    }

    /// Makes a value of the first side the wanted one, changing as little as possible.
    fn set(
        &mut self,
        path: &Path,
        (first, wanted): (&Data, &Data),
        kind: Option<&'static Kind>,
        below: &Below,
    ) {
        if first.same(wanted) {
            return;
        }
        let whole = Edit::Set(path.clone(), wanted.clone());
        let three = Three { base: Some(first), first, second: wanted };
        let mut inside = Self::default();
        let placed = match (first, wanted) {
            (Data::List(have), Data::List(want)) if keeps_order(have, want, kind) => {
                inside.lists(path, three, kind)
            }
            (Data::Map(_), Data::Map(want)) if !want.is_empty() => inside.maps(path, three, below),
            _ => None,
        };
        self.changes.push(match placed {
            Some(()) => Change::Places(inside.changes, whole),
            None => Change::Edit(whole),
        });
    }

    fn change(&mut self, edit: Edit) {
        self.changes.push(Change::Edit(edit));
    }

    fn conflict(&mut self, path: &Path, wanted: &Data) {
        self.conflicts.push(Conflict { path: path.clone(), wanted: wanted.clone() });
    }

    /// Lists, item by item: what one side added or took out counts, what both changed is merged.
    fn lists(&mut self, path: &Path, three: Three<'_>, kind: Option<&'static Kind>) -> Option<()> {
        let of_item = match kind {
            Some(Kind::List(kind)) => Some(*kind),
            Some(_) | None => None,
        };
        let base = named(three.base.map(items).unwrap_or_default(), kind);
        let first = named(items(three.first), kind);
        let second = named(items(three.second), kind);
        // A single value where a list is meant becomes one, so that items have places.
        if !matches!(three.first, Data::List(_)) {
            let list = first.iter().map(|(_, item)| (*item).clone()).collect();
            self.change(Edit::Set(path.clone(), Data::List(list)));
        }
        let find = |list: &[(Name, &'_ Data)], name: &Name| {
            list.iter().position(|(other, _)| other == name)
        };
        let was = |name: &Name| find(&base, name).map(|index| base[index].1);
        let untouched = |name: &Name, item: &Data| was(name).is_some_and(|was| was.same(item));
        let mut removed = Vec::new();
        for (index, (name, item)) in first.iter().enumerate() {
            match find(&second, name) {
                Some(other) => {
                    let three = Three { base: was(name), first: item, second: second[other].1 };
                    let from = self.conflicts.len();
                    self.value(&path.clone().item(index), three, of_item, &Below::of(of_item))?;
                    // What is taken out below moves the places of what conflicts.
                    for conflict in &mut self.conflicts[from..] {
                        if let Some(Step::Item(at)) = conflict.path.0.get_mut(path.0.len()) {
                            *at -= removed.len();
                        }
                    }
                }
                // What happened in one line of work happened, whichever part of it was taken over.
                None if *path == Path::field("revisions") => {}
                None if untouched(name, item) => removed.push(index),
                None => {}
            }
        }
        for index in removed.into_iter().rev() {
            self.change(Edit::Remove(path.clone().item(index)));
        }
        for (name, item) in &second {
            let happened = *path == Path::field("revisions");
            if find(&first, name).is_none() && (happened || !untouched(name, item)) {
                self.change(Edit::Append(path.clone(), (*item).clone()));
            }
        }
        Some(())
    }
}

/// What tells an item apart from the others of its list; the second of two equal ones is another.
type Name = (String, usize);

fn named<'d>(items: Vec<&'d Data>, kind: Option<&'static Kind>) -> Vec<(Name, &'d Data)> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    items
        .into_iter()
        .map(|item| {
            let name = identity(kind, item);
            let count = seen.entry(name.clone()).or_default();
            *count += 1;
            ((name, *count), item)
        })
        .collect()
}

/// Whether a list becomes another by taking items out and adding some behind them.
fn keeps_order(have: &[Data], want: &[Data], kind: Option<&'static Kind>) -> bool {
    let names = |items: &[Data]| -> Vec<Name> {
        named(items.iter().collect(), kind).into_iter().map(|(name, _)| name).collect()
    };
    let (have, want) = (names(have), names(want));
    let kept: Vec<&Name> = have.iter().filter(|name| want.contains(name)).collect();
    !want.is_empty() && want.iter().take(kept.len()).eq(kept)
}

fn items(data: &Data) -> Vec<&Data> {
    match data {
        Data::Null => Vec::new(),
        Data::List(items) => items.iter().collect(),
        Data::Text(_) | Data::Bare(_) | Data::Map(_) => vec![data],
    }
}

fn by_key(entries: &[(String, Data)]) -> Option<HashMap<&str, &Data>> {
    let map: HashMap<&str, &Data> =
        entries.iter().map(|(key, data)| (key.as_str(), data)).collect();
    (map.len() == entries.len()).then_some(map)
}

fn is_blank(data: &Data) -> bool {
    match data {
        Data::Null => true,
        Data::Text(text) | Data::Bare(text) => text.trim().is_empty(),
        Data::List(items) => items.is_empty(),
        Data::Map(entries) => entries.is_empty(),
    }
}

/// Which of two values stands, where their order tells.
fn scalar<'d>(
    path: &Path,
    kind: Option<&'static Kind>,
    first: &'d Data,
    second: &'d Data,
) -> Option<&'d Data> {
    let (Data::Text(a) | Data::Bare(a), Data::Text(b) | Data::Bare(b)) = (first, second) else {
        return None;
    };
    if *path == Path::field("status") {
        let (a, b) = (progress(a)?, progress(b)?);
        return (a != b).then_some(if a > b { first } else { second });
    }
    if matches!(kind, Some(Kind::Time)) {
        let (a, b) = (Time::read(a)?.moment, Time::read(b)?.moment);
        let earlier = *path == Path::field("created");
        return (a != b).then_some(if (a < b) == earlier { first } else { second });
    }
    None
}

/// Of two runs of a proof the later one is the last, with all that belongs to it.
fn latest_run<'d>(
    kind: Option<&'static Kind>,
    first: &'d Data,
    second: &'d Data,
) -> Option<&'d Data> {
    if !matches!(kind, Some(Kind::Map(shape)) if std::ptr::eq(*shape, &raw const LAST_RUN)) {
        return None;
    }
    let moment = |run: &Data| {
        let Data::Map(entries) = run else { return None };
        match entries.iter().find(|(key, _)| key == "at") {
            Some((_, Data::Text(at) | Data::Bare(at))) => Some(Time::read(at)?.moment),
            Some(_) | None => None,
        }
    };
    let (a, b) = (moment(first)?, moment(second)?);
    (a != b).then_some(if a > b { first } else { second })
}

/// How far a handoff is in its life; every end is equally far.
fn progress(status: &str) -> Option<u8> {
    Some(match Status::read(status)? {
        Status::Planned => 0,
        Status::InProgress => 1,
        Status::Resolved | Status::Superseded | Status::Abandoned => 2,
    })
}

/// Brings in the comments of both sides that are missing, each above the field it stood at. One
/// that a side took out is not missed.
fn with_comments(mut document: Document, sides: &Sides<'_>) -> Option<Document> {
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
                let line = format!("  {comment}{}", sides.marks.line_break);
                document = with_line(&document, &line, field_at(header, at.start))?;
            }
        }
    }
    Some(document)
}

fn comments(document: &Document) -> Vec<&str> {
    let comments = document.handoff_header().map(|header| header.comments.as_slice());
    comments.unwrap_or_default().iter().map(|at| at.of(document.text()).trim()).collect()
}

/// The document with a line that says nothing, above a field or else on top of the header.
fn with_line(document: &Document, line: &str, key: Option<&str>) -> Option<Document> {
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
        (is_comment && data.same(&header.root.data())).then_some(with)
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
    conflicts: &[Conflict],
    sides: &Sides<'_>,
    told: &mut Vec<String>,
) -> Option<String> {
    let mut regions = apart(document, conflicts)?;
    regions.sort_by_key(|region| region.here.start);
    let mut text = document.text()[..document.body().start].to_owned();
    let mut decided = document.text().to_owned();
    for Region { here, conflicts, .. } in regions.iter().rev() {
        let there = decided_for(document, conflicts)?;
        // A comment in a value that gives way is still the second side's, if it has it.
        let gone = comments_in(document, *here).filter(|comment| {
            comments(sides.second).contains(comment) && !comments(&there).contains(comment)
        });
        let mut lines: String =
            gone.map(|comment| format!("  {comment}{}", sides.marks.line_break)).collect();
        lines.push_str(lines_of(&there, &common(conflicts))?.of(there.text()));
        let there = lines;
        let mut marked = String::new();
        sides.marks.mark(&mut marked, here.of(&text), &there);
        text.replace_range(here.range(), &marked);
        decided.replace_range(here.range(), &there);
    }
    // Whoever decides for the second side everywhere gets what it says.
    let meant = decided_for(document, conflicts)?;
    let decided = Document::parse(decided.as_bytes());
    let data = |document: &Document| document.handoff_header().map(|header| header.root.data());
    if !data(&meant)?.same(&data(&decided)?) {
        return None;
    }
    told.extend(regions.iter().map(|region| called(&common(&region.conflicts))));
    Some(text)
}

/// A place as people know it: fields are named without the key that holds them all.
fn called(path: &Path) -> String {
    match path.0.as_slice() {
        [Step::Key(key), rest @ ..] if key == "handoff" && !rest.is_empty() => {
            Path(rest.to_vec()).to_string()
        }
        _ => path.to_string(),
    }
}

/// Whole lines, and what conflicts in them.
struct Region {
    here: Span,
    conflicts: Vec<Conflict>,
}

/// Conflicts whose lines do not overlap: those on the same lines become one, of what holds them
/// all. `None` where that is the whole header.
fn apart(document: &Document, conflicts: &[Conflict]) -> Option<Vec<Region>> {
    let mut apart: Vec<Region> = Vec::new();
    for conflict in conflicts {
        let mut joined = vec![conflict.clone()];
        let mut here = lines_of(document, &conflict.path)?;
        let meets = |a: Span| {
            move |region: &mut Region| a.start < region.here.end && region.here.start < a.end
        };
        // What holds them all may reach over further ones.
        while let Some(region) = apart.extract_if(.., meets(here)).next() {
            joined.extend(region.conflicts);
            here = lines_of(document, &common(&joined))?;
        }
        apart.push(Region { here, conflicts: joined });
    }
    Some(apart)
}

/// The innermost place that holds all conflicts.
fn common(conflicts: &[Conflict]) -> Path {
    let mut paths = conflicts.iter().map(|conflict| conflict.path.0.as_slice());
    let first = paths.next().unwrap_or_default();
    let shared = |a: &[Step], b: &[Step]| a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let length = paths.fold(first.len(), |length, path| length.min(shared(first, path)));
    Path(first[..length].to_vec())
}

/// The document with what the second side wants.
fn decided_for(document: &Document, conflicts: &[Conflict]) -> Option<Document> {
    conflicts.iter().try_fold(document.clone(), |document, Conflict { path, wanted }| {
        edited(&document, &Edit::Set(path.clone(), wanted.clone()))
    })
}

fn comments_in(document: &Document, lines: Span) -> impl Iterator<Item = &str> {
    let header = document.handoff_header().into_iter();
    let inside = header.flat_map(|header| &header.comments).filter(move |at| lines.contains(**at));
    inside.map(|at| at.of(document.text()).trim())
}

/// The whole lines of a key and its value, or of an item.
fn lines_of(document: &Document, path: &Path) -> Option<Span> {
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
fn node_at<'d>(document: &'d Document, path: &Path) -> Option<(&'d Node, usize)> {
    let root = &document.handoff_header()?.root;
    path.0.iter().try_fold((root, root.at.start), |(node, _), step| match (step, &node.value) {
        (Step::Key(key), _) => {
            let entry = node.entry(key)?;
            Some((&entry.node, entry.key.at.start))
        }
        (Step::Item(index), Value::List(items)) => {
            let item = items.get(*index)?;
            Some((&item.node, item.dash.unwrap_or(item.node.at.start)))
        }
        (Step::Item(0), _) => Some((node, node.at.start)),
        (Step::Item(_), _) => None,
    })
}
