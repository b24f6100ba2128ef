//! Generated sections: parts of a body that midstride writes and updates, between two comments.
//!
//! Once the user changes a generated section, midstride no longer updates that text.

use crate::format::document::Document;
use crate::text::edit::Edit;
use crate::text::markdown::MarkdownBlockKind;
use crate::text::span::{Span, line_end};
use sha2::{Digest as _, Sha256};

const BEGIN: &str = "<!-- midstride:";
const END: &str = " end -->";
/// The version of the marker format.
const VERSION: &str = "1";
/// The number of hex digits of a hash. This many are enough to distinguish two texts.
const HASH_LENGTH: usize = 16;

/// The kind of a generated section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeneratedSectionKind {
    /// The startup steps.
    Boot,
    /// What to do next.
    Next,
    /// The facts of a session.
    Facts,
}

impl GeneratedSectionKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Boot, Self::Next, Self::Facts];

    /// The word for the kind in the markers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Boot => "boot",
            Self::Next => "next",
            Self::Facts => "facts",
        }
    }
}

/// A part of a body that midstride generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeneratedSection {
    /// The kind of section.
    pub kind: GeneratedSectionKind,
    /// Its span, including both comments.
    pub at: Span,
    /// The span between the comments.
    pub inner: Span,
    /// Whether it is still exactly what midstride wrote.
    pub is_unmodified: bool,
}

impl GeneratedSection {
    /// All generated sections of a document, in text order.
    pub fn all(document: &Document) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        for block in document.blocks().iter().filter(|block| block.kind == MarkdownBlockKind::Html)
        {
            let free = found.last().is_none_or(|last| last.at.end <= block.at.start);
            found.extend(
                GeneratedSectionKind::ALL
                    .into_iter()
                    .find_map(|kind| parse_section(document, kind, block.at))
                    .filter(|_| free),
            );
        }
        found
    }

    /// The generated section of a kind.
    pub fn find(document: &Document, kind: GeneratedSectionKind) -> Option<Self> {
        Self::all(document).into_iter().find(|insert| insert.kind == kind)
    }

    /// A part of a document without the marker comments of its generated sections.
    pub fn text_without_markers(document: &Document, part: Span) -> String {
        let mut text = String::new();
        let mut from = part.start;
        for insert in Self::all(document).iter().filter(|insert| part.contains(insert.at)) {
            text.push_str(Span::new(from, insert.at.start).slice(document.text()));
            text.push_str(insert.text(document));
            from = insert.at.end;
        }
        text.push_str(Span::new(from, part.end).slice(document.text()));
        text
    }

    /// Its text.
    pub fn text<'d>(&self, document: &'d Document) -> &'d str {
        self.inner.slice(document.text()).trim()
    }
}

/// The spans of a body that the author did not write: unmodified startup steps and facts, and the
/// marker comments of all generated sections.
pub(crate) fn generated_spans(document: &Document) -> Vec<Span> {
    let mut parts = Vec::new();
    for GeneratedSection { kind, at, inner, is_unmodified: is_ours } in
        GeneratedSection::all(document)
    {
        match kind {
            GeneratedSectionKind::Boot | GeneratedSectionKind::Facts if is_ours => parts.push(at),
            GeneratedSectionKind::Boot
            | GeneratedSectionKind::Facts
            | GeneratedSectionKind::Next => {
                parts.push(Span::new(at.start, inner.start));
                parts.push(Span::new(inner.end, at.end));
            }
        }
    }
    parts
}

/// The author's own text in a part of a document.
pub(crate) fn author_text(document: &Document, part: Span) -> String {
    let mut text = String::new();
    let mut from = part.start;
    for generated in generated_spans(document) {
        let (start, end) = (generated.start.min(part.end), generated.end.min(part.end));
        text.push_str(document.text().get(from..start).unwrap_or_default());
        from = from.max(end);
    }
    text.push_str(document.text().get(from..part.end).unwrap_or_default());
    text.trim().to_owned()
}

/// The edits that write a generated section with this text, at `place` if the document has none. A
/// section that the user changed loses its markers and keeps its text.
pub(crate) fn update_edits(
    document: &Document,
    kind: GeneratedSectionKind,
    text: &str,
    place: usize,
) -> Vec<Edit> {
    let line_break = document.line_break();
    match GeneratedSection::find(document, kind) {
        Some(insert)
            if insert.is_unmodified && insert.text(document) == normalize(text, line_break) =>
        {
            Vec::new()
        }
        Some(insert) if insert.is_unmodified => {
            vec![Edit::Body(insert.at, render(kind, text, line_break))]
        }
        Some(insert) => {
            let theirs = insert.text(document);
            let both =
                format!("{theirs}{line_break}{line_break}{}", render(kind, text, line_break));
            vec![Edit::Body(insert.at, both)]
        }
        None => vec![paragraph_edit(document, place, &render(kind, text, line_break))],
    }
}

/// The edit that inserts a text into a body, separated by blank lines.
pub(crate) fn paragraph_edit(document: &Document, place: usize, text: &str) -> Edit {
    let line_break = document.line_break();
    let blank = line_break.repeat(2);
    let (before, behind) =
        document.text()[document.body().start..].split_at(place - document.body().start);
    let before = match before {
        _ if before.ends_with(&blank) => "",
        _ if before.ends_with('\n') || before.is_empty() => line_break,
        _ => &blank,
    };
    let behind = match behind {
        _ if behind.starts_with(&blank) => "",
        _ if behind.trim().is_empty() => {
            if behind.is_empty() {
                line_break
            } else {
                ""
            }
        }
        _ if behind.starts_with(line_break) => line_break,
        _ => &blank,
    };
    let text = text.trim_end().trim_start_matches(['\r', '\n']);
    let text = text.replace("\r\n", "\n").replace('\n', line_break);
    Edit::Body(Span::empty(place), format!("{before}{text}{behind}"))
}

fn parse_section(
    document: &Document,
    kind: GeneratedSectionKind,
    block: Span,
) -> Option<GeneratedSection> {
    let text = document.text();
    let lead = block.slice(text).len() - block.slice(text).trim_start().len();
    let start = block.start + lead;
    let first_end = line_end(text, start);
    let opening = format!("{BEGIN}{} {VERSION} ", kind.word());
    let hash =
        text[start..first_end].strip_prefix(&opening)?.trim_end().strip_suffix("-->")?.trim();
    let closing = format!("{BEGIN}{}{END}", kind.word());
    // Only a marker on its own line ends the section, because quoted text may contain the marker.
    let mut at = first_end;
    while at < document.body().end {
        let end = line_end(text, at);
        if text[at..end].trim_end() == closing {
            let inner = Span::new(first_end, at);
            let is_ours = short_hash(inner.slice(text)) == hash;
            let whole = Span::new(start, at + closing.len());
            return Some(GeneratedSection { kind, at: whole, inner, is_unmodified: is_ours });
        }
        at = end;
    }
    None
}

fn normalize(text: &str, line_break: &str) -> String {
    text.trim().replace("\r\n", "\n").replace('\n', line_break)
}

fn render(kind: GeneratedSectionKind, text: &str, line_break: &str) -> String {
    let text = normalize(text, line_break);
    let (word, hash) = (kind.word(), short_hash(&text));
    [&format!("{BEGIN}{word} {VERSION} {hash} -->"), "", &text, "", &format!("{BEGIN}{word}{END}")]
        .join(line_break)
}

/// The short hash of a text, ignoring the kind of line breaks and surrounding whitespace.
fn short_hash(text: &str) -> String {
    let digest = Sha256::digest(text.trim().replace("\r\n", "\n").as_bytes());
    let hash: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    hash[..HASH_LENGTH].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(text: &str, kind: GeneratedSectionKind, new: &str) -> String {
        let document = Document::parse(text.as_bytes());
        let place = document.body().end;
        document.edit(&update_edits(&document, kind, new, place)).unwrap().0.text().to_owned()
    }

    const TEXT: &str = "---\nhandoff:\n  id: a\n---\n\n## Context\n\nMine.\n";

    #[test]
    fn a_generated_section_is_updated_and_the_rest_stays() {
        let one = edited(TEXT, GeneratedSectionKind::Facts, "### Tasks\n\n- [ ] Warm\n");
        let two = edited(&one, GeneratedSectionKind::Facts, "### Tasks\n\n- [x] Warm");
        assert_eq!(edited(&two, GeneratedSectionKind::Facts, "### Tasks\n\n- [x] Warm\n"), two);
        assert!(two.starts_with(TEXT) && !two.contains("[ ]"), "{two}");
        let next = edited(&two, GeneratedSectionKind::Next, "1. Measure");
        let document = Document::parse(next.as_bytes());
        let kinds: Vec<GeneratedSectionKind> =
            GeneratedSection::all(&document).iter().map(|insert| insert.kind).collect();
        assert_eq!(kinds, [GeneratedSectionKind::Facts, GeneratedSectionKind::Next]);
        assert_eq!(
            GeneratedSection::find(&document, GeneratedSectionKind::Next).unwrap().text(&document),
            "1. Measure"
        );
    }

    #[test]
    fn text_without_markers_has_no_marker_comments() {
        let one = edited(TEXT, GeneratedSectionKind::Facts, "- Warm");
        let two =
            format!("{}\nMine too.\n", edited(&one, GeneratedSectionKind::Next, "1. Measure"));
        let document = Document::parse(two.as_bytes());
        let read = GeneratedSection::text_without_markers(&document, document.body());
        assert_eq!(read.trim(), "## Context\n\nMine.\n\n- Warm\n\n1. Measure\n\nMine too.");
        let plain = Document::parse(TEXT.as_bytes());
        let body = plain.body();
        assert_eq!(GeneratedSection::text_without_markers(&plain, body), body.slice(TEXT));
    }

    #[test]
    fn text_that_the_user_changed_is_kept() {
        let one = edited(TEXT, GeneratedSectionKind::Facts, "- Warm the cache");
        let changed = one.replace("Warm the cache", "Warm the cache, but not at night");
        let two = edited(&changed, GeneratedSectionKind::Facts, "- Measure");
        assert!(two.contains("Warm the cache, but not at night"), "{two}");
        assert_eq!(two.matches("midstride:facts 1").count(), 1, "{two}");
        let three = edited(&two, GeneratedSectionKind::Facts, "- Done");
        assert!(three.contains("not at night") && !three.contains("- Measure"), "{three}");
    }

    #[test]
    fn author_text_excludes_facts_and_markers() {
        let facts =
            edited(TEXT, GeneratedSectionKind::Facts, "### Plan documents\n\n- None found.\n");
        let both = edited(&facts, GeneratedSectionKind::Next, "1. Measure");
        let theirs = both.replace("1. Measure", "1. Measure twice");
        for (text, next) in [(both, "1. Measure"), (theirs, "1. Measure twice")] {
            let document = Document::parse(text.as_bytes());
            let of = |start| author_text(&document, Span::new(start, document.body().end));
            let lines: Vec<String> = of(document.body().start).lines().map(str::to_owned).collect();
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let written: Vec<&str> = lines.into_iter().filter(|line| !line.is_empty()).collect();
            assert_eq!(written, ["## Context", "Mine.", next]);
            assert_eq!(of(text.find("None found").unwrap()), next, "from inside of one");
        }
    }

    #[test]
    fn windows_line_breaks_make_no_difference() {
        let text = TEXT.replace('\n', "\r\n");
        let one = edited(&text, GeneratedSectionKind::Facts, "a\n\nb");
        assert_eq!(one.matches('\n').count(), one.matches("\r\n").count());
        assert_eq!(edited(&one, GeneratedSectionKind::Facts, "a\n\nb"), one);
        assert!(
            GeneratedSection::find(&Document::parse(one.as_bytes()), GeneratedSectionKind::Facts)
                .unwrap()
                .is_unmodified
        );
    }

    #[test]
    fn a_quoted_end_marker_does_not_end_the_section() {
        let one = edited(
            TEXT,
            GeneratedSectionKind::Facts,
            "- said:\n  > <!-- midstride:facts end -->\n\nmore",
        );
        let insert =
            GeneratedSection::find(&Document::parse(one.as_bytes()), GeneratedSectionKind::Facts)
                .unwrap();
        assert!(insert.inner.slice(&one).contains("more"), "{one}");
    }
}
