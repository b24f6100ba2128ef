//! Records a review of a handoff, together with its correction.

use crate::journal::{JournalError, RecordedRevision, RevisionInfo};
use crate::store::Store;
use crate::verbs::handoff::apply::{ApplyError, apply};
use crate::verbs::handoff::revise::{self, ReviseError};
use crate::verbs::handoff::update_citations;
use crate::workspace::StoredHandoff;
use midstride_core::format::header::RevisionVerb;
use midstride_core::handoff::Handoff;
use midstride_core::handoff::lifecycle::{self, LifecycleRefusal, ReviewCorrection, ReviewVerdict};
use midstride_core::text::edit::Edit;

/// A review.
#[derive(Clone, Debug)]
pub struct ReviewRequest {
    /// The reviewer.
    pub by: String,
    /// What was questioned.
    pub challenged: String,
    /// The verdict.
    pub verdict: ReviewVerdict,
    /// What the review drops.
    pub dropped: Option<ReviewCorrection>,
    /// The corrected text, with or without a header.
    pub text: Option<String>,
}

/// A review that was recorded.
#[derive(Debug)]
pub struct ReviewOutcome {
    /// The one revision that contains all of it.
    pub recorded: RecordedRevision,
    /// Its reason.
    pub reason: String,
    /// Whether the text was corrected, too.
    pub has_correction: bool,
}

/// Why a review was not recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReviewError {
    /// The review does not fit the handoff.
    #[error(transparent)]
    Apply(#[from] ApplyError),
    /// The corrected text cannot replace the old one.
    #[error(transparent)]
    Revise(#[from] ReviseError),
}

/// Records a review, what it dropped and the corrected text as one revision.
pub fn review(
    store: &Store,
    stored: &StoredHandoff,
    review: &ReviewRequest,
) -> Result<ReviewOutcome, ReviewError> {
    let workspace = store.workspace();
    let now = workspace.environment().clock.now();
    let ReviewRequest { by, challenged, verdict, dropped, text } = review;
    let by = &workspace.environment().author(Some(by));
    let reason = format!("reviewed: {challenged} ({})", verdict.word());
    let change = RevisionInfo {
        // A reviewer who confirms it has compared it with the current code.
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
        let recorded = record_without_text(store, stored, &decide, &change)?;
        return Ok(ReviewOutcome { recorded, reason, has_correction: false });
    };
    let handoff = stored.handoff(workspace);
    let key = handoff.key().to_string();
    let edits = decide(&handoff).map_err(|why| ApplyError::Refused { key, why })?;
    let next = revise::next_document(store, stored, text)?;
    let corrected = next.text() != stored.document.text();
    let recorded = record_with_text(store, stored, &next, &edits, &change)?;
    Ok(ReviewOutcome { recorded, reason, has_correction: corrected })
}

/// Records a review without a new text. If it confirms the handoff, the anchors of its citations
/// are updated.
fn record_without_text(
    store: &Store,
    stored: &StoredHandoff,
    decide: &dyn Fn(&Handoff<'_>) -> Result<Vec<Edit>, LifecycleRefusal>,
    change: &RevisionInfo,
) -> Result<RecordedRevision, ApplyError> {
    let workspace = store.workspace();
    if !change.is_compared || stored.document.handoff_header().is_none() {
        return apply(store, stored, decide, change);
    }
    store.record_with_retry(stored, |now| {
        let handoff = now.handoff(workspace);
        let key = handoff.key().to_string();
        let edits = decide(&handoff).map_err(|why| ApplyError::Refused { key, why })?;
        let next = update_citations::with_current_lines(store, now)?;
        let (next, _) = next.edit(&edits).map_err(JournalError::from)?;
        Ok(store.record(now, &next, change, &|_| ()))
    })
}

/// Records a review together with the corrected text.
fn record_with_text(
    store: &Store,
    stored: &StoredHandoff,
    next: &midstride_core::format::document::Document,
    edits: &[Edit],
    change: &RevisionInfo,
) -> Result<RecordedRevision, ReviseError> {
    let (next, _) = next.edit(edits).map_err(JournalError::from)?;
    revise::record_merged(store, stored, next, change)
}
