//! Texts on their way to the ledger: each without its secrets, and what was taken out of all.

use crate::workspace::project::Project;
use midstride_core::text::redact::{Redaction, RedactionRules};
use std::collections::BTreeMap;

/// What was taken out so far.
#[derive(Debug)]
pub(in crate::verbs) struct Redactor<'p> {
    rules: &'p RedactionRules,
    pub(in crate::verbs) redactions: Vec<Redaction>,
}

impl<'p> Redactor<'p> {
    /// Takes out what a project calls a secret.
    pub(in crate::verbs) fn for_project(project: &'p Project) -> Self {
        Self { rules: project.rules(), redactions: Vec::new() }
    }

    /// A text without its secrets.
    pub(in crate::verbs) fn clean(&mut self, text: &str) -> String {
        let (clean, found) = self.rules.clean(text);
        self.redactions.extend(found);
        clean.as_str().to_owned()
    }

    /// The same for each of several.
    pub(in crate::verbs) fn clean_each(&mut self, texts: &[String]) -> Vec<String> {
        texts.iter().map(|text| self.clean(text)).collect()
    }

    /// The same for names with values.
    pub(in crate::verbs) fn clean_all(
        &mut self,
        all: &BTreeMap<String, String>,
    ) -> BTreeMap<String, String> {
        all.iter().map(|(name, value)| (self.clean(name), self.clean(value))).collect()
    }
}
