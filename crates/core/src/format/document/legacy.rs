//! Older ways to write a header: a `## Handoff` section, and `Captured:`/`Revised:` lines.

use crate::format::header::{HANDOFF, Header, Place};
use crate::format::section::{Meaning, Section};
use crate::text::span::{At, Span};
use crate::text::time::Time;
use crate::text::yaml::{self, Entry, Node, Style, Value};

/// A line of a body that says something a header would say.
struct Said<'t> {
    /// The field it fills.
    field: &'static str,
    /// The value.
    value: At<&'t str>,
    /// The whole line.
    line: Span,
}

/// What people call a field when they write it as prose.
fn field_of(name: &str) -> Option<&'static str> {
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

/// A header that was found in a section.
#[derive(Debug)]
pub(super) struct Found {
    /// The header.
    pub(super) header: Header,
    /// The lines that said it, which are not needed any more once there is a header on top. None
    /// where a header could not say all of it.
    pub(super) lines: Vec<Span>,
}

/// Finds the header that a section holds: as a YAML block or as lines `Key: value`.
pub(super) fn find(text: &str, sections: &[Section]) -> Option<Found> {
    let section = sections.iter().find(|section| section.meaning == Some(Meaning::Handoff))?;
    fenced(text, section.own).or_else(|| {
        let said = lines(text, section.own);
        let entries: Vec<Entry> = said.iter().map(entry).collect();
        (!entries.is_empty()).then(|| {
            let at = section.own;
            let value = Value::Map(entries);
            let root = Node { value, at, style: Style::Block, tagged: false };
            let header = Header { place: Place::Section, at, root, comments: Vec::new() };
            Found { header, lines: said.iter().map(|line| line.line).collect() }
        })
    })
}

fn fenced(text: &str, own: Span) -> Option<Found> {
    let mut open: Option<Span> = None;
    let mut at = own.start;
    for line in own.of(text).split_inclusive('\n') {
        let span = Span::new(at, at + line.len());
        at += line.len();
        match (open, line.trim()) {
            (None, "```yaml" | "```yml") => open = Some(span),
            (Some(fence), "```") => {
                let at = Span::new(fence.end, span.start);
                let reading = yaml::read(text, at);
                let inner = reading.root.get("handoff");
                let alone = reading.root.entries().len() == 1 || inner.is_none();
                // Comments, other keys and mistakes have no place in a header made from values.
                let whole = alone && reading.comments.is_empty() && reading.problems.is_empty();
                let lines = if whole { vec![Span::new(fence.start, span.end)] } else { Vec::new() };
                let root = inner.unwrap_or(&reading.root).clone();
                let comments = reading.comments;
                let header = Header { place: Place::Section, at, root, comments };
                return (!header.root.entries().is_empty()).then_some(Found { header, lines });
            }
            (Some(_) | None, _) => {}
        }
    }
    None
}

fn entry(said: &Said<'_>) -> Entry {
    let value = Value::Text(said.value.value.to_owned());
    Entry {
        key: At::new(said.field.to_owned(), said.line),
        node: Node { value, at: said.value.at, style: Style::Plain, tagged: false },
    }
}

/// The lines of a place that read `Key: value`, bold and bullets aside. A value that goes on in the
/// next line is left where it is.
fn lines(text: &str, within: Span) -> Vec<Said<'_>> {
    let mut found: Vec<Said<'_>> = Vec::new();
    let mut at = within.start;
    let mut rest = within.of(text).split_inclusive('\n').peekable();
    while let Some(line) = rest.next() {
        let span = Span::new(at, at + line.len());
        let goes_on = rest.peek().is_some_and(|next| {
            let content = next.trim();
            !content.is_empty()
                && !content.starts_with(['-', '*', '#', '`'])
                && key_value(next, 0).is_none()
        });
        if let Some(said) = key_value(line, at).filter(|_| !goes_on)
            && let Some(field) = field_of(&said.0)
            && found.iter().all(|other| other.field != field)
        {
            found.push(Said { field, value: said.1, line: span });
        }
        at += line.len();
    }
    found
}

/// `- **Key**: value` in any of its spellings.
fn key_value(line: &str, at: usize) -> Option<(String, At<&str>)> {
    let content = line.trim_start().trim_start_matches(['-', '*', ' ']);
    let colon = content.find(':')?;
    let key = content[..colon].trim_matches(['*', '_', '`', ' ']);
    let value = content[colon + 1..].trim_start_matches(['*', '_', ' ']).trim_end();
    if key.is_empty() || value.is_empty() || key.split_whitespace().count() > 3 {
        return None;
    }
    let start = at + value.as_ptr() as usize - line.as_ptr() as usize;
    Some((key.to_owned(), At::new(value, Span::new(start, start + value.len()))))
}

/// A line `Captured: TIME (reason)` or `Revised: TIME (reason)`.
#[derive(Clone, Debug)]
pub struct Stamp<'t> {
    /// Whether it is the first capture.
    pub captured: bool,
    /// The time as written.
    pub time: At<&'t str>,
    /// What stands behind it.
    pub reason: Option<At<&'t str>>,
    /// The whole line.
    pub line: Span,
}

/// Every `Captured:` and `Revised:` line of a body; what stands in code is an example.
pub(super) fn stamps<'t>(text: &'t str, body: Span, code: &[Span]) -> Vec<Stamp<'t>> {
    let mut found = Vec::new();
    // Few documents have such lines; the others are not taken apart.
    if !["aptured", "APTURED", "evised", "EVISED"].iter().any(|word| body.of(text).contains(word)) {
        return found;
    }
    let mut at = body.start;
    for line in body.of(text).split_inclusive('\n') {
        let is_code = code.iter().any(|span| span.start <= at && at < span.end);
        found.extend(stamp(line, at).filter(|_| !is_code));
        at += line.len();
    }
    found
}

fn stamp(line: &str, at: usize) -> Option<Stamp<'_>> {
    let (key, value) = key_value(line, at)?;
    let captured = match key.to_lowercase().as_str() {
        "captured" => true,
        "revised" => false,
        _ => return None,
    };
    let text = value.value;
    let first = text.find(['(', '—', '–', ',']).unwrap_or(text.len());
    let time = text[..first].trim_end();
    Time::read(time)?;
    let rest = text[first..].trim_matches(['(', ')', '—', '–', ',', ' ']);
    let place = |piece: &'_ str| {
        let start = value.at.start + piece.as_ptr() as usize - text.as_ptr() as usize;
        Span::new(start, start + piece.len())
    };
    Some(Stamp {
        captured,
        time: At::new(time, place(time)),
        reason: (!rest.is_empty()).then(|| At::new(rest, place(rest))),
        line: Span::new(at, at + line.trim_end().len()),
    })
}
