//! What a merge leaves in the history: which text each last entry had made, and that both met.

use super::header::MergedHeader;
use super::{MergeSides, last_revision};
use crate::format::document::Document;
use crate::format::header::{HANDOFF, Header, RevisionVerb};
use crate::format::shape::{FieldKind, item_identity};
use crate::text::edit::{Edit, HeaderPath};
use crate::text::time::{self, Time};
use crate::text::yaml::{YamlData, YamlNode};

/// The reason of the entry that a merge writes. It replaces two texts, so it has no `was`.
const MERGE_REASON: &str = "merged";

/// The joined header with its history told, as far as it can be written.
pub(super) fn record_merge(
    joined: MergedHeader,
    sides: &MergeSides<'_>,
    (first, second): (&str, &str),
) -> MergedHeader {
    let mut edits = Vec::new();
    for (side, tip) in [(sides.first, first), (sides.second, second)] {
        edits.extend(record_made_text(&joined.document, side, tip));
    }
    edits.extend(renumber_reviews(&joined.document, sides));
    let time = |side| last_revision(side)?.get("at")?.text().and_then(|at| Time::parse(at.value));
    let times = [time(sides.first), time(sides.second)].into_iter().flatten();
    // Not the time of the merge: two who merge the same texts get the same result.
    let at = times.max_by_key(|time| time.moment);
    let at = at.map(|time| ("at", YamlData::Bare(time::format_time(time.moment))));
    let entry = YamlData::map(at.into_iter().chain([
        ("verb", YamlData::text(RevisionVerb::Merge.word())),
        ("reason", YamlData::text(MERGE_REASON)),
        ("joins", YamlData::texts([first, second])),
    ]));
    edits.push(Edit::Append(HeaderPath::field("revisions"), entry));
    match joined.document.edit(&edits) {
        Ok((document, _)) => MergedHeader { document, conflicts: joined.conflicts },
        Err(_) => joined,
    }
}

/// The edit that lets a side's last entry say which text it made, where nothing else says it.
fn record_made_text(joined: &Document, side: &Document, tip: &str) -> Option<Edit> {
    let last = header_entries(side, "revisions").len().checked_sub(1)?;
    let index = index_in_merged(joined, side, last)?;
    let there = header_entries(joined, "revisions");
    let following = there.get(index + 1).and_then(|entry| entry.get("was")?.text());
    let told = there[index].get("made").is_some() || following.is_some_and(|t| t.value == tip);
    let path = HeaderPath::field("revisions").item(index).key("made");
    (!told).then(|| Edit::Set(path, YamlData::text(tip)))
}

/// The edits that let the reviews of the second side name the texts by the numbers they have now.
fn renumber_reviews(joined: &Document, sides: &MergeSides<'_>) -> Vec<Edit> {
    let kind = kind_of("reviews");
    let name = |node: &&YamlNode| item_identity(kind, &node.data());
    let of_first: Vec<String> = header_entries(sides.first, "reviews").iter().map(name).collect();
    let of_second: Vec<String> = header_entries(sides.second, "reviews").iter().map(name).collect();
    let renumber = |(index, review): (usize, &YamlNode)| {
        let name = name(&review);
        let brought = of_second.contains(&name) && !of_first.contains(&name);
        let number: usize = review.get("revision")?.text()?.value.trim().parse().ok()?;
        // Entry `n` made text `n + 1`; the first text is the first on both sides.
        let made_by = number.checked_sub(2).filter(|_| brought)?;
        let now = index_in_merged(joined, sides.second, made_by)? + 2;
        let path = HeaderPath::field("reviews").item(index).key("revision");
        (now != number).then(|| Edit::Set(path, YamlData::Bare(now.to_string())))
    };
    header_entries(joined, "reviews").into_iter().enumerate().filter_map(renumber).collect()
}

/// Where an entry of a side's history stands in the joined one. Of several that read the same it is
/// the one that is as far down here as there.
fn index_in_merged(joined: &Document, side: &Document, index: usize) -> Option<usize> {
    let kind = kind_of("revisions");
    let name = |node: &YamlNode| item_identity(kind, &node.data());
    let own = header_entries(side, "revisions");
    let wanted = name(own.get(index)?);
    let before = own[..index].iter().filter(|entry| name(entry) == wanted).count();
    let there = header_entries(joined, "revisions");
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
