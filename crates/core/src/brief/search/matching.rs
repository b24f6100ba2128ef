//! Matches query terms against documents and ranks a document by where they occur.

use super::query::Query;
use super::{SearchText, Zone};
use crate::text::span::Span;
use crate::text::words::{FoldedWord, SearchTerm};

/// How a match ranks, best first. Matches of the same tier are ranked by age.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// All terms are in the name.
    Name,
    /// Some terms are in the name.
    PartlyName,
    /// All terms are in the header.
    Header,
    /// Any other match.
    Anywhere,
}

impl Tier {
    /// All tiers, best first.
    pub const ALL: [Self; 4] = [Self::Name, Self::PartlyName, Self::Header, Self::Anywhere];
}

/// The tier of a document for a query, or `None` if a term is missing.
pub fn tier(query: &Query, parts: &[SearchText]) -> Option<Tier> {
    let zones: Option<Vec<Zone>> =
        query.terms().iter().map(|term| term_zone(term, parts)).collect();
    let zones = zones?;
    let named = zones.iter().filter(|zone| **zone == Zone::Name).count();
    Some(if named == zones.len() {
        Tier::Name
    } else if named > 0 {
        Tier::PartlyName
    } else if zones.iter().all(|zone| *zone == Zone::Header) {
        Tier::Header
    } else {
        Tier::Anywhere
    })
}

/// The highest-weighted zone that contains a term.
pub fn term_zone(term: &SearchTerm, parts: &[SearchText]) -> Option<Zone> {
    let has = |part: &&SearchText| !find_term(term, &part.words).is_empty();
    parts.iter().filter(has).map(|part| part.zone).min()
}

/// Every occurrence of a term in the words.
pub(super) fn find_term(term: &SearchTerm, words: &[FoldedWord]) -> Vec<Span> {
    let Some((last, first)) = term.words.split_last() else {
        return Vec::new();
    };
    let fits = |window: &&[FoldedWord]| {
        let (end, start) = window.split_last().expect("a window has as many words as the term");
        let ends = if term.prefix { end.text.starts_with(last) } else { end.text == *last };
        ends && start.iter().zip(first).all(|(word, wanted)| word.text == *wanted)
    };
    let span =
        |window: &[FoldedWord]| Span::new(window[0].at.start, window[window.len() - 1].at.end);
    words.windows(term.words.len()).filter(fits).map(span).collect()
}
