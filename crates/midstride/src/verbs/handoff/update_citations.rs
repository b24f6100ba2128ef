//! Follow what moved: write the lines where cited places are now. What `check --fix` does.

use crate::code::drift::{CodeState, DriftChecker};
use crate::journal::{JournalError, RecordedRevision, RevisionInfo};
use crate::workspace::project::{Project, StoredHandoff};
use midstride_core::format::document::{Document, DocumentEditError};
use midstride_core::format::header::RevisionVerb;
use midstride_core::handoff::citation::{self, LineRange};
use midstride_core::handoff::drift::CitationStatus;
use midstride_core::text::span::Span;

/// What came of following.
#[derive(Debug)]
pub struct CitationUpdate {
    /// How many places were written anew.
    pub citations: usize,
    /// The revision that has them.
    pub recorded: RecordedRevision,
}

/// Writes where moved places are now, as one revision; `None` where nothing moved.
pub fn update_moved_citations(
    project: &Project,
    shelved: &StoredHandoff,
) -> Result<Option<CitationUpdate>, JournalError> {
    if shelved.document.handoff_header().is_none() {
        return Ok(None);
    }
    let mut places = 0;
    let recorded = project.record_with_retry::<_, JournalError>(shelved, |now| {
        let moved = find_moved_citations(project, now, &[CitationStatus::Moved])?;
        if moved.is_empty() {
            return Ok(Ok(None));
        }
        places = moved.len();
        let change = RevisionInfo::by_verb(RevisionVerb::Fix, "lines brought up to date", None);
        let next = replace_lines(&now.document, &moved)?;
        Ok(project.record(now, &next, &change, &|_| ()).map(Some))
    })?;
    Ok(recorded.map(|recorded| CitationUpdate { citations: places, recorded }))
}

/// A document with the lines where its places are now, those too that read differently: for
/// whoever says that what it tells still holds.
pub(in crate::verbs) fn with_current_lines(
    project: &Project,
    shelved: &StoredHandoff,
) -> Result<Document, JournalError> {
    let there =
        find_moved_citations(project, shelved, &[CitationStatus::Moved, CitationStatus::Changed])?;
    Ok(replace_lines(&shelved.document, &there)?)
}

fn replace_lines(
    document: &Document,
    there: &[(Span, LineRange)],
) -> Result<Document, DocumentEditError> {
    let refused = || DocumentEditError::WouldCorrupt("a citation".to_owned());
    citation::update_lines(document, there).ok_or_else(refused)
}

/// The places of some fates that stand in other lines of the same file now.
fn find_moved_citations(
    project: &Project,
    shelved: &StoredHandoff,
    fates: &[CitationStatus],
) -> Result<Vec<(Span, LineRange)>, JournalError> {
    let judged = DriftChecker::new(project, CodeState::WorkTree)?.check(shelved);
    let there = judged.iter().filter(|one| fates.contains(&one.status) && one.is_in_cited_file());
    Ok(there.filter_map(|one| Some((one.place.at, one.location.as_ref()?.lines?))).collect())
}
