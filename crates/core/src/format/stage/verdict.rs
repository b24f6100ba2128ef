//! The verdict of a review stage: a decision that says `approved` or `blocked`.

use crate::format::header::Decision;

/// The verdict of a review stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StageVerdict {
    /// The work may continue.
    Approved,
    /// The work may not continue.
    Blocked,
}

const APPROVED: [&str; 5] = ["approved", "approve", "accepted", "passed", "passes"];
const BLOCKED: [&str; 6] = ["blocked", "blocks", "block", "rejected", "failed", "fails"];
const NEGATIONS: [&str; 3] = ["not", "never", "isn't"];
/// Words that may start a verdict, before the decision itself.
const SUBJECTS: [&str; 5] = ["the", "code", "review", "verdict", "decision"];

impl StageVerdict {
    /// Whether the verdict blocks the work.
    pub(crate) fn blocks(self) -> bool {
        self == Self::Blocked
    }

    /// Parses a verdict: `Review approved`, `Verdict: changes requested`, `Blocked`. Other
    /// decisions are not verdicts, even if they are about blocking something.
    fn parse(decision: &str) -> Option<Self> {
        let lower = decision.to_lowercase();
        let words: Vec<&str> = lower
            .split(|c: char| !c.is_alphanumeric() && c != '\'')
            .filter(|word| !word.is_empty())
            .collect();
        let is_about_review = words.iter().take_while(|word| SUBJECTS.contains(word)).count() > 0
            && words.iter().take(SUBJECTS.len()).any(|word| matches!(*word, "review" | "verdict"));
        if !is_about_review && words.len() > 1 && words != ["changes", "requested"] {
            return None;
        }
        words.iter().enumerate().find_map(|(at, word)| {
            let is_negated = at.checked_sub(1).is_some_and(|at| NEGATIONS.contains(&words[at]));
            let requests = matches!(*word, "changes" | "change")
                && words.get(at + 1).is_some_and(|next| matches!(*next, "requested" | "required"));
            match (APPROVED.contains(word), BLOCKED.contains(word) || requests, is_negated) {
                (true, _, false) | (false, true, true) => Some(Self::Approved),
                (true, _, true) | (false, true, false) => Some(Self::Blocked),
                (false, false, _) => None,
            }
        })
    }
}

/// The last verdict in the decisions, with its text.
pub(crate) fn last_verdict<'d>(decisions: &[Decision<'d>]) -> Option<(StageVerdict, &'d str)> {
    decisions.iter().rev().find_map(|one| {
        let text = one.decision?.value;
        Some((StageVerdict::parse(text)?, text))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_decisive_word_sets_the_verdict() {
        for (text, expected) in [
            ("Review approved", Some(StageVerdict::Approved)),
            ("Review approved; no issue blocks the release", Some(StageVerdict::Approved)),
            ("Review: not approved", Some(StageVerdict::Blocked)),
            ("Review blocked", Some(StageVerdict::Blocked)),
            ("Review blocked until q1 is approved", Some(StageVerdict::Blocked)),
            ("The code review is not blocked", Some(StageVerdict::Approved)),
            ("Verdict: changes requested", Some(StageVerdict::Blocked)),
            ("Changes requested", Some(StageVerdict::Blocked)),
            ("BLOCKED", Some(StageVerdict::Blocked)),
            ("approved", Some(StageVerdict::Approved)),
            ("Review every upload by hand", None),
            ("Uploads over 5 MB are blocked", None),
            ("Block uploads over 5 MB", None),
            ("", None),
        ] {
            assert_eq!(StageVerdict::parse(text), expected, "{text}");
        }
    }
}
