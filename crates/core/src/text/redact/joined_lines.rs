//! Joins values that continue on the next line.
//!
//! The grammars are: a shell's `\`, adjacent or concatenated string literals, YAML block scalars,
//! and wrapped base64.

use super::hit::SecretCandidate;
use super::words::oddity;
use std::ops::Range;

/// The maximum length of one line of a value.
const LINE_BYTES_MAX: usize = 4096;
/// The maximum length of blanks between two lines.
const BETWEEN_BYTES_MAX: usize = 128;
/// The minimum width at which a value is wrapped.
pub(super) const WIDTH_MIN: usize = 60;
/// The minimum length at which a line can be compared with words.
const RANDOM_BYTES_MIN: usize = 16;
/// The widths at which programs wrap base64.
const WIDTHS: [usize; 4] = [60, 64, 72, 76];

/// The text of a candidate in which a multi-line value is joined into one line.
pub(super) struct JoinedLines {
    text: Vec<u8>,
    at: usize,
    /// For each removed separator, its offset in the joined text and its length in bytes.
    seams: Vec<(usize, usize)>,
}

impl JoinedLines {
    /// Joins the lines of the value that starts at `start` and continues at `from`. Returns `None`
    /// if the value ends on its first line. Joins lines of pure base64 only if `wrapped` is set.
    pub(super) fn new(
        hit: SecretCandidate<'_>,
        start: usize,
        from: usize,
        wrapped: bool,
    ) -> Option<Self> {
        let SecretCandidate { text, at } = hit;
        let from = from + prefix_length(&text[from..], BETWEEN_BYTES_MAX, is_blank);
        let mut end = from + run_length(&text[from..]);
        let seam = LineSeam::after_line(text, start..end, wrapped)?;
        let mut joined = Self { text: text[..end].to_vec(), at, seams: Vec::new() };
        while let Some(line) = seam.next_line(text, end) {
            joined.seams.push((joined.text.len(), line.start - end));
            joined.text.extend_from_slice(&text[line.clone()]);
            end = line.end;
            if line.len() < seam.width_min {
                break;
            }
        }
        joined.text.extend_from_slice(&text[end..]);
        (!joined.seams.is_empty()).then_some(joined)
    }

    /// The same candidate in the joined text.
    pub(super) fn hit(&self) -> SecretCandidate<'_> {
        SecretCandidate { text: &self.text, at: self.at }
    }

    /// Maps a range of the joined text back to the original text.
    pub(super) fn original_range(&self, range: &Range<usize>) -> Range<usize> {
        let taken = |belongs: &dyn Fn(usize) -> bool| -> usize {
            let seams = self.seams.iter().filter(|(at, _)| belongs(*at));
            seams.map(|(_, bytes)| bytes).sum()
        };
        let start = range.start + taken(&|at| at <= range.start);
        start..range.end + taken(&|at| at < range.end)
    }
}

/// How a line of a value continues on the next.
struct LineSeam<'t> {
    /// The separator between two lines.
    between: &'t [u8],
    /// A line narrower than this is the last one.
    width_min: usize,
    /// The maximum width of a line.
    width_max: usize,
    /// What the next line may contain.
    continuation: LineContinuation,
}

/// What the next line of a value may contain.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineContinuation {
    Anything,
    /// Random text or a line of full width, but no shorter words.
    Random,
    /// Only base64.
    Base64,
}

impl<'t> LineSeam<'t> {
    /// Detects how a line of a value continues, if it does.
    fn after_line(text: &'t [u8], line: Range<usize>, wrapped: bool) -> Option<Self> {
        let seam = |between: Range<usize>| Self {
            between: &text[between],
            width_min: 0,
            width_max: LINE_BYTES_MAX,
            continuation: LineContinuation::Anything,
        };
        let Range { start, end } = line;
        if let Some(between) =
            shell_continuation(text, start, end).or_else(|| adjacent_literals(text, end))
        {
            return Some(seam(between));
        }
        let (width_min, width_max) = (line.len(), line.len());
        if let Some((between, follows)) = block_lines(text, line.clone()) {
            return Some(Self { width_min, width_max, continuation: follows, ..seam(between) });
        }
        let between = wrapped_lines(text, line).filter(|_| wrapped)?;
        Some(Self { width_min, width_max, continuation: LineContinuation::Base64, ..seam(between) })
    }

    /// The range of the next line of a value whose last line ended at `end`.
    fn next_line(&self, text: &[u8], end: usize) -> Option<Range<usize>> {
        let from = end + self.between.len();
        let behind = text[end..].strip_prefix(self.between)?;
        let run = run_length(behind);
        let follows = match self.continuation {
            LineContinuation::Anything => true,
            LineContinuation::Random => run == self.width_min || oddity(&behind[..run]) >= 25,
            LineContinuation::Base64 => {
                // A path has the letters of base64 too.
                let is_random = run < RANDOM_BYTES_MIN || oddity(&behind[..run]) >= 20;
                is_base64_line(behind, run) && is_random
            }
        };
        (run > 0 && run <= self.width_max && follows).then_some(from..from + run)
    }
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

fn is_quote(byte: u8) -> bool {
    byte == b'"' || byte == b'\''
}

fn prefix_length(text: &[u8], most: usize, belongs: impl Fn(u8) -> bool) -> usize {
    text.iter().take(most).take_while(|byte| belongs(**byte)).count()
}

/// The length of the characters that cannot end a value.
fn run_length(text: &[u8]) -> usize {
    prefix_length(text, LINE_BYTES_MAX, |byte| {
        byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'`' | b'\\')
    })
}

/// The length of a line break, including one that is escaped for JSON any number of times.
pub(super) fn break_length(text: &[u8]) -> Option<usize> {
    let strokes = prefix_length(text, 16, |byte| byte == b'\\');
    let rest = &text[strokes..];
    match strokes {
        0 if rest.starts_with(b"\r\n") => Some(2),
        0 => rest.starts_with(b"\n").then_some(1),
        _ if rest.starts_with(b"n") => Some(strokes + 1),
        _ if rest.starts_with(b"r") => {
            let again = prefix_length(&rest[1..], 16, |byte| byte == b'\\');
            (again > 0 && rest[1 + again..].starts_with(b"n")).then_some(strokes + again + 2)
        }
        _ => None,
    }
}

/// The length of blanks and line breaks, including escaped ones.
pub(super) fn space_length(text: &[u8], most: usize) -> usize {
    let mut at = 0;
    while at < most {
        match text.get(at) {
            Some(byte) if byte.is_ascii_whitespace() => at += 1,
            Some(b'\\') => match break_length(&text[at..]) {
                Some(length) => at += length,
                None => break,
            },
            Some(_) | None => break,
        }
    }
    at
}

/// Detects a shell's `\` at the end of a line. JSON doubles the backslash and writes the line break
/// as `\n`. Inside quotes the next line may be indented.
fn shell_continuation(text: &[u8], start: usize, end: usize) -> Option<Range<usize>> {
    let strokes = prefix_length(&text[end..], 16, |byte| byte == b'\\');
    let rest = &text[end + strokes..];
    let broken = match strokes {
        1 => break_length(rest).filter(|_| !rest.starts_with(b"\\"))?,
        3 | 6 | 12 => usize::from(rest.starts_with(b"n")),
        _ => 0,
    };
    let next = end + strokes + broken;
    let quoted = start.checked_sub(1).is_some_and(|before| is_quote(text[before]));
    let indent = if quoted { prefix_length(&text[next..], BETWEEN_BYTES_MAX, is_blank) } else { 0 };
    (broken > 0).then_some(end..next + indent)
}

/// Detects adjacent string literals: the next one is on the next line or after an operator.
fn adjacent_literals(text: &[u8], end: usize) -> Option<Range<usize>> {
    let strokes = prefix_length(&text[end..], 16, |byte| byte == b'\\');
    let quote = *text.get(end + strokes).filter(|byte| is_quote(**byte))?;
    let mark = &text[end..=end + strokes];
    let mut at = end + mark.len();
    let space = |at: usize| prefix_length(&text[at..], BETWEEN_BYTES_MAX, is_blank);
    at += space(at);
    let mut added = concat_operator_length(&text[at..]);
    at += added + space(at + added);
    let broken = break_length(&text[at..]).unwrap_or(0);
    let indent = if broken > 0 { space(at + broken) } else { 0 };
    at += broken + indent;
    if added == 0 {
        added = concat_operator_length(&text[at..]);
        at += added + space(at + added);
    }
    let next = text[at..].starts_with(mark).then_some(at + mark.len())?;
    let closing = next + run_length(&text[next..]);
    let closed = text[closing..].starts_with(mark);
    // The next key of an object is quoted too.
    let behind = text.get(closing + mark.len()..).unwrap_or_default();
    let named = behind.iter().find(|byte| !is_blank(**byte)) == Some(&b':');
    let beside = broken > 0 && indent > 0 && closed && !named;
    (is_quote(quote) && (added > 0 || beside)).then_some(end..next)
}

/// The length of a concatenation operator: `+`, `.`, `..`, `&`, `<>`, `\`.
fn concat_operator_length(text: &[u8]) -> usize {
    let signs: [&[u8]; 6] = [b"..", b"<>", b"+", b".", b"&", b"\\\n"];
    let sign = signs.iter().find(|sign| text.starts_with(sign));
    sign.map_or(0, |sign| if sign.starts_with(b"\\") { 1 } else { sign.len() })
}

/// Detects the equally indented lines of a YAML block scalar. The lines of a folded block form one
/// value; those of a literal block may be a list.
fn block_lines(text: &[u8], line: Range<usize>) -> Option<(Range<usize>, LineContinuation)> {
    let before = &text[..line.start];
    let indent = before.iter().rev().take_while(|byte| is_blank(**byte)).count();
    let before = &before[..before.len() - indent];
    let strokes = |text: &[u8]| text.iter().rev().take_while(|byte| **byte == b'\\').count();
    let broken = match before.last()? {
        b'\n' if before.ends_with(b"\r\n") => 2,
        b'\n' => 1,
        b'n' => Some(strokes(&before[..before.len() - 1])).filter(|count| *count > 0)? + 1,
        _ => return None,
    };
    let head = &before[..before.len() - broken];
    let signs = head.iter().rev().take_while(|byte| b"+-123456789".contains(byte)).count();
    let follows = match &head[..head.len() - signs] {
        [.., b' ', b'>'] => LineContinuation::Anything,
        [.., b' ', b'|'] => LineContinuation::Random,
        _ => return None,
    };
    let between = line.end..line.end + broken + indent;
    let same = text.get(between.clone())? == &text[line.start - broken - indent..line.start];
    (indent > 0 && same && line.len() >= WIDTH_MIN).then_some((between, follows))
}

/// Detects base64 that a program has wrapped.
fn wrapped_lines(text: &[u8], line: Range<usize>) -> Option<Range<usize>> {
    let is_wide = WIDTHS.contains(&line.len());
    if !is_wide || !is_base64_line(&text[line.start..], line.len()) {
        return None;
    }
    let broken = break_length(&text[line.end..])?;
    let indent = prefix_length(&text[line.end + broken..], BETWEEN_BYTES_MAX, is_blank);
    Some(line.end..line.end + broken + indent)
}

/// Whether a line contains only base64 and is not a hex hash.
fn is_base64_line(text: &[u8], length: usize) -> bool {
    let (line, behind) = text.split_at(length);
    let letter = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/".contains(byte);
    let padding = line.iter().rev().take_while(|byte| **byte == b'=').count();
    let letters = &line[..length - padding];
    let alone =
        break_length(behind).is_some() || behind.first().is_none_or(|byte| b"\"'`".contains(byte));
    let is_hash = letters.iter().all(u8::is_ascii_hexdigit);
    let is_whole = length.is_multiple_of(4) && padding <= 2;
    alone && is_whole && letters.iter().all(letter) && !is_hash
}
