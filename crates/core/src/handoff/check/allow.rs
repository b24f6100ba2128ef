//! Silences findings: `# midstride: allow CODE reason` covers one code in one document.

use crate::format::document::Document;
use crate::format::finding::{Code, Finding};
use crate::text::markdown::MarkdownBlockKind;
use crate::text::span::Span;

const PREFIX: &str = "midstride: allow ";

/// A finding that was silenced.
#[derive(Clone, Debug)]
pub struct SilencedFinding {
    /// The finding.
    pub finding: Finding,
    /// The reason given.
    pub reason: String,
}

struct Allowance<'d> {
    code: &'d str,
    reason: &'d str,
    at: Span,
}

/// Splits off the silenced findings, and adds findings about the `allow` comments themselves.
pub(super) fn apply(
    document: &Document,
    findings: Vec<Finding>,
) -> (Vec<Finding>, Vec<SilencedFinding>) {
    let mut kept = findings;
    let mut silenced = Vec::new();
    for Allowance { code, reason, at } in allowances(document) {
        let Some(known) = Code::parse(code) else {
            let message = format!("no finding has the code `{code}`");
            kept.push(Finding::new(Code::AllowUnknown, at, message));
            continue;
        };
        if reason.is_empty() {
            let message = format!("{known} is silenced without a reason");
            kept.push(Finding::new(Code::AllowWithoutReason, at, message));
            continue;
        }
        let (matching, others): (Vec<_>, Vec<_>) = kept.into_iter().partition(|f| f.code == known);
        kept = others;
        if matching.is_empty() && known.is_document_local() {
            let message = format!("{known} is silenced but does not occur");
            kept.push(Finding::new(Code::AllowUnused, at, message));
        }
        silenced.extend(
            matching
                .into_iter()
                .map(|finding| SilencedFinding { finding, reason: reason.to_owned() }),
        );
    }
    kept.sort_by_key(|finding| (finding.at.start, finding.code));
    (kept, silenced)
}

/// The reason this code is silenced in a document, if it is.
pub(super) fn reason_for(document: &Document, code: Code) -> Option<String> {
    let mut all = allowances(document).into_iter();
    let applies = |allowance: &Allowance<'_>| {
        Code::parse(allowance.code) == Some(code) && !allowance.reason.is_empty()
    };
    all.find(applies).map(|allowance| allowance.reason.to_owned())
}

fn allowances(document: &Document) -> Vec<Allowance<'_>> {
    let comments = document.header().map(|h| h.comments.as_slice()).unwrap_or_default();
    let html = document.blocks().iter().filter(|block| block.kind == MarkdownBlockKind::Html);
    comments
        .iter()
        .copied()
        .chain(html.map(|block| block.at))
        .flat_map(|at| parse_allowances(document.text(), at))
        .collect()
}

/// Parses `allow C005 reason`, or several codes followed by one reason.
fn parse_allowances(text: &str, at: Span) -> Vec<Allowance<'_>> {
    let comment = at.slice(text).trim().trim_start_matches("<!--").trim_end_matches("-->");
    let Some(rest) = comment.trim_start_matches('#').trim().strip_prefix(PREFIX) else {
        return Vec::new();
    };
    let mut rest = rest.trim();
    let mut codes = Vec::new();
    loop {
        let word = rest.split_whitespace().next().unwrap_or_default();
        let code = word.trim_end_matches([',', ':']);
        // The first word is always read as a code, so that a typo is reported.
        if code.is_empty() || (!codes.is_empty() && Code::parse(code).is_none()) {
            break;
        }
        codes.push(code);
        rest = rest[word.len()..].trim_start();
    }
    codes.into_iter().map(|code| Allowance { code, reason: rest, at }).collect()
}
