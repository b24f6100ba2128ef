//! Verifies that the replacements of an edit do exactly what the edit says.

use super::{DocumentEditError, no_such_path};
use crate::format::document::Document;
use crate::format::finding::{Code, Severity};
use crate::format::header::{Header, HeaderLocation};
use crate::text::edit::{Edit, HeaderPath, HeaderPathStep, Patch, Replacement};
use crate::text::span::Span;
use crate::text::yaml::YamlData;

impl Document {
    /// Applies the replacements and compares the result with the expected values.
    pub(super) fn apply_verified(
        &self,
        edits: &[Edit],
        mut all: Vec<Replacement>,
    ) -> Result<Document, DocumentEditError> {
        let harm =
            || DocumentEditError::WouldCorrupt(edits.first().map(edit_target).unwrap_or_default());
        all.sort_by_key(|replacement| replacement.at);
        let patch = Patch { replacements: all };
        let text = patch.apply(&self.text).map_err(|_| harm())?;
        let after = Document::parse(text.as_bytes());
        let same_rest = self.keeps_rest_in(&after, edits);
        let expected = match self.front_matter_data() {
            Some(data) => Some(edits.iter().try_fold(data, expected_data)?),
            None => None,
        };
        let same_values = match (expected, after.front_matter_data()) {
            (Some(expected), Some(actual)) => expected.is_equivalent_to(&actual),
            (expected, actual) => expected.is_none() && actual.is_none(),
        };
        let no_new_errors = after.unreadable_count() <= self.unreadable_count();
        let proven = same_rest && same_values && no_new_errors && self.keeps_comments_in(&after);
        proven.then_some(after).ok_or_else(harm)
    }

    /// Whether the body is the expected one, and the header too if no edit is about it.
    fn keeps_rest_in(&self, after: &Document, edits: &[Edit]) -> bool {
        let mut spans: Vec<(Span, &str)> = Vec::new();
        for edit in edits {
            if let Edit::Body(at, new) = edit {
                spans.push((*at, new));
            }
        }
        let is_header_edited = spans.len() < edits.len();
        // From the end, so that the other spans stay valid. They do not overlap: a patch was made.
        spans.sort_by_key(|(at, _)| std::cmp::Reverse(at.start));
        let mut body = self.body.slice(&self.text).to_owned();
        for (at, new) in spans {
            let start = at.start - self.body.start;
            body.replace_range(start..start + at.len(), new);
        }
        let header =
            |document: &Document| document.text.get(..document.body.start).map(str::to_owned);
        after.body.slice(&after.text) == body && (is_header_edited || header(self) == header(after))
    }

    pub(super) fn front_matter(&self) -> Option<&Header> {
        self.header.as_ref().filter(|header| header.location != HeaderLocation::Section)
    }

    /// Whether another document has the same values, comments and body, ignoring trailing line
    /// breaks.
    pub(in crate::format::document) fn is_equivalent_to(&self, other: &Document) -> bool {
        let same_values = match (self.front_matter_data(), other.front_matter_data()) {
            (Some(old), Some(new)) => old.is_equivalent_to(&new),
            (old, new) => old.is_none() && new.is_none(),
        };
        let body = |document: &Document| {
            document.body.slice(&document.text).trim_end_matches(['\r', '\n']).to_owned()
        };
        same_values
            && body(self) == body(other)
            && self.keeps_comments_in(other)
            && other.unreadable_count() <= self.unreadable_count()
    }

    pub(super) fn front_matter_data(&self) -> Option<YamlData> {
        self.front_matter().map(|header| header.root.data())
    }

    pub(super) fn unreadable_count(&self) -> usize {
        let syntax =
            |code| matches!(code, Code::Syntax | Code::DuplicateKey | Code::HeaderNotClosed);
        self.findings
            .iter()
            .filter(|finding| finding.severity() == Severity::Error && syntax(finding.code))
            .count()
    }

    fn keeps_comments_in(&self, after: &Document) -> bool {
        fn sorted(document: &Document) -> Vec<&str> {
            let comments = document.front_matter().map(|header| header.comments.as_slice());
            let text = |span: &Span| span.slice(&document.text).trim_end();
            let mut texts: Vec<&str> = comments.unwrap_or_default().iter().map(text).collect();
            texts.sort_unstable();
            texts
        }
        let mut left = sorted(after).into_iter();
        sorted(self).into_iter().all(|comment| left.any(|other| other == comment))
    }
}

fn edit_target(edit: &Edit) -> String {
    match edit {
        Edit::Set(path, _) | Edit::Append(path, _) | Edit::Remove(path) => path.to_string(),
        Edit::Body(..) => "the body".to_owned(),
    }
}

/// The expected values after an edit.
fn expected_data(mut data: YamlData, edit: &Edit) -> Result<YamlData, DocumentEditError> {
    match edit {
        Edit::Body(..) => {}
        Edit::Set(path, value) => *value_slot(&mut data, path)? = value.clone(),
        Edit::Append(path, value) => {
            let slot = value_slot(&mut data, path)?;
            *slot = match std::mem::replace(slot, YamlData::Null) {
                YamlData::Null => YamlData::List(vec![value.clone()]),
                YamlData::List(mut items) => {
                    items.push(value.clone());
                    YamlData::List(items)
                }
                single @ (YamlData::Text(_) | YamlData::Bare(_) | YamlData::Map(_)) => {
                    YamlData::List(vec![single, value.clone()])
                }
            };
        }
        Edit::Remove(path) => {
            let (last, parent) = path.0.split_last().ok_or_else(|| no_such_path(path))?;
            let slot = value_slot(&mut data, &HeaderPath(parent.to_vec()))?;
            let emptied = match (&mut *slot, last) {
                (YamlData::Map(entries), HeaderPathStep::Key(key)) => {
                    entries.retain(|(name, _)| name != key);
                    entries.is_empty()
                }
                (YamlData::List(items), HeaderPathStep::Item(index)) if *index < items.len() => {
                    items.remove(*index);
                    items.is_empty()
                }
                _ => return Err(no_such_path(path)),
            };
            if emptied {
                *slot = YamlData::Null;
            }
        }
    }
    Ok(data)
}

/// The value at a path, created if it is missing.
fn value_slot<'d>(
    data: &'d mut YamlData,
    path: &HeaderPath,
) -> Result<&'d mut YamlData, DocumentEditError> {
    let mut here = data;
    for step in &path.0 {
        if let (YamlData::Null, HeaderPathStep::Key(_)) = (&*here, step) {
            *here = YamlData::Map(Vec::new());
        }
        here = match (here, step) {
            (YamlData::Map(entries), HeaderPathStep::Key(key)) => {
                let known = entries.iter().position(|(name, _)| name == key);
                let index = known.unwrap_or_else(|| {
                    entries.push((key.clone(), YamlData::Null));
                    entries.len() - 1
                });
                &mut entries[index].1
            }
            (YamlData::List(items), HeaderPathStep::Item(index)) => {
                items.get_mut(*index).ok_or_else(|| no_such_path(path))?
            }
            _ => return Err(no_such_path(path)),
        };
    }
    Ok(here)
}
