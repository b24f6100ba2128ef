//! What is wrong with a document because the code has moved on.

use super::{Change, Doubt, Judgement, Verdict};
use crate::format::finding::{Code, Finding};
use std::collections::BTreeSet;

/// The findings about judged citations of a document: a handoff that people call by a key, or a
/// note, which is nobody's to change.
pub fn findings(key: Option<&str>, judged: &[Judgement]) -> Vec<Finding> {
    let mut doubts = BTreeSet::new();
    judged.iter().filter_map(|one| finding(key, one, &mut doubts)).collect()
}

fn finding<'j>(
    key: Option<&str>,
    judged: &'j Judgement,
    doubts: &mut BTreeSet<&'j Doubt>,
) -> Option<Finding> {
    let place = &judged.place.value;
    let found = |code, message| Finding::new(code, judged.place.at, message);
    let now = judged.now.as_ref().map(ToString::to_string);
    match judged.verdict {
        Verdict::Intact | Verdict::NeverThere => None,
        Verdict::Moved => {
            let message = format!("`{place}` is now `{}`", now?);
            let finding = found(Code::CitationMoved, message);
            Some(match key {
                Some(key) => finding.run(["midstride", "check", "--fix", key]),
                None => finding.think("write where it is now"),
            })
        }
        Verdict::Changed => {
            let finding = found(Code::CitationChanged, changed(place, judged));
            let Some(key) = key else {
                return Some(finding.think("look whether what is said about it still holds"));
            };
            let held = format!("midstride review {key} --challenged \"{place}\" --verdict held");
            let advice = format!("revise what is said about it; if it still holds: {held}");
            Some(finding.think(advice))
        }
        Verdict::Renamed => {
            Some(found(Code::CitationRenamed, format!("`{place}` is now `{}`", now?)))
        }
        Verdict::Deleted => {
            let doubt = judged.why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
            Some(found(Code::CitationDeleted, format!("`{place}` is gone{doubt}")))
        }
        Verdict::NotJudged => {
            // Said once, at the first place it is about; that a note says nothing is no news.
            let why = judged.why.as_ref().filter(|why| **why != Doubt::NoBaseline)?;
            doubts.insert(why).then(|| {
                found(Code::CitationNotJudged, format!("`{place}` cannot be judged: {why}"))
            })
        }
    }
}

fn changed(place: &str, judged: &Judgement) -> String {
    let elsewhere = judged.now.as_ref().filter(|_| !judged.is_in_its_file());
    let elsewhere = elsewhere.map(|now| format!(" in `{}`", now.path)).unwrap_or_default();
    match &judged.change {
        Some(Change { was, is: Some(is) }) => {
            let there = judged.now.as_ref().and_then(|now| now.lines);
            let there = there.filter(|lines| !place.ends_with(&lines.to_string()));
            let there = there.map(|lines| format!(", in line {lines}")).unwrap_or_default();
            format!("`{place}` was `{was}`, and is `{is}` now{elsewhere}{there}")
        }
        Some(Change { was, is: None }) => {
            format!("`{place}` was `{was}`, which is gone{elsewhere}")
        }
        None => format!("`{place}` says something else now{elsewhere}"),
    }
}

impl Judgement {
    /// Whether the place is still in the file that is named.
    pub fn is_in_its_file(&self) -> bool {
        let named = self.place.value.split([':', '#']).next().unwrap_or_default();
        let named = named.trim_start_matches("../");
        self.now.as_ref().is_some_and(|now| now.path.ends_with(named))
    }
}
