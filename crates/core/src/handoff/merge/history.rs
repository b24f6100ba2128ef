//! What a merge leaves in the history: which text each last entry had made, and that both met.

use super::header::Joined;
use super::{Sides, last_revision};
use crate::format::document::Document;
use crate::format::header::{HANDOFF, Header, Verb};
use crate::format::shape::{Kind, identity};
use crate::text::edit::{Edit, Path};
use crate::text::time::{self, Time};
use crate::text::yaml::{Data, Node};

/// The reason of the entry that a merge writes. It replaces two texts, so it has no `was`.
const MERGED: &str = "merged";

/// The joined header with its history told, as far as it can be written.
pub(super) fn told(joined: Joined, sides: &Sides<'_>, (first, second): (&str, &str)) -> Joined {
    let mut edits = Vec::new();
    for (side, tip) in [(sides.first, first), (sides.second, second)] {
        edits.extend(made(&joined.document, side, tip));
    }
    edits.extend(renumbered(&joined.document, sides));
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
fn made(joined: &Document, side: &Document, tip: &str) -> Option<Edit> {
    let last = entries(side, "revisions").len().checked_sub(1)?;
    let index = place_of(joined, side, last)?;
    let there = entries(joined, "revisions");
    let following = there.get(index + 1).and_then(|entry| entry.get("was")?.text());
    let told = there[index].get("made").is_some() || following.is_some_and(|t| t.value == tip);
    let path = Path::field("revisions").item(index).key("made");
    (!told).then(|| Edit::Set(path, Data::text(tip)))
}

/// The edits that let the reviews of the second side name the texts by the numbers they have now.
fn renumbered(joined: &Document, sides: &Sides<'_>) -> Vec<Edit> {
    let kind = kind_of("reviews");
    let name = |node: &&Node| identity(kind, &node.data());
    let of_first: Vec<String> = entries(sides.first, "reviews").iter().map(name).collect();
    let of_second: Vec<String> = entries(sides.second, "reviews").iter().map(name).collect();
    let renumber = |(index, review): (usize, &Node)| {
        let name = name(&review);
        let brought = of_second.contains(&name) && !of_first.contains(&name);
        let number: usize = review.get("revision")?.text()?.value.trim().parse().ok()?;
        // Entry `n` made text `n + 1`; the first text is the first on both sides.
        let made_by = number.checked_sub(2).filter(|_| brought)?;
        let now = place_of(joined, sides.second, made_by)? + 2;
        let path = Path::field("reviews").item(index).key("revision");
        (now != number).then(|| Edit::Set(path, Data::Bare(now.to_string())))
    };
    entries(joined, "reviews").into_iter().enumerate().filter_map(renumber).collect()
}

/// Where an entry of a side's history stands in the joined one. Of several that read the same it is
/// the one that is as far down here as there.
fn place_of(joined: &Document, side: &Document, index: usize) -> Option<usize> {
    let kind = kind_of("revisions");
    let name = |node: &Node| identity(kind, &node.data());
    let own = entries(side, "revisions");
    let wanted = name(own.get(index)?);
    let before = own[..index].iter().filter(|entry| name(entry) == wanted).count();
    let there = entries(joined, "revisions");
    let alike = there.iter().enumerate().filter(|(_, entry)| name(entry) == wanted);
    alike.map(|(index, _)| index).nth(before)
}

fn entries<'d>(document: &'d Document, field: &str) -> Vec<&'d Node> {
    let fields = document.handoff_header().map(Header::fields);
    fields.and_then(|fields| fields.get(field)).map(Node::items).unwrap_or_default()
}

fn kind_of(field: &str) -> Option<&'static Kind> {
    HANDOFF.field(field).map(|field| &field.kind)
}
