//! Formats a document strictly, for `fmt` and `check --fix`.

use crate::journal::{JournalError, RevisionInfo};
use crate::store::Store;
use crate::workspace::StoredHandoff;
use midstride_core::format::document::DocumentEditError;
use midstride_core::format::header::RevisionVerb;
use midstride_core::text::redact::Redaction;

/// The result of formatting a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormatOutcome {
    /// It already was in the strict form.
    Unchanged,
    /// It was not in the strict form. If `write` is set, it was rewritten without these secrets.
    Changed(Vec<Redaction>),
}

/// Why a document was not formatted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FmtError {
    /// The document cannot be changed safely.
    #[error("`{}` was not changed: {why}", path.display())]
    Refused {
        /// The document.
        path: std::path::PathBuf,
        /// The reason.
        why: DocumentEditError,
    },
    /// It could not be recorded.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Formats a document, and writes it if `write` is set.
pub fn fmt(store: &Store, stored: &StoredHandoff, write: bool) -> Result<FormatOutcome, FmtError> {
    let workspace = store.workspace();
    let strict = stored
        .document
        .format()
        .map_err(|why| FmtError::Refused { path: stored.path.clone(), why })?;
    let secrets = workspace.clean(strict.text()).1;
    if strict.text() == stored.document.text() && secrets.is_empty() {
        return Ok(FormatOutcome::Unchanged);
    }
    if !write {
        return Ok(FormatOutcome::Changed(secrets));
    }
    let change = RevisionInfo::by_verb(RevisionVerb::Fmt, "formatted", None);
    let recorded = store.record(stored, &strict, &change, &|_| ())?;
    Ok(FormatOutcome::Changed(recorded.redacted))
}
