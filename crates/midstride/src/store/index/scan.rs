//! Search without an index: reads every document and gives the same results.

use super::briefable::retain_briefable;
use super::limit::{IndexProgress, RefreshLimit};
use super::search::{TermHits, sort_hits};
use super::{DocumentHit, Filter, IndexCard, newest, seed};
use crate::sys::clock::{Deadline, Stopwatch};
use crate::sys::files::FileError;
use crate::workspace::{DocumentPlace, StoredHandoff, Workspace, map_on_all_cores};
use midstride_core::brief::search::{Query, SearchText, handoff_texts, term_zone, tier};
use midstride_core::text::words::SearchTerm;
use std::time::Duration;

/// All hits, sorted, and the errors of unreadable documents.
pub fn scan(
    workspace: &Workspace,
    query: &Query,
    filter: &Filter,
) -> (Vec<DocumentHit>, Vec<FileError>) {
    let read = workspace.map_all(|stored| {
        let parts = handoff_texts(&stored.handoff(workspace));
        match_document(workspace, query, filter, &stored, &parts)
    });
    let mut hits = Vec::new();
    let mut unread = Vec::new();
    for result in read {
        match result {
            Ok(hit) => hits.extend(hit),
            Err(error) => unread.push(error),
        }
    }
    sort_hits(workspace, &mut hits);
    (hits, unread)
}

/// Returns the hit of a document, if it matches.
pub(crate) fn match_document(
    workspace: &Workspace,
    query: &Query,
    filter: &Filter,
    stored: &StoredHandoff,
    parts: &[SearchText],
) -> Option<DocumentHit> {
    let card = IndexCard::from_document(workspace, stored);
    let fits = filter.matches(&card, || stored.path.clone());
    let tier = tier(query, parts).filter(|_| fits)?;
    Some(DocumentHit { spot: stored.document_place(), tier, card })
}

/// The open handoffs.
#[derive(Debug, Default)]
pub(crate) struct OpenHandoffs {
    /// Their places and cards.
    pub(crate) cards: Vec<(DocumentPlace, IndexCard)>,
    /// The errors of unreadable documents.
    pub(crate) unread: Vec<FileError>,
    /// Progress, if not all documents were read.
    pub(crate) indexing: Option<IndexProgress>,
}

/// The open handoffs among all documents, without notes that sessions are not briefed from. If there is a limit, documents that are open in another
/// worktree are read first, then the newest.
pub(crate) fn scan_open(workspace: &Workspace, limit: RefreshLimit) -> OpenHandoffs {
    let (mut spots, unread) = newest::newest_first(workspace);
    if limit.is_set() {
        let open = seed::open_in_other_worktrees(workspace);
        spots.sort_by_key(|spot| !open.contains(spot));
    }
    let mut open = OpenHandoffs { unread, ..OpenHandoffs::default() };
    let mut made = Vec::new();
    let (mut done, mut took) = (0, Duration::ZERO);
    while done < spots.len() {
        let piece = &spots[done..spots.len().min(done + limit.next_batch(done, took))];
        if piece.is_empty() {
            break;
        }
        let watch = Stopwatch::start();
        let card = |spot: &DocumentPlace| {
            workspace.read(spot).map(|stored| IndexCard::from_document(workspace, &stored))
        };
        for (spot, card) in piece.iter().zip(map_on_all_cores(piece, card)) {
            let made_from = card.as_ref().map(|card| card.made_from.clone()).unwrap_or_default();
            if !made_from.is_empty() {
                made.push((spot.clone(), made_from));
            }
            match card {
                Ok(card) if card.routing.is_some() => open.cards.push((spot.clone(), card)),
                Ok(_) => {}
                Err(error) => open.unread.push(error),
            }
        }
        (done, took) = (done + piece.len(), watch.elapsed());
    }
    open.indexing = IndexProgress::new(spots.len(), spots.len() - done);
    retain_briefable(workspace, &mut open.cards, &made);
    open
}

/// The documents that have each of several terms, found by reading documents until the deadline.
#[derive(Debug)]
pub(crate) struct TermScan {
    /// The documents that have each term, unless too many do. A document is identified by its index
    /// in `cards`.
    pub hits: Vec<TermHits>,
    /// The documents that were read.
    pub cards: Vec<(DocumentPlace, IndexCard)>,
    /// Whether all documents were read.
    pub is_complete: bool,
}

/// Finds the documents that have each term, unless more than `many` of them do.
pub(crate) fn scan_terms(
    workspace: &Workspace,
    terms: &[&SearchTerm],
    many: impl Fn(usize) -> usize,
    deadline: Deadline,
) -> TermScan {
    let spots: Vec<DocumentPlace> =
        workspace.document_places().into_iter().filter_map(Result::ok).collect();
    let read = map_on_all_cores(&spots, |spot| {
        if deadline.has_passed() {
            return None;
        }
        let stored = workspace.read(spot).ok()?;
        let parts = handoff_texts(&stored.handoff(workspace));
        let zones: Vec<_> = terms.iter().map(|term| term_zone(term, &parts)).collect();
        Some((spot.clone(), IndexCard::from_document(workspace, &stored), zones))
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
