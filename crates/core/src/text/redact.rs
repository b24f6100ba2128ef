//! Redacts secrets from text before it is written.
//!
//! Only [`CleanText`] reaches a document, a stored revision or a log. The rules are in
//! `redact/rules.txt`: prefixes of provider tokens, grammars shared by many tools, and names such
//! as `password` whose value is a secret. A project can add rules but cannot remove any.

mod assignment;
mod base64;
#[cfg(test)]
mod cases;
mod curl;
mod hidden;
mod hit;
mod human_chosen;
mod joined_lines;
mod key_block;
mod key_tail;
mod lines;
mod manifest;
mod name;
mod prefix_matcher;
mod prose;
mod scan;
mod stream;
mod table;
#[cfg(test)]
mod tests;
mod url;
mod value;
mod variable;
mod words;

pub use stream::{RedactionCounts, RedactionStream};
pub use table::CustomRuleError;
pub use variable::is_secret_variable;

use crate::text::span::Span;
use scan::Scanner;
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use std::sync::LazyLock;
use table::SecretRule;

/// The prefix of the word that replaces a secret. It is one word, so it breaks neither YAML nor
/// Markdown.
const REDACTION_MARK: &str = "REDACTED-";

/// The number of the grammars in this folder. Raise it when they find more, so that stored text is
/// redacted again. A change of `rules.txt` needs no new number.
const GRAMMARS: u32 = 3;

/// The rules that ship with midstride, parsed on first use.
static SHIPPED: LazyLock<RedactionRules> =
    LazyLock::new(|| RedactionRules { scanner: Scanner::new(Vec::new()) });

/// The hash of the rules that ship with midstride.
static SHIPPED_HASH: LazyLock<Sha256> = LazyLock::new(|| {
    Sha256::new().chain_update(GRAMMARS.to_le_bytes()).chain_update(table::SHIPPED)
});

/// Text from which all recognized secrets have been redacted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanText(String);

/// A secret that was redacted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redaction {
    /// The kind of secret.
    pub kind: Cow<'static, str>,
    /// Its span in the original text.
    pub at: Span,
}

impl Redaction {
    /// The length of the word that replaces the secret.
    pub(crate) fn mark_len(&self) -> usize {
        REDACTION_MARK.len() + self.kind.len()
    }
}

/// The word that replaces a secret of this kind.
pub fn redaction_mark(kind: &str) -> String {
    format!("{REDACTION_MARK}{kind}")
}

/// Whether a text has a word that replaces a secret.
pub(crate) fn has_redaction_mark(text: &str) -> bool {
    text.contains(REDACTION_MARK)
}

/// A rule that a project adds. Its match is limited to one line and 4 KiB, so that it cannot remove
/// a document.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CustomRule {
    /// The word after `REDACTED-`.
    pub kind: String,
    /// The prefix of the secret.
    pub begins: String,
    /// A regular expression for the rest of the secret.
    pub then: String,
    /// Whether the secret may continue on the next lines.
    #[serde(default)]
    pub multiline: bool,
}

/// The maximum number of rules a project can add.
const CUSTOM_RULES_MAX: usize = 100;

/// A set of redaction rules.
#[derive(Debug)]
pub struct RedactionRules {
    scanner: Scanner,
}

impl RedactionRules {
    /// The rules that ship with midstride.
    pub fn shipped() -> &'static Self {
        &SHIPPED
    }

    /// The rules that ship with midstride plus those of a project. Returns an error for the first
    /// custom rule that is invalid.
    pub fn with_custom(added: &[CustomRule]) -> Result<Self, CustomRuleError> {
        if added.len() > CUSTOM_RULES_MAX {
            return Err(CustomRuleError::TooMany);
        }
        let others: Result<_, _> = added.iter().map(SecretRule::from_custom).collect();
        Ok(Self { scanner: Scanner::new(others?) })
    }

    /// The version of the shipped rules and those of a project. Text that was redacted with another
    /// version may have secrets that these rules find.
    pub fn version(added: &[CustomRule]) -> String {
        let mut hash = SHIPPED_HASH.clone();
        for CustomRule { kind, begins, then, multiline } in added {
            for part in [kind, begins, then] {
                hash.update(part.len().to_le_bytes());
                hash.update(part);
            }
            hash.update([u8::from(*multiline)]);
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Finds the secrets in a text, in order and without overlaps.
    pub fn find(&self, text: &[u8]) -> Vec<Redaction> {
        scan::merge_overlapping(self.scanner.find(text, 0..text.len()))
    }

    /// Redacts a text. Returns the clean text and the secrets found.
    ///
    /// ```
    /// use midstride_core::text::redact::RedactionRules;
    ///
    /// let text = "Log in with password=Tr0ub4dor-and-3 on staging";
    /// let (clean, found) = RedactionRules::shipped().clean(text);
    /// assert_eq!(clean.as_str(), "Log in with password=REDACTED-password on staging");
    /// assert_eq!(found[0].kind, "password");
    /// ```
    pub fn clean(&self, text: &str) -> (CleanText, Vec<Redaction>) {
        let found = self.find(text.as_bytes());
        let mut clean = String::with_capacity(text.len());
        let mut from = 0;
        for Redaction { kind, at } in &found {
            clean.push_str(&text[from..at.start]);
            clean.push_str(REDACTION_MARK);
            clean.push_str(kind);
            from = at.end;
        }
        clean.push_str(&text[from..]);
        (CleanText(clean), found)
    }

    /// Redacts each string of a JSON text separately, so that the result is still valid JSON.
    pub fn clean_json(&self, text: &str) -> (CleanText, Vec<Redaction>) {
        let (mut clean, mut found) = (String::with_capacity(text.len()), Vec::new());
        let mut rest = text;
        while let Some(open) = rest.find('"') {
            let (before, string) = rest.split_at(open);
            clean.push_str(before);
            let (quoted, behind) = string.split_at(quoted_length(string));
            let (cleaned, redactions) = self.clean(&unquote(quoted));
            match redactions.is_empty() {
                true => clean.push_str(quoted),
                false => clean.push_str(&Value::from(cleaned.as_str()).to_string()),
            }
            found.extend(redactions);
            rest = behind;
        }
        clean.push_str(rest);
        (CleanText(clean), found)
    }
}

/// The length of the JSON string at the start of a text, including its quotes.
fn quoted_length(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |end| end + 2)
}

/// Decodes a JSON string.
fn unquote(quoted: &str) -> Cow<'_, str> {
    match quoted.contains('\\') {
        true => serde_json::from_str(quoted).map_or(Cow::Borrowed(quoted), Cow::Owned),
        false => Cow::Borrowed(quoted.trim_matches('"')),
    }
}

impl CleanText {
    /// Redacts a text with the shipped rules. Returns the clean text and the secrets found.
    pub fn redact(text: &str) -> (Self, Vec<Redaction>) {
        RedactionRules::shipped().clean(text)
    }

    /// The clean text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
