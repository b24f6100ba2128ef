//! Edits that change only what they mean to change.
//!
//! An edit is planned as replacements of bytes, then proven: the result is read again, its values
//! must be exactly the old ones with the edit applied, and every old comment must still be there.
//! If not, the edit is refused and nothing changes.

mod plan;
mod verify;

use super::Document;
use crate::format::finding::Code;
use crate::text::edit::{Edit, HeaderPath, Patch, Replacement};
use crate::text::span::Span;
use plan::EditPlan;

/// Why an edit was refused; the document is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentEditError {
    /// The bytes could not be written back.
    #[error("the file is not UTF-8")]
    NotUtf8,
    /// A newer midstride wrote it.
    #[error("the document is of a newer format than this midstride writes")]
    NewerFormat,
    /// There is no front matter to edit.
    #[error("the document has no header")]
    NoHeader,
    /// A key on the way is written twice.
    #[error("`{0}` is written twice; join the two first")]
    Ambiguous(String),
    /// A block on the way does not parse, or its value stands elsewhere.
    #[error("`{0}` cannot be read; mend it first")]
    Unreadable(String),
    /// The path leads nowhere.
    #[error("there is no `{0}`")]
    NoSuchPath(String),
    /// The proof failed.
    #[error("`{0}` is written in a way that this edit would damage; edit it by hand")]
    WouldCorrupt(String),
}

impl Document {
    /// Makes the edits one after the other, all or none.
    pub fn edit(&self, edits: &[Edit]) -> Result<(Document, Patch), DocumentEditError> {
        let mut document = self.clone();
        for edit in edits {
            document.check_writable()?;
            document = document.apply_edit(edit)?;
        }
        let patch = Patch::between(&self.text, &document.text);
        Ok((document, patch))
    }

    /// Whether this midstride can write the document back at all.
    pub(super) fn check_writable(&self) -> Result<(), DocumentEditError> {
        if !self.exact {
            return Err(DocumentEditError::NotUtf8);
        }
        let newer = self.findings.iter().any(|finding| finding.code == Code::NewerFormat);
        if newer { Err(DocumentEditError::NewerFormat) } else { Ok(()) }
    }

    fn apply_edit(&self, edit: &Edit) -> Result<Document, DocumentEditError> {
        self.apply_verified(std::slice::from_ref(edit), self.plan_edit(edit)?)
    }

    /// Makes edits of different places at once, with one proof for all of them.
    pub(super) fn apply_batch(&self, edits: &[&Edit]) -> Result<Document, DocumentEditError> {
        let mut replacements = Vec::new();
        for edit in edits {
            replacements.extend(self.plan_edit(edit)?);
        }
        let edits: Vec<Edit> = edits.iter().map(|edit| (*edit).clone()).collect();
        self.apply_verified(&edits, replacements)
    }

    fn plan_edit(&self, edit: &Edit) -> Result<Vec<Replacement>, DocumentEditError> {
        match edit {
            Edit::Body(at, text) => self.plan_body_edit(*at, text),
            Edit::Set(path, _) | Edit::Append(path, _) | Edit::Remove(path) => {
                let header = self.front_matter().ok_or(DocumentEditError::NoHeader)?;
                let mut plan = EditPlan { document: self, header, path, replacements: Vec::new() };
                plan.add_edit(edit)?;
                Ok(plan.replacements)
            }
        }
    }

    fn plan_body_edit(&self, at: Span, text: &str) -> Result<Vec<Replacement>, DocumentEditError> {
        let inside = self.body.contains(at) && self.text.get(at.range()).is_some();
        inside
            .then(|| vec![replacement(&self.text, at, text.to_owned())])
            .ok_or_else(|| DocumentEditError::NoSuchPath(format!("byte {} of the body", at.start)))
    }
}

fn replacement(text: &str, at: Span, new: String) -> Replacement {
    Replacement { at: at.start, old: at.slice(text).to_owned(), new }
}

fn no_such_path(path: &HeaderPath) -> DocumentEditError {
    DocumentEditError::NoSuchPath(path.to_string())
}
