//! Edits that change only what they mean to change.
//!
//! An edit is planned as replacements of bytes, then proven: the result is read again, its values
//! must be exactly the old ones with the edit applied, and every old comment must still be there.
//! If not, the edit is refused and nothing changes.

mod plan;
mod proof;

use super::Document;
use crate::format::finding::Code;
use crate::text::edit::{Edit, Patch, Path, Replacement};
use crate::text::span::Span;
use plan::Plan;

/// Why an edit was refused; the document is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditRefused {
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
    NoSuchPlace(String),
    /// The proof failed.
    #[error("`{0}` is written in a way that this edit would damage; edit it by hand")]
    WouldHarm(String),
}

impl Document {
    /// Makes the edits one after the other, all or none.
    pub fn edit(&self, edits: &[Edit]) -> Result<(Document, Patch), EditRefused> {
        let mut document = self.clone();
        for edit in edits {
            document.may_be_written()?;
            document = document.edit_once(edit)?;
        }
        let patch = Patch::between(&self.text, &document.text);
        Ok((document, patch))
    }

    /// Whether this midstride can write the document back at all.
    pub(super) fn may_be_written(&self) -> Result<(), EditRefused> {
        if !self.exact {
            return Err(EditRefused::NotUtf8);
        }
        let newer = self.findings.iter().any(|finding| finding.code == Code::NewerFormat);
        if newer { Err(EditRefused::NewerFormat) } else { Ok(()) }
    }

    fn edit_once(&self, edit: &Edit) -> Result<Document, EditRefused> {
        self.prove(std::slice::from_ref(edit), self.plan(edit)?)
    }

    /// Makes edits of different places at once, with one proof for all of them.
    pub(super) fn edit_together(&self, edits: &[&Edit]) -> Result<Document, EditRefused> {
        let mut replacements = Vec::new();
        for edit in edits {
            replacements.extend(self.plan(edit)?);
        }
        let edits: Vec<Edit> = edits.iter().map(|edit| (*edit).clone()).collect();
        self.prove(&edits, replacements)
    }

    fn plan(&self, edit: &Edit) -> Result<Vec<Replacement>, EditRefused> {
        match edit {
            Edit::Body(at, text) => self.plan_body(*at, text),
            Edit::Set(path, _) | Edit::Append(path, _) | Edit::Remove(path) => {
                let header = self.front().ok_or(EditRefused::NoHeader)?;
                let mut plan = Plan { document: self, header, path, replacements: Vec::new() };
                plan.make(edit)?;
                Ok(plan.replacements)
            }
        }
    }

    fn plan_body(&self, at: Span, text: &str) -> Result<Vec<Replacement>, EditRefused> {
        let inside = self.body.contains(at) && self.text.get(at.range()).is_some();
        inside
            .then(|| vec![replacement(&self.text, at, text.to_owned())])
            .ok_or_else(|| EditRefused::NoSuchPlace(format!("byte {} of the body", at.start)))
    }
}

fn replacement(text: &str, at: Span, new: String) -> Replacement {
    Replacement { at: at.start, old: at.of(text).to_owned(), new }
}

fn no_place(path: &Path) -> EditRefused {
    EditRefused::NoSuchPlace(path.to_string())
}
