//! Text that may be written: what the rules recognise as a secret is taken out first.
//!
//! Only [`Clean`] text reaches a document, a kept revision or a log. The rules stand in
//! `redact/rules.txt`: letters that only a provider gives, grammars that many share, and names that
//! tell what is assigned to them. A project adds its own; nobody takes one away.

mod assignment;
mod base64;
mod hit;
mod key_block;
mod name;
mod scan;
mod stream;
mod table;
#[cfg(test)]
mod tests;
mod url;
mod value;
mod variable;
mod words;

pub use stream::{Counts, Stream};
pub use variable::is_secret_variable;

use crate::span::Span;
use scan::Scanner;
use std::borrow::Cow;
use std::sync::LazyLock;

/// What stands in the place of a secret; one word, so that it harms neither YAML nor Markdown.
const MARK: &str = "REDACTED-";

/// The rules that ship with midstride. Nothing of them is read before the first text comes.
static SHIPPED: LazyLock<Rules> = LazyLock::new(|| Rules { scanner: Scanner::new(Vec::new()) });

/// Text without the secrets that the rules recognise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clean(String);

/// A secret that was taken out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redaction {
    /// What it was.
    pub kind: Cow<'static, str>,
    /// Where it stood, in the text before.
    pub at: Span,
}

/// What is recognised as a secret.
#[derive(Debug)]
pub struct Rules {
    scanner: Scanner,
}

impl Rules {
    /// The rules that ship with midstride.
    pub fn shipped() -> &'static Self {
        &SHIPPED
    }

    /// The secrets in a text, in order; none overlaps another.
    pub fn find(&self, text: &[u8]) -> Vec<Redaction> {
        scan::join(self.scanner.find(text, 0..text.len()))
    }

    /// A text without its secrets, and what was taken out.
    pub fn clean(&self, text: &str) -> (Clean, Vec<Redaction>) {
        let found = self.find(text.as_bytes());
        let mut clean = String::with_capacity(text.len());
        let mut from = 0;
        for Redaction { kind, at } in &found {
            clean.push_str(&text[from..at.start]);
            clean.push_str(MARK);
            clean.push_str(kind);
            from = at.end;
        }
        clean.push_str(&text[from..]);
        (Clean(clean), found)
    }
}

impl Clean {
    /// The text without its secrets, and what was taken out.
    pub fn of(text: &str) -> (Self, Vec<Redaction>) {
        Rules::shipped().clean(text)
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
