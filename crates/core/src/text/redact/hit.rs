//! A place where letters were met that may begin a secret, with what stands around it.

use super::REDACTION_MARK;

/// How far a rule looks back from the letters it goes by.
pub(super) const BEFORE_BYTES_MAX: usize = 256;
/// How far it looks on. The longest secrets are keys in blocks; RSA with 16,384 bits takes 13 KB.
pub(super) const AFTER_BYTES_MAX: usize = 32 << 10;

/// No kind of secret has a longer name.
const MARK_BYTES_MAX: usize = 64;

/// A place with its surroundings. Rules see nothing else, so that a text that comes in pieces is
/// judged like one that comes whole.
#[derive(Clone, Copy)]
pub(super) struct SecretCandidate<'t> {
    /// The surroundings.
    pub(super) text: &'t [u8],
    /// Where the letters begin in them.
    pub(super) at: usize,
}

/// Letters of a kind.
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
    /// The surroundings of a place in a text.
    pub(super) fn new(text: &'t [u8], at: usize) -> Self {
        let from = at.saturating_sub(BEFORE_BYTES_MAX);
        let to = text.len().min(at + AFTER_BYTES_MAX);
        Self { text: &text[from..to], at: at - from }
    }

    /// The text from the letters on.
    pub(super) fn rest(self) -> &'t [u8] {
        &self.text[self.at..]
    }

    /// The text before the letters.
    pub(super) fn before(self) -> &'t [u8] {
        &self.text[..self.at]
    }

    /// Whether a place belongs to what stands in the place of a secret.
    pub(super) fn is_in_mark(self, at: usize) -> bool {
        let before = &self.text[..at];
        let kind =
            |byte: &&u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || **byte == b'-';
        let kind = before.iter().rev().take(MARK_BYTES_MAX).take_while(kind).count();
        before[..at - kind].ends_with(REDACTION_MARK.trim_end_matches('-').as_bytes())
    }

    /// Where letters of a class begin that end here.
    pub(super) fn step_back(self, class: CharClass, least: usize, most: usize) -> Option<usize> {
        let letters =
            self.before().iter().rev().take(most).take_while(|byte| class.contains(**byte));
        let start = self.at - letters.count();
        let latest = self.at.checked_sub(least).filter(|latest| start <= *latest)?;
        // The letters of an escape look as if they belonged to it.
        let escaped = |at: &usize| ends_with_escape(&self.text[..*at]);
        Some((start..=latest).find(escaped).unwrap_or(start))
    }

    /// Whether a word can begin at a place: behind no letter, unless that letter belongs to an
    /// escape as JSON, URLs and terminals have them.
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
    letter || percent || unicode || ends_with_color(before)
}

/// `ESC [ 1 ; 32 m`
fn ends_with_color(before: &[u8]) -> bool {
    let Some(before) = before.strip_suffix(b"m") else { return false };
    let digits = before.iter().rev().take_while(|byte| byte.is_ascii_digit() || **byte == b';');
    let before = &before[..before.len() - digits.count()];
    let escapes: [&[u8]; 5] = [b"\x1b[", b"\\u001b[", b"\\u001B[", b"\\x1b[", b"\\033["];
    escapes.iter().any(|escape| before.ends_with(escape))
}
