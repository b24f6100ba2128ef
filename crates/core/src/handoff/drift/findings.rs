//! What is wrong with a document because the code has moved on.

use super::{CitationCheck, CitationDoubt, CitationStatus, LineChange};
use crate::format::finding::{Code, Finding};
use std::collections::BTreeSet;

/// The findings about judged citations of a document: a handoff that people call by a key, or a
/// note, which is nobody's to change.
pub fn findings(key: Option<&str>, judged: &[CitationCheck]) -> Vec<Finding> {
    let mut doubts = BTreeSet::new();
    judged.iter().filter_map(|one| citation_finding(key, one, &mut doubts)).collect()
}

fn citation_finding<'j>(
    key: Option<&str>,
    judged: &'j CitationCheck,
    doubts: &mut BTreeSet<&'j CitationDoubt>,
) -> Option<Finding> {
    let place = &judged.place.value;
    let found = |code, message| Finding::new(code, judged.place.at, message);
    let now = judged.location.as_ref().map(ToString::to_string);
    match judged.status {
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
            let finding = found(Code::CitationChanged, change_message(place, judged));
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
            let doubt = judged.doubt.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
            Some(found(Code::CitationDeleted, format!("`{place}` is gone{doubt}")))
        }
        CitationStatus::Unchecked => {
            // Said once, at the first place it is about; that a note says nothing is no news.
            let why = judged.doubt.as_ref().filter(|why| **why != CitationDoubt::NoOrigin)?;
            doubts.insert(why).then(|| {
                found(Code::CitationNotChecked, format!("`{place}` cannot be judged: {why}"))
            })
        }
    }
}

fn change_message(place: &str, judged: &CitationCheck) -> String {
    let elsewhere = judged.location.as_ref().filter(|_| !judged.is_in_cited_file());
    let elsewhere = elsewhere.map(|now| format!(" in `{}`", now.path)).unwrap_or_default();
    match &judged.change {
        Some(LineChange { before: was, after: Some(is) }) => {
            let there = judged.location.as_ref().and_then(|now| now.lines);
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
    /// Whether the place is still in the file that is named.
    pub fn is_in_cited_file(&self) -> bool {
        let named = self.place.value.split([':', '#']).next().unwrap_or_default();
        let named = named.trim_start_matches("../");
        self.location.as_ref().is_some_and(|now| now.path.ends_with(named))
    }
}
