//! What an agent says in its own texts, read without a model: findings, causes, decisions, dead ends
//! and open items of a report, its status, its question to the user, the sections of a compaction
//! summary.
//!
//! Every text that comes out is verbatim, apart from white space and `[…]` where something was
//! omitted. Nothing is concluded: what is no statement of the agent is not an item.

mod blocks;
mod boxes;
mod marks;
mod question;
mod sentences;
mod shorten;
mod status;
mod summary;
mod topics;

pub use boxes::unchecked_boxes;
pub use question::{question, stated_plan};
pub use shorten::shorten;
pub use status::is_report;
pub use summary::{Summary, SummaryItem, SummaryKind, read_summary};

use blocks::{Block, Kind, blocks};
use sentences::{identifiers, sentences, words};
use topics::{Topic, topic};

/// Stands for what was omitted.
pub const ELLIPSIS: &str = "[…]";

/// The longest text of an item. First sentence and last clause of real items fit.
const ITEM_CHARACTERS_MAX: usize = 240;
/// The longest heading that is shown above items.
const HEADING_CHARACTERS_MAX: usize = 120;
/// Items of a text at most, so that a hostile text stays cheap for whoever sorts them.
const ITEMS_MAX: usize = 500;

/// What one text of an agent says. Everything is verbatim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Where the work is at the end of the text.
    pub status: Option<String>,
    /// What the user must answer.
    pub question: Option<String>,
    /// Single statements, in the order of the text.
    pub items: Vec<ReportItem>,
}

/// One list item, table row or sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportItem {
    /// What it is.
    pub kind: ItemKind,
    /// The words of the agent, shortened where they are long.
    pub text: String,
    /// The heading or lead-in above it, without markup around it.
    pub heading: Option<String>,
    /// How much it is worth to a reader who has little space: specific and causal beats generic.
    pub weight: u8,
}

/// What a statement of an agent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ItemKind {
    /// Something about the code or the world that is so.
    Finding,
    /// Why something is so.
    Cause,
    /// What was chosen, or how something was solved.
    Decision,
    /// What was tried and did not work.
    DeadEnd,
    /// What is left to do.
    OpenItem,
    /// An unchecked box of a list.
    Unchecked,
    /// What the agent proposes or intends.
    Plan,
    /// What was done.
    Done,
}

/// Reads one text of an agent.
pub fn read(text: &str) -> Report {
    let blocks = blocks(text);
    let mut reader = Reader { is_remark: !status::is_report_of(&blocks), ..Reader::default() };
    for (index, block) in blocks.iter().enumerate() {
        let next = blocks.get(index + 1);
        reader.block(
            block,
            next.is_some_and(|next| matches!(next.kind, Kind::Item { .. } | Kind::Row)),
        );
    }
    reader.items.truncate(ITEMS_MAX);
    Report {
        status: status::status(&blocks),
        question: question::question_of(&blocks),
        items: reader.items,
    }
}

/// A heading or lead-in that holds for what follows.
#[derive(Clone, Debug, Default)]
struct Above {
    text: Option<String>,
    topic: Option<Topic>,
}

impl Above {
    fn of(title: &str) -> Self {
        Self { text: Some(bare(title)).filter(|text| !text.is_empty()), topic: topic(title) }
    }
}

/// The form a statement has in its text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Sentence,
    Item,
    Row,
}

#[derive(Default)]
struct Reader {
    items: Vec<ReportItem>,
    /// The headings above, each with its level.
    headings: Vec<(u8, Above)>,
    lead_in: Option<Above>,
    /// A remark between two calls knows less than a report.
    is_remark: bool,
}

impl Reader {
    fn block(&mut self, block: &Block, is_before_list: bool) {
        match block.kind {
            Kind::Heading(level) => self.heading(level, &block.text),
            Kind::Paragraph => self.paragraph(&block.text, is_before_list),
            Kind::Item { check: Some(false), .. } => {
                self.push(ItemKind::Unchecked, &block.text, Form::Item);
            }
            Kind::Item { .. } => {
                self.statement(&block.text, Form::Item);
                if block.text.ends_with([':', '：']) && is_before_list {
                    self.lead_in = Some(Above::of(&block.text));
                }
            }
            Kind::Row => self.statement(&block.text, Form::Row),
        }
    }

    fn heading(&mut self, level: u8, title: &str) {
        self.lead_in = None;
        self.headings.retain(|(outer, _)| *outer < level);
        let mut above = Above::of(title);
        // Below "Issues", a heading is the title of an issue, whatever its words are.
        let inherited = self.topic();
        if let Some(Topic::Praise | Topic::Items(_)) = inherited {
            self.statement(title, Form::Item);
            above.topic = inherited;
        }
        self.headings.push((level, above));
    }

    fn paragraph(&mut self, text: &str, is_before_list: bool) {
        let mut sentences = sentences(text);
        let label = label(text).map(Above::of).filter(|label| label.topic.is_some());
        self.lead_in = label.clone();
        let last = sentences.last().copied().unwrap_or_default();
        if text.ends_with([':', '：']) {
            sentences.pop();
        }
        for sentence in sentences {
            self.statement(sentence, Form::Sentence);
        }
        // The label of a paragraph holds for its own list, not for what comes after.
        self.lead_in = is_before_list.then(|| label.unwrap_or_else(|| Above::of(last)));
    }

    /// An item, if the text states something.
    fn statement(&mut self, text: &str, form: Form) {
        let words = words(text);
        let is_listed = form != Form::Sentence;
        if is_noise(text, &words, is_listed) {
            return;
        }
        let topic = label(text).and_then(topic).or_else(|| self.topic());
        let marked = marks::kind(&words);
        let kind = match (marked, topic) {
            (_, Some(Topic::Praise)) => return,
            (Some(kind @ (ItemKind::Cause | ItemKind::DeadEnd | ItemKind::OpenItem)), _) => kind,
            (Some(kind), _) if form == Form::Row => kind,
            (None, _) if marks::is_done(&words) => ItemKind::Done,
            (_, Some(Topic::Items(kind))) if form != Form::Row => kind,
            (Some(kind), _) => kind,
            (None, _) => ItemKind::Finding,
        };
        let is_strong = marked.is_some() && !matches!(kind, ItemKind::Finding | ItemKind::Done);
        if is_listed || is_strong || identifiers(text) > 0 {
            self.push(kind, text, form);
        }
    }

    fn topic(&self) -> Option<Topic> {
        let heading = self.headings.last().and_then(|(_, above)| above.topic);
        self.lead_in.as_ref().and_then(|above| above.topic).or(heading)
    }

    fn push(&mut self, kind: ItemKind, text: &str, form: Form) {
        let heading = self.headings.last().and_then(|(_, above)| above.text.as_ref());
        let heading = self.lead_in.as_ref().and_then(|above| above.text.as_ref()).or(heading);
        let is_announced = form == Form::Item && self.topic() == Some(Topic::Items(kind));
        let mut weight = weight(kind, text, is_announced);
        if self.is_remark || form == Form::Row {
            weight = weight.saturating_sub(ASIDE);
        }
        let text = shorten(text, ITEM_CHARACTERS_MAX);
        self.items.push(ReportItem { kind, text, heading: heading.cloned(), weight });
    }
}

/// A heading without markup around and inside it.
fn bare(title: &str) -> String {
    let title = title.replace("**", "");
    shorten(title.trim_matches(|c: char| "_#: ：".contains(c)), HEADING_CHARACTERS_MAX)
}

/// The label at the start of a text: `**Root cause:** …`, `**Fix** — …`, `Remaining: …`.
fn label(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix("**") {
        let (bold, after) = rest.split_once("**")?;
        let is_label = bold.ends_with(':') || after.trim_start().starts_with([':', '—', '–', '-']);
        return is_label.then_some(bold);
    }
    let (start, rest) = text.split_once(':')?;
    let is_label =
        rest.starts_with(' ') && start.split(' ').nth(4).is_none() && !start.contains('`');
    is_label.then_some(start)
}

/// Whether a text states nothing that outlives its turn.
fn is_noise(text: &str, words: &str, is_listed: bool) -> bool {
    let is_causal = marks::kind(words) == Some(ItemKind::Cause);
    let is_question = text.ends_with(['?', '？']);
    let is_bare = identifiers(text) == 0 && !is_causal && !is_listed;
    let is_short = text.chars().nth(11).is_none();
    is_short
        || is_question && !is_listed
        || marks::is_step(words) && !is_listed
        || marks::is_passed_check(words) && !is_causal && marks::marks(words) == 0
        || is_bare && marks::is_polite(words)
}

/// What a row of a table or a remark between two calls weighs less than a sentence of a report.
const ASIDE: u8 = 12;

/// The weight of a statement, from 0 to 100.
fn weight(kind: ItemKind, text: &str, is_announced: bool) -> u8 {
    let base = match kind {
        ItemKind::Cause | ItemKind::DeadEnd => 40,
        ItemKind::OpenItem | ItemKind::Unchecked => 36,
        ItemKind::Decision => 34,
        ItemKind::Finding => 28,
        ItemKind::Done => 22,
        ItemKind::Plan => 16,
    };
    let specific = identifiers(text).min(3) * 5;
    let marked = marks::marks(&words(text)).min(3) * 4;
    let announced = usize::from(is_announced) * 8;
    let length = match text.chars().count() {
        0..40 => 0,
        40..250 => 6,
        _ => 2,
    };
    u8::try_from(base + specific + marked + announced + length).unwrap_or(u8::MAX)
}
