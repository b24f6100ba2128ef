//! Bytes → document.

use super::{BOM, Document, legacy, version};
use crate::format::finding::{Code, Finding, Severity};
use crate::format::header::{HANDOFF, Header, Place};
use crate::format::section::sections;
use crate::format::shape;
use crate::text::edit::Path;
use crate::text::markdown;
use crate::text::span::{Span, line_end, line_start};
use crate::text::yaml::{self, MARKER_LENGTH, Node, Problem, ProblemKind, Reading, Value};
use std::sync::OnceLock;

/// A larger header is not read: it would be read at the start of every session.
const HEADER_BYTES_MAX: usize = 1 << 20;
/// Stands for each byte that is not UTF-8, so that no other byte moves.
const SUBSTITUTE: u8 = b'?';

pub(super) fn document(bytes: &[u8]) -> Document {
    let (text, broken) = decode(bytes);
    let mut findings = Vec::new();
    if let Some(at) = broken {
        let message = "the file has bytes that are not UTF-8";
        findings.push(Finding::new(Code::NotUtf8, Span::new(at, at + 1), message));
    }
    let front = FrontMatter::find(&text);
    let body_start = match &front {
        Some(front) => front.after,
        None => text.len() - text.trim_start_matches(BOM).len(),
    };
    let mut header = front.map(|front| front.header(&text, &mut findings));
    let body = Span::new(body_start, text.len());
    let blocks = markdown::read(&text, body);
    let sections = sections(&text, &blocks.headings, body.end);
    if header.as_ref().is_none_or(|header| header.place == Place::Foreign)
        && let Some(legacy::Found { header: found, .. }) = legacy::find(&text, &sections)
    {
        let at = first_line(&text, sections_heading(&sections, found.at).start);
        let message = "the header stands in a section";
        findings.push(Finding::new(Code::HeaderInSection, at, message).run(["midstride", "fmt"]));
        findings.extend(version::newer(&found));
        header = Some(found);
    }
    if header.as_ref().is_some_and(|header| header.place == Place::FrontMatter) {
        if text.starts_with(BOM) {
            let message = "the file starts with a byte order mark";
            let at = Span::new(0, BOM.len_utf8());
            findings.push(Finding::new(Code::LooseForm, at, message).run(["midstride", "fmt"]));
        }
        unfinished_merges(&text, body, &mut findings);
    } else {
        findings.iter_mut().for_each(gently);
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
fn sections_heading(sections: &[crate::format::section::Section], place: Span) -> Span {
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

/// A note is somebody's own business: what is wrong with it is advice.
fn gently(finding: &mut Finding) {
    if finding.code.rule().severity == Severity::Error {
        finding.code = Code::NotePartlyUnread;
    }
}

/// A header on top, and what was read between its fences.
struct FrontMatter {
    inner: Span,
    /// Where the body starts.
    after: usize,
    /// Whether the second fence is there.
    closed: bool,
    /// Nothing where it is too large to be read.
    reading: Option<Reading>,
}

impl FrontMatter {
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
        let closed = Self::closed(text, open_end);
        // A rule further down may look like the end of a header that has none. The header that
        // reads without a mistake is the one that is meant.
        if closed.as_ref().is_none_or(Self::has_mistakes)
            && let Some(open) = Self::unclosed(text, open_end)
            && (closed.is_none() || !open.has_mistakes())
        {
            return Some(open);
        }
        closed
    }

    fn closed(text: &str, start: usize) -> Option<Self> {
        let mut at = start;
        for line in text[start..].split_inclusive('\n') {
            if is_fence(line) {
                return Self::read(text, Span::new(start, at), at + line.len(), true);
            }
            at += line.len();
        }
        None
    }

    /// A header that nobody closed: it ends where Markdown must have begun.
    fn unclosed(text: &str, start: usize) -> Option<Self> {
        let mut at = start;
        let mut end = start;
        let mut after_blank = false;
        for line in text[start..].split_inclusive('\n') {
            // Up to here it is closed, whatever it says.
            if is_fence(line) {
                return None;
            }
            let blank = line.trim().is_empty();
            let heading = line.starts_with('#') && line.trim_start_matches('#').starts_with(' ');
            let comment = line.starts_with('#') && !(heading && after_blank);
            let yaml = line.starts_with([' ', '\t', '-']) || comment || is_key_line(line);
            if !blank && !yaml {
                break;
            }
            at += line.len();
            if !blank {
                end = at;
            }
            after_blank = blank;
        }
        let inner = Span::new(start, end);
        let first = inner.of(text).lines().next().unwrap_or_default();
        if is_key_line(first) { Self::read(text, inner, end, false) } else { None }
    }

    /// Reads what stands between the fences; `None` where two rules frame ordinary text.
    fn read(text: &str, inner: Span, after: usize, closed: bool) -> Option<Self> {
        let reading = (inner.len() <= HEADER_BYTES_MAX).then(|| yaml::read(text, inner));
        if let Some(reading) = &reading {
            let says = !reading.root.entries().is_empty();
            if !says && !inner.of(text).trim().is_empty() {
                return None;
            }
        }
        Some(Self { inner, after, closed, reading })
    }

    fn has_mistakes(&self) -> bool {
        let syntax = |problem: &Problem| problem.kind == ProblemKind::Syntax;
        self.reading.as_ref().is_some_and(|reading| reading.problems.iter().any(syntax))
    }

    fn header(self, text: &str, findings: &mut Vec<Finding>) -> Header {
        let at = self.inner;
        let Some(reading) = self.reading else {
            let message = format!(
                "the header has {} bytes; one over {HEADER_BYTES_MAX} is not read",
                at.len()
            );
            let place = first_line(text, at.start);
            findings.push(Finding::new(Code::HeaderTooLarge, place, message));
            let ours = at.of(text).lines().any(|line| line.starts_with("handoff:"));
            let place = if ours { Place::FrontMatter } else { Place::Foreign };
            return Header { place, at, root: Node::absent(at.start), comments: Vec::new() };
        };
        let is_handoff = reading.root.get("handoff").is_some();
        let place = if is_handoff { Place::FrontMatter } else { Place::Foreign };
        let header = Header { place, at, root: reading.root, comments: reading.comments };
        if !is_handoff {
            foreign_problem(&reading.problems, findings);
            return header;
        }
        if !self.closed {
            let last = at.of(text).trim_end();
            let place = first_line(text, line_start(text, at.start + last.len()));
            let message = "the header has no closing `---` after this line";
            let finding = Finding::new(Code::HeaderNotClosed, place, message);
            findings.push(finding.run(["midstride", "fmt"]));
        }
        findings.extend(reading.problems.into_iter().map(problem));
        findings.extend(version::newer(&header));
        inspect(&header, findings);
        header
    }
}

fn is_fence(line: &str) -> bool {
    matches!(line.trim_end(), "---" | "...")
}

fn is_key_line(line: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let Some((name, rest)) = line.split_once(':') else { return false };
    let separated = rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']);
    separated && !name.is_empty() && name.chars().all(word)
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
            shape::inspect(fields, &HANDOFF, &mut Path::default().key("handoff"), findings);
        }
        Value::Text(_) | Value::List(_) => {
            let message = "`handoff` is a mapping with the fields of the handoff";
            findings.push(Finding::new(Code::UnreadableValue, fields.at, message));
        }
        Value::Null | Value::Unreadable(_) => {}
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
        let finding = Finding::new(Code::NotePartlyUnread, first.at, first.message.clone());
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
