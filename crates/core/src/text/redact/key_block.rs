//! Finds PEM private keys, including those whose line breaks are written as `\n`.

use super::REDACTION_MARK;
use super::hit::{AFTER_BYTES_MAX, SecretCandidate};
use super::joined_lines::break_length;
use super::words::oddity;
use std::ops::Range;

/// How a block starts: the PEM form and the SSH2 form.
pub(super) const PREFIXES: [&str; 2] = ["-----BEGIN ", "---- BEGIN SSH2 ENCRYPTED "];

const LABEL_BYTES_MAX: usize = 64;
/// Base64 runs of this length are too long to be a word.
pub(super) const RUN_BYTES_MIN: usize = 16;
const LONG_RUN_BYTES_MIN: usize = 40;
/// Two line breaks, because an empty line may follow the first line.
const BREAKS_MAX: usize = 2;
const INDENT_BYTES_MAX: usize = 64;
/// A line narrower than this is the last one.
const LINE_BYTES_MIN: usize = 60;

/// The range of the block that starts here. Without an end line, it covers the base64 lines.
pub(super) fn find(hit: SecretCandidate<'_>, begins: &str) -> Option<Range<usize>> {
    let rest = hit.rest();
    let dashes = &begins.as_bytes()[..4];
    let label = line_of_dashes(rest, begins.len(), dashes)?;
    let body = label.end;
    // What was redacted before is not a part of this key.
    let mark = REDACTION_MARK.as_bytes();
    let next = [dashes, mark].into_iter().filter_map(|end| position(&rest[body..], end)).min();
    let next = next.map(|at| at + body);
    let closing = find_closing(rest, body, dashes).ok();
    let closing = closing.filter(|closing| !is_mentioned(&rest[body..*closing]));
    let end = match closing {
        Some(at) => line_of_dashes(rest, at + dashes.len(), dashes)?.end,
        None => {
            let block = &rest[body..next.unwrap_or(rest.len())];
            let length = length_of_base64(hit.before(), block);
            body + if length > 0 { length } else { length_of_line(block) }
        }
    };
    has_key(&rest[body..closing.unwrap_or(end)]).then(|| hit.at..hit.at + end)
}

/// Whether the block that starts here may still be completed by text to come.
pub(super) fn is_open(hit: SecretCandidate<'_>, begins: &str) -> bool {
    let rest = hit.rest();
    let dashes = &begins.as_bytes()[..4];
    if rest.len() == AFTER_BYTES_MAX {
        return false;
    }
    match line_of_dashes(rest, begins.len(), dashes) {
        Some(label) => find_closing(rest, label.end, dashes) == Err(UnclosedReason::Missing),
        None => {
            let line = &rest[begins.len()..];
            line.len() < LABEL_BYTES_MAX && position(line, dashes).is_none()
        }
    }
}

/// Why a block has no end line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UnclosedReason {
    /// The text ends before an end line.
    Missing,
    /// The next line of dashes belongs to something else.
    Foreign,
}

/// The rest of a line that names a private key and ends with dashes.
pub(super) fn line_of_dashes(text: &[u8], from: usize, dashes: &[u8]) -> Option<Range<usize>> {
    let line = text.get(from..text.len().min(from + LABEL_BYTES_MAX))?;
    let length = position(line, dashes)?;
    let names_key = position(&line[..length], b"PRIVATE KEY").is_some();
    let tail = line[length..].iter().take_while(|byte| **byte == b'-').count();
    names_key.then(|| from..from + length + tail)
}

/// The start of the line that ends the block. Nested blocks are matched with their own end lines.
fn find_closing(text: &[u8], body: usize, dashes: &[u8]) -> Result<usize, UnclosedReason> {
    let (mut open, mut from) = (1, body);
    // The dashes that end the first line may also start the next block.
    if names_key(&text[body..], b"BEGIN ") {
        open += 1;
        from = line_of_dashes(text, body, dashes).ok_or(UnclosedReason::Missing)?.end;
    }
    loop {
        let at = from + position(&text[from..], dashes).ok_or(UnclosedReason::Missing)?;
        let line = after_dashes(&text[at..], dashes);
        let begins = names_key(line, b"BEGIN ");
        match (begins, names_key(line, b"END ")) {
            (true, _) => open += 1,
            (false, true) if open == 1 => return Ok(at),
            (false, true) => open -= 1,
            (false, false) => return Err(UnclosedReason::Foreign),
        }
        from = line_of_dashes(text, at + dashes.len(), dashes).ok_or(UnclosedReason::Missing)?.end;
    }
}

fn after_dashes<'t>(text: &'t [u8], dashes: &[u8]) -> &'t [u8] {
    let text = &text[dashes.len()..];
    text.strip_prefix(b"-").or(text.strip_prefix(b" ")).unwrap_or(text)
}

/// Whether a line starts with `word` and names a private key.
fn names_key(text: &[u8], word: &[u8]) -> bool {
    let line = &text[..text.len().min(LABEL_BYTES_MAX)];
    line.starts_with(word) && position(line, b"PRIVATE KEY").is_some()
}

pub(super) fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)
}

/// Whether the body contains key data, rather than just mentioning a private key.
fn has_key(body: &[u8]) -> bool {
    body.split(|byte| !is_base64(*byte)).any(|run| {
        // The `n` of an escaped line break counts as part of the run after it.
        run.len() >= LONG_RUN_BYTES_MIN || (run.len() >= RUN_BYTES_MIN && oddity(run) >= 25)
    })
}

/// Whether prose comes before the first line of a key: the first line is only mentioned, and the key
/// is another one whose own first line is missing.
fn is_mentioned(body: &[u8]) -> bool {
    let body = &body[..body.len().min(MENTION_BYTES_MAX)];
    if let [b'`', next, ..] = body
        && matches!(next, b'.' | b',' | b';' | b')')
    {
        return true;
    }
    let mut from = 0;
    while from < body.len() {
        let rest = &body[from..];
        let line = (0..rest.len()).find(|at| break_length(&rest[*at..]).is_some());
        let line = &rest[..line.unwrap_or(rest.len())];
        let has_run = line.split(|byte| !is_base64(*byte)).any(|run| run.len() >= RUN_BYTES_MIN);
        if has_run || position(line, b"----").is_some() {
            return false;
        }
        if is_prose(line) {
            return true;
        }
        from += line.len() + break_length(&rest[line.len()..]).unwrap_or(1);
    }
    false
}

/// How many bytes are checked for prose.
const MENTION_BYTES_MAX: usize = 512;

/// Whether a line has two words and is no header such as `Comment: two words`.
fn is_prose(line: &[u8]) -> bool {
    let named = line.iter().take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'-').count();
    let is_header = named > 0 && line[named..].starts_with(b": ");
    let is_word = |word: &[u8]| word.len() >= 2 && word.iter().all(u8::is_ascii_alphabetic);
    let words: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    let pair = |pair: &[&[u8]]| {
        let [first, second] = pair else { return false };
        let letters = second.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        is_word(first) && letters >= 2
    };
    !is_header && words.windows(2).any(pair)
}

/// The length of a block without an end line: lines of equal width with equal separators.
fn length_of_base64(before: &[u8], body: &[u8]) -> usize {
    let marks: &[u8] = if before.ends_with(b"+") { b"+" } else { b"" };
    let (mut end, mut width) = (0, usize::MAX);
    let mut first: Option<&[u8]> = None;
    while let Some(gap) = gap_length(&body[end..], marks) {
        let between = &body[end..end + gap];
        let alike = first.is_none_or(|first| has_same_ending(first, between));
        let line = &body[end + gap..];
        let run = line.iter().take_while(|byte| is_base64(**byte)).count();
        let words = run < RUN_BYTES_MIN || oddity(&line[..run]) < 25;
        if !alike || words || run > width || line.get(run) == Some(&b' ') {
            break;
        }
        end += gap + run;
        first = first.or(Some(between));
        if run < width.min(LINE_BYTES_MIN) {
            break;
        }
        width = run;
    }
    end
}

/// The length of a key that was written into one line, with or without blanks between its parts.
fn length_of_line(body: &[u8]) -> usize {
    let mut end = 0;
    loop {
        let blanks = body[end..].iter().take(BREAKS_MAX).take_while(|byte| **byte == b' ').count();
        let part = &body[end + blanks..];
        let run = part.iter().take_while(|byte| is_base64(**byte)).count();
        let is_key = run >= if end == 0 { LONG_RUN_BYTES_MIN } else { RUN_BYTES_MIN };
        if !is_key || oddity(&part[..run]) < 25 {
            return end;
        }
        end += blanks + run;
    }
}

/// Whether `first` ends with `other`, ignoring line numbers.
fn has_same_ending(first: &[u8], other: &[u8]) -> bool {
    let is_number = |byte: u8| byte.is_ascii_digit() || byte == b' ';
    let alike = |(one, two): (&u8, &u8)| one == two || (is_number(*one) && is_number(*two));
    first.len() >= other.len() && first.iter().rev().zip(other.iter().rev()).all(alike)
}

/// The length of the separator between two lines: breaks, line numbers, and decoration.
fn gap_length(text: &[u8], marks: &[u8]) -> Option<usize> {
    let mut at = decoration_length(text);
    let broken = at;
    for _ in 0..BREAKS_MAX {
        at += break_length(&text[at..]).unwrap_or(0);
    }
    if at == broken || !text[at..].starts_with(marks) {
        return None;
    }
    at += marks.len();
    at += number_length(&text[at..]);
    Some(at + decoration_length(&text[at..]))
}

/// The length of quotes and markers such as those of quoted, commented or changed lines.
fn decoration_length(text: &[u8]) -> usize {
    let is_decoration = |byte: &&u8| b" \t\"'`>|,#*-".contains(byte);
    text.iter().take(INDENT_BYTES_MAX).take_while(is_decoration).count()
}

/// The length of a line number and its separator.
fn number_length(text: &[u8]) -> usize {
    let count = |text: &[u8], belongs: fn(&u8) -> bool| {
        text.iter().take(INDENT_BYTES_MAX).take_while(|byte| belongs(byte)).count()
    };
    let blanks = count(text, |byte| *byte == b' ');
    let digits = count(&text[blanks..], u8::is_ascii_digit);
    let behind = &text[blanks + digits..];
    let dividers: [&[u8]; 6] = [b"\t", b"\\t", b"\\\\t", "→".as_bytes(), b": ", b" "];
    let divider = dividers.iter().find(|divider| behind.starts_with(divider));
    divider.filter(|_| digits > 0).map_or(0, |divider| blanks + digits + divider.len())
}

fn position(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}
