//! The answers of the index without an index: every document is read.

use super::limit::{IndexProgress, RefreshLimit};
use super::search::{TermHits, sort_hits};
use super::{DocumentHit, Filter, IndexCard, newest, seed};
use crate::sys::clock::{Deadline, Stopwatch};
use crate::sys::files::FileError;
use crate::workspace::project::{DocumentPlace, Project, StoredHandoff, map_on_all_cores};
use midstride_core::brief::search::{Query, SearchText, handoff_texts, term_zone, tier};
use midstride_core::text::words::SearchTerm;
use std::time::Duration;

/// All hits in order, and what could not be read.
pub fn scan(
    project: &Project,
    query: &Query,
    filter: &Filter,
) -> (Vec<DocumentHit>, Vec<FileError>) {
    let read = project.map_all(|shelved| {
        let parts = handoff_texts(&shelved.handoff(project));
        match_document(project, query, filter, &shelved, &parts)
    });
    let mut hits = Vec::new();
    let mut unread = Vec::new();
    for result in read {
        match result {
            Ok(hit) => hits.extend(hit),
            Err(error) => unread.push(error),
        }
    }
    sort_hits(project, &mut hits);
    (hits, unread)
}

/// A document with its texts as a hit, if it is one.
pub(crate) fn match_document(
    project: &Project,
    query: &Query,
    filter: &Filter,
    shelved: &StoredHandoff,
    parts: &[SearchText],
) -> Option<DocumentHit> {
    let card = IndexCard::from_document(project, shelved);
    let fits = filter.matches(&card, || shelved.path.clone());
    let tier = tier(query, parts).filter(|_| fits)?;
    Some(DocumentHit { spot: shelved.document_place(), tier, card })
}

/// The open handoffs.
#[derive(Debug, Default)]
pub(crate) struct OpenHandoffs {
    /// Where each lies, and its card.
    pub(crate) cards: Vec<(DocumentPlace, IndexCard)>,
    /// What could not be read.
    pub(crate) unread: Vec<FileError>,
    /// How many documents were read, if not all of them.
    pub(crate) indexing: Option<IndexProgress>,
}

/// The open handoffs among all documents, or as far as the limit reaches: among those that are open in
/// another worktree, and the newest.
pub(crate) fn scan_open(project: &Project, limit: RefreshLimit) -> OpenHandoffs {
    let (mut spots, unread) = newest::newest_first(project);
    if limit.is_set() {
        let open = seed::open_in_other_worktrees(project);
        spots.sort_by_key(|spot| !open.contains(spot));
    }
    let mut open = OpenHandoffs { unread, ..OpenHandoffs::default() };
    let (mut done, mut took) = (0, Duration::ZERO);
    while done < spots.len() {
        let piece = &spots[done..spots.len().min(done + limit.next_batch(done, took))];
        if piece.is_empty() {
            break;
        }
        let watch = Stopwatch::start();
        let card = |spot: &DocumentPlace| {
            project.read(spot).map(|shelved| IndexCard::from_document(project, &shelved))
        };
        for (spot, card) in piece.iter().zip(map_on_all_cores(piece, card)) {
            match card {
                Ok(card) if card.routing.is_some() => open.cards.push((spot.clone(), card)),
                Ok(_) => {}
                Err(error) => open.unread.push(error),
            }
        }
        (done, took) = (done + piece.len(), watch.elapsed());
    }
    open.indexing = IndexProgress::new(spots.len(), spots.len() - done);
    open
}

/// The same for terms, one by one, as far as there is time.
#[derive(Debug)]
pub struct TermScan {
    /// Which documents have each term, unless more than are common; a document is known by its
    /// place in `cards`.
    pub hits: Vec<TermHits>,
    /// The documents that were read.
    pub cards: Vec<(DocumentPlace, IndexCard)>,
    /// Whether all were.
    pub is_complete: bool,
}

/// Which documents have each term, unless more than `many` of them do.
pub fn scan_terms(
    project: &Project,
    terms: &[&SearchTerm],
    many: impl Fn(usize) -> usize,
    deadline: Deadline,
) -> TermScan {
    let spots: Vec<DocumentPlace> =
        project.document_places().into_iter().filter_map(Result::ok).collect();
    let read = map_on_all_cores(&spots, |spot| {
        if deadline.has_passed() {
            return None;
        }
        let shelved = project.read(spot).ok()?;
        let parts = handoff_texts(&shelved.handoff(project));
        let zones: Vec<_> = terms.iter().map(|term| term_zone(term, &parts)).collect();
        Some((spot.clone(), IndexCard::from_document(project, &shelved), zones))
    });
    let whole = !deadline.has_passed();
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
    TermScan { hits, cards, is_complete: whole }
}
