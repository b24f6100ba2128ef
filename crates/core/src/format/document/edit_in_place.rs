//! Edits a document in place, without changing anything else in it.
//!
//! An edit is planned as byte replacements and then verified: the result is parsed again, its
//! values must equal the old values with the edit applied, and every comment must still exist. If
//! the check fails, the edit is refused and nothing changes.

mod plan;
mod verify;

use super::Document;
use crate::format::finding::Code;
use crate::text::edit::{Edit, HeaderPath, Patch, Replacement};
use crate::text::span::Span;
use plan::EditPlan;

/// Why an edit was refused. The document is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentEditError {
    /// The file is not UTF-8, so its bytes cannot be written back.
    #[error("the file is not UTF-8")]
    NotUtf8,
    /// The document uses a newer format version.
    #[error("the document is of a newer format than this midstride writes")]
    NewerFormat,
    /// The document has no front matter to edit.
    #[error("the document has no header")]
    NoHeader,
    /// A key on the path occurs twice.
    #[error("`{0}` is written twice; join the two first")]
    Ambiguous(String),
    /// A block on the path does not parse or is an alias.
    #[error("`{0}` cannot be read; mend it first")]
    Unreadable(String),
    /// The path does not exist.
    #[error("there is no `{0}`")]
    NoSuchPath(String),
    /// The verification of the result failed.
    #[error("`{0}` is written in a way that this edit would damage; edit it by hand")]
    WouldCorrupt(String),
}

impl Document {
    /// Applies the edits in order, all or none. Returns the new document and the patch.
    pub fn edit(&self, edits: &[Edit]) -> Result<(Document, Patch), DocumentEditError> {
        let mut document = self.clone();
        for edit in edits {
            document.check_writable()?;
            document = document.apply_edit(edit)?;
        }
        let patch = Patch::between(&self.text, &document.text);
        Ok((document, patch))
    }

    /// Returns an error if this version of midstride cannot write the document.
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

    /// Applies edits to different parts at once, with a single verification.
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
