//! Renders findings as annotations in a GitHub workflow.

use super::fix_hint;
use midstride::verbs::DocumentCheck;
use midstride_core::format::finding::Severity;

/// Workflow commands that annotate the lines of a pull request.
pub fn github(checks: &[DocumentCheck]) -> String {
    let mut out = String::new();
    for one in checks {
        for finding in &one.verdict.findings {
            let command = match finding.severity() {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Hint => "notice",
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

/// Escapes the message of a workflow command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
