//! Finds the end of a PEM private key whose first line is missing, as `tail key.pem` prints it.

use super::hit::SecretCandidate;
use super::key_block::{RUN_BYTES_MIN, is_base64, line_of_dashes};
use super::words::oddity;
use std::ops::Range;

/// How the end line starts.
pub(super) const PREFIX: &str = "-----END ";

const DECORATION_BYTES_MAX: usize = 64;
const DASHES: &[u8] = b"----";

/// The range from the first line of base64 to the end line that starts here.
pub(super) fn find(hit: SecretCandidate<'_>, begins: &str) -> Option<Range<usize>> {
    let label = line_of_dashes(hit.rest(), begins.len(), DASHES)?;
    let is_ended = hit.rest().get(label.end).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    let before = hit.before();
    let (mut start, mut end) = (None, before.len());
    let mut width = None;
    let mut is_last = true;
    let mut first: Option<Vec<u8>> = None;
    while let Some(gap) = gap_before(&before[..end], is_last) {
        let line_end = end - gap;
        // Lines of one key are separated in one way.
        let marks = marks_of(&before[line_end..end]);
        if first.as_ref().is_some_and(|first| *first != marks) {
            break;
        }
        first = first.or(Some(marks));
        let run = run_before(&before[..line_end]);
        let line = &before[line_end - run..line_end];
        let is_key = run >= RUN_BYTES_MIN && oddity(line) >= 25;
        // The last line may be short; the others have one width.
        let fits = width.is_none_or(|width| run == width);
        let is_word = is_border(&before[..line_end - run]);
        if run == 0 || !is_word || !(is_key || is_last) || (!is_last && !fits) {
            break;
        }
        if is_key {
            start = Some(line_end - run);
        }
        width = if is_last { None } else { Some(run) };
        (end, is_last) = (line_end - run, false);
    }
    start.filter(|_| is_ended).map(|start| start..hit.at + label.end)
}

/// A separator of lines without its line number and the mark of an added line.
fn marks_of(gap: &[u8]) -> Vec<u8> {
    let is_mark = |byte: &u8| !byte.is_ascii_digit() && !b" \t+".contains(byte);
    gap.iter().copied().filter(is_mark).collect()
}

/// Whether a line or a word starts after this text.
fn is_border(before: &[u8]) -> bool {
    let is_mark = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`,>|".contains(byte);
    // A diff marks removed lines.
    let removed = before.strip_suffix(b"-");
    before.last().is_none_or(is_mark)
        || break_before(before) > 0
        || removed.is_some_and(|before| before.is_empty() || break_before(before) > 0)
}

/// The length of the base64 at the end of a text. The letter of an escaped line break before it is
/// none of it.
fn run_before(text: &[u8]) -> usize {
    let run = text.iter().rev().take_while(|byte| is_base64(**byte)).count();
    let escaped = text[..text.len() - run].ends_with(b"\\");
    if escaped { run.saturating_sub(1) } else { run }
}

/// The length of a line break with the decoration around it at the end of a text, such as quotes,
/// the mark of a quoted line or its number. Before the end line there may be none.
fn gap_before(text: &[u8], is_last: bool) -> Option<usize> {
    let count = |text: &[u8], of: &[u8]| {
        text.iter().rev().take(DECORATION_BYTES_MAX).take_while(|byte| of.contains(byte)).count()
    };
    // A diff marks added lines with a letter of base64, which stays part of the other lines.
    let added = usize::from(is_last && text.ends_with(b"+"));
    let marks = added + count(&text[..text.len() - added], b" \t\"'`>|,#*-");
    let mut at = text.len() - marks;
    let digits = count(&text[..at], b"0123456789");
    if marks > 0 && digits > 0 {
        let indent = count(&text[..at - digits], b" \t");
        let number = at - digits - indent;
        if break_before(&text[..number]) > 0 {
            at = number;
        }
    }
    let broken = break_before(&text[..at]);
    if broken == 0 {
        return (is_last && marks <= 1).then_some(marks);
    }
    at -= broken;
    at -= count(&text[..at], b" \t\"'`,");
    Some(text.len() - at)
}

/// The length of a line break at the end of a text, as it is or as an escape.
fn break_before(text: &[u8]) -> usize {
    if text.ends_with(b"\r\n") {
        return 2;
    }
    if text.ends_with(b"\n") {
        return 1;
    }
    let Some(rest) = text.strip_suffix(b"n") else { return 0 };
    let strokes = rest.iter().rev().take_while(|byte| **byte == b'\\').count();
    let rest = &rest[..rest.len() - strokes];
    let carriage = match rest.strip_suffix(b"r") {
        Some(rest) => 1 + rest.iter().rev().take_while(|byte| **byte == b'\\').count(),
        None => 0,
    };
    match strokes {
        0 => 0,
        _ if carriage > 1 => strokes + 1 + carriage,
        _ => strokes + 1,
    }
}
