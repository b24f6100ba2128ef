//! Finds terminal sequences and invisible characters, and removes them, so that rules match what a
//! reader sees: `grep --color` puts a sequence into the middle of a token, and a zero-width space
//! hides one.
//!
//! Whether a byte is hidden depends only on the [`SEQUENCE_BYTES_MAX`] bytes around it, so a
//! streamed text gives the same result as a whole one.

use crate::text::hidden;
use std::ops::Range;

/// The maximum length of a sequence. The longest are hyperlinks, which contain a URL.
pub(super) const SEQUENCE_BYTES_MAX: usize = 2 << 10;
/// The maximum length of a control sequence such as a color.
const CONTROL_BYTES_MAX: usize = 64;
/// The maximum number of backslashes before an escaped character. JSON doubles them at each level.
const STROKES_MAX: usize = 16;
/// The number of bytes that one step of the prefilter looks at.
const BLOCK: usize = 64;

const ESCAPE: u8 = 0x1b;

/// A part of a text without its hidden bytes.
pub(super) struct StrippedText {
    /// The visible bytes.
    pub(super) text: Vec<u8>,
    /// The offset of the part in the original text.
    base: usize,
    /// For each removed run, the offset in the visible text and the number of bytes removed so far.
    seams: Vec<(usize, usize)>,
}

impl StrippedText {
    /// Copies the visible bytes of a part of a text.
    pub(super) fn new(original: &[u8], part: Range<usize>) -> Self {
        let mut text = Vec::with_capacity(part.len());
        let mut seams: Vec<(usize, usize)> = Vec::new();
        let base = part.start;
        let mut at = part.start;
        while at < part.end {
            let Some(length) = hidden_length(original, at) else {
                text.push(original[at]);
                at += 1;
                continue;
            };
            let removed = seams.last().map_or(0, |(_, removed)| *removed) + length;
            match seams.last_mut().filter(|(place, _)| *place == text.len()) {
                Some(last) => last.1 = removed,
                None => seams.push((text.len(), removed)),
            }
            at += length;
        }
        Self { text, base, seams }
    }

    /// The original offset of the visible byte at `at`.
    pub(super) fn original_offset(&self, at: usize) -> usize {
        let before = self.seams.partition_point(|(place, _)| *place <= at);
        self.base + at + self.removed_by(before)
    }

    /// The original range from the first to the last byte of a visible range.
    pub(super) fn original_range(&self, range: &Range<usize>) -> Range<usize> {
        let start = self.original_offset(range.start);
        let end = range.end.checked_sub(1).map_or(0, |last| self.original_offset(last) + 1);
        start..end.max(start)
    }

    /// The number of visible bytes before the original offset `at`.
    pub(super) fn visible_offset(&self, at: usize) -> usize {
        let Some(at) = at.checked_sub(self.base) else { return 0 };
        let before = self.seams.partition_point(|(place, removed)| place + removed <= at);
        let next = self.seams.get(before).map_or(self.text.len(), |(place, _)| *place);
        (at - self.removed_by(before)).min(next).min(self.text.len())
    }

    /// The number of bytes that the first `count` seams removed.
    fn removed_by(&self, count: usize) -> usize {
        count.checked_sub(1).map_or(0, |last| self.seams[last].1)
    }
}

/// The offsets in a range at which something hidden may split a secret. There are none in most
/// texts, so this is one pass without a copy.
pub(super) fn hidden_places(text: &[u8], range: Range<usize>) -> Vec<usize> {
    let mut places = Vec::new();
    let Range { mut start, end } = range;
    while let Some((block, next)) = block_at(text, start).filter(|_| start + BLOCK <= end) {
        if may_hide(block, next) {
            places.extend((start..start + BLOCK).filter(|at| splits_text(text, *at)));
        }
        start += BLOCK;
    }
    places.extend((start..end).filter(|at| splits_text(text, *at)));
    places
}

/// A block of the text, and the block that starts one byte later.
fn block_at(text: &[u8], at: usize) -> Option<(&[u8; BLOCK], &[u8; BLOCK])> {
    let behind = text.get(at..=at + BLOCK)?;
    Some((behind.first_chunk()?, behind.last_chunk()?))
}

/// Whether a block may contain something hidden. It has no branch and a fixed length, so that the
/// compiler uses vector instructions.
fn may_hide(block: &[u8; BLOCK], next: &[u8; BLOCK]) -> bool {
    let mut met = 0;
    for (first, second) in block.iter().zip(next) {
        let control = u8::from(*first < b' ') & u8::from(first.wrapping_sub(b'\t') > 4);
        let letter = |known: u8| u8::from(*second == known);
        let escape = letter(b'u') | letter(b'U') | letter(b'x') | letter(b'0') | letter(b'e');
        met |= control | u8::from(*first >= 0x7f) | u8::from(*first == b'\\') & escape;
    }
    met != 0
}

/// Whether something hidden starts here that may split a secret. Secrets are ASCII, so what follows
/// another character, such as the variation selector of an emoji, splits none.
fn splits_text(text: &[u8], at: usize) -> bool {
    let byte = text[at];
    if byte.is_ascii_graphic() && byte != b'\\' {
        return false;
    }
    let follows_ascii = at == 0 || text[at - 1].is_ascii();
    (byte.is_ascii() || follows_ascii) && hidden_length(text, at).is_some()
}

/// The length of the terminal sequence or invisible character at `at`, if there is one.
fn hidden_length(text: &[u8], at: usize) -> Option<usize> {
    let rest = &text[at..];
    match rest[0] {
        ESCAPE => Some(1 + sequence_length(&rest[1..])),
        b'\\' => written_length(rest),
        0..=8 | 14..=31 | 0x7f => Some(1),
        0xc2.. => {
            let (letter, length) = first_letter(rest)?;
            match letter {
                '\u{9b}' => Some(length + control_length(&rest[length..]).unwrap_or(0)),
                // Output has it in the place of a hidden character.
                char::REPLACEMENT_CHARACTER => {
                    let behind = rest[length..].strip_prefix(b"[");
                    Some(length + behind.and_then(control_length).map_or(0, |control| 1 + control))
                }
                letter => is_invisible(letter).then_some(length),
            }
        }
        _ => None,
    }
}

/// The length of what follows an escape character, 0 if it is no sequence.
fn sequence_length(rest: &[u8]) -> usize {
    match rest.first() {
        Some(b'[') => 1 + control_length(&rest[1..]).unwrap_or(0),
        Some(b']' | b'P' | b'X' | b'^' | b'_') => 1 + string_length(&rest[1..]).unwrap_or(0),
        Some(b' '..=b'/') => {
            let middle = prefix_length(rest, |byte| (b' '..=b'/').contains(&byte));
            let ended = rest.get(middle).is_some_and(u8::is_ascii_graphic);
            if ended { middle + 1 } else { 0 }
        }
        Some(b'0'..=b'~') => 1,
        Some(_) | None => 0,
    }
}

/// The length of a control sequence without its introducer, such as `1;32m`.
fn control_length(rest: &[u8]) -> Option<usize> {
    let numbers = prefix_length(rest, |byte| (b'0'..=b'?').contains(&byte));
    let middle = prefix_length(&rest[numbers..], |byte| (b' '..=b'/').contains(&byte));
    let length = numbers + middle;
    rest.get(length).filter(|byte| (b'@'..=b'~').contains(byte)).map(|_| length + 1)
}

/// The length of a control string without its introducer, such as the target of a hyperlink.
fn string_length(rest: &[u8]) -> Option<usize> {
    let rest = &rest[..rest.len().min(SEQUENCE_BYTES_MAX / 2)];
    let length = rest.iter().position(|byte| *byte < b' ')?;
    match &rest[length..] {
        [7, ..] => Some(length + 1),
        [ESCAPE, b'\\', ..] => Some(length + 2),
        _ => None,
    }
}

/// The length of a hidden character that is written as an escape: `\u001b[1;32m`, `\x1b[K`,
/// `\u200b`, `\u{200b}`, `\U0000200B`. A terminal sequence counts with it.
fn written_length(rest: &[u8]) -> Option<usize> {
    let (letter, length) = written_letter(rest)?;
    let behind = &rest[length..];
    let sequence = match (letter, behind.first()) {
        ('\u{1b}', Some(b']' | b'P' | b'X' | b'^' | b'_')) => {
            written_string_length(&behind[1..]).map(|string| 1 + string)
        }
        ('\u{1b}', Some(b'[')) => control_length(&behind[1..]).map(|control| 1 + control),
        // Another `\e` may be part of a path.
        ('\u{1b}', _) if rest[length - 1] == b'e' => return None,
        ('\u{1b}', _) => Some(sequence_length(behind)),
        ('\u{9b}', _) => control_length(behind),
        ('\t'..='\r', _) => return None,
        _ if is_invisible(letter) => None,
        _ => return None,
    };
    Some(length + sequence.unwrap_or(0))
}

/// The character that is written as an escape, and the length of the escape.
fn written_letter(rest: &[u8]) -> Option<(char, usize)> {
    let strokes = rest.iter().take(STROKES_MAX).take_while(|byte| **byte == b'\\').count();
    let escape = &rest[strokes..];
    let (code, length) = match escape {
        [b'u' | b'x', b'{', digits @ ..] => {
            let count = prefix_length(digits, |byte| byte.is_ascii_hexdigit());
            digits.get(count).filter(|byte| **byte == b'}')?;
            (number(digits, count.min(8), 16)?, count + 3)
        }
        [b'u', digits @ ..] => match number(digits, 4, 16)? {
            high @ 0xd800..0xdc00 => {
                let (code, length) = pair(high, &digits[4..])?;
                (code, 5 + length)
            }
            code => (code, 5),
        },
        [b'U', digits @ ..] => (number(digits, 8, 16)?, 9),
        [b'x', digits @ ..] => (number(digits, 2, 16)?, 3),
        [b'0', digits @ ..] => (number(digits, 2, 8)?, 3),
        [b'e', ..] => (u32::from(ESCAPE), 1),
        _ => return None,
    };
    (strokes > 0).then_some((char::from_u32(code)?, strokes + length))
}

/// The number that the first `count` digits are.
fn number(digits: &[u8], count: usize, radix: u32) -> Option<u32> {
    let digits = std::str::from_utf8(digits.get(..count)?).ok()?;
    u32::from_str_radix(digits, radix).ok().filter(|_| !digits.starts_with('+'))
}

/// The code of a character beyond 16 bits, which JSON writes as two escapes, and the length of the
/// second one.
fn pair(high: u32, rest: &[u8]) -> Option<(u32, usize)> {
    let strokes = rest.iter().take(STROKES_MAX).take_while(|byte| **byte == b'\\').count();
    let low = rest[strokes..].strip_prefix(b"u").and_then(|digits| number(digits, 4, 16))?;
    let code = 0x1_0000 + ((high & 0x3ff) << 10) + (low & 0x3ff);
    (0xdc00..0xe000).contains(&low).then_some((code, strokes + 5))
}

/// The length of a control string without its introducer, if its end is written as an escape.
fn written_string_length(rest: &[u8]) -> Option<usize> {
    let rest = &rest[..rest.len().min(SEQUENCE_BYTES_MAX / 2)];
    let length = rest.iter().position(|byte| *byte < b' ' || *byte == b'\\')?;
    let (end, escape) = written_letter(&rest[length..])?;
    let strokes = rest[length + escape..].iter().take_while(|byte| **byte == b'\\').count();
    match end {
        '\u{7}' => Some(length + escape),
        '\u{1b}' if strokes > 0 => Some(length + escape + strokes),
        _ => None,
    }
}

fn prefix_length(text: &[u8], belongs: impl Fn(u8) -> bool) -> usize {
    text.iter().take(CONTROL_BYTES_MAX).take_while(|byte| belongs(**byte)).count()
}

/// The first character of a text that starts with one beyond ASCII, and its length.
fn first_letter(text: &[u8]) -> Option<(char, usize)> {
    let length = match text.first()? {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        _ => 4,
    };
    let letter = std::str::from_utf8(text.get(..length)?).ok()?.chars().next()?;
    Some((letter, length))
}

/// Whether a character has no width of its own: what output removes or replaces, and combining
/// marks.
fn is_invisible(letter: char) -> bool {
    let is_combining = matches!(letter,
        '\u{300}'..='\u{36f}'
        | '\u{483}'..='\u{489}'
        | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}'
        | '\u{fe20}'..='\u{fe2f}');
    is_combining || hidden::is_invisible(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visible(text: &str) -> String {
        let visible = StrippedText::new(text.as_bytes(), 0..text.len());
        String::from_utf8(visible.text).unwrap()
    }

    #[test]
    fn sequences_and_invisible_characters_are_removed() {
        for hidden in [
            "\u{1b}[31m",
            "\u{1b}[01;31m\u{1b}[K",
            "\u{1b}[?25l",
            "\u{1b}]0;title\u{7}",
            "\u{1b}]8;;https://host/path\u{1b}\\",
            "\u{1b}(B",
            "\u{1b}7",
            "\u{9b}32m",
            "\u{8}",
            "\u{7f}",
            "\u{ad}",
            "\u{200b}",
            "\u{2060}",
            "\u{202e}",
            "\u{feff}",
            "\u{332}",
            "\u{fe0f}",
            "\u{e0041}",
            "\\u001b[1;32m",
            "\\\\u001B[K",
            "\\x1b[0m",
            "\\033[0m",
            "\\e[0m",
            "\\u200b",
            "\\u00AD",
            "\u{0}",
            "\u{2028}",
            "\u{fffd}",
            "\u{fffd}[31m",
            "\\U0000200B",
            "\\\\U0000202E",
            "\\U0000001B[31m",
            "\\U0000001B(B",
            "\\U0000001B]0;title\\U00000007",
            "\\u001b]8;;https://host/path\\u001b\\\\",
            "\\U0000009B32m",
            "\\x85",
            "\\x9b32m",
            "\\u{200b}",
            "\\u{e0041}",
            "\\udb40\\udc41",
            "\\\\udb40\\\\udc41",
            "\\u0000",
            "\\007",
            "\\x7f",
        ] {
            assert_eq!(visible(&format!("a{hidden}b{hidden}")), "ab", "{hidden:?}");
            let text = format!("a{hidden}");
            assert_eq!(hidden_places(text.as_bytes(), 0..text.len())[0], 1, "{hidden:?}");
        }
    }

    #[test]
    fn visible_text_stays() {
        for text in [
            "plain\ttext\r\nand more",
            "é ü 漢字 “quoted” — …",
            "C:\\users\\example \\n \\u00e9 \\u2019 \\0 \\e",
            "{\"a\": \"\\\"b\\\"\\n\"}",
            "C:\\Users\\Ulla\\xa\\x41 \\u{e9} \\U0001F600 \\ud83d\\ude00 \\u000a \\x0d \\011",
            "\\u \\u{ \\u{} \\u{zz} \\x \\U123 \\ud83d \\udb40\\u0041 \\x+1",
        ] {
            assert_eq!(visible(text), text);
            assert_eq!(hidden_places(text.as_bytes(), 0..text.len()), [0; 0], "{text}");
        }
        // What follows an emoji is removed but splits nothing.
        let emoji = "⚠\u{fe0f} 👩\u{200d}💻";
        assert_eq!(hidden_places(emoji.as_bytes(), 0..emoji.len()), [0; 0]);
    }

    #[test]
    fn an_unfinished_sequence_hides_only_its_start() {
        assert_eq!(visible("a\u{1b}[31\nb"), "a31\nb");
        assert_eq!(visible("a\u{1b}]0;title\nb"), "a0;title\nb");
        assert_eq!(visible("a\u{1b}"), "a");
        assert_eq!(visible("a\u{1b}\nb"), "a\nb");
    }

    #[test]
    fn offsets_map_to_the_original_and_back() {
        let text = "ab\u{1b}[1mcd\u{200b}\u{200b}e";
        let visible = StrippedText::new(text.as_bytes(), 1..text.len());
        assert_eq!(visible.text, b"bcde");
        for (at, letter) in visible.text.iter().enumerate() {
            let original = visible.original_offset(at);
            assert_eq!(text.as_bytes()[original], *letter);
            assert_eq!(visible.visible_offset(original), at);
        }
        assert_eq!(visible.original_range(&(0..1)), 1..2);
        assert_eq!(&text[visible.original_range(&(1..3))], "cd");
        assert_eq!(&text[visible.original_range(&(2..4))], "d\u{200b}\u{200b}e");
        assert_eq!([0, 3, 5, 8, text.len()].map(|at| visible.visible_offset(at)), [0, 1, 1, 3, 4]);
    }
}
