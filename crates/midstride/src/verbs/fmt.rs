//! Bring a document into the strict form: what `fmt` and `check --fix` do.

use crate::files::FileError;
use crate::project::{Project, Shelved};
use midstride_core::document::EditRefused;
use midstride_core::redact::{Clean, Redaction};

/// What became of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formatted {
    /// It was in the strict form.
    AsItWas,
    /// It was not; it is now, if it was to be written, without these secrets.
    Changed(Vec<Redaction>),
}

/// Why a document was left as it was.
#[derive(Debug, thiserror::Error)]
pub enum FmtError {
    /// The document cannot be changed safely.
    #[error("`{}` is left as it is: {why}", path.display())]
    Refused {
        /// The document.
        path: std::path::PathBuf,
        /// Why.
        why: EditRefused,
    },
    /// The file could not be written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// The strict form of a document; writes it unless only asked to look.
pub fn fmt(project: &Project, shelved: &Shelved, write: bool) -> Result<Formatted, FmtError> {
    let strict = shelved
        .document
        .format()
        .map_err(|why| FmtError::Refused { path: shelved.path.clone(), why })?;
    if strict.text() == shelved.document.text() {
        return Ok(Formatted::AsItWas);
    }
    let (text, redacted) = Clean::of(strict.text());
    if write {
        project.replace(shelved, &text)?;
    }
    Ok(Formatted::Changed(redacted))
}
