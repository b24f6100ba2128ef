//! Builds briefing items from the handoffs that a stage builds on: summary, decisions, open
//! questions, assumptions, wrong turns and landmines.

use super::ItemSource;
use super::handoff::{join_parts, source_name};
use crate::brief::{BriefItem, ItemRank};
use crate::format::header::{Status, Validation};
use crate::handoff::Handoff;

/// The items of an upstream handoff. A resolved handoff may still have open questions and
/// assumptions. A superseded or abandoned one has no items.
pub fn upstream_items(handoff: &Handoff<'_>, path: &str) -> Vec<BriefItem> {
    if matches!(handoff.status(), Status::Superseded | Status::Abandoned) {
        return Vec::new();
    }
    let key = handoff.key().to_string();
    let origin = ItemSource::new(source_name(handoff, path), &["midstride", "show", &key]);
    let decisions = handoff.decisions().into_iter().filter_map(|one| {
        let text = join_parts(one.decision, &[("because", one.rationale)])?;
        let (rank, heading) = match one.binding {
            true => (ItemRank::Constraint, "Binding upstream decision"),
            false => (ItemRank::Decision, "Upstream decision"),
        };
        Some(origin.item(rank, heading, text))
    });
    let open = (1..).zip(handoff.questions()).filter(|(_, one)| one.answer.is_none());
    let questions = open.filter_map(|(number, one)| {
        let text = join_parts(one.question, &[("context", one.context)])?;
        let (rank, heading) = match one.blocks() {
            true => (ItemRank::BlockingQuestion, "Blocking upstream question"),
            false => (ItemRank::Rest, "Open upstream question"),
        };
        let place = Some(format!("question {number}"));
        Some(BriefItem { place, ..origin.item(rank, heading, text) })
    });
    let assumptions = handoff.assumptions().into_iter().filter_map(|one| {
        let (rank, heading) = match one.validation {
            Validation::Holds => (ItemRank::Rest, "Validated upstream assumption"),
            Validation::Pending => (ItemRank::Rest, "Unvalidated upstream assumption"),
            Validation::Disproved => (ItemRank::WrongTurn, "Disproved upstream assumption"),
        };
        Some(origin.item(rank, heading, one.assumption?.value.trim()))
    });
    let summary =
        handoff.summary().map(|text| origin.item(ItemRank::Read, "Upstream summary", text));
    let wrong_turns = handoff.wrong_turns().into_iter().filter_map(|one| {
        let parts = [("wrong because", one.why_wrong), ("instead", one.replaced_by)];
        let text = join_parts(one.tried, &parts)?;
        Some(origin.item(ItemRank::WrongTurn, "Upstream wrong turn", text))
    });
    let landmines = handoff.landmines().into_iter();
    let landmines =
        landmines.map(|one| origin.item(ItemRank::Landmine, "Upstream landmine", one.value.trim()));
    let items = summary.into_iter().chain(decisions).chain(questions).chain(assumptions);
    items.chain(wrong_turns).chain(landmines).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::document::Document;
    use crate::format::stage::Stages;
    use crate::handoff::Location;

    fn lines_for(status: &str) -> Vec<String> {
        let text = format!(
            "---\nhandoff:\n  id: feat-042\n  stage: discovery\n  status: {status}\n  context_summary: For audits.\n  wrong_turns:\n    - tried: Tapes\n      why_wrong: Slow\n  landmines:\n    - Disks fill up\n  decisions_made:\n    - decision: One per project\n      rationale: So are machines\n    - decision: No cron\n      binding: true\n  open_questions:\n    - question: Quota?\n      context: They take room\n      blocking: false\n    - question: How long?\n      blocking: true\n    - question: Who?\n      answer: We\n  assumptions:\n    - assumption: Disks copy\n      confidence: low\n    - assumption: Cheap\n      validated: failed\n    - assumption: Known\n      validated: true\n---\n"
        );
        let document = Document::parse(text.as_bytes());
        let (location, stages) = (Location::default(), Stages::shipped());
        let handoff = Handoff::new(&document, &location, &stages);
        let line = |item: BriefItem| {
            format!("{} | {} | {} | {}", item.rank.name(), item.heading, item.text, item.source)
        };
        upstream_items(&handoff, "discovery.md").into_iter().map(line).collect()
    }

    #[test]
    fn a_stage_is_briefed_with_its_upstream() {
        let from = "handoff feat-042/discovery";
        let expected = [
            "read | Upstream summary | For audits.",
            "decision | Upstream decision | One per project — because: So are machines",
            "constraint | Binding upstream decision | No cron",
            "rest | Open upstream question | Quota? — context: They take room",
            "blocking-question | Blocking upstream question | How long?",
            "rest | Unvalidated upstream assumption | Disks copy",
            "wrong-turn | Disproved upstream assumption | Cheap",
            "rest | Validated upstream assumption | Known",
            "wrong-turn | Upstream wrong turn | Tapes — wrong because: Slow",
            "landmine | Upstream landmine | Disks fill up",
        ];
        let expected: Vec<String> = expected.iter().map(|one| format!("{one} | {from}")).collect();
        assert_eq!(lines_for("resolved"), expected);
        assert!(lines_for("abandoned").is_empty() && lines_for("superseded").is_empty());
    }
}
