//! What must not be lost where a context is replaced by a summary, and what was.

use crate::checkpoint::{Gist, Item, Sort};
use crate::search::{is_telling, words};
use std::collections::{BTreeMap, BTreeSet};

/// What of a session a summary has to keep; none where there is nothing.
pub fn must_survive(gist: &Gist) -> Option<Gist> {
    only(gist, |_| true)
}

/// What of it none of these texts tells.
pub fn missing(gist: &Gist, texts: &[&str]) -> Option<Gist> {
    let told: Vec<Told> = texts.iter().map(|text| Told::of(text)).collect();
    only(gist, |item| !told.iter().any(|told| told.has(&item.text)))
}

/// The words of the user, and what is not done yet. What was changed is on the disk.
fn is_needed(sort: Sort) -> bool {
    match sort {
        Sort::Goal
        | Sort::Correction
        | Sort::Queued
        | Sort::Answer
        | Sort::Failed
        | Sort::Task
        | Sort::Agent
        | Sort::Plan => true,
        Sort::Request
        | Sort::Reverted
        | Sort::LastWords
        | Sort::Changed
        | Sort::Missing
        | Sort::Passed
        | Sort::TakenBack => false,
    }
}

fn only(gist: &Gist, is_wanted: impl Fn(&Item) -> bool) -> Option<Gist> {
    let items = gist.items.iter().filter(|item| is_needed(item.sort) && is_wanted(item));
    let items: Vec<Item> = items.cloned().collect();
    let left_out = BTreeMap::new();
    (!items.is_empty()).then(|| Gist { items, left_out, ..gist.clone() })
}

/// A text, ready to be asked what it tells.
struct Told {
    /// All of it, the words in a row.
    row: String,
    /// The words of each line and the one behind it.
    places: Vec<BTreeSet<String>>,
}

impl Told {
    fn of(text: &str) -> Self {
        let lines: Vec<BTreeSet<String>> = text.lines().map(words_of).collect();
        let behind = lines.iter().skip(1).chain([const { &BTreeSet::new() }]);
        let places = lines.iter().zip(behind).map(|(line, next)| line | next).collect();
        Self { row: row(text), places }
    }

    /// Whether it tells something: in its own words, or with most of those that tell it, in one place.
    fn has(&self, text: &str) -> bool {
        let own = row(text);
        if own.trim().is_empty() || self.row.contains(&own) {
            return true;
        }
        let telling: BTreeSet<String> =
            words_of(text).into_iter().filter(|word| is_telling(word)).collect();
        // Of a few words each may turn it around.
        let enough =
            if telling.len() > 3 { (telling.len() * 2).div_ceil(3) } else { telling.len() };
        let has = |place: &BTreeSet<String>| place.intersection(&telling).count() >= enough;
        enough > 0 && self.places.iter().any(has)
    }
}

fn words_of(text: &str) -> BTreeSet<String> {
    words(text).into_iter().map(|word| word.text).collect()
}

/// The words with a space on each side, so that none is found inside another.
fn row(text: &str) -> String {
    let words: Vec<String> = words(text).into_iter().map(|word| word.text).collect();
    format!(" {} ", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str, said: &str) -> bool {
        Told::of(text).has(said)
    }

    #[test]
    fn a_summary_tells_what_it_says_in_its_own_words() {
        let correction = "Do not touch the pages, only the cache.";
        assert!(told("The user said: do not touch the pages, only the cache!", correction));
        assert!(told("Constraint: touch only the cache,\nnever the pages.", correction));
        assert!(!told("We talked about the pages.\n\n\nThe cache is purged.", correction));
        assert!(!told("", correction));
        assert!(told("anything", "…"));
    }

    #[test]
    fn a_word_inside_another_is_not_that_word() {
        assert!(!told("The cachet of pageships", "cache pages"));
    }
}
