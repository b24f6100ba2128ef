//! Finds the values of a Kubernetes `Secret`: everything below `data` and `stringData` in the object
//! whose `kind` is `Secret`, in YAML and JSON, before and after that line.

use super::hit::{AFTER_BYTES_MAX, SecretCandidate};
use super::joined_lines::break_length;
use super::lines::BESIDE_LINES_MAX;
use super::value::ValueChecker;
use std::ops::Range;

/// The word that identifies a manifest.
pub(super) const PREFIX: &str = "Secret";

/// Shorter values are flags and numbers.
const VALUE_BYTES_MIN: usize = 4;
/// The maximum length of quotes and blanks around a name.
const AROUND_BYTES_MAX: usize = 24;

/// The maximum length of the line of `kind`, and of its indentation.
const KIND_BYTES_MAX: usize = 256;
const INDENT_BYTES_MAX: usize = 64;

/// A line of a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ManifestLine {
    /// The range of the line without its indentation and its line break.
    at: Range<usize>,
    /// The column of its first letter. The dash of a list counts as indentation.
    indent: usize,
}

/// The values of the manifest whose `kind` is here.
pub(super) fn find(hit: SecretCandidate<'_>, values: &ValueChecker) -> Vec<Range<usize>> {
    let Some(kind) = kind_start(hit) else { return Vec::new() };
    let found = if is_json(hit.text, kind) {
        json_values(hit.text, kind, hit.at)
    } else {
        yaml_values(hit.text, kind)
    };
    let is_real = |at: &Range<usize>| {
        let value = &hit.text[at.clone()];
        value.len() >= VALUE_BYTES_MIN && !values.is_placeholder(value)
    };
    found.into_iter().filter(is_real).collect()
}

/// Whether the manifest here may continue in text to come.
pub(super) fn is_open(hit: SecretCandidate<'_>) -> bool {
    let Some(kind) = kind_start(hit) else { return false };
    if hit.rest().len() == AFTER_BYTES_MAX {
        return false;
    }
    if is_json(hit.text, kind) {
        return closing_brace(hit.text, hit.at).is_none();
    }
    let Some(line) = kind_line(hit.text, kind) else { return false };
    lines_after(hit.text, line.at.end).all(|next| belongs(hit.text, &next, line.indent))
}

/// The offset of `kind` if its value starts at the candidate.
fn kind_start(hit: SecretCandidate<'_>) -> Option<usize> {
    let behind = hit.rest().get(PREFIX.len());
    let is_whole =
        behind.is_none_or(|byte| byte.is_ascii_whitespace() || b"\"'\\,}".contains(byte));
    let before = hit.before();
    let around = |byte: &&u8| b" \t\"'\\:".contains(byte);
    let around = before.iter().rev().take(AROUND_BYTES_MAX).take_while(around).count();
    let name = &before[..before.len() - around];
    let has_colon = before[name.len()..].contains(&b':');
    let start = name.strip_suffix(b"kind")?.len();
    let is_word = !name[..start].last().is_some_and(u8::is_ascii_alphanumeric);
    (is_whole && has_colon && is_word).then_some(start)
}

fn is_json(text: &[u8], kind: usize) -> bool {
    text[..kind].ends_with(b"\"")
}

/// The values below `data:` and `stringData:` beside the line of `kind`.
fn yaml_values(text: &[u8], kind: usize) -> Vec<Range<usize>> {
    let Some(line) = kind_line(text, kind) else { return Vec::new() };
    let indent = line.indent;
    let mut lines = data_before(text, kind - indent, indent);
    lines.extend(lines_after(text, line.at.end).take_while(|line| belongs(text, line, indent)));
    let mut found = Vec::new();
    let mut is_data = false;
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        if line.indent <= indent {
            is_data = is_data_name(&text[line.at.clone()]);
        } else if is_data {
            let below = lines[at..].iter().take_while(|next| next.indent > line.indent).count();
            found.extend(entry_value(text, line, &lines[at..at + below]));
            at += below;
        }
    }
    found
}

/// The line of `kind`, if nothing else is in it.
fn kind_line(text: &[u8], kind: usize) -> Option<ManifestLine> {
    let is_indent = |byte: &&u8| b" \t-".contains(byte);
    let indent = text[..kind].iter().rev().take(INDENT_BYTES_MAX).take_while(is_indent).count();
    let line = &text[kind..text.len().min(kind + KIND_BYTES_MAX)];
    let end =
        (0..=line.len()).find(|at| *at == line.len() || break_length(&line[*at..]).is_some())?;
    let is_whole = end < KIND_BYTES_MAX && is_line_start(text, kind - indent);
    is_whole.then_some(ManifestLine { at: kind..kind + end, indent })
}

/// The lines from `data:` on, if it is the last or the next to last name before `kind`. Names are in
/// order where a program writes the object, so nothing else is between them.
fn data_before(text: &[u8], start: usize, indent: usize) -> Vec<ManifestLine> {
    let mut lines: Vec<ManifestLine> = Vec::new();
    let mut beside = 0;
    for line in lines_before(text, start).take_while(|line| belongs(text, line, indent)) {
        let (is_deeper, is_data) = (line.indent > indent, is_data_name(&text[line.at.clone()]));
        lines.push(line);
        if is_deeper {
            continue;
        }
        if is_data {
            lines.reverse();
            return lines;
        }
        beside += 1;
        if beside > BESIDE_LINES_MAX {
            break;
        }
    }
    Vec::new()
}

/// Whether a line is still part of the object: nothing less indented, and no other document.
fn belongs(text: &[u8], line: &ManifestLine, indent: usize) -> bool {
    let letters = &text[line.at.clone()];
    let named = letters.contains(&b':') && !letters.starts_with(b"kind:");
    let named = named || letters.starts_with(b"#");
    letters.is_empty() || line.indent > indent || (line.indent == indent && named)
}

fn is_data_name(line: &[u8]) -> bool {
    [&b"data:"[..], b"stringData:"].contains(&line.trim_ascii_end())
}

/// The value of `name: value`, or of the block below `name: |`.
fn entry_value(text: &[u8], line: &ManifestLine, below: &[ManifestLine]) -> Option<Range<usize>> {
    let letters = &text[line.at.clone()];
    let colon = letters.iter().position(|byte| *byte == b':')?;
    let value = letters[colon + 1..].trim_ascii();
    if value.is_empty() || b"|>".contains(&value[0]) {
        let (first, last) = (below.first()?, below.last()?);
        return Some(first.at.start..last.at.end);
    }
    let from = line.at.start + colon + 1;
    let from = from + text[from..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let quote = value[0];
    if b"\"'".contains(&quote) {
        let end = value[1..].iter().position(|byte| *byte == quote)?;
        return Some(from + 1..from + 1 + end);
    }
    let comment = value.windows(2).position(|pair| pair == b" #").unwrap_or(value.len());
    Some(from..from + value[..comment].trim_ascii_end().len())
}

/// The line that starts at `start`.
fn line_from(text: &[u8], start: usize) -> ManifestLine {
    let end = (start..text.len()).find(|at| break_length(&text[*at..]).is_some());
    let end = end.unwrap_or(text.len());
    let is_indent = |byte: &&u8| b" \t-".contains(byte);
    let indent = text[start..end].iter().take_while(is_indent).count();
    // The dashes between two documents are no indentation.
    let indent = if text[start..end].starts_with(b"---") { 0 } else { indent };
    ManifestLine { at: start + indent..end, indent }
}

/// Whether a line starts here, after a line break as it is or as an escape.
fn is_line_start(text: &[u8], at: usize) -> bool {
    let before = &text[..at];
    before.is_empty() || before.ends_with(b"\n") || before.ends_with(b"\\n")
}

/// The lines after the one that ends at `end`.
fn lines_after(text: &[u8], mut end: usize) -> impl Iterator<Item = ManifestLine> {
    std::iter::from_fn(move || {
        let start = end + break_length(&text[end..])?;
        // The empty line after the last line break is not there yet.
        (start < text.len()).then_some(())?;
        let line = line_from(text, start);
        end = line.at.end;
        Some(line)
    })
}

/// The lines before the one that starts at `start`, the nearest first.
fn lines_before(text: &[u8], mut start: usize) -> impl Iterator<Item = ManifestLine> {
    std::iter::from_fn(move || {
        start = (0..start).rev().find(|at| is_line_start(text, *at))?;
        Some(line_from(text, start))
    })
}

/// The strings below `data` and `stringData` in the JSON object of `kind`.
fn json_values(text: &[u8], kind: usize, at: usize) -> Vec<Range<usize>> {
    let end = closing_brace(text, at).unwrap_or(text.len());
    let start = opening_brace(text, kind);
    let mut found = Vec::new();
    let mut from = start;
    while let Some(name) = position(&text[from..end], b"ata").map(|at| from + at) {
        from = name + b"ata".len();
        let is_name = text[..name].ends_with(b"\"d") || text[..name].ends_with(b"\"stringD");
        let open = text[from..end].iter().position(|byte| !b"\"\\ :\t\r\n".contains(byte));
        let open = open.map(|open| from + open).filter(|open| text[*open] == b'{' && is_name);
        if let Some(open) = open {
            let close = closing_brace(text, open + 1).map_or(end, |close| close.min(end));
            found.extend(object_values(text, open + 1..close));
            from = close;
        }
    }
    found
}

/// The values of an object of strings.
fn object_values(text: &[u8], object: Range<usize>) -> Vec<Range<usize>> {
    let quotes: Vec<usize> = object.filter(|at| text[*at] == b'"').collect();
    let pairs = quotes.chunks_exact(4);
    let value = |four: &[usize]| {
        let strokes = text[..four[3]].iter().rev().take_while(|byte| **byte == b'\\').count();
        four[2] + 1..(four[3] - strokes).max(four[2] + 1)
    };
    pairs.map(value).collect()
}

/// The brace that ends the object around `at`. Another kind belongs to another object, so that a
/// text full of kinds costs no more.
fn closing_brace(text: &[u8], at: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (offset, byte) in text[at..].iter().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 0 => return Some(at + offset),
            b'}' => depth -= 1,
            b'k' if depth == 0 && is_kind(&text[at + offset..]) => return None,
            _ => {}
        }
    }
    None
}

/// The offset after the brace that starts the object around `at`.
fn opening_brace(text: &[u8], at: usize) -> usize {
    let mut depth = 0usize;
    for (offset, byte) in text[..at].iter().enumerate().rev() {
        match byte {
            b'}' => depth += 1,
            b'{' if depth == 0 => return offset + 1,
            b'{' => depth -= 1,
            b'k' if depth == 0 && is_kind(&text[offset..]) => return at,
            _ => {}
        }
    }
    0
}

fn is_kind(text: &[u8]) -> bool {
    text.starts_with(b"kind\"") || text.starts_with(b"kind\\")
}

fn position(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}
