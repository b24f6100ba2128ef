//! A handoff document: text in, header, sections and findings out; edits; formatting.
//!
//! Any bytes at all are a document. What is wrong with it is a finding, never an error.

mod add_header;
mod edit_in_place;
mod format;
mod legacy;
mod parse;
mod version;

pub use edit_in_place::DocumentEditError;
pub use legacy::DateStamp;
pub use version::FORMAT_VERSION;

use crate::format::finding::Finding;
use crate::format::header::{Header, HeaderLocation};
use crate::format::section::{Section, SectionMeaning};
use crate::text::markdown::MarkdownBlock;
use crate::text::span::{LineIndex, Position, Span};
use std::sync::OnceLock;

/// A document as it was read.
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
    /// Reads any bytes. Bytes that are not UTF-8 are shown as substitutes of the same length.
    pub fn parse(bytes: &[u8]) -> Self {
        parse::parse_document(bytes)
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the text is exactly the bytes that were read.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// The header, wherever it was found.
    pub fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// The header under `handoff:`, which makes a document a handoff rather than a note.
    pub fn handoff_header(&self) -> Option<&Header> {
        self.header.as_ref().filter(|header| header.location == HeaderLocation::FrontMatter)
    }

    /// The bytes behind the header.
    pub fn body(&self) -> Span {
        self.body
    }

    /// The sections of the body.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The sections with a meaning.
    pub fn sections_about(&self, meaning: SectionMeaning) -> impl Iterator<Item = &Section> {
        self.sections.iter().filter(move |section| section.meaning == Some(meaning))
    }

    /// The paragraphs, items, tables and code of the body.
    pub fn blocks(&self) -> &[MarkdownBlock] {
        &self.blocks
    }

    /// Code in the body, inline code included.
    pub fn code(&self) -> &[Span] {
        &self.code
    }

    /// The lines `Captured:` and `Revised:` of the body.
    pub fn stamps(&self) -> Vec<DateStamp<'_>> {
        legacy::find_stamps(&self.text, self.body, &self.code)
    }

    /// What was wrong while reading.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The line and column of a byte.
    pub fn position(&self, byte: usize) -> Position {
        self.lines.get_or_init(|| LineIndex::new(&self.text)).position(&self.text, byte)
    }

    /// How many lines there are.
    pub fn line_count(&self) -> usize {
        self.text.lines().count()
    }

    /// The text put together again from its parts. It is the text itself: a test holds that the
    /// parts cover every byte exactly once.
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

/// What some editors put before the first letter.
const BOM: char = '\u{feff}';

#[cfg(test)]
mod tests;
