//! Bring a document into the strict form: what `fmt` and `check --fix` do.

use crate::journal::{JournalError, RevisionInfo};
use crate::workspace::project::{Project, StoredHandoff};
use midstride_core::format::document::DocumentEditError;
use midstride_core::format::header::RevisionVerb;
use midstride_core::text::redact::Redaction;

/// What became of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormatOutcome {
    /// It was in the strict form.
    Unchanged,
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
        why: DocumentEditError,
    },
    /// It could not be recorded.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// The strict form of a document; writes it unless only asked to look.
pub fn fmt(
    project: &Project,
    shelved: &StoredHandoff,
    write: bool,
) -> Result<FormatOutcome, FmtError> {
    let strict = shelved
        .document
        .format()
        .map_err(|why| FmtError::Refused { path: shelved.path.clone(), why })?;
    if strict.text() == shelved.document.text() {
        return Ok(FormatOutcome::Unchanged);
    }
    if !write {
        return Ok(FormatOutcome::Changed(project.clean(strict.text()).1));
    }
    let change = RevisionInfo::by_verb(RevisionVerb::Fmt, "formatted", None);
    let recorded = project.record(shelved, &strict, &change, &|_| ())?;
    Ok(FormatOutcome::Changed(recorded.redacted))
}
