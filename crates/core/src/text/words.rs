//! What a word is: letters and digits in a row, without case and without marks.

mod salient;
mod term;

pub use salient::{SalientTerm, TermKind, is_distinctive, salient_terms};
pub use term::SearchTerm;

use crate::text::span::Span;

/// A longer word is cut: it is a key or a picture, and its beginning tells it apart.
const WORD_LENGTH_MAX: usize = 64;

/// Letters with marks, behind the letter that people type for them.
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

/// A word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldedWord {
    /// As it is compared.
    pub text: String,
    /// Where it stands.
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

/// Puts a letter behind a word as it is compared.
fn push_folded(letter: char, word: &mut String) {
    if word.len() >= WORD_LENGTH_MAX {
        return;
    }
    if letter.is_ascii() {
        word.push(letter.to_ascii_lowercase());
        return;
    }
    // What the lower case of some letters brings along, such as the dot of `İ`, is a mark.
    for lower in letter.to_lowercase().filter(|lower| lower.is_alphanumeric()) {
        word.push(without_accent(lower));
    }
}

fn without_accent(letter: char) -> char {
    let plain = ACCENTED.iter().find(|(_, marked)| marked.contains(letter));
    plain.map_or(letter, |(plain, _)| *plain)
}

/// A mark that is written behind its letter.
fn is_combining_mark(letter: char) -> bool {
    matches!(letter, '\u{300}'..='\u{36f}')
}

/// Scripts that put no space between words: each sign is a word, and a word is a phrase of them.
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
    fn words_are_folded_and_know_their_place() {
        assert_eq!(texts("Größe, CAFÉ cafe\u{301} İx"), ["große", "cafe", "cafe", "ix"]);
        assert_eq!(texts("_fetch_market-data()"), ["fetch", "market", "data"]);
        assert_eq!(texts("日本語 ok"), ["日", "本", "語", "ok"]);
        assert_eq!(texts("\u{e000} !? \u{301}"), Vec::<String>::new());
        let text = "a Größe";
        assert_eq!(words(text)[1].at.slice(text), "Größe");
        assert_eq!(texts(&"x".repeat(200))[0].len(), WORD_LENGTH_MAX);
    }
}
