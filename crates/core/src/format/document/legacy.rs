//! Parses older header forms: a `## Handoff` section, and `Captured:`/`Revised:` lines.

mod node;
mod question;
mod section_field;

use self::section_field::{line_content, parse_key_value, read_fields};
use crate::format::header::{Header, HeaderLocation};
use crate::format::section::{Section, SectionMeaning};
use crate::text::span::{Span, Spanned};
use crate::text::time::Time;
use crate::text::yaml::{self, YamlEntry, YamlValue};

/// A header found in a section.
#[derive(Debug)]
pub(super) struct SectionHeader {
    /// The header.
    pub(super) header: Header,
    /// The lines that a front matter header can replace. Empty if a header could not hold all of
    /// their content.
    pub(super) lines: Vec<Span>,
}

/// Finds the header in a `## Handoff` section: a YAML block or `Key: value` lines and lists.
pub(super) fn find_section_header(text: &str, sections: &[Section]) -> Option<SectionHeader> {
    let section =
        sections.iter().find(|section| section.meaning == Some(SectionMeaning::Handoff))?;
    find_fenced_header(text, section.own).or_else(|| {
        let at = section.own;
        let fields = read_fields(text, at);
        let is_complete = |field: &&section_field::SectionField| field.is_complete;
        let lines = fields.iter().filter(is_complete).map(|field| field.lines).collect();
        let entries: Vec<YamlEntry> = fields.into_iter().map(|field| field.entry).collect();
        (!entries.is_empty()).then(|| {
            let root = node::block_node(YamlValue::Map(entries), at);
            let header =
                Header { location: HeaderLocation::Section, at, root, comments: Vec::new() };
            SectionHeader { header, lines }
        })
    })
}

fn find_fenced_header(text: &str, own: Span) -> Option<SectionHeader> {
    let mut open: Option<Span> = None;
    let mut at = own.start;
    for line in own.slice(text).split_inclusive('\n') {
        let span = Span::new(at, at + line.len());
        at += line.len();
        match (open, line.trim()) {
            (None, "```yaml" | "```yml") => open = Some(span),
            (Some(fence), "```") => {
                let at = Span::new(fence.end, span.start);
                let reading = yaml::parse(text, at);
                let inner = reading.root.get("handoff");
                let alone = reading.root.entries().len() == 1 || inner.is_none();
                // A header composed from values would lose comments, other keys and broken lines.
                let whole = alone && reading.comments.is_empty() && reading.problems.is_empty();
                let lines = if whole { vec![Span::new(fence.start, span.end)] } else { Vec::new() };
                let root = inner.unwrap_or(&reading.root).clone();
                let comments = reading.comments;
                let header = Header { location: HeaderLocation::Section, at, root, comments };
                return (!header.root.entries().is_empty())
                    .then_some(SectionHeader { header, lines });
            }
            (Some(_) | None, _) => {}
        }
    }
    None
}

/// A line `Captured: TIME (reason)` or `Revised: TIME (reason)`.
#[derive(Clone, Debug)]
pub struct DateStamp<'t> {
    /// Whether the line says `Captured:` rather than `Revised:`.
    pub is_capture: bool,
    /// The time as written.
    pub time: Spanned<&'t str>,
    /// The text after the time.
    pub reason: Option<Spanned<&'t str>>,
    /// The whole line.
    pub line: Span,
}

/// Finds the `Captured:` and `Revised:` lines of a body. Lines in code are examples and do not
/// count.
pub(super) fn find_stamps<'t>(text: &'t str, body: Span, code: &[Span]) -> Vec<DateStamp<'t>> {
    let mut found = Vec::new();
    // Few documents have such lines, so skip the line scan for the others.
    if !["aptured", "APTURED", "evised", "EVISED"]
        .iter()
        .any(|word| body.slice(text).contains(word))
    {
        return found;
    }
    let mut at = body.start;
    for line in body.slice(text).split_inclusive('\n') {
        let is_code = code.iter().any(|span| span.start <= at && at < span.end);
        found.extend(parse_stamp(line, at).filter(|_| !is_code));
        at += line.len();
    }
    found
}

fn parse_stamp(line: &str, at: usize) -> Option<DateStamp<'_>> {
    let (key, value) = parse_key_value(line_content(line, at))?;
    let captured = match key.to_lowercase().as_str() {
        "captured" => true,
        "revised" => false,
        _ => return None,
    };
    let text = value.value;
    let first = text.find(['(', '—', '–', ',']).unwrap_or(text.len());
    let time = text[..first].trim_end();
    Time::parse(time)?;
    let rest = text[first..].trim_matches(['(', ')', '—', '–', ',', ' ']);
    let place = |piece: &'_ str| {
        let start = value.at.start + piece.as_ptr() as usize - text.as_ptr() as usize;
        Span::new(start, start + piece.len())
    };
    Some(DateStamp {
        is_capture: captured,
        time: Spanned::new(time, place(time)),
        reason: (!rest.is_empty()).then(|| Spanned::new(rest, place(rest))),
        line: Span::new(at, at + line.trim_end().len()),
    })
}
