//! Renders a handoff as the "Handoff Context" section of a pull request.

use midstride::workspace::{Catalog, StoredHandoff, Workspace};
use midstride_core::format::header::{Decision, Deviation};
use midstride_core::handoff::Handoff;
use midstride_core::text::span::Spanned;

const NONE: &str = "None.\n";
/// Placeholders for a design: its decisions predate the implementation, so these sections start
/// empty.
const YOUR_DECISIONS: &str = "<!-- Write each as `- Decision:` with a `Rationale:` below it. -->\n";
const YOUR_DEVIATIONS: &str =
    "<!-- Write each as `- Deviation:` with `Reason:` and `Impact:`. -->\n";

/// The section for a pull request, as Markdown.
pub fn text(workspace: &Workspace, stored: &StoredHandoff) -> String {
    let handoff = stored.handoff(workspace);
    let design = Catalog::new(workspace).design_of(stored);
    let is_design = design == stored.path && handoff.stage().is_some();
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
            // Without a context, name the question it comes from.
            None if is_design => format!("Context: q{number} of {}", handoff.key()),
            context => line("Context", context),
        };
        format!("- {}\n  {context}\n", line("Question", one.question))
    });
    section(&mut out, "Open Questions for Review", questions, NONE);
    out
}

/// The sections of the design that the handoff implements; by default, all sections of the design.
fn implements(handoff: &Handoff<'_>, is_design: bool) -> String {
    let written: Vec<&str> = handoff.implements().iter().map(|item| item.value.trim()).collect();
    if !written.is_empty() || !is_design {
        return written.join(", ");
    }
    let sections = handoff.document().sections().iter().filter(|section| section.level == 2);
    let titles: Vec<&str> = sections.map(|section| section.title.value.trim()).collect();
    if titles.is_empty() { "the whole design".to_owned() } else { titles.join(", ") }
}

/// Appends a section with its entries, or with a placeholder if there are none.
fn section(out: &mut String, title: &str, entries: impl Iterator<Item = String>, none: &str) {
    out.push_str(&format!("\n### {title}\n\n"));
    let entries: String = entries.collect();
    out.push_str(if entries.is_empty() { none } else { &entries });
}

fn line(name: &str, text: Option<Spanned<&str>>) -> String {
    let content = text.map_or("", |text| text.value.trim()).replace('\n', " ");
    format!("{name}: {content}").trim_end().to_owned()
}

fn decision(one: &Decision<'_>) -> String {
    format!("- {}\n  {}\n", line("Decision", one.decision), line("Rationale", one.rationale))
}

fn deviation(one: &Deviation<'_>) -> String {
    let (reason, impact) = (line("Reason", one.reason), line("Impact", one.impact));
    format!("- {}\n  {reason}\n  {impact}\n", line("Deviation", one.deviation))
}
