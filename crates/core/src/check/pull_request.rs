//! The description of a pull request: the handoff of the implementation stage.

use super::{Artifact, Surroundings, Verdict};
use crate::document::Document;
use crate::finding::{Code, Finding};
use crate::markdown::BlockKind;
use crate::section::Section;
use crate::span::Span;

/// Lines that the context starts with.
const FIELDS: [&str; 3] = ["Feature", "Design", "Implements"];
/// Sections of entries: what an entry starts with, and what it needs.
const ENTRIES: [(&str, &[&str]); 3] = [
    ("Decision", &["Rationale"]),
    ("Deviation", &["Reason", "Impact"]),
    ("Question", &["Context"]),
];

/// Judges the description of a pull request.
pub fn pull_request(document: &Document, around: &dyn Surroundings) -> Verdict {
    let mut findings: Vec<Finding> = document.findings().to_vec();
    let named = |section: &&Section| section.title.value.eq_ignore_ascii_case("handoff context");
    match document.sections().iter().find(named) {
        Some(context) => {
            fields(document, context, around, &mut findings);
            entries(document, context, &mut findings);
        }
        None => {
            let at = Span::new(0, document.text().lines().next().unwrap_or_default().len());
            let message = "there is no section `## Handoff Context`";
            let finding = Finding::new(Code::PrWithoutContext, at, message);
            findings.push(finding.run("midstride show ID --as pr"));
        }
    }
    findings.sort_by_key(|finding| (finding.at.start, finding.code));
    Verdict { findings, silenced: Vec::new() }
}

fn fields(
    document: &Document,
    context: &Section,
    around: &dyn Surroundings,
    out: &mut Vec<Finding>,
) {
    for name in FIELDS {
        let value = field(document.text(), context.own, name);
        match value {
            Some(value) if !value.of(document.text()).trim().is_empty() => {
                let path = value.of(document.text()).trim().trim_matches('`');
                if name == "Design" && around.artifact(path) == Artifact::Missing {
                    let message = format!("the design `{path}` is not there");
                    out.push(Finding::new(Code::PrDesignNotFound, value, message));
                }
            }
            Some(_) | None => {
                let message = format!("the handoff context has no `**{name}**:`");
                out.push(Finding::new(Code::PrFieldMissing, context.title.at, message));
            }
        }
    }
}

/// The value behind `**Name**:`.
fn field(text: &str, within: Span, name: &str) -> Option<Span> {
    let mut at = within.start;
    for line in within.of(text).split_inclusive('\n') {
        let content = line.trim_start_matches(['-', '*', ' ', '_']);
        let key = content.split(':').next().unwrap_or_default().trim_end_matches(['*', '_', ' ']);
        if key.eq_ignore_ascii_case(name) && content.contains(':') {
            let value = content.split_once(':').map_or("", |(_, value)| value);
            let value = value.trim_start_matches(['*', ' ']).trim_end();
            let start = at + line.trim_end().len() - value.len();
            return Some(Span::new(start, start + value.len()));
        }
        at += line.len();
    }
    None
}

fn entries(document: &Document, context: &Section, out: &mut Vec<Finding>) {
    let items = document
        .blocks()
        .iter()
        .filter(|block| block.kind == BlockKind::Item && context.at.contains(block.at));
    for item in items {
        let text = item.at.of(document.text());
        let first = text.trim_start_matches(['-', '*', ' ']).trim_start_matches("**");
        let Some((_, needs)) = ENTRIES.iter().find(|(start, _)| {
            first
                .strip_prefix(start)
                .is_some_and(|rest| rest.trim_start_matches('*').starts_with(':'))
        }) else {
            continue;
        };
        for need in *needs {
            let told = field(text, Span::new(0, text.len()), need);
            if told.is_none_or(Span::is_empty) {
                let line = text.lines().next().unwrap_or_default();
                let at = Span::new(item.at.start, item.at.start + line.len());
                let message = format!("this entry has no `{need}:`");
                out.push(Finding::new(Code::PrItemIncomplete, at, message));
            }
        }
    }
}
