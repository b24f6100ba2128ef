//! Ids of handoffs, features, tasks, sessions, commits and stored bytes. Each is its own type, so
//! mixing them up does not compile.

mod opaque;
mod title;

pub use opaque::{BlobHash, ClientName, CommitId, SessionId, Uid};
pub use title::TITLE_ID_LENGTH_MAX;

use std::collections::HashMap;
use std::fmt;

/// The maximum length of an id. Longer ids make unusable file names.
pub const ID_LENGTH_MAX: usize = 100;

/// Names that Windows reserves for devices, with any file extension.
const DEVICE_NAMES: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8",
    "com9", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// The id of a handoff: a slug that is also a safe file name on every operating system.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HandoffId(String);

/// Why a text is not a valid id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HandoffIdError {
    /// The text is empty.
    #[error("an id cannot be empty")]
    Empty,
    /// The text is longer than [`ID_LENGTH_MAX`].
    #[error("an id may have at most {ID_LENGTH_MAX} characters; this one has {0}")]
    TooLong(usize),
    /// The text contains a character outside the slug alphabet.
    #[error("`{0}` is not allowed in an id: use a-z, 0-9, `.`, `_` and `-`")]
    InvalidCharacter(char),
    /// The text does not start with a letter or digit, or it ends with a dot.
    #[error("an id must start with a letter or digit and must not end with a dot")]
    InvalidEdge,
    /// The text is a reserved device name.
    #[error("`{0}` is a reserved device name on some systems")]
    DeviceName(String),
}

impl HandoffId {
    /// Parses an id, or returns why it is invalid.
    pub fn parse(text: &str) -> Result<Self, HandoffIdError> {
        let Some(first) = text.chars().next() else {
            return Err(HandoffIdError::Empty);
        };
        let is_invalid = |c: &char| !matches!(c, 'a'..='z' | '0'..='9' | '.' | '_' | '-');
        if let Some(character) = text.chars().find(is_invalid) {
            return Err(HandoffIdError::InvalidCharacter(character));
        }
        if text.len() > ID_LENGTH_MAX {
            return Err(HandoffIdError::TooLong(text.len()));
        }
        if !first.is_ascii_alphanumeric() || text.ends_with('.') {
            return Err(HandoffIdError::InvalidEdge);
        }
        let stem = text.split('.').next().unwrap_or_default();
        if DEVICE_NAMES.contains(&stem) {
            return Err(HandoffIdError::DeviceName(stem.to_owned()));
        }
        Ok(Self(text.to_owned()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for HandoffId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The number of a pipeline feature, written `feat-042`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FeatureNumber(pub u32);

impl FeatureNumber {
    const LABEL: &'static str = "feat-";

    /// Parses the number in `feat-042` or `feat-042-a-name`.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = Self::prefix(text)?.strip_prefix(Self::LABEL)?;
        digits.parse().ok().map(Self)
    }

    /// The `feat-042` that `feat-042-a-name` starts with.
    pub(crate) fn prefix(text: &str) -> Option<&str> {
        let digits = text.strip_prefix(Self::LABEL)?.split('-').next()?;
        let is_number = digits.len() >= 3 && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| &text[..Self::LABEL.len() + digits.len()])
    }

    /// Returns the next number.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The handoff id with this number.
    pub fn id(self) -> HandoffId {
        HandoffId(self.to_string())
    }
}

impl fmt::Display for FeatureNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "feat-{:03}", self.0)
    }
}

/// The uid of a task: a lowercase UUID, so that ids from different machines never collide.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(String);

impl TaskId {
    /// Parses a uid.
    pub fn parse(text: &str) -> Option<Self> {
        let fits = |(at, byte): (usize, u8)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        };
        let fits = text.len() == 36 && text.bytes().enumerate().all(fits);
        fits.then(|| Self(text.to_owned()))
    }

    /// The uid as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The short name that users type: `t-` and the last 40 random bits, in an alphabet without
    /// easily confused letters.
    pub fn short(&self) -> String {
        const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
        let last = &self.0[self.0.len() - 10..];
        let bits = u64::from_str_radix(last, 16).unwrap_or_default();
        let letter = |place: u64| {
            let five = usize::try_from((bits >> (place * 5)) & 31).unwrap_or_default();
            char::from(LETTERS[five])
        };
        "t-".chars().chain((0..8).rev().map(letter)).collect()
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.short())
    }
}

/// The lookup key of a handoff: its id, and its stage if several documents share one id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HandoffKey {
    /// The id.
    pub id: String,
    /// The stage, for a pipeline document.
    pub stage: Option<String>,
}

impl HandoffKey {
    /// Parses a key written as `id` or `id/stage`. Returns `None` if it is invalid.
    pub fn parse(text: &str) -> Option<Self> {
        let (id, stage) = match text.split_once('/') {
            Some((id, stage)) => (id, Some(stage)),
            None => (text, None),
        };
        let is_id = |part: &str| HandoffId::parse(part).is_ok();
        let is_key = is_id(id) && stage.is_none_or(is_id);
        is_key.then(|| Self { id: id.to_owned(), stage: stage.map(str::to_owned) })
    }

    /// Whether a typed text is the start of this key. Both parts of `feat-04/sp` may be the start, and
    /// an id that a table cut may end with `…`.
    pub fn has_prefix(&self, typed: &str) -> bool {
        let typed = typed.trim_end_matches('…');
        let is_start = match (typed.split_once('/'), &self.stage) {
            (Some((id, stage)), Some(own)) => self.id.starts_with(id) && own.starts_with(stage),
            (Some(_), None) => false,
            (None, _) => self.id.starts_with(typed),
        };
        is_start && !typed.is_empty()
    }
}

impl fmt::Display for HandoffKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.stage {
            Some(stage) => write!(f, "{}/{stage}", self.id),
            None => f.write_str(&self.id),
        }
    }
}

/// An index that resolves names to handoff keys in constant time.
#[derive(Clone, Debug, Default)]
pub struct HandoffNames {
    by_key: HashMap<String, usize>,
    by_id: HashMap<String, Vec<usize>>,
}

impl HandoffNames {
    /// Indexes the keys. Lookups return the position of a key.
    pub fn new<'k>(keys: impl IntoIterator<Item = &'k HandoffKey>) -> Self {
        let mut names = Self::default();
        for (index, key) in keys.into_iter().enumerate() {
            names.by_key.entry(key.to_string()).or_insert(index);
            names.by_id.entry(key.id.clone()).or_default().push(index);
        }
        names
    }

    /// The position of the key with this name, or of the only key with this id.
    pub fn find(&self, name: &str) -> Option<usize> {
        let by_id = || match self.all_with_id(name) {
            [one] => Some(*one),
            _ => None,
        };
        self.by_key.get(name).copied().or_else(by_id)
    }

    /// The positions of all keys with this id.
    pub fn all_with_id(&self, id: &str) -> &[usize] {
        self.by_id.get(id).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The candidate most similar to `wanted`, if one is similar enough to suggest.
pub fn nearest_match<'c>(
    wanted: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    const SIMILARITY_MIN: f64 = 0.75;
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(wanted, candidate), candidate))
        .filter(|(similarity, _)| *similarity >= SIMILARITY_MIN)
        // On a tie the first candidate wins: `S03` suggests `S003`, not `S013`.
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .map(|(_, candidate)| candidate)
}

/// Splits `ID@2` into the name of a handoff and a revision number.
pub fn split_revision(typed: &str) -> (&str, Option<usize>) {
    let split = typed.rsplit_once('@');
    match split.map(|(name, number)| (name, number.parse().ok())) {
        Some((name, Some(number))) => (name, Some(number)),
        Some((_, None)) | None => (typed, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_is_named_by_a_number_after_the_last_at_sign() {
        assert_eq!(split_revision("perf@2"), ("perf", Some(2)));
        assert_eq!(split_revision("a@b@12"), ("a@b", Some(12)));
        for typed in ["perf", "perf@", "perf@two", "@"] {
            assert_eq!(split_revision(typed), (typed, None));
        }
    }

    #[test]
    fn an_id_is_a_safe_file_name() {
        assert!(HandoffId::parse("market-page-perf").is_ok());
        assert!(HandoffId::parse("feat-042").is_ok());
        assert_eq!(HandoffId::parse("../../x"), Err(HandoffIdError::InvalidCharacter('/')));
        assert_eq!(HandoffId::parse(".."), Err(HandoffIdError::InvalidEdge));
        assert_eq!(HandoffId::parse("CON"), Err(HandoffIdError::InvalidCharacter('C')));
        assert_eq!(HandoffId::parse("con"), Err(HandoffIdError::DeviceName("con".into())));
        assert_eq!(HandoffId::parse("nul.txt"), Err(HandoffIdError::DeviceName("nul".into())));
        assert_eq!(HandoffId::parse(&"a".repeat(101)), Err(HandoffIdError::TooLong(101)));
        assert_eq!(HandoffId::parse(""), Err(HandoffIdError::Empty));
    }

    #[test]
    fn a_feature_number_is_read_with_and_without_a_name() {
        assert_eq!(FeatureNumber::parse("feat-042"), Some(FeatureNumber(42)));
        assert_eq!(FeatureNumber::parse("feat-042-vm-snapshots"), Some(FeatureNumber(42)));
        assert_eq!(FeatureNumber::parse("feat-1000"), Some(FeatureNumber(1000)));
        assert_eq!(FeatureNumber::parse("feature-1"), None);
        assert_eq!(FeatureNumber(7).next().id().as_str(), "feat-008");
    }

    #[test]
    fn a_name_matches_a_key_or_a_unique_id() {
        let key = |id: &str, stage: Option<&str>| HandoffKey {
            id: id.to_owned(),
            stage: stage.map(str::to_owned),
        };
        let keys = [
            key("a", None),
            key("b", Some("spec")),
            key("b", Some("design")),
            key("c", Some("spec")),
            key("a", None),
        ];
        let names = HandoffNames::new(&keys);
        assert_eq!(names.find("a"), Some(0), "the first of two with one key");
        assert_eq!(names.find("b/design"), Some(2));
        assert_eq!(names.find("b"), None);
        assert_eq!(names.all_with_id("b"), [1, 2]);
        assert_eq!(names.find("c"), Some(3));
        assert_eq!(names.find("d"), None);
    }

    #[test]
    fn a_key_is_found_by_the_start_of_its_id_and_its_stage() {
        let key = HandoffKey::parse("feat-042/spec").unwrap();
        for typed in ["f", "feat-042", "feat-042/spec", "feat-04/s", "feat-042/", "feat-0…"] {
            assert!(key.has_prefix(typed), "{typed}");
        }
        for typed in ["", "…", "eat", "feat-042/design", "feat-042/spec/x", "feat-0421"] {
            assert!(!key.has_prefix(typed), "{typed}");
        }
        assert!(!HandoffKey::parse("perf").unwrap().has_prefix("perf/spec"));
    }

    #[test]
    fn a_task_has_a_uid_and_a_short_name() {
        let id = TaskId::parse("0198c0f2-4c00-7000-8000-0000ffffffff").unwrap();
        assert_eq!(id.short(), "t-03zzzzzz");
        assert_eq!(TaskId::parse("0198C0F2-4c00-7000-8000-0000ffffffff"), None);
        assert_eq!(TaskId::parse("../x"), None);
        assert_eq!(TaskId::parse(""), None);
    }

    #[test]
    fn only_a_similar_name_is_suggested() {
        assert_eq!(nearest_match("rationnale", ["rationale", "decision"]), Some("rationale"));
        assert_eq!(nearest_match("zebra", ["rationale", "decision"]), None);
    }
}
