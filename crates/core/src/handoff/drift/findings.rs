//! Turns the results of the citation check into findings.

use super::{CitationCheck, CitationDoubt, CitationStatus, LineChange};
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
    let now = check.location.as_ref().map(ToString::to_string);
    match check.status {
        CitationStatus::Intact | CitationStatus::NeverExisted => None,
        CitationStatus::Moved => {
            let message = format!("`{place}` is now `{}`", now?);
            let finding = found(Code::CitationMoved, message);
            Some(match key {
                Some(key) => finding.with_command(["midstride", "check", "--fix", key]),
                None => finding.with_hint("write where it is now"),
            })
        }
        CitationStatus::Changed => {
            let finding = found(Code::CitationChanged, change_message(place, check));
            let Some(key) = key else {
                return Some(finding.with_hint("look whether what is said about it still holds"));
            };
            let held = format!("midstride review {key} --challenged \"{place}\" --verdict held");
            let advice = format!("revise what is said about it; if it still holds: {held}");
            Some(finding.with_hint(advice))
        }
        CitationStatus::Renamed => {
            Some(found(Code::CitationRenamed, format!("`{place}` is now `{}`", now?)))
        }
        CitationStatus::Deleted => {
            let doubt = check.doubt.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
            Some(found(Code::CitationDeleted, format!("`{place}` is gone{doubt}")))
        }
        CitationStatus::Unchecked => {
            // Report each doubt once, at the first citation it affects. A note never has an origin,
            // so a missing one is not worth a finding.
            let why = check.doubt.as_ref().filter(|why| **why != CitationDoubt::NoOrigin)?;
            doubts.insert(why).then(|| {
                found(Code::CitationNotChecked, format!("`{place}` cannot be judged: {why}"))
            })
        }
    }
}

fn change_message(place: &str, check: &CitationCheck) -> String {
    let elsewhere = check.location.as_ref().filter(|_| !check.is_in_cited_file());
    let elsewhere = elsewhere.map(|now| format!(" in `{}`", now.path)).unwrap_or_default();
    match &check.change {
        Some(LineChange { before: was, after: Some(is) }) => {
            let there = check.location.as_ref().and_then(|now| now.lines);
            let there = there.filter(|lines| !place.ends_with(&lines.to_string()));
            let there = there.map(|lines| format!(", in line {lines}")).unwrap_or_default();
            format!("`{place}` was `{was}`, and is `{is}` now{elsewhere}{there}")
        }
        Some(LineChange { before: was, after: None }) => {
            format!("`{place}` was `{was}`, which is gone{elsewhere}")
        }
        None => format!("`{place}` says something else now{elsewhere}"),
    }
}

impl CitationCheck {
    /// Whether the cited place is still in the file that the citation names.
    pub fn is_in_cited_file(&self) -> bool {
        let cited_path = self.place.value.split([':', '#']).next().unwrap_or_default();
        let cited_path = cited_path.trim_start_matches("../");
        self.location.as_ref().is_some_and(|now| now.path.ends_with(cited_path))
    }
}
