//! Recognizes human-chosen passwords.
//!
//! They are too short and too plain to look random. Only the context distinguishes them from the
//! names, types and calls that occur in the same position in code.

use super::value::{SYMBOLS, ValueChecker, contains, is_plain, is_template, is_uuid};
use super::words::{entropy, oddity};

/// The context of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueContext {
    /// Between quotes.
    Quoted,
    /// After the `=` of a variable, a setting or a connection string, where code cannot occur.
    Variable,
    /// After a command-line option.
    Command,
    /// Without quotes, where a name or a type may also occur.
    Line,
    /// Like `Line`, but among other settings or call arguments, where numbered variables occur.
    Enclosed,
}

/// The minimum length of a human-chosen password.
pub(super) const HUMAN_CHOSEN_BYTES_MIN: usize = 6;
/// The minimum length without a digit.
const WORD_BYTES_MIN: usize = 8;
/// The minimum length of a token passed to an option.
const OPTION_BYTES_MIN: usize = 8;
/// The minimum length of a token assigned to a name.
const TOKEN_BYTES_MIN: usize = 12;
/// The maximum number of digits in a numbered variable of code.
const COUNT_DIGITS_MAX: usize = 2;
const PHRASE_WORDS_MAX: usize = 8;
/// The minimum oddity of a token without digits.
const LETTERS_ODDITY_MIN: usize = 40;

/// Words that stand for a password on a command line.
const COMMAND_PLACEHOLDERS: [&[u8]; 7] =
    [b"password", b"passwd", b"pwd", b"token", b"test", b"changeme", b"changeit"];

impl ValueChecker {
    /// Whether the value of a password field is a password: letters with a digit or, where code
    /// cannot occur, a word that does not describe a state.
    pub(super) fn is_human_chosen(&self, value: &[u8], place: ValueContext) -> bool {
        let part = |byte: &u8| byte.is_ascii_alphanumeric() || SYMBOLS.contains(byte);
        value.len() >= HUMAN_CHOSEN_BYTES_MIN
            && value.iter().all(part)
            && !matches!(value[0], b'$' | b'@' | b'%' | b'&' | b'*' | b'!' | b'#' | b'?')
            && (has_meaningful_digits(value, place) || is_lone_word(value, place))
            && !self.is_self_descriptive(value)
            && !(place == ValueContext::Enclosed && self.is_variable(value))
            && !self.is_known_non_secret(value)
    }

    /// Whether a value is a word with a counter or version: `server2`, `inputs2`, `postgres16`.
    pub(super) fn is_numbered_word(&self, value: &[u8]) -> bool {
        let small = value.to_ascii_lowercase();
        let letters = small.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let (word, number) = small.split_at(letters);
        let one = word.strip_suffix(b"s").unwrap_or(word);
        let among = |list: &[&str]| {
            list.iter().any(|known| known.as_bytes() == word || known.as_bytes() == one)
        };
        // Passwords have longer numbers: `admin123`.
        let few = number.len() <= COUNT_DIGITS_MAX;
        let common = || among(&self.sentence) || among(&self.states) || among(&self.placeholders);
        number.iter().all(u8::is_ascii_digit) && (among(&self.counted) || (few && common()))
    }

    /// Whether a value may be the name of a variable: `newValue2`, `response1`.
    fn is_variable(&self, value: &[u8]) -> bool {
        let named = value.iter().all(u8::is_ascii_alphanumeric);
        (named && value.iter().any(u8::is_ascii_uppercase)) || self.is_numbered_word(value)
    }

    /// Whether a value is several lowercase words that do not form a message.
    pub(super) fn is_phrase(&self, value: &[u8]) -> bool {
        let mut words = value.split(|byte| *byte == b' ');
        let count = words.clone().count();
        let small = |word: &[u8]| {
            !word.is_empty() && word.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        };
        let listed = |word: &[u8]| self.message.iter().any(|known| known.as_bytes() == word);
        (2..=PHRASE_WORDS_MAX).contains(&count) && words.all(|word| small(word) && !listed(word))
    }

    /// Whether a quoted value with spaces is a password: no sentence, with a word that mixes letters
    /// with digits or symbols, such as `my p4ssw0rd` or `Tr0ub4dor & 3`.
    pub(super) fn is_spaced_password(&self, value: &[u8]) -> bool {
        let mut words = value.split(|byte| *byte == b' ');
        let count = words.clone().count();
        let listed = |word: &[u8]| {
            let known = |known: &&str| word.eq_ignore_ascii_case(known.as_bytes());
            self.message.iter().any(known) || self.sentence.iter().any(known)
        };
        let fits = |word: &[u8]| {
            !word.is_empty() && word.iter().all(u8::is_ascii_graphic) && !listed(word)
        };
        value.len() >= WORD_BYTES_MIN
            && (2..=PHRASE_WORDS_MAX).contains(&count)
            && words.clone().any(is_password_word)
            && words.all(fits)
            && !value.iter().any(|byte| b"<>{}()[]\"'`\\/,;:.".contains(byte))
            && !self.is_known_non_secret(value)
    }

    /// Whether the argument of an option is a generated token.
    pub(super) fn is_option_token(&self, value: &[u8]) -> bool {
        let part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
        value.len() >= OPTION_BYTES_MIN
            && value.iter().all(part)
            && value.iter().any(u8::is_ascii_digit)
            && value.iter().any(u8::is_ascii_alphabetic)
            && !is_plain(value, true)
            && !is_uuid(value)
            && !self.is_known_non_secret(value)
    }

    /// Whether the value of a `token` is a generated token.
    pub(super) fn is_token(&self, value: &[u8]) -> bool {
        value.len() >= TOKEN_BYTES_MIN
            && self.is_option_token(value)
            && !value.starts_with(b"0x")
            && oddity(value) >= 30
            && entropy(value) >= 25
            && !self.is_self_descriptive(value)
    }

    /// Whether the value of a URL query parameter is a generated token. Code cannot occur there, so
    /// this check is weaker than [`Self::is_token`].
    pub(super) fn is_query_token(&self, value: &[u8]) -> bool {
        value.len() >= TOKEN_BYTES_MIN && self.is_option_token(value)
    }

    /// Whether the value after `Bearer` is a real token.
    pub(super) fn is_bearer(&self, value: &[u8]) -> bool {
        let letters = value.iter().any(u8::is_ascii_alphabetic);
        let mixed = letters && value.iter().any(u8::is_ascii_digit);
        (mixed || oddity(value) >= LETTERS_ODDITY_MIN)
            && (is_uuid(value) || !is_plain(value, true))
            && !self.is_self_descriptive(value)
            && !self.is_known_non_secret(value)
    }

    /// Whether a command's password argument is a placeholder.
    pub(super) fn is_password_placeholder(&self, value: &[u8]) -> bool {
        is_template(value)
            || value.starts_with(b"$")
            || self.is_mask(value)
            || value.starts_with(b"[")
            || COMMAND_PLACEHOLDERS.iter().any(|word| value.eq_ignore_ascii_case(word))
            || value.iter().all(u8::is_ascii_uppercase)
    }

    /// Whether a value describes itself: a name of a secret, a type, a state or a count.
    fn is_self_descriptive(&self, value: &[u8]) -> bool {
        let small = value.to_ascii_lowercase();
        let letters: Vec<u8> = small.iter().copied().filter(u8::is_ascii_alphabetic).collect();
        let first = small.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let known = |word: &[u8]| self.states.iter().any(|state| state.as_bytes() == word);
        self.echoes.iter().any(|echo| contains(&small, echo.as_bytes()))
            || known(&letters)
            || (first > 0 && known(&small[..first]) && names_state(first, &small[first..]))
    }
}

/// Whether a value has letters and digits, and is neither a quantity such as `12chars` nor a type.
fn has_meaningful_digits(value: &[u8], place: ValueContext) -> bool {
    let digits = value.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let counts = digits > 0 && value[digits..].iter().all(u8::is_ascii_alphabetic);
    let letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let type_like = matches!(place, ValueContext::Line | ValueContext::Enclosed)
        && value[0].is_ascii_uppercase();
    letters >= 3 && value.iter().any(u8::is_ascii_digit) && !counts && !type_like
}

/// Whether a known word of `length` letters describes a value that continues with `rest`. A random
/// value may start with `v` or `x` too.
fn names_state(length: usize, rest: &[u8]) -> bool {
    length > 2 || rest.iter().all(|byte| byte.is_ascii_digit() || b".-_".contains(byte))
}

/// Whether a word mixes letters with digits or symbols as no ordinary word does. A number at its
/// end is a counter or a version.
fn is_password_word(word: &[u8]) -> bool {
    let letters = word.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let last = word.iter().rposition(u8::is_ascii_alphabetic).unwrap_or(0);
    let first = word.iter().position(u8::is_ascii_alphabetic).unwrap_or(0);
    let is_sign = |byte: &u8| byte.is_ascii_digit() || b"!@#$^&*+=?~".contains(byte);
    letters >= 3 && word.len() >= HUMAN_CHOSEN_BYTES_MIN && word[first..last].iter().any(is_sign)
}

fn is_lone_word(value: &[u8], place: ValueContext) -> bool {
    matches!(place, ValueContext::Quoted | ValueContext::Variable)
        && value.len() >= WORD_BYTES_MIN
        && value.iter().all(u8::is_ascii_lowercase)
}
