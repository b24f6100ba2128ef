//! Renders findings as JSON.

use super::super::citation::{CitationJson, citation_json};
use super::super::coverage::{self, CoverageJson};
use super::fix_hint;
use crate::json::JsonAnswer;
use midstride::sys::files::FileError;
use midstride::verbs::DocumentCheck;
use midstride_core::format::document::Document;
use midstride_core::format::finding::{Code, Finding, FindingFix, Severity};
use serde::Serialize;

#[derive(Serialize)]
pub struct CheckJson {
    documents: Vec<CheckedDocumentJson>,
    unread: Vec<String>,
    errors: usize,
    warnings: usize,
    advice: usize,
}

impl JsonAnswer for CheckJson {
    const SCHEMA: &'static str = "check/1";
}

#[derive(Serialize)]
struct CheckedDocumentJson {
    path: String,
    key: String,
    findings: Vec<FindingJson>,
    silenced: Vec<SilencedFindingJson>,
    citations: Vec<CitationJson>,
    /// Absent if the document names no session.
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<CoverageJson>,
}

/// A finding with its position and a hint.
#[derive(Serialize)]
pub struct FindingJson {
    code: &'static str,
    severity: &'static str,
    title: &'static str,
    message: String,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
    start: usize,
    end: usize,
    help: String,
    fixable: bool,
}

#[derive(Serialize)]
struct SilencedFindingJson {
    code: &'static str,
    message: String,
    reason: String,
}

/// The JSON for checked documents and for files that could not be read.
pub fn json(checks: &[DocumentCheck], unread: &[FileError]) -> CheckJson {
    let total = |severity| checks.iter().map(|one| one.verdict.count(severity)).sum();
    CheckJson {
        documents: checks.iter().map(document_json).collect(),
        unread: unread.iter().map(ToString::to_string).collect(),
        errors: total(Severity::Error),
        warnings: total(Severity::Warning),
        advice: total(Severity::Hint),
    }
}

fn document_json(one: &DocumentCheck) -> CheckedDocumentJson {
    CheckedDocumentJson {
        path: one.path.display().to_string(),
        key: one.key.to_string(),
        findings: findings_json(one),
        silenced: one
            .verdict
            .silenced
            .iter()
            .map(|silenced| SilencedFindingJson {
                code: silenced.finding.code.rule().code,
                message: silenced.finding.message.clone(),
                reason: silenced.reason.clone(),
            })
            .collect(),
        citations: one.citations.iter().map(|cited| citation_json(one.document(), cited)).collect(),
        coverage: one
            .coverage
            .as_ref()
            .map(|comparison| coverage::json(comparison, one.document())),
    }
}

/// The word for a severity. Programs rely on it, so hints keep their first name.
pub(crate) fn severity_json(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Hint => "advice",
    }
}

/// The findings of one document.
pub(crate) fn findings_json(one: &DocumentCheck) -> Vec<FindingJson> {
    match one.verdict.findings.is_empty() {
        true => Vec::new(),
        false => json_for_findings(one.document(), &one.verdict.findings),
    }
}

/// Some findings of a document.
pub fn json_for_findings(document: &Document, findings: &[Finding]) -> Vec<FindingJson> {
    findings.iter().map(|found| finding_json(document, found)).collect()
}

fn finding_json(document: &Document, finding: &Finding) -> FindingJson {
    let (start, end) = (document.position(finding.at.start), document.position(finding.at.end));
    let rule = finding.code.rule();
    FindingJson {
        code: rule.code,
        severity: severity_json(rule.severity),
        title: rule.title,
        message: finding.message.clone(),
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
        start: finding.at.start,
        end: finding.at.end,
        help: fix_hint(finding),
        fixable: matches!(finding.fix, Some(FindingFix::Edit(_)))
            || finding.code == Code::CitationMoved,
    }
}
