//! Rule 3: assumptions that need validation are validated, low confidence first, and nothing relies
//! on a disproved one.

use crate::format::finding::{Code, Finding};
use crate::format::header::{Assumption, Confidence, FromYaml, Validation};
use crate::handoff::Handoff;
use crate::text::yaml::YamlNode;
use std::collections::HashSet;

/// How many dependents of an assumption a hint names.
const DEPENDENTS_MAX: usize = 3;

pub(super) fn check(handoff: &Handoff<'_>, out: &mut Vec<Finding>) {
    for assumption in handoff.assumptions() {
        if assumption.validation == Validation::Disproved {
            out.push(disproved_finding(handoff, &assumption));
            continue;
        }
        if !assumption.needs_validation() {
            continue;
        }
        let code = match assumption.confidence {
            Some(Confidence::Low) => Code::AssumptionUnvalidated,
            Some(Confidence::Medium) | None => Code::AssumptionUnchecked,
            Some(Confidence::High) => continue,
        };
        let message = format!("an assumption is not validated: {}", assumption_text(&assumption));
        let finding = Finding::new(code, assumption_span(&assumption), message);
        out.push(finding.with_hint("validate it and set `validated: true` or `validated: failed`"));
    }
}

/// Finds assumptions without a `confidence`.
pub(super) fn check_confidence(handoff: &Handoff<'_>, out: &mut Vec<Finding>) {
    let items = handoff.node("assumptions").map(YamlNode::items).unwrap_or_default();
    for (number, item) in (1..).zip(items) {
        let Some(assumption) = Assumption::read(item) else { continue };
        // An unreadable value has its own finding.
        let is_rated = item.get("confidence").is_some_and(|node| !node.is_blank());
        if is_rated || assumption.validation != Validation::Pending {
            continue;
        }
        let message = format!("a{number} has no `confidence`");
        let finding = Finding::new(Code::AssumptionUnrated, assumption_span(&assumption), message);
        out.push(finding.with_hint("add `confidence: high`, `medium` or `low`"));
    }
}

fn assumption_text<'d>(assumption: &Assumption<'d>) -> &'d str {
    assumption.assumption.map_or("(no text)", |text| text.value.trim())
}

fn assumption_span(assumption: &Assumption<'_>) -> crate::text::span::Span {
    assumption.assumption.map_or(assumption.at, |text| text.at)
}

fn disproved_finding(handoff: &Handoff<'_>, assumption: &Assumption<'_>) -> Finding {
    let message = format!("an assumption was disproved: {}", assumption_text(assumption));
    let finding = Finding::new(Code::AssumptionDisproved, assumption_span(assumption), message);
    let found = dependents(handoff, assumption);
    let more = found.len().saturating_sub(DEPENDENTS_MAX);
    let mut named = found.into_iter().take(DEPENDENTS_MAX).collect::<Vec<String>>().join("; ");
    if more > 0 {
        named.push_str(&format!("; and {more} more"));
    }
    finding.with_hint(match named.as_str() {
        "" => "no decision or artifact refers to it; move it to `wrong_turns`".to_owned(),
        named => format!("revise what relies on it ({named}), then move it to `wrong_turns`"),
    })
}

/// The decisions that name the assumption or share words with it, and the downstream artifacts.
fn dependents(handoff: &Handoff<'_>, assumption: &Assumption<'_>) -> Vec<String> {
    let items = handoff.node("assumptions").map(YamlNode::items).unwrap_or_default();
    let number = items.iter().position(|item| item.at == assumption.at).map(|index| index + 1);
    let label = number.map(|number| format!("a{number}"));
    let words = significant_words(assumption_text(assumption));
    let relies_on_it = |text: &str| {
        let named = label.as_deref().is_some_and(|label| all_words(text).any(|word| word == label));
        named || significant_words(text).intersection(&words).count() >= 2
    };
    let decisions = handoff.decisions().into_iter().filter_map(|one| {
        let decision = one.decision?.value.trim();
        let rationale = one.rationale.map_or("", |text| text.value);
        let is_dependent = relies_on_it(decision) || relies_on_it(rationale);
        is_dependent.then(|| format!("decision \"{decision}\""))
    });
    let downstream = handoff.dependencies().downstream.into_iter();
    let downstream = downstream.filter_map(|one| Some(one.artifact?.value.trim().to_owned()));
    decisions.chain(downstream).collect()
}

/// Words that are long enough to be significant.
fn significant_words(text: &str) -> HashSet<String> {
    const LENGTH_MIN: usize = 5;
    all_words(text).filter(|word| word.chars().count() >= LENGTH_MIN).collect()
}

fn all_words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::document::Document;
    use crate::format::stage::Stages;
    use crate::handoff::Location;

    /// The code and hint of each finding.
    fn found(fields: &str) -> Vec<(Code, String)> {
        let text = format!("---\nhandoff:\n  id: x\n{fields}---\n");
        let document = Document::parse(text.as_bytes());
        let (location, stages) = (Location::default(), Stages::shipped());
        let mut out = Vec::new();
        check(&Handoff::new(&document, &location, &stages), &mut out);
        out.into_iter().map(|one| (one.code, format!("{:?}", one.fix))).collect()
    }

    #[test]
    fn a_disproved_assumption_needs_no_validation_and_names_its_dependents() {
        let disproved = "  assumptions:\n    - assumption: Snapshots restore across projects\n      confidence: low\n      validation_needed: true\n      validated: failed\n";
        let alone = found(disproved);
        assert_eq!(alone.len(), 1);
        assert_eq!(alone[0].0, Code::AssumptionDisproved);
        assert!(alone[0].1.contains("no decision or artifact refers to it"), "{}", alone[0].1);
        let decisions = "  decisions_made:\n    - decision: Copy by snapshots between projects\n    - decision: Bill by the hour\n    - decision: One button\n      rationale: follows from a1\n  dependencies:\n    downstream:\n      - artifact: designs/feat-042.md\n";
        let hint = &found(&format!("{disproved}{decisions}"))[0].1;
        for named in ["Copy by snapshots", "One button", "designs/feat-042.md"] {
            assert!(hint.contains(named), "{hint}");
        }
        assert!(!hint.contains("hour"), "{hint}");
    }

    #[test]
    fn an_unvalidated_assumption_is_reported() {
        let waits = "  assumptions:\n    - assumption: x\n      validation_needed: true\n      validated: false\n";
        assert_eq!(found(waits)[0].0, Code::AssumptionUnchecked);
        assert!(found("  assumptions:\n    - assumption: x\n      validated: yes\n").is_empty());
    }
}
