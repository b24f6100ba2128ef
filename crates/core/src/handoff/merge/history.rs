//! Records a merge in the history: which text each side's last entry made, and the merge itself.

use super::header::MergedHeader;
use super::{MergeSides, last_revision};
use crate::format::document::Document;
use crate::format::header::{HANDOFF, Header, RevisionVerb};
use crate::format::shape::{FieldKind, item_identity};
use crate::text::edit::{Edit, HeaderPath};
use crate::text::id::BlobHash;
use crate::text::time::{self, Time};
use crate::text::yaml::{YamlData, YamlNode};

/// The reason of a merge entry. It replaces two texts, so the entry has no `was`.
const MERGE_REASON: &str = "merged";

/// Adds the history entry to a merged header, if the header can be edited.
pub(super) fn record_merge(
    merged: MergedHeader,
    sides: &MergeSides<'_>,
    (first, second): (&BlobHash, &BlobHash),
) -> MergedHeader {
    let mut edits = Vec::new();
    for (side, tip) in [(sides.first, first), (sides.second, second)] {
        edits.extend(record_made_text(&merged.document, side, tip));
    }
    edits.extend(renumber_reviews(&merged.document, sides));
    let time = |side| last_revision(side)?.get("at")?.text().and_then(|at| Time::parse(at.value));
    let times = [time(sides.first), time(sides.second)].into_iter().flatten();
    // Not the current time: everyone who merges the same two texts gets the same result.
    let at = times.max_by_key(|time| time.moment);
    let at = at.map(|time| ("at", YamlData::Bare(time::format_time(time.moment))));
    let entry = YamlData::map(at.into_iter().chain([
        ("verb", YamlData::text(RevisionVerb::Merge.word())),
        ("reason", YamlData::text(MERGE_REASON)),
        ("joins", YamlData::texts([first.as_str(), second.as_str()])),
    ]));
    edits.push(Edit::Append(HeaderPath::field("revisions"), entry));
    match merged.document.edit(&edits) {
        Ok((document, _)) => MergedHeader { document, conflicts: merged.conflicts },
        Err(_) => merged,
    }
}

/// The edit that records which text a side's last entry made, if the history does not say so yet.
fn record_made_text(merged: &Document, side: &Document, tip: &BlobHash) -> Option<Edit> {
    let last = header_entries(side, "revisions").len().checked_sub(1)?;
    let index = index_in_merged(merged, side, last)?;
    let there = header_entries(merged, "revisions");
    let following = there.get(index + 1).and_then(|entry| entry.get("was")?.text());
    let is_recorded =
        there[index].get("made").is_some() || following.is_some_and(|t| t.value == tip.as_str());
    let path = HeaderPath::field("revisions").item(index).key("made");
    (!is_recorded).then(|| Edit::Set(path, YamlData::text(tip.as_str())))
}

/// The edits that update revision numbers in the second side's reviews.
fn renumber_reviews(merged: &Document, sides: &MergeSides<'_>) -> Vec<Edit> {
    let kind = kind_of("reviews");
    let name = |node: &&YamlNode| item_identity(kind, &node.data());
    let of_first: Vec<String> = header_entries(sides.first, "reviews").iter().map(name).collect();
    let of_second: Vec<String> = header_entries(sides.second, "reviews").iter().map(name).collect();
    let renumber = |(index, review): (usize, &YamlNode)| {
        let name = name(&review);
        let is_from_second = of_second.contains(&name) && !of_first.contains(&name);
        let number: usize = review.get("revision")?.text()?.value.trim().parse().ok()?;
        // Entry `n` made text `n + 1`. The first text is the same on both sides.
        let made_by = number.checked_sub(2).filter(|_| is_from_second)?;
        let now = index_in_merged(merged, sides.second, made_by)? + 2;
        let path = HeaderPath::field("reviews").item(index).key("revision");
        (now != number).then(|| Edit::Set(path, YamlData::Bare(now.to_string())))
    };
    header_entries(merged, "reviews").into_iter().enumerate().filter_map(renumber).collect()
}

/// The index of a side's history entry in the merged history. Among equal entries, it is the one
/// with the same rank.
fn index_in_merged(merged: &Document, side: &Document, index: usize) -> Option<usize> {
    let kind = kind_of("revisions");
    let name = |node: &YamlNode| item_identity(kind, &node.data());
    let own = header_entries(side, "revisions");
    let wanted = name(own.get(index)?);
    let before = own[..index].iter().filter(|entry| name(entry) == wanted).count();
    let there = header_entries(merged, "revisions");
    let alike = there.iter().enumerate().filter(|(_, entry)| name(entry) == wanted);
    alike.map(|(index, _)| index).nth(before)
}

fn header_entries<'d>(document: &'d Document, field: &str) -> Vec<&'d YamlNode> {
    let fields = document.handoff_header().map(Header::fields);
    fields.and_then(|fields| fields.get(field)).map(YamlNode::items).unwrap_or_default()
}

fn kind_of(field: &str) -> Option<&'static FieldKind> {
    HANDOFF.field(field).map(|field| &field.kind)
}
