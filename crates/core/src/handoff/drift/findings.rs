//! Turns the results of the citation check into findings.

use super::{CitationCheck, CitationDoubt, CitationOutcome, CodeLocation, LineChange};
use crate::format::finding::{Code, Finding};
use std::collections::BTreeSet;

/// The findings for the checked citations of a document. `key` is the handoff's key; `None` for a
/// note, which midstride does not edit.
pub fn findings(key: Option<&str>, checks: &[CitationCheck]) -> Vec<Finding> {
    let mut doubts = BTreeSet::new();
    checks.iter().filter_map(|one| citation_finding(key, one, &mut doubts)).collect()
}

fn citation_finding<'j>(
    key: Option<&str>,
    check: &'j CitationCheck,
    doubts: &mut BTreeSet<&'j CitationDoubt>,
) -> Option<Finding> {
    let place = &check.place.value;
    let found = |code, message| Finding::new(code, check.place.at, message);
    match &check.outcome {
        CitationOutcome::Intact(_) | CitationOutcome::NeverExisted => None,
        CitationOutcome::Moved(now) => {
            let finding = found(Code::CitationMoved, format!("`{place}` is now `{now}`"));
            Some(match key.filter(|_| check.is_fixable) {
                Some(key) => finding.with_command(["midstride", "check", "--fix", key]),
                None => finding.with_hint("write where it is now"),
            })
        }
        CitationOutcome::Changed { location, change } => {
            let message = change_message(place, location, change.as_ref());
            let finding = found(Code::CitationChanged, message);
            let Some(key) = key else {
                return Some(finding.with_hint("look whether what is said about it still holds"));
            };
            let held = format!("midstride review {key} --challenged \"{place}\" --verdict held");
            let advice = format!("revise what is said about it; if it still holds: {held}");
            Some(finding.with_hint(advice))
        }
        CitationOutcome::Renamed(now) => {
            Some(found(Code::CitationRenamed, format!("`{place}` is now `{now}`")))
        }
        CitationOutcome::Deleted => {
            let doubt = check.doubt.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
            Some(found(Code::CitationDeleted, format!("`{place}` is gone{doubt}")))
        }
        CitationOutcome::Unchecked => {
            // Report each doubt once, at the first citation it affects. A note never has an origin,
            // so a missing one is not worth a finding.
            let why = check.doubt.as_ref().filter(|why| **why != CitationDoubt::NoOrigin)?;
            doubts.insert(why).then(|| {
                found(Code::CitationNotChecked, format!("`{place}` cannot be judged: {why}"))
            })
        }
    }
}

fn change_message(place: &str, now: &CodeLocation, change: Option<&LineChange>) -> String {
    let elsewhere = match now.is_in_cited_file(place) {
        true => String::new(),
        false => format!(" in `{}`", now.path),
    };
    match change {
        Some(LineChange { before: was, after: Some(is) }) => {
            let there = now.lines.filter(|lines| !place.ends_with(&lines.to_string()));
            let there = there.map(|lines| format!(", in line {lines}")).unwrap_or_default();
            format!("`{place}` was `{was}`, and is `{is}` now{elsewhere}{there}")
        }
        Some(LineChange { before: was, after: None }) => {
            format!("`{place}` was `{was}`, which is gone{elsewhere}")
        }
        None => format!("`{place}` says something else now{elsewhere}"),
    }
}

impl CodeLocation {
    /// Whether this is in the file that a citation names.
    pub fn is_in_cited_file(&self, citation: &str) -> bool {
        let cited_path = citation.split([':', '#']).next().unwrap_or_default();
        self.path.ends_with(cited_path.trim_start_matches("../"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::finding::FindingFix;
    use crate::handoff::citation::LineRange;
    use crate::handoff::drift::CitationOrigin;
    use crate::text::span::{Span, Spanned};

    fn check(place: &str, outcome: CitationOutcome) -> CitationCheck {
        CitationCheck {
            place: Spanned::new(place.to_owned(), Span::new(3, 3 + place.len())),
            statement: Span::new(0, 20),
            outcome,
            origin: CitationOrigin::Anchor,
            file_changed: false,
            doubt: None,
            is_fixable: true,
        }
    }

    fn location(path: &str, lines: Option<(usize, usize)>) -> CodeLocation {
        let lines = lines.map(|(first, last)| LineRange { first, last });
        CodeLocation { path: path.to_owned(), lines }
    }

    /// The code and message of the only finding.
    fn only_finding(key: Option<&str>, check: CitationCheck) -> (String, String) {
        let found = findings(key, &[check]);
        let [finding] = &found[..] else { panic!("not one finding: {found:?}") };
        (finding.code.to_string(), finding.message.clone())
    }

    #[test]
    fn a_moved_citation_is_always_d001() {
        let now = [
            (location("src/market.py", Some((14, 16))), "src/market.py:14-16"),
            (location("src/market.py", Some((7, 7))), "src/market.py:7"),
            (location("src/market.py", None), "src/market.py"),
            (location("lib/src/market.py", Some((3, 5))), "lib/src/market.py:3-5"),
        ];
        for (now, shown) in now {
            for key in [Some("y2038"), None] {
                let moved = check("src/market.py:12-14", CitationOutcome::Moved(now.clone()));
                let message = format!("`src/market.py:12-14` is now `{shown}`");
                assert_eq!(only_finding(key, moved), ("D001".to_owned(), message));
            }
        }
    }

    #[test]
    fn only_a_handoff_gets_the_command_that_updates_its_lines() {
        let moved = check("a.py:1", CitationOutcome::Moved(location("a.py", Some((2, 2)))));
        let fixes = |key| {
            let found = findings(key, std::slice::from_ref(&moved));
            found.into_iter().map(|finding| finding.fix).collect::<Vec<_>>()
        };
        let command = ["midstride", "check", "--fix", "y2038"].map(str::to_owned).to_vec();
        assert_eq!(fixes(Some("y2038")), [Some(FindingFix::Command(command))]);
        assert!(matches!(fixes(None)[..], [Some(FindingFix::Hint(_))]));
    }

    #[test]
    fn lines_that_cannot_be_rewritten_get_no_command() {
        let now = location("a.py", Some((2, 2)));
        let moved =
            CitationCheck { is_fixable: false, ..check("a.py:1", CitationOutcome::Moved(now)) };
        let found = findings(Some("y2038"), &[moved]);
        assert!(matches!(found[..], [Finding { fix: Some(FindingFix::Hint(_)), .. }]), "{found:?}");
    }

    #[test]
    fn each_outcome_has_its_code() {
        let at = || location("a.py", Some((2, 2)));
        let changed = CitationOutcome::Changed { location: at(), change: None };
        for (outcome, code) in [
            (CitationOutcome::Moved(at()), "D001"),
            (changed, "D002"),
            (CitationOutcome::Renamed(location("b.py", None)), "D003"),
            (CitationOutcome::Deleted, "D004"),
        ] {
            assert_eq!(only_finding(Some("y2038"), check("a.py:1", outcome)).0, code);
        }
        for outcome in [CitationOutcome::Intact(at()), CitationOutcome::NeverExisted] {
            assert_eq!(findings(Some("y2038"), &[check("a.py:1", outcome)]), []);
        }
    }
}
