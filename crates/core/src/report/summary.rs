//! A compaction summary or handoff text, read by its sections.

use super::blocks::{Block, Kind, blocks};
use super::sentences::{has_any, identifiers, sentences, words};
use super::shorten::shorten;
use super::{ITEM_CHARACTERS_MAX, bare};

/// What a summary says, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Single statements of its sections.
    pub items: Vec<SummaryItem>,
}

/// One list item or sentence of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryItem {
    /// The section it stands in.
    pub kind: SummaryKind,
    /// The words of the summary, shortened where they are long.
    pub text: String,
    /// The item or lead-in that it belongs to: the file of a change, the error of an attempt.
    pub heading: Option<String>,
    /// How much it is worth to a reader who has little space.
    pub weight: u8,
}

/// What a section of a summary is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SummaryKind {
    /// What the user asked for.
    Goal,
    /// What limits the work.
    Constraint,
    /// What was chosen.
    Decision,
    /// What was found out, how problems were solved.
    Finding,
    /// An error, with its fix where the summary names it.
    Error,
    /// What was done.
    Done,
    /// What was being worked on when the summary was written.
    Current,
    /// What is left.
    Pending,
    /// What to do next.
    Next,
    /// A term or technique of the project.
    Concept,
    /// A file, and what was changed in it.
    File,
    /// A message of the user.
    UserMessage,
}

/// Words of a section title → kind, and what its items weigh. The first row that fits wins.
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
    (SummaryKind::File, 30, &["files", "file", "code sections", "artifacts", "references"]),
    (SummaryKind::Concept, 50, &["concepts", "technical", "technologies", "architecture"]),
    (SummaryKind::Done, 55, &["progress", "done", "completed", "accomplished", "changes", "implemented", "work so far"]),
    (SummaryKind::Goal, 84, &["request", "requests", "intent", "goal", "goals", "objective", "task", "overview", "mission", "purpose", "ziel"]),
];

/// Titles have few words; a sentence that ends in a colon has more.
const TITLE_WORDS_MAX: usize = 6;
/// Items of a summary at most.
const ITEMS_MAX: usize = 1_000;

/// Reads a summary by its sections. A text without known sections has no items.
pub fn read_summary(text: &str) -> Summary {
    let all = blocks(text);
    let mut reader = Reader::default();
    for block in after_analysis(&all) {
        reader.block(block);
    }
    reader.items.truncate(ITEMS_MAX);
    Summary { items: reader.items }
}

/// What follows "Summary:". The chronological analysis that clients let a model write before it
/// repeats everything.
fn after_analysis(all: &[Block]) -> &[Block] {
    let is_start = |block: &Block| {
        let text = block.text.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        !matches!(block.kind, Kind::Item { .. } | Kind::Row) && text == "summary"
    };
    let from = all.iter().position(is_start).map_or(0, |at| at + 1);
    &all[from..]
}

#[derive(Default)]
struct Reader {
    items: Vec<SummaryItem>,
    section: Option<(SummaryKind, u8)>,
    /// Items that deeper ones belong to, with their indentation.
    parents: Vec<(usize, String)>,
}

impl Reader {
    fn block(&mut self, block: &Block) {
        if let Some((section, rest)) = section(block) {
            self.section = Some(section);
            self.parents.clear();
            return self.prose(rest);
        }
        match block.kind {
            Kind::Heading(_) => self.parents = vec![(0, bare(&block.text))],
            Kind::Paragraph => self.prose(&block.text),
            Kind::Item { indent, .. } => {
                self.parents.retain(|(outer, _)| *outer < indent);
                self.push(&block.text);
                self.parents.push((indent, bare(&block.text)));
            }
            Kind::Row => self.push(&block.text),
        }
    }

    fn prose(&mut self, text: &str) {
        // Clients end a summary with notes of their own about the transcript.
        let words = words(text);
        if has_any(&words, &["read the full transcript at", "please continue the conversation"]) {
            self.section = None;
        }
        self.parents.retain(|(outer, _)| *outer == 0);
        for sentence in sentences(text) {
            self.push(sentence);
        }
        if text.ends_with(':') {
            self.parents = vec![(0, bare(text))];
        }
    }

    fn push(&mut self, text: &str) {
        let Some((kind, base)) = self.section else { return };
        let text = text.trim();
        // A lead-in is the heading of what follows it.
        if text.chars().nth(2).is_none() || text.ends_with(':') {
            return;
        }
        let specific = identifiers(text).min(3) * 3;
        let weight = base.saturating_add(u8::try_from(specific).unwrap_or_default());
        let heading =
            self.parents.last().map(|(_, parent)| parent.clone()).filter(|p| !p.is_empty());
        let text = shorten(text, ITEM_CHARACTERS_MAX);
        self.items.push(SummaryItem { kind, text, heading, weight });
    }
}

/// The section that a block opens, and the text that follows its title on the line.
fn section(block: &Block) -> Option<((SummaryKind, u8), &str)> {
    let (title, rest) = match block.kind {
        Kind::Heading(_) => (block.text.as_str(), ""),
        Kind::Paragraph | Kind::Item { indent: 0, number: Some(_), .. } => title(&block.text)?,
        Kind::Item { .. } | Kind::Row => return None,
    };
    let is_title = title.split(' ').nth(TITLE_WORDS_MAX).is_none();
    let words = words(title);
    let known = SECTIONS.iter().find(|(_, _, phrases)| is_title && has_any(&words, phrases))?;
    Some(((known.0, known.1), rest.trim()))
}

/// The title and the rest of `Title: rest` and `**Title** rest`.
fn title(text: &str) -> Option<(&str, &str)> {
    if let Some(bold) = text.strip_prefix("**") {
        let (title, rest) = bold.split_once("**")?;
        return Some((title, rest.trim_start_matches(':')));
    }
    text.split_once(':')
}
