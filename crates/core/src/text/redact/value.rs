//! Decides whether a value looks like a secret rather than a word, name, path, id or placeholder.

use super::words::{entropy, oddity};

/// How strongly the context suggests that a value is a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EvidenceStrength {
    /// The value is a password, chosen by a human or random.
    Password,
    /// The name can only mean a secret, so even a UUID counts.
    Explicit,
    /// If the value is a secret, a program generated it.
    Secret,
    /// The value is often something else.
    Weak,
    /// The value is only near a word that suggests a secret.
    Near,
}

/// Checks values, using the word lists of `rules.txt`.
#[derive(Debug)]
pub(super) struct ValueChecker {
    pub(super) placeholders: Vec<&'static str>,
    stand_ins: Vec<&'static str>,
    ids: Vec<&'static str>,
    pub(super) sentence: Vec<&'static str>,
    pub(super) message: Vec<&'static str>,
    pub(super) echoes: Vec<&'static str>,
    pub(super) states: Vec<&'static str>,
    pub(super) counted: Vec<&'static str>,
    endings: Vec<&'static str>,
}

/// The minimum length of a secret.
pub(super) const VALUE_BYTES_MIN: usize = 8;

/// The minimum length of a secret with weak evidence.
const WEAK_BYTES_MIN: usize = 16;

/// The minimum length of a mixed-case secret. Shorter values may be names.
const MIXED_BYTES_MIN: usize = 12;

/// Symbols that occur in passwords but not in names.
pub(super) const SYMBOLS: &[u8] = b"!#$%^&*+=?~@|";

impl ValueChecker {
    /// Loads the word lists from the rule table.
    pub(super) fn new(words: impl Fn(&str) -> Vec<&'static str>) -> Self {
        Self {
            placeholders: words("placeholders"),
            stand_ins: words("stand-ins"),
            ids: words("ids"),
            sentence: words("sentence"),
            message: words("message"),
            echoes: words("echoes"),
            states: words("states"),
            counted: words("counted"),
            endings: words("endings"),
        }
    }

    /// Whether a value is a secret. A `bare` value has no quotes, so it may also be code.
    pub(super) fn is_secret(&self, value: &[u8], strength: EvidenceStrength, bare: bool) -> bool {
        value.len() >= VALUE_BYTES_MIN
            && self.looks_secret(value, strength, bare)
            && !self.is_known_non_secret(value)
    }

    /// Whether the form of a value suggests a secret, before known non-secrets are excluded.
    fn looks_secret(&self, value: &[u8], strength: EvidenceStrength, bare: bool) -> bool {
        if value.contains(&b' ') {
            return strength == EvidenceStrength::Password && !bare && self.is_passphrase(value);
        }
        if is_uuid(value) {
            return matches!(strength, EvidenceStrength::Password | EvidenceStrength::Explicit);
        }
        if bare && is_code(value) {
            return false;
        }
        if strength == EvidenceStrength::Weak && value.len() < WEAK_BYTES_MIN {
            return false;
        }
        if strength != EvidenceStrength::Password && (self.is_file_name(value) || is_package(value))
        {
            return false;
        }
        let odd = oddity(value);
        match strength {
            EvidenceStrength::Password => {
                !is_plain(value, bare)
                    || is_symbol_heavy(value)
                    || has_symbols(value, bare)
                    || self.is_numbered_phrase(value)
            }
            EvidenceStrength::Explicit | EvidenceStrength::Secret => {
                let short = strength == EvidenceStrength::Explicit && is_short_hex(value);
                (!is_plain(value, bare) && (odd >= 25 || short || is_hex(value)))
                    || is_symbol_heavy(value)
            }
            EvidenceStrength::Weak => {
                let random = odd >= 30 || is_hex(value);
                random && entropy(value) >= 28 && !is_plain(value, bare)
            }
            EvidenceStrength::Near => {
                let letters = value.iter().any(u8::is_ascii_alphabetic);
                let mixed =
                    letters && value.iter().any(u8::is_ascii_digit) || case_changes(value) > 2;
                let random = odd >= 35 && entropy(value) >= 33;
                odd_bytes(value) >= 12
                    && value.len() >= 20
                    && mixed
                    && random
                    && !is_hex(value)
                    && !is_plain(value, bare)
            }
        }
    }

    /// Whether a value has mixed case. Used where code cannot occur, such as in a URL.
    pub(super) fn is_mixed(&self, value: &[u8]) -> bool {
        value.len() >= MIXED_BYTES_MIN
            && case_changes(value) >= 2
            && !self.is_known_non_secret(value)
    }

    /// Whether a value stands in for a secret: few distinct characters, or a mask.
    pub(super) fn is_stand_in(&self, value: &[u8]) -> bool {
        (distinct_letters(value) <= 3 && value.len() >= 4) || self.is_mask(value)
    }

    /// Whether a value is clearly not a real secret: one repeated character, or a known stand-in.
    pub(super) fn is_mask(&self, value: &[u8]) -> bool {
        let has = |part: &&str| contains(value, part.as_bytes());
        distinct_letters(value) <= 1 || self.stand_ins.iter().any(has)
    }

    /// Whether a value is a placeholder for a password.
    pub(super) fn is_placeholder(&self, value: &[u8]) -> bool {
        self.is_stand_in(value)
            || is_template(value)
            || self.placeholders.iter().any(|word| value.eq_ignore_ascii_case(word.as_bytes()))
    }

    pub(super) fn is_known_non_secret(&self, value: &[u8]) -> bool {
        self.is_placeholder(value)
            || self.ids.iter().any(|id| value.starts_with(id.as_bytes()))
            || is_ulid(value)
            || contains(value, b"://")
            || is_pattern(value)
            || is_path(value)
            || is_bounds(value)
    }

    /// Whether the name of a file ends right after the first `length` bytes, as in `a1b2c3.js`.
    pub(super) fn has_file_ending(&self, text: &[u8], length: usize) -> bool {
        let Some(ending) = text.get(length..).and_then(|rest| rest.strip_prefix(b".")) else {
            return false;
        };
        let letters = ending.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let is_ended = !ending.get(letters).is_some_and(|byte| b"_-/".contains(byte));
        is_ended && self.endings.iter().any(|known| known.as_bytes() == &ending[..letters])
    }

    /// Whether a value is the name of a file: `assets/index-a1b2c3d4.js`.
    fn is_file_name(&self, value: &[u8]) -> bool {
        let dot = value.iter().rposition(|byte| *byte == b'.');
        dot.is_some_and(|dot| dot > 0 && self.has_file_ending(value, dot))
    }

    /// Whether a value is several words that do not form a sentence: `amber Falcon maple 42`.
    fn is_passphrase(&self, value: &[u8]) -> bool {
        let mut words = value.split(|byte| *byte == b' ');
        let count = words.clone().count();
        let numbered = words.clone().any(is_number);
        let enough = count >= if numbered { 3 } else { 4 };
        enough && count <= PASSPHRASE_WORDS_MAX && words.all(|word| self.is_loose_word(word))
    }

    /// Whether a value is words that do not form a sentence, with a number: `garnet-basalt-805`.
    fn is_numbered_phrase(&self, value: &[u8]) -> bool {
        let mut words = value.split(|byte| b"-_.".contains(byte));
        let numbered = words.clone().any(|word| is_number(word) && word.len() >= 3);
        let has_word = words.clone().any(|word| word.len() >= 4 && !is_number(word));
        numbered && has_word && words.all(|word| self.is_loose_word(word))
    }

    /// Whether a word is a number, or a word that does not occur in sentences about passwords.
    fn is_loose_word(&self, word: &[u8]) -> bool {
        let is_word = !word.is_empty() && word.iter().all(u8::is_ascii_alphabetic);
        let matches = |known: &&str| word.eq_ignore_ascii_case(known.as_bytes());
        (is_word && word.len() <= WORD_BYTES_MAX && !self.sentence.iter().any(matches))
            || is_number(word)
    }
}

/// The maximum number of words in a passphrase. Longer ones are hard to remember.
const PASSPHRASE_WORDS_MAX: usize = 12;
const WORD_BYTES_MAX: usize = 12;

fn is_number(word: &[u8]) -> bool {
    !word.is_empty() && word.iter().all(u8::is_ascii_digit)
}

pub(super) fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

fn distinct_letters(value: &[u8]) -> u32 {
    let mut seen = [0u64; 4];
    for byte in value {
        seen[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }
    seen.iter().map(|bits| bits.count_ones()).sum()
}

/// Whether a value is a template: `${NAME}`, `{{ name }}`, `<name>`, `%(name)s`, `$(command)`.
pub(super) fn is_template(value: &[u8]) -> bool {
    let opened: [&[u8]; 4] = [b"${", b"{{", b"$(", b"<%"];
    let named: [&[u8]; 3] = [b"#{", b"%(", b"%{"];
    let angled = value.starts_with(b"<");
    let braced = value.starts_with(b"{") && value.ends_with(b"}");
    let variable = value.strip_prefix(b"$").is_some_and(|name| {
        name.iter().all(|byte| byte.is_ascii_uppercase() || b"_0123456789".contains(byte))
            || name.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'_')
    });
    // Random text may have the same signs, but rarely a name behind them.
    let is_named = |open: &&[u8]| {
        value.windows(open.len() + 1).any(|part| {
            let name = part[open.len()];
            part.starts_with(open) && (name.is_ascii_alphabetic() || b"_@ ".contains(&name))
        })
    };
    angled
        || braced
        || variable
        || opened.iter().any(|open| contains(value, open))
        || named.iter().any(is_named)
}

/// Whether a value is a regular expression such as `^[a-z0-9]+$`.
fn is_pattern(value: &[u8]) -> bool {
    let parts: [&[u8]; 6] = [b"[a-z", b"[A-Z", b"[0-9", b"[^", b"(?", b"\\d"];
    let any = contains(value, b".*") && is_plain(value, true);
    any || parts.iter().any(|part| contains(value, part))
}

/// Whether a value describes a length limit: `min8max64`, `8to64chars`.
fn is_bounds(value: &[u8]) -> bool {
    let known: [&[u8]; 8] =
        [b"min", b"max", b"to", b"len", b"length", b"char", b"chars", b"characters"];
    let is_part = |word: &[u8]| known.iter().any(|known| word.eq_ignore_ascii_case(known));
    let mut words = value.split(|byte| !byte.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    let between = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_,".contains(byte);
    words.clone().count() >= 2
        && words.all(is_part)
        && value.iter().any(u8::is_ascii_digit)
        && value.iter().all(between)
}

/// Whether a value is a lowercase name with a unique suffix: `mysecret-7f8d9`.
pub(super) fn is_numbered_name(value: &[u8]) -> bool {
    let small = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-';
    let Some(dash) = value.iter().rposition(|byte| *byte == b'-') else { return false };
    let (words, number) = (&value[..dash], &value[dash + 1..]);
    let first = words.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
    value.iter().all(small)
        && (1..=NUMBER_BYTES_MAX).contains(&number.len())
        && first >= 2
        && is_plain(words, true)
}

/// The maximum length of the suffix that Kubernetes adds to make names unique.
const NUMBER_BYTES_MAX: usize = 10;

pub(super) fn is_uuid(value: &[u8]) -> bool {
    let value = value.strip_prefix(b"urn:uuid:").unwrap_or(value);
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

fn is_ulid(value: &[u8]) -> bool {
    let letter = |byte: &u8| byte.is_ascii_digit() || byte.is_ascii_uppercase();
    value.len() == 26
        && value[0] <= b'7'
        && value.iter().all(|byte| letter(byte) && !b"ILOU".contains(byte))
}

fn is_hex(value: &[u8]) -> bool {
    value.len() >= 32 && is_short_hex(value)
}

/// Whether a value is hex, but may also be a number with a few letters.
fn is_short_hex(value: &[u8]) -> bool {
    value.len() >= 20
        && value.iter().all(u8::is_ascii_hexdigit)
        && value.iter().any(u8::is_ascii_digit)
        && value.iter().any(u8::is_ascii_alphabetic)
}

/// Whether a value starts like a path and its first part is a name.
fn is_path(value: &[u8]) -> bool {
    let rooted: [&[u8]; 7] = [b"/", b"./", b"../", b"~/", b"@/", b"C:\\", b"\\\\"];
    let Some(root) = rooted.iter().find(|root| value.starts_with(root)) else { return false };
    let rest = &value[root.len()..];
    let first = rest.split(|byte| b"/\\".contains(byte)).next().unwrap_or_default();
    first.len() >= 2 && is_plain(first, true) && oddity(value) < 30
}

/// Whether a value is code: `name(…`, `name[…`, `&name`, `*name`, `path::name`, `A_CONSTANT`.
fn is_code(value: &[u8]) -> bool {
    let constant = value.contains(&b'_')
        && value
            .iter()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_');
    if constant || contains(value, b"::") || is_type(value) {
        return true;
    }
    let value = value.strip_prefix(b"&").or(value.strip_prefix(b"*")).unwrap_or(value);
    let name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.:$?!>-".contains(byte);
    let length = value.iter().take_while(|byte| name(byte)).count();
    let called = value.get(length).is_some_and(|byte| b"([{".contains(byte));
    let joined = value[..length].iter().any(|byte| b"._:>".contains(byte));
    let ends = length + 1 == value.len();
    called && length > 0 && (joined || ends || is_plain(&value[..length], true))
}

/// Whether a value is a type name with a number: `Utf8String`, `Uint8Array`.
fn is_type(value: &[u8]) -> bool {
    let stems: [&[u8]; 6] = [b"Utf", b"Uint", b"Int", b"Float", b"Base", b"Sha"];
    let behind = |stem: &&[u8]| value.strip_prefix(*stem);
    let Some(rest) = stems.iter().find_map(behind) else { return false };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (1..=3).contains(&digits) && is_plain(&rest[digits..], true)
}

/// The number of bytes that are not part of a word, name or number.
fn odd_bytes(value: &[u8]) -> usize {
    let segments = value.split(|byte| !byte.is_ascii_alphanumeric());
    segments.filter(|segment| !is_plain_segment(segment, true)).map(<[u8]>::len).sum()
}

/// Whether what follows a prefix is a name made of words, such as `requiredFieldMissing`. Random
/// letters have many uncommon pairs, so a long one never is.
pub(super) fn is_name(value: &[u8]) -> bool {
    let small = value.iter().filter(|byte| byte.is_ascii_lowercase()).count();
    let words = value.split(|byte| !byte.is_ascii_lowercase());
    small >= NAME_BYTES_MIN
        && words.map(<[u8]>::len).max().unwrap_or_default() <= NAME_WORD_BYTES_MAX
        && small * 2 >= value.len()
        && is_plain(value, true)
        && oddity(value) < NAME_ODDITY_MAX
}

/// The minimum number of lowercase letters of a name, and the limit of its oddity.
const NAME_BYTES_MIN: usize = 8;
const NAME_ODDITY_MAX: usize = 20;
/// The maximum length of a word in a name. More small letters in a row are not one word.
const NAME_WORD_BYTES_MAX: usize = 20;

/// Whether a value names a version of a package: `jjwt-jackson-0.11.2`, `group:name:1.2.3`.
fn is_package(value: &[u8]) -> bool {
    let named =
        |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.:/@".contains(byte);
    (1..value.len()).any(|at| {
        let (name, version) = (&value[..at], &value[at + 1..]);
        let digits = version.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let numbered = matches!(&version[digits..], [b'.', next, ..] if next.is_ascii_digit());
        b"-:@".contains(&value[at])
            && digits > 0
            && numbered
            && name.iter().all(named)
            && name.iter().any(u8::is_ascii_lowercase)
    })
}

/// Whether a value consists of words, names and numbers, with any separators.
pub(super) fn is_plain(value: &[u8], bare: bool) -> bool {
    let mut segments = value.split(|byte| !byte.is_ascii_alphanumeric() && byte.is_ascii());
    segments.all(|segment| is_plain_segment(segment, bare))
}

fn is_plain_segment(segment: &[u8], bare: bool) -> bool {
    let letter = |byte: &&u8| !byte.is_ascii_digit();
    let letters = segment.iter().take_while(letter).count();
    let digits = segment[letters..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    if letters + digits == segment.len() {
        let counted = digits == 0 || (digits <= 2 && (bare || letters <= 4)) || letters == 0;
        return segment.len() <= 3 || (counted && is_word(&segment[..letters]));
    }
    let unit = segment.iter().rev().take_while(letter).count();
    let number = segment.len() - unit;
    segment.len() <= 3
        || (unit <= 3 && number <= 4 && segment[..number].iter().all(u8::is_ascii_digit))
}

/// Whether letters form a word. Short words may be odd, because programmers write `passwd`. The
/// limit is stricter for long words and for words with two inner capitals.
fn is_word(letters: &[u8]) -> bool {
    let humps = case_changes(letters);
    let chopped = humps > 1 && letters.len() / (humps + 1) < 4;
    let long = humps > 1 || letters.len() >= 10;
    !chopped && unpronounceable_parts(letters) < 2 && oddity(letters) < if long { 34 } else { 55 }
}

/// The number of camel-case parts without a vowel. Names such as `srcPath` or `asHTML` have one.
fn unpronounceable_parts(letters: &[u8]) -> usize {
    if case_changes(letters) < 2 {
        return 0;
    }
    let small = |at: usize| letters.get(at).is_some_and(u8::is_ascii_lowercase);
    let begins = |at: usize| letters[at].is_ascii_uppercase() && (small(at - 1) || small(at + 1));
    let mut count = 0;
    let mut from = 0;
    for to in (1..letters.len()).filter(|at| begins(*at)).chain([letters.len()]) {
        let is_vowel = |byte: &u8| b"aeiouyAEIOUY".contains(byte);
        count += usize::from(!letters[from..to].iter().any(is_vowel));
        from = to;
    }
    count
}

/// The number of times a capital follows a lowercase letter.
fn case_changes(letters: &[u8]) -> usize {
    let step = |pair: &&[u8]| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
    letters.windows(2).filter(step).count()
}

/// Whether a value mixes letters, digits and symbols as no name does. A `bare` value needs more,
/// because it may be code.
fn has_symbols(value: &[u8], bare: bool) -> bool {
    let has = |belongs: fn(&u8) -> bool| usize::from(value.iter().any(belongs));
    let kinds = has(u8::is_ascii_digit) + has(u8::is_ascii_uppercase) + has(u8::is_ascii_lowercase);
    let signs = value.iter().filter(|byte| SYMBOLS.contains(byte)).count();
    let score = kinds + signs.min(2);
    kinds >= 2 && score >= if bare { 4 } else { 3 }
}

/// Whether a value consists of short pieces separated by symbols that names do not have.
fn is_symbol_heavy(value: &[u8]) -> bool {
    let signs = value.iter().filter(|byte| SYMBOLS.contains(byte)).count();
    signs >= 2 && value.len() / (signs + 1) <= 4 && distinct_letters(value) >= 6
}
