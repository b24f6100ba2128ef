//! Finds secrets that are written in a document. The check of a project calls it separately: it needs
//! the project's redaction rules, and costs more than the other checks together.

use crate::format::document::Document;
use crate::format::finding::{Code, Finding};
use crate::text::redact::RedactionRules;

/// The secrets in a document. The messages name the kind and do not quote the secret.
pub fn secret_findings(document: &Document, rules: &RedactionRules) -> Vec<Finding> {
    let found = rules.find(document.text().as_bytes()).into_iter();
    let finding = |kind: &str, at| {
        Finding::new(Code::SecretInDocument, at, format!("this looks like a secret: {kind}"))
    };
    found.map(|redaction| finding(&redaction.kind, redaction.at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_found_and_not_quoted() {
        let text = "---\nhandoff:\n  id: a\n---\nLog in with password=Tr0ub4dor-and-3 here\n";
        let document = Document::parse(text.as_bytes());
        let found = secret_findings(&document, RedactionRules::shipped());
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].message, "this looks like a secret: password");
        assert_eq!(found[0].at.slice(text), "Tr0ub4dor-and-3");
        let (clean, _) = RedactionRules::shipped().clean(text);
        let document = Document::parse(clean.as_str().as_bytes());
        assert_eq!(secret_findings(&document, RedactionRules::shipped()), []);
    }
}
