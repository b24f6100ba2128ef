//! Finds passwords in sentences and tables: `the password is value`, `with the password value`,
//! `Password for bob: value`, `| password | value |`; and keys in sentences: `the API key is value`.

use super::assignment::{
    NAME_BYTES_MAX, bare_range, is_assigned, is_blank, is_quote, name_end, name_start,
    prefix_length, strength,
};
use super::hit::SecretCandidate;
use super::human_chosen::ValueContext;
use super::name::SecretNames;
use super::value::{EvidenceStrength, ValueChecker};
use std::ops::Range;

/// The phrases that introduce a password in a sentence. At most one of each group, in this order.
const COPULAS: [&[&[u8]]; 3] = [
    &[b" is", b" was", b" has been"],
    &[b" now"],
    &[b" set to", b" changed to", b" reset to", b" to", b":"],
];

/// Words that may precede `password value`. After other words, the text is about passwords in
/// general.
const LEADS: [&[u8]; 4] = [b"the ", b"with ", b"use ", b"using "];

/// The maximum number of words that name the owner of a password.
const OWNER_WORDS_MAX: usize = 3;

/// Finds the password that a sentence states after the name here. Assignments are handled in
/// `assignment.rs`.
pub(super) fn find(
    hit: SecretCandidate<'_>,
    names: &SecretNames,
    values: &ValueChecker,
) -> Option<(&'static str, Range<usize>)> {
    let end = name_end(hit);
    if is_assigned(hit, end) {
        return None;
    }
    let found = find_stated(hit, end, values)
        .or_else(|| find_stated_for(hit, end, values))
        .or_else(|| find_adjacent(hit, end, values))
        .or_else(|| find_in_cell(hit, end, values));
    let is_of = |needed| strength(hit, end, names) == Some(needed);
    if let Some(found) = found.filter(|_| is_of(EvidenceStrength::Password)) {
        return Some(("password", found));
    }
    let found = find_stated_key(hit, end, values)?;
    is_of(EvidenceStrength::Explicit).then_some(("secret", found))
}

/// Finds `the API key is value`, `API key for staging: value` and `| API key | value |`.
fn find_stated_key(
    hit: SecretCandidate<'_>,
    end: usize,
    values: &ValueChecker,
) -> Option<Range<usize>> {
    let at = stated_at(hit, end).or_else(|| stated_for_at(hit, end)).or_else(|| cell_at(hit, end));
    let range = unmarked_range(hit, at?)?;
    let letters = &hit.text[range.clone()];
    let has_digit = letters.iter().any(u8::is_ascii_digit);
    (has_digit && values.is_secret(letters, EvidenceStrength::Explicit, true)).then_some(range)
}

/// The length of the phrase that introduces a password, such as ` is set to `.
fn copula_length(text: &[u8]) -> Option<usize> {
    let length = COPULAS.iter().fold(0, |at, words| {
        at + words.iter().find(|word| text[at..].starts_with(word)).map_or(0, |word| word.len())
    });
    // A colon right after the name is code, so the phrase must start with a space.
    (text.starts_with(b" ") && length > 0 && text.get(length) == Some(&b' ')).then_some(length + 1)
}

/// Finds `the password is value`.
fn find_stated(
    hit: SecretCandidate<'_>,
    end: usize,
    values: &ValueChecker,
) -> Option<Range<usize>> {
    password_at(hit, stated_at(hit, end)?, values)
}

/// The start of what a sentence states about the name that ends at `end`.
fn stated_at(hit: SecretCandidate<'_>, end: usize) -> Option<usize> {
    let rest = &hit.text[end..];
    let rest = rest.strip_prefix(b"`").unwrap_or(rest);
    let rest = rest.strip_prefix(b" for ").map_or(rest, |owner| {
        let name = prefix_length(owner, NAME_BYTES_MAX, |byte| !is_blank(byte) && byte != b'\n');
        &owner[name..]
    });
    Some(hit.text.len() - rest.len() + copula_length(rest)?)
}

/// Finds `Password for bob: value`.
fn find_stated_for(
    hit: SecretCandidate<'_>,
    end: usize,
    values: &ValueChecker,
) -> Option<Range<usize>> {
    password_at(hit, stated_for_at(hit, end)?, values)
}

/// The start of what is stated about the name that ends at `end` and its owner.
fn stated_for_at(hit: SecretCandidate<'_>, end: usize) -> Option<usize> {
    let owner = hit.text[end..].strip_prefix(b" for ")?;
    let part = |byte: u8| byte.is_ascii_alphanumeric() || b" @._-`".contains(&byte);
    let name = prefix_length(owner, NAME_BYTES_MAX, part);
    let words = owner[..name].split(|byte| *byte == b' ').count();
    let is_stated = words <= OWNER_WORDS_MAX && owner[name..].starts_with(b": ");
    is_stated.then_some(hit.text.len() - owner.len() + name + 2)
}

/// Finds `with the password value`.
fn find_adjacent(
    hit: SecretCandidate<'_>,
    end: usize,
    values: &ValueChecker,
) -> Option<Range<usize>> {
    // The verb `pass` is not a name of a secret.
    let spelled_out = end - hit.at > b"pass".len() && name_start(hit) == hit.at;
    let before = hit.before();
    let led = |lead: &&[u8]| {
        let from = before.len().checked_sub(lead.len());
        from.is_some_and(|from| {
            before[from..].eq_ignore_ascii_case(lead)
                && !from.checked_sub(1).is_some_and(|at| before[at].is_ascii_alphanumeric())
        })
    };
    if !spelled_out || !hit.text[end..].starts_with(b" ") || !LEADS.iter().any(led) {
        return None;
    }
    let found = password_at(hit, end + 1, values)?;
    let letters = &hit.text[found.clone()];
    // Capitals and digits alone are the number of a standard or an issue, such as RFC2898.
    let real = letters.iter().any(u8::is_ascii_lowercase) && !values.is_numbered_word(letters);
    real.then_some(found)
}

/// Finds `| password | value |`.
fn find_in_cell(
    hit: SecretCandidate<'_>,
    end: usize,
    values: &ValueChecker,
) -> Option<Range<usize>> {
    let found = password_at(hit, cell_at(hit, end)?, values)?;
    let behind = &hit.text[found.end..];
    let ended = behind.get(prefix_length(behind, NAME_BYTES_MAX, is_marked)) == Some(&b'|');
    (ended && !values.is_numbered_word(&hit.text[found.clone()])).then_some(found)
}

/// The range of a human-chosen password with a digit at `at`, without emphasis or quotes.
fn password_at(hit: SecretCandidate<'_>, at: usize, values: &ValueChecker) -> Option<Range<usize>> {
    let range = unmarked_range(hit, at)?;
    let letters = &hit.text[range.clone()];
    let has_digit = letters.iter().any(u8::is_ascii_digit);
    (has_digit && values.is_human_chosen(letters, ValueContext::Command)).then_some(range)
}

/// The range of the word at `at`, without emphasis or quotes.
fn unmarked_range(hit: SecretCandidate<'_>, at: usize) -> Option<Range<usize>> {
    let rest = hit.text.get(at..)?;
    let at = at + prefix_length(rest, 2, |byte| is_quote(byte) || byte == b'*');
    let range = bare_range(hit.text, at, false);
    let emphasis = hit.text[range.clone()].iter().rev().take_while(|byte| **byte == b'*').count();
    Some(range.start..range.end - emphasis)
}

/// The start of the table cell after the one with the name that ends at `end`.
fn cell_at(hit: SecretCandidate<'_>, end: usize) -> Option<usize> {
    let closed = end + prefix_length(&hit.text[end..], NAME_BYTES_MAX, is_marked);
    hit.text.get(closed).filter(|byte| **byte == b'|')?;
    Some(closed + 1 + prefix_length(&hit.text[closed + 1..], NAME_BYTES_MAX, is_blank))
}

fn is_marked(byte: u8) -> bool {
    is_blank(byte) || is_quote(byte) || byte == b'*'
}
