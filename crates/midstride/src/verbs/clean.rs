//! Texts on their way to the ledger: each without its secrets, and what was taken out of all.

use midstride_core::redact::{Clean, Redaction};
use std::collections::BTreeMap;

/// What was taken out so far.
#[derive(Debug, Default)]
pub(super) struct Sieve {
    pub(super) found: Vec<Redaction>,
}

impl Sieve {
    /// A text without its secrets.
    pub(super) fn clean(&mut self, text: &str) -> String {
        let (clean, found) = Clean::of(text);
        self.found.extend(found);
        clean.as_str().to_owned()
    }

    /// The same for each of several.
    pub(super) fn clean_each(&mut self, texts: &[String]) -> Vec<String> {
        texts.iter().map(|text| self.clean(text)).collect()
    }

    /// The same for names with values.
    pub(super) fn clean_all(&mut self, all: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        all.iter().map(|(name, value)| (self.clean(name), self.clean(value))).collect()
    }
}
