//! Renders the facts that show how far to trust a handoff.

use super::{count, times};
use midstride::workspace::Workspace;
use midstride_core::handoff::Handoff;
use midstride_core::handoff::trust::{ProofCounts, ReviewCounts, Trust};
use midstride_core::text::time::Time;
use serde::Serialize;

#[derive(Serialize)]
pub(crate) struct TrustJson {
    age_days: Option<i64>,
    unchanged_days: Option<i64>,
    revisions: usize,
    reviews: ReviewCountsJson,
    proofs: ProofCountsJson,
    blocking_questions: usize,
    unvalidated_assumptions: usize,
    disproved_assumptions: usize,
    ended: bool,
}

#[derive(Serialize)]
struct ReviewCountsJson {
    held: usize,
    corrected: usize,
    rejected: usize,
    unclear: usize,
}

#[derive(Serialize)]
struct ProofCountsJson {
    hold: usize,
    broken: usize,
    timed_out: usize,
    never_run: usize,
}

/// The current trust facts of a handoff.
pub(super) fn read_trust(workspace: &Workspace, handoff: &Handoff<'_>) -> Trust {
    Trust::from_handoff(handoff, workspace.environment().clock.now())
}

pub(super) fn json(trust: &Trust) -> TrustJson {
    let ReviewCounts { held, corrected, rejected, unclear } = trust.reviews;
    let ProofCounts { hold, broken, timed_out, never_run } = trust.proofs;
    TrustJson {
        age_days: trust.age_days,
        unchanged_days: trust.unchanged_days,
        revisions: trust.revisions,
        reviews: ReviewCountsJson { held, corrected, rejected, unclear },
        proofs: ProofCountsJson { hold, broken, timed_out, never_run },
        blocking_questions: trust.blocking_questions,
        unvalidated_assumptions: trust.unvalidated_assumptions,
        disproved_assumptions: trust.disproved_assumptions,
        ended: trust.is_closed,
    }
}

/// The facts in one line. For a handoff, "never reviewed" is a fact too; for a note it is not.
pub(super) fn line(trust: &Trust, is_handoff: bool) -> String {
    let changed = trust.changed.filter(|_| trust.changed != trust.captured);
    let facts = [
        dated_fact("captured", trust.captured, trust.age_days)
            .or_else(|| is_handoff.then(|| "captured at an unknown time".to_owned())),
        dated_fact("changed", changed, trust.unchanged_days),
        repeated_fact("revised", trust.revisions, is_handoff),
        repeated_fact("reviewed", trust.reviews.total(), is_handoff)
            .map(|reviewed| reviewed + &verdicts_text(trust.reviews)),
        proofs_text(trust.proofs),
        questions(trust),
        assumptions(trust),
        disproved(trust),
    ];
    facts.into_iter().flatten().collect::<Vec<String>>().join(" · ")
}

fn dated_fact(what: &str, time: Option<Time>, days: Option<i64>) -> Option<String> {
    let ago = match days {
        None => String::new(),
        Some(0) => " (less than a day ago)".to_owned(),
        Some(1) => " (1 day ago)".to_owned(),
        Some(days) => format!(" ({days} days ago)"),
    };
    time.map(|time| format!("{what} {}{ago}", time.moment.strftime("%Y-%m-%d")))
}

fn repeated_fact(what: &str, number: usize, or_never: bool) -> Option<String> {
    match number {
        0 => or_never.then(|| format!("never {what}")),
        number => Some(format!("{what} {}", times(number))),
    }
}

fn verdicts_text(reviews: ReviewCounts) -> String {
    let ReviewCounts { held, corrected, rejected, unclear } = reviews;
    let parts =
        [(held, "held"), (corrected, "corrected"), (rejected, "rejected"), (unclear, "unclear")];
    let parts = nonzero_counts(&parts);
    if parts.is_empty() { String::new() } else { format!(" ({parts})") }
}

/// `1 held, 2 rejected`.
fn nonzero_counts(parts: &[(usize, &str)]) -> String {
    let there = parts.iter().filter(|(number, _)| *number > 0);
    there.map(|(number, word)| format!("{number} {word}")).collect::<Vec<String>>().join(", ")
}

/// The results of the last recorded proof runs.
fn proofs_text(proofs: ProofCounts) -> Option<String> {
    let ProofCounts { hold, broken, timed_out, never_run } = proofs;
    let total = hold + broken + timed_out + never_run;
    let parts =
        [(hold, "held"), (broken, "broken"), (timed_out, "timed out"), (never_run, "never run")];
    (total > 0).then(|| format!("{} ({})", count(total, "proof"), nonzero_counts(&parts)))
}

fn questions(trust: &Trust) -> Option<String> {
    let text = match (trust.blocking_questions, trust.is_closed) {
        (0, _) => return None,
        (number, true) => format!("{} never answered", count(number, "question")),
        (1, false) => "1 blocking question".to_owned(),
        (number, false) => format!("{number} blocking questions"),
    };
    Some(text)
}

fn assumptions(trust: &Trust) -> Option<String> {
    let never = if trust.is_closed { "never" } else { "not" };
    let number = trust.unvalidated_assumptions;
    (number > 0).then(|| format!("{} {never} validated", count(number, "assumption")))
}

fn disproved(trust: &Trust) -> Option<String> {
    let number = trust.disproved_assumptions;
    (number > 0).then(|| format!("{} disproved", count(number, "assumption")))
}

/// The number of reviews, and how many rejected the handoff.
pub(super) fn review_count(reviews: ReviewCounts) -> String {
    match (reviews.total(), reviews.rejected) {
        (0, _) => String::new(),
        (total, 0) => total.to_string(),
        (total, rejected) => format!("{total} ({rejected} rejected)"),
    }
}

/// What still has to be answered or validated; empty for a closed handoff.
pub(super) fn open_items(trust: &Trust) -> String {
    let parts =
        [(trust.blocking_questions, "question"), (trust.unvalidated_assumptions, "assumption")];
    let open = parts.into_iter().filter(|(number, _)| *number > 0 && !trust.is_closed);
    open.map(|(number, noun)| count(number, noun)).collect::<Vec<String>>().join(", ")
}
