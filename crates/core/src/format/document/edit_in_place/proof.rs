//! Whether replacements do what an edit means, and nothing else.

use super::{EditRefused, no_place};
use crate::format::document::Document;
use crate::format::finding::{Code, Severity};
use crate::format::header::{Header, Place};
use crate::text::edit::{Edit, Patch, Path, Replacement, Step};
use crate::text::span::Span;
use crate::text::yaml::Data;

impl Document {
    /// Applies the replacements and holds the result against what was meant.
    pub(super) fn prove(
        &self,
        edits: &[Edit],
        mut all: Vec<Replacement>,
    ) -> Result<Document, EditRefused> {
        let harm = || EditRefused::WouldHarm(edits.first().map(subject).unwrap_or_default());
        all.sort_by_key(|replacement| replacement.at);
        let patch = Patch { replacements: all };
        let text = patch.apply(&self.text).map_err(|_| harm())?;
        let after = Document::parse(text.as_bytes());
        let rest_is_kept = |edit: &Edit| match edit {
            Edit::Body(at, new) => {
                let end = self.body.end - at.len() + new.len();
                after.text[..self.body.start] == self.text[..self.body.start]
                    && after.body == Span::new(self.body.start, end)
            }
            Edit::Set(..) | Edit::Append(..) | Edit::Remove(_) => {
                after.body.of(&after.text) == self.body.of(&self.text)
            }
        };
        let same_rest = edits.iter().all(rest_is_kept);
        let meant = match self.front_data() {
            Some(data) => Some(edits.iter().try_fold(data, meant)?),
            None => None,
        };
        let same_values = match (meant, after.front_data()) {
            (Some(meant), Some(is)) => meant.same(&is),
            (meant, is) => meant.is_none() && is.is_none(),
        };
        let no_new_errors = after.unreadable_count() <= self.unreadable_count();
        let proven = same_rest && same_values && no_new_errors && self.comments_kept_in(&after);
        proven.then_some(after).ok_or_else(harm)
    }

    pub(super) fn front(&self) -> Option<&Header> {
        self.header.as_ref().filter(|header| header.place != Place::Section)
    }

    /// Whether another document has the same values, comments and body, line breaks at its end
    /// aside.
    pub(in crate::format::document) fn says_the_same_as(&self, other: &Document) -> bool {
        let same_values = match (self.front_data(), other.front_data()) {
            (Some(old), Some(new)) => old.same(&new),
            (old, new) => old.is_none() && new.is_none(),
        };
        let body = |document: &Document| {
            document.body.of(&document.text).trim_end_matches(['\r', '\n']).to_owned()
        };
        same_values
            && body(self) == body(other)
            && self.comments_kept_in(other)
            && other.unreadable_count() <= self.unreadable_count()
    }

    fn front_data(&self) -> Option<Data> {
        self.front().map(|header| header.root.data())
    }

    fn unreadable_count(&self) -> usize {
        let syntax =
            |code| matches!(code, Code::Syntax | Code::DuplicateKey | Code::HeaderNotClosed);
        self.findings
            .iter()
            .filter(|finding| finding.severity() == Severity::Error && syntax(finding.code))
            .count()
    }

    fn comments_kept_in(&self, after: &Document) -> bool {
        fn sorted(document: &Document) -> Vec<&str> {
            let comments = document.front().map(|header| header.comments.as_slice());
            let text = |span: &Span| span.of(&document.text).trim_end();
            let mut texts: Vec<&str> = comments.unwrap_or_default().iter().map(text).collect();
            texts.sort_unstable();
            texts
        }
        let mut left = sorted(after).into_iter();
        sorted(self).into_iter().all(|comment| left.any(|other| other == comment))
    }
}

fn subject(edit: &Edit) -> String {
    match edit {
        Edit::Set(path, _) | Edit::Append(path, _) | Edit::Remove(path) => path.to_string(),
        Edit::Body(..) => "the body".to_owned(),
    }
}

/// The values as they should be after an edit.
fn meant(mut data: Data, edit: &Edit) -> Result<Data, EditRefused> {
    match edit {
        Edit::Body(..) => {}
        Edit::Set(path, value) => *slot(&mut data, path)? = value.clone(),
        Edit::Append(path, value) => {
            let slot = slot(&mut data, path)?;
            *slot = match std::mem::replace(slot, Data::Null) {
                Data::Null => Data::List(vec![value.clone()]),
                Data::List(mut items) => {
                    items.push(value.clone());
                    Data::List(items)
                }
                single @ (Data::Text(_) | Data::Bare(_) | Data::Map(_)) => {
                    Data::List(vec![single, value.clone()])
                }
            };
        }
        Edit::Remove(path) => {
            let (last, parent) = path.0.split_last().ok_or_else(|| no_place(path))?;
            let slot = slot(&mut data, &Path(parent.to_vec()))?;
            let emptied = match (&mut *slot, last) {
                (Data::Map(entries), Step::Key(key)) => {
                    entries.retain(|(name, _)| name != key);
                    entries.is_empty()
                }
                (Data::List(items), Step::Item(index)) if *index < items.len() => {
                    items.remove(*index);
                    items.is_empty()
                }
                _ => return Err(no_place(path)),
            };
            if emptied {
                *slot = Data::Null;
            }
        }
    }
    Ok(data)
}

/// The value at a path, put in where it is absent.
fn slot<'d>(data: &'d mut Data, path: &Path) -> Result<&'d mut Data, EditRefused> {
    let mut here = data;
    for step in &path.0 {
        if let (Data::Null, Step::Key(_)) = (&*here, step) {
            *here = Data::Map(Vec::new());
        }
        here = match (here, step) {
            (Data::Map(entries), Step::Key(key)) => {
                let known = entries.iter().position(|(name, _)| name == key);
                let index = known.unwrap_or_else(|| {
                    entries.push((key.clone(), Data::Null));
                    entries.len() - 1
                });
                &mut entries[index].1
            }
            (Data::List(items), Step::Item(index)) => {
                items.get_mut(*index).ok_or_else(|| no_place(path))?
            }
            _ => return Err(no_place(path)),
        };
    }
    Ok(here)
}
