//! The strict form: what `fmt` makes of a document, and new documents from values.
//!
//! Formatting is a sequence of proven edits until nothing is loose any more, so doing it twice
//! changes nothing. Notes without a handoff header are left alone: they are other people's.

use super::{BOM, Document, DocumentEditError, legacy};
use crate::format::finding::{Code, FindingFix};
use crate::format::header::{HANDOFF, HeaderLocation};
use crate::text::edit::{Edit, HeaderPath};
use crate::text::span::{Span, line_end, line_start};
use crate::text::yaml::{self, YamlData, YamlNode, YamlStyle};

/// Each try reads the document anew; what is still loose after so many is left to the author.
const TRIES_MAX: usize = 500;

impl Document {
    /// The document in the strict form. What cannot be mended safely stays as it is.
    pub fn format(&self) -> Result<Document, DocumentEditError> {
        self.check_writable()?;
        let lifted = match &self.header {
            Some(header) if header.location == HeaderLocation::Section => self.section_to_header(),
            Some(header) if header.location == HeaderLocation::FrontMatter => self.clone(),
            Some(_) | None => return Ok(self.clone()),
        };
        Ok(lifted.clean_text().stamps_to_header().apply_fixes())
    }

    /// A document of the strict form, from the values of its header and its body.
    pub fn compose(fields: &[(&str, YamlData)], body: &str) -> Document {
        let mut text = String::from("---\nhandoff:\n");
        for (name, value) in in_format_order(fields) {
            text.push_str(&yaml::block_entry(name, value, 2));
        }
        text.push_str("---\n");
        if !body.is_empty() {
            text.push('\n');
            text.push_str(body.trim_start_matches('\n'));
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
        Document::parse(text.as_bytes())
    }

    /// Without a byte order mark, tabs in the indentation of the header, an open end of the header
    /// or a missing final line break.
    fn clean_text(&self) -> Document {
        let has = |code| self.findings.iter().any(|finding| finding.code == code);
        let line_break = self.line_break();
        let mut text = self.text.trim_start_matches(BOM).to_owned();
        let dropped = self.text.len() - text.len();
        if let Some(header) = &self.header {
            let at = Span::new(header.at.start - dropped, header.at.end - dropped);
            let mut inner = at.slice(&text).to_owned();
            // In a block of text a tab is text.
            let tab_is_text = |node: &YamlNode| {
                matches!(node.style, YamlStyle::BlockScalar { .. })
                    && node.at.slice(&self.text).contains("\n\t")
            };
            if has(Code::Tab) && !header.root.any_node(&tab_is_text) {
                inner = tabs_to_spaces(&inner);
            }
            if has(Code::HeaderNotClosed) {
                if !inner.ends_with('\n') {
                    inner.push_str(line_break);
                }
                inner.push_str(&format!("---{line_break}"));
            }
            text.replace_range(at.range(), &inner);
        }
        if !text.ends_with('\n') {
            text.push_str(line_break);
        }
        let clean = Document::parse(text.as_bytes());
        if self.is_equivalent_to(&clean) { clean } else { self.clone() }
    }

    /// How its lines end.
    pub fn line_break(&self) -> &'static str {
        if self.text.contains("\r\n") { "\r\n" } else { "\n" }
    }

    /// Writes every loose value strictly, as long as that can be done without harm. A value that
    /// was mended may show another one inside it, so it is done until nothing changes.
    fn apply_fixes(self) -> Document {
        let mut document = self.clone();
        let mut tries_left = TRIES_MAX;
        loop {
            let loose: Vec<&Edit> = document
                .findings
                .iter()
                .filter_map(|finding| match &finding.fix {
                    Some(FindingFix::Edit(edit)) => Some((finding.at, edit)),
                    Some(FindingFix::Hint(_) | FindingFix::Command(_)) | None => None,
                })
                .filter(|(at, _)| !document.has_comment_in(*at))
                .map(|(_, edit)| edit)
                .collect();
            let Some(tighter) = document.apply_safe_edits(&loose, &mut tries_left) else {
                // Half of it done would be another half the next time.
                return self;
            };
            if tighter.text == document.text {
                return document;
            }
            document = tighter;
        }
    }

    /// A value with a comment inside cannot be written anew without losing it; neither can one
    /// that stands on lines of its own and has a comment at their end.
    fn has_comment_in(&self, at: Span) -> bool {
        let own_lines = self.text[line_start(&self.text, at.start)..at.start].trim().is_empty();
        let end = if own_lines { line_end(&self.text, at.end) } else { at.end };
        let whole = Span::new(at.start, end);
        let comments = self.header.as_ref().map(|header| header.comments.as_slice());
        comments.unwrap_or_default().iter().any(|comment| whole.contains(*comment))
    }

    /// Makes all edits at once; where that is refused, each half of them for itself. `None` where
    /// there were too many tries.
    fn apply_safe_edits(&self, edits: &[&Edit], tries_left: &mut usize) -> Option<Document> {
        if edits.is_empty() {
            return Some(self.clone());
        }
        *tries_left = tries_left.checked_sub(1)?;
        match self.apply_batch(edits) {
            Ok(edited) => Some(edited),
            Err(_) if edits.len() == 1 => Some(self.clone()),
            Err(_) => {
                let (first, second) = edits.split_at(edits.len() / 2);
                let edited = self.apply_safe_edits(first, tries_left)?;
                edited.apply_safe_edits(second, tries_left)
            }
        }
    }

    /// A `## Handoff` section becomes the header; lines that were not understood stay where they
    /// are.
    fn section_to_header(&self) -> Document {
        let Some(found) = legacy::find_section_header(&self.text, &self.sections) else {
            return self.clone();
        };
        if found.lines.is_empty() {
            return self.clone();
        }
        let fields: Vec<(&str, YamlData)> = found
            .header
            .root
            .entries()
            .iter()
            .map(|entry| (entry.key.value.as_str(), entry.node.data()))
            .collect();
        let holder = self.sections.iter().find(|section| section.own.contains(found.header.at));
        let mut cuts = found.lines;
        if let Some(section) = holder {
            let own = section.own.slice(&self.text);
            let words = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
            let understood: usize = cuts.iter().map(|cut| words(cut.slice(&self.text))).sum();
            // Nothing else stands in the section: its heading goes too.
            if understood == words(own) {
                cuts = vec![Span::new(section.at.start, section.own.end)];
            }
        }
        let mut body = self.text.clone();
        for cut in cuts.iter().rev() {
            body.replace_range(cut.range(), "");
        }
        let rest = Document::parse(body.as_bytes());
        let lifted = match rest.header() {
            // Another tool's header keeps its keys and gets ours beside them.
            Some(_) => {
                let ours = YamlData::map(in_format_order(&fields).into_iter().cloned());
                let edit = Edit::Set(HeaderPath::default().key("handoff"), ours);
                rest.edit(&[edit]).map(|(edited, _)| edited).ok()
            }
            None => {
                let composed = Document::compose(&fields, body.trim_start_matches(BOM));
                let header = &composed.text[..composed.body.start];
                let broken = header.replace('\n', self.line_break());
                let rest = &composed.text[composed.body.start..];
                Some(Document::parse(format!("{broken}{rest}").as_bytes()))
            }
        };
        let lifted = lifted.filter(|lifted| lifted.handoff_header().is_some());
        lifted.unwrap_or_else(|| self.clone())
    }

    /// `Captured:` and `Revised:` lines of the body become `created` and `revisions`, where the
    /// header does not tell them already.
    fn stamps_to_header(self) -> Document {
        let Some(header) = self.handoff_header() else {
            return self;
        };
        let fields = header.fields();
        let (created, revised) = (fields.get("created"), fields.get("revisions"));
        if created.is_some() && revised.is_some() {
            return self;
        }
        let stamps = self.stamps();
        let mut edits = Vec::new();
        for stamp in &stamps {
            let time = YamlData::Bare(stamp.time.value.to_owned());
            if stamp.is_capture && created.is_none() {
                edits.push(Edit::Set(HeaderPath::field("created"), time));
            } else if !stamp.is_capture && revised.is_none() {
                let reason = stamp.reason.map(|reason| ("reason", YamlData::text(reason.value)));
                let entry = YamlData::map([("at", time)].into_iter().chain(reason));
                edits.push(Edit::Append(HeaderPath::field("revisions"), entry));
            }
        }
        match self.edit(&edits) {
            Ok((lifted, _)) => lifted,
            Err(_) => self,
        }
    }
}

/// Fields in the order of the format, unknown ones last.
pub(super) fn in_format_order<'f, 'n>(
    fields: &'f [(&'n str, YamlData)],
) -> Vec<&'f (&'n str, YamlData)> {
    let rank = |name: &str| HANDOFF.fields.iter().position(|field| field.name == name);
    let mut ordered: Vec<&(&str, YamlData)> = fields.iter().collect();
    ordered.sort_by_key(|(name, _)| rank(name).unwrap_or(usize::MAX));
    ordered
}

/// Two spaces for each tab of an indentation.
fn tabs_to_spaces(text: &str) -> String {
    text.split_inclusive('\n')
        .map(|line| {
            let content = line.trim_start_matches([' ', '\t']);
            let indent = &line[..line.len() - content.len()];
            format!("{}{content}", indent.replace('\t', "  "))
        })
        .collect()
}
