//! What a session reads when it starts: the most important points that fit a budget, everything
//! carried in quotation, and what was left out.

mod cost;
mod entry;
mod excerpt;
pub mod hook;
pub mod items;
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
    StartupStep,
};

use cost::Cost;
use entry::PageEntry;
use page::{BriefingPage, PageLayout, PageText};
use page_texts::PageTexts;
use std::ops::Range;

/// What a session is told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Briefing {
    /// The text; empty if there is nothing to say, or no room to say it.
    pub text: String,
    /// What the text costs, as [`crate::text::tokens::estimate`] counts.
    pub tokens: u64,
    /// The branch that the text speaks of.
    pub branch: Option<String>,
    /// What the page is about, for the user's line.
    pub headline: Option<Headline>,
    /// What the text tells, in its order.
    pub included: Vec<BriefedItem>,
    /// Items that have no place of their own because others on the page show as much of their text as
    /// there is room for.
    pub merged: Vec<OmittedItem>,
    /// Items that are not on the page because another one has all of their text.
    pub repeated: Vec<OmittedItem>,
    /// What it does not tell, in the order of importance.
    pub omitted: Vec<OmittedItem>,
}

/// A point that is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BriefedItem {
    /// How important it is.
    pub rank: ItemRank,
    /// Its kind.
    pub heading: &'static str,
    /// Where it comes from.
    pub source: String,
    /// Where in there.
    pub place: Option<String>,
    /// How many characters of its text are missing.
    pub characters_truncated: usize,
    /// The command that shows all of it.
    pub show: Vec<String>,
}

/// A point that found no room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OmittedItem {
    /// How important it is.
    pub rank: ItemRank,
    /// Its kind.
    pub heading: &'static str,
    /// Its first line, as somebody wrote it.
    first_line: String,
    /// Where it comes from.
    pub source: String,
    /// Where in there.
    pub place: Option<String>,
    /// The command that shows it.
    pub show: Vec<String>,
}

impl Briefing {
    /// One line that tells the user what the session was briefed with; none if it was not.
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

    fn count_other_sources(&self, named: &str) -> usize {
        let told = self.included.iter().map(|told| told.source.as_str());
        let mut others: Vec<&str> = told.filter(|source| !source.ends_with(named)).collect();
        others.sort_unstable();
        others.dedup();
        others.len()
    }
}

/// A title in the user's line has no more characters than this.
const TITLE_LENGTH_MAX: usize = 60;

/// Tells as much of the material as fits, the most important first. Each point gets a little room in
/// the order of importance; what is left goes to those that were truncated, in the same order.
pub fn compose(material: &Material, budget: Budget) -> Briefing {
    let entries = entry::entries_by_rank(material, budget);
    let page = BriefingPage::new(material, budget, &entries);
    let filled = PageFiller { page: &page, entries: &entries, budget }.fill();
    let (layout, written) = filled.unzip();
    let layout = layout.unwrap_or_else(|| PageLayout::empty(entries.len()));
    let told = entries.iter().zip(&layout.lengths).filter(|(_, length)| **length > 0);
    let merged = entries.iter().zip(&layout.merged).filter(|(_, merged)| **merged);
    Briefing {
        tokens: written.as_ref().map_or(0, |written: &PageText| written.tokens),
        branch: material.branch.clone(),
        headline: material.headline.clone(),
        included: told
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
    fn from_entry(
        PageEntry { item: point, .. }: &PageEntry<'_>,
        characters_truncated: usize,
    ) -> Self {
        Self {
            rank: point.rank,
            heading: point.heading,
            source: point.source.clone(),
            place: point.place.clone(),
            characters_truncated,
            show: point.show.clone(),
        }
    }
}

impl OmittedItem {
    fn from_entry(entry: &PageEntry<'_>) -> Self {
        let point = &entry.item;
        let mut lines =
            excerpt::content_lines(&point.text).flat_map(|line| line.split(visible::ends_line));
        let first = lines.find(|line| !line.trim().is_empty()).unwrap_or_default();
        Self {
            rank: point.rank,
            heading: point.heading,
            first_line: first.to_owned(),
            source: point.source.clone(),
            place: point.place.clone(),
            show: point.show.clone(),
        }
    }

    /// What it begins with, in one line without anything hidden. Hooks omit much and never ask.
    pub fn text(&self) -> String {
        /// Enough to know it by.
        const LENGTH_MAX: usize = 140;
        quote::short_label(&excerpt::strip_markup(&self.first_line), LENGTH_MAX)
    }
}

/// The part of a page, in percent, that instructions of the user get where they would fill it.
const INSTRUCTIONS_PERCENT: u64 = 60;
/// What every page about work has.
const LEAD_RANKS: [ItemRank; 3] = [ItemRank::Status, ItemRank::NextAction, ItemRank::Goal];

/// The room that instructions of the user take, the newest first.
struct InstructionBudget {
    /// Whether they would leave too little for the work.
    is_crowded: bool,
    share: Budget,
    spent: Cost,
    is_full: bool,
}

impl InstructionBudget {
    /// Takes the room for one more, unless there is none. The newest one gets all it needs. After the first
    /// that does not fit, none does: older ones do not come before newer ones.
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

/// Finds out how much of each point fits.
struct PageFiller<'f> {
    page: &'f BriefingPage<'f>,
    entries: &'f [PageEntry<'f>],
    budget: Budget,
}

impl PageFiller<'_> {
    /// The room of each point, and the page. Its parts cost no less than the whole; should they, points
    /// are dropped until it fits.
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

    /// A page that repeats nothing, or little. Skipping what is repeated makes room for more, which may
    /// repeat something again, so this takes a few rounds.
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
                // What was skipped has to be on the page.
                let still = skipped.iter().zip(&next.covered).map(|(before, now)| *before && *now);
                skipped = still.collect();
            } else {
                skipped.clone_from(&next.covered);
                layout = next;
            }
        }
        layout
    }

    /// The page without points that would only repeat what is already above them.
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

    /// A page without some of the points.
    fn lay_out(&self, skipped: &[bool]) -> PageLayout {
        let mut layout = PageLayout::empty(self.entries.len());
        layout.covered.copy_from_slice(skipped);
        self.assign_first_lengths(&mut layout);
        self.lengthen(&mut layout);
        layout.covered = self.find_covered(&layout);
        layout
    }

    /// A little room for each, in the order of importance, until one does not fit.
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
        // Nothing else is left to tell.
        for index in waiting {
            let with = spent + self.cost(layout, index, self.entries[index].first_length);
            if !with.fits(self.budget) {
                return;
            }
            spent = with;
            layout.lengths[index] = self.entries[index].first_length;
        }
    }

    /// The room that instructions of the user get: all they need, unless little would be left for the
    /// work itself.
    fn instruction_budget(&self, layout: &PageLayout) -> InstructionBudget {
        let share = self.budget.part(INSTRUCTIONS_PERCENT);
        // They share a heading.
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
        let is_crowd = has_work && count > 1 && !cost.fits(share);
        InstructionBudget { is_crowded: is_crowd, share, spent: Cost::default(), is_full: false }
    }

    /// The goal, the status and the next step come before a crowd of instructions: a few words of each.
    fn assign_lead_lengths(&self, layout: &mut PageLayout, frame: Cost) -> Cost {
        /// More follows where room is left.
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

    /// Fewer characters of a point that fit beside what is spent; none where too few would.
    fn shorter_length(&self, layout: &PageLayout, index: usize, spent: Cost) -> usize {
        /// Less says nothing.
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

    /// The room that is left goes to what was truncated, in the order of importance: up to its share, or
    /// all of it where nothing else needs the room.
    fn lengthen(&self, layout: &mut PageLayout) {
        /// Fewer tokens are not worth looking.
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
                // The text of one that is not on the page is not looked at.
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

    /// The most characters of a point that fit beside what is spent; the least of the range do.
    fn longest_length(
        &self,
        layout: &PageLayout,
        index: usize,
        range: Range<usize>,
        spent: Cost,
    ) -> usize {
        /// Closer is not worth looking.
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

    /// For each point, whether another one on the page says all of it.
    fn find_covered(&self, layout: &PageLayout) -> Vec<bool> {
        let shown = PageTexts::new(self.entries, layout);
        let entries = self.entries.iter().enumerate();
        entries.map(|(index, entry)| shown.covers(index, entry)).collect()
    }

    fn cost(&self, layout: &PageLayout, index: usize, length: usize) -> Cost {
        Cost::for_text(&self.page.render_item(layout, index, length))
    }
}
