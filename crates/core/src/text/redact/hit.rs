//! A candidate for a secret: the position of a matched prefix and the text around it.

use super::REDACTION_MARK;

/// How far a rule looks back from the matched prefix.
pub(super) const BEFORE_BYTES_MAX: usize = 256;
/// How far the end of a private key and the kind of a manifest look back, to what precedes them.
pub(super) const TAIL_BYTES_MAX: usize = 8 << 10;
/// How far a rule looks ahead. The longest secrets are PEM keys; 16,384-bit RSA takes 13 KB.
pub(super) const AFTER_BYTES_MAX: usize = 32 << 10;

/// The maximum length of the name of a secret kind.
const MARK_BYTES_MAX: usize = 64;

/// A matched prefix with the text around it. Rules see nothing else, so a streamed text gives the
/// same result as a whole one.
#[derive(Clone, Copy)]
pub(super) struct SecretCandidate<'t> {
    /// The text around the prefix.
    pub(super) text: &'t [u8],
    /// The offset of the prefix in `text`.
    pub(super) at: usize,
}

/// A class of characters.
#[derive(Clone, Copy, Debug)]
pub(super) enum CharClass {
    Digits,
    Hex,
    Alnum,
    Url64,
    Token,
}

impl CharClass {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "digits" => Self::Digits,
            "hex" => Self::Hex,
            "alnum" => Self::Alnum,
            "url64" => Self::Url64,
            "token" => Self::Token,
            _ => return None,
        })
    }

    fn contains(self, byte: u8) -> bool {
        match self {
            Self::Digits => byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Url64 => byte.is_ascii_alphanumeric() || b"_-".contains(&byte),
            Self::Token => byte.is_ascii_alphanumeric() || b"_~.-".contains(&byte),
        }
    }
}

impl<'t> SecretCandidate<'t> {
    /// Creates the candidate at `at`, with the text around it, `before_bytes_max` bytes back.
    pub(super) fn new(text: &'t [u8], at: usize, before_bytes_max: usize) -> Self {
        let from = at.saturating_sub(before_bytes_max);
        let to = text.len().min(at + AFTER_BYTES_MAX);
        Self { text: &text[from..to], at: at - from }
    }

    /// The text from the prefix on.
    pub(super) fn rest(self) -> &'t [u8] {
        &self.text[self.at..]
    }

    /// The text before the prefix.
    pub(super) fn before(self) -> &'t [u8] {
        &self.text[..self.at]
    }

    /// Whether `at` is inside a redaction mark, such as `REDACTED-password`.
    pub(super) fn is_in_mark(self, at: usize) -> bool {
        let before = &self.text[..at];
        let kind =
            |byte: &&u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || **byte == b'-';
        let kind = before.iter().rev().take(MARK_BYTES_MAX).take_while(kind).count();
        before[..at - kind].ends_with(REDACTION_MARK.trim_end_matches('-').as_bytes())
    }

    /// The start of the `least` to `most` characters of a class that end at the prefix.
    pub(super) fn step_back(self, class: CharClass, least: usize, most: usize) -> Option<usize> {
        let letters =
            self.before().iter().rev().take(most).take_while(|byte| class.contains(**byte));
        let start = self.at - letters.count();
        let latest = self.at.checked_sub(least).filter(|latest| start <= *latest)?;
        // The letter of an escape such as `\n` may look like part of the secret. Start after it.
        let escaped = |at: &usize| ends_with_escape(&self.text[..*at]);
        Some((start..=latest).find(escaped).unwrap_or(start))
    }

    /// Whether a word can start at `at`: not after a letter, unless the letter belongs to an escape
    /// sequence of JSON, a URL or a terminal.
    pub(super) fn begins_word(self, at: usize) -> bool {
        let before = &self.text[..at];
        let Some(last) = before.last() else { return true };
        !(last.is_ascii_alphanumeric() || *last == b'_') || ends_with_escape(before)
    }
}

fn ends_with_escape(before: &[u8]) -> bool {
    let tail = |count: usize| before.len().checked_sub(count).map(|from| &before[from..]);
    let hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
    let letter = tail(2).is_some_and(|two| two[0] == b'\\' && b"nrtbfv0e".contains(&two[1]));
    let percent = tail(3).is_some_and(|three| three[0] == b'%' && hex(&three[1..]));
    let unicode = tail(6).is_some_and(|six| six.starts_with(b"\\u") && hex(&six[2..]));
    let wide = tail(10).is_some_and(|ten| ten.starts_with(b"\\U") && hex(&ten[2..]));
    let byte = tail(4).is_some_and(|four| four.starts_with(b"\\x") && hex(&four[2..]));
    letter || percent || unicode || wide || byte || ends_with_color(before)
}

/// Whether the text ends with a terminal color sequence such as `ESC [ 1 ; 32 m`.
fn ends_with_color(before: &[u8]) -> bool {
    let Some(before) = before.strip_suffix(b"m") else { return false };
    let digits = before.iter().rev().take_while(|byte| byte.is_ascii_digit() || **byte == b';');
    let before = &before[..before.len() - digits.count()];
    let escapes: [&[u8]; 5] = [b"\x1b[", b"\\u001b[", b"\\u001B[", b"\\x1b[", b"\\033["];
    escapes.iter().any(|escape| before.ends_with(escape))
}
