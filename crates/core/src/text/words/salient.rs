//! What of a prompt is worth looking for: what names something, and words that few texts have.

use super::{SearchTerm, words};
use std::collections::HashSet;

/// The rest of a long prompt tells nothing new.
const SALIENT_MAX: usize = 24;
/// A shorter word names nothing.
const WORD_LENGTH_MIN: usize = 3;

/// Words that every prompt has, whatever it is about.
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

/// What a term of a prompt is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TermKind {
    /// A file or folder.
    Path,
    /// An identifier.
    Name,
    /// A word of the language.
    Word,
}

/// Something to look for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SalientTerm {
    /// The words.
    pub term: SearchTerm,
    /// What it is.
    pub kind: TermKind,
}

impl SalientTerm {
    /// A path to look for; `None` where it has no word.
    pub fn from_path(path: &str) -> Option<Self> {
        SearchTerm::from_text(path).map(|term| Self { term, kind: TermKind::Path })
    }
}

/// What of a prompt is worth looking for; paths and names come first.
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
    let telling: Vec<&String> = whole.iter().filter(|word| is_distinctive(word)).collect();
    let sort = term_kind(chunk);
    if sort == TermKind::Word || whole.len() < 2 {
        let term = |word: &&String| SearchTerm { words: vec![(*word).clone()], prefix: false };
        return telling
            .iter()
            .map(|word| SalientTerm { term: term(word), kind: TermKind::Word })
            .collect();
    }
    let named = !telling.is_empty();
    let term = SearchTerm { words: whole, prefix: false };
    named.then_some(SalientTerm { term, kind: sort }).into_iter().collect()
}

/// `src/feed.rs` is a path, `fetch_market_data`, `Store::open` and `v8.2` are names.
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

/// Whether a folded word tells something: it is not short, and not every text has it.
pub fn is_distinctive(word: &str) -> bool {
    let short = word.is_ascii() && word.len() < WORD_LENGTH_MIN;
    !short && !STOP_WORDS.contains(&format!(" {word} "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kept_and_empty_words_are_dropped() {
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
