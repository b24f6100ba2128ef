//! Headers, merged by meaning: the first side is edited until it says what both say.

use super::{Marks, Sides};
use crate::document::Document;
use crate::edit::{Edit, Path, Step};
use crate::header::{HANDOFF, Header, Status};
use crate::shape::{Kind, Shape, identity};
use crate::span::{Span, line_end, line_start};
use crate::time::Time;
use crate::yaml::{Data, Node, Value};
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
    let (document, _) = sides.first.edit(&joining.edits).ok()?;
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

/// Edits of the first side, made so that their places hold one after the other.
#[derive(Default)]
struct Joining {
    edits: Vec<Edit>,
    conflicts: Vec<Conflict>,
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
                    self.edits.push(Edit::Remove(here));
                }
                (None, Some(second)) if !was.is_some_and(|was| was.same(second)) => {
                    self.edits.push(Edit::Set(here, (*second).clone()));
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
            self.set(path, first, second);
            return Some(());
        }
        if is_blank(second) {
            return Some(());
        }
        match (first, second) {
            (Data::Map(_), Data::Map(_)) => self.maps(path, three, below),
            (Data::List(_), _) | (_, Data::List(_)) => self.lists(path, three, kind),
            _ => {
                match scalar(path, kind, first, second) {
                    Some(chosen) => self.set(path, first, chosen),
                    None => self.conflict(path, second),
                }
                Some(())
            }
        }
    }

    /// Makes a value of the first side the wanted one, changing as little as possible.
    fn set(&mut self, path: &Path, first: &Data, wanted: &Data) {
        match (first, wanted) {
            _ if first.same(wanted) => {}
            (Data::List(have), Data::List(want))
                if want.len() > have.len() && have.iter().zip(want).all(|(a, b)| a.same(b)) =>
            {
                let added = want[have.len()..].iter().cloned();
                self.edits.extend(added.map(|item| Edit::Append(path.clone(), item)));
            }
            _ => self.edits.push(Edit::Set(path.clone(), wanted.clone())),
        }
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
            self.edits.push(Edit::Set(path.clone(), Data::List(list)));
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
        let gone = removed.into_iter().rev().map(|index| Edit::Remove(path.clone().item(index)));
        self.edits.extend(gone);
        for (name, item) in &second {
            let happened = *path == Path::field("revisions");
            if find(&first, name).is_none() && (happened || !untouched(name, item)) {
                self.edits.push(Edit::Append(path.clone(), (*item).clone()));
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

/// How far a handoff is in its life; every end is equally far.
fn progress(status: &str) -> Option<u8> {
    Some(match Status::read(status)? {
        Status::Planned => 0,
        Status::InProgress => 1,
        Status::Resolved | Status::Superseded | Status::Abandoned => 2,
    })
}

/// Brings over the comments that only the second side has, each above the field it stood at.
fn with_comments(mut document: Document, sides: &Sides<'_>) -> Option<Document> {
    let texts = |document: &Document| -> Vec<String> {
        let comments = document.handoff_header().map(|header| header.comments.as_slice());
        let text = |at: &Span| at.of(document.text()).trim().to_owned();
        comments.unwrap_or_default().iter().map(text).collect()
    };
    let before = sides.base.map(texts).unwrap_or_default();
    let header = sides.second.handoff_header()?;
    for (comment, at) in texts(sides.second).iter().zip(&header.comments) {
        if before.contains(comment) || texts(&document).contains(comment) {
            continue;
        }
        let key = field_at(header, at.start);
        let end = sides.marks.line_break;
        let mut text = document.text().to_owned();
        text.insert_str(place_for(&document, key)?, &format!("  {comment}{end}"));
        document = Document::parse(text.as_bytes());
    }
    Some(document)
}

/// The field that a comment stands in or above.
fn field_at(header: &Header, byte: usize) -> Option<&str> {
    let entries = header.fields().entries();
    let entry = entries.iter().find(|entry| entry.node.at.end.max(entry.key.at.end) > byte);
    // Behind a value on its line.
    let last = || entries.iter().rev().find(|entry| entry.key.at.start < byte);
    entry.or_else(last).map(|entry| entry.key.value.as_str())
}

fn place_for(document: &Document, key: Option<&str>) -> Option<usize> {
    let header = document.handoff_header()?;
    let entry = key.and_then(|key| header.fields().entry(key));
    Some(match entry {
        Some(entry) => line_start(document.text(), entry.key.at.start),
        None => header.at.end,
    })
}

/// The text up to the body, with what conflicts between markers. `None` where the markers would
/// cut something apart.
pub(super) fn with_markers(
    document: &Document,
    conflicts: &[Conflict],
    marks: &Marks,
    told: &mut Vec<String>,
) -> Option<String> {
    let mut regions = apart(document, conflicts)?;
    regions.sort_by_key(|region| region.here.start);
    let mut text = document.text()[..document.body().start].to_owned();
    let mut decided = document.text().to_owned();
    for Region { here, conflicts, .. } in regions.iter().rev() {
        let there = document.edit(&wanted(conflicts)).ok()?.0;
        let there = lines_of(&there, &common(conflicts))?.of(there.text()).to_owned();
        let mut marked = String::new();
        marks.mark(&mut marked, here.of(&text), &there);
        text.replace_range(here.range(), &marked);
        decided.replace_range(here.range(), &there);
    }
    // Whoever decides for the second side everywhere gets what it says.
    let (meant, _) = document.edit(&wanted(conflicts)).ok()?;
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

fn wanted(conflicts: &[Conflict]) -> Vec<Edit> {
    let set = |conflict: &Conflict| Edit::Set(conflict.path.clone(), conflict.wanted.clone());
    conflicts.iter().map(set).collect()
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
