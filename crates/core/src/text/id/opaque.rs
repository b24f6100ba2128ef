//! Ids that another program or a user made. midstride compares them and never rejects one.

use crate::text::redact::{RedactionRules, redaction_mark};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::borrow::Borrow;
use std::fmt;

/// Defines an id that holds its text unchanged, so that files and JSON stay as they are.
macro_rules! opaque_id {
    ($(#[$attribute:meta])* $name:ident) => {
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        $(#[$attribute])*
        pub struct $name(String);

        impl $name {
            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        /// Finds an id in a set or map by its text.
        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

opaque_id! {
    /// The id of a git commit: full, or abbreviated as a document writes it.
    #[serde(transparent)]
    CommitId
}

impl CommitId {
    /// The commit with this id. The text is not checked: git decides whether it names a commit.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// Whether this id starts with another, abbreviated one.
    pub fn starts_with(&self, abbreviated: &str) -> bool {
        self.0.starts_with(abbreviated)
    }
}

opaque_id! {
    /// The id of stored bytes: their SHA-256 in the ledger and in the private folder, their blob id
    /// in git.
    #[serde(transparent)]
    BlobHash
}

impl BlobHash {
    /// The bytes with this id. The text is not checked: a text that is not a hash names no bytes.
    pub fn new(hash: impl Into<String>) -> Self {
        Self(hash.into())
    }

    /// Parses a complete hash: 40 or 64 lowercase hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let is_hash = matches!(text.len(), 40 | 64) && text.bytes().all(is_digit);
        is_hash.then(|| Self(text.to_owned()))
    }
}

/// The name of a client, as the user types it and as it is stored, such as `claude-code`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct ClientName(String);

impl ClientName {
    /// The longest name that is parsed, in bytes.
    const LENGTH_MAX: usize = 64;

    /// The name of a client that midstride knows.
    pub fn new(name: &'static str) -> Self {
        Self(name.to_owned())
    }

    /// Parses a stored name: letters, digits and hyphens. `None` for any other text, because names
    /// appear on pages and in terminals as midstride's own words. Another version may know more
    /// clients.
    pub fn parse(name: &str) -> Option<Self> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        let is_name = (1..=Self::LENGTH_MAX).contains(&name.len()) && name.bytes().all(is_plain);
        is_name.then(|| Self(name.to_owned()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for ClientName {
    type Error = &'static str;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        Self::parse(&name).ok_or("invalid client name")
    }
}

impl fmt::Display for ClientName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

opaque_id! {
    /// The id of an agent session, as its client names it. Ids become names of files and streams, so
    /// an id with a secret is replaced by a name for it, which is the same everywhere.
    #[serde(from = "String")]
    SessionId
}

impl SessionId {
    /// The session with this id: any text, because clients choose their own ids.
    pub fn new(id: impl Into<String>) -> Self {
        let id = id.into();
        // Most ids are UUIDs, in which no rule finds anything.
        let is_plain = id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        if is_plain { Self(id) } else { Self(id).redacted(RedactionRules::shipped()) }
    }

    /// The id of the same session that may be stored under these rules.
    #[must_use]
    pub fn redacted(self, rules: &RedactionRules) -> Self {
        match rules.find(self.0.as_bytes()).first() {
            Some(secret) => Self(replacement_id(&secret.kind, &self.0)),
            None => self,
        }
    }
}

impl From<String> for SessionId {
    fn from(id: String) -> Self {
        Self::new(id)
    }
}

/// The id that replaces one with a secret: the redaction mark and part of a hash, so that two
/// sessions stay two.
fn replacement_id(kind: &str, id: &str) -> String {
    let hash = Sha256::digest(id.as_bytes());
    let digits: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{digits}", redaction_mark(kind))
}

opaque_id! {
    /// The permanent id of a handoff. It stays when the handoff is renamed or moved.
    #[serde(transparent)]
    Uid
}

impl Uid {
    /// The uid with this text, as midstride makes or records it.
    pub fn new(uid: impl Into<String>) -> Self {
        Self(uid.into())
    }

    /// Parses what a header says: any text, without the whitespace around it. `None` if it is
    /// empty.
    pub fn parse(written: &str) -> Option<Self> {
        let written = written.trim();
        (!written.is_empty()).then(|| Self(written.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_stored_as_its_text() {
        let id = CommitId::new("4f2c9d1");
        assert_eq!(serde_json::to_string(&id).unwrap(), "\"4f2c9d1\"");
        assert_eq!(serde_json::from_str::<CommitId>("\"not a commit\"").unwrap().as_str(), {
            "not a commit"
        });
        assert_eq!(format!("{id:<9}|"), "4f2c9d1  |");
    }

    #[test]
    fn a_session_id_with_a_secret_is_replaced_and_two_stay_two() {
        let token = |letters: &str| format!("ghp_{}", letters.repeat(6));
        let (one, two) = (SessionId::new(token("a1B2c3")), SessionId::new(token("c3B2a1")));
        assert!(one.as_str().starts_with("REDACTED-github-token-"), "{one}");
        assert_ne!(one, two);
        assert_eq!(SessionId::new(one.as_str()), one, "it is not replaced again");
        let stored = serde_json::to_string(&token("a1B2c3")).unwrap();
        assert_eq!(serde_json::from_str::<SessionId>(&stored).unwrap(), one);
        for plain in ["", "5e55-0001", "01a1e08b-e0f1-7000-8000-0000ffffffff", "a session", "ä"] {
            assert_eq!(SessionId::new(plain).as_str(), plain);
        }
    }

    #[test]
    fn only_a_plain_name_names_a_client() {
        let name: ClientName = serde_json::from_str("\"claude-code\"").unwrap();
        assert_eq!(name, ClientName::new("claude-code"));
        assert_eq!(serde_json::to_string(&name).unwrap(), "\"claude-code\"");
        let long = "a".repeat(65);
        for odd in ["", "Claude Code", "codex\u{1b}[2J", "co/dex", "</x>", &long] {
            let stored = serde_json::to_string(odd).unwrap();
            assert!(serde_json::from_str::<ClientName>(&stored).is_err(), "{odd}");
        }
    }

    #[test]
    fn any_text_but_an_empty_one_is_a_uid() {
        assert_eq!(Uid::parse(" a/b \n"), Some(Uid::new("a/b")));
        assert_eq!(Uid::parse(" \n"), None);
    }

    #[test]
    fn only_a_complete_hash_is_parsed() {
        let hash = "1a".repeat(20);
        assert_eq!(BlobHash::parse(&hash), Some(BlobHash::new(hash.as_str())));
        assert!(BlobHash::parse(&"1a".repeat(32)).is_some());
        for odd in ["", "1a2b", "../x", &hash.to_uppercase(), &"1a".repeat(21)] {
            assert_eq!(BlobHash::parse(odd), None, "{odd}");
        }
    }
}
