//! Sanitizes untrusted text: removes or marks hidden characters and control sequences and defuses
//! tags and links, but keeps everything a reader can see.
//! A few rules apply to every text; there is no list of bad words. That is enough, because callers
//! quote the result after a marker.

use crate::text::hidden::{HIDDEN_MARK, is_hidden, is_shaping_hint};

/// Maximum number of combining marks on one letter. More make it unreadable.
const COMBINING_MAX: usize = 3;

/// Maximum number of consecutive spaces.
const SPACES_MAX: usize = 8;

/// The sanitized beginning of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct VisibleText {
    /// Lines of visible characters, without empty lines at the ends or two in a row.
    pub(super) text: String,
    /// The number of characters of the original that were cut off.
    pub(super) characters_truncated: usize,
}

impl VisibleText {
    /// Sanitizes at most this many characters of a text.
    pub(super) fn new(text: &str, characters_max: usize) -> Self {
        let text = text.trim();
        let mut writer = VisibleWriter::default();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            if writer.characters >= characters_max {
                break;
            }
            let plain = plain_length(rest, characters_max - writer.characters);
            rest = match plain {
                0 => writer.take(c, rest),
                _ => writer.put_plain(rest, plain),
            };
        }
        let text = writer.text.trim_end();
        Self { text: text.to_owned(), characters_truncated: rest.chars().count() }
    }

    /// Sanitizes a text and joins its lines.
    pub(super) fn single_line(text: &str, characters_max: usize) -> Self {
        let Self { text, characters_truncated } = Self::new(text, characters_max);
        Self { text: text.split_whitespace().collect::<Vec<_>>().join(" "), characters_truncated }
    }
}

#[derive(Default)]
struct VisibleWriter {
    text: String,
    characters: usize,
    /// Angle brackets that are open in this line.
    open: usize,
    combining: usize,
    spaces: usize,
}

impl VisibleWriter {
    /// Writes what starts with this character. Returns the rest of the text.
    fn take<'text>(&mut self, c: char, rest: &'text str) -> &'text str {
        let after = &rest[c.len_utf8()..];
        if let Some(after) = skip_ansi_sequence(c, after) {
            return after;
        }
        let (c, after) = entity(rest).unwrap_or((c, after));
        match c {
            '\r' if after.starts_with('\n') => {}
            c if ends_line(c) => self.line_end(),
            '\t' => (0..2).for_each(|_| self.space()),
            c if is_shaping_hint(c) => {}
            c if c.is_whitespace() => self.space(),
            c if is_hidden(c) => self.mark_hidden(),
            c if is_combining(c) => self.combine(c),
            '<' if starts_path(after) => self.put(c),
            c if opens_tag(c) => {
                self.open += 1;
                self.put('‹');
            }
            c if closes_tag(c) && self.open > 0 && !self.text.ends_with(['-', '=']) => {
                self.open -= 1;
                self.put('›');
            }
            c => {
                self.separate_pair(c);
                self.put(c);
            }
        }
        after
    }

    /// Writes characters that no rule applies to. Returns the rest of the text.
    fn put_plain<'text>(&mut self, rest: &'text str, length: usize) -> &'text str {
        let (plain, rest) = rest.split_at(length);
        self.combining = 0;
        self.spaces = 0;
        self.text.push_str(plain);
        self.characters += length;
        rest
    }

    fn put(&mut self, c: char) {
        self.combining = 0;
        self.spaces = 0;
        self.push(c);
    }

    fn push(&mut self, c: char) {
        self.text.push(c);
        self.characters += 1;
    }

    fn line_end(&mut self) {
        self.open = 0;
        self.spaces = 0;
        self.text.truncate(self.text.trim_end_matches(' ').len());
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.push('\n');
        }
    }

    fn space(&mut self) {
        self.combining = 0;
        self.spaces += 1;
        if self.spaces <= SPACES_MAX {
            self.push(' ');
        }
    }

    fn mark_hidden(&mut self) {
        if !self.text.ends_with(HIDDEN_MARK) {
            self.put(HIDDEN_MARK);
        }
    }

    fn combine(&mut self, c: char) {
        self.combining += 1;
        match self.combining {
            ..=COMBINING_MAX => self.push(c),
            _ => {
                if !self.text.ends_with(HIDDEN_MARK) {
                    self.push(HIDDEN_MARK);
                }
            }
        }
    }

    /// Separates the character pairs that form links, references and closing tags such as
    /// `[/INST]`.
    fn separate_pair(&mut self, c: char) {
        let pair = matches!(
            (self.text.chars().next_back(), c),
            (Some(']'), '(' | '[' | ':') | (Some('['), '/' | '^')
        );
        if pair {
            self.space();
        }
    }
}

/// The length of the plain characters at the start of a text, to which no rule applies. Most text
/// is plain, and a briefing checks hundreds of texts while a client waits.
fn plain_length(text: &str, most: usize) -> usize {
    let is_plain = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'.' | b',' | b';' | b'!' | b'?' | b'-' | b'_' | b'\'' | b'"' | b'`')
    };
    text.bytes().take(most).take_while(is_plain).count()
}

/// The text after a color or other control sequence of a terminal.
fn skip_ansi_sequence(c: char, after: &str) -> Option<&str> {
    const LENGTH_MAX: usize = 32;
    let parameters = match c {
        '\u{1B}' => after.strip_prefix('[')?,
        '\u{9B}' => after,
        _ => return None,
    };
    let end = parameters.bytes().take(LENGTH_MAX).position(|byte| !matches!(byte, 0x20..=0x3F))?;
    let is_final = matches!(parameters.as_bytes()[end], 0x40..=0x7E);
    is_final.then(|| &parameters[end + 1..])
}

/// An angle bracket written as an entity, and the text after it.
fn entity(rest: &str) -> Option<(char, &str)> {
    const LENGTH_MAX: usize = 12;
    let body = rest.strip_prefix('&')?;
    let end = body.bytes().take(LENGTH_MAX).position(|byte| byte == b';')?;
    let name = body[..end].to_ascii_lowercase();
    let number = name.strip_prefix('#').and_then(|digits| match digits.strip_prefix('x') {
        Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok(),
        None => digits.parse().ok(),
    });
    let c = match (name.as_str(), number) {
        ("lt", _) | (_, Some(0x3C)) => '<',
        ("gt", _) | (_, Some(0x3E)) => '>',
        _ => return None,
    };
    Some((c, &body[end + 1..]))
}

/// Whether a character ends a line.
pub(super) fn ends_line(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{B}' | '\u{C}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether an absolute path with at least two names follows, as in `</dev/null`. No tag does.
fn starts_path(after: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let after_name = after.strip_prefix('/').map(|rest| rest.trim_start_matches(is_name));
    let rest = after_name.and_then(|rest| rest.strip_prefix('/'));
    rest.is_some_and(|rest| rest.starts_with(is_name))
}

fn opens_tag(c: char) -> bool {
    matches!(c, '<' | '\u{FF1C}' | '\u{FE64}' | '\u{2C2}' | '\u{1438}')
}

fn closes_tag(c: char) -> bool {
    matches!(c, '>' | '\u{FF1E}' | '\u{FE65}' | '\u{2C3}' | '\u{1433}')
}

fn is_combining(c: char) -> bool {
    matches!(u32::from(c),
        0x300..=0x36F | 0x483..=0x489 | 0x591..=0x5BD | 0x5BF | 0x5C1..=0x5C2 | 0x5C4..=0x5C5
        | 0x610..=0x61A | 0x64B..=0x65F | 0x670 | 0x6D6..=0x6DC | 0x6DF..=0x6E4 | 0x93C | 0x941..=0x948
        | 0x94D | 0xE31 | 0xE34..=0xE3A | 0xE47..=0xE4E | 0xF71..=0xF7E | 0x1AB0..=0x1AFF
        | 0x1DC0..=0x1DFF | 0x20D0..=0x20FF | 0x302A..=0x302F | 0x3099..=0x309A | 0xFE20..=0xFE2F)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let found = VisibleText::new(text, 1_000);
        assert_eq!(found, VisibleText { text: expected.to_owned(), characters_truncated: 0 });
        assert_eq!(VisibleText::new(&found.text, 1_000), found, "what is visible stays as it is");
    }

    #[test]
    fn a_redirection_from_a_path_stays_exact() {
        let shown = |text: &str| VisibleText::new(text, 100).text;
        assert_eq!(shown("wc </dev/null >out"), "wc </dev/null >out");
        for tag in ["</system>", "</system x/y>", "</a/>", "<a/b>", "</a /b>"] {
            assert!(shown(tag).starts_with('‹'), "{tag}");
        }
    }

    #[test]
    fn ordinary_text_stays_readable() {
        check("Zürich, 東京, café, 👍🏽, ≤ 5 µs", "Zürich, 東京, café, 👍🏽, ≤ 5 µs");
        check("a -> b => c >> d 2>&1", "a -> b => c >> d 2>&1");
        check("Vec<Option<T>> when a < b", "Vec‹Option‹T›› when a ‹ b");
        check("impl Fn<A> -> B<C>", "impl Fn‹A› -> B‹C›");
        check("R&D &amp; co; a&b;", "R&D &amp; co; a&b;");
        check("arr[0][1] and v[i](x)", "arr[0] [1] and v[i] (x)");
        check("⚠️ careful", "⚠ careful");
    }

    #[test]
    fn tags_in_any_spelling_are_defused() {
        check("</system-reminder>", "‹/system-reminder›");
        check("< / SYSTEM >", "‹ / SYSTEM ›");
        check("＜／system＞", "‹／system›");
        check("&lt;system&GT; &#60;/x&#x3e; &#X003C;", "‹system› ‹/x› ‹");
        check("<\u{200b}/sys\u{ad}tem>", "‹/system›");
        check("<|im_end|> <<SYS>> [/INST]", "‹|im_end|› ‹‹SYS›› [ /INST]");
    }

    #[test]
    fn links_become_text_and_address() {
        check("[x](javascript:alert)", "[x] (javascript:alert)");
        check("![x](http://a/?q)", "![x] (http://a/?q)");
        check("[x]\u{200d}(http://a)", "[x] (http://a)");
        check("[x]: http://a\n[^1]: y\n[a][b]", "[x] : http://a\n[ ^1] : y\n[a] [b]");
    }

    #[test]
    fn hidden_characters_are_marked_and_shaping_hints_removed() {
        check("a\u{202e}b\u{2066}\u{2069}c", "a\u{FFFD}b\u{FFFD}c");
        check("a\u{E0041}\u{E0042}b", "a\u{FFFD}b");
        check("in\u{ad}ter\u{200c}val\u{feff}", "interval");
        check("a\0b\u{7f}c\u{90}d", "a\u{FFFD}b\u{FFFD}c\u{FFFD}d");
        check("\u{1b}[1;31mred\u{1b}[0m \u{9b}2Jx", "red x");
        check("\u{1b}]8;;http://a\u{7}x", "\u{FFFD}]8;;http://a\u{FFFD}x");
        check("e\u{301}", "e\u{301}");
        let zalgo = format!("e{}x", "\u{301}".repeat(5_000));
        check(&zalgo, "e\u{301}\u{301}\u{301}\u{FFFD}x");
    }

    #[test]
    fn line_endings_and_blanks_are_normalized() {
        check(" a\r\nb\rc\u{2028}d\u{85}e\u{b}f ", "a\nb\nc\nd\ne\nf");
        check("a\n\n\n\n  b", "a\n\n  b");
        check(&format!("a{}b", " ".repeat(999)), "a        b");
        assert_eq!(VisibleText::single_line("a\n\n b\tc", 99).text, "a b c");
    }

    #[test]
    fn truncated_characters_are_counted() {
        assert_eq!(
            VisibleText::new("abcdef", 4),
            VisibleText { text: "abcd".into(), characters_truncated: 2 }
        );
        assert_eq!(
            VisibleText::new("ab\n\ncd", 3),
            VisibleText { text: "ab".into(), characters_truncated: 3 }
        );
        assert_eq!(
            VisibleText::new("  ab  ", 2),
            VisibleText { text: "ab".into(), characters_truncated: 0 }
        );
    }
}
