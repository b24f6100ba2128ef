//! Renders findings in the style of rustc: the source line, the problem, the hint.

use super::{fix_hint_on, is_counted};
use crate::view::{Surface, display_path};
use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use midstride::verbs::DocumentCheck;
use midstride::workspace::Workspace;
use midstride_core::format::document::Document;
use midstride_core::format::finding::{Finding, Severity};
use midstride_core::text::span::{line_end, line_start};
use std::ops::Range;

/// The width at which source lines are truncated around the finding.
const FRAME_WIDTH: usize = 120;

/// Every finding with its source line and a hint. `terminal` is the width of the terminal, if there is
/// one.
pub fn human(
    workspace: &Workspace,
    checks: &[DocumentCheck],
    surface: Surface,
    terminal: Option<usize>,
) -> String {
    let renderer = Renderer::styled()
        .decor_style(DecorStyle::Ascii)
        .term_width(terminal.unwrap_or(FRAME_WIDTH));
    let mut out = String::new();
    for one in checks {
        let path = display_path(workspace, &one.path);
        for finding in one.verdict.findings.iter().filter(|finding| !is_counted(checks, finding)) {
            out.push_str(&frame(&renderer, &path, one.document(), finding, surface));
            out.push_str("\n\n");
        }
    }
    out
}

fn frame(
    renderer: &Renderer,
    path: &str,
    document: &Document,
    finding: &Finding,
    surface: Surface,
) -> String {
    let level = match finding.severity() {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Advice => Level::NOTE.with_name("advice"),
    };
    let help = fix_hint_on(surface, document, finding);
    let line = FindingLine::new(document, finding);
    let group = level
        .primary_title(finding.message.as_str())
        .id(finding.code.rule().code)
        .element(
            Snippet::source(line.text)
                .line_start(line.number)
                .path(path)
                .annotation(AnnotationKind::Primary.span(line.marked)),
        )
        .element(Level::HELP.message(help.as_str()));
    renderer.render(&[group])
}

/// The line a finding starts on. The renderer gets only this line, because it would otherwise scan
/// the whole document for every finding. A value of several lines is marked on its first line.
struct FindingLine<'d> {
    text: &'d str,
    number: usize,
    marked: Range<usize>,
}

impl<'d> FindingLine<'d> {
    fn new(document: &'d Document, finding: &Finding) -> Self {
        let text = document.text();
        let start = finding.at.start.min(text.len());
        let from = line_start(text, start);
        let line = text[from..line_end(text, start)].trim_end_matches(['\r', '\n']);
        let first = finding.at.slice(text).lines().next().unwrap_or_default().trim_end();
        let marked = start - from..start - from + first.len();
        Self { text: line, number: document.position(start).line, marked }
    }
}
