//! Passwords that a sentence or a table tells: `the password is value`, `with the password value`,
//! `Password for bob: value`, `| password | value |`.

use super::assignment::{
    NAME_BYTES_MAX, bare, is_assigned, is_blank, is_quote, length, name_end, name_start, strength,
};
use super::hit::Hit;
use super::made_up::Place;
use super::name::Names;
use super::value::{Strength, Values};
use std::ops::Range;

/// How a sentence says what a password is: these one after the other, as far as they are there.
const COPULAS: [&[&[u8]]; 3] = [
    &[b" is", b" was", b" has been"],
    &[b" now"],
    &[b" set to", b" changed to", b" reset to", b" to", b":"],
];

/// Words before `password value`; behind others stands what is said about passwords.
const LEADS: [&[u8]; 4] = [b"the ", b"with ", b"use ", b"using "];

/// How many words say whom a password is for.
const WHOM_WORDS_MAX: usize = 3;

/// The password that a sentence gives after the name here, where the name is not assigned to.
pub(super) fn find(
    hit: Hit<'_>,
    names: &Names,
    values: &Values,
) -> Option<(&'static str, Range<usize>)> {
    let end = name_end(hit);
    if is_assigned(hit, end) {
        return None;
    }
    let found = said(hit, end, values)
        .or_else(|| said_for(hit, end, values))
        .or_else(|| beside(hit, end, values))
        .or_else(|| cell(hit, end, values))?;
    (strength(hit, end, names) == Some(Strength::Password)).then_some(("password", found))
}

/// How many letters say what a password is; none where nothing does.
fn copula(text: &[u8]) -> Option<usize> {
    let length = COPULAS.iter().fold(0, |at, words| {
        at + words.iter().find(|word| text[at..].starts_with(word)).map_or(0, |word| word.len())
    });
    // A colon alone is how code says it.
    (text.starts_with(b" ") && length > 0 && text.get(length) == Some(&b' ')).then_some(length + 1)
}

/// `the password is value`, as somebody tells it.
fn said(hit: Hit<'_>, end: usize, values: &Values) -> Option<Range<usize>> {
    let rest = &hit.text[end..];
    let rest = rest.strip_prefix(b"`").unwrap_or(rest);
    let rest = rest.strip_prefix(b" for ").map_or(rest, |whom| {
        let name = length(whom, NAME_BYTES_MAX, |byte| !is_blank(byte) && byte != b'\n');
        &whom[name..]
    });
    value(hit, hit.text.len() - rest.len() + copula(rest)?, values)
}

/// `Password for bob: value`
fn said_for(hit: Hit<'_>, end: usize, values: &Values) -> Option<Range<usize>> {
    let whom = hit.text[end..].strip_prefix(b" for ")?;
    let part = |byte: u8| byte.is_ascii_alphanumeric() || b" @._-`".contains(&byte);
    let name = length(whom, NAME_BYTES_MAX, part);
    let words = whom[..name].split(|byte| *byte == b' ').count();
    let told = words <= WHOM_WORDS_MAX && whom[name..].starts_with(b": ");
    value(hit, hit.text.len() - whom.len() + name + 2, values).filter(|_| told)
}

/// `with the password value`
fn beside(hit: Hit<'_>, end: usize, values: &Values) -> Option<Range<usize>> {
    // To `pass` something is no secret.
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
    let found = value(hit, end + 1, values)?;
    let letters = &hit.text[found.clone()];
    // What is only capitals and digits is the number of a standard or of an issue.
    let real = letters.iter().any(u8::is_ascii_lowercase) && !values.is_counted(letters);
    real.then_some(found)
}

/// `| password | value |`
fn cell(hit: Hit<'_>, end: usize, values: &Values) -> Option<Range<usize>> {
    let marked = |byte: u8| is_blank(byte) || is_quote(byte) || byte == b'*';
    let closed = end + length(&hit.text[end..], NAME_BYTES_MAX, marked);
    hit.text.get(closed).filter(|byte| **byte == b'|')?;
    let from = closed + 1;
    let found = value(hit, from + length(&hit.text[from..], NAME_BYTES_MAX, is_blank), values)?;
    let behind = &hit.text[found.end..];
    let ended = behind.get(length(behind, NAME_BYTES_MAX, marked)) == Some(&b'|');
    (ended && !values.is_counted(&hit.text[found.clone()])).then_some(found)
}

/// What somebody made up, with a digit, and with emphasis or quotes around it.
fn value(hit: Hit<'_>, at: usize, values: &Values) -> Option<Range<usize>> {
    let rest = hit.text.get(at..)?;
    let at = at + length(rest, 2, |byte| is_quote(byte) || byte == b'*');
    let range = bare(hit.text, at, false);
    let emphasis = hit.text[range.clone()].iter().rev().take_while(|byte| **byte == b'*').count();
    let range = range.start..range.end - emphasis;
    let letters = &hit.text[range.clone()];
    let has_digit = letters.iter().any(u8::is_ascii_digit);
    (has_digit && values.is_made_up(letters, Place::Command)).then_some(range)
}
