//! Formats documents into the strict form for `fmt`, and composes new documents from values.
//!
//! Formatting applies verified edits until nothing is loose anymore, so formatting twice changes
//! nothing. Notes without a handoff header are left unchanged, because they belong to other tools
//! or authors.

use super::{BOM, Document, DocumentEditError, legacy};
use crate::format::finding::{Code, FindingFix};
use crate::format::header::{HANDOFF, Header, HeaderLocation};
use crate::text::edit::{Edit, HeaderPath};
use crate::text::span::{Span, line_end, line_start};
use crate::text::yaml::{self, YamlData, YamlNode, YamlStyle};

/// The maximum number of attempts, because each one parses the whole document again. If they run
/// out, the values stay as the author wrote them.
const TRIES_MAX: usize = 500;

impl Document {
    /// Formats the document into the strict form. Parts that cannot be fixed safely stay unchanged.
    pub fn format(&self) -> Result<Document, DocumentEditError> {
        self.check_writable()?;
        let lifted = match &self.header {
            Some(header) if header.location == HeaderLocation::Section => self.section_to_header(),
            Some(header) if header.location == HeaderLocation::FrontMatter => self.clone(),
            Some(_) | None => return Ok(self.clone()),
        };
        Ok(lifted.clean_text().stamps_to_header().apply_fixes())
    }

    /// Composes a document in the strict form from header values and a body.
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

    /// Removes a byte order mark, replaces tabs in the header indentation, closes an unclosed
    /// header, and adds a missing final line break.
    fn clean_text(&self) -> Document {
        let has = |code| self.findings.iter().any(|finding| finding.code == code);
        let line_break = self.line_break();
        let mut text = self.text.trim_start_matches(BOM).to_owned();
        let dropped = self.text.len() - text.len();
        if let Some(header) = &self.header {
            let at = Span::new(header.at.start - dropped, header.at.end - dropped);
            let mut inner = at.slice(&text).to_owned();
            // Inside a block scalar a tab is part of the text.
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

    /// The line break of the document: `\r\n` or `\n`.
    pub fn line_break(&self) -> &'static str {
        if self.text.contains("\r\n") { "\r\n" } else { "\n" }
    }

    /// Rewrites every loose value in the strict form if that is safe. A fixed value may reveal
    /// another loose value inside it, so this repeats until nothing changes.
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
                // A partial result would change again on the next run.
                return self;
            };
            if tighter.text == document.text {
                return document;
            }
            document = tighter;
        }
    }

    /// Whether rewriting the value at `at` would lose a comment: one inside the value or, if the
    /// value is on its own lines, one at the end of them.
    fn has_comment_in(&self, at: Span) -> bool {
        let own_lines = self.text[line_start(&self.text, at.start)..at.start].trim().is_empty();
        let end = if own_lines { line_end(&self.text, at.end) } else { at.end };
        let whole = Span::new(at.start, end);
        let comments = self.header.as_ref().map(|header| header.comments.as_slice());
        comments.unwrap_or_default().iter().any(|comment| whole.contains(*comment))
    }

    /// Applies all edits at once; if that is refused, applies each half separately. Returns `None`
    /// after too many attempts.
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

    /// Turns a `## Handoff` section into the header. Lines that cannot be parsed stay in place.
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
            // The section contains nothing else, so remove its heading too.
            if understood == words(own) {
                cuts = vec![Span::new(section.at.start, section.own.end)];
            }
        }
        let mut body = self.text.clone();
        for cut in cuts.iter().rev() {
            body.replace_range(cut.range(), "");
        }
        let rest = Document::parse(body.as_bytes());
        let is_foreign = |header: &&Header| header.location == HeaderLocation::Foreign;
        let front = Document::parse(&body.as_bytes()[..rest.body.start]);
        let lifted = match front.header().filter(is_foreign) {
            // Another tool's header keeps its keys and gains the `handoff` key.
            Some(_) => {
                let ours = YamlData::map(in_format_order(&fields).into_iter().cloned());
                let edit = Edit::Set(HeaderPath::default().key("handoff"), ours);
                let edited = front.edit(&[edit]).map(|(edited, _)| edited).ok();
                edited.map(|front| self.join_parts(&front.text, rest.body.slice(&body)))
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

    /// Copies the `Captured:` and `Revised:` lines of the body to `created` and `revisions`, if the
    /// header does not have them.
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

/// Sorts fields in format order, unknown ones last.
pub(super) fn in_format_order<'f, 'n>(
    fields: &'f [(&'n str, YamlData)],
) -> Vec<&'f (&'n str, YamlData)> {
    let rank = |name: &str| HANDOFF.fields.iter().position(|field| field.name == name);
    let mut ordered: Vec<&(&str, YamlData)> = fields.iter().collect();
    ordered.sort_by_key(|(name, _)| rank(name).unwrap_or(usize::MAX));
    ordered
}

/// Replaces each tab in the indentation with two spaces.
fn tabs_to_spaces(text: &str) -> String {
    text.split_inclusive('\n')
        .map(|line| {
            let content = line.trim_start_matches([' ', '\t']);
            let indent = &line[..line.len() - content.len()];
            format!("{}{content}", indent.replace('\t', "  "))
        })
        .collect()
}
