//! Findings as annotations of a GitHub workflow.

use super::fix_hint;
use midstride::verbs::DocumentCheck;
use midstride_core::format::finding::Severity;

pub(crate) fn github(judged: &[DocumentCheck]) -> String {
    let mut out = String::new();
    for one in judged {
        for finding in &one.verdict.findings {
            let command = match finding.severity() {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Advice => "notice",
            };
            let at = one.document().position(finding.at.start);
            let path = property(&one.path.display().to_string());
            let title = property(&format!("{} {}", finding.code, finding.code.rule().title));
            let message = data(&format!("{}\n{}", finding.message, fix_hint(finding)));
            out.push_str(&format!(
                "::{command} file={path},line={},col={},title={title}::{message}\n",
                at.line, at.column
            ));
        }
    }
    out
}

/// What a workflow command takes as its message.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// What it takes as a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
