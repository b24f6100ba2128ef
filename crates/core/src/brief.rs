//! The briefing that a session reads at startup: the most important items that fit a token budget,
//! with quoted text marked as such and a line about what was omitted.

mod cost;
mod entry;
mod excerpt;
pub mod hook;
pub mod items;
pub mod markdown;
mod material;
mod noun;
mod page;
mod page_texts;
mod quote;
pub mod search;
mod startup;
pub mod unsettled;
mod visible;

pub use material::{
    BriefItem, BriefOccasion, Budget, Headline, ItemForm, ItemRank, Material, SourcedStartupStep,
    StartupStep, StartupTools,
};

use cost::Cost;
use entry::PageEntry;
use page::{BriefingPage, PageLayout, PageText};
use page_texts::PageTexts;
use std::ops::Range;

/// A composed briefing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Briefing {
    /// The text; empty if there is nothing to report or the budget is too small.
    pub text: String,
    /// The token count of the text, as counted by [`crate::text::tokens::estimate`].
    pub tokens: u64,
    /// The branch that the briefing is about.
    pub branch: Option<String>,
    /// What the briefing is about, for the line shown to the user.
    pub headline: Option<Headline>,
    /// The items in the text, in page order.
    pub included: Vec<BriefedItem>,
    /// Items without an entry because other entries already show as much of their text as fits.
    pub merged: Vec<OmittedItem>,
    /// Items left off the page because another entry contains their full text.
    pub repeated: Vec<OmittedItem>,
    /// Items that did not fit, most important first.
    pub omitted: Vec<OmittedItem>,
}

/// An item that is part of the briefing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BriefedItem {
    /// How important the item is.
    pub rank: ItemRank,
    /// The kind of item.
    pub heading: &'static str,
    /// The source of the item.
    pub source: String,
    /// Whether it is quoted text rather than a generated line.
    pub is_quote: bool,
    /// The location within the source.
    pub place: Option<String>,
    /// The number of characters truncated from its text.
    pub characters_truncated: usize,
    /// The command that shows the full item.
    pub show: Vec<String>,
}

/// An item that is not part of the briefing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OmittedItem {
    /// How important the item is.
    pub rank: ItemRank,
    /// The kind of item.
    pub heading: &'static str,
    /// The first line of its text, unsanitized.
    first_line: String,
    /// The source of the item.
    pub source: String,
    /// The location within the source.
    pub place: Option<String>,
    /// The command that shows the item.
    pub show: Vec<String>,
}

impl Briefing {
    /// The one-line notice for the user about what the session was briefed from, or `None` if
    /// nothing was included.
    pub fn user_line(&self) -> Option<String> {
        let first = self.included.first()?;
        let headline = self.headline.clone().unwrap_or_default();
        let named = if headline.name.is_empty() { &first.source } else { &headline.name };
        let mut line = format!("midstride: briefed from {}", quote::label(named));
        if let Some(title) = &headline.title {
            line.push_str(&format!(", {}", quote::inline(title, TITLE_LENGTH_MAX)));
        }
        if !headline.state.is_empty() {
            line.push_str(&format!(" ({})", headline.state.join("; ")));
        }
        let others = self.count_other_sources(named);
        if others > 0 {
            line.push_str(&format!(" and {others} more"));
        }
        Some(format!("{line} · {} tokens", self.tokens))
    }

    /// Counts the other sources that the text quotes. A line that only names a session or a file is
    /// no source.
    fn count_other_sources(&self, named: &str) -> usize {
        let quoted = self.included.iter().filter(|item| item.is_quote);
        let sources = quoted.map(|item| item.source.as_str());
        let mut others: Vec<&str> = sources.filter(|source| !source.ends_with(named)).collect();
        others.sort_unstable();
        others.dedup();
        others.len()
    }
}

/// Maximum length of a title in the line shown to the user.
const TITLE_LENGTH_MAX: usize = 60;

/// Composes a briefing from the material, most important items first.
/// Each item first gets a short length in order of importance. The remaining budget then goes to
/// truncated items, in the same order.
pub fn compose(material: &Material, budget: Budget) -> Briefing {
    let entries = entry::entries_by_rank(material, budget);
    let page = BriefingPage::new(material, budget, &entries);
    let filled = PageFiller { page: &page, entries: &entries, budget }.fill();
    let (layout, written) = filled.unzip();
    let layout = layout.unwrap_or_else(|| PageLayout::empty(entries.len()));
    let included = entries.iter().zip(&layout.lengths).filter(|(_, length)| **length > 0);
    let merged = entries.iter().zip(&layout.merged).filter(|(_, merged)| **merged);
    Briefing {
        tokens: written.as_ref().map_or(0, |written: &PageText| written.tokens),
        branch: material.branch.clone(),
        headline: material.headline.clone(),
        included: included
            .map(|(entry, length)| {
                BriefedItem::from_entry(entry, entry.text(*length).characters_truncated)
            })
            .collect(),
        merged: merged.map(|(entry, _)| OmittedItem::from_entry(entry)).collect(),
        repeated: layout.repeated(&entries).map(OmittedItem::from_entry).collect(),
        omitted: layout.omitted(&entries).map(OmittedItem::from_entry).collect(),
        text: written.map(|written| written.text).unwrap_or_default(),
    }
}

impl BriefedItem {
    fn from_entry(PageEntry { item, .. }: &PageEntry<'_>, characters_truncated: usize) -> Self {
        Self {
            rank: item.rank,
            heading: item.heading,
            source: item.source.clone(),
            is_quote: item.form == ItemForm::Quote,
            place: item.place.clone(),
            characters_truncated,
            show: item.show.clone(),
        }
    }
}

impl OmittedItem {
    fn from_entry(entry: &PageEntry<'_>) -> Self {
        let item = &entry.item;
        let mut lines =
            excerpt::content_lines(&item.text).flat_map(|line| line.split(visible::ends_line));
        let first = lines.find(|line| !line.trim().is_empty()).unwrap_or_default();
        Self {
            rank: item.rank,
            heading: item.heading,
            first_line: first.to_owned(),
            source: item.source.clone(),
            place: item.place.clone(),
            show: item.show.clone(),
        }
    }

    /// The first line as sanitized plain text. Computed on demand: hooks omit many items and never
    /// ask for this.
    pub fn text(&self) -> String {
        /// Enough to recognize the item.
        const LENGTH_MAX: usize = 140;
        quote::short_label(&excerpt::strip_markup(&self.first_line), LENGTH_MAX)
    }
}

/// Maximum share of a page, in percent, for the user's instructions when they would crowd out the
/// work.
const INSTRUCTIONS_PERCENT: u64 = 60;
/// Ranks that every page about work shows.
const LEAD_RANKS: [ItemRank; 3] = [ItemRank::Status, ItemRank::NextAction, ItemRank::Goal];

/// The part of the budget reserved for the user's instructions, newest first.
struct InstructionBudget {
    /// Whether the instructions would leave too little for the work itself.
    is_crowded: bool,
    share: Budget,
    spent: Cost,
    is_full: bool,
}

impl InstructionBudget {
    /// Reserves the cost of one more instruction and returns whether it fits. The newest one always
    /// gets its full cost. Once one does not fit, all later ones are refused, so that an older
    /// instruction never displaces a newer one.
    fn try_reserve(&mut self, cost: Cost, spent: Cost, budget: Budget) -> bool {
        if self.is_crowded {
            let with = self.spent + cost;
            let is_newest = self.spent == Cost::default();
            self.is_full |= !(is_newest || with.fits(self.share)) || !(spent + cost).fits(budget);
            self.spent = with;
        }
        !self.is_full
    }
}

/// Computes how much of each item fits on the page.
struct PageFiller<'f> {
    page: &'f BriefingPage<'f>,
    entries: &'f [PageEntry<'f>],
    budget: Budget,
}

impl PageFiller<'_> {
    /// Returns the length of each item and the finished page. The summed costs of the parts should
    /// never be below the cost of the whole; if they are, items are shortened or dropped until the
    /// page fits.
    fn fill(&self) -> Option<(PageLayout, PageText)> {
        let mut layout = self.merge_repeated(self.lay_out_without_repetition());
        loop {
            let last = layout.lengths.iter().rposition(|length| *length > 0)?;
            let written = self.page.write(&layout);
            if written.fits(self.budget) {
                return Some((layout, written));
            }
            layout.lengths[last] = match layout.lengths[last] / 2 {
                length if self.entries[last].item.form == ItemForm::Quote && length > 20 => length,
                _ => 0,
            };
            layout.covered = self.find_covered(&layout);
        }
    }

    /// Lays out a page with little or no repetition. Skipping repeated items frees space for
    /// others, which may repeat something in turn, so this takes a few rounds.
    fn lay_out_without_repetition(&self) -> PageLayout {
        const ROUNDS_MAX: usize = 4;
        let mut layout = self.lay_out(&vec![false; self.entries.len()]);
        let mut skipped = layout.covered.clone();
        for _ in 0..ROUNDS_MAX {
            if !layout.is_repetitive() {
                break;
            }
            let next = self.lay_out(&skipped);
            let is_lost = |(before, now): (&bool, &bool)| *before && !now;
            if skipped.iter().zip(&next.covered).any(is_lost) {
                // An item may only be skipped while the page still covers it.
                let still = skipped.iter().zip(&next.covered).map(|(before, now)| *before && *now);
                skipped = still.collect();
            } else {
                skipped.clone_from(&next.covered);
                layout = next;
            }
        }
        layout
    }

    /// Removes items that would only repeat what the page shows above them.
    fn merge_repeated(&self, layout: PageLayout) -> PageLayout {
        const ROUNDS_MAX: usize = 3;
        let shown = PageTexts::new(self.entries, &layout);
        let all = 0..self.entries.len();
        let begins: Vec<Option<&str>> =
            all.map(|index| shown.repeated_beginning(index, self.entries)).collect();
        let is_merged: Vec<bool> = begins.iter().map(Option::is_some).collect();
        let mut covered = layout.covered.clone();
        for _ in 0..ROUNDS_MAX {
            if !is_merged.contains(&true) {
                break;
            }
            let skipped =
                is_merged.iter().zip(&covered).map(|(merged, covered)| *merged || *covered);
            let mut next = self.lay_out(&skipped.collect::<Vec<_>>());
            let is_lost = |(before, now): (&bool, &bool)| *before && !now;
            let is_there =
                PageTexts::new(self.entries, &next).contains_all(begins.iter().flatten());
            if !is_there || covered.iter().zip(&next.covered).any(is_lost) {
                break;
            }
            if !next.is_repetitive() {
                next.merged = is_merged;
                return next;
            }
            covered = next.covered;
        }
        layout
    }

    /// Lays out a page without the skipped items.
    fn lay_out(&self, skipped: &[bool]) -> PageLayout {
        let mut layout = PageLayout::empty(self.entries.len());
        layout.covered.copy_from_slice(skipped);
        self.assign_first_lengths(&mut layout);
        self.lengthen(&mut layout);
        layout.covered = self.find_covered(&layout);
        layout
    }

    /// Gives each item a short length, in order of importance, until one does not fit.
    fn assign_first_lengths(&self, layout: &mut PageLayout) {
        let mut spent = self.page.frame_cost(layout, self.budget);
        let mut instructions = self.instruction_budget(layout);
        if instructions.is_crowded {
            spent = self.assign_lead_lengths(layout, spent);
        }
        let mut waiting = Vec::new();
        for (index, entry) in self.entries.iter().enumerate() {
            if layout.covered[index] || layout.lengths[index] > 0 {
                continue;
            }
            let cost = self.cost(layout, index, entry.first_length);
            let is_instruction = entry.item.rank == ItemRank::Instruction;
            if is_instruction && !instructions.try_reserve(cost, spent, self.budget) {
                waiting.push(index);
                continue;
            }
            if !(spent + cost).fits(self.budget) {
                layout.lengths[index] = self.shorter_length(layout, index, spent);
                return;
            }
            spent += cost;
            layout.lengths[index] = entry.first_length;
        }
        // The instructions that were held back get what the other items did not use.
        for index in waiting {
            let with = spent + self.cost(layout, index, self.entries[index].first_length);
            if !with.fits(self.budget) {
                return;
            }
            spent = with;
            layout.lengths[index] = self.entries[index].first_length;
        }
    }

    /// The budget for the user's instructions: all they need, unless that leaves too little for the
    /// work itself.
    fn instruction_budget(&self, layout: &PageLayout) -> InstructionBudget {
        let share = self.budget.part(INSTRUCTIONS_PERCENT);
        // Instructions share one heading, so each cost is computed with the previous ones on the
        // page.
        let mut all = layout.clone();
        let (mut count, mut cost) = (0, Cost::default());
        for (index, entry) in self.entries.iter().enumerate() {
            if entry.item.rank == ItemRank::Instruction && !layout.covered[index] {
                cost += self.cost(&all, index, entry.first_length);
                all.lengths[index] = entry.first_length;
                count += 1;
            }
        }
        let has_work = self.entries.iter().any(|entry| LEAD_RANKS.contains(&entry.item.rank));
        let is_crowded = has_work && count > 1 && !cost.fits(share);
        InstructionBudget { is_crowded, share, spent: Cost::default(), is_full: false }
    }

    /// Places a few words of the status, the next action and the goal before a large number of
    /// instructions.
    fn assign_lead_lengths(&self, layout: &mut PageLayout, frame: Cost) -> Cost {
        /// `lengthen` adds more if budget remains.
        const LENGTH_MAX: usize = 120;
        let mut spent = frame;
        for rank in LEAD_RANKS {
            let is_it = |entry: &PageEntry| entry.item.rank == rank;
            let Some(index) = self.entries.iter().position(is_it) else { continue };
            let length = self.entries[index].first_length.min(LENGTH_MAX);
            let with = spent + self.cost(layout, index, length);
            if !layout.covered[index] && with.fits(self.budget.part(INSTRUCTIONS_PERCENT)) {
                layout.lengths[index] = length;
                spent = with;
            }
        }
        spent
    }

    /// A shorter length of an item that still fits next to what is spent, or 0 if that would be too
    /// short.
    fn shorter_length(&self, layout: &PageLayout, index: usize, spent: Cost) -> usize {
        /// A shorter excerpt is useless.
        const LENGTH_MIN: usize = 90;
        let fits = |length: usize| (spent + self.cost(layout, index, length)).fits(self.budget);
        let first = self.entries[index].first_length;
        match self.entries[index].item.form {
            ItemForm::Quote if fits(LENGTH_MIN) => {
                self.longest_length(layout, index, LENGTH_MIN..first, spent)
            }
            ItemForm::Quote | ItemForm::Line => 0,
        }
    }

    /// Gives the remaining budget to truncated items, in order of importance: first up to each
    /// item's cap, then without a cap.
    fn lengthen(&self, layout: &mut PageLayout) {
        /// Minimum number of free tokens worth distributing.
        const ROOM_MIN: u64 = 6;
        let mut spent = self.page.frame_cost(layout, self.budget);
        for (index, length) in layout.lengths.iter().enumerate().filter(|(_, length)| **length > 0)
        {
            spent += self.cost(layout, index, *length);
        }
        for may_be_whole in [false, true] {
            for (index, entry) in self.entries.iter().enumerate() {
                let now = layout.lengths[index];
                if !(spent + Cost::from_tokens(ROOM_MIN)).fits(self.budget) {
                    return;
                }
                // Items that are not on the page are skipped so that their text is never computed.
                if now == 0 {
                    continue;
                }
                let full = if may_be_whole { entry.total_length() } else { entry.capped_length() };
                if now >= full {
                    continue;
                }
                let without = spent.minus(self.cost(layout, index, now));
                let longest = self.longest_length(layout, index, now..full, without);
                spent = without + self.cost(layout, index, longest);
                layout.lengths[index] = longest;
            }
        }
    }

    /// The largest length in the range that fits next to what is spent. The start of the range must
    /// fit.
    fn longest_length(
        &self,
        layout: &PageLayout,
        index: usize,
        range: Range<usize>,
        spent: Cost,
    ) -> usize {
        /// Precision of the search, in characters.
        const STEP: usize = 24;
        let fits = |length: usize| (spent + self.cost(layout, index, length)).fits(self.budget);
        let Range { start: mut fitting, end: mut too_much } = range;
        if fits(too_much) {
            return too_much;
        }
        while too_much - fitting > STEP {
            let between = fitting.midpoint(too_much);
            if fits(between) { fitting = between } else { too_much = between }
        }
        fitting
    }

    /// For each item, whether another item on the page contains all of its text.
    fn find_covered(&self, layout: &PageLayout) -> Vec<bool> {
        let shown = PageTexts::new(self.entries, layout);
        let entries = self.entries.iter().enumerate();
        entries.map(|(index, entry)| shown.covers(index, entry)).collect()
    }

    fn cost(&self, layout: &PageLayout, index: usize, length: usize) -> Cost {
        Cost::for_text(&self.page.render_item(layout, index, length))
    }
}
