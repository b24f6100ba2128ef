//! Checks generated documents: the source must still have the hash that the document records.

use super::CheckContext;
use crate::format::finding::{Code, Finding};
use crate::handoff::Handoff;
use crate::text::span::Span;
use serde_json::Value;

/// How many bytes to search. The source statement is near the top.
const SCAN_BYTES_MAX: usize = 4096;

pub(super) fn check(handoff: &Handoff<'_>, context: &dyn CheckContext, out: &mut Vec<Finding>) {
    let text = handoff.document().text();
    let Some((stated, at)) = find_statement(text) else {
        return;
    };
    let field = |name: &str| stated.get(name).and_then(Value::as_str);
    let (Some(source), Some(hash)) = (field("source"), field("source_hash")) else {
        return;
    };
    let Some(hash) = hash.strip_prefix("sha256:") else {
        return;
    };
    match context.source_hash(source) {
        None => {
            let message = format!("the source `{source}` does not exist");
            out.push(Finding::new(Code::GeneratedOrphan, at, message));
        }
        Some(now) if !now.eq_ignore_ascii_case(hash) => {
            let message = format!("`{source}` has changed since this was generated");
            out.push(Finding::new(Code::GeneratedStale, at, message));
        }
        Some(_) => {}
    }
}

/// Finds the JSON in a comment such as `<!-- diagram-meta: {…} -->`.
fn find_statement(text: &str) -> Option<(Value, Span)> {
    let mut end = text.len().min(SCAN_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut from = 0;
    while let Some(open) = text[from..end].find("<!--").map(|at| from + at) {
        let close = open + text[open..].find("-->")?;
        let comment = &text[open..close];
        let json = comment.find('{').map(|at| comment[at..].trim_end());
        if let Some(Ok(value)) = json.map(serde_json::from_str::<Value>)
            && value.get("source_hash").is_some()
        {
            return Some((value, Span::new(open, close + "-->".len())));
        }
        from = close;
        if from >= end {
            break;
        }
    }
    None
}
