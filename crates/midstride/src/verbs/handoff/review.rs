//! Record that somebody called a handoff into question, and the correction with it.

use crate::journal::{JournalError, RecordedRevision, RevisionInfo};
use crate::verbs::handoff::apply::{ApplyError, apply};
use crate::verbs::handoff::revise::{self, ReviseError};
use crate::verbs::handoff::update_citations;
use crate::workspace::project::{Project, StoredHandoff};
use midstride_core::format::header::RevisionVerb;
use midstride_core::handoff::Handoff;
use midstride_core::handoff::lifecycle::{self, LifecycleRefusal, ReviewCorrection, ReviewVerdict};
use midstride_core::text::edit::Edit;

/// A review.
#[derive(Clone, Debug)]
pub struct ReviewRequest {
    /// Who looked at it.
    pub by: String,
    /// What was called into question.
    pub challenged: String,
    /// What came of it.
    pub verdict: ReviewVerdict,
    /// What is dropped over it.
    pub dropped: Option<ReviewCorrection>,
    /// The corrected text, with or without a header.
    pub text: Option<String>,
}

/// A review that was recorded.
#[derive(Debug)]
pub struct ReviewOutcome {
    /// The one revision that has all of it.
    pub recorded: RecordedRevision,
    /// Its reason.
    pub reason: String,
    /// Whether the text was corrected with it.
    pub has_correction: bool,
}

/// Why a review was not recorded.
#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    /// It does not fit the handoff.
    #[error(transparent)]
    Apply(#[from] ApplyError),
    /// The corrected text cannot take the place of the old one.
    #[error(transparent)]
    Revise(#[from] ReviseError),
}

/// Records a review, with what it dropped and the corrected text, as one revision.
pub fn review(
    project: &Project,
    shelved: &StoredHandoff,
    review: &ReviewRequest,
) -> Result<ReviewOutcome, ReviewError> {
    let now = project.environment().clock.now();
    let ReviewRequest { by, challenged, verdict, dropped, text } = review;
    let reason = format!("reviewed: {challenged} ({})", verdict.word());
    let change = RevisionInfo {
        // Who says that it holds has looked at the code as it is.
        is_compared: *verdict == ReviewVerdict::Held,
        ..RevisionInfo::by_verb(RevisionVerb::Review, reason.clone(), Some(by.clone()))
    };
    let decide = |handoff: &Handoff<'_>| {
        if text.is_some() && *verdict == ReviewVerdict::Held {
            return Err(LifecycleRefusal::HeldWithCorrection);
        }
        lifecycle::review(handoff, by, challenged, *verdict, dropped.as_ref(), now)
    };
    let Some(text) = text else {
        let recorded = record_without_text(project, shelved, &decide, &change)?;
        return Ok(ReviewOutcome { recorded, reason, has_correction: false });
    };
    let handoff = shelved.handoff(project);
    let key = handoff.key().to_string();
    let edits = decide(&handoff).map_err(|why| ApplyError::Refused { key, why })?;
    let next = revise::next_document(project, shelved, text)?;
    let corrected = next.text() != shelved.document.text();
    let recorded = record_with_text(project, shelved, &next, &edits, &change)?;
    Ok(ReviewOutcome { recorded, reason, has_correction: corrected })
}

/// Records a review that leaves the text as it is; only where its places are now is brought up by
/// whoever says that it holds.
fn record_without_text(
    project: &Project,
    shelved: &StoredHandoff,
    decide: &dyn Fn(&Handoff<'_>) -> Result<Vec<Edit>, LifecycleRefusal>,
    change: &RevisionInfo,
) -> Result<RecordedRevision, ApplyError> {
    if !change.is_compared || shelved.document.handoff_header().is_none() {
        return apply(project, shelved, decide, change);
    }
    project.record_with_retry(shelved, |now| {
        let handoff = now.handoff(project);
        let key = handoff.key().to_string();
        let edits = decide(&handoff).map_err(|why| ApplyError::Refused { key, why })?;
        let next = update_citations::with_current_lines(project, now)?;
        let (next, _) = next.edit(&edits).map_err(JournalError::from)?;
        Ok(project.record(now, &next, change, &|_| ()))
    })
}

/// Records the review in the corrected text.
fn record_with_text(
    project: &Project,
    shelved: &StoredHandoff,
    next: &midstride_core::format::document::Document,
    edits: &[Edit],
    change: &RevisionInfo,
) -> Result<RecordedRevision, ReviseError> {
    let (next, _) = next.edit(edits).map_err(JournalError::from)?;
    revise::record_merged(project, shelved, next, change)
}
