//! Splits text into words for search: runs of letters and digits, without case and accents.

mod salient;
mod term;

pub use salient::{SalientTerm, TermKind, salient_terms};

pub(crate) use salient::is_distinctive;
pub use term::SearchTerm;

use crate::text::span::Span;

/// Longer words are truncated. They are keys or encoded data, and the first bytes identify them.
const WORD_LENGTH_MAX: usize = 64;

/// Each base letter with its accented variants.
const ACCENTED: [(char, &str); 25] = [
    ('a', "àáâãäåāăą"),
    ('c', "çćĉċč"),
    ('d', "ďđ"),
    ('e', "èéêëēĕėęě"),
    ('g', "ĝğġģ"),
    ('h', "ĥħ"),
    ('i', "ìíîïĩīĭįı"),
    ('j', "ĵ"),
    ('k', "ķ"),
    ('l', "ĺļľŀł"),
    ('n', "ñńņňŉ"),
    ('o', "òóôõöøōŏő"),
    ('r', "ŕŗř"),
    ('s', "śŝşš"),
    ('t', "ţťŧ"),
    ('u', "ùúûüũūŭůűų"),
    ('w', "ŵ"),
    ('y', "ýÿŷ"),
    ('z', "źżž"),
    ('и', "й"),
    ('е', "ё"),
    ('α', "ά"),
    ('ε', "έ"),
    ('ο', "ό"),
    ('ς', "σ"),
];

/// A word of a text, folded for comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldedWord {
    /// The folded word.
    pub text: String,
    /// The span of the original word.
    pub at: Span,
}

/// The words of a text, in order.
pub fn words(text: &str) -> Vec<FoldedWord> {
    let mut found = Vec::new();
    let mut word = String::new();
    let mut start = 0;
    let mut end = 0;
    for (at, letter) in text.char_indices() {
        let after = at + letter.len_utf8();
        if is_combining_mark(letter) && !word.is_empty() {
            end = after;
        } else if is_one_letter_word(letter) {
            push_word(&mut word, Span::new(start, end), &mut found);
            let text = letter.to_string();
            found.push(FoldedWord { text, at: Span::new(at, after) });
        } else if letter.is_alphanumeric() {
            if word.is_empty() {
                start = at;
            }
            end = after;
            push_folded(letter, &mut word);
        } else {
            push_word(&mut word, Span::new(start, end), &mut found);
        }
    }
    push_word(&mut word, Span::new(start, end), &mut found);
    found
}

fn push_word(word: &mut String, at: Span, found: &mut Vec<FoldedWord>) {
    if !word.is_empty() {
        found.push(FoldedWord { text: std::mem::take(word), at });
    }
}

/// Appends a letter in its folded form.
fn push_folded(letter: char, word: &mut String) {
    if word.len() >= WORD_LENGTH_MAX {
        return;
    }
    if letter.is_ascii() {
        word.push(letter.to_ascii_lowercase());
        return;
    }
    // Lowercasing some letters adds a combining mark, such as the dot of `İ`. Drop it.
    for lower in letter.to_lowercase().filter(|lower| lower.is_alphanumeric()) {
        word.push(without_accent(lower));
    }
}

fn without_accent(letter: char) -> char {
    let plain = ACCENTED.iter().find(|(_, marked)| marked.contains(letter));
    plain.map_or(letter, |(plain, _)| *plain)
}

/// Whether a character is a combining mark, which follows its letter.
fn is_combining_mark(letter: char) -> bool {
    matches!(letter, '\u{300}'..='\u{36f}')
}

/// Whether a character belongs to a script without spaces between words. Each character counts as
/// a word there, and a real word is a phrase of them.
fn is_one_letter_word(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2fa1f}')
        && letter.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        words(text).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn words_are_folded_and_keep_their_spans() {
        assert_eq!(texts("Größe, CAFÉ cafe\u{301} İx"), ["große", "cafe", "cafe", "ix"]);
        assert_eq!(texts("_fetch_market-data()"), ["fetch", "market", "data"]);
        assert_eq!(texts("日本語 ok"), ["日", "本", "語", "ok"]);
        assert_eq!(texts("\u{e000} !? \u{301}"), Vec::<String>::new());
        let text = "a Größe";
        assert_eq!(words(text)[1].at.slice(text), "Größe");
        assert_eq!(texts(&"x".repeat(200))[0].len(), WORD_LENGTH_MAX);
    }
}
