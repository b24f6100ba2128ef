//! The strict form: what `fmt` makes of a document, and new documents from values.
//!
//! Formatting is a sequence of proven edits until nothing is loose any more, so doing it twice
//! changes nothing. Notes without a handoff header are left alone: they are other people's.

use super::{BOM, Document, EditRefused, legacy};
use crate::format::finding::{Code, WayOut};
use crate::format::header::{HANDOFF, Place};
use crate::text::edit::{Edit, Path};
use crate::text::span::{Span, line_end, line_start};
use crate::text::yaml::{self, Data, Node, Style};

/// Each try reads the document anew; what is still loose after so many is left to the author.
const TRIES_MAX: usize = 500;

impl Document {
    /// The document in the strict form. What cannot be mended safely stays as it is.
    pub fn format(&self) -> Result<Document, EditRefused> {
        self.may_be_written()?;
        let lifted = match &self.header {
            Some(header) if header.place == Place::Section => self.lift_section(),
            Some(header) if header.place == Place::FrontMatter => self.clone(),
            Some(_) | None => return Ok(self.clone()),
        };
        Ok(lifted.clean_text().lift_stamps().tighten())
    }

    /// A document of the strict form, from the values of its header and its body.
    pub fn compose(fields: &[(&str, Data)], body: &str) -> Document {
        let mut text = String::from("---\nhandoff:\n");
        for (name, value) in in_order(fields) {
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
            let mut inner = at.of(&text).to_owned();
            // In a block of text a tab is text.
            let tab_is_text = |node: &Node| {
                matches!(node.style, Style::BlockScalar { .. })
                    && node.at.of(&self.text).contains("\n\t")
            };
            if has(Code::Tab) && !header.root.any(&tab_is_text) {
                inner = spaces_for_tabs(&inner);
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
        if self.says_the_same_as(&clean) { clean } else { self.clone() }
    }

    /// How its lines end.
    pub fn line_break(&self) -> &'static str {
        if self.text.contains("\r\n") { "\r\n" } else { "\n" }
    }

    /// Writes every loose value strictly, as long as that can be done without harm. A value that
    /// was mended may show another one inside it, so it is done until nothing changes.
    fn tighten(self) -> Document {
        let mut document = self.clone();
        let mut tries_left = TRIES_MAX;
        loop {
            let loose: Vec<&Edit> = document
                .findings
                .iter()
                .filter_map(|finding| match &finding.way_out {
                    Some(WayOut::Write(edit)) => Some((finding.at, edit)),
                    Some(WayOut::Think(_) | WayOut::Run(_)) | None => None,
                })
                .filter(|(at, _)| !document.has_comment_in(*at))
                .map(|(_, edit)| edit)
                .collect();
            let Some(tighter) = document.edit_what_can_be(&loose, &mut tries_left) else {
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
    fn edit_what_can_be(&self, edits: &[&Edit], tries_left: &mut usize) -> Option<Document> {
        if edits.is_empty() {
            return Some(self.clone());
        }
        *tries_left = tries_left.checked_sub(1)?;
        match self.edit_together(edits) {
            Ok(edited) => Some(edited),
            Err(_) if edits.len() == 1 => Some(self.clone()),
            Err(_) => {
                let (first, second) = edits.split_at(edits.len() / 2);
                let edited = self.edit_what_can_be(first, tries_left)?;
                edited.edit_what_can_be(second, tries_left)
            }
        }
    }

    /// A `## Handoff` section becomes the header; lines that were not understood stay where they
    /// are.
    fn lift_section(&self) -> Document {
        let Some(found) = legacy::find(&self.text, &self.sections) else { return self.clone() };
        if found.lines.is_empty() {
            return self.clone();
        }
        let fields: Vec<(&str, Data)> = found
            .header
            .root
            .entries()
            .iter()
            .map(|entry| (entry.key.value.as_str(), entry.node.data()))
            .collect();
        let holder = self.sections.iter().find(|section| section.own.contains(found.header.at));
        let mut cuts = found.lines;
        if let Some(section) = holder {
            let own = section.own.of(&self.text);
            let words = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
            let understood: usize = cuts.iter().map(|cut| words(cut.of(&self.text))).sum();
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
                let ours = Data::map(in_order(&fields).into_iter().cloned());
                let edit = Edit::Set(Path::default().key("handoff"), ours);
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
    fn lift_stamps(self) -> Document {
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
            let time = Data::Bare(stamp.time.value.to_owned());
            if stamp.captured && created.is_none() {
                edits.push(Edit::Set(Path::field("created"), time));
            } else if !stamp.captured && revised.is_none() {
                let reason = stamp.reason.map(|reason| ("reason", Data::text(reason.value)));
                let entry = Data::map([("at", time)].into_iter().chain(reason));
                edits.push(Edit::Append(Path::field("revisions"), entry));
            }
        }
        match self.edit(&edits) {
            Ok((lifted, _)) => lifted,
            Err(_) => self,
        }
    }
}

/// Fields in the order of the format, unknown ones last.
pub(super) fn in_order<'f, 'n>(fields: &'f [(&'n str, Data)]) -> Vec<&'f (&'n str, Data)> {
    let rank = |name: &str| HANDOFF.fields.iter().position(|field| field.name == name);
    let mut ordered: Vec<&(&str, Data)> = fields.iter().collect();
    ordered.sort_by_key(|(name, _)| rank(name).unwrap_or(usize::MAX));
    ordered
}

/// Two spaces for each tab of an indentation.
fn spaces_for_tabs(text: &str) -> String {
    text.split_inclusive('\n')
        .map(|line| {
            let content = line.trim_start_matches([' ', '\t']);
            let indent = &line[..line.len() - content.len()];
            format!("{}{content}", indent.replace('\t', "  "))
        })
        .collect()
}
