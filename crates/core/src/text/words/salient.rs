//! Picks the search terms of a prompt: paths, identifiers and distinctive words.

use super::{SearchTerm, words};
use std::collections::HashSet;

/// The maximum number of terms. The rest of a long prompt adds nothing new.
const SALIENT_MAX: usize = 24;
/// Shorter ASCII words are not distinctive.
const WORD_LENGTH_MIN: usize = 3;

/// Words that occur in prompts on any topic.
const STOP_WORDS: &str = " \
 a about above add after again all also always am an and another any are around as ask at away back be because been \
 before being below best better between both bug but by call can cannot change check code come could create did do \
 does doing done down each else error even every example few file find first fix folder for from get give go going \
 good got had has have having he help her here him his how i if implement improve in into is issue it its just keep \
 know last later let like line look made make many may me might more most much must my need needs never new next no \
 nor not nothing now of off ok on once one only or other our out over own please problem put question read really \
 remove right run same see set she should show since so some something start still such sure take task tell test than \
 thank thanks that the their them then there these they thing things think this those through to today too try two \
 under understand until up update us use used using very want was way we well were what when where which while who \
 why will with without work working works would write wrong yes yet you your ";

/// The kind of a search term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TermKind {
    /// The path of a file or folder.
    Path,
    /// An identifier.
    Name,
    /// An ordinary word.
    Word,
}

/// A search term and its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SalientTerm {
    /// The words to search for.
    pub term: SearchTerm,
    /// The kind of term.
    pub kind: TermKind,
}

impl SalientTerm {
    /// Creates a term from a path. Returns `None` if the path contains no word.
    pub fn from_path(path: &str) -> Option<Self> {
        SearchTerm::from_text(path).map(|term| Self { term, kind: TermKind::Path })
    }
}

/// Returns the search terms of a prompt, paths and identifiers first.
pub fn salient_terms(prompt: &str) -> Vec<SalientTerm> {
    let mut seen = HashSet::new();
    let mut found: Vec<SalientTerm> = prompt.split_whitespace().flat_map(terms_of_chunk).collect();
    found.retain(|salient| seen.insert(salient.term.clone()));
    found.sort_by_key(|salient| salient.kind);
    found.truncate(SALIENT_MAX);
    found
}

fn terms_of_chunk(chunk: &str) -> Vec<SalientTerm> {
    let chunk = chunk.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
    let whole: Vec<String> = words(chunk).into_iter().map(|word| word.text).collect();
    let distinctive: Vec<&String> = whole.iter().filter(|word| is_distinctive(word)).collect();
    let kind = term_kind(chunk);
    if kind == TermKind::Word || whole.len() < 2 {
        let term = |word: &&String| SearchTerm { words: vec![(*word).clone()], prefix: false };
        return distinctive
            .iter()
            .map(|word| SalientTerm { term: term(word), kind: TermKind::Word })
            .collect();
    }
    let has_distinctive = !distinctive.is_empty();
    let term = SearchTerm { words: whole, prefix: false };
    has_distinctive.then_some(SalientTerm { term, kind }).into_iter().collect()
}

/// The kind of a chunk: `src/feed.rs` is a path; `fetch_market_data`, `Store::open` and `v8.2` are
/// names.
fn term_kind(chunk: &str) -> TermKind {
    let slashes = chunk.matches('/').count();
    let is_path = slashes > 1 || (slashes == 1 && chunk.contains('.'));
    if is_path && !chunk.contains("://") {
        TermKind::Path
    } else if chunk.contains(['/', '_', '.', ':', '#']) {
        TermKind::Name
    } else {
        TermKind::Word
    }
}

/// Whether a folded word is distinctive: neither short nor a stop word.
pub(crate) fn is_distinctive(word: &str) -> bool {
    let short = word.is_ascii() && word.len() < WORD_LENGTH_MIN;
    !short && !STOP_WORDS.contains(&format!(" {word} "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_names_are_kept_and_stop_words_are_dropped() {
        let found =
            salient_terms("Please fix the slow market page in `src/market.py`, see _fetch_data()!");
        let shown: Vec<String> = found.iter().map(|salient| salient.term.words.join("+")).collect();
        assert_eq!(shown, ["src+market+py", "fetch+data", "slow", "market", "page"]);
        assert_eq!(
            found.iter().map(|salient| salient.kind).collect::<Vec<_>>(),
            [TermKind::Path, TermKind::Name, TermKind::Word, TermKind::Word, TermKind::Word]
        );
        assert!(STOP_WORDS.split_whitespace().all(|word| !is_distinctive(word)));
        assert!(salient_terms("and/or, this.that").is_empty());
        assert!(salient_terms("What should I do next? Thanks!").is_empty());
    }
}
