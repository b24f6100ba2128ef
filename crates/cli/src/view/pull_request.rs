//! A handoff as the "Handoff Context" of a pull request.

use midstride::workspace::project::{Project, StoredHandoff};
use midstride_core::format::header::{Decision, Deviation};
use midstride_core::handoff::Handoff;
use midstride_core::text::span::Spanned;

const NONE: &str = "None.\n";
/// What a design decides was decided before the implementation, so these sections start empty.
const YOUR_DECISIONS: &str = "<!-- Each as `- Decision:` with a `Rationale:` below it. -->\n";
const YOUR_DEVIATIONS: &str = "<!-- Each as `- Deviation:` with `Reason:` and `Impact:`. -->\n";

pub(crate) fn text(project: &Project, shelved: &StoredHandoff) -> String {
    let handoff = shelved.handoff(project);
    let design = project.design_of(shelved);
    let is_design = design == shelved.path && handoff.stage().is_some();
    let name = handoff.title().or(handoff.description()).unwrap_or_default();
    let feature = format!("**Feature**: {} - {name}", handoff.id());
    let mut out = format!("## Handoff Context\n\n{}\n", feature.trim_end_matches([' ', '-']));
    out.push_str(&format!("**Design**: {}\n", design.display()));
    let implements = format!("**Implements**: {}", implements(&handoff, is_design));
    out.push_str(&format!("{}\n", implements.trim_end()));
    let (no_decisions, no_deviations) =
        if is_design { (YOUR_DECISIONS, YOUR_DEVIATIONS) } else { (NONE, NONE) };
    let decisions = handoff.decisions();
    let decisions = decisions.iter().filter(|_| !is_design).map(decision);
    section(&mut out, "Decisions Made During Implementation", decisions, no_decisions);
    let deviations = handoff.deviations();
    section(&mut out, "Deviations from Design", deviations.iter().map(deviation), no_deviations);
    let questions = handoff.questions();
    let open = (1..).zip(&questions).filter(|(_, one)| one.answer.is_none());
    let questions = open.map(|(number, one)| {
        let context = match one.context {
            // Where it was asked says what it is about.
            None if is_design => format!("Context: q{number} of {}", handoff.key()),
            context => line("Context", context),
        };
        format!("- {}\n  {context}\n", line("Question", one.question))
    });
    section(&mut out, "Open Questions for Review", questions, NONE);
    out
}

/// The sections of the design that this carries out; a design that was not divided up is carried out
/// whole.
fn implements(handoff: &Handoff<'_>, is_design: bool) -> String {
    let written: Vec<&str> = handoff.implements().iter().map(|item| item.value.trim()).collect();
    if !written.is_empty() || !is_design {
        return written.join(", ");
    }
    let sections = handoff.document().sections().iter().filter(|section| section.level == 2);
    let titles: Vec<&str> = sections.map(|section| section.title.value.trim()).collect();
    if titles.is_empty() { "the whole design".to_owned() } else { titles.join(", ") }
}

/// A section with its entries; where there are none, what to put there.
fn section(out: &mut String, title: &str, entries: impl Iterator<Item = String>, none: &str) {
    out.push_str(&format!("\n### {title}\n\n"));
    let entries: String = entries.collect();
    out.push_str(if entries.is_empty() { none } else { &entries });
}

fn line(name: &str, text: Option<Spanned<&str>>) -> String {
    let said = text.map_or("", |text| text.value.trim()).replace('\n', " ");
    format!("{name}: {said}").trim_end().to_owned()
}

fn decision(one: &Decision<'_>) -> String {
    format!("- {}\n  {}\n", line("Decision", one.decision), line("Rationale", one.rationale))
}

fn deviation(one: &Deviation<'_>) -> String {
    let (reason, impact) = (line("Reason", one.reason), line("Impact", one.impact));
    format!("- {}\n  {reason}\n  {impact}\n", line("Deviation", one.deviation))
}
