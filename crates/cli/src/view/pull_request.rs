//! A handoff as the "Handoff Context" of a pull request.

use midstride::project::{Project, Shelved};
use midstride_core::span::At;

pub(crate) fn text(project: &Project, shelved: &Shelved) -> String {
    let handoff = shelved.handoff(project);
    let said =
        |text: Option<At<&str>>| text.map_or("", |text| text.value.trim()).replace('\n', " ");
    let line = |name: &str, text: Option<At<&str>>| {
        format!("{name}: {}", said(text)).trim_end().to_owned()
    };
    let implements: Vec<&str> = handoff.implements().iter().map(|item| item.value).collect();
    let implements = implements.join(", ");
    let design = project.design_of(shelved).display().to_string();
    let mut out = String::from("## Handoff Context\n\n");
    let name = handoff.title().or(handoff.description()).unwrap_or_default();
    out.push_str(format!("**Feature**: {} - {name}", handoff.id()).trim_end_matches([' ', '-']));
    out.push_str(format!("\n**Design**: {design}\n**Implements**: {implements}").trim_end());
    out.push('\n');
    out.push_str("\n### Decisions Made During Implementation\n\n");
    for decision in handoff.decisions() {
        out.push_str(&format!(
            "- {}\n  {}\n",
            line("Decision", decision.decision),
            line("Rationale", decision.rationale)
        ));
    }
    out.push_str("\n### Deviations from Design\n\n");
    for deviation in handoff.deviations() {
        out.push_str(&format!(
            "- {}\n  {}\n  {}\n",
            line("Deviation", deviation.deviation),
            line("Reason", deviation.reason),
            line("Impact", deviation.impact)
        ));
    }
    out.push_str("\n### Open Questions for Review\n\n");
    for question in handoff.questions().iter().filter(|question| question.answer.is_none()) {
        out.push_str(&format!(
            "- {}\n  {}\n",
            line("Question", question.question),
            line("Context", question.context)
        ));
    }
    let mut tidy = out.replace("\n\n\n", "\n\n");
    tidy.truncate(tidy.trim_end().len());
    tidy.push('\n');
    tidy
}
