//! A handoff document: parses any bytes into header, sections and findings, and edits and formats
//! them.
//!
//! Parsing never fails. Every problem is a finding, not an error.

mod add_header;
mod edit_in_place;
mod format;
mod legacy;
mod parse;
mod version;

pub use edit_in_place::{DocumentEditError, RedactedDocument};
pub use legacy::DateStamp;
pub use version::FORMAT_VERSION;

use crate::format::finding::Finding;
use crate::format::header::{Header, HeaderLocation};
use crate::format::section::{Section, SectionMeaning};
use crate::text::markdown::MarkdownBlock;
use crate::text::span::{LineIndex, Position, Span};
use std::sync::OnceLock;

/// A parsed document.
#[derive(Clone, Debug)]
pub struct Document {
    text: String,
    exact: bool,
    header: Option<Header>,
    body: Span,
    sections: Vec<Section>,
    blocks: Vec<MarkdownBlock>,
    code: Vec<Span>,
    lines: OnceLock<LineIndex>,
    findings: Vec<Finding>,
}

impl Document {
    /// Parses any bytes. Each byte that is not UTF-8 is replaced by one substitute byte.
    ///
    /// ```
    /// use midstride_core::format::document::Document;
    ///
    /// let document = Document::parse(b"---\nhandoff:\n  id: search-lag\n---\n## Plan\n\nCache it.\n");
    /// assert!(document.handoff_header().is_some());
    /// assert_eq!(document.sections().len(), 1);
    ///
    /// // What is wrong with a document is a finding, never an error.
    /// let broken = Document::parse(b"---\nhandoff: [\n---\n");
    /// assert!(!broken.findings().is_empty());
    /// ```
    pub fn parse(bytes: &[u8]) -> Self {
        parse::parse_document(bytes)
    }

    /// Whether a text starts with front matter, of midstride or of another tool.
    pub fn has_front_matter(text: &str) -> bool {
        parse::has_front_matter(text)
    }

    /// Whether the body has a section with a header in it, which is one only without front matter.
    pub fn has_header_section(&self) -> bool {
        legacy::find_section_header(&self.text, &self.sections).is_some()
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the text equals the parsed bytes, so that it can be written back.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// The header, in any location.
    pub fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// The header under `handoff:`. A document without one is a note, not a handoff.
    pub fn handoff_header(&self) -> Option<&Header> {
        self.header.as_ref().filter(|header| header.location == HeaderLocation::FrontMatter)
    }

    /// The span of the body, after the header.
    pub fn body(&self) -> Span {
        self.body
    }

    /// The sections of the body.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The sections with the given meaning.
    pub fn sections_about(&self, meaning: SectionMeaning) -> impl Iterator<Item = &Section> {
        self.sections.iter().filter(move |section| section.meaning == Some(meaning))
    }

    /// The paragraphs, list items, tables, code and HTML of the body.
    pub fn blocks(&self) -> &[MarkdownBlock] {
        &self.blocks
    }

    /// The spans of code in the body, including inline code.
    pub fn code(&self) -> &[Span] {
        &self.code
    }

    /// The `Captured:` and `Revised:` lines of the body.
    pub fn stamps(&self) -> Vec<DateStamp<'_>> {
        legacy::find_stamps(&self.text, self.body, &self.code)
    }

    /// The problems found while parsing.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The line and column of a byte.
    pub fn position(&self, byte: usize) -> Position {
        self.lines.get_or_init(|| LineIndex::new(&self.text)).position(&self.text, byte)
    }

    /// The number of lines.
    pub(crate) fn line_count(&self) -> usize {
        self.text.lines().count()
    }

    /// Reassembles the text from its parts. The result equals the text; tests use this to check
    /// that the parts cover every byte exactly once.
    pub fn render(&self) -> String {
        let inner =
            self.header.as_ref().filter(|header| header.location != HeaderLocation::Section);
        let header = inner.map_or(Span::empty(self.body.start), |header| header.at);
        let preamble = self.sections.first().map_or(self.body.end, |section| section.at.start);
        let mut out = String::with_capacity(self.text.len());
        out.push_str(&self.text[..header.start]);
        out.push_str(header.slice(&self.text));
        out.push_str(&self.text[header.end..self.body.start]);
        out.push_str(&self.text[self.body.start..preamble]);
        for section in &self.sections {
            out.push_str(&self.text[section.at.start..section.own.start]);
            out.push_str(section.own.slice(&self.text));
        }
        out
    }
}

/// The byte order mark that some editors put at the start of a file.
const BOM: char = '\u{feff}';

#[cfg(test)]
mod tests;
