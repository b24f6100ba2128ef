//! The answers of the index without an index: every document is read.

use super::search::{TermHits, sort};
use super::{Card, Filter, Hit};
use crate::clock::Deadline;
use crate::files::FileError;
use crate::project::{Project, Shelved, Spot, on_all_cores};
use midstride_core::search::{Query, Term, parts, term_zone, tier};

/// All hits in order, and what could not be read.
pub fn scan(project: &Project, query: &Query, filter: &Filter) -> (Vec<Hit>, Vec<FileError>) {
    let read = project.with_all(|shelved| hit(project, query, filter, &shelved));
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

/// A document as a hit, if it is one.
pub(crate) fn hit(
    project: &Project,
    query: &Query,
    filter: &Filter,
    shelved: &Shelved,
) -> Option<Hit> {
    let card = Card::of(project, shelved);
    if !filter.fits(&card, || shelved.path.clone()) {
        return None;
    }
    let tier = tier(query, &parts(&shelved.handoff(project)))?;
    Some(Hit { spot: shelved.spot(), tier, card })
}

/// Which documents have each term, unless more than are common; how many documents there are, and
/// whether all were read in time.
pub fn scan_terms(
    project: &Project,
    terms: &[&Term],
    many: impl Fn(usize) -> usize,
    deadline: Deadline,
) -> (Vec<TermHits>, usize, bool) {
    let spots: Vec<Spot> = project.spots().into_iter().filter_map(Result::ok).collect();
    let read = on_all_cores(&spots, |spot| {
        if deadline.is_over() {
            return None;
        }
        let shelved = project.read(spot).ok()?;
        let parts = parts(&shelved.handoff(project));
        let zones: Vec<_> = terms.iter().map(|term| term_zone(term, &parts)).collect();
        Some((spot.clone(), Card::of(project, &shelved), zones))
    });
    let read: Vec<_> = read.into_iter().flatten().collect();
    let many = many(read.len());
    let mut all = vec![TermHits::default(); terms.len()];
    for (spot, card, zones) in &read {
        for (hits, zone) in all.iter_mut().zip(zones) {
            let Some(zone) = zone else { continue };
            hits.documents += 1;
            hits.places.insert(spot.clone(), (card.clone(), *zone));
        }
    }
    for hits in all.iter_mut().filter(|hits| hits.documents > many) {
        *hits = TermHits { documents: many + 1, ..TermHits::default() };
    }
    (all, read.len(), !deadline.is_over())
}
