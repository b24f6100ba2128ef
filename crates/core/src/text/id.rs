//! The names of things: ids are types, so that mixing them does not compile.

use std::collections::HashMap;
use std::fmt;

/// The longest id that is accepted; longer ones make unusable file names.
pub const ID_LENGTH_MAX: usize = 100;

/// Names that some file systems keep for devices, whatever ending is put behind them.
const DEVICE_NAMES: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8",
    "com9", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// The id of a handoff: a slug that is also a safe file name on every system.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HandoffId(String);

/// Why a text is not an id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HandoffIdError {
    /// Nothing was given.
    #[error("an id cannot be empty")]
    Empty,
    /// Over the limit.
    #[error("an id has at most {ID_LENGTH_MAX} characters, this one has {0}")]
    TooLong(usize),
    /// A character outside the slug alphabet.
    #[error("`{0}` cannot stand in an id: use a-z, 0-9, `.`, `_` and `-`")]
    InvalidCharacter(char),
    /// A leading dot or hyphen, or a trailing dot.
    #[error("an id starts with a letter or a digit and does not end with a dot")]
    InvalidEdge,
    /// A name that some file systems keep for a device.
    #[error("`{0}` is the name of a device on some systems")]
    DeviceName(String),
}

impl HandoffId {
    /// Reads an id; says what is wrong with it otherwise.
    pub fn parse(text: &str) -> Result<Self, HandoffIdError> {
        let Some(first) = text.chars().next() else {
            return Err(HandoffIdError::Empty);
        };
        let stranger = |c: &char| !matches!(c, 'a'..='z' | '0'..='9' | '.' | '_' | '-');
        if let Some(character) = text.chars().find(stranger) {
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

    /// Makes an id from a title: lower case, words joined by hyphens.
    pub fn from_title(title: &str) -> Option<Self> {
        const WORDS_MAX: usize = 6;
        let lower: String = title.to_lowercase().chars().map(without_accent).collect();
        let words: Vec<&str> = lower
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty())
            .take(WORDS_MAX)
            .collect();
        let mut slug = words.join("-");
        slug.truncate(ID_LENGTH_MAX);
        Self::parse(slug.trim_end_matches('-')).ok()
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for HandoffId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Letters with marks as people type them without.
fn without_accent(letter: char) -> String {
    match letter {
        'ä' | 'æ' => "ae".to_owned(),
        'ö' | 'ø' | 'œ' => "oe".to_owned(),
        'ü' => "ue".to_owned(),
        'ß' => "ss".to_owned(),
        'à' | 'á' | 'â' | 'ã' | 'å' | 'ą' => "a".to_owned(),
        'ç' | 'ć' | 'č' => "c".to_owned(),
        'è' | 'é' | 'ê' | 'ë' | 'ę' | 'ě' => "e".to_owned(),
        'ì' | 'í' | 'î' | 'ï' => "i".to_owned(),
        'ł' => "l".to_owned(),
        'ñ' | 'ń' => "n".to_owned(),
        'ò' | 'ó' | 'ô' | 'õ' => "o".to_owned(),
        'ś' | 'š' => "s".to_owned(),
        'ù' | 'ú' | 'û' => "u".to_owned(),
        'ý' => "y".to_owned(),
        'ź' | 'ż' | 'ž' => "z".to_owned(),
        other => other.to_string(),
    }
}

/// The number of a pipeline feature, written `feat-042`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FeatureNumber(pub u32);

impl FeatureNumber {
    /// The number at the start of `feat-042` or `feat-042-a-name`.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("feat-")?;
        let digits = rest.split('-').next()?;
        (digits.len() >= 3).then(|| digits.parse().ok().map(Self))?
    }

    /// The number after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The id that carries it.
    pub fn id(self) -> HandoffId {
        HandoffId(self.to_string())
    }
}

impl fmt::Display for FeatureNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "feat-{:03}", self.0)
    }
}

/// The uid of a task: a UUID in lower case, so that it is unique on every machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(String);

impl TaskId {
    /// Reads a uid.
    pub fn parse(text: &str) -> Option<Self> {
        let fits = |(at, byte): (usize, u8)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        };
        let fits = text.len() == 36 && text.bytes().enumerate().all(fits);
        fits.then(|| Self(text.to_owned()))
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What people type: `t-` and the last forty random bits, in letters that are not mistaken for
    /// each other.
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

/// What a handoff is looked up by: its id, and its stage where one id has several documents.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HandoffKey {
    /// The id.
    pub id: String,
    /// The stage of a pipeline document.
    pub stage: Option<String>,
}

impl HandoffKey {
    /// Reads a key as it is written: an id, or `id/stage`. `None` for what cannot be one.
    pub fn parse(text: &str) -> Option<Self> {
        let (id, stage) = match text.split_once('/') {
            Some((id, stage)) => (id, Some(stage)),
            None => (text, None),
        };
        let is_id = |part: &str| HandoffId::parse(part).is_ok();
        let is_key = is_id(id) && stage.is_none_or(is_id);
        is_key.then(|| Self { id: id.to_owned(), stage: stage.map(str::to_owned) })
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

/// Which of many keys a name means, however many there are.
#[derive(Clone, Debug, Default)]
pub struct HandoffNames {
    by_key: HashMap<String, usize>,
    by_id: HashMap<String, Vec<usize>>,
}

impl HandoffNames {
    /// The names of these keys; each is known by its position.
    pub fn new<'k>(keys: impl IntoIterator<Item = &'k HandoffKey>) -> Self {
        let mut names = Self::default();
        for (index, key) in keys.into_iter().enumerate() {
            names.by_key.entry(key.to_string()).or_insert(index);
            names.by_id.entry(key.id.clone()).or_default().push(index);
        }
        names
    }

    /// The one with this key, or with this id where only one has it.
    pub fn find(&self, name: &str) -> Option<usize> {
        let by_id = || match self.all_with_id(name) {
            [one] => Some(*one),
            _ => None,
        };
        self.by_key.get(name).copied().or_else(by_id)
    }

    /// All with this id.
    pub fn all_with_id(&self, id: &str) -> &[usize] {
        self.by_id.get(id).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The candidate nearest to `wanted`, if one is near enough to be meant.
pub fn nearest_match<'c>(
    wanted: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    const SIMILARITY_MIN: f64 = 0.75;
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(wanted, candidate), candidate))
        .filter(|(similarity, _)| *similarity >= SIMILARITY_MIN)
        // Of two that are as near, the first: `S03` is `S003`, not `S013`.
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_title_becomes_a_short_slug() {
        let id = HandoffId::from_title("Market pages take 14 s after a cache purge").unwrap();
        assert_eq!(id.as_str(), "market-pages-take-14-s-after");
        assert_eq!(
            HandoffId::from_title("Größe der Fläche").unwrap().as_str(),
            "groesse-der-flaeche"
        );
        assert_eq!(HandoffId::from_title("日本語"), None);
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
    fn a_name_means_one_key_or_an_id_that_only_one_has() {
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
    fn a_task_has_a_uid_and_a_short_name() {
        let id = TaskId::parse("0198c0f2-4c00-7000-8000-0000ffffffff").unwrap();
        assert_eq!(id.short(), "t-03zzzzzz");
        assert_eq!(TaskId::parse("0198C0F2-4c00-7000-8000-0000ffffffff"), None);
        assert_eq!(TaskId::parse("../x"), None);
        assert_eq!(TaskId::parse(""), None);
    }

    #[test]
    fn a_near_name_is_suggested_and_a_far_one_is_not() {
        assert_eq!(nearest_match("rationnale", ["rationale", "decision"]), Some("rationale"));
        assert_eq!(nearest_match("zebra", ["rationale", "decision"]), None);
    }
}
