//! Finds the complete lines of a stream that later text cannot change, so that a log can be
//! followed line by line.

use super::hit::TAIL_BYTES_MAX;
use super::joined_lines::WIDTH_MIN;
use super::key_block::{RUN_BYTES_MIN, is_base64};
use super::words::oddity;

/// How many lines before a continued line the prefix of its secret may be.
const LINES_BEFORE: usize = 2;

/// The end of the last complete line.
pub(super) fn complete_lines_end(text: &[u8]) -> Option<usize> {
    text.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1)
}

/// The start of the line that contains `at`.
pub(super) fn line_start(text: &[u8], at: usize) -> usize {
    text[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)
}

/// The offset from which a prefix of a secret has to wait for more text, because the last lines may
/// continue. `text` must end with a complete line.
pub(super) fn pending_from(text: &[u8]) -> Option<usize> {
    let mut end = text.len();
    let mut next: Option<&[u8]> = None;
    while end > 0 {
        let start = line_start(text, end - 1);
        let line = &text[start..end];
        if !may_continue(line, next) {
            break;
        }
        (end, next) = (start, Some(line));
    }
    if end == text.len() && !is_below_tag(text) {
        return None;
    }
    let before = |end: usize| if end == 0 { 0 } else { line_start(text, end - 1) };
    Some((0..LINES_BEFORE).fold(end, |end, _| before(end)))
}

/// The offset from which lines have to wait even if no prefix of a secret is in them, because one
/// may follow: the lines of a private key before its end line, and those of a manifest before its
/// kind. `text` must end with a complete line.
pub(super) fn held_from(text: &[u8]) -> Option<usize> {
    let from = text.len().saturating_sub(TAIL_BYTES_MAX);
    let from = if from == 0 { 0 } else { from + complete_start(&text[from..])? };
    let lines: Vec<&[u8]> = text[from..].split_inclusive(|byte| *byte == b'\n').collect();
    let held = key_lines(&lines).max(data_lines(&lines));
    let bytes: usize = lines[lines.len() - held..].iter().map(|line| line.len()).sum();
    (held > 0).then_some(text.len() - bytes)
}

/// The start of the first complete line.
fn complete_start(text: &[u8]) -> Option<usize> {
    text.iter().position(|byte| *byte == b'\n').map(|at| at + 1)
}

/// How many of the last lines may be the body of a private key. Its last line may be short.
fn key_lines(lines: &[&[u8]]) -> usize {
    let short =
        lines.last().is_some_and(|line| !last_base64(line).is_empty() && !is_key_line(line));
    let before = &lines[..lines.len() - usize::from(short)];
    let count = before.iter().rev().take_while(|line| is_key_line(line)).count();
    if count > 0 { count + usize::from(short) } else { 0 }
}

/// Whether a line ends with base64 as in the body of a private key.
fn is_key_line(line: &[u8]) -> bool {
    let word = last_base64(line);
    word.len() >= RUN_BYTES_MIN && oddity(word) >= 25
}

/// The last word of a line if it is base64, without the quotes and marks around it.
fn last_base64(line: &[u8]) -> &[u8] {
    let marks = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`,>|".contains(byte);
    let end = line.iter().rposition(|byte| !marks(byte)).map_or(0, |at| at + 1);
    let run = line[..end].iter().rev().take_while(|byte| is_base64(**byte)).count();
    let (before, word) = line[..end].split_at(end - run);
    // A diff marks removed lines.
    if before.last().is_none_or(marks) || before == b"-" { word } else { &[] }
}

/// How many of the last lines may be the data of a manifest whose kind is missing yet.
fn data_lines(lines: &[&[u8]]) -> usize {
    let Some(data) = lines.iter().rposition(|line| starts_data(line)) else { return 0 };
    let indent = indent(lines[data]);
    let beside = lines[data + 1..].iter().filter(|line| self::indent(line) <= indent);
    if beside.count() <= BESIDE_LINES_MAX { lines.len() - data } else { 0 }
}

/// How many lines may be between the data and the kind of a manifest.
pub(super) const BESIDE_LINES_MAX: usize = 1;

/// Whether a line is `data:` or `"stringData": {`.
fn starts_data(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let line = line.strip_suffix(b"{").unwrap_or(line).trim_ascii_end();
    let Some(name) = line.strip_suffix(b":") else { return false };
    let name = name.trim_ascii_start();
    let name = name.strip_prefix(b"- ").unwrap_or(name);
    [&b"data"[..], b"stringData", b"\"data\"", b"\"stringData\""].contains(&name)
}

fn indent(line: &[u8]) -> usize {
    line.iter().take_while(|byte| b" \t-".contains(byte)).count()
}

/// Whether the last line is the text of an XML element that started on the line before.
fn is_below_tag(text: &[u8]) -> bool {
    let Some(text) = text.strip_suffix(b"\n") else { return false };
    let last = line_start(text, text.len());
    last > 0 && is_tag(text[line_start(text, last - 1)..last].trim_ascii_end())
}

/// Whether a line ends with the tag that starts an element.
fn is_tag(line: &[u8]) -> bool {
    let tag = line.iter().rposition(|byte| *byte == b'<').map(|at| &line[at + 1..]);
    tag.is_some_and(|tag| tag.ends_with(b">") && tag[0].is_ascii_alphabetic())
}

/// Whether a value may continue on the next line. An unknown next line may be anything.
fn may_continue(line: &[u8], next: Option<&[u8]>) -> bool {
    let line = line.trim_ascii_end();
    let first = next.map(|next| next.trim_ascii().first().copied().unwrap_or(b'\n'));
    let follows = |signs: &[u8]| first.is_none_or(|first| signs.contains(&first));
    match line.last() {
        Some(b'\\') => true,
        Some(b'"' | b'\'') => follows(b"\"'\\+.&<"),
        Some(b'+' | b'.' | b'&' | b'>') if is_concatenated(line) => follows(b"\"'\\"),
        Some(b'>') if is_tag(line) => next.is_none(),
        _ => is_wide(line) && next.is_none_or(|next| !next.trim_ascii().contains(&b' ')),
    }
}

/// Whether a line ends with an operator that concatenates a literal with what follows.
fn is_concatenated(line: &[u8]) -> bool {
    let signs = line.iter().rev().take_while(|byte| b"+.&<>".contains(byte)).count();
    let before = line[..line.len() - signs].trim_ascii_end();
    matches!(before.last(), Some(b'"' | b'\''))
}

fn is_wide(line: &[u8]) -> bool {
    let run = line.iter().rev().take(WIDTH_MIN).take_while(|byte| !byte.is_ascii_whitespace());
    run.count() == WIDTH_MIN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_wait_while_their_value_may_continue() {
        let wide = "a1B2".repeat(16);
        for (text, waits) in [
            ("", None),
            ("one\ntwo\n", None),
            ("a\nb\nc\nkey \\\n", Some("b\nc\nkey \\\n")),
            ("key = \"a\"\n", Some("key = \"a\"\n")),
            ("key = \"a\"\nnext\n", None),
            ("key = \"a\" +\n", Some("key = \"a\" +\n")),
            ("He said so.\n", None),
            (&format!("key: |\n  {wide}\n"), Some(&format!("key: |\n  {wide}\n"))),
            (&format!("key: |\n  {wide}\n  more of it\n"), None),
        ] {
            let found = pending_from(text.as_bytes()).map(|from| &text[from..]);
            assert_eq!(found, waits, "{text}");
        }
    }
}
