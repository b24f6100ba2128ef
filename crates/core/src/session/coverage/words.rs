//! Normalizes words for comparison: without case, punctuation, and endings.

use crate::text::words::words;
use std::collections::BTreeSet;

/// Stop words. The other words of a sentence are its key words.
const STOP_WORDS: &str = " \
 a about after again all also am an and any are as at be because been before being but by can cannot could did do does \
 doing done don each either else even for from get go going got had has have having he her here him his how i if in \
 instead into is it its just let like ll may me might more most must my need no nor not now of off ok okay on only onto \
 or other our out over own please re s see shall she should since so some still such sure t than that the their them \
 then there therefore these they this those to too under until up upon us ve very want was way we well were what when \
 where whether which while who why will with within without would yes yet you your ";

/// Words that say that something failed; alone they say no more than the failure does.
const FAILING: [&str; 20] = [
    "fail", "failure", "error", "broke", "broken", "break", "red", "crash", "panic", "wrong",
    "exit", "code", "refuse", "abort", "hang", "stuck", "timeout", "conflict", "reject", "denied",
];

/// Words that say that a change was reverted.
const REVERTING: [&str; 13] = [
    "revert",
    "undo",
    "undid",
    "undone",
    "restore",
    "back",
    "drop",
    "discard",
    "abandon",
    "reset",
    "withdraw",
    "withdrew",
    "untouched",
];

/// Removes the ending of a word, so that `pages`, `paged` and `page` become the same word.
pub(super) fn stem(word: &str) -> String {
    const ENDINGS: [&str; 5] = ["ing", "ed", "es", "s", "e"];
    const LEFT_MIN: usize = 3;
    let shorter = ENDINGS.iter().find_map(|ending| {
        word.strip_suffix(ending).filter(|rest| rest.chars().count() >= LEFT_MIN)
    });
    let Some(shorter) = shorter.filter(|_| word.chars().all(char::is_alphabetic)) else {
        return word.to_owned();
    };
    // `running` and `run`, `dropped` and `drop`.
    let mut letters = shorter.chars().rev();
    let is_doubled = letters.next().zip(letters.next()).is_some_and(|(one, other)| one == other);
    match shorter.char_indices().last() {
        Some((at, _)) if is_doubled && word.len() - shorter.len() > 1 => shorter[..at].to_owned(),
        Some(_) | None => shorter.to_owned(),
    }
}

/// Returns the words of a text in order, stemmed.
pub(super) fn stems(text: &str) -> Vec<String> {
    words(text).iter().map(|word| stem(&word.text)).collect()
}

/// Returns the key words of a text, stemmed.
pub(super) fn key_words(text: &str) -> BTreeSet<String> {
    let words = words(text).into_iter().filter(|word| !is_stop_word(&word.text));
    words.map(|word| stem(&word.text)).collect()
}

fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(&format!(" {word} "))
}

/// Whether a stem says that something failed.
pub(super) fn is_failing(stemmed: &str) -> bool {
    FAILING.iter().any(|word| stem(word) == stemmed)
}

/// Whether a stem says that something was reverted.
pub(super) fn is_reverting(stemmed: &str) -> bool {
    REVERTING.iter().any(|word| stem(word) == stemmed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_share_a_stem() {
        for (one, other) in [("pages", "page"), ("purging", "purged"), ("dropped", "drop")] {
            assert_eq!(stem(one), stem(other), "{one} {other}");
        }
        assert_ne!(stem("cache"), stem("cash"));
        assert_eq!(stem("bus"), "bus");
    }

    #[test]
    fn key_words_exclude_stop_words() {
        let keys: Vec<String> = key_words("No, don't touch the pages!").into_iter().collect();
        assert_eq!(keys, ["pag", "touch"]);
        assert!(STOP_WORDS.split_whitespace().all(|word| key_words(word).is_empty()));
    }
}
