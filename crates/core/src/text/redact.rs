//! Text that may be written: what the rules recognise as a secret is taken out first.
//!
//! Only [`Clean`] text reaches a document, a kept revision or a log. The rules stand in
//! `redact/rules.txt`: letters that only a provider gives, grammars that many share, and names that
//! tell what is assigned to them. A project adds its own; nobody takes one away.

mod assignment;
mod base64;
mod hit;
mod human_chosen;
mod joined_lines;
mod key_block;
mod lines;
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
pub use variable::is_secret_variable;

use crate::text::span::Span;
use scan::Scanner;
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::LazyLock;
use table::SecretRule;

/// What stands in the place of a secret; one word, so that it harms neither YAML nor Markdown.
const REDACTION_MARK: &str = "REDACTED-";

/// The rules that ship with midstride. Nothing of them is read before the first text comes.
static SHIPPED: LazyLock<RedactionRules> =
    LazyLock::new(|| RedactionRules { scanner: Scanner::new(Vec::new()) });

/// Text without the secrets that the rules recognise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanText(String);

/// A secret that was taken out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redaction {
    /// What it was.
    pub kind: Cow<'static, str>,
    /// Where it stood, in the text before.
    pub at: Span,
}

/// A rule that a project adds. It can only take more out, so nobody has to trust it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CustomRule {
    /// What stands behind `REDACTED-`.
    pub kind: String,
    /// The letters that begin the secret.
    pub begins: String,
    /// What follows them, as a regular expression.
    pub then: String,
}

/// No project adds more rules.
const CUSTOM_RULES_MAX: usize = 100;

/// What is recognised as a secret.
#[derive(Debug)]
pub struct RedactionRules {
    scanner: Scanner,
}

impl RedactionRules {
    /// The rules that ship with midstride.
    pub fn shipped() -> &'static Self {
        &SHIPPED
    }

    /// The rules that ship with midstride and those that a project adds; the first that cannot be
    /// used is said.
    pub fn with_custom(added: &[CustomRule]) -> Result<Self, String> {
        if added.len() > CUSTOM_RULES_MAX {
            return Err(format!("there are more than {CUSTOM_RULES_MAX} rules in `redact`"));
        }
        let others = added.iter().map(SecretRule::from_custom).collect::<Result<_, String>>()?;
        Ok(Self { scanner: Scanner::new(others) })
    }

    /// The secrets in a text, in order; none overlaps another.
    pub fn find(&self, text: &[u8]) -> Vec<Redaction> {
        scan::merge_overlapping(self.scanner.find(text, 0..text.len()))
    }

    /// A text without its secrets, and what was taken out.
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

    /// The same of a text in JSON, string by string: what is left is JSON, whatever a rule takes out.
    pub fn clean_json(&self, text: &str) -> (CleanText, Vec<Redaction>) {
        let (mut clean, mut found) = (String::with_capacity(text.len()), Vec::new());
        let mut rest = text;
        while let Some(open) = rest.find('"') {
            let (before, string) = rest.split_at(open);
            clean.push_str(before);
            let (quoted, behind) = string.split_at(quoted_length(string));
            let (cleaned, taken_out) = self.clean(&unquote(quoted));
            match taken_out.is_empty() {
                true => clean.push_str(quoted),
                false => clean.push_str(&Value::from(cleaned.as_str()).to_string()),
            }
            found.extend(taken_out);
            rest = behind;
        }
        clean.push_str(rest);
        (CleanText(clean), found)
    }
}

/// How long a string of JSON is that a text begins with, with its quotes.
fn quoted_length(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |end| end + 2)
}

/// What a string of JSON says.
fn unquote(quoted: &str) -> Cow<'_, str> {
    match quoted.contains('\\') {
        true => serde_json::from_str(quoted).map_or(Cow::Borrowed(quoted), Cow::Owned),
        false => Cow::Borrowed(quoted.trim_matches('"')),
    }
}

impl CleanText {
    /// The text without its secrets, and what was taken out.
    pub fn redact(text: &str) -> (Self, Vec<Redaction>) {
        RedactionRules::shipped().clean(text)
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
