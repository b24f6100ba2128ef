//! Findings in the manner of rustc: the line, what is wrong with it, what to do.

use super::{is_counted, way_out};
use crate::view::shown_path;
use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use midstride::project::Project;
use midstride::verbs::Judged;
use midstride_core::finding::{Finding, Severity};

/// A longer line is cut around the place; a frame is for looking at.
const FRAME_WIDTH: usize = 120;

pub(crate) fn human(project: &Project, judged: &[Judged]) -> String {
    let renderer = Renderer::styled().decor_style(DecorStyle::Ascii).term_width(FRAME_WIDTH);
    let mut out = String::new();
    for Judged { shelved, verdict } in judged {
        let path = shown_path(project, &shelved.path);
        for finding in verdict.findings.iter().filter(|finding| !is_counted(judged, finding)) {
            out.push_str(&frame(&renderer, &path, shelved.document.text(), finding));
            out.push_str("\n\n");
        }
    }
    out
}

fn frame(renderer: &Renderer, path: &str, text: &str, finding: &Finding) -> String {
    let level = match finding.severity() {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Advice => Level::NOTE.with_name("advice"),
    };
    let help = way_out(finding);
    let group = level
        .primary_title(finding.message.as_str())
        .id(finding.code.rule().code)
        .element(
            Snippet::source(text)
                .path(path)
                .annotation(AnnotationKind::Primary.span(first_line(text, finding))),
        )
        .element(Level::HELP.message(help.as_str()));
    renderer.render(&[group])
}

/// A value of many lines is pointed at by its first.
fn first_line(text: &str, finding: &Finding) -> std::ops::Range<usize> {
    let start = finding.at.start.min(text.len());
    let at = finding.at.of(text);
    let line = at.lines().next().unwrap_or_default();
    start..start + line.trim_end().len()
}
