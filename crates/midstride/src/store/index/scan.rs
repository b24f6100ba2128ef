//! The answers of the index without an index: every document is read.

use super::limit::{Indexing, Limit};
use super::search::{TermHits, sort};
use super::{Card, Filter, Hit, newest, seed};
use crate::sys::clock::{Deadline, Stopwatch};
use crate::sys::files::FileError;
use crate::workspace::project::{Project, Shelved, Spot, on_all_cores};
use midstride_core::brief::search::{Query, SearchText, handoff_texts, term_zone, tier};
use midstride_core::text::words::SearchTerm;
use std::time::Duration;

/// All hits in order, and what could not be read.
pub fn scan(project: &Project, query: &Query, filter: &Filter) -> (Vec<Hit>, Vec<FileError>) {
    let read = project.with_all(|shelved| {
        let parts = handoff_texts(&shelved.handoff(project));
        hit(project, query, filter, &shelved, &parts)
    });
    let mut hits = Vec::new();
    let mut unread = Vec::new();
    for result in read {
        match result {
            Ok(hit) => hits.extend(hit),
            Err(error) => unread.push(error),
        }
    }
    sort(project, &mut hits);
    (hits, unread)
}

/// A document with its texts as a hit, if it is one.
pub(crate) fn hit(
    project: &Project,
    query: &Query,
    filter: &Filter,
    shelved: &Shelved,
    parts: &[SearchText],
) -> Option<Hit> {
    let card = Card::of(project, shelved);
    let fits = filter.fits(&card, || shelved.path.clone());
    let tier = tier(query, parts).filter(|_| fits)?;
    Some(Hit { spot: shelved.spot(), tier, card })
}

/// The open handoffs.
#[derive(Debug, Default)]
pub(crate) struct OpenOnes {
    /// Where each lies, and its card.
    pub(crate) cards: Vec<(Spot, Card)>,
    /// What could not be read.
    pub(crate) unread: Vec<FileError>,
    /// How many documents were read, if not all of them.
    pub(crate) indexing: Option<Indexing>,
}

/// The open handoffs among all documents, or as far as the limit reaches: among those that are open in
/// another worktree, and the newest.
pub(crate) fn scan_open(project: &Project, limit: Limit) -> OpenOnes {
    let (mut spots, unread) = newest::newest_first(project);
    if limit.is_set() {
        let open = seed::open_elsewhere(project);
        spots.sort_by_key(|spot| !open.contains(spot));
    }
    let mut open = OpenOnes { unread, ..OpenOnes::default() };
    let (mut done, mut took) = (0, Duration::ZERO);
    while done < spots.len() {
        let piece = &spots[done..spots.len().min(done + limit.next_piece(done, took))];
        if piece.is_empty() {
            break;
        }
        let watch = Stopwatch::start();
        let card = |spot: &Spot| project.read(spot).map(|shelved| Card::of(project, &shelved));
        for (spot, card) in piece.iter().zip(on_all_cores(piece, card)) {
            match card {
                Ok(card) if card.waits.is_some() => open.cards.push((spot.clone(), card)),
                Ok(_) => {}
                Err(error) => open.unread.push(error),
            }
        }
        (done, took) = (done + piece.len(), watch.elapsed());
    }
    open.indexing = Indexing::of(spots.len(), spots.len() - done);
    open
}

/// The same for terms, one by one, as far as there is time.
#[derive(Debug)]
pub struct Scanned {
    /// Which documents have each term, unless more than are common; a document is known by its
    /// place in `cards`.
    pub hits: Vec<TermHits>,
    /// The documents that were read.
    pub cards: Vec<(Spot, Card)>,
    /// Whether all were.
    pub whole: bool,
}

/// Which documents have each term, unless more than `many` of them do.
pub fn scan_terms(
    project: &Project,
    terms: &[&SearchTerm],
    many: impl Fn(usize) -> usize,
    deadline: Deadline,
) -> Scanned {
    let spots: Vec<Spot> = project.spots().into_iter().filter_map(Result::ok).collect();
    let read = on_all_cores(&spots, |spot| {
        if deadline.is_over() {
            return None;
        }
        let shelved = project.read(spot).ok()?;
        let parts = handoff_texts(&shelved.handoff(project));
        let zones: Vec<_> = terms.iter().map(|term| term_zone(term, &parts)).collect();
        Some((spot.clone(), Card::of(project, &shelved), zones))
    });
    let whole = !deadline.is_over();
    let mut hits = vec![TermHits::default(); terms.len()];
    let mut cards = Vec::new();
    for (number, (spot, card, zones)) in (0..).zip(read.into_iter().flatten()) {
        cards.push((spot, card));
        for (hits, zone) in hits.iter_mut().zip(zones) {
            hits.zones.extend(zone.map(|zone| (number, zone)));
        }
    }
    let many = many(cards.len());
    for hits in &mut hits {
        hits.documents = hits.zones.len().min(many + 1);
        if hits.documents > many {
            hits.zones.clear();
        }
    }
    Scanned { hits, cards, whole }
}
