//! Updates citations whose code moved to the current lines, for `check --fix`.

use crate::code::CodeState;
use crate::code::drift::DriftChecker;
use crate::journal::{JournalError, RecordedRevision, RevisionInfo};
use crate::store::Store;
use crate::workspace::StoredHandoff;
use midstride_core::format::document::{Document, DocumentEditError};
use midstride_core::format::header::RevisionVerb;
use midstride_core::handoff::citation::{self, LineRange};
use midstride_core::handoff::drift::CitationStatus;
use midstride_core::text::span::Span;

/// The result of updating citations.
#[derive(Debug)]
pub struct CitationUpdate {
    /// How many citations were updated.
    pub citations: usize,
    /// The revision with the new lines.
    pub recorded: RecordedRevision,
}

/// Updates moved citations in one revision. Returns `None` if nothing moved.
pub fn update_moved_citations(
    store: &Store,
    stored: &StoredHandoff,
) -> Result<Option<CitationUpdate>, JournalError> {
    if stored.document.handoff_header().is_none() {
        return Ok(None);
    }
    let mut places = 0;
    let recorded = store.record_with_retry::<_, JournalError>(stored, |now| {
        let moved = find_moved_citations(store, now, &[CitationStatus::Moved])?;
        if moved.is_empty() {
            return Ok(Ok(None));
        }
        places = moved.len();
        let change = RevisionInfo::by_verb(RevisionVerb::Fix, "lines brought up to date", None);
        let next = replace_lines(&now.document, &moved)?;
        Ok(store.record(now, &next, &change, &|_| ()).map(Some))
    })?;
    Ok(recorded.map(|recorded| CitationUpdate { citations: places, recorded }))
}

/// Updates a document's citations to the current lines, including those whose code changed. Used
/// when the author confirms that its statements still hold.
pub(in crate::verbs) fn with_current_lines(
    store: &Store,
    stored: &StoredHandoff,
) -> Result<Document, JournalError> {
    let there =
        find_moved_citations(store, stored, &[CitationStatus::Moved, CitationStatus::Changed])?;
    Ok(replace_lines(&stored.document, &there)?)
}

fn replace_lines(
    document: &Document,
    there: &[(Span, LineRange)],
) -> Result<Document, DocumentEditError> {
    let refused = || DocumentEditError::WouldCorrupt("a citation".to_owned());
    citation::update_lines(document, there).ok_or_else(refused)
}

/// The citations with one of these statuses that are at other lines of the same file now.
fn find_moved_citations(
    store: &Store,
    stored: &StoredHandoff,
    statuses: &[CitationStatus],
) -> Result<Vec<(Span, LineRange)>, JournalError> {
    let checked = DriftChecker::new(store, CodeState::WorkTree)?.check(stored);
    let there =
        checked.iter().filter(|one| statuses.contains(&one.status) && one.is_in_cited_file());
    Ok(there.filter_map(|one| Some((one.place.at, one.location.as_ref()?.lines?))).collect())
}
