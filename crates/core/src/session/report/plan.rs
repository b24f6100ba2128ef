//! Finds what an agent says it will do next.

use super::blocks::{ReportBlock, ReportBlockKind, parse_blocks};
use super::cues::CuedSentence;
use super::label;
use super::question::{is_listed, with_options};
use super::sentences::{has_any, identifiers, sentences, words};
use super::status::is_report;

/// Words that refer back to a list.
const BACK: &[&str] = &["these", "them", "those", "both", "ones", "all of"];
/// Phrases for things that were listed before.
const LISTED: &[&str] =
    &["the fixes", "the changes", "the edits", "the updates", "the rest", "the others"];

/// Words in a heading or label above the agent's own next steps.
#[rustfmt::skip]
const PLAN: &[&str] = &[
    "plan", "next", "next step", "next steps", "what's next", "remaining", "todo", "to do", "pending",
    "nächste schritte", "prochaines étapes", "próximos pasos", "下一步", "次のステップ", "計画",
];

/// Returns what the agent says it does next: the last such sentence of a remark, or the list under
/// "Plan" or "Remaining", with the items it refers to.
pub fn stated_plan(text: &str) -> Option<String> {
    let mut all = parse_blocks(text);
    all.retain(|block| block.kind != ReportBlockKind::Other);
    // "Let me think" in a finished report is not about what comes next.
    let is_remark = !is_report(&all);
    (0..all.len()).rev().find_map(|index| plan_at(&all, index, is_remark))
}

/// Whether a plan refers to an earlier list: "Now apply the fixes."
pub(crate) fn refers_back(plan: &str) -> bool {
    let words = words(plan);
    has_any(&words, BACK) || has_any(&words, LISTED)
}

fn plan_at(all: &[ReportBlock], index: usize, is_remark: bool) -> Option<String> {
    let block = &all[index];
    if is_listed(block) {
        return None;
    }
    let below = items_at(&all[index + 1..]);
    let is_heading = matches!(block.kind, ReportBlockKind::Heading(_));
    let named = if is_heading { Some(block.text.as_str()) } else { label(&block.text) };
    if named.is_some_and(|title| is_plan_title(title) && !(is_heading && below.is_empty())) {
        return Some(with_options(&block.text, below));
    }
    let parts = sentences(&block.text);
    let at =
        parts.iter().rposition(|sentence| is_remark && CuedSentence::parse(sentence).is_step())?;
    let (last, plan) = (parts[at], last_with_context(&block.text, &parts[..=at]));
    if last.ends_with([':', '：']) {
        return Some(with_options(plan, below));
    }
    let above = items_before(&all[..index]);
    let numbers = numbers(last);
    let named: Vec<ReportBlock> =
        above.iter().filter(|item| is_named(item, &numbers)).cloned().collect();
    let is_back = numbers.is_empty() && has_any(&words(last), BACK);
    Some(with_options(plan, if is_back { above } else { &named }))
}

/// Returns the last of some sentences of a text. A short one says little alone, so it comes with
/// the one before it: "The import is unused. Let me check:"
fn last_with_context<'t>(text: &'t str, parts: &[&'t str]) -> &'t str {
    const WORDS_MAX: usize = 6;
    let &[.., before, last] = parts else { return parts.last().copied().unwrap_or_default() };
    let is_short = last.split_whitespace().nth(WORDS_MAX).is_none() && identifiers(last).is_empty();
    let start = text.find(before).filter(|_| is_short && !CuedSentence::parse(before).is_polite());
    let whole = start.and_then(|start| {
        let end = start + before.len() + text[start + before.len()..].find(last)? + last.len();
        text.get(start..end)
    });
    whole.unwrap_or(last)
}

fn is_plan_title(title: &str) -> bool {
    let words = words(title);
    words.split_whitespace().nth(5).is_none() && has_any(&words, PLAN)
}

fn items_at(blocks: &[ReportBlock]) -> &[ReportBlock] {
    let end = blocks.iter().position(|block| !is_listed(block)).unwrap_or(blocks.len());
    &blocks[..end]
}

fn items_before(blocks: &[ReportBlock]) -> &[ReportBlock] {
    let from = blocks.iter().rposition(|block| !is_listed(block)).map_or(0, |at| at + 1);
    &blocks[from..]
}

/// Returns the item numbers in a sentence: "(1, 2, 3)", "#2 and #3".
fn numbers(sentence: &str) -> Vec<u32> {
    let words = sentence.split(|c: char| !(c.is_ascii_digit() || c == '.'));
    words.filter(|word| word.len() <= 2).filter_map(|word| word.parse().ok()).collect()
}

fn is_named(item: &ReportBlock, numbers: &[u32]) -> bool {
    matches!(item.kind, ReportBlockKind::Item { number: Some(number), .. } if numbers.contains(&number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_is_the_announced_next_step() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(stated_plan(text).as_deref(), expected, "{text}");
        };
        check(
            "1. Lock: real\n2. Name: nit\n3. Docs: stale\n\nLet me fix the real ones (1, 3).",
            Some("Let me fix the real ones (1, 3).\n1. Lock: real\n3. Docs: stale"),
        );
        check("- a\n- b\n\nI'll fix both.", Some("I'll fix both.\n- a\n- b"));
        check("Fixed it. Next I'll rename `drain`.", Some("Next I'll rename `drain`."));
        check("**Plan:**\n1. move\n2. test", Some("**Plan:**\n1. move\n2. test"));
        check("Pushed.\n\nRemaining: the docs.", Some("Remaining: the docs."));
        check("## Next steps\n\n- docs", Some("Next steps\n- docs"));
        check("Let me think. The queue is slow because `drain()` locks.", None);
        check("**Suggestion:** drop it.", None);
        let items: String = (1..=8).map(|n| format!("\n{n}. step {n}")).collect();
        let six: String = (1..=6).map(|n| format!("\n{n}. step {n}")).collect();
        check(&format!("Plan:{items}"), Some(&format!("Plan:{six}\n[…]")));
        check("The import is unused. Let me check:", Some("The import is unused. Let me check:"));
        check("Pushed. All tests pass.", None);
        check("I'll wait for your answer.", None);
    }
}
