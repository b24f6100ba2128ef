//! Updates citations whose code moved to the current lines, for `check --fix`.

use crate::code::CodeState;
use crate::code::drift::DriftChecker;
use crate::journal::{JournalError, RecordedRevision, RevisionInfo};
use crate::store::Store;
use crate::workspace::StoredHandoff;
use midstride_core::format::document::{Document, DocumentEditError};
use midstride_core::format::header::RevisionVerb;
use midstride_core::handoff::citation::{self, LineRange};
use midstride_core::handoff::drift::{CitationCheck, CitationOutcome, CodeLocation};
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
        let moved = find_moved_citations(store, now, moved_location)?;
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
    let there = find_moved_citations(store, stored, moved_or_changed_location)?;
    Ok(replace_lines(&stored.document, &there)?)
}

fn replace_lines(
    document: &Document,
    there: &[(Span, LineRange)],
) -> Result<Document, DocumentEditError> {
    let refused = || DocumentEditError::WouldCorrupt("a citation".to_owned());
    citation::update_lines(document, there).ok_or_else(refused)
}

/// The citations that `locate` finds at other lines of the same file now.
fn find_moved_citations(
    store: &Store,
    stored: &StoredHandoff,
    locate: fn(&CitationOutcome) -> Option<&CodeLocation>,
) -> Result<Vec<(Span, LineRange)>, JournalError> {
    let checked = DriftChecker::new(store, CodeState::WorkTree)?.check(stored);
    let moved = |one: &CitationCheck| {
        let location = locate(&one.outcome)?;
        let lines = location.lines.filter(|_| location.is_in_cited_file(&one.place.value))?;
        Some((one.place.at, lines))
    };
    Ok(checked.iter().filter_map(moved).collect())
}

/// Where moved lines are now.
fn moved_location(outcome: &CitationOutcome) -> Option<&CodeLocation> {
    match outcome {
        CitationOutcome::Moved(location) => Some(location),
        CitationOutcome::Intact(_)
        | CitationOutcome::Changed { .. }
        | CitationOutcome::Renamed(_)
        | CitationOutcome::Deleted
        | CitationOutcome::NeverExisted
        | CitationOutcome::Unchecked => None,
    }
}

/// Where moved or changed lines are now.
fn moved_or_changed_location(outcome: &CitationOutcome) -> Option<&CodeLocation> {
    match outcome {
        CitationOutcome::Moved(location) | CitationOutcome::Changed { location, .. } => {
            Some(location)
        }
        CitationOutcome::Intact(_)
        | CitationOutcome::Renamed(_)
        | CitationOutcome::Deleted
        | CitationOutcome::NeverExisted
        | CitationOutcome::Unchecked => None,
    }
}
