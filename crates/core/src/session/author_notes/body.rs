//! Merges an author's text into the body of a handoff. Sections match by heading or by meaning, and
//! new paragraphs go after the existing ones.

use crate::format::document::{Document, DocumentEditError};
use crate::format::generated_section::{self, GeneratedSection};
use crate::format::section::{Section, SectionMeaning};
use crate::handoff::anchor::Anchors;
use crate::text::span::Span;

/// Only headings up to this level determine the meaning of a section.
const MEANING_LEVEL_MAX: u8 = 2;

/// Returns the document with a text merged into it.
pub(super) fn merge_text(document: &Document, text: &str) -> Result<Document, DocumentEditError> {
    let given = Document::parse(close_open_blocks(&text.replace("\r\n", "\n")).as_bytes());
    let mut out = document.clone();
    let first = given.sections().first().map_or(given.body().end, |section| section.at.start);
    let preamble = Span::new(given.body().start, first).slice(given.text());
    out = add_to_meaning(&out, SectionMeaning::Summary, preamble)?;
    for (index, section) in given.sections().iter().enumerate() {
        let own = section.own.slice(given.text());
        // The header already has the title of the document.
        if index == 0 && section.level == 1 && given.sections().len() > 1 {
            out = add_to_meaning(&out, SectionMeaning::Summary, own)?;
            continue;
        }
        out = match find_matching_section(&out, section) {
            Some(there) => add_missing_paragraphs(&out, &there, own)?,
            None => append_section(&out, parent(&given, section), section, own)?,
        };
    }
    Ok(out)
}

/// Closes an open fence or comment in a text, which would otherwise include everything after it.
fn close_open_blocks(text: &str) -> String {
    let ends = |text: &str| {
        let whole = format!("{text}\n\n# end\n");
        let document = Document::parse(whole.as_bytes());
        document.sections().last().is_some_and(|last| last.title.value == "end")
    };
    if ends(text) {
        return text.to_owned();
    }
    let fence = |line: &str| -> String {
        line.trim_start().chars().take_while(|c| *c == '`' || *c == '~').collect()
    };
    let mut ways: Vec<String> = text.lines().map(fence).filter(|run| run.len() >= 3).collect();
    ways.extend(["-->", "?>", "]]>", ">", "</pre>", "</script>", "</style>"].map(str::to_owned));
    let mut tried = ways.iter().map(|way| format!("{text}\n{way}\n"));
    tried.find(|text| ends(text)).unwrap_or_else(|| fenced_block(text))
}

/// Wraps a text in a fence, so that it is shown verbatim.
fn fenced_block(text: &str) -> String {
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    format!("{fence}\n{}\n{fence}\n", text.trim_end())
}

/// Adds a section with this meaning if there is none.
pub(super) fn ensure_section(
    document: &Document,
    meaning: SectionMeaning,
    heading: &str,
) -> Result<Document, DocumentEditError> {
    if author_section(document, meaning).is_some() {
        return Ok(document.clone());
    }
    let line_break = document.line_break();
    let place = body_insert_position(document);
    insert_text(document, place, &format!("## {heading}{line_break}"))
}

/// The section with this meaning that midstride did not generate.
pub(super) fn author_section(document: &Document, meaning: SectionMeaning) -> Option<Section> {
    let inserts = GeneratedSection::all(document);
    let is_theirs =
        |section: &&Section| !inserts.iter().any(|one| one.at.contains(section.title.at));
    let top = |section: &&Section| section.level <= MEANING_LEVEL_MAX;
    document.sections_about(meaning).filter(is_theirs).find(top).cloned()
}

/// Where an author's text goes in a section: after the existing text, before generated sections.
pub(super) fn section_insert_position(document: &Document, section: &Section) -> usize {
    let inserts = GeneratedSection::all(document);
    let first = inserts.iter().find(|one| section.own.contains(Span::empty(one.at.start)));
    let end = first.map_or(section.own.end, |one| one.at.start);
    let end = Anchors::from_document(document)
        .at()
        .map_or(end, |anchors| end.min(anchors.start.max(section.own.start)));
    section.own.start + document.text()[section.own.start..end].trim_end().len()
}

fn find_matching_section(document: &Document, wanted: &Section) -> Option<Section> {
    let inserts = GeneratedSection::all(document);
    let is_theirs =
        |section: &&Section| !inserts.iter().any(|one| one.at.contains(section.title.at));
    let plain = |section: &Section| section.title.value.trim().to_lowercase();
    let theirs: Vec<&Section> = document.sections().iter().filter(is_theirs).collect();
    let named = theirs.iter().find(|section| plain(section) == plain(wanted));
    let meant = || {
        let top = wanted.level <= MEANING_LEVEL_MAX;
        let meaning = wanted.meaning.filter(|_| top)?;
        author_section(document, meaning)
    };
    named.map(|section| (*section).clone()).or_else(meant)
}

/// The section that a deeper section is nested in.
fn parent<'d>(given: &'d Document, section: &Section) -> Option<&'d Section> {
    let above = |other: &&Section| other.level < section.level && other.at.contains(section.at);
    given.sections().iter().rfind(|other| above(other) && other.level > 1)
}

fn append_section(
    document: &Document,
    parent: Option<&Section>,
    section: &Section,
    own: &str,
) -> Result<Document, DocumentEditError> {
    let line_break = document.line_break();
    let inside = parent.and_then(|parent| find_matching_section(document, parent));
    // Below its parent, it goes after the parent's own text.
    let place = match &inside {
        Some(parent) => section_insert_position(document, parent),
        None => body_insert_position(document),
    };
    let heading =
        format!("{} {}", "#".repeat(usize::from(section.level.max(2))), section.title.value);
    let own = own.trim_end().trim_start_matches('\n').replace('\n', line_break);
    let blank = if own.is_empty() { "" } else { line_break };
    let own_end = if own.is_empty() { "" } else { line_break };
    insert_text(document, place, &format!("{heading}{line_break}{blank}{own}{own_end}"))
}

fn add_to_meaning(
    document: &Document,
    meaning: SectionMeaning,
    text: &str,
) -> Result<Document, DocumentEditError> {
    match author_section(document, meaning) {
        Some(section) => add_missing_paragraphs(document, &section, text),
        None if text.trim().is_empty() => Ok(document.clone()),
        None => insert_text(document, body_insert_position(document), text),
    }
}

/// Adds the paragraphs that a section does not have yet.
fn add_missing_paragraphs(
    document: &Document,
    section: &Section,
    text: &str,
) -> Result<Document, DocumentEditError> {
    let words = |text: &String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let there: Vec<String> =
        paragraphs(section.own.slice(document.text())).iter().map(words).collect();
    let new: Vec<String> = paragraphs(text)
        .into_iter()
        .filter(|paragraph| !there.contains(&words(paragraph)))
        .collect();
    if new.is_empty() {
        return Ok(document.clone());
    }
    insert_text(document, section_insert_position(document, section), &new.join("\n\n"))
}

/// The end of the author's part of a body.
fn body_insert_position(document: &Document) -> usize {
    let text = document.text();
    let anchors = Anchors::from_document(document).at().map_or(document.body().end, |at| at.start);
    let before = Span::new(document.body().start, anchors).slice(text);
    document.body().start + before.trim_end().len()
}

fn insert_text(
    document: &Document,
    place: usize,
    text: &str,
) -> Result<Document, DocumentEditError> {
    document
        .edit(&[generated_section::paragraph_edit(document, place, text)])
        .map(|(document, _)| document)
}

/// The paragraphs of a text. Fenced code is one paragraph, even with blank lines in it.
fn paragraphs(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let (mut fence, mut apart) = (None::<String>, true);
    for line in text.lines() {
        let line = line.trim_end();
        let mark = line.trim_start();
        let run: String = mark.chars().take_while(|c| *c == '`' || *c == '~').collect();
        if fence.is_none() && line.is_empty() {
            apart = true;
            continue;
        }
        match &fence {
            Some(open) if run.starts_with(open.as_str()) && run == mark => fence = None,
            None if run.len() >= 3 => fence = Some(run),
            Some(_) | None => {}
        }
        match found.last_mut().filter(|_| !apart) {
            Some(last) => {
                last.push('\n');
                last.push_str(line);
            }
            None => found.push(line.to_owned()),
        }
        apart = false;
    }
    found
}
