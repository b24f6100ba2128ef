//! Renders findings in the style of rustc: the source line, the problem, the hint.

use super::{HintDisplay, fix_hint_on};
use crate::view::{Surface, display_path};
use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use midstride::verbs::DocumentCheck;
use midstride::workspace::Workspace;
use midstride_core::format::document::Document;
use midstride_core::format::finding::{Code, Finding, Severity};
use midstride_core::text::span::{Span, line_end, line_start};
use std::borrow::Cow;
use std::ops::Range;

/// The width at which source lines are truncated around the finding.
const FRAME_WIDTH: usize = 120;

/// Every finding with its source line and a fix, except hints that the summary only counts.
/// `terminal` is the width of the terminal, if there is one.
pub fn human(
    workspace: &Workspace,
    checks: &[DocumentCheck],
    surface: Surface,
    terminal: Option<usize>,
    hints: HintDisplay,
) -> String {
    let renderer = Renderer::styled()
        .decor_style(DecorStyle::Ascii)
        .term_width(terminal.unwrap_or(FRAME_WIDTH));
    let is_listed =
        |finding: &&Finding| hints == HintDisplay::Listed || finding.severity() > Severity::Hint;
    let mut out = String::new();
    for one in checks {
        let path = display_path(workspace, &one.path);
        let is_secret = |finding: &&Finding| finding.code == Code::SecretInDocument;
        let secrets = one.verdict.findings.iter().filter(is_secret);
        let secrets: Vec<Span> = secrets.map(|finding| finding.at).collect();
        for finding in one.verdict.findings.iter().filter(is_listed) {
            let line = FindingLine::new(one.document(), finding, &secrets);
            let help = fix_hint_on(surface, one.document(), finding);
            out.push_str(&frame(&renderer, &path, &line, finding, &help));
            out.push_str("\n\n");
        }
    }
    out
}

fn frame(
    renderer: &Renderer,
    path: &str,
    line: &FindingLine<'_>,
    finding: &Finding,
    help: &str,
) -> String {
    let level = match finding.severity() {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Hint => Level::NOTE.with_name("hint"),
    };
    let group = level
        .primary_title(finding.message.as_str())
        .id(finding.code.rule().code)
        .element(
            Snippet::source(line.text.as_ref())
                .line_start(line.number)
                .path(path)
                .annotation(AnnotationKind::Primary.span(line.marked.clone())),
        )
        .element(Level::HELP.message(help));
    renderer.render(&[group])
}

/// The line a finding starts on. The renderer gets only this line, because it would otherwise scan
/// the whole document for every finding. A value of several lines is marked on its first line.
struct FindingLine<'d> {
    text: Cow<'d, str>,
    number: usize,
    marked: Range<usize>,
}

impl<'d> FindingLine<'d> {
    fn new(document: &'d Document, finding: &Finding, secrets: &[Span]) -> Self {
        let text = document.text();
        let start = finding.at.start.min(text.len());
        let from = line_start(text, start);
        let line = text[from..line_end(text, start)].trim_end_matches(['\r', '\n']);
        let first = finding.at.slice(text).lines().next().unwrap_or_default().trim_end();
        let marked = start - from..start - from + first.len();
        let text = mask(line, from, secrets);
        Self { text, number: document.position(start).line, marked }
    }
}

/// The line that starts at `from`, with stars in the place of secrets. Its length stays the same.
fn mask<'d>(line: &'d str, from: usize, secrets: &[Span]) -> Cow<'d, str> {
    let mut masked = Cow::Borrowed(line);
    for secret in secrets.iter().filter(|at| at.start < from + line.len() && at.end > from) {
        let start = secret.start.saturating_sub(from);
        let end = (secret.end - from).min(line.len());
        masked.to_mut().replace_range(start..end, &"*".repeat(end - start));
    }
    masked
}
