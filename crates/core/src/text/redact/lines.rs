//! Finds the complete lines of a stream that later text cannot change, so that a log can be
//! followed line by line.

use super::joined_lines::WIDTH_MIN;

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
    if end == text.len() {
        return None;
    }
    let before = |end: usize| if end == 0 { 0 } else { line_start(text, end - 1) };
    Some((0..LINES_BEFORE).fold(end, |end, _| before(end)))
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
