//! Finds credentials that are given to `curl`: `-u user:password` and its other spellings. One pass
//! over the command finds its options, so that a text full of commands costs no more.

use super::assignment::{is_quote, prefix_length};
use super::hit::SecretCandidate;
use super::value::{EvidenceStrength, ValueChecker};
use std::ops::Range;

/// The name of the command.
pub(super) const PREFIX: &str = "curl";

/// The options that take credentials. A longer one comes before its prefix.
const OPTIONS: [&[u8]; 4] = [b"--proxy-user", b"--user", b"-u", b"-U"];
/// How far an option may be from the name of the command.
const COMMAND_BYTES_MAX: usize = 300;
/// The maximum length of a user name, and of a password.
const VALUE_BYTES_MAX: usize = 512;
/// The minimum length of a password, and of a token that is given as a user name.
const PASSWORD_BYTES_MIN: usize = 3;
const TOKEN_BYTES_MIN: usize = 12;
/// The maximum number of backslashes that escape a quote.
const ESCAPES_MAX: usize = 3;

/// The passwords and tokens in the options of the command at this candidate.
pub(super) fn find(hit: SecretCandidate<'_>, values: &ValueChecker) -> Vec<Range<usize>> {
    if !hit.begins_word(hit.at) {
        return Vec::new();
    }
    let text = hit.text;
    let from = hit.at + PREFIX.len();
    let end = command_end(text, from);
    let is_option = |at: &usize| text[*at] == b'-' && text[at - 1].is_ascii_whitespace();
    let mut found: Vec<Range<usize>> = Vec::new();
    for at in (from + 1..end).filter(is_option) {
        // A quoted password may contain what looks like an option.
        let is_inside = found.last().is_some_and(|last| at < last.end);
        let Some(value) = option_value(text, at).filter(|_| !is_inside) else { continue };
        let secret = quoted_password(text, value, values)
            .or_else(|| plain_password(text, value, values))
            .or_else(|| token(text, value, values));
        found.extend(secret);
    }
    found
}

/// The end of the command, or of the part of it that is searched.
fn command_end(text: &[u8], from: usize) -> usize {
    let last = text.len().min(from + COMMAND_BYTES_MAX);
    let ends = |at: &usize| match text[*at] {
        b'|' | b';' => true,
        b'\n' => !text[..*at].ends_with(b"\\"),
        _ => false,
    };
    (from..last).find(ends).unwrap_or(last)
}

/// The start of the value of the option at `at`.
fn option_value(text: &[u8], at: usize) -> Option<usize> {
    let option = OPTIONS.iter().find(|option| text[at..].starts_with(option))?;
    let from = at + option.len();
    if text[from..].starts_with(b"=") {
        return Some(from + 1);
    }
    Some(from + prefix_length(&text[from..], 64, |byte| byte.is_ascii_whitespace()))
}

/// The password of `"user:password"`, which may have blanks.
fn quoted_password(text: &[u8], at: usize, values: &ValueChecker) -> Option<Range<usize>> {
    let strokes = prefix_length(&text[at..], ESCAPES_MAX, |byte| byte == b'\\');
    let quote = *text.get(at + strokes).filter(|byte| b"\"'".contains(byte))?;
    let ends = |byte: u8| byte == quote || byte == b'\n' || (quote == b'"' && byte == b'\\');
    let from = at + strokes + 1;
    let user = prefix_length(&text[from..], VALUE_BYTES_MAX, |byte| {
        !ends(byte) && byte != b':' && byte != b'$'
    });
    let from = from + user;
    let password = text[from..].strip_prefix(b":")?;
    let length = prefix_length(password, VALUE_BYTES_MAX, |byte| !ends(byte));
    let behind = &password[length..];
    let behind = &behind[prefix_length(behind, ESCAPES_MAX, |byte| byte == b'\\')..];
    let is_closed = behind.first() == Some(&quote);
    let password = &password[..length];
    let real =
        length >= PASSWORD_BYTES_MIN && is_closed && !values.is_password_placeholder(password);
    real.then(|| from + 1..from + 1 + length)
}

/// The password of `user:password`, with or without quotes around each part.
fn plain_password(text: &[u8], at: usize, values: &ValueChecker) -> Option<Range<usize>> {
    let at = at + prefix_length(&text[at..], 8, |byte| b"\\\"'".contains(&byte));
    let user = prefix_length(&text[at..], VALUE_BYTES_MAX, |byte| {
        !ends_word(byte) && !b":$/".contains(&byte)
    });
    let at = at + user;
    let is_plain_quote = |byte: u8| b"\"'".contains(&byte);
    let at = at + prefix_length(&text[at..], 1, is_plain_quote);
    text[at..].strip_prefix(b":")?;
    let from = at + 1 + prefix_length(&text[at + 1..], 1, is_plain_quote);
    let length = prefix_length(&text[from..], VALUE_BYTES_MAX, |byte| !ends_word(byte));
    let password = &text[from..from + length];
    let real = length >= PASSWORD_BYTES_MIN && !values.is_password_placeholder(password);
    real.then(|| from..from + length)
}

/// The token of `token:`, which is given as a user name without a password.
fn token(text: &[u8], at: usize, values: &ValueChecker) -> Option<Range<usize>> {
    let at = at + prefix_length(&text[at..], 8, |byte| b"\\\"'".contains(&byte));
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    let length = prefix_length(&text[at..], VALUE_BYTES_MAX, is_token);
    let behind = text[at + length..].strip_prefix(b":")?;
    let behind = behind.strip_prefix(b"\"").or(behind.strip_prefix(b"'")).unwrap_or(behind);
    let is_all = behind.first().is_none_or(u8::is_ascii_whitespace);
    let real = length >= TOKEN_BYTES_MIN
        && is_all
        && values.is_secret(&text[at..at + length], EvidenceStrength::Secret, false);
    real.then(|| at..at + length)
}

fn ends_word(byte: u8) -> bool {
    byte.is_ascii_whitespace() || is_quote(byte) || byte == b'\\'
}
