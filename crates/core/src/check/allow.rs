//! `# midstride: allow CODE reason`: one finding silenced in one document, with a reason.

use crate::document::Document;
use crate::finding::{Code, Finding};
use crate::markdown::BlockKind;
use crate::span::Span;

const MARK: &str = "midstride: allow ";

/// A finding that was silenced.
#[derive(Clone, Debug)]
pub struct Silenced {
    /// What was found.
    pub finding: Finding,
    /// Why it does not count.
    pub reason: String,
}

struct Allowance<'d> {
    code: &'d str,
    reason: &'d str,
    at: Span,
}

/// Takes what is allowed out of the findings, and judges the allowances themselves.
pub(super) fn apply(document: &Document, findings: Vec<Finding>) -> (Vec<Finding>, Vec<Silenced>) {
    let mut kept = findings;
    let mut silenced = Vec::new();
    for Allowance { code, reason, at } in allowances(document) {
        let Some(known) = Code::parse(code) else {
            let message = format!("there is no finding `{code}`");
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
        if matching.is_empty() {
            let message = format!("{known} does not occur here");
            kept.push(Finding::new(Code::AllowUnused, at, message));
        }
        silenced.extend(
            matching.into_iter().map(|finding| Silenced { finding, reason: reason.to_owned() }),
        );
    }
    kept.sort_by_key(|finding| (finding.at.start, finding.code));
    (kept, silenced)
}

fn allowances(document: &Document) -> Vec<Allowance<'_>> {
    let comments = document.header().map(|h| h.comments.as_slice()).unwrap_or_default();
    let html = document.blocks().iter().filter(|block| block.kind == BlockKind::Html);
    comments
        .iter()
        .copied()
        .chain(html.map(|block| block.at))
        .filter_map(|at| allowance(document.text(), at))
        .collect()
}

fn allowance(text: &str, at: Span) -> Option<Allowance<'_>> {
    let comment = at.of(text).trim().trim_start_matches("<!--").trim_end_matches("-->");
    let rest = comment.trim_start_matches('#').trim().strip_prefix(MARK)?.trim();
    let (code, reason) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    Some(Allowance { code, reason: reason.trim(), at })
}
