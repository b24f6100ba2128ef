//! Parses a compaction summary or handoff text by its sections.

use super::blocks::{ReportBlock, ReportBlockKind, parse_blocks};
use super::cues::CuedSentence;
use super::rank::SeenWords;
use super::sentences::{has_any, identifiers, sentences, words};
use super::shorten::shorten;
use super::strip_markup;

/// The items of a summary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompactionSummary {
    /// The statements of its sections, in order.
    pub items: Vec<SummaryItem>,
}

/// One list item or sentence of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryItem {
    /// The kind of the section it is in.
    pub kind: SummaryKind,
    /// The summary's words, shortened if they are long.
    pub text: String,
    /// The item or lead-in it belongs to: the file of a change, the error of an attempt.
    pub heading: Option<String>,
    /// The rank when space is short.
    pub weight: u8,
}

/// The topic of a summary section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SummaryKind {
    /// What the user asked for.
    Goal,
    /// A limit on the work.
    Constraint,
    /// A choice that was made.
    Decision,
    /// A discovery, or how a problem was solved.
    Finding,
    /// An error, with its fix if the summary names it.
    Error,
    /// Finished work.
    Done,
    /// The work in progress when the summary was written.
    Current,
    /// Work that is left.
    Pending,
    /// The next step.
    Next,
    /// A term or technique of the project.
    Concept,
    /// A file and its changes.
    File,
    /// A message from the user.
    UserMessage,
}

/// The kind of a section and the weight of its items, by words in the section's title. The first
/// matching row wins.
#[rustfmt::skip]
const SECTIONS: &[(SummaryKind, u8, &[&str])] = &[
    (SummaryKind::UserMessage, 20, &["user messages", "user message", "messages from the user", "user's messages"]),
    (SummaryKind::Next, 90, &["next", "nächste", "prochaines", "próximos", "下一步", "次のステップ"]),
    (SummaryKind::Pending, 80, &["pending", "remaining", "todo", "to do", "outstanding", "left", "open", "not done", "blocked", "blockers", "offen", "待办"]),
    (SummaryKind::Current, 80, &["current", "in progress", "status", "state", "where we are", "where things stand", "stand", "现状"]),
    (SummaryKind::Constraint, 76, &["constraint", "constraints", "preferences", "instructions", "rules", "requirements", "guidelines"]),
    (SummaryKind::Error, 64, &["error", "errors", "failures", "failed", "bugs", "issues", "fehler"]),
    (SummaryKind::Decision, 70, &["decision", "decisions", "rationale", "trade-offs", "tradeoffs", "approach", "entscheidungen"]),
    (SummaryKind::Finding, 62, &["problem solving", "findings", "discoveries", "learned", "learnings", "insights", "analysis", "context", "root cause", "notes"]),
    (SummaryKind::File, 38, &["files", "file", "code sections", "artifacts", "references"]),
    (SummaryKind::Concept, 40, &["concepts", "technical", "technologies", "architecture"]),
    (SummaryKind::Done, 55, &["progress", "done", "completed", "accomplished", "changes", "implemented", "work so far"]),
    (SummaryKind::Goal, 84, &["request", "requests", "intent", "goal", "goals", "objective", "task", "overview", "mission", "purpose", "ziel"]),
];

/// The maximum number of words in a title. A sentence that ends in a colon has more.
const TITLE_WORDS_MAX: usize = 6;
/// The maximum length of a lead-in that only announces its list, in characters.
const LEAD_IN_CHARACTERS_MAX: usize = 100;
/// The maximum length of an item's text, in characters. Sections are long, and many short items
/// beat few long ones.
const SUMMARY_ITEM_CHARACTERS_MAX: usize = 400;
/// Subtracted from the weight of items that repeat weightier ones.
const REPEAT_PENALTY: u8 = 40;
/// The maximum number of items per summary.
const ITEMS_MAX: usize = 1_000;

/// Parses a summary by its sections. A text without known sections has no items.
pub fn parse_summary(text: &str) -> CompactionSummary {
    let all = parse_blocks(text);
    let mut reader = SummaryParser::default();
    for block in after_analysis(&all) {
        reader.block(block);
    }
    reader.items.truncate(ITEMS_MAX);
    weigh_repeated(&mut reader.items);
    CompactionSummary { items: reader.items }
}

/// Returns the blocks after "Summary:". The chronological analysis before it repeats everything.
fn after_analysis(all: &[ReportBlock]) -> &[ReportBlock] {
    let is_start = |block: &ReportBlock| {
        let text = block.text.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        !matches!(block.kind, ReportBlockKind::Item { .. } | ReportBlockKind::Row)
            && text == "summary"
    };
    let from = all.iter().position(is_start).map_or(0, |at| at + 1);
    &all[from..]
}

#[derive(Default)]
struct SummaryParser {
    items: Vec<SummaryItem>,
    section: Option<(SummaryKind, u8)>,
    /// The parents of the next item, each with its depth: 0 for a heading or lead-in, then by
    /// indentation.
    parents: Vec<(usize, String)>,
}

impl SummaryParser {
    fn block(&mut self, block: &ReportBlock) {
        if let Some((section, rest)) = section(block) {
            self.section = Some(section);
            self.parents.clear();
            return self.prose(rest);
        }
        match block.kind {
            ReportBlockKind::Heading(_) => self.parents = vec![(0, strip_markup(&block.text))],
            ReportBlockKind::Paragraph => self.prose(&block.text),
            ReportBlockKind::Item { indent, .. } => {
                self.parents.retain(|(outer, _)| *outer <= indent);
                self.push(&block.text);
                self.parents.push((indent + 1, parent(&block.text)));
            }
            ReportBlockKind::Row => self.push(&block.text),
            ReportBlockKind::Other => {}
        }
    }

    fn prose(&mut self, text: &str) {
        // Clients end a summary with their own notes about the transcript.
        let words = words(text);
        if has_any(&words, &["read the full transcript at", "please continue the conversation"]) {
            self.section = None;
        }
        self.parents.truncate(1);
        for sentence in sentences(text) {
            self.push(sentence);
        }
        if text.ends_with(':') {
            self.parents = vec![(0, strip_markup(text))];
        }
    }

    fn push(&mut self, text: &str) {
        let Some((kind, base)) = self.section else { return };
        let text = text.trim();
        // A short lead-in only serves as the heading of the items below it.
        let is_lead_in = text.ends_with(':') && text.chars().nth(LEAD_IN_CHARACTERS_MAX).is_none();
        if text.chars().nth(2).is_none() || is_lead_in {
            return;
        }
        let heading = self.parents.last().map(|(_, parent)| parent.clone());
        self.items.push(SummaryItem {
            kind,
            text: shorten(text, SUMMARY_ITEM_CHARACTERS_MAX),
            heading: heading.filter(|heading| !heading.is_empty()),
            weight: weight(base, text),
        });
    }
}

/// Returns the name of an item for the items below it: its label if it has one.
fn parent(text: &str) -> String {
    match title(text).filter(|_| !text.ends_with(':')) {
        Some((title, _)) => strip_markup(title),
        None => strip_markup(text),
    }
}

fn weight(base: u8, text: &str) -> u8 {
    let specific = identifiers(text).len().min(3) * 3;
    let marked = CuedSentence::parse(text).count().min(2) * 5;
    base.saturating_add(u8::try_from(specific + marked).unwrap_or_default())
}

/// Lowers the weight of items that mostly repeat the words of weightier ones, because the sections
/// of a summary repeat each other.
fn weigh_repeated(items: &mut [SummaryItem]) {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(items[*index].weight));
    let mut seen = SeenWords::default();
    for index in order {
        let item = &mut items[index];
        if seen.add_and_check_repeat(&item.text) {
            item.weight = item.weight.saturating_sub(REPEAT_PENALTY);
        }
    }
}

/// Returns the section that a block opens, and the text after its title on the same line.
fn section(block: &ReportBlock) -> Option<((SummaryKind, u8), &str)> {
    let (title, rest) = match block.kind {
        ReportBlockKind::Heading(_) => (block.text.as_str(), ""),
        ReportBlockKind::Paragraph | ReportBlockKind::Item { indent: 0, number: Some(_), .. } => {
            title(&block.text)?
        }
        ReportBlockKind::Item { .. } | ReportBlockKind::Row | ReportBlockKind::Other => {
            return None;
        }
    };
    let is_title = title.split(' ').nth(TITLE_WORDS_MAX).is_none();
    let words = words(title);
    let known = SECTIONS.iter().find(|(_, _, phrases)| is_title && has_any(&words, phrases))?;
    Some(((known.0, known.1), rest.trim()))
}

/// Splits `Title: rest` and `**Title** rest` into title and rest.
fn title(text: &str) -> Option<(&str, &str)> {
    if let Some(bold) = text.strip_prefix("**") {
        let (title, rest) = bold.split_once("**")?;
        return Some((title, rest.trim_start_matches(':')));
    }
    text.split_once(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let items = parse_summary(text).items;
        let shown: Vec<String> = items
            .iter()
            .map(|item| {
                let heading = item.heading.as_ref().map(|heading| format!(" < {heading}"));
                format!("{:?}: {}{}", item.kind, item.text, heading.unwrap_or_default())
            })
            .collect();
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn numbered_sections_are_parsed() {
        check(
            "This session is being continued.\n\nAnalysis:\n1. The user asked.\n\nSummary:\n\
             1. Primary Request and Intent:\n   Drain the queue. Keep `open`.\n\n\
             3. Files and Code Sections:\n   - **`queue.rs`**\n     - Added `drain()`\n     ```rust\n     fn drain() {}\n     ```\n\n\
             4. Errors and fixes:\n   - **Lock error**: Released it first\n\n\
             7. Pending Tasks (from the list):\n   - Docs\n\n\
             9. Optional Next Step:\n   Write the docs.\n\n\
             If you need specific details, read the full transcript at: /t.jsonl",
            &[
                "Goal: Drain the queue.",
                "Goal: Keep `open`.",
                "File: **`queue.rs`**",
                "File: Added `drain()` […] < `queue.rs`",
                "Error: **Lock error**: Released it first",
                "Pending: Docs",
                "Next: Write the docs.",
            ],
        );
    }

    #[test]
    fn section_headings_of_other_clients_are_parsed() {
        check(
            "## Progress\n- Drained it\n\n## Key decisions\n- One queue\n\n**Constraints:**\n- No new crates\n\n\
             Remaining: the docs\n\n# Next steps\n1. Push",
            &[
                "Done: Drained it",
                "Decision: One queue",
                "Constraint: No new crates",
                "Pending: the docs",
                "Next: Push",
            ],
        );
    }

    #[test]
    fn items_name_their_parent() {
        check(
            "## Current work\nI had NOT yet:\n- run the lint\n\n## Errors\n- Lock: tried\n  - a timeout",
            &[
                "Current: run the lint < I had NOT yet",
                "Error: Lock: tried",
                "Error: a timeout < Lock",
            ],
        );
    }

    #[test]
    fn a_text_without_sections_has_no_items() {
        check("We drained the queue because it was full.", &[]);
        check("", &[]);
    }

    #[test]
    fn repeats_of_weightier_sections_weigh_less() {
        let text = "## Next steps\n- Write docs for `drain()`\n\n## Pending\n- Write docs for `drain()`\n- Push the tag";
        let items = parse_summary(text).items;
        assert!(items[1].weight < items[2].weight, "{items:?}");
    }
}
