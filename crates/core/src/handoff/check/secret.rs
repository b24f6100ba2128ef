//! Finds secrets that are written in a document. The check of a project calls it separately: it needs
//! the project's redaction rules, and costs more than the other checks together.

use crate::format::document::Document;
use crate::format::finding::{Code, Finding};
use crate::text::redact::RedactionRules;
use crate::text::span::Span;

/// The secrets in a document. The messages name the kind and do not quote the secret.
pub fn secret_findings(document: &Document, rules: &RedactionRules) -> Vec<Finding> {
    let found = rules.find(document.text().as_bytes()).into_iter();
    let finding = |kind: &str, at| {
        Finding::new(Code::SecretInDocument, at, format!("this looks like a secret: {kind}"))
    };
    found.map(|redaction| finding(&redaction.kind, redaction.at)).collect()
}

/// The secret in the name of a file, if there is one. No redaction renames a file.
pub fn secret_name_finding(path: &str, rules: &RedactionRules) -> Option<Finding> {
    let kind = rules.find(path.as_bytes()).into_iter().next()?.kind;
    let message = format!("the file name contains a secret: {kind}");
    let finding = Finding::new(Code::SecretInDocument, Span::empty(0), message);
    Some(finding.with_hint("rotate the secret, then rename the file"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_in_a_file_name_is_found_and_not_quoted() {
        let token = format!("ghp_{}", "a1B2c3".repeat(6));
        let rules = RedactionRules::shipped();
        let found = secret_name_finding(&format!("docs/handoffs/{token}.md"), rules).unwrap();
        assert_eq!(found.message, "the file name contains a secret: github-token");
        assert_eq!(secret_name_finding("docs/handoffs/token-refresh.md", rules), None);
    }

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
