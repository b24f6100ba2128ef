//! Parses bytes into a [`Document`].

use super::{BOM, Document, legacy, version};
use crate::format::finding::{Code, Finding, Severity};
use crate::format::header::{HANDOFF, Header, HeaderLocation};
use crate::format::section::sections;
use crate::format::shape;
use crate::text::edit::HeaderPath;
use crate::text::markdown;
use crate::text::span::{Span, line_end, line_start};
use crate::text::yaml::{
    self, MARKER_LENGTH, ParsedYaml, YamlNode, YamlProblem, YamlProblemKind, YamlValue,
};
use std::sync::OnceLock;

/// The maximum size of a header. Larger ones are not parsed, because headers are parsed at the
/// start of every session.
const HEADER_BYTES_MAX: usize = 1 << 20;
/// Replaces each byte that is not UTF-8, so that all other bytes keep their offsets.
const SUBSTITUTE: u8 = b'?';

pub(super) fn parse_document(bytes: &[u8]) -> Document {
    let (text, broken) = decode(bytes);
    let mut findings = Vec::new();
    if let Some(at) = broken {
        let message = "the file contains bytes that are not UTF-8";
        findings.push(Finding::new(Code::NotUtf8, Span::new(at, at + 1), message));
    }
    let front = FrontMatter::find(&text);
    let body_start = match &front {
        Some(front) => front.after,
        None => text.len() - text.trim_start_matches(BOM).len(),
    };
    let mut header = front.map(|front| front.into_header(&text, &mut findings));
    let body = Span::new(body_start, text.len());
    let blocks = markdown::parse(&text, body);
    let sections = sections(&text, &blocks.headings, body.end);
    if header.as_ref().is_none_or(|header| header.location == HeaderLocation::Foreign)
        && let Some(legacy::SectionHeader { header: found, .. }) =
            legacy::find_section_header(&text, &sections)
    {
        let at = first_line(&text, heading_of_section_at(&sections, found.at).start);
        let message = "the handoff fields are in a section, not in a header";
        findings.push(
            Finding::new(Code::HeaderInSection, at, message).with_command(["midstride", "fmt"]),
        );
        findings.extend(version::newer_format_finding(&found));
        header = Some(found);
    }
    if header.as_ref().is_some_and(|header| header.location == HeaderLocation::FrontMatter) {
        if text.starts_with(BOM) {
            let message = "the file starts with a byte order mark";
            let at = Span::new(0, BOM.len_utf8());
            findings.push(
                Finding::new(Code::LooseForm, at, message).with_command(["midstride", "fmt"]),
            );
        }
        report_unfinished_merges(&text, body, &mut findings);
    } else {
        findings.iter_mut().for_each(downgrade_to_hint);
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

pub(super) fn has_front_matter(text: &str) -> bool {
    FrontMatter::find(text).is_some()
}

/// The span of the heading of the section that contains `place`.
fn heading_of_section_at(sections: &[crate::format::section::Section], place: Span) -> Span {
    let holder = sections.iter().rev().find(|section| section.at.contains(place));
    holder.map_or(place, |section| section.title.at)
}

/// Decodes the text. Also returns the offset of the first replaced byte.
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

/// Downgrades an error to a hint. Notes do not have to follow the handoff format.
fn downgrade_to_hint(finding: &mut Finding) {
    if finding.code.rule().severity == Severity::Error {
        finding.code = Code::NotePartlyUnreadable;
    }
}

/// A header at the top of the file, with the parsed text between its fences.
struct FrontMatter {
    inner: Span,
    /// The offset of the body.
    after: usize,
    /// Whether the closing fence exists.
    closed: bool,
    /// `None` if the header is too large to parse.
    reading: Option<ParsedYaml>,
}

impl FrontMatter {
    fn find(text: &str) -> Option<Self> {
        let mut start = text.len() - text.trim_start_matches(BOM).len();
        // If both sides of a merge added the document, the header starts after the conflict marker.
        if text[start..].starts_with(&"<".repeat(MARKER_LENGTH)) {
            start = line_end(text, start);
        }
        let open_end = line_end(text, start);
        if text[start..open_end].trim_end() != "---" {
            return None;
        }
        let closed = Self::find_closed(text, open_end);
        // A horizontal rule further down may look like the closing fence of an unclosed header.
        // Prefer the reading without syntax errors.
        if closed.as_ref().is_none_or(Self::has_syntax_errors)
            && let Some(open) = Self::find_unclosed(text, open_end)
            && (closed.is_none() || !open.has_syntax_errors())
        {
            return Some(open);
        }
        closed
    }

    fn find_closed(text: &str, start: usize) -> Option<Self> {
        let mut at = start;
        for line in text[start..].split_inclusive('\n') {
            if is_fence(line) {
                return Self::parse(text, Span::new(start, at), at + line.len(), true);
            }
            at += line.len();
        }
        None
    }

    /// Finds a header without a closing fence. It ends where Markdown must start.
    fn find_unclosed(text: &str, start: usize) -> Option<Self> {
        let mut at = start;
        let mut end = start;
        let mut after_blank = false;
        for line in text[start..].split_inclusive('\n') {
            // There is a closing fence, so the header is not unclosed.
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
        let first = inner.slice(text).lines().next().unwrap_or_default();
        if is_key_line(first) { Self::parse(text, inner, end, false) } else { None }
    }

    /// Parses the text between the fences. Returns `None` if two horizontal rules enclose ordinary
    /// text.
    fn parse(text: &str, inner: Span, after: usize, closed: bool) -> Option<Self> {
        let reading = (inner.len() <= HEADER_BYTES_MAX).then(|| yaml::parse(text, inner));
        if let Some(reading) = &reading {
            let has_keys = !reading.root.entries().is_empty();
            if !has_keys && !inner.slice(text).trim().is_empty() {
                return None;
            }
        }
        Some(Self { inner, after, closed, reading })
    }

    fn has_syntax_errors(&self) -> bool {
        let syntax = |problem: &YamlProblem| problem.kind == YamlProblemKind::Syntax;
        self.reading.as_ref().is_some_and(|reading| reading.problems.iter().any(syntax))
    }

    fn into_header(self, text: &str, findings: &mut Vec<Finding>) -> Header {
        let at = self.inner;
        let Some(reading) = self.reading else {
            let message = format!(
                "the header is {} bytes; midstride skips headers larger than {HEADER_BYTES_MAX} \
                 bytes",
                at.len()
            );
            let place = first_line(text, at.start);
            findings.push(Finding::new(Code::HeaderTooLarge, place, message));
            let ours = at.slice(text).lines().any(|line| line.starts_with("handoff:"));
            let place = if ours { HeaderLocation::FrontMatter } else { HeaderLocation::Foreign };
            return Header {
                location: place,
                at,
                root: YamlNode::absent(at.start),
                comments: Vec::new(),
            };
        };
        let is_handoff = reading.root.get("handoff").is_some();
        let place = if is_handoff { HeaderLocation::FrontMatter } else { HeaderLocation::Foreign };
        let header = Header { location: place, at, root: reading.root, comments: reading.comments };
        if !is_handoff {
            report_foreign_problem(&reading.problems, findings);
            return header;
        }
        if !self.closed {
            let last = at.slice(text).trim_end();
            let place = first_line(text, line_start(text, at.start + last.len()));
            let message = "the header has no closing `---` after this line";
            let finding = Finding::new(Code::HeaderNotClosed, place, message);
            findings.push(finding.with_command(["midstride", "fmt"]));
        }
        findings.extend(reading.problems.into_iter().map(finding_from_problem));
        findings.extend(version::newer_format_finding(&header));
        check_header(&header, findings);
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

/// The span of the line that starts at `start`, without its line break.
fn first_line(text: &str, start: usize) -> Span {
    let line = &text[start..line_end(text, start)];
    Span::new(start, start + line.trim_end().len())
}

fn check_header(header: &Header, findings: &mut Vec<Finding>) {
    let fields = header.fields();
    match &fields.value {
        YamlValue::Map(_) => {
            shape::check_mapping(
                fields,
                &HANDOFF,
                &mut HeaderPath::default().key("handoff"),
                findings,
            );
        }
        YamlValue::Text(_) | YamlValue::List(_) => {
            let message = "`handoff` must be a mapping with the handoff's fields";
            findings.push(Finding::new(Code::UnreadableValue, fields.at, message));
        }
        YamlValue::Null | YamlValue::Unreadable(_) => {}
    }
}

fn finding_from_problem(problem: YamlProblem) -> Finding {
    let code = match problem.kind {
        YamlProblemKind::Syntax => Code::Syntax,
        YamlProblemKind::DuplicateKey => Code::DuplicateKey,
        YamlProblemKind::ConflictMarker => Code::ConflictMarker,
        YamlProblemKind::Tab => Code::Tab,
    };
    Finding::new(code, problem.at, problem.message)
}

/// Reports only the first problem of another tool's header, as a hint.
fn report_foreign_problem(problems: &[YamlProblem], findings: &mut Vec<Finding>) {
    if let Some(first) = problems.first() {
        let finding = Finding::new(Code::NotePartlyUnreadable, first.at, first.message.clone());
        findings.push(finding);
    }
}

fn report_unfinished_merges(text: &str, body: Span, findings: &mut Vec<Finding>) {
    // A merge that is entirely inside the header is already reported.
    for at in yaml::conflict_markers(body.slice(text)) {
        let message = "unresolved merge conflict";
        findings.push(Finding::new(Code::ConflictMarker, at.shifted(body.start), message));
    }
    let whole = yaml::conflict_markers(text);
    let reported = |at: &Span| findings.iter().any(|finding| finding.at == *at);
    let crossing: Vec<Span> = whole.into_iter().filter(|at| !reported(at)).collect();
    for at in crossing {
        let message = "unresolved merge conflict";
        findings.push(Finding::new(Code::ConflictMarker, at, message));
    }
}
