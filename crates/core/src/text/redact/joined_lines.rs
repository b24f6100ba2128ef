//! Values that go on in the next line, by the grammar of what they stand in: the `\` of a shell,
//! literals beside each other or added to each other, the block of a YAML document, and base64 that
//! is wrapped.

use super::hit::SecretCandidate;
use super::words::oddity;
use std::ops::Range;

/// No line of a value is longer.
const LINE_BYTES_MAX: usize = 4096;
/// What stands between two lines is shorter.
const BETWEEN_BYTES_MAX: usize = 128;
/// Nobody breaks lines that are narrower.
pub(super) const WIDTH_MIN: usize = 60;
/// How wide programs make lines of base64.
const WIDTHS: [usize; 4] = [60, 64, 72, 76];

/// Surroundings in which a value goes on over the ends of lines, without what stands between them.
pub(super) struct JoinedLines {
    text: Vec<u8>,
    at: usize,
    /// Where something was taken out, and how many bytes of it.
    seams: Vec<(usize, usize)>,
}

impl JoinedLines {
    /// Joins the lines of the value that begins at `start` and whose letters go on at `from`.
    /// `None` if it ends in its first line. Lines with nothing but base64 are joined if `wrapped`.
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

    /// The same place in the joined text.
    pub(super) fn hit(&self) -> SecretCandidate<'_> {
        SecretCandidate { text: &self.text, at: self.at }
    }

    /// Where a part of the joined text stood before.
    pub(super) fn original_range(&self, range: &Range<usize>) -> Range<usize> {
        let taken = |belongs: &dyn Fn(usize) -> bool| -> usize {
            let seams = self.seams.iter().filter(|(at, _)| belongs(*at));
            seams.map(|(_, bytes)| bytes).sum()
        };
        let start = range.start + taken(&|at| at <= range.start);
        start..range.end + taken(&|at| at < range.end)
    }
}

/// How one line of a value goes over into the next.
struct LineSeam<'t> {
    /// What stands between two lines.
    between: &'t [u8],
    /// A narrower line is the last.
    width_min: usize,
    /// No line is wider.
    width_max: usize,
    /// What may follow.
    continuation: LineContinuation,
}

/// What may stand in the next line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineContinuation {
    Anything,
    /// No word.
    Random,
    /// Nothing but base64.
    Base64,
}

impl<'t> LineSeam<'t> {
    /// How a line of a value goes on, if it does.
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

    /// The next line of a value whose last one ended here.
    fn next_line(&self, text: &[u8], end: usize) -> Option<Range<usize>> {
        let from = end + self.between.len();
        let behind = text[end..].strip_prefix(self.between)?;
        let run = run_length(behind);
        let follows = match self.continuation {
            LineContinuation::Anything => true,
            LineContinuation::Random => run == self.width_min || oddity(&behind[..run]) >= 25,
            LineContinuation::Base64 => is_base64_line(behind, run),
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

/// Letters and signs that a value may have without ending.
fn run_length(text: &[u8]) -> usize {
    prefix_length(text, LINE_BYTES_MAX, |byte| {
        byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'`' | b'\\')
    })
}

/// The end of a line, also as JSON writes it, however deep.
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

/// Breaks and blanks.
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

/// A shell's `\` at the end of a line. JSON doubles it, and writes the break as `\n`. Between
/// quotes the next line may stand deeper.
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

/// `"` and the next `"`: on the next line, or behind the sign that adds them.
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
    // The next name of an object stands between quotes too.
    let behind = text.get(closing + mark.len()..).unwrap_or_default();
    let named = behind.iter().find(|byte| !is_blank(**byte)) == Some(&b':');
    let beside = broken > 0 && indent > 0 && closed && !named;
    (is_quote(quote) && (added > 0 || beside)).then_some(end..next)
}

/// What adds texts: `+`, `.`, `..`, `&`, `<>`, `\`.
fn concat_operator_length(text: &[u8]) -> usize {
    let signs: [&[u8]; 6] = [b"..", b"<>", b"+", b".", b"&", b"\\\n"];
    let sign = signs.iter().find(|sign| text.starts_with(sign));
    sign.map_or(0, |sign| if sign.starts_with(b"\\") { 1 } else { sign.len() })
}

/// The lines of a YAML block, which stand equally deep. Folded ones are one value; others may be a
/// list.
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

/// Lines of base64 that a program made.
fn wrapped_lines(text: &[u8], line: Range<usize>) -> Option<Range<usize>> {
    let is_wide = WIDTHS.contains(&line.len());
    if !is_wide || !is_base64_line(&text[line.start..], line.len()) {
        return None;
    }
    let broken = break_length(&text[line.end..])?;
    let indent = prefix_length(&text[line.end + broken..], BETWEEN_BYTES_MAX, is_blank);
    Some(line.end..line.end + broken + indent)
}

/// Whether a line has nothing but base64 in it, and is no hash.
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
