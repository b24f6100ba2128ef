//! Renders findings as SARIF 2.1.0, for code scanning.

use super::fix_hint;
use midstride::verbs::DocumentCheck;
use midstride_core::format::document::Document;
use midstride_core::format::finding::{Code, Finding, Severity};
use serde_json::{Value, json};

/// A SARIF log with every finding and the rules they belong to.
pub fn sarif(checks: &[DocumentCheck]) -> Value {
    let results: Vec<Value> = checks
        .iter()
        .flat_map(|one| {
            let path = one.path.display().to_string();
            let shown = |finding: &Finding| result(&path, one.document(), finding);
            one.verdict.findings.iter().map(shown).collect::<Vec<_>>()
        })
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "midstride",
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": Code::ALL.iter().map(|code| rule(*code)).collect::<Vec<_>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Hint => "note",
    }
}

fn rule(code: Code) -> Value {
    let rule = code.rule();
    json!({
        "id": rule.code,
        "shortDescription": { "text": rule.title },
        "fullDescription": { "text": rule.why },
        "help": { "text": rule.fix },
        "defaultConfiguration": { "level": level(rule.severity) },
    })
}

/// Percent-encodes a path as a URI reference.
fn uri(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    path.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

fn result(path: &str, document: &Document, finding: &Finding) -> Value {
    let (start, end) = (document.position(finding.at.start), document.position(finding.at.end));
    json!({
        "ruleId": finding.code.rule().code,
        "level": level(finding.severity()),
        "message": { "text": format!("{}. {}", finding.message, fix_hint(finding)) },
        "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": uri(path) },
            "region": {
                "startLine": start.line,
                "startColumn": start.column,
                "endLine": end.line,
                "endColumn": end.column,
            },
        } }],
    })
}
