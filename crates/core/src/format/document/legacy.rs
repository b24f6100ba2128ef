//! Parses older header forms: a `## Handoff` section, and `Captured:`/`Revised:` lines.

use crate::format::header::{HANDOFF, Header, HeaderLocation};
use crate::format::section::{Section, SectionMeaning};
use crate::text::span::{Span, Spanned};
use crate::text::time::Time;
use crate::text::yaml::{self, YamlEntry, YamlNode, YamlStyle, YamlValue};

/// A body line that contains the value of a header field.
struct FieldLine<'t> {
    /// The header field.
    field: &'static str,
    /// The value.
    value: Spanned<&'t str>,
    /// The whole line.
    line: Span,
}

/// Maps the name of a field in prose to its header field.
fn field_for_name(name: &str) -> Option<&'static str> {
    let plain = name.trim().to_lowercase().replace([' ', '-'], "_");
    let alias = match plain.as_str() {
        "captured" | "date" => "created",
        "summary" | "context" => "context_summary",
        "commit" => "at_commit",
        "topic" => "title",
        "author" => "from",
        "owner" | "next" => "to",
        other => other,
    };
    HANDOFF.fields.iter().map(|field| field.name).find(|name| *name == alias)
}

/// A header found in a section.
#[derive(Debug)]
pub(super) struct SectionHeader {
    /// The header.
    pub(super) header: Header,
    /// The lines that a front matter header can replace. Empty if a header could not hold all of
    /// their content.
    pub(super) lines: Vec<Span>,
}

/// Finds the header in a `## Handoff` section: a YAML block or `Key: value` lines.
pub(super) fn find_section_header(text: &str, sections: &[Section]) -> Option<SectionHeader> {
    let section =
        sections.iter().find(|section| section.meaning == Some(SectionMeaning::Handoff))?;
    find_fenced_header(text, section.own).or_else(|| {
        let found = field_lines(text, section.own);
        let entries: Vec<YamlEntry> = found.iter().map(to_entry).collect();
        (!entries.is_empty()).then(|| {
            let at = section.own;
            let value = YamlValue::Map(entries);
            let root = YamlNode { value, at, style: YamlStyle::Block, tagged: false };
            let header =
                Header { location: HeaderLocation::Section, at, root, comments: Vec::new() };
            SectionHeader { header, lines: found.iter().map(|line| line.line).collect() }
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

fn to_entry(field: &FieldLine<'_>) -> YamlEntry {
    let value = YamlValue::Text(field.value.value.to_owned());
    YamlEntry {
        key: Spanned::new(field.field.to_owned(), field.line),
        node: YamlNode { value, at: field.value.at, style: YamlStyle::Plain, tagged: false },
    }
}

/// Finds `Key: value` lines, ignoring bold and bullets. Skips a value that continues on the next
/// line.
fn field_lines(text: &str, within: Span) -> Vec<FieldLine<'_>> {
    let mut found: Vec<FieldLine<'_>> = Vec::new();
    let mut at = within.start;
    let mut rest = within.slice(text).split_inclusive('\n').peekable();
    while let Some(line) = rest.next() {
        let span = Span::new(at, at + line.len());
        let continues = rest.peek().is_some_and(|next| {
            let content = next.trim();
            !content.is_empty()
                && !content.starts_with(['-', '*', '#', '`'])
                && parse_key_value(next, 0).is_none()
        });
        if let Some(pair) = parse_key_value(line, at).filter(|_| !continues)
            && let Some(field) = field_for_name(&pair.0)
            && found.iter().all(|other| other.field != field)
        {
            found.push(FieldLine { field, value: pair.1, line: span });
        }
        at += line.len();
    }
    found
}

/// Parses `- **Key**: value`, with or without the markup.
fn parse_key_value(line: &str, at: usize) -> Option<(String, Spanned<&str>)> {
    let content = line.trim_start().trim_start_matches(['-', '*', ' ']);
    let colon = content.find(':')?;
    let key = content[..colon].trim_matches(['*', '_', '`', ' ']);
    let value = content[colon + 1..].trim_start_matches(['*', '_', ' ']).trim_end();
    if key.is_empty() || value.is_empty() || key.split_whitespace().count() > 3 {
        return None;
    }
    let start = at + value.as_ptr() as usize - line.as_ptr() as usize;
    Some((key.to_owned(), Spanned::new(value, Span::new(start, start + value.len()))))
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
    let (key, value) = parse_key_value(line, at)?;
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
