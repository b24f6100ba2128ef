//! Adds a handoff header to a note.
//!
//! The header joins another tool's front matter if possible; otherwise it goes at the top. Either
//! way, the text of the note is kept in full.

use super::format::in_format_order;
use super::{BOM, Document, DocumentEditError};
use crate::format::finding::{Code, Finding, Severity};
use crate::text::edit::{Edit, HeaderPath};
use crate::text::yaml::YamlData;

impl Document {
    /// Returns this note with a handoff header of the given values. The text of the note stays
    /// unchanged.
    pub fn with_header(&self, fields: &[(&str, YamlData)]) -> Result<Document, DocumentEditError> {
        self.check_writable()?;
        Ok(self.with_handoff_key(fields).unwrap_or_else(|| self.with_header_prepended(fields)))
    }

    /// Adds the `handoff` key to another tool's header, which keeps its own keys. Returns `None` if
    /// there is no such header, or if the result would have errors.
    fn with_handoff_key(&self, fields: &[(&str, YamlData)]) -> Option<Document> {
        // Parse without the body, because a `## Handoff` section in it would count as the header.
        let front = self.text[..self.body.start].trim_start_matches(BOM);
        let front = Document::parse(front.as_bytes());
        front.header()?;
        let ours = YamlData::map(in_format_order(fields).into_iter().cloned());
        let (front, _) =
            front.edit(&[Edit::Set(HeaderPath::default().key("handoff"), ours)]).ok()?;
        let harms = |finding: &Finding| {
            finding.code.rule().severity == Severity::Error || finding.code == Code::Tab
        };
        let sound = front.handoff_header().is_some() && !front.findings.iter().any(harms);
        sound.then(|| self.join_parts(&front.text, self.body.slice(&self.text)))
    }

    fn with_header_prepended(&self, fields: &[(&str, YamlData)]) -> Document {
        let line_break = self.line_break();
        let text = self.text.trim_start_matches(BOM);
        let mut header = Document::compose(fields, "").text.replace('\n', line_break);
        if !text.is_empty() && !text.starts_with(['\r', '\n']) {
            header.push_str(line_break);
        }
        self.join_parts(&header, text)
    }

    pub(super) fn join_parts(&self, header: &str, body: &str) -> Document {
        let mut text = format!("{header}{body}");
        if !text.ends_with('\n') {
            text.push_str(self.line_break());
        }
        Document::parse(text.as_bytes())
    }
}
