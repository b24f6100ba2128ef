//! Bytes → document.

use super::{Document, legacy, version};
use crate::edit::Path;
use crate::finding::{Code, Finding};
use crate::header::{HANDOFF, Header, Place};
use crate::markdown;
use crate::section::sections;
use crate::shape;
use crate::span::{Span, line_end, line_start};
use crate::yaml::{self, MARKER_LENGTH, Problem, ProblemKind, Value};
use std::sync::OnceLock;

/// A larger header is not read: it would be read at the start of every session.
const HEADER_BYTES_MAX: usize = 1 << 20;
const BOM: char = '\u{feff}';
/// Stands for each byte that is not UTF-8, so that no other byte moves.
const SUBSTITUTE: u8 = b'?';

pub(super) fn document(bytes: &[u8]) -> Document {
    let (text, broken) = decode(bytes);
    let mut findings = Vec::new();
    if let Some(at) = broken {
        let message = "the file has bytes that are not UTF-8";
        findings.push(Finding::new(Code::NotUtf8, Span::new(at, at + 1), message));
    }
    let fences = Fences::find(&text);
    let mut header = fences.as_ref().and_then(|fences| front_matter(&text, fences, &mut findings));
    let body_start = match (&fences, &header) {
        (Some(fences), Some(_)) => fences.after,
        _ => text.len() - text.trim_start_matches(BOM).len(),
    };
    let body = Span::new(body_start, text.len());
    let blocks = markdown::read(&text, body);
    let sections = sections(&text, &blocks.headings, body.end);
    if header.as_ref().is_none_or(|header| header.place == Place::Foreign)
        && let Some(legacy::Found { header: found, .. }) = legacy::find(&text, &sections)
    {
        let at = first_line(&text, sections_heading(&sections, found.at).start);
        let message = "the header stands in a section";
        findings.push(Finding::new(Code::HeaderInSection, at, message).run("midstride fmt"));
        header = Some(found);
    }
    if header.as_ref().is_some_and(|header| header.place == Place::FrontMatter) {
        if text.starts_with(BOM) {
            let message = "the file starts with a byte order mark";
            let at = Span::new(0, BOM.len_utf8());
            findings.push(Finding::new(Code::LooseForm, at, message).run("midstride fmt"));
        }
        unfinished_merges(&text, body, &mut findings);
    }
    Document {
        exact: broken.is_none(),
        header,
        body,
        sections,
        blocks: blocks.blocks,
        code: blocks.code,
        lines: OnceLock::new(),
        findings,
        text,
    }
}

/// The heading of the section that holds a place.
fn sections_heading(sections: &[crate::section::Section], place: Span) -> Span {
    let holder = sections.iter().rev().find(|section| section.at.contains(place));
    holder.map_or(place, |section| section.title.at)
}

/// The text, and the first byte that had to be replaced.
fn decode(bytes: &[u8]) -> (String, Option<usize>) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return (text.to_owned(), None);
    }
    let mut text = String::with_capacity(bytes.len());
    let mut broken = None;
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            broken = broken.or(Some(text.len()));
            text.extend(std::iter::repeat_n(char::from(SUBSTITUTE), chunk.invalid().len()));
        }
    }
    (text, broken)
}

/// The lines around a header.
struct Fences {
    /// What stands between them.
    inner: Span,
    /// Where the body starts.
    after: usize,
    /// Whether the second one is there.
    closed: bool,
}

impl Fences {
    fn find(text: &str) -> Option<Self> {
        let mut start = text.len() - text.trim_start_matches(BOM).len();
        // Two sides of a merge may have added the document; the header starts behind the marker.
        if text[start..].starts_with(&"<".repeat(MARKER_LENGTH)) {
            start = line_end(text, start);
        }
        let open_end = line_end(text, start);
        if text[start..open_end].trim_end() != "---" {
            return None;
        }
        let mut at = open_end;
        for line in text[open_end..].split_inclusive('\n') {
            if matches!(line.trim_end(), "---" | "...") {
                let inner = Span::new(open_end, at);
                let closed = Self { inner, after: at + line.len(), closed: true };
                // A rule further down may look like the end of a header that has none.
                return Self::unclosed(text, open_end, at).or(Some(closed));
            }
            at += line.len();
        }
        Self::unclosed(text, open_end, text.len())
    }

    /// A header that nobody closed: it ends where Markdown must have begun, if that is before
    /// `limit`.
    fn unclosed(text: &str, start: usize, limit: usize) -> Option<Self> {
        let mut at = start;
        let mut end = start;
        let mut after_blank = false;
        for line in text[start..limit].split_inclusive('\n') {
            let blank = line.trim().is_empty();
            let heading = line.starts_with('#') && line.trim_start_matches('#').starts_with(' ');
            let comment = line.starts_with('#') && !(heading && after_blank);
            let yaml = line.starts_with([' ', '\t', '-']) || comment || is_key_line(line);
            if !blank && !yaml {
                let inner = Span::new(start, end);
                let first = inner.of(text).lines().next().unwrap_or_default();
                return is_key_line(first).then_some(Self { inner, after: end, closed: false });
            }
            at += line.len();
            if !blank {
                end = at;
            }
            after_blank = blank;
        }
        let inner = Span::new(start, end);
        let first = inner.of(text).lines().next().unwrap_or_default();
        let to_the_end = limit == text.len() && is_key_line(first);
        to_the_end.then_some(Self { inner, after: end, closed: false })
    }
}

fn is_key_line(line: &str) -> bool {
    let name = line.split(':').next().unwrap_or_default();
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    name.len() < line.len() && !name.is_empty() && name.chars().all(word)
}

/// Reads the front matter; `None` where two rules frame ordinary text.
fn front_matter(text: &str, fences: &Fences, findings: &mut Vec<Finding>) -> Option<Header> {
    let inner = fences.inner;
    if inner.len() > HEADER_BYTES_MAX {
        let at = first_line(text, inner.start);
        let message = format!(
            "the header has {} bytes; one over {HEADER_BYTES_MAX} is not read",
            inner.len()
        );
        findings.push(Finding::new(Code::HeaderTooLarge, at, message));
        let root = yaml::Node::absent(inner.start);
        return Some(Header { place: Place::Foreign, at: inner, root, comments: Vec::new() });
    }
    let reading = yaml::read(text, inner);
    let is_map = matches!(reading.root.value, Value::Map(ref entries) if !entries.is_empty());
    if !is_map && !inner.of(text).trim().is_empty() {
        return None;
    }
    let is_handoff = reading.root.get("handoff").is_some();
    let place = if is_handoff { Place::FrontMatter } else { Place::Foreign };
    let header = Header { place, at: inner, root: reading.root, comments: reading.comments };
    if !is_handoff {
        foreign_problem(&reading.problems, findings);
        return Some(header);
    }
    if !fences.closed {
        let last = inner.of(text).trim_end();
        let at = first_line(text, line_start(text, inner.start + last.len()));
        let message = "the header has no closing `---` after this line";
        findings.push(Finding::new(Code::HeaderNotClosed, at, message).run("midstride fmt"));
    }
    findings.extend(reading.problems.into_iter().map(problem));
    findings.extend(version::newer(&header));
    inspect(&header, findings);
    Some(header)
}

/// The line that starts at a byte, without its break.
fn first_line(text: &str, start: usize) -> Span {
    let line = &text[start..line_end(text, start)];
    Span::new(start, start + line.trim_end().len())
}

fn inspect(header: &Header, findings: &mut Vec<Finding>) {
    let fields = header.fields();
    match &fields.value {
        Value::Map(_) => {
            shape::inspect(fields, &HANDOFF, &Path::default().key("handoff"), findings);
        }
        Value::Text(_) | Value::List(_) => {
            let message = "`handoff` is a mapping with the fields of the handoff";
            findings.push(Finding::new(Code::UnreadableValue, fields.at, message));
        }
        Value::Null | Value::Unreadable => {}
    }
}

fn problem(problem: Problem) -> Finding {
    let code = match problem.kind {
        ProblemKind::Syntax => Code::Syntax,
        ProblemKind::DuplicateKey => Code::DuplicateKey,
        ProblemKind::ConflictMarker => Code::ConflictMarker,
        ProblemKind::Tab => Code::Tab,
    };
    Finding::new(code, problem.at, problem.message)
}

/// Another tool's header is its own business; one piece of advice is enough.
fn foreign_problem(problems: &[Problem], findings: &mut Vec<Finding>) {
    if let Some(first) = problems.first() {
        let finding = Finding::new(Code::ForeignHeaderBroken, first.at, first.message.clone());
        findings.push(finding);
    }
}

fn unfinished_merges(text: &str, body: Span, findings: &mut Vec<Finding>) {
    // A merge that starts in the header was reported with it.
    for at in yaml::conflict_markers(body.of(text)) {
        let message = "a merge was left unfinished here";
        findings.push(Finding::new(Code::ConflictMarker, at.shifted(body.start), message));
    }
    let whole = yaml::conflict_markers(text);
    let reported = |at: &Span| findings.iter().any(|finding| finding.at == *at);
    let crossing: Vec<Span> = whole.into_iter().filter(|at| !reported(at)).collect();
    for at in crossing {
        let message = "a merge was left unfinished here";
        findings.push(Finding::new(Code::ConflictMarker, at, message));
    }
}
