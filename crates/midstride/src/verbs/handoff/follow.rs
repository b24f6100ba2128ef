//! Follow what moved: write the lines where cited places are now. What `check --fix` does.

use crate::code::drift::{Drift, Ground};
use crate::journal::{Change, JournalError, Recorded};
use crate::workspace::project::{Project, Shelved};
use midstride_core::format::document::{Document, DocumentEditError};
use midstride_core::format::header::RevisionVerb;
use midstride_core::handoff::citation::{self, LineRange};
use midstride_core::handoff::drift::CitationStatus;
use midstride_core::text::span::Span;

/// What came of following.
#[derive(Debug)]
pub struct Followed {
    /// How many places were written anew.
    pub places: usize,
    /// The revision that has them.
    pub recorded: Recorded,
}

/// Writes where moved places are now, as one revision; `None` where nothing moved.
pub fn follow(project: &Project, shelved: &Shelved) -> Result<Option<Followed>, JournalError> {
    if shelved.document.handoff_header().is_none() {
        return Ok(None);
    }
    let mut places = 0;
    let recorded = project.record_in_turn::<_, JournalError>(shelved, |now| {
        let moved = elsewhere(project, now, &[CitationStatus::Moved])?;
        if moved.is_empty() {
            return Ok(Ok(None));
        }
        places = moved.len();
        let change = Change::by_verb(RevisionVerb::Fix, "lines brought up to date", None);
        let next = written(&now.document, &moved)?;
        Ok(project.record(now, &next, &change, &|_| ()).map(Some))
    })?;
    Ok(recorded.map(|recorded| Followed { places, recorded }))
}

/// A document with the lines where its places are now, those too that read differently: for
/// whoever says that what it tells still holds.
pub(in crate::verbs) fn brought_up(
    project: &Project,
    shelved: &Shelved,
) -> Result<Document, JournalError> {
    let there = elsewhere(project, shelved, &[CitationStatus::Moved, CitationStatus::Changed])?;
    Ok(written(&shelved.document, &there)?)
}

fn written(
    document: &Document,
    there: &[(Span, LineRange)],
) -> Result<Document, DocumentEditError> {
    let refused = || DocumentEditError::WouldCorrupt("a citation".to_owned());
    citation::update_lines(document, there).ok_or_else(refused)
}

/// The places of some fates that stand in other lines of the same file now.
fn elsewhere(
    project: &Project,
    shelved: &Shelved,
    fates: &[CitationStatus],
) -> Result<Vec<(Span, LineRange)>, JournalError> {
    let judged = Drift::against(project, Ground::WorkTree)?.judge(shelved);
    let there = judged.iter().filter(|one| fates.contains(&one.status) && one.is_in_cited_file());
    Ok(there.filter_map(|one| Some((one.place.at, one.location.as_ref()?.lines?))).collect())
}
