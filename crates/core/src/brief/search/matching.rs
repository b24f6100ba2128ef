//! Whether a document has what is looked for, and how weighty the place is.

use super::query::Query;
use super::{SearchText, Zone};
use crate::text::span::Span;
use crate::text::words::{FoldedWord, SearchTerm};

/// How a hit ranks, the best first; hits of one tier are ranked by their age.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Everything is in its name.
    Name,
    /// Some of it is in its name.
    PartlyName,
    /// Everything is in its header.
    Header,
    /// The rest.
    Anywhere,
}

impl Tier {
    /// All of them, the best first.
    pub const ALL: [Self; 4] = [Self::Name, Self::PartlyName, Self::Header, Self::Anywhere];
}

/// How a document ranks for a query; `None` where it lacks a term.
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

/// The weightiest zone that has a term.
pub fn term_zone(term: &SearchTerm, parts: &[SearchText]) -> Option<Zone> {
    let has = |part: &&SearchText| !find_term(term, &part.words).is_empty();
    parts.iter().filter(has).map(|part| part.zone).min()
}

/// Where a term stands among words.
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
