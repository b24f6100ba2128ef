//! Merges two versions of one handoff: headers by meaning, bodies by paragraph.
//!
//! The result does not depend on which side is "ours": the sides are sorted first. Changes that
//! conflict appear between conflict markers, with both versions.

mod body;
mod header;
mod history;

use crate::format::document::Document;
use crate::format::finding::Code;
use crate::format::header::Header;
use crate::handoff::anchor::{self, Anchors};
use crate::text::id::{BlobHash, Uid};
use crate::text::span::{Span, Spanned};
use crate::text::time::Time;
use crate::text::yaml::{MARKER_LENGTH, YamlNode};
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The ids of the two texts. The merged history refers to them.
#[derive(Clone, Copy, Debug)]
pub struct SideIds<'a> {
    /// The id of the first argument's text.
    pub one: &'a BlobHash,
    /// The id of the second argument's text.
    pub other: &'a BlobHash,
}

/// The result of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedText {
    /// The merged text.
    pub text: String,
    /// What the user has to resolve. Each conflict is between markers in the text.
    pub conflicts: Vec<String>,
}

/// Why two texts cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MergeRefusal {
    /// They belong to two different handoffs.
    #[error("these are two handoffs with the same id")]
    TwoHandoffs,
}

/// Merges two texts of one handoff.
///
/// With `tips`, a real merge adds a history entry, and the last entries of both sides record which
/// text they made.
pub fn merge(
    base: Option<&Document>,
    one: &Document,
    other: &Document,
    tips: Option<SideIds<'_>>,
) -> Result<MergedText, MergeRefusal> {
    if let (Some(a), Some(b)) = (uid(one), uid(other))
        && a != b
    {
        return Err(MergeRefusal::TwoHandoffs);
    }
    if let Some(trivial) = trivial_merge(base, one, other) {
        return Ok(MergedText { text: trivial.to_owned(), conflicts: Vec::new() });
    }
    let anchors = merge_side_anchors(base, one, other);
    let plain = [base, Some(one), Some(other)].map(|side| side.and_then(anchor::without_anchors));
    let base = plain[0].as_ref().or(base);
    let (one, other) = (plain[1].as_ref().unwrap_or(one), plain[2].as_ref().unwrap_or(other));
    let swapped = side_order(other) < side_order(one);
    let (first, second) = if swapped { (other, one) } else { (one, other) };
    let tips = tips.map(|SideIds { one, other }| if swapped { (other, one) } else { (one, other) });
    let sides = MergeSides { base, first, second, markers: ConflictMarkers::new(first, second) };
    let MergedText { text, conflicts } = sides.merge(tips);
    Ok(MergedText {
        text: anchor::append_anchors(&text, &anchors, sides.markers.line_break),
        conflicts,
    })
}

/// Merges the anchors. They are not user text, so they never conflict.
fn merge_side_anchors(
    base: Option<&Document>,
    one: &Document,
    other: &Document,
) -> BTreeSet<anchor::Anchor> {
    let base = base.map(Anchors::from_document).unwrap_or_default();
    anchor::merge_anchors(&base, &Anchors::from_document(one), &Anchors::from_document(other))
}

/// Puts two different handoffs into one file between conflict markers, for the user to separate.
pub fn side_by_side(one: &Document, other: &Document) -> MergedText {
    let (first, second) =
        if side_order(other) < side_order(one) { (other, one) } else { (one, other) };
    let mut text = String::new();
    ConflictMarkers::new(first, second).write_conflict(&mut text, first.text(), second.text());
    MergedText { text, conflicts: vec!["two handoffs have the same id".to_owned()] }
}

/// Whether a text is the result of [`side_by_side`].
pub(crate) fn has_two_handoffs(document: &Document) -> bool {
    let text = document.text();
    let marker = |sign: &str| sign.repeat(MARKER_LENGTH);
    if !text.starts_with(&marker("<")) {
        return false;
    }
    let is_middle = |line: &str| line.trim_end() == marker("=");
    let lines: Vec<&str> = text.split_inclusive('\n').skip(1).collect();
    let Some(middle) = lines.iter().position(|line| is_middle(line)) else { return false };
    let [one, other] = [&lines[..middle], &lines[middle + 1..]]
        .map(|lines| Document::parse(lines.concat().as_bytes()));
    uid(&one).zip(uid(&other)).is_some_and(|(one, other)| one != other)
}

/// The result when only one side changed, or both are equal.
fn trivial_merge<'d>(
    base: Option<&Document>,
    one: &'d Document,
    other: &'d Document,
) -> Option<&'d str> {
    let unchanged = |side: &Document| base.is_some_and(|base| base.text() == side.text());
    if one.text() == other.text() || unchanged(other) {
        return Some(one.text());
    }
    unchanged(one).then_some(other.text())
}

/// The two sides in sorted order, and their common base.
struct MergeSides<'d> {
    base: Option<&'d Document>,
    first: &'d Document,
    second: &'d Document,
    markers: ConflictMarkers,
}

impl MergeSides<'_> {
    fn merge(&self, tips: Option<(&BlobHash, &BlobHash)>) -> MergedText {
        let merged = self.merge_by_meaning(tips).or_else(|| self.merge_by_lines());
        merged.unwrap_or_else(|| self.keep_both_headers())
    }

    /// Merges headers by meaning; `None` if a header is missing or cannot be edited.
    fn merge_by_meaning(&self, tips: Option<(&BlobHash, &BlobHash)>) -> Option<MergedText> {
        let mut merged = header::merge(self)?;
        if let Some(tips) = tips {
            merged = history::record_merge(merged, self, tips);
        }
        let header::MergedHeader { document, conflicts } = merged;
        let mut names = Vec::new();
        let text = header::with_markers(&document, &conflicts, self, &mut names)?;
        let body = body::merge(self.bodies(), &self.markers, &mut names);
        Some(MergedText { text: self.append_body(text, &body), conflicts: names })
    }

    /// Merges line by line, like any text; `None` if that would break a header that is intact on
    /// both sides.
    fn merge_by_lines(&self) -> Option<MergedText> {
        let base = self.base.map_or("", Document::text);
        let mut conflicts = Vec::new();
        let sides = (base, self.first.text(), self.second.text());
        let body::BodyMerge { text, resolved: decided } =
            body::merge_lines(sides, &self.markers, &mut conflicts);
        let sound = |text: &String| is_sound(&Document::parse(text.as_bytes()));
        let whole = is_sound(self.first) && is_sound(self.second);
        (!whole || decided.iter().all(sound)).then_some(MergedText { text, conflicts })
    }

    /// Keeps both headers in full, between markers.
    fn keep_both_headers(&self) -> MergedText {
        let inner = |document: &Document| {
            let header = document.handoff_header().map(|header| header.at);
            header.unwrap_or(Span::empty(document.body().start))
        };
        let (first, second) = (inner(self.first), inner(self.second));
        let mut text = self.first.text()[..first.start].to_owned();
        let (one, other) = (first.slice(self.first.text()), second.slice(self.second.text()));
        self.markers.write_conflict(&mut text, one, other);
        text.push_str(&self.first.text()[first.end..self.first.body().start]);
        let mut conflicts = vec!["handoff".to_owned()];
        let body = body::merge(self.bodies(), &self.markers, &mut conflicts);
        MergedText { text: self.append_body(text, &body), conflicts }
    }

    fn append_body(&self, mut text: String, body: &str) -> String {
        if !body.is_empty() {
            self.markers.end_line(&mut text);
        }
        text + body
    }

    fn bodies(&self) -> (Option<&Document>, &Document, &Document) {
        (self.base, self.first, self.second)
    }
}

/// Whether the header parses completely.
fn is_sound(document: &Document) -> bool {
    let unsound = [Code::Syntax, Code::DuplicateKey, Code::ConflictMarker, Code::HeaderNotClosed];
    document.handoff_header().is_some()
        && document.findings().iter().all(|finding| !unsound.contains(&finding.code))
}

fn uid(document: &Document) -> Option<Uid> {
    Uid::parse(document.handoff_header()?.text("uid")?.value)
}

/// Sorts the earlier side first, by its last history entry, then by its text.
fn side_order(document: &Document) -> (Option<Timestamp>, &str) {
    let at = last_revision(document).and_then(|entry| entry.get("at"));
    let at = at.and_then(YamlNode::text).and_then(|at| Time::parse(at.value));
    (at.map(|time| time.moment), document.text())
}

/// The author and time of a side's last change, as far as its history has them.
fn side_label(document: &Document) -> Option<String> {
    let last = last_revision(document);
    let field = |key: &str| {
        let text = last.and_then(|entry| entry.get(key)).and_then(YamlNode::text);
        text.map(|Spanned { value, .. }| value.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let parts: Vec<String> = [field("by"), field("at")].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn last_revision(document: &Document) -> Option<&YamlNode> {
    document.handoff_header().map(Header::fields)?.get("revisions")?.items().pop()
}

/// The labels of the two sides after their markers, and the line break to use.
#[derive(Clone, Debug)]
struct ConflictMarkers {
    first: String,
    second: String,
    line_break: &'static str,
}

impl ConflictMarkers {
    fn new(first: &Document, second: &Document) -> Self {
        let lines = if first.text().contains('\n') { first } else { second };
        let line_break = lines.line_break();
        let (one, other) = (side_label(first), side_label(second));
        let is_same = one == other;
        // If the labels are equal, number the sides.
        let label = |name: Option<String>, which: &str| match name {
            Some(name) if is_same => format!("{name}, {which}"),
            Some(name) => name,
            None => which.to_owned(),
        };
        let (first, second) = (label(one, "one side"), label(other, "the other side"));
        Self { first, second, line_break }
    }

    /// Writes two texts between conflict markers.
    fn write_conflict(&self, out: &mut String, first: &str, second: &str) {
        let line = |sign: &str| sign.repeat(MARKER_LENGTH);
        let Self { first: one, second: other, line_break } = self;
        self.end_line(out);
        let _ = write!(out, "{} {one}{line_break}{first}", line("<"));
        self.end_line(out);
        let _ = write!(out, "{}{line_break}{second}", line("="));
        self.end_line(out);
        let _ = write!(out, "{} {other}{line_break}", line(">"));
    }

    fn end_line(&self, text: &mut String) {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push_str(self.line_break);
        }
    }
}

#[cfg(test)]
mod tests;
