//! Updates citations whose code moved to the current lines, for `check --fix`.

use crate::code::CodeState;
use crate::code::drift::DriftChecker;
use crate::journal::{JournalError, RecordedRevision, RevisionInfo};
use crate::store::Store;
use crate::workspace::StoredHandoff;
use midstride_core::format::document::{Document, DocumentEditError};
use midstride_core::format::header::RevisionVerb;
use midstride_core::handoff::citation::{self, LineRange};
use midstride_core::handoff::drift::{CitationCheck, CitationOutcome};
use midstride_core::text::span::Span;
use std::collections::BTreeMap;

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
        let located = locate_citations(store, now, CitationCheck::current_lines)?;
        let (next, updated) = update_lines(&now.document, &located)?;
        if updated == 0 {
            return Ok(Ok(None));
        }
        places = updated;
        let change = RevisionInfo::by_verb(RevisionVerb::Fix, "updated cited lines", None);
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
    let located = locate_citations(store, stored, lines_after_change)?;
    Ok(update_lines(&stored.document, &located)?.0)
}

fn update_lines(
    document: &Document,
    located: &BTreeMap<Span, LineRange>,
) -> Result<(Document, usize), DocumentEditError> {
    let refused = || DocumentEditError::WouldCorrupt("a citation".to_owned());
    citation::update_lines(document, located).ok_or_else(refused)
}

/// The current lines of citations, by the span of the citation.
fn locate_citations(
    store: &Store,
    stored: &StoredHandoff,
    locate: fn(&CitationCheck) -> Option<LineRange>,
) -> Result<BTreeMap<Span, LineRange>, JournalError> {
    let checked = DriftChecker::new(store, CodeState::WorkTree)?.check(stored);
    Ok(checked.iter().filter_map(|one| Some((one.place.at, locate(one)?))).collect())
}

/// The current lines, or those that replaced the cited ones.
fn lines_after_change(check: &CitationCheck) -> Option<LineRange> {
    match &check.outcome {
        CitationOutcome::Changed { location, .. } => {
            location.lines.filter(|_| location.is_in_cited_file(&check.place.value))
        }
        CitationOutcome::Intact(_)
        | CitationOutcome::Moved(_)
        | CitationOutcome::Renamed(_)
        | CitationOutcome::Deleted
        | CitationOutcome::NeverExisted
        | CitationOutcome::Unchecked => check.current_lines(),
    }
}
