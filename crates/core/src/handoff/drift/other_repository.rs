//! Recognizes a document that is about another repository.

use super::CitationCheck;
use crate::format::document::Document;
use crate::format::finding::{Code, Finding};
use crate::text::span::Span;
use std::collections::HashSet;

/// A document that cites fewer paths is too short to decide.
const PATHS_MIN: usize = 5;
/// At most one in this many paths may exist.
const PATHS_PER_EXISTING: usize = 10;
/// How many citations with lines, or commit ids, are proof. A plan for new files has neither.
const PROOFS_MIN: usize = 2;
/// Maximum number of commit ids to look for.
const COMMITS_MAX: usize = 8;
/// The length of a commit id.
const COMMIT_LENGTH: std::ops::RangeInclusive<usize> = 7..=40;

/// The finding for a document that does not match this repository. `has_commit` says whether a commit
/// exists, or `None` if that is unknown, as in a shallow clone.
pub fn other_repository_finding(
    document: &Document,
    checks: &[CitationCheck],
    has_commit: impl Fn(&str) -> Option<bool>,
) -> Option<Finding> {
    let paths: HashSet<&str> = checks.iter().map(CitationCheck::cited_path).collect();
    let lacking = checks.iter().filter(|check| check.lacks_path());
    let missing: HashSet<&str> = lacking.clone().map(CitationCheck::cited_path).collect();
    let existing = paths.len() - missing.len();
    if paths.len() < PATHS_MIN || existing * PATHS_PER_EXISTING > paths.len() {
        return None;
    }
    let with_lines: HashSet<&str> = lacking
        .filter(|check| check.place.value != check.cited_path())
        .map(CitationCheck::cited_path)
        .collect();
    let mut message = format!(
        "{} of the {} paths that this document cites never existed here",
        missing.len(),
        paths.len()
    );
    if with_lines.len() < PROOFS_MIN {
        let commits = commit_ids(document);
        let is_unknown = |commit: &&str| has_commit(commit) == Some(false);
        if commits.len() < PROOFS_MIN || !commits.iter().all(is_unknown) {
            return None;
        }
        message
            .push_str(&format!(", and neither does any of the {} commits it names", commits.len()));
    }
    let at = checks.iter().map(|check| check.place.at).min_by_key(|at| at.start);
    let finding = Finding::new(Code::OtherRepository, at.unwrap_or(Span::new(0, 0)), message);
    Some(finding.with_hint(
        "move the document to its repository, or keep it out of briefings with `midstride dismiss`",
    ))
}

/// The first commit ids that a document names: words of hexadecimal digits with both digits and letters.
fn commit_ids(document: &Document) -> Vec<&str> {
    let body = document.body().slice(document.text());
    let words = body.split(|c: char| !c.is_ascii_alphanumeric());
    let is_id = |word: &&str| {
        COMMIT_LENGTH.contains(&word.len())
            && word.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
            && word.contains(|c: char| c.is_ascii_digit())
            && word.contains(|c: char| c.is_ascii_alphabetic())
    };
    let mut seen = HashSet::new();
    words.filter(is_id).filter(|word| seen.insert(*word)).take(COMMITS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handoff::drift::{CitationDoubt, CitationOrigin, CitationOutcome};
    use crate::text::span::Spanned;

    fn check(place: &str, is_missing: bool) -> CitationCheck {
        CitationCheck {
            place: Spanned::new(place.to_owned(), Span::new(0, place.len())),
            statement: Span::new(0, 20),
            outcome: CitationOutcome::Unchecked,
            origin: CitationOrigin::None,
            file_changed: false,
            doubt: is_missing.then_some(CitationDoubt::UnknownPath),
            is_fixable: false,
            literals: Vec::new(),
        }
    }

    fn message(text: &str, places: &[&str], known: &[&str]) -> Option<String> {
        let document = Document::parse(text.as_bytes());
        let checks: Vec<CitationCheck> =
            places.iter().map(|place| check(place, !known.contains(place))).collect();
        let has_commit = |commit: &str| Some(commit == "b04d2fe");
        other_repository_finding(&document, &checks, has_commit).map(|finding| finding.message)
    }

    const PLAN: [&str; 5] = ["p/a.go", "p/b.go", "p/c.go", "p/d.go", "p/e.go"];

    #[test]
    fn a_plan_for_new_files_matches() {
        assert_eq!(message("Add them.", &PLAN, &[]), None);
        // Dates, words and versions are not commits.
        assert_eq!(message("On 20260515 the facade defaced 1234567.", &PLAN, &[]), None);
    }

    #[test]
    fn unknown_commits_or_lines_of_unknown_files_do_not_match() {
        let all = "5 of the 5 paths that this document cites never existed here";
        let commits = format!("{all}, and neither does any of the 2 commits it names");
        assert_eq!(message("At `0d75da1`, then 22621fd.", &PLAN, &[]), Some(commits));
        assert_eq!(message("At `0d75da1`, then b04d2fe.", &PLAN, &[]), None);
        let lines = ["p/a.go:3", "p/b.go:7-9", "p/c.go", "p/d.go", "p/e.go"];
        assert_eq!(message("Text.", &lines, &[]).as_deref(), Some(all));
        assert_eq!(message("Text.", &lines, &["p/c.go"]), None, "one in five exists");
        assert_eq!(message("Text.", &lines[..4], &[]), None);
    }
}
