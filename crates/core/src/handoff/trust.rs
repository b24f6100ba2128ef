//! Facts that show how far to trust a handoff. They are listed separately, never as one score.

use crate::format::header::{Proof, RecordedOutcome, Review, ReviewVerdict, Validation};
use crate::handoff::{Handoff, lifecycle};
use crate::text::time::Time;
use jiff::Timestamp;

/// The trust facts of one handoff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trust {
    /// When it was captured.
    pub captured: Option<Time>,
    /// When it was last changed.
    pub changed: Option<Time>,
    /// Whole days since it was captured; `None` if the time is unknown or in the future.
    pub age_days: Option<i64>,
    /// Whole days since it was last changed; `None` if the time is unknown or in the future.
    pub unchanged_days: Option<i64>,
    /// The number of revisions that changed its content.
    pub revisions: usize,
    /// The number of reviews, by verdict.
    pub reviews: ReviewCounts,
    /// The number of proofs, by the last recorded outcome.
    pub proofs: ProofCounts,
    /// The number of unanswered blocking questions.
    pub blocking_questions: usize,
    /// The number of assumptions that need validation and have none.
    pub unvalidated_assumptions: usize,
    /// The number of disproved assumptions.
    pub disproved_assumptions: usize,
    /// Whether it is closed. Open questions and assumptions no longer matter then.
    pub is_closed: bool,
}

/// Reviews by verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReviewCounts {
    /// The handoff was right.
    pub held: usize,
    /// Something was wrong and was corrected.
    pub corrected: usize,
    /// It was wrong.
    pub rejected: usize,
    /// The verdict is missing or unknown.
    pub unclear: usize,
}

/// Proofs by the outcome of their last run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProofCounts {
    /// The claim held.
    pub hold: usize,
    /// The claim did not hold.
    pub broken: usize,
    /// The command did not finish in time.
    pub timed_out: usize,
    /// No run is recorded.
    pub never_run: usize,
}

impl Trust {
    /// Collects the facts, as of `now`.
    pub fn from_handoff(handoff: &Handoff<'_>, now: Timestamp) -> Self {
        let (captured, changed) = (handoff.created(), handoff.changed());
        let assumptions = handoff.assumptions();
        Self {
            captured,
            changed,
            age_days: captured.and_then(|time| time.days_before(now)),
            unchanged_days: changed.and_then(|time| time.days_before(now)),
            revisions: lifecycle::content_revisions(handoff),
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

    /// The number of all reviews.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::document::Document;
    use crate::format::stage::Stages;
    use crate::handoff::Location;

    fn trust(text: &str) -> Trust {
        let document = Document::parse(text.as_bytes());
        let (location, stages) = (Location::default(), Stages::shipped());
        let now = "2026-03-25T17:23:59Z".parse().unwrap();
        Trust::from_handoff(&Handoff::new(&document, &location, &stages), now)
    }

    #[test]
    fn each_fact_is_counted() {
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
    fn only_changes_of_the_content_count_as_revisions() {
        let revisions = |entries: &[&str]| {
            let entries: String = entries.iter().map(|entry| format!("    - {entry}\n")).collect();
            trust(&format!("---\nhandoff:\n  id: a\n  revisions:\n{entries}---\n")).revisions
        };
        let lifecycle = ["start", "answer", "resolve", "advance", "share", "fmt", "fix", "verify"];
        for verb in lifecycle.into_iter().chain(["merge"]) {
            assert_eq!(revisions(&[&format!("{{verb: {verb}, reason: r}}")]), 0, "{verb}");
        }
        for verb in ["edit", "save", "outside", "unknown"] {
            assert_eq!(revisions(&[&format!("{{verb: {verb}, reason: r}}")]), 1, "{verb}");
        }
        assert_eq!(revisions(&["only text", "{reason: measured again}"]), 2);
        let review =
            |verdict: &str| format!("{{verb: review, reason: 'reviewed: all ({verdict})'}}");
        assert_eq!(revisions(&[&review("held"), &review("corrected"), &review("rejected")]), 1);
        // An undo counts like what it undoes.
        let undo = |made: usize| format!("{{verb: undo, reason: 'undo of @{made}: r'}}");
        assert_eq!(revisions(&["{verb: start, reason: r}", &undo(2)]), 0);
        assert_eq!(revisions(&["{reason: r}", &undo(2)]), 2);
        assert_eq!(revisions(&[&undo(9)]), 0);
    }

    #[test]
    fn dates_in_lines_of_older_documents_are_read() {
        let trust = trust("# A\n\nCaptured: 2026-03-20T17:24\nRevised: 2026-03-21 (code path)\n");
        assert_eq!((trust.age_days, trust.unchanged_days), (Some(4), Some(4)));
        assert_eq!(trust.revisions, 1);
    }

    #[test]
    fn an_unknown_or_future_time_has_no_age() {
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
