//! Properties of every merge.

use crate::properties::{data, document, edit, path};
use midstride_core::format::document::Document;
use midstride_core::format::finding::Code;
use midstride_core::handoff::merge::{MergedText, SideIds, merge};
use midstride_core::text::edit::Edit;
use midstride_core::text::id::BlobHash;
use midstride_core::text::time::Time;
use midstride_core::text::yaml::YamlData;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use std::collections::BTreeSet;

/// The changes of one side: header edits, and a paragraph changed, added or removed.
#[derive(Clone, Debug)]
struct Work {
    edits: Vec<Edit>,
    paragraph: Option<(Index, &'static str)>,
}

fn work() -> impl Strategy<Value = Work> {
    let texts =
        select(vec!["", "Mine.\n", "Theirs,\nlonger.\n", "- an item\n", "## New\n\nText.\n"]);
    let paragraph = prop::option::of((any::<Index>(), texts));
    (prop::collection::vec(edit(), 0..3), paragraph)
        .prop_map(|(edits, paragraph)| Work { edits, paragraph })
}

impl Work {
    fn done_on(&self, base: &Document) -> Document {
        let mut document = base.clone();
        for edit in &self.edits {
            if let Ok((next, _)) = document.edit(std::slice::from_ref(edit)) {
                document = next;
            }
        }
        let Some((at, new)) = &self.paragraph else { return document };
        let body = document.body();
        let end = document.line_break();
        let between = end.repeat(2);
        let mut paragraphs: Vec<String> =
            body.slice(document.text()).split(&between).map(str::to_owned).collect();
        let index = at.index(paragraphs.len());
        paragraphs[index] = new.trim_end().replace('\n', end);
        let text = format!("{}{end}", paragraphs.join(&between));
        match document.edit(&[Edit::Body(body, text)]) {
            Ok((next, _)) => next,
            Err(_) => document,
        }
    }
}

fn merged(base: Option<&Document>, one: &Document, other: &Document) -> Option<MergedText> {
    let tips = SideIds { one: &BlobHash::new("1111"), other: &BlobHash::new("2222") };
    let there = merge(base, one, other, Some(tips));
    let swapped = SideIds { one: &BlobHash::new("2222"), other: &BlobHash::new("1111") };
    assert_eq!(there, merge(base, other, one, Some(swapped)), "merging is symmetric");
    there.ok()
}

/// Whether a header can be parsed and merged by meaning.
fn is_sound(document: &Document) -> bool {
    let unsound = [Code::Syntax, Code::DuplicateKey, Code::ConflictMarker, Code::HeaderNotClosed];
    document.handoff_header().is_some()
        && document.findings().iter().all(|finding| !unsound.contains(&finding.code))
}

/// The values of a header, except those that are decided by order, such as a status or a time.
fn values(document: &Document) -> BTreeSet<String> {
    fn collect(data: &YamlData, out: &mut BTreeSet<String>) {
        match data {
            YamlData::Null => {}
            YamlData::Text(text) | YamlData::Bare(text) => {
                let ordered = Time::parse(text).is_some()
                    || midstride_core::format::header::Status::parse(text).is_some();
                if !ordered && !text.trim().is_empty() {
                    out.insert(text.split_whitespace().collect::<Vec<_>>().join(" "));
                }
            }
            YamlData::List(items) => items.iter().for_each(|item| collect(item, out)),
            YamlData::Map(entries) => entries.iter().for_each(|(_, item)| collect(item, out)),
        }
    }
    let mut out = BTreeSet::new();
    if let Some(header) = document.handoff_header() {
        collect(&header.root.data(), &mut out);
    }
    out
}

fn body_lines(document: &Document) -> BTreeSet<&str> {
    let body = document.body().slice(document.text());
    body.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect()
}

fn comments(document: &Document) -> BTreeSet<&str> {
    let header = document.handoff_header().into_iter();
    let all = header.flat_map(|header| &header.comments);
    all.map(|at| at.slice(document.text()).trim()).collect()
}

/// The kind of conflict marker a line is.
fn marker(line: &str) -> Option<char> {
    let sign = line.chars().next().filter(|sign| "<=>".contains(*sign))?;
    let rest = line.trim_start_matches(sign);
    let long = line.len() - rest.len() == 7;
    (long && (rest.trim().is_empty() || rest.starts_with(' '))).then_some(sign)
}

/// The text with the first or the second side of every conflict; `None` if the markers are not in
/// order.
fn decided(text: &str, second: bool) -> Option<String> {
    let mut out = String::new();
    let mut inside = None;
    for line in text.split_inclusive('\n') {
        inside = match (marker(line), inside) {
            (Some('<'), None) => Some(false),
            (Some('='), Some(false)) => Some(true),
            (Some('>'), Some(true)) => None,
            (Some(_), _) => return None,
            (None, inside) => {
                if inside.is_none_or(|side| side == second) {
                    out.push_str(line);
                }
                inside
            }
        };
    }
    inside.is_none().then_some(out)
}

/// Choosing one side of every conflict gives a valid document.
fn can_be_decided(all: [&Document; 3], merged: &MergedText) -> Result<(), TestCaseError> {
    if all.iter().any(|document| document.text().lines().any(|line| marker(line).is_some())) {
        return Ok(());
    }
    for second in [false, true] {
        let text = decided(&merged.text, second);
        prop_assert!(text.is_some(), "markers are not in order:\n{}", merged.text);
        let document = Document::parse(text.unwrap_or_default().as_bytes());
        let sound = is_sound(&document) || !all.iter().all(|document| is_sound(document));
        prop_assert!(sound, "{}\nbecomes\n{}", merged.text, document.text());
    }
    Ok(())
}

/// Whether a line does not end with CRLF.
fn bare_line_feed(text: &str) -> bool {
    text.matches('\n').count() != text.matches("\r\n").count()
}

fn holds(base: &Document, one: &Document, other: &Document) -> Result<(), TestCaseError> {
    let Some(merged) = merged(Some(base), one, other) else { return Ok(()) };
    let result = Document::parse(merged.text.as_bytes());
    prop_assert_eq!(result.render(), &merged.text[..]);
    let lines: BTreeSet<&str> = merged.text.lines().map(str::trim_end).collect();
    for side in [one, other] {
        // A line may have moved from the header of the base into a body.
        for line in body_lines(side).difference(&base.text().lines().map(str::trim_end).collect()) {
            prop_assert!(lines.contains(line), "{line:?} is lost in\n{}", merged.text);
        }
    }
    can_be_decided([base, one, other], &merged)?;
    if [base, one, other].iter().all(|document| !bare_line_feed(document.text())) {
        prop_assert!(!bare_line_feed(&merged.text), "{:?}", merged.text);
    }
    for side in [one, other] {
        for comment in comments(side).difference(&comments(base)) {
            prop_assert!(merged.text.contains(comment), "{comment:?} is lost in\n{}", merged.text);
        }
    }
    let clean = merged.conflicts.is_empty();
    if clean && [base, one, other].into_iter().all(is_sound) {
        prop_assert!(is_sound(&result), "{}", merged.text);
        let there = values(&result);
        for side in [one, other] {
            for value in values(side).difference(&values(base)) {
                prop_assert!(there.contains(value), "{value:?} is lost in\n{}", merged.text);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn merging_is_symmetric_loses_no_text_and_parses(text in document(), one in work(), other in work()) {
        let base = Document::parse(text.as_bytes());
        holds(&base, &one.done_on(&base), &other.done_on(&base))?;
    }

    #[test]
    fn conflicting_values_can_be_resolved(
        text in document(),
        clashes in prop::collection::vec((path(), data(), data()), 1..5),
    ) {
        let base = Document::parse(text.as_bytes());
        let [mut one, mut other] = [base.clone(), base.clone()];
        for (path, mine, theirs) in clashes {
            let changed = |side: &Document, value: YamlData| {
                let edited = side.edit(&[Edit::Set(path.clone(), value)]);
                edited.map_or_else(|_| side.clone(), |(next, _)| next)
            };
            (one, other) = (changed(&one, mine), changed(&other, theirs));
        }
        holds(&base, &one, &other)?;
    }

    #[test]
    fn any_three_documents_can_be_merged(base in document(), one in document(), other in document()) {
        let [base, one, other] = [base, one, other].map(|text| Document::parse(text.as_bytes()));
        holds(&base, &one, &other)?;
        merged(None, &one, &other);
    }

    #[test]
    fn an_unchanged_side_yields_to_the_other(text in document(), one in work()) {
        let base = Document::parse(text.as_bytes());
        let one = one.done_on(&base);
        if let Some(merged) = merged(Some(&base), &one, &base) {
            prop_assert_eq!(merged.text, one.text());
        }
    }
}
