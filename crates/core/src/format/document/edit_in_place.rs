//! Edits a document in place, without changing anything else in it.
//!
//! An edit is planned as byte replacements and then verified: the result is parsed again, its
//! values must equal the old values with the edit applied, and every comment must still exist. If
//! the check fails, the edit is refused and nothing changes.

mod plan;
mod redact;
mod verify;

pub use redact::RedactedDocument;

use super::Document;
use crate::format::finding::Code;
use crate::text::edit::{Edit, HeaderPath, HeaderPathStep, Patch, Replacement};
use crate::text::span::Span;
use plan::EditPlan;

/// Why an edit was refused. The document is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentEditError {
    /// The file is not UTF-8, so its bytes cannot be written back.
    #[error("the file is not UTF-8")]
    NotUtf8,
    /// The document uses a newer format version.
    #[error("the document's format is newer than the one this version of midstride writes")]
    NewerFormat,
    /// The document has no front matter to edit.
    #[error("the document has no header")]
    NoHeader,
    /// A key on the path occurs twice.
    #[error("`{0}` appears twice; merge the two first")]
    Ambiguous(String),
    /// A block on the path does not parse or is an alias.
    #[error("`{0}` cannot be read; fix it first")]
    Unreadable(String),
    /// The path does not exist.
    #[error("there is no `{0}`")]
    NoSuchPath(String),
    /// The verification of the result failed.
    #[error("this edit would damage `{0}`; edit it by hand")]
    WouldCorrupt(String),
    /// Redacting a secret would change more than a value.
    #[error("redacting the `{kind}` on line {line} would damage the header")]
    RedactionWouldCorrupt {
        /// The kind of the secret.
        kind: String,
        /// Its line.
        line: usize,
    },
}

impl Document {
    /// Applies the edits in order, all or none. Returns the new document and the patch.
    ///
    /// ```
    /// use midstride_core::format::document::Document;
    /// use midstride_core::text::edit::{Edit, HeaderPath};
    /// use midstride_core::text::yaml::YamlData;
    ///
    /// let document = Document::parse(b"---\nhandoff:\n  id: search-lag # ours\n  status: planned\n---\n");
    /// let start = Edit::Set(HeaderPath::field("status"), YamlData::text("in_progress"));
    /// let (after, _patch) = document.edit(&[start])?;
    /// assert_eq!(after.text(), "---\nhandoff:\n  id: search-lag # ours\n  status: in_progress\n---\n");
    /// # Ok::<(), midstride_core::format::document::DocumentEditError>(())
    /// ```
    pub fn edit(&self, edits: &[Edit]) -> Result<(Document, Patch), DocumentEditError> {
        let mut document = self.clone();
        for group in independent_groups(edits) {
            document.check_writable()?;
            document = document.apply_group(group)?;
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

    /// Applies edits of different parts with a single verification, which parses the whole text.
    /// Where they touch each other, or where that is refused, applies them one by one.
    fn apply_group(&self, edits: &[Edit]) -> Result<Document, DocumentEditError> {
        if let [edit] = edits {
            return self.apply_edit(edit);
        }
        let one_by_one = || {
            edits.iter().try_fold(self.clone(), |document, edit| {
                document.check_writable()?;
                document.apply_edit(edit)
            })
        };
        let plans: Result<Vec<_>, _> = edits.iter().map(|edit| self.plan_edit(edit)).collect();
        let plans =
            plans.ok().filter(|plans| self.count_new_and_removed(edits) <= 1 && are_apart(plans));
        let together = plans.and_then(|plans| self.apply_verified(edits, plans.concat()).ok());
        match together.filter(|document| document.check_writable().is_ok()) {
            Some(document) => Ok(document),
            None => one_by_one(),
        }
    }

    /// How many of the edits add or remove a field. Where a new field goes depends on the others.
    fn count_new_and_removed(&self, edits: &[Edit]) -> usize {
        let root = self.front_matter().map(|header| &header.root);
        let has = |field: &[HeaderPathStep]| match field {
            [HeaderPathStep::Key(first), HeaderPathStep::Key(second)] => {
                root.and_then(|root| root.get(first)?.get(second)).is_some()
            }
            _ => false,
        };
        let changes = |edit: &&Edit| match edit {
            Edit::Set(path, _) | Edit::Append(path, _) => !path.0.get(..2).is_some_and(has),
            Edit::Remove(path) => path.0.len() <= 2,
            Edit::Body(..) => false,
        };
        edits.iter().filter(changes).count()
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

/// Splits edits into runs in which no two are about the same part of the document.
fn independent_groups(edits: &[Edit]) -> Vec<&[Edit]> {
    let mut groups: Vec<&[Edit]> = Vec::new();
    let mut start = 0;
    for (end, edit) in edits.iter().enumerate().skip(1) {
        // A span of the body is only valid before the header changes, so it starts a run.
        let field = edited_field(edit);
        let is_apart = |other: &Edit| {
            let other_field = edited_field(other);
            matches!(other, Edit::Body(..)) || (other_field.is_some() && field != other_field)
        };
        if field.is_none() || !edits[start..end].iter().all(is_apart) {
            groups.push(&edits[start..end]);
            start = end;
        }
    }
    groups.push(&edits[start..]);
    groups.retain(|group| !group.is_empty());
    groups
}

/// Whether no replacement of one plan overlaps or touches one of another.
fn are_apart(plans: &[Vec<Replacement>]) -> bool {
    let numbered = plans.iter().enumerate();
    let mut ranges: Vec<(usize, usize, usize)> = numbered
        .flat_map(|(number, plan)| {
            plan.iter().map(move |one| (one.at, one.at + one.old.len(), number))
        })
        .collect();
    ranges.sort_unstable();
    ranges.windows(2).all(|pair| pair[0].2 == pair[1].2 || pair[0].1 < pair[1].0)
}

/// The field of the header that an edit is about; `None` for the body and the header as a whole.
fn edited_field(edit: &Edit) -> Option<&[HeaderPathStep]> {
    match edit {
        Edit::Set(path, _) | Edit::Append(path, _) | Edit::Remove(path) => path.0.get(..2),
        Edit::Body(..) => None,
    }
}

fn replacement(text: &str, at: Span, new: String) -> Replacement {
    Replacement { at: at.start, old: at.slice(text).to_owned(), new }
}

fn no_such_path(path: &HeaderPath) -> DocumentEditError {
    DocumentEditError::NoSuchPath(path.to_string())
}
