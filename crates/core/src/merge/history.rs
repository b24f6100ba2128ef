//! What a merge leaves in the history: which text each last entry had made, and that both met.

use super::header::Joined;
use super::{Sides, last_revision};
use crate::document::Document;
use crate::edit::{Edit, Path};
use crate::header::{HANDOFF, Verb};
use crate::shape::identity;
use crate::time::{self, Time};
use crate::yaml::{Data, Node};

/// The reason of the entry that a merge writes. It replaces two texts, so it has no `was`.
const MERGED: &str = "merged";

/// The joined header with its history told, as far as it can be written.
pub(super) fn told(joined: Joined, sides: &Sides<'_>, (first, second): (&str, &str)) -> Joined {
    let mut edits = Vec::new();
    for (side, tip) in [(sides.first, first), (sides.second, second)] {
        edits.extend(made(&joined.document, side, tip));
    }
    let time = |side| last_revision(side)?.get("at")?.text().and_then(|at| Time::read(at.value));
    let times = [time(sides.first), time(sides.second)].into_iter().flatten();
    // Not the time of the merge: two who merge the same texts get the same result.
    let at = times.max_by_key(|time| time.moment);
    let at = at.map(|time| ("at", Data::Bare(time::write(time.moment))));
    let entry = Data::map(at.into_iter().chain([
        ("verb", Data::text(Verb::Merge.word())),
        ("reason", Data::text(MERGED)),
        ("joins", Data::texts([first, second])),
    ]));
    edits.push(Edit::Append(Path::field("revisions"), entry));
    match joined.document.edit(&edits) {
        Ok((document, _)) => Joined { document, conflicts: joined.conflicts },
        Err(_) => joined,
    }
}

/// The edit that lets a side's last entry say which text it made, where nothing else says it.
fn made<'d>(joined: &'d Document, side: &'d Document, tip: &str) -> Option<Edit> {
    let kind = HANDOFF.field("revisions").map(|field| &field.kind);
    let same = |a: &Node, b: &Node| identity(kind, &a.data()) == identity(kind, &b.data());
    let last = last_revision(side)?;
    let list = |document: &'d Document| {
        let revisions = document.handoff_header()?.fields().get("revisions")?;
        Some(revisions.items())
    };
    // Of several that read the same, the one that is as far down here as there.
    let (ours, entries) = (list(side)?, list(joined)?);
    let count = ours.iter().filter(|entry| same(entry, last)).count();
    let alike = entries.iter().enumerate().filter(|(_, entry)| same(entry, last));
    let index = alike.map(|(index, _)| index).nth(count.checked_sub(1)?)?;
    let following = entries.get(index + 1).and_then(|entry| entry.get("was")?.text());
    let told = entries[index].get("made").is_some() || following.is_some_and(|t| t.value == tip);
    let path = Path::field("revisions").item(index).key("made");
    (!told).then(|| Edit::Set(path, Data::text(tip)))
}
