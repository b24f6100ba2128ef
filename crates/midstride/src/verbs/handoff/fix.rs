//! Fixes what needs no decision in documents, for `check --fix`: their form, and the lines of
//! citations whose code moved.

use crate::code::CodeState;
use crate::journal::JournalError;
use crate::store::Store;
use crate::sys::files::FileError;
use crate::verbs::handoff::check::Comparison;
use crate::verbs::handoff::fmt::{FmtError, FormatOutcome, fmt};
use crate::verbs::handoff::update_citations::{CitationUpdate, update_moved_citations};
use crate::workspace::StoredHandoff;
use midstride_core::text::id::HandoffKey;
use midstride_core::text::redact::Redaction;
use std::path::PathBuf;

/// The result of fixing documents.
#[derive(Debug, Default)]
pub struct FixOutcome {
    /// The documents that were changed.
    pub fixed: Vec<FixedDocument>,
    /// The files that could not be read or written.
    pub unwritten: Vec<FileError>,
    /// Why documents could not be fixed.
    pub unfixed: Vec<JournalError>,
}

/// A document that was changed.
#[derive(Debug)]
pub struct FixedDocument {
    /// The path, relative to the project root.
    pub path: PathBuf,
    /// Its name.
    pub key: HandoffKey,
    /// The secrets that formatting redacted, if it was formatted.
    pub formatted: Option<Vec<Redaction>>,
    /// The citations that were updated.
    pub citations: Option<CitationUpdate>,
}

/// Formats documents and updates moved citations. What cannot be fixed stays unchanged, and a check
/// reports it.
pub fn fix(store: &Store, documents: &[StoredHandoff]) -> Result<FixOutcome, FileError> {
    // Compare all documents together. Only those that have to be written are read again.
    let with = Comparison::against(store, CodeState::WorkTree, true)?;
    let mut outcome = FixOutcome::default();
    for stored in documents {
        if let Err(error) = fix_document(store, &with, stored, &mut outcome) {
            outcome.unfixed.push(error);
        }
    }
    Ok(outcome)
}

fn fix_document(
    store: &Store,
    with: &Comparison<'_>,
    stored: &StoredHandoff,
    outcome: &mut FixOutcome,
) -> Result<(), JournalError> {
    let mut failed = None;
    let formatted = match fmt(store, stored, true) {
        Ok(FormatOutcome::Changed(redacted)) => Some(redacted),
        Ok(FormatOutcome::Unchanged) | Err(FmtError::Refused { .. }) => None,
        Err(FmtError::Journal(JournalError::File(error))) => {
            outcome.unwritten.push(error);
            None
        }
        Err(FmtError::Journal(error)) => return Err(error),
    };
    let citations = match update_if_moved(store, with, stored) {
        Ok(citations) => citations,
        Err(JournalError::Refused(_) | JournalError::Conflicted(_)) => None,
        Err(JournalError::File(error)) => {
            outcome.unwritten.push(error);
            None
        }
        Err(error) => {
            failed = Some(error);
            None
        }
    };
    if formatted.is_some() || citations.is_some() {
        let key = stored.handoff(store.workspace()).key();
        outcome.fixed.push(FixedDocument { path: stored.path.clone(), key, formatted, citations });
    }
    failed.map_or(Ok(()), Err)
}

/// Updates the citations of a document, as it is after formatting, if their code moved.
fn update_if_moved(
    store: &Store,
    with: &Comparison<'_>,
    stored: &StoredHandoff,
) -> Result<Option<CitationUpdate>, JournalError> {
    let now = store.workspace().reread(stored)?;
    if with.has_moved(&now) { update_moved_citations(store, &now) } else { Ok(None) }
}
