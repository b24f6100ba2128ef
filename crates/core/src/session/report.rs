//! Parses the texts an agent writes, without a model: findings, causes, decisions, dead ends, and
//! open items of a report, its status, its question to the user, and the sections of a compaction
//! summary.
//!
//! Every text returned is verbatim, apart from white space and `[…]` where text was omitted.
//! Nothing is inferred: an item is a statement the agent made.

mod blocks;
mod boxes;
mod code_spans;
mod cues;
mod plan;
mod question;
mod rank;
mod sentences;
mod shorten;
mod status;
mod summary;
mod topics;

pub use boxes::{is_checked_off, unchecked_boxes};
pub(crate) use plan::refers_back;
pub use plan::stated_plan;
pub use question::question;
pub use rank::rank;
pub(crate) use sentences::{has_word, identifiers};
pub(crate) use shorten::CutPoints;
pub use shorten::shorten;
pub(crate) use status::without_lead_in;
pub use summary::{CompactionSummary, SummaryItem, SummaryKind, parse_summary};

use blocks::{ReportBlock, ReportBlockKind, parse_blocks};
use cues::CuedSentence;
use sentences::sentences;
use topics::{HeadingTopic, heading_topic};

/// Marks omitted text.
pub const ELLIPSIS: &str = "[…]";

/// The maximum length of an item's text, in characters. The first sentence and the last clause of
/// real items fit.
const ITEM_CHARACTERS_MAX: usize = 300;
/// The maximum length of a heading shown above items, in characters.
const HEADING_CHARACTERS_MAX: usize = 120;
/// The maximum number of items per text, so that a hostile text stays cheap for callers that sort
/// them.
const ITEMS_MAX: usize = 500;

/// What one text of an agent says. All text is verbatim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Whether the text is a report rather than a remark between two tool calls.
    pub is_report: bool,
    /// The status of the work at the end of the text.
    pub status: Option<String>,
    /// The question the user must answer.
    pub question: Option<String>,
    /// The statements, in the order of the text.
    pub items: Vec<ReportItem>,
}

/// One list item, table row, or sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportItem {
    /// The kind of statement.
    pub kind: ItemKind,
    /// The agent's words, shortened if they are long.
    pub text: String,
    /// The heading or lead-in above it, without markup.
    pub heading: Option<String>,
    /// The rank when space is short, from 0 to 100. Specific and causal statements rank above
    /// generic ones.
    pub weight: u8,
}

/// The kind of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ItemKind {
    /// A fact about the code or its environment.
    Finding,
    /// The cause of something.
    Cause,
    /// A choice, or how a problem was solved.
    Decision,
    /// An attempt that did not work.
    DeadEnd,
    /// Work left to do.
    OpenItem,
    /// An unchecked box in a list.
    Unchecked,
    /// Something the agent proposes or intends to do.
    Plan,
    /// Finished work.
    Done,
}

/// Whether a statement says by itself that something was chosen, without the heading above it.
pub fn states_choice(text: &str) -> bool {
    CuedSentence::parse(text).is_choice()
}

/// Whether a statement says by itself that something was tried and given up.
pub fn states_dead_end(text: &str) -> bool {
    CuedSentence::parse(text).kind() == Some(ItemKind::DeadEnd)
}

/// Parses one text of an agent.
pub fn parse_report(text: &str) -> Report {
    let blocks = parse_blocks(text);
    let is_report = status::is_report(&blocks);
    let mut reader = ReportParser { is_remark: !is_report, ..ReportParser::default() };
    for (index, block) in blocks.iter().enumerate() {
        let next = blocks.get(index + 1);
        reader.block(
            block,
            next.is_some_and(|next| {
                matches!(next.kind, ReportBlockKind::Item { .. } | ReportBlockKind::Row)
            }),
        );
    }
    reader.items.truncate(ITEMS_MAX);
    Report {
        is_report,
        status: if is_report { status::status(&blocks) } else { None },
        question: question::question_of(&blocks),
        items: reader.items,
    }
}

/// Whether every sentence of a text says that something is done, and none says what was found, is
/// open, or did not work.
pub(crate) fn only_says_done(text: &str) -> bool {
    let is_done = |sentence: &str| {
        let marked = CuedSentence::parse(sentence);
        marked.count() == 0 && marked.is_outcome() && !marked.is_unfinished()
    };
    text.split(ELLIPSIS).flat_map(str::lines).flat_map(sentences).all(is_done)
}

/// Whether a statement says that something is missing, remains, or holds only for now. A later edit
/// may have changed that.
pub(crate) fn states_missing_work(text: &str) -> bool {
    #[rustfmt::skip]
    const MISSING: &[&str] = &[
        "missing", "lacks", "yet", "doesn't exist", "does not exist", "don't exist", "currently", "need", "needs",
        "is undefined", "is unused", "there is no", "there's no", "no test", "no tests", "not covered",
        "remaining", "remain", "remains", "still", "left to", "for now", "at the moment", "so far",
    ];
    sentences::has_any(&sentences::words(text), MISSING)
}

/// Whether a text only announces the next step or says that all is well: "Good. Now let me run the
/// tests."
pub(crate) fn only_announces(text: &str) -> bool {
    let announces = |sentence: &str| {
        let marked = CuedSentence::parse(sentence);
        marked.is_step() || marked.is_polite() || sentence.ends_with([':', '：'])
    };
    identifiers(text).is_empty() && text.lines().flat_map(sentences).all(announces)
}

/// Whether a text ends by announcing the agent's next step, which means that more was to come.
pub(crate) fn announces_more(text: &str) -> bool {
    let last = text.trim_end().lines().next_back().unwrap_or_default();
    let is_list = last.trim_start().starts_with(['-', '*', '|', '>', '#']);
    let sentence = sentences(last).pop().unwrap_or_default();
    let is_announced = sentence.ends_with([':', '：']);
    !is_list && (is_announced || CuedSentence::parse(sentence).announces_more())
}

/// Returns what a text says about a failure: the statement that shares a name with the failure's
/// reason, or the only statement.
pub(crate) fn statement_about(text: &str, why: &[String]) -> Option<String> {
    let items = parse_report(text).items;
    let names: Vec<&str> = why.iter().flat_map(|line| identifiers(line)).collect();
    let shares = |item: &&ReportItem| names.iter().any(|name| has_word(&item.text, name));
    let only = || items.first().filter(|_| items.len() == 1);
    items.iter().find(shares).or_else(only).map(|item| item.text.clone())
}

/// A heading or lead-in that applies to the text below it.
#[derive(Clone, Debug, Default)]
struct HeadingContext {
    text: Option<String>,
    topic: Option<HeadingTopic>,
    /// Whether it asks or supposes something. An item below it would, on its own, claim something
    /// the agent never said.
    is_supposed: bool,
}

impl HeadingContext {
    fn from_title(title: &str) -> Self {
        let text = Some(strip_markup(title)).filter(|text| !text.is_empty());
        let is_supposed = title.trim_end_matches(':').ends_with('?')
            || CuedSentence::parse(title).is_hypothetical();
        Self { text, topic: heading_topic(title), is_supposed }
    }
}

/// The form of a statement in its text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StatementForm {
    Sentence,
    Item,
    Row,
}

#[derive(Default)]
struct ReportParser {
    items: Vec<ReportItem>,
    /// The headings above, each with its level.
    headings: Vec<(u8, HeadingContext)>,
    lead_in: Option<HeadingContext>,
    /// Whether the text is a remark between two tool calls, which knows less than a report.
    is_remark: bool,
}

impl ReportParser {
    fn block(&mut self, block: &ReportBlock, is_before_list: bool) {
        match block.kind {
            ReportBlockKind::Heading(level) => self.heading(level, &block.text),
            ReportBlockKind::Paragraph => self.paragraph(&block.text, is_before_list),
            ReportBlockKind::Item { check: Some(false), .. } => {
                self.push(ItemKind::Unchecked, &block.text, StatementForm::Item);
            }
            ReportBlockKind::Item { check: Some(true), .. } => {
                self.push(ItemKind::Done, &block.text, StatementForm::Item);
            }
            ReportBlockKind::Item { .. } | ReportBlockKind::Row if self.is_supposed() => {}
            ReportBlockKind::Item { check: None, .. } => {
                self.statement(&block.text, StatementForm::Item);
                if block.text.ends_with([':', '：']) && is_before_list {
                    self.lead_in = Some(HeadingContext::from_title(&block.text));
                }
            }
            ReportBlockKind::Row => self.statement(&block.text, StatementForm::Row),
            ReportBlockKind::Other => {}
        }
    }

    fn heading(&mut self, level: u8, title: &str) {
        self.lead_in = None;
        self.headings.retain(|(outer, _)| *outer < level);
        let mut above = HeadingContext::from_title(title);
        // Below "Issues", a heading is the title of an issue, whatever its words are.
        let inherited = self.topic();
        if let Some(HeadingTopic::Praise | HeadingTopic::Items(_)) = inherited {
            self.statement(title, StatementForm::Item);
            above.topic = inherited;
        }
        self.headings.push((level, above));
    }

    fn paragraph(&mut self, text: &str, is_before_list: bool) {
        let mut sentences = sentences(text);
        let label =
            label(text).map(HeadingContext::from_title).filter(|label| label.topic.is_some());
        self.lead_in = label.clone();
        let last = sentences.last().copied().unwrap_or_default();
        if text.ends_with([':', '：']) {
            sentences.pop();
        }
        for sentence in sentences {
            self.statement(sentence, StatementForm::Sentence);
        }
        // The label of a paragraph applies to its own list, not to later text.
        self.lead_in =
            is_before_list.then(|| label.unwrap_or_else(|| HeadingContext::from_title(last)));
    }

    /// Adds an item if the text states something.
    fn statement(&mut self, text: &str, form: StatementForm) {
        let marked = CuedSentence::parse(text);
        let is_listed = form != StatementForm::Sentence;
        let names = identifiers(text).len();
        if is_noise(text, &marked, names, is_listed) {
            return;
        }
        let topic = label(text).and_then(heading_topic).or_else(|| self.topic());
        let cued_kind = marked.kind();
        let kind = match (cued_kind, topic) {
            (_, Some(HeadingTopic::Praise)) => return,
            (Some(kind @ (ItemKind::Cause | ItemKind::DeadEnd | ItemKind::OpenItem)), _) => kind,
            (Some(kind), _) if form == StatementForm::Row => kind,
            (None, _) if marked.is_done() => ItemKind::Done,
            (_, Some(HeadingTopic::Items(kind))) if form != StatementForm::Row => kind,
            (Some(kind), _) => kind,
            // Without a cue, a row may be anything.
            (None, _) if form == StatementForm::Row => return,
            (None, _) => ItemKind::Finding,
        };
        let is_strong = cued_kind.is_some() && !matches!(kind, ItemKind::Finding | ItemKind::Done);
        if is_listed || is_strong || names > 0 {
            self.push(kind, text, form);
        }
    }

    /// Whether the current list is hypothetical.
    fn is_supposed(&self) -> bool {
        let heading = self.headings.last().map(|(_, above)| above);
        self.lead_in.as_ref().or(heading).is_some_and(|above| above.is_supposed)
    }

    fn topic(&self) -> Option<HeadingTopic> {
        let heading = self.headings.last().and_then(|(_, above)| above.topic);
        self.lead_in.as_ref().and_then(|above| above.topic).or(heading)
    }

    fn push(&mut self, kind: ItemKind, text: &str, form: StatementForm) {
        let heading = self.headings.last().and_then(|(_, above)| above.text.as_ref());
        let heading = self.lead_in.as_ref().and_then(|above| above.text.as_ref()).or(heading);
        let is_announced =
            form == StatementForm::Item && self.topic() == Some(HeadingTopic::Items(kind));
        let mut weight = weight(kind, text, is_announced);
        if self.is_remark || form == StatementForm::Row || describes_test(text) {
            weight = weight.saturating_sub(ASIDE_PENALTY);
        }
        // Drop a bare heading such as "Test Coverage".
        if weight == 0 && kind == ItemKind::Finding {
            return;
        }
        let text = shorten(text, ITEM_CHARACTERS_MAX);
        self.items.push(ReportItem { kind, text, heading: heading.cloned(), weight });
    }
}

/// Returns a heading without the markup around and inside it.
fn strip_markup(title: &str) -> String {
    let title = title.replace("**", "");
    shorten(title.trim_matches(|c: char| "_#: ：".contains(c)), HEADING_CHARACTERS_MAX)
}

/// Returns the label at the start of a text: `**Root cause:** …`, `**Fix** — …`, `Remaining: …`.
fn label(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix("**") {
        let (bold, after) = rest.split_once("**")?;
        let is_label = bold.ends_with(':') || after.trim_start().starts_with([':', '—', '–', '-']);
        return is_label.then_some(bold);
    }
    let (start, rest) = text.split_once(':')?;
    let is_label = (rest.is_empty() || rest.starts_with(' '))
        && start.split(' ').nth(4).is_none()
        && !start.contains('`');
    is_label.then_some(start)
}

/// Whether a text says nothing worth keeping after its turn.
fn is_noise(text: &str, marked: &CuedSentence, names: usize, is_listed: bool) -> bool {
    let is_causal = marked.kind() == Some(ItemKind::Cause);
    let is_question = text.ends_with(['?', '？']);
    let is_bare = names == 0 && !is_causal && !is_listed;
    let is_short = text.chars().nth(11).is_none();
    is_short
        || is_question && !is_listed
        || marked.is_step() && !is_listed
        || marked.is_passed_check() && !is_causal && marked.count() == 0
        || is_bare && marked.is_polite()
}

/// Whether a statement describes a test: "`TestDrain`: waits for the lock".
fn describes_test(text: &str) -> bool {
    let name = text.trim_start_matches(['*', '`']);
    name.len() < text.len() && (name.starts_with("Test") || name.starts_with("test_"))
}

/// The penalty on the weight of table rows, remarks between two tool calls, and descriptions of
/// tests.
const ASIDE_PENALTY: u8 = 12;

/// Returns the weight of a statement, from 0 to 100.
fn weight(kind: ItemKind, text: &str, is_announced: bool) -> u8 {
    let base = match kind {
        ItemKind::Cause | ItemKind::DeadEnd => 40,
        ItemKind::OpenItem | ItemKind::Unchecked => 36,
        ItemKind::Decision => 34,
        ItemKind::Finding => 28,
        ItemKind::Done => 22,
        ItemKind::Plan => 16,
    };
    let names = identifiers(text).len();
    // A cause that names nothing is hard to use: "The issue is that there are too many error
    // paths."
    let base = if names == 0 { base.min(30) } else { base };
    let specific = names.min(3) * 5;
    let marked = CuedSentence::parse(text).count().min(3) * 4;
    let announced = usize::from(is_announced) * 8;
    let length = match text.chars().count() {
        // For example "The issue is clear now."
        0..40 if names == 0 => return 0,
        0..40 => 0,
        40..250 => 6,
        _ => 2,
    };
    u8::try_from(base + specific + marked + announced + length).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_stated_choice_is_a_choice() {
        for text in [
            "I decided to cache for 60 s",
            "We kept the old name",
            "The duplication is intentional",
        ] {
            assert!(states_choice(text), "{text}");
        }
        for text in [
            "Not blocking, just worth thinking about",
            "The simplest fix is a lock",
            "It reads the file instead of the cache",
            "I would have chosen a map",
            "It kept failing",
        ] {
            assert!(!states_choice(text), "{text}");
        }
        assert!(states_dead_end("I tried a bigger buffer, but it stalled"));
        assert!(!states_dead_end("A bigger buffer"));
    }

    /// Checks the items of a text, each shown as `kind: text < heading`.
    fn check(text: &str, expected: &[&str]) {
        let items = parse_report(text).items;
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
    fn the_heading_above_a_list_sets_the_kind_of_its_items() {
        check(
            "## Issues\n\n1. `drain()` holds the lock\n2. Unused parameter in `open`\n\n## Follow-up\n- docs for `open`",
            &[
                "Finding: `drain()` holds the lock < Issues",
                "Finding: Unused parameter in `open` < Issues",
                "OpenItem: docs for `open` < Follow-up",
            ],
        );
        check(
            "**Decisions:**\n- one queue per host",
            &["Decision: one queue per host < Decisions"],
        );
        check("What I tried:\n- a bigger buffer", &["DeadEnd: a bigger buffer < What I tried"]);
        check(
            "- [ ] run it on Windows\n- [x] ran it here",
            &["Unchecked: run it on Windows", "Done: ran it here"],
        );
        check("### What's good\n- Thorough tests of `drain`", &[]);
        check("## Ursache\n- Port 80 belegt", &["Cause: Port 80 belegt < Ursache"]);
    }

    #[test]
    fn a_heading_below_issues_is_an_issue() {
        check(
            "## Issues\n### 1. `drain()` swallows errors\nThe caller of `drain()` never sees them.",
            &[
                "Finding: 1. `drain()` swallows errors < Issues",
                "Finding: The caller of `drain()` never sees them. < 1. `drain()` swallows errors",
            ],
        );
    }

    #[test]
    fn a_statement_about_a_failure_shares_a_name_with_it() {
        let about = |text: &str, why: &str| statement_about(text, &[why.to_owned()]);
        let list = "Two issues:\n1. `errcheck` on `Init`\n2. `gosec` in `temporary.go`";
        assert_eq!(about(list, "a.go:1: unused (gosec)"), None);
        let init = about(list, "clean.go:52:2: Error return value of `Init` is not checked");
        assert_eq!(init.as_deref(), Some("`errcheck` on `Init`"));
        let only = "It fails because the key is missing. Let me add it.";
        assert_eq!(about(only, "boom").as_deref(), Some("It fails because the key is missing."));
    }

    #[test]
    fn items_of_a_hypothetical_list_are_not_statements() {
        check("The code doesn't check whether:\n- the branch `queue` exists", &[]);
        check("## Why this might be intentional\n- `open()` is in both trees", &[]);
        check("What is missing?\n- a test of `open()`", &[]);
        check(
            "## Issues\n- `open()` leaks if it fails",
            &["Finding: `open()` leaks if it fails < Issues"],
        );
    }

    #[test]
    fn labels_and_table_rows_are_parsed() {
        check(
            "**Root cause:** the key has no version.",
            &["Cause: **Root cause:** the key has no version. < Root cause"],
        );
        check(
            "| File | Change |\n|---|---|\n| `a.rs` | no longer locks |",
            &["Finding: `a.rs` | no longer locks"],
        );
        check("Note: `open` needs a path.", &["Finding: Note: `open` needs a path. < Note"]);
    }

    #[test]
    fn cue_words_set_the_kind_of_a_sentence() {
        check(
            "It stalls because the lock is held.",
            &["Cause: It stalls because the lock is held."],
        );
        check(
            "I tried `fsync`, but it was slower.",
            &["DeadEnd: I tried `fsync`, but it was slower."],
        );
        check(
            "Kept `open` rather than `open_at`.",
            &["Decision: Kept `open` rather than `open_at`."],
        );
        check("The Windows build was not run.", &["OpenItem: The Windows build was not run."]);
        check("`close()` is never called.", &["Finding: `close()` is never called."]);
        check("缓存没有失效，因为键没有变化。", &["Cause: 缓存没有失效，因为键没有变化。"]);
    }

    #[test]
    fn small_talk_code_and_quotes_are_not_items() {
        for text in [
            "All tests pass.",
            "Great, that works!",
            "Let me look at `drain()`.",
            "Now let me run the tests for `a.rs`.",
            "Want me to fix `drain()`?",
            "Here's a summary:",
            "You're right.",
            "```\nthe root cause is code\n```",
            "> quoted because",
        ] {
            check(text, &[]);
        }
    }

    #[test]
    fn specific_causal_statements_weigh_most() {
        let weight = |text: &str| parse_report(text).items.first().map_or(0, |item| item.weight);
        let order = [
            "`drain()` stalls because `lock()` is never released in `queue.rs`.",
            "It stalls because the lock is held for too long.",
            "`drain()` is not called.",
            "Added `drain()` to the queue.",
        ];
        for pair in order.windows(2) {
            assert!(weight(pair[0]) > weight(pair[1]), "{pair:?}");
        }
    }

    #[test]
    fn a_passed_check_without_a_cause_is_not_an_item() {
        check("## Findings\n- The whole test suite passes", &[]);
        check(
            "## Findings\n- The test suite passes because `open()` is mocked",
            &["Cause: The test suite passes because `open()` is mocked < Findings"],
        );
    }

    #[test]
    fn a_short_statement_that_names_nothing_has_no_weight() {
        assert_eq!(weight(ItemKind::Cause, "The issue is clear now.", true), 0);
        assert!(weight(ItemKind::Cause, "The issue is in `drain()`.", false) > 0);
        assert!(weight(ItemKind::Cause, &"The issue is clear now. ".repeat(2), false) > 0);
    }

    #[test]
    fn a_remark_with_a_finding_does_not_only_announce() {
        for text in ["Good. Now let me run the tests.", "Let me check:", "Perfect!"] {
            assert!(only_announces(text), "{text}");
        }
        for text in ["The parents were merged. Let me target main.", "Now fix `drain()`."] {
            assert!(!only_announces(text), "{text}");
        }
    }

    #[test]
    fn a_remark_weighs_less_than_a_report() {
        let report = parse_report("`close()` is never called.").items[0].weight;
        let remark = parse_report("`close()` is never called. Let me fix that.").items[0].weight;
        assert!(remark < report);
    }

    #[test]
    fn a_long_item_keeps_its_beginning_and_end() {
        let text = format!(
            "- `drain()` is never called. {}This hides the stall.",
            "It is so. ".repeat(60)
        );
        let item = &parse_report(&text).items[0];
        assert!(item.text.starts_with("`drain()` is never called."), "{}", item.text);
        assert!(item.text.contains(ELLIPSIS) && item.text.ends_with("This hides the stall."));
        assert!(item.text.chars().count() <= ITEM_CHARACTERS_MAX);
    }
}
