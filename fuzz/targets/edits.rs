//! Any edits of any header: what is accepted does what was meant, nothing else, and can be undone.
#![no_main]

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use midstride_core::format::document::Document;
use midstride_core::text::edit::{Edit, HeaderPath, HeaderPathStep};
use midstride_core::text::span::Span;
use midstride_core::text::yaml::YamlData;
use midstride_fuzz::{comments_kept, read, values};

/// So many bytes choose the edits; the header is what follows, so that a header makes a good seed.
const CHOICES: usize = 128;
const EDITS_MAX: usize = 4;
const STEPS_MAX: usize = 5;
const PARTS_MAX: usize = 3;
const DEPTH_MAX: usize = 3;

/// Keys that the format knows, and one that it does not.
const KEYS: [&str; 17] = [
    "handoff",
    "format",
    "id",
    "title",
    "status",
    "to",
    "created",
    "context_summary",
    "decisions_made",
    "decision",
    "rationale",
    "open_questions",
    "question",
    "blocking",
    "dependencies",
    "upstream",
    "a",
];

/// Texts that YAML reads as something else, or that need care to be written.
const TEXTS: [&str; 16] = [
    "",
    " ",
    "~",
    "null",
    "true",
    "1",
    "2026-03-21",
    "a: b",
    "a #b",
    "- a",
    "[",
    "'",
    "\"",
    "\\",
    "one\ntwo\n",
    "\n\n",
];

fuzz_target!(|bytes: &[u8]| {
    let (choices, header) = bytes.split_at(bytes.len().min(CHOICES));
    let header = String::from_utf8_lossy(header);
    let first = read(format!("---\n{header}\n---\nbody\n").as_bytes());
    // Too few bytes for another edit are the end, not a failure.
    let _ = edit_and_hold(&first, &mut Unstructured::new(choices));
});

fn edit_and_hold(first: &Document, u: &mut Unstructured<'_>) -> Result<()> {
    let mut document = first.clone();
    let mut accepted = Vec::new();
    for _ in 0..u.int_in_range(1..=EDITS_MAX)? {
        let edit = edit(u, &document)?;
        let Ok((after, patch)) = document.edit(std::slice::from_ref(&edit)) else {
            let both = [accepted.as_slice(), &[edit]].concat();
            assert!(first.edit(&both).is_err(), "refused alone, accepted behind others");
            continue;
        };
        let (old, new) = (document.text(), after.text());
        assert_eq!(patch.apply(old).as_deref(), Ok(new), "the patch is another change");
        assert_eq!(patch.reversed().apply(new).as_deref(), Ok(old), "no way back");
        let after = read(new.as_bytes());
        hold(&document, &after, &edit);
        document = after;
        accepted.push(edit);
    }
    if accepted.is_empty() {
        return Ok(());
    }
    let (together, patch) = first.edit(&accepted).expect("each of them was accepted");
    assert_eq!(together.text(), document.text(), "together they do something else");
    assert_eq!(patch.apply(first.text()).as_deref(), Ok(together.text()));
    assert_eq!(patch.reversed().apply(together.text()).as_deref(), Ok(first.text()));
    Ok(())
}

fn edit(u: &mut Unstructured<'_>, document: &Document) -> Result<Edit> {
    Ok(match u.int_in_range(0..=9)? {
        0..=3 => Edit::Set(path(u, document)?, data(u, DEPTH_MAX)?),
        4..=6 => Edit::Append(path(u, document)?, data(u, DEPTH_MAX)?),
        7..=8 => Edit::Remove(path(u, document)?),
        _ => {
            let start = document.body().start + usize::from(u.arbitrary::<u8>()? % 8);
            let end = start + usize::from(u.arbitrary::<u8>()? % 8);
            Edit::Body(Span { start, end }, text(u)?)
        }
    })
}

/// A walk through the values that are there, which may stray at any step.
fn path(u: &mut Unstructured<'_>, document: &Document) -> Result<HeaderPath> {
    let values = values(document).unwrap_or(YamlData::Null);
    let mut here = Some(&values);
    let mut path = HeaderPath::default();
    for _ in 0..u.int_in_range(1..=STEPS_MAX)? {
        let known = here.filter(|_| u.ratio(7, 8).unwrap_or(false));
        let step = match known {
            Some(YamlData::Map(entries)) if !entries.is_empty() => {
                HeaderPathStep::Key(u.choose(entries)?.0.clone())
            }
            Some(YamlData::List(items)) if !items.is_empty() => {
                HeaderPathStep::Item(u.choose_index(items.len())?)
            }
            _ if u.ratio(1, 4)? => HeaderPathStep::Item(u.int_in_range(0..=3)?),
            _ => HeaderPathStep::Key(key(u)?),
        };
        here = here.and_then(|here| at(here, std::slice::from_ref(&step)));
        path.0.push(step);
        if u.ratio(1, 4)? {
            break;
        }
    }
    Ok(path)
}

fn key(u: &mut Unstructured<'_>) -> Result<String> {
    if u.ratio(7, 8)? { Ok((*u.choose(&KEYS)?).to_owned()) } else { text(u) }
}

fn text(u: &mut Unstructured<'_>) -> Result<String> {
    match u.int_in_range(0..=2)? {
        0 => Ok((*u.choose(&TEXTS)?).to_owned()),
        1 => Ok((*u.choose(&KEYS)?).to_owned()),
        _ => {
            let length = u.int_in_range(0..=12)?;
            Ok(String::from_utf8_lossy(u.bytes(length)?).into_owned())
        }
    }
}

fn data(u: &mut Unstructured<'_>, depth: usize) -> Result<YamlData> {
    let kinds = if depth == 0 { 3 } else { 5 };
    Ok(match u.int_in_range(0..=kinds)? {
        0 => YamlData::Null,
        1 | 2 => YamlData::Text(text(u)?),
        3 => YamlData::Bare(text(u)?),
        4 => {
            let count = u.int_in_range(0..=PARTS_MAX)?;
            YamlData::List((0..count).map(|_| data(u, depth - 1)).collect::<Result<_>>()?)
        }
        _ => {
            let count = u.int_in_range(0..=PARTS_MAX)?;
            let entry = |_| Ok((key(u)?, data(u, depth - 1)?));
            YamlData::Map((0..count).map(entry).collect::<Result<_>>()?)
        }
    })
}

/// Holds an accepted edit against what it says.
fn hold(before: &Document, after: &Document, edit: &Edit) {
    let body = |document: &Document| document.body().slice(document.text()).to_owned();
    if let Edit::Body(at, new) = edit {
        let mut text = before.text().to_owned();
        text.replace_range(at.range(), new);
        assert_eq!(after.text(), text);
        assert_eq!(values(after), values(before), "an edit of the body changed the header");
        return;
    }
    assert_eq!(body(after), body(before), "an edit of the header changed the body");
    assert!(comments_kept(before, after), "a comment is gone");
    let old = values(before).expect("there was a header to edit");
    let new = values(after).expect("the header is still there");
    match edit {
        Edit::Set(path, value) => reads(at(&new, &path.0), Some(value)),
        Edit::Append(path, value) => {
            let mut items = match at(&old, &path.0) {
                None | Some(YamlData::Null) => Vec::new(),
                Some(YamlData::List(items)) => items.clone(),
                Some(single) => vec![single.clone()],
            };
            items.push(value.clone());
            reads(at(&new, &path.0), Some(&YamlData::List(items)));
        }
        Edit::Remove(path) => {
            let (last, parent) = path.0.split_last().expect("nobody removes everything");
            let left = match (at(&old, parent), last) {
                (Some(YamlData::Map(entries)), HeaderPathStep::Key(gone)) => {
                    YamlData::Map(entries.iter().filter(|(key, _)| key != gone).cloned().collect())
                }
                (Some(YamlData::List(items)), HeaderPathStep::Item(gone)) => {
                    let mut items = items.clone();
                    items.remove(*gone);
                    YamlData::List(items)
                }
                other => panic!("nothing was there to remove: {other:?}"),
            };
            // Without its last part a list or mapping says nothing.
            let empty = matches!(&left, YamlData::Map(e) if e.is_empty())
                || matches!(&left, YamlData::List(i) if i.is_empty());
            reads(at(&new, parent), Some(if empty { &YamlData::Null } else { &left }));
        }
        Edit::Body(..) => unreachable!("told above"),
    }
    beside(&old, &new, steps(edit));
}

fn steps(edit: &Edit) -> &[HeaderPathStep] {
    match edit {
        Edit::Set(path, _) | Edit::Append(path, _) | Edit::Remove(path) => &path.0,
        Edit::Body(..) => &[],
    }
}

/// The value at a path.
fn at<'d>(data: &'d YamlData, steps: &[HeaderPathStep]) -> Option<&'d YamlData> {
    steps.iter().try_fold(data, |here, step| match (here, step) {
        (YamlData::Map(entries), HeaderPathStep::Key(key)) => {
            entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
        }
        (YamlData::List(items), HeaderPathStep::Item(index)) => items.get(*index),
        _ => None,
    })
}

fn reads(is: Option<&YamlData>, meant: Option<&YamlData>) {
    let same = is.zip(meant).is_some_and(|(is, meant)| is.is_equivalent_to(meant));
    assert!(same, "meant {meant:?}, reads {is:?}");
}

/// Whatever lies beside the path is as it was, all the way down.
fn beside(old: &YamlData, new: &YamlData, steps: &[HeaderPathStep]) {
    let Some((step, rest)) = steps.split_first() else { return };
    match (old, new, step) {
        (YamlData::Map(a), YamlData::Map(b), HeaderPathStep::Key(key)) => {
            let others = |entries: &[(String, YamlData)]| {
                YamlData::Map(entries.iter().filter(|(name, _)| name != key).cloned().collect())
            };
            assert!(others(a).is_equivalent_to(&others(b)), "another key changed: {a:?} {b:?}");
        }
        (YamlData::List(a), YamlData::List(b), HeaderPathStep::Item(index))
            if a.len() == b.len() =>
        {
            let same =
                |(i, (a, b)): (usize, (&YamlData, &YamlData))| i == *index || a.is_equivalent_to(b);
            assert!(a.iter().zip(b).enumerate().all(same), "another item changed");
        }
        _ => return,
    }
    let (old, new) = (at(old, &steps[..1]), at(new, &steps[..1]));
    if let (Some(old), Some(new)) = (old, new) {
        beside(old, new, rest);
    }
}
