//! The words of a code file, hashed once, so that looking one up costs the same in any file.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Which words, versions and assigned numbers a text has. A lookup never misses one; equal hashes
/// may claim one too many.
#[derive(Debug)]
pub(super) struct WordIndex {
    hashes: HashSet<u64>,
}

impl WordIndex {
    pub(super) fn new(text: &str) -> Self {
        let mut hashes: HashSet<u64> = words(text).map(hash).collect();
        hashes.extend(versions(text).map(hash));
        Self { hashes }
    }

    pub(super) fn may_have(&self, word: &str) -> bool {
        self.hashes.contains(&hash(word))
    }
}

fn hash(word: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    hasher.finish()
}

/// Whether a character is part of an identifier or a number.
fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !is_word_char(c)).filter(|word| !word.is_empty())
}

/// The versions in a text: three numbers as in `0.0.22` and a suffix as in `1.0.0-rc.1`. An address
/// has four numbers.
pub(crate) fn versions(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+' | '_');
    text.split(move |c: char| !is_part(c)).filter_map(|token| {
        let token = token.trim_matches(['.', '-', '+', '_']);
        let token = token.strip_prefix('v').unwrap_or(token);
        is_version(token).then_some(token)
    })
}

fn is_version(token: &str) -> bool {
    let core = token.split(['-', '+']).next().unwrap_or_default();
    let numbers: Vec<&str> = core.split('.').collect();
    let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    // `2026-03-21` and `1.2.3.4` are none; `20260321.1.2` is rare enough.
    numbers.len() == 3 && numbers.iter().all(is_number)
}

/// Whether a text contains a word or a version, not as a part of a longer one.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    let ends_inside = |text: &str| text.ends_with(is_word_char);
    let is_version_part = word.contains('.') && is_version(word);
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        let before =
            if is_version_part { before.strip_suffix('v').unwrap_or(before) } else { before };
        let is_longer_version = is_version_part && continues_version(before, after);
        !ends_inside(before) && !after.starts_with(is_word_char) && !is_longer_version
    })
}

fn continues_version(before: &str, after: &str) -> bool {
    let digit = |c: char| c.is_ascii_digit();
    before.strip_suffix('.').is_some_and(|rest| rest.ends_with(digit))
        || after.strip_prefix('.').is_some_and(|rest| rest.starts_with(digit))
        || after
            .strip_prefix(['-', '+'])
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_is_a_whole_word() {
        assert!(has_word("let rows = load_rows(3);", "load_rows"));
        assert!(!has_word("let rows = reload_rows(3);", "load_rows"));
        assert!(!has_word("load_rows_now(); preload_rows()", "load_rows"));
    }

    #[test]
    fn the_index_has_whole_words_and_versions() {
        let text =
            "let id = Bun.randomUUIDv5(NAME, 5000); // v0.0.22, not 1.0.0-rc.1 or 127.0.0.1\n";
        let index = WordIndex::new(text);
        for word in ["Bun", "randomUUIDv5", "5000", "0.0.22", "1.0.0-rc.1"] {
            assert!(index.may_have(word) && has_word(text, word), "{word}");
        }
        for word in ["randomUUID", "500", "0.0.2", "1.0.0", "27.0.0", "0.0.1"] {
            assert!(!index.may_have(word) && !has_word(text, word), "{word}");
        }
    }
}
