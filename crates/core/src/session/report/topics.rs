//! Recognizes what a heading or lead-in announces.

use super::ItemKind;
use super::sentences::{has_any, words};
use crate::format::section::SectionMeaning;

/// The maximum length of a heading, in characters. Longer text is a sentence whose words say
/// nothing about what follows.
const HEADING_CHARACTERS_MAX: usize = 80;

/// What a heading announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeadingTopic {
    Items(ItemKind),
    /// The conclusion of a report.
    Conclusion,
    /// Praise, which the next session does not need.
    Praise,
}

/// What a heading announces, by words in it. The first matching row wins.
#[rustfmt::skip] // a line per meaning, not per word
const HEADINGS: &[(HeadingTopic, &[&str])] = &[
    (HeadingTopic::Praise, &["good", "strengths", "positives", "works well", "praise", "stärken", "points forts"]),
    (HeadingTopic::Conclusion, &["verdict", "conclusion", "bottom line", "tl dr", "tldr", "fazit", "结论", "結論"]),
    (HeadingTopic::Items(ItemKind::DeadEnd), &[
        "didn't work", "did not work", "doesn't work", "dead end", "dead ends", "tried", "attempted", "attempts",
        "rejected", "abandoned", "wrong turns",
    ]),
    (HeadingTopic::Items(ItemKind::OpenItem), &[
        "not done", "remaining", "follow-up", "follow-ups", "followup", "followups", "follow up", "open questions", "open question", "open items",
        "open points", "open tasks", "still open", "todo",
        "todos", "to do", "out of scope", "deferred", "pending", "unresolved", "not tested", "untested", "not verified",
        "not yet", "not implemented", "left to do", "blocked", "unchecked",
        "offen", "offene", "verbleibend", "reste", "à faire", "pendiente", "pendientes", "pendente", "pendentes",
        "残り", "未完了", "待办", "未完成",
    ]),
    (HeadingTopic::Items(ItemKind::Cause), &[
        "root cause", "root causes", "cause", "causes", "caused", "reason", "reasons", "why", "what happened",
        "ursache", "ursachen", "causa", "causas", "原因",
    ]),
    (HeadingTopic::Items(ItemKind::Plan), &[
        "next step", "next steps", "what's next", "plan", "option", "options", "alternatives", "proposal", "would be", "recommended", "recommendation", "recommendations", "suggested", "suggestion", "suggestions",
        "nächste", "prochaines", "próximos", "下一步", "次のステップ", "計画",
    ]),
    (HeadingTopic::Items(ItemKind::Decision), &[
        "decision", "decisions", "decided", "trade-off", "trade-offs", "tradeoff", "tradeoffs", "approach", "choice",
        "choices", "rationale", "resolution", "fix", "solution", "constraint", "constraints",
        "entscheidung", "entscheidungen", "lösung", "décision", "décisions", "solución", "決定", "决定",
    ]),
    (HeadingTopic::Items(ItemKind::Finding), &[
        "issue", "issues", "finding", "findings", "bug", "bugs", "problem", "problems", "risk", "risks", "limitation",
        "limitations", "caveat", "caveats", "note", "notes", "warning", "warnings", "gotcha", "gotchas", "concern",
        "concerns", "nit", "nits", "observation", "observations", "blocker", "blockers", "error", "errors", "gap",
        "gaps", "discovered", "learned", "learnings",
        "befund", "befunde", "fehler", "hinweis", "problème", "problèmes", "problema", "problemas", "問題", "问题", "注意",
    ]),
    (HeadingTopic::Items(ItemKind::Done), &[
        "change", "changes", "changed", "fixes", "fixed", "done", "added", "updated", "created", "implemented",
        "completed", "tests", "test", "verification", "verified", "results", "files", "modified", "what i did",
        "änderungen", "cambios", "mudanças", "modifications", "変更", "修改",
    ]),
];

/// Returns what a heading or lead-in announces, if its words are known.
pub(super) fn heading_topic(title: &str) -> Option<HeadingTopic> {
    if title.chars().nth(HEADING_CHARACTERS_MAX).is_some() {
        return None;
    }
    let words = words(title);
    let known = HEADINGS.iter().find(|(_, phrases)| has_any(&words, phrases));
    known.map(|(topic, _)| *topic).or_else(|| topic_by_meaning(title))
}

/// Recognizes the headings of handoffs, which reports use too.
fn topic_by_meaning(title: &str) -> Option<HeadingTopic> {
    let kind = match SectionMeaning::from_title(title)? {
        SectionMeaning::WrongTurns => ItemKind::DeadEnd,
        SectionMeaning::RootCauses => ItemKind::Cause,
        SectionMeaning::Questions => ItemKind::OpenItem,
        SectionMeaning::Continuation | SectionMeaning::Plan => ItemKind::Plan,
        SectionMeaning::Decisions => ItemKind::Decision,
        SectionMeaning::Diagnosis | SectionMeaning::Landmines | SectionMeaning::Assumptions => {
            ItemKind::Finding
        }
        SectionMeaning::State | SectionMeaning::Verification => ItemKind::Done,
        SectionMeaning::References | SectionMeaning::Summary | SectionMeaning::Handoff => {
            return None;
        }
    };
    Some(HeadingTopic::Items(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_recognized_by_their_words() {
        let check = |title: &str, expected: Option<HeadingTopic>| {
            assert_eq!(heading_topic(title), expected, "{title}");
        };
        check("Issues found", Some(HeadingTopic::Items(ItemKind::Finding)));
        check("**Root cause:**", Some(HeadingTopic::Items(ItemKind::Cause)));
        check("3. Follow-ups", Some(HeadingTopic::Items(ItemKind::OpenItem)));
        check("Known issues, not fixed", Some(HeadingTopic::Items(ItemKind::Finding)));
        check("What's good", Some(HeadingTopic::Praise));
        check("What didn’t work", Some(HeadingTopic::Items(ItemKind::DeadEnd)));
        check("Nächste Schritte", Some(HeadingTopic::Items(ItemKind::Plan)));
        check("原因", Some(HeadingTopic::Items(ItemKind::Cause)));
        check("Ursachen", Some(HeadingTopic::Items(ItemKind::Cause)));
        check("The parser", None);
        check(&"why ".repeat(30), None);
    }
}
