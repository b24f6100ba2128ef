//! Inserts: parts of a body that midstride writes and writes anew, between two comments. Whatever
//! a person changes in one is theirs from then on, and no longer touched.

use crate::format::document::Document;
use crate::text::edit::Edit;
use crate::text::markdown::MarkdownBlockKind;
use crate::text::span::{Span, line_end};
use sha2::{Digest as _, Sha256};

const BEGIN: &str = "<!-- midstride:";
const END: &str = " end -->";
/// The version of the form in which inserts are written.
const VERSION: &str = "1";
/// So much of a hash tells two texts apart.
const HASH_LENGTH: usize = 16;

/// What an insert holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeneratedSectionKind {
    /// What a session does first.
    Boot,
    /// What to do next.
    Next,
    /// What a session did.
    Facts,
}

impl GeneratedSectionKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Boot, Self::Next, Self::Facts];

    /// In one word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Boot => "boot",
            Self::Next => "next",
            Self::Facts => "facts",
        }
    }
}

/// A part of a body that midstride wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeneratedSection {
    /// What it holds.
    pub kind: GeneratedSectionKind,
    /// Its bytes, with both comments.
    pub at: Span,
    /// The bytes between the comments.
    pub inner: Span,
    /// Whether it says what midstride wrote there.
    pub is_unmodified: bool,
}

impl GeneratedSection {
    /// Every insert of a document, in the order of the text.
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

    /// The insert of a kind.
    pub fn find(document: &Document, kind: GeneratedSectionKind) -> Option<Self> {
        Self::all(document).into_iter().find(|insert| insert.kind == kind)
    }

    /// A part of a document without the comments of the inserts in it.
    pub fn text_without_markers(document: &Document, part: Span) -> String {
        let mut said = String::new();
        let mut from = part.start;
        for insert in Self::all(document).iter().filter(|insert| part.contains(insert.at)) {
            said.push_str(Span::new(from, insert.at.start).slice(document.text()));
            said.push_str(insert.text(document));
            from = insert.at.end;
        }
        said.push_str(Span::new(from, part.end).slice(document.text()));
        said
    }

    /// What it says.
    pub fn text<'d>(&self, document: &'d Document) -> &'d str {
        self.inner.slice(document.text()).trim()
    }
}

/// The parts of a body that its author does not say: what midstride wrote of a session and for the
/// next one, and the comments around everything that it writes.
pub fn generated_spans(document: &Document) -> Vec<Span> {
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

/// What the author of a document says in a part of it.
pub fn author_text(document: &Document, part: Span) -> String {
    let mut text = String::new();
    let mut from = part.start;
    for unsaid in generated_spans(document) {
        let (start, end) = (unsaid.start.min(part.end), unsaid.end.min(part.end));
        text.push_str(document.text().get(from..start).unwrap_or_default());
        from = from.max(end);
    }
    text.push_str(document.text().get(from..part.end).unwrap_or_default());
    text.trim().to_owned()
}

/// The edits that give a document an insert with this text, at `place` where it has none yet. One
/// that somebody changed loses its comments and keeps every word.
pub fn update_edits(
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

/// The edit that puts a text into a body, apart from what stands before and behind it.
pub fn paragraph_edit(document: &Document, place: usize, text: &str) -> Edit {
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
    // Only a line of its own ends it: what was said stands in quotes.
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

/// Line breaks and the space around it do not count.
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
    fn an_insert_is_written_anew_and_the_rest_stays() {
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
    fn people_read_it_without_its_comments() {
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
    fn what_somebody_changed_is_theirs() {
        let one = edited(TEXT, GeneratedSectionKind::Facts, "- Warm the cache");
        let changed = one.replace("Warm the cache", "Warm the cache, but not at night");
        let two = edited(&changed, GeneratedSectionKind::Facts, "- Measure");
        assert!(two.contains("Warm the cache, but not at night"), "{two}");
        assert_eq!(two.matches("midstride:facts 1").count(), 1, "{two}");
        let three = edited(&two, GeneratedSectionKind::Facts, "- Done");
        assert!(three.contains("not at night") && !three.contains("- Measure"), "{three}");
    }

    #[test]
    fn the_author_says_neither_the_facts_nor_the_comments() {
        let facts =
            edited(TEXT, GeneratedSectionKind::Facts, "### Plan documents\n\n- None found.\n");
        let both = edited(&facts, GeneratedSectionKind::Next, "1. Measure");
        let theirs = both.replace("1. Measure", "1. Measure twice");
        for (text, next) in [(both, "1. Measure"), (theirs, "1. Measure twice")] {
            let document = Document::parse(text.as_bytes());
            let of = |start| author_text(&document, Span::new(start, document.body().end));
            let lines: Vec<String> = of(document.body().start).lines().map(str::to_owned).collect();
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let told: Vec<&str> = lines.into_iter().filter(|line| !line.is_empty()).collect();
            assert_eq!(told, ["## Context", "Mine.", next]);
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
    fn what_is_quoted_ends_nothing() {
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
