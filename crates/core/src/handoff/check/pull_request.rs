//! Checks a pull request description, the handoff of the implementation stage.

use super::content::prose;
use super::{CheckContext, CheckFindings, ReferencedArtifact, allow};
use crate::format::document::Document;
use crate::format::finding::{Code, Finding};
use crate::format::section::Section;
use crate::text::markdown::MarkdownBlockKind;
use crate::text::span::Span;

/// The fields that the handoff context starts with.
const FIELDS: [&str; 3] = ["Feature", "Design", "Implements"];
/// The kinds of entries, and the fields that each one needs.
const ENTRIES: [(&str, &[&str]); 3] = [
    ("Decision", &["Rationale"]),
    ("Deviation", &["Reason", "Impact"]),
    ("Question", &["Context"]),
];

/// Checks the description of a pull request.
pub fn check_pull_request(document: &Document, check_context: &dyn CheckContext) -> CheckFindings {
    let mut findings: Vec<Finding> = document.findings().to_vec();
    let named =
        |section: &&Section| section.title.value.to_lowercase().starts_with("handoff context");
    match document.sections().iter().find(named) {
        Some(context) => {
            check_fields(document, context, check_context, &mut findings);
            check_entries(document, context, &mut findings);
            prose::check_placeholders(document, &mut findings);
        }
        None => {
            let at = Span::new(0, document.text().lines().next().unwrap_or_default().len());
            let message = "the `## Handoff Context` section is missing";
            let finding = Finding::new(Code::PrWithoutContext, at, message);
            findings.push(finding.with_command(["midstride", "show", "ID", "--as", "pr"]));
        }
    }
    let (findings, silenced) = allow::apply(document, findings);
    CheckFindings { findings, silenced }
}

fn check_fields(
    document: &Document,
    context: &Section,
    check_context: &dyn CheckContext,
    out: &mut Vec<Finding>,
) {
    let text = document.text();
    for name in FIELDS {
        let Some(value) = find_field(text, context.own, name).filter(|value| !value.is_empty())
        else {
            let title = context.title.at.slice(text).trim_end();
            let at = Span::new(context.title.at.start, context.title.at.start + title.len());
            let message = format!("the handoff context has no `**{name}**:`");
            let finding = Finding::new(Code::PrFieldMissing, at, message);
            out.push(finding.with_hint(format!("add `**{name}**:` to the handoff context")));
            continue;
        };
        let path = path_of(value.slice(text));
        if name == "Design" && check_context.artifact(path) == ReferencedArtifact::Missing {
            let message = format!("the design `{path}` does not exist");
            out.push(Finding::new(Code::PrDesignNotFound, value, message));
        }
    }
}

/// The path in `path`, `path (section 3)` or `[text](path)`.
fn path_of(value: &str) -> &str {
    let linked = value.split_once("](").map(|(_, rest)| rest.split(')').next().unwrap_or(rest));
    let bare = value.split_whitespace().next().unwrap_or(value);
    linked.unwrap_or(bare).trim_matches('`')
}

/// The span of the value after `**Name**:`, or of the list item below it.
fn find_field(text: &str, within: Span, name: &str) -> Option<Span> {
    let mut at = within.start;
    let mut waiting = false;
    for line in within.slice(text).split_inclusive('\n') {
        let start = at;
        at += line.len();
        if waiting && !line.trim().is_empty() {
            let item = line.trim_start().starts_with(['-', '*']) && !line.contains("**");
            let value = line.trim();
            let from = start + line.len() - line.trim_start().len();
            return Some(if item {
                Span::new(from, from + value.len())
            } else {
                Span::empty(from)
            });
        }
        let content = line.trim_start_matches(['-', '*', ' ', '_']);
        let Some((key, value)) = content.split_once(':') else { continue };
        if key.trim_end_matches(['*', '_', ' ']).eq_ignore_ascii_case(name) {
            let value = value.trim_start_matches(['*', ' ']).trim_end();
            if value.is_empty() {
                waiting = true;
                continue;
            }
            let from = start + line.trim_end().len() - value.len();
            return Some(Span::new(from, from + value.len()));
        }
    }
    None
}

/// The fields that an item needs, if it is an entry.
fn required_fields(item: &str) -> Option<&'static [&'static str]> {
    let first = item.trim_start_matches(['-', '*', ' ']).trim_start_matches("**");
    let is_kind = |(start, _): &&(&str, &[&str])| {
        first.strip_prefix(*start).is_some_and(|rest| rest.trim_start_matches('*').starts_with(':'))
    };
    ENTRIES.iter().find(is_kind).map(|(_, needs)| *needs)
}

fn check_entries(document: &Document, context: &Section, out: &mut Vec<Finding>) {
    let text = document.text();
    let items: Vec<Span> = document
        .blocks()
        .iter()
        .filter(|block| block.kind == MarkdownBlockKind::Item && context.at.contains(block.at))
        .map(|block| block.at)
        .collect();
    for (index, item) in items.iter().enumerate() {
        let Some(needs) = required_fields(item.slice(text)) else { continue };
        // The fields of an entry may follow as separate list items.
        let next = items[index + 1..]
            .iter()
            .find(|other| self::required_fields(other.slice(text)).is_some());
        let last = items[index..].iter().take_while(|i| next.is_none_or(|n| *i != n)).last();
        let whole = Span::new(item.start, last.map_or(item.end, |last| last.end));
        for need in needs {
            if find_field(text, whole, need).is_none_or(Span::is_empty) {
                let line = item.slice(text).lines().next().unwrap_or_default();
                let at = Span::new(item.start, item.start + line.len());
                let message = format!("this entry has no `{need}:`");
                let finding = Finding::new(Code::PrItemIncomplete, at, message);
                out.push(finding.with_hint(format!("add `{need}:` to this entry")));
            }
        }
    }
}
