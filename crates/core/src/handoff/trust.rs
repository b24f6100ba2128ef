//! What tells how far a handoff can be trusted: facts side by side, never one score.

use crate::format::header::{Proof, RecordedOutcome, Review, ReviewVerdict, Validation};
use crate::handoff::Handoff;
use crate::text::time::Time;
use jiff::Timestamp;

/// The facts about one handoff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trust {
    /// When it was captured.
    pub captured: Option<Time>,
    /// When it was last changed.
    pub changed: Option<Time>,
    /// Whole days since it was captured; none where the time is not known or lies ahead.
    pub age_days: Option<i64>,
    /// Whole days since it was last changed; none where the time is not known or lies ahead.
    pub unchanged_days: Option<i64>,
    /// How many revisions it has.
    pub revisions: usize,
    /// How often it was called into question, and what came of it.
    pub reviews: ReviewCounts,
    /// What came of its proofs when they were last run, as the document tells it.
    pub proofs: ProofCounts,
    /// Blocking questions without an answer.
    pub blocking_questions: usize,
    /// Assumptions that ask for validation and have none.
    pub unvalidated_assumptions: usize,
    /// Assumptions that do not hold.
    pub disproved_assumptions: usize,
    /// Whether its life is over: what it left open holds nobody up any more.
    pub is_closed: bool,
}

/// Reviews by what came of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReviewCounts {
    /// The handoff was right.
    pub held: usize,
    /// Something was wrong and is corrected.
    pub corrected: usize,
    /// It was wrong.
    pub rejected: usize,
    /// No known word says what came of it.
    pub unclear: usize,
}

/// Proofs by what came of them when they were last run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProofCounts {
    /// The claim held.
    pub hold: usize,
    /// It did not.
    pub broken: usize,
    /// The command did not end in time.
    pub timed_out: usize,
    /// Nobody recorded a run.
    pub never_run: usize,
}

impl Trust {
    /// Gathers the facts as they are now.
    pub fn from_handoff(handoff: &Handoff<'_>, now: Timestamp) -> Self {
        let (captured, changed) = (handoff.created(), handoff.changed());
        let assumptions = handoff.assumptions();
        Self {
            captured,
            changed,
            age_days: captured.and_then(|time| time.days_before(now)),
            unchanged_days: changed.and_then(|time| time.days_before(now)),
            revisions: handoff.revisions().len(),
            reviews: ReviewCounts::count(&handoff.reviews()),
            proofs: ProofCounts::count(&handoff.proofs()),
            blocking_questions: handoff.questions().iter().filter(|q| q.blocks()).count(),
            unvalidated_assumptions: assumptions
                .iter()
                .filter(|assumption| assumption.needs_validation())
                .count(),
            disproved_assumptions: assumptions
                .iter()
                .filter(|assumption| assumption.validation == Validation::Disproved)
                .count(),
            is_closed: !handoff.status().is_open(),
        }
    }
}

impl ReviewCounts {
    fn count(reviews: &[Review<'_>]) -> Self {
        let count = |verdict| reviews.iter().filter(|review| review.verdict == verdict).count();
        Self {
            held: count(Some(ReviewVerdict::Held)),
            corrected: count(Some(ReviewVerdict::Corrected)),
            rejected: count(Some(ReviewVerdict::Rejected)),
            unclear: count(None),
        }
    }

    /// All of them.
    pub fn total(self) -> usize {
        self.held + self.corrected + self.rejected + self.unclear
    }
}

impl ProofCounts {
    fn count(proofs: &[(usize, Proof<'_>)]) -> Self {
        let last = |proof: &Proof<'_>| proof.last.as_ref().and_then(|last| last.outcome);
        let count = |wanted| proofs.iter().filter(|(_, proof)| last(proof) == wanted).count();
        Self {
            hold: count(Some(RecordedOutcome::Holds)),
            broken: count(Some(RecordedOutcome::Broken)),
            timed_out: count(Some(RecordedOutcome::TimedOut)),
            never_run: count(None),
        }
    }
}

/// Whole days gone by. A time ahead of the clock tells nothing: one of the two is wrong.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::document::Document;
    use crate::format::stage::Stages;
    use crate::handoff::Location;

    fn trust(text: &str) -> Trust {
        let document = Document::parse(text.as_bytes());
        let (whereabouts, stages) = (Location::default(), Stages::shipped());
        let now = "2026-03-25T17:23:59Z".parse().unwrap();
        Trust::from_handoff(&Handoff::new(&document, &whereabouts, &stages), now)
    }

    #[test]
    fn the_facts_are_counted_one_by_one() {
        let trust = trust(
            "---
handoff:
  id: a
  created: 2026-03-21T17:24:00Z
  open_questions:
    - question: q
      blocking: true
    - question: r
      blocking: true
      answer: yes
    - question: s
  assumptions:
    - assumption: a
      validation_needed: true
    - assumption: b
      validation_needed: true
      validated: true
    - assumption: c
    - assumption: d
      validation_needed: true
      validated: failed
  proofs:
    - claim: p
      last: {outcome: holds}
    - claim: q
      last: {outcome: BROKEN}
    - claim: r
      last: {outcome: timed out}
    - claim: s
    - claim: t
      last: {outcome: purple}
  reviews:
    - verdict: held
    - verdict: CORRECTED (twice)
    - verdict: purple
    - only text
  revisions:
    - at: 2026-03-24T17:23:59Z
      reason: r
---
",
        );
        assert_eq!((trust.age_days, trust.unchanged_days), (Some(3), Some(1)));
        assert_eq!(trust.revisions, 1);
        let reviews = ReviewCounts { held: 1, corrected: 1, rejected: 0, unclear: 2 };
        assert_eq!((trust.reviews, trust.reviews.total()), (reviews, 4));
        assert_eq!((trust.blocking_questions, trust.unvalidated_assumptions), (1, 1));
        assert_eq!(trust.disproved_assumptions, 1);
        let proofs = ProofCounts { hold: 1, broken: 1, timed_out: 1, never_run: 2 };
        assert_eq!(trust.proofs, proofs);
        assert!(!trust.is_closed);
    }

    #[test]
    fn older_documents_tell_it_in_lines() {
        let trust = trust("# A\n\nCaptured: 2026-03-20T17:24\nRevised: 2026-03-21 (code path)\n");
        assert_eq!((trust.age_days, trust.unchanged_days), (Some(4), Some(4)));
        assert_eq!(trust.revisions, 1);
    }

    #[test]
    fn what_is_not_known_or_lies_ahead_has_no_age() {
        let nothing = trust("");
        assert_eq!(
            (nothing.captured, nothing.age_days, nothing.unchanged_days),
            (None, None, None)
        );
        let ahead = trust("---\nhandoff:\n  created: 2026-03-25T17:24:00Z\n  status: DONE\n---\n");
        assert_eq!((ahead.captured.is_some(), ahead.age_days), (true, None));
        assert!(ahead.is_closed);
    }
}
