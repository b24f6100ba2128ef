//! Whether a value looks like a secret, or like a word, a name, a path, an id or a stand-in.

use super::words::{entropy, oddity};

/// How much its surroundings already say about a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EvidenceStrength {
    /// It is a password, made up by somebody or random.
    Password,
    /// It is assigned to a name that says nothing else: even a UUID is a secret then.
    Explicit,
    /// It is made by a program, if it is a secret.
    Secret,
    /// It may well be something else.
    Weak,
    /// It only stands near a telling word.
    Near,
}

/// What values are known not to be secrets.
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
}

/// The shortest value that is taken for a secret.
pub(super) const VALUE_BYTES_MIN: usize = 8;

/// Where a value may well be something else, it is longer.
const WEAK_BYTES_MIN: usize = 16;

/// Shorter ones may be names.
const MIXED_BYTES_MIN: usize = 12;

/// Signs that stand in passwords and not in names.
pub(super) const SYMBOLS: &[u8] = b"!#$%^&*+=?~@|";

impl ValueChecker {
    /// Reads the lists of words from the table of rules.
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
        }
    }

    /// Whether a value is a secret. A bare one stands without quotes, where code may stand too.
    pub(super) fn is_secret(&self, value: &[u8], strength: EvidenceStrength, bare: bool) -> bool {
        value.len() >= VALUE_BYTES_MIN
            && self.looks_secret(value, strength, bare)
            && !self.is_known_non_secret(value)
    }

    /// The same, for what is nothing else.
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
        let odd = oddity(value);
        match strength {
            EvidenceStrength::Password => {
                !is_plain(value, bare)
                    || is_symbol_heavy(value)
                    || has_symbols(value, bare)
                    || self.is_numbered_phrase(value)
            }
            EvidenceStrength::Explicit | EvidenceStrength::Secret => {
                (!is_plain(value, bare) && (odd >= 25 || is_hex(value))) || is_symbol_heavy(value)
            }
            EvidenceStrength::Weak => {
                let random = odd >= 30 || is_hex(value);
                random && entropy(value) >= 28 && !is_plain(value, bare)
            }
            EvidenceStrength::Near => {
                let letters = value.iter().any(u8::is_ascii_alphabetic);
                let mixed =
                    letters && value.iter().any(u8::is_ascii_digit) || case_changes(value) > 3;
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

    /// Whether a value has small letters and capitals where no code stands, as in a URL.
    pub(super) fn is_mixed(&self, value: &[u8]) -> bool {
        value.len() >= MIXED_BYTES_MIN
            && case_changes(value) >= 2
            && !self.is_known_non_secret(value)
    }

    /// Whether a value stands for one.
    pub(super) fn is_stand_in(&self, value: &[u8]) -> bool {
        (distinct_letters(value) <= 3 && value.len() >= 4) || self.is_mask(value)
    }

    /// Whether nobody would take a value for one.
    pub(super) fn is_mask(&self, value: &[u8]) -> bool {
        let has = |part: &&str| contains(value, part.as_bytes());
        distinct_letters(value) <= 1 || self.stand_ins.iter().any(has)
    }

    /// Whether a value is one of the words that people write for a password.
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

    /// Several words that make no sentence: `amber Falcon maple 42`.
    fn is_passphrase(&self, value: &[u8]) -> bool {
        let mut words = value.split(|byte| *byte == b' ');
        let count = words.clone().count();
        let numbered = words.clone().any(is_number);
        let enough = count >= if numbered { 3 } else { 4 };
        enough && count <= PASSPHRASE_WORDS_MAX && words.all(|word| self.is_loose_word(word))
    }

    /// Words that make no sentence, with a number: `garnet-basalt-805`.
    fn is_numbered_phrase(&self, value: &[u8]) -> bool {
        let mut words = value.split(|byte| b"-_.".contains(byte));
        let numbered = words.clone().any(|word| is_number(word) && word.len() >= 3);
        let told = words.clone().any(|word| word.len() >= 4 && !is_number(word));
        numbered && told && words.all(|word| self.is_loose_word(word))
    }

    /// A word or a number that no sentence about passwords has.
    fn is_loose_word(&self, word: &[u8]) -> bool {
        let is_word = !word.is_empty() && word.iter().all(u8::is_ascii_alphabetic);
        let said = |known: &&str| word.eq_ignore_ascii_case(known.as_bytes());
        (is_word && word.len() <= WORD_BYTES_MAX && !self.sentence.iter().any(said))
            || is_number(word)
    }
}

/// Nobody remembers more.
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

/// `${NAME}`, `{{ name }}`, `<name>`, `%(name)s`, `$(command)`
pub(super) fn is_template(value: &[u8]) -> bool {
    let opened: [&[u8]; 7] = [b"${", b"{{", b"$(", b"#{", b"%(", b"<%", b"%{"];
    let angled = value.starts_with(b"<");
    let braced = value.starts_with(b"{") && value.ends_with(b"}");
    let variable = value.strip_prefix(b"$").is_some_and(|name| {
        name.iter().all(|byte| byte.is_ascii_uppercase() || b"_0123456789".contains(byte))
            || name.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'_')
    });
    angled || braced || variable || opened.iter().any(|open| contains(value, open))
}

/// `^[a-z0-9]+$`
fn is_pattern(value: &[u8]) -> bool {
    let parts: [&[u8]; 6] = [b"[a-z", b"[A-Z", b"[0-9", b"[^", b"(?", b"\\d"];
    let any = contains(value, b".*") && is_plain(value, true);
    any || parts.iter().any(|part| contains(value, part))
}

/// `min8max64`, `8to64chars`: how long a value may be.
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

/// `mysecret-7f8d9`: words in small letters and a few that make the name the only one.
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

/// Kubernetes makes names different with no more letters.
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
    value.len() >= 32
        && value.iter().all(u8::is_ascii_hexdigit)
        && value.iter().any(u8::is_ascii_digit)
        && value.iter().any(u8::is_ascii_alphabetic)
}

/// A path begins like one, and with a name.
fn is_path(value: &[u8]) -> bool {
    let rooted: [&[u8]; 7] = [b"/", b"./", b"../", b"~/", b"@/", b"C:\\", b"\\\\"];
    let Some(root) = rooted.iter().find(|root| value.starts_with(root)) else { return false };
    let rest = &value[root.len()..];
    let first = rest.split(|byte| b"/\\".contains(byte)).next().unwrap_or_default();
    first.len() >= 2 && is_plain(first, true) && oddity(value) < 30
}

/// `name(…`, `name[…`, `&name`, `*name`, `path::name`, `A_CONSTANT`
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

/// `Utf8String`, `Uint8Array`
fn is_type(value: &[u8]) -> bool {
    let stems: [&[u8]; 6] = [b"Utf", b"Uint", b"Int", b"Float", b"Base", b"Sha"];
    let behind = |stem: &&[u8]| value.strip_prefix(*stem);
    let Some(rest) = stems.iter().find_map(behind) else { return false };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (1..=3).contains(&digits) && is_plain(&rest[digits..], true)
}

/// How many bytes of a value are in no word, name or number.
fn odd_bytes(value: &[u8]) -> usize {
    let segments = value.split(|byte| !byte.is_ascii_alphanumeric());
    segments.filter(|segment| !is_plain_segment(segment, true)).map(<[u8]>::len).sum()
}

/// Words, names and numbers, with anything between them.
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

/// Programmers' words such as `passwd` are odd; two capitals inside make a word random sooner.
fn is_word(letters: &[u8]) -> bool {
    let humps = case_changes(letters);
    let chopped = humps > 1 && letters.len() / (humps + 1) < 4;
    let long = humps > 1 || letters.len() >= 10;
    !chopped && unpronounceable_parts(letters) < 2 && oddity(letters) < if long { 34 } else { 55 }
}

/// How many parts of a name cannot be spoken; one such as `srcPath` or `asHTML` has one.
fn unpronounceable_parts(letters: &[u8]) -> usize {
    if case_changes(letters) < 2 {
        return 0;
    }
    let small = |at: usize| letters.get(at).is_some_and(u8::is_ascii_lowercase);
    let begins = |at: usize| letters[at].is_ascii_uppercase() && (small(at - 1) || small(at + 1));
    let mut stumps = 0;
    let mut from = 0;
    for to in (1..letters.len()).filter(|at| begins(*at)).chain([letters.len()]) {
        let spoken = |byte: &u8| b"aeiouyAEIOUY".contains(byte);
        stumps += usize::from(!letters[from..to].iter().any(spoken));
        from = to;
    }
    stumps
}

/// How often a capital follows a small letter.
fn case_changes(letters: &[u8]) -> usize {
    let step = |pair: &&[u8]| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
    letters.windows(2).filter(step).count()
}

/// Letters, digits and signs that no name has. Where code may stand, it takes more of them.
fn has_symbols(value: &[u8], bare: bool) -> bool {
    let has = |belongs: fn(&u8) -> bool| usize::from(value.iter().any(belongs));
    let kinds = has(u8::is_ascii_digit) + has(u8::is_ascii_uppercase) + has(u8::is_ascii_lowercase);
    let signs = value.iter().filter(|byte| SYMBOLS.contains(byte)).count();
    let told = kinds + signs.min(2);
    kinds >= 2 && told >= if bare { 4 } else { 3 }
}

/// Short pieces with signs between them that no name has.
fn is_symbol_heavy(value: &[u8]) -> bool {
    let signs = value.iter().filter(|byte| SYMBOLS.contains(byte)).count();
    signs >= 2 && value.len() / (signs + 1) <= 4 && distinct_letters(value) >= 6
}
