//! Redacts texts before they go to the ledger, and collects what was redacted.

use crate::workspace::Workspace;
use midstride_core::text::redact::{Redaction, RedactionRules};
use std::collections::BTreeMap;

/// The redactions so far.
#[derive(Debug)]
pub(in crate::verbs) struct Redactor<'p> {
    rules: &'p RedactionRules,
    pub(in crate::verbs) redactions: Vec<Redaction>,
}

impl<'p> Redactor<'p> {
    /// Uses the redaction rules of a project.
    pub(in crate::verbs) fn for_project(workspace: &'p Workspace) -> Self {
        Self { rules: workspace.rules(), redactions: Vec::new() }
    }

    /// Redacts a text.
    pub(in crate::verbs) fn clean(&mut self, text: &str) -> String {
        let (clean, found) = self.rules.clean(text);
        self.redactions.extend(found);
        clean.as_str().to_owned()
    }

    /// Redacts several texts.
    pub(in crate::verbs) fn clean_each(&mut self, texts: &[String]) -> Vec<String> {
        texts.iter().map(|text| self.clean(text)).collect()
    }

    /// Redacts names and values.
    pub(in crate::verbs) fn clean_all(
        &mut self,
        all: &BTreeMap<String, String>,
    ) -> BTreeMap<String, String> {
        all.iter().map(|(name, value)| (self.clean(name), self.clean(value))).collect()
    }
}
