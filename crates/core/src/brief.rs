//! What a session reads when it starts: the most important points that fit a budget, everything
//! carried in quotation, and what was left out.

mod boot;
pub mod carry;
mod cost;
mod entry;
mod form;
pub mod hook;
mod material;
mod noun;
mod page;
pub mod points;
mod quote;
pub mod search;
mod shown;
mod visible;

pub use material::{Boot, BootAction, Budget, Form, Headline, Material, Occasion, Point, Rank};

use cost::Cost;
use entry::Entry;
use page::{Layout, Page, Written};
use shown::Shown;
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
    pub told: Vec<Told>,
    /// Items that have no place of their own because others on the page show as much of their text as
    /// there is room for.
    pub merged: Vec<Omitted>,
    /// Items that are not on the page because another one has all of their text.
    pub repeated: Vec<Omitted>,
    /// What it does not tell, in the order of importance.
    pub omitted: Vec<Omitted>,
}

/// A point that is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// How important it is.
    pub rank: Rank,
    /// Its kind.
    pub what: &'static str,
    /// Where it comes from.
    pub source: String,
    /// Where in there.
    pub place: Option<String>,
    /// How many characters of its text are missing.
    pub characters_cut: usize,
    /// The command that shows all of it.
    pub show: Vec<String>,
}

/// A point that found no room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Omitted {
    /// How important it is.
    pub rank: Rank,
    /// Its kind.
    pub what: &'static str,
    /// Its first line, as somebody wrote it.
    first: String,
    /// Where it comes from.
    pub source: String,
    /// Where in there.
    pub place: Option<String>,
    /// The command that shows it.
    pub show: Vec<String>,
}

impl Briefing {
    /// One line that tells the user what the session was briefed with; none if it was not.
    pub fn line_for_user(&self) -> Option<String> {
        let first = self.told.first()?;
        let headline = self.headline.clone().unwrap_or_default();
        let named = if headline.name.is_empty() { &first.source } else { &headline.name };
        let mut line = format!("midstride: briefed from {}", quote::label(named));
        if let Some(title) = &headline.title {
            line.push_str(&format!(", {}", quote::inline(title, TITLE_LENGTH_MAX)));
        }
        if !headline.state.is_empty() {
            line.push_str(&format!(" ({})", headline.state.join("; ")));
        }
        let others = self.other_sources(named);
        if others > 0 {
            line.push_str(&format!(" and {others} more"));
        }
        Some(format!("{line} · {} tokens", self.tokens))
    }

    fn other_sources(&self, named: &str) -> usize {
        let told = self.told.iter().map(|told| told.source.as_str());
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
    let entries = entry::in_order(material, budget);
    let page = Page::of(material, budget, &entries);
    let filled = Filling { page: &page, entries: &entries, budget }.fill();
    let (layout, written) = filled.unzip();
    let layout = layout.unwrap_or_else(|| Layout::empty(entries.len()));
    let told = entries.iter().zip(&layout.lengths).filter(|(_, length)| **length > 0);
    let merged = entries.iter().zip(&layout.merged).filter(|(_, merged)| **merged);
    Briefing {
        tokens: written.as_ref().map_or(0, |written: &Written| written.tokens),
        branch: material.branch.clone(),
        headline: material.headline.clone(),
        told: told.map(|(entry, length)| Told::of(entry, entry.text(*length).cut)).collect(),
        merged: merged.map(|(entry, _)| Omitted::of(entry)).collect(),
        repeated: layout.repeated(&entries).map(Omitted::of).collect(),
        omitted: layout.omitted(&entries).map(Omitted::of).collect(),
        text: written.map(|written| written.text).unwrap_or_default(),
    }
}

impl Told {
    fn of(Entry { point, .. }: &Entry<'_>, characters_cut: usize) -> Self {
        Self {
            rank: point.rank,
            what: point.what,
            source: point.source.clone(),
            place: point.place.clone(),
            characters_cut,
            show: point.show.clone(),
        }
    }
}

impl Omitted {
    fn of(entry: &Entry<'_>) -> Self {
        let point = &entry.point;
        let mut lines = form::lines(&point.text).flat_map(|line| line.split(visible::ends_line));
        let first = lines.find(|line| !line.trim().is_empty()).unwrap_or_default();
        Self {
            rank: point.rank,
            what: point.what,
            first: first.to_owned(),
            source: point.source.clone(),
            place: point.place.clone(),
            show: point.show.clone(),
        }
    }

    /// What it begins with, in one line without anything hidden. Hooks omit much and never ask.
    pub fn text(&self) -> String {
        /// Enough to know it by.
        const LENGTH_MAX: usize = 140;
        quote::label_of(&form::plain(&self.first), LENGTH_MAX)
    }
}

/// The part of a page, in percent, that instructions of the user get where they would fill it.
const INSTRUCTIONS_PART: u64 = 60;
/// What every page about work has.
const LEAD: [Rank; 3] = [Rank::Standing, Rank::NextAction, Rank::Goal];

/// The room that instructions of the user take, the newest first.
struct Instructions {
    /// Whether they would leave too little for the work.
    is_crowd: bool,
    share: Budget,
    spent: Cost,
    is_full: bool,
}

impl Instructions {
    /// Takes the room for one more, unless there is none. The newest one gets all it needs. After the first
    /// that does not fit, none does: older ones do not come before newer ones.
    fn has_room(&mut self, cost: Cost, spent: Cost, budget: Budget) -> bool {
        if self.is_crowd {
            let with = self.spent + cost;
            let is_newest = self.spent == Cost::default();
            self.is_full |= !(is_newest || with.fits(self.share)) || !(spent + cost).fits(budget);
            self.spent = with;
        }
        !self.is_full
    }
}

/// Finds out how much of each point fits.
struct Filling<'f> {
    page: &'f Page<'f>,
    entries: &'f [Entry<'f>],
    budget: Budget,
}

impl Filling<'_> {
    /// The room of each point, and the page. Its parts cost no less than the whole; should they, points
    /// are dropped until it fits.
    fn fill(&self) -> Option<(Layout, Written)> {
        let mut layout = self.merged(self.without_repetition());
        loop {
            let last = layout.lengths.iter().rposition(|length| *length > 0)?;
            let written = self.page.write(&layout);
            if written.fits(self.budget) {
                return Some((layout, written));
            }
            layout.lengths[last] = match layout.lengths[last] / 2 {
                length if self.entries[last].point.form == Form::Quote && length > 20 => length,
                _ => 0,
            };
            layout.covered = self.covered(&layout);
        }
    }

    /// A page that repeats nothing, or little. Skipping what is repeated makes room for more, which may
    /// repeat something again, so this takes a few rounds.
    fn without_repetition(&self) -> Layout {
        const ROUNDS_MAX: usize = 4;
        let mut layout = self.laid_out(&vec![false; self.entries.len()]);
        let mut skipped = layout.covered.clone();
        for _ in 0..ROUNDS_MAX {
            if !layout.is_repetitive() {
                break;
            }
            let next = self.laid_out(&skipped);
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
    fn merged(&self, layout: Layout) -> Layout {
        const ROUNDS_MAX: usize = 3;
        let shown = Shown::of(self.entries, &layout);
        let all = 0..self.entries.len();
        let begins: Vec<Option<&str>> =
            all.map(|index| shown.beginning_above(index, self.entries)).collect();
        let is_merged: Vec<bool> = begins.iter().map(Option::is_some).collect();
        let mut covered = layout.covered.clone();
        for _ in 0..ROUNDS_MAX {
            if !is_merged.contains(&true) {
                break;
            }
            let skipped =
                is_merged.iter().zip(&covered).map(|(merged, covered)| *merged || *covered);
            let mut next = self.laid_out(&skipped.collect::<Vec<_>>());
            let is_lost = |(before, now): (&bool, &bool)| *before && !now;
            let is_there = Shown::of(self.entries, &next).has_all(begins.iter().flatten());
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
    fn laid_out(&self, skipped: &[bool]) -> Layout {
        let mut layout = Layout::empty(self.entries.len());
        layout.covered.copy_from_slice(skipped);
        self.give_first(&mut layout);
        self.lengthen(&mut layout);
        layout.covered = self.covered(&layout);
        layout
    }

    /// A little room for each, in the order of importance, until one does not fit.
    fn give_first(&self, layout: &mut Layout) {
        let mut spent = self.page.frame_cost(layout, self.budget);
        let mut instructions = self.instructions(layout);
        if instructions.is_crowd {
            spent = self.give_lead(layout, spent);
        }
        let mut waiting = Vec::new();
        for (index, entry) in self.entries.iter().enumerate() {
            if layout.covered[index] || layout.lengths[index] > 0 {
                continue;
            }
            let cost = self.cost(layout, index, entry.first_length);
            let is_instruction = entry.point.rank == Rank::Instruction;
            if is_instruction && !instructions.has_room(cost, spent, self.budget) {
                waiting.push(index);
                continue;
            }
            if !(spent + cost).fits(self.budget) {
                layout.lengths[index] = self.shorter(layout, index, spent);
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
    fn instructions(&self, layout: &Layout) -> Instructions {
        let share = self.budget.part(INSTRUCTIONS_PART);
        // They share a heading.
        let mut all = layout.clone();
        let (mut count, mut cost) = (0, Cost::default());
        for (index, entry) in self.entries.iter().enumerate() {
            if entry.point.rank == Rank::Instruction && !layout.covered[index] {
                cost += self.cost(&all, index, entry.first_length);
                all.lengths[index] = entry.first_length;
                count += 1;
            }
        }
        let has_work = self.entries.iter().any(|entry| LEAD.contains(&entry.point.rank));
        let is_crowd = has_work && count > 1 && !cost.fits(share);
        Instructions { is_crowd, share, spent: Cost::default(), is_full: false }
    }

    /// The goal, the status and the next step come before a crowd of instructions: a few words of each.
    fn give_lead(&self, layout: &mut Layout, frame: Cost) -> Cost {
        /// More follows where room is left.
        const LENGTH_MAX: usize = 120;
        let mut spent = frame;
        for rank in LEAD {
            let is_it = |entry: &Entry| entry.point.rank == rank;
            let Some(index) = self.entries.iter().position(is_it) else { continue };
            let length = self.entries[index].first_length.min(LENGTH_MAX);
            let with = spent + self.cost(layout, index, length);
            if !layout.covered[index] && with.fits(self.budget.part(INSTRUCTIONS_PART)) {
                layout.lengths[index] = length;
                spent = with;
            }
        }
        spent
    }

    /// Fewer characters of a point that fit beside what is spent; none where too few would.
    fn shorter(&self, layout: &Layout, index: usize, spent: Cost) -> usize {
        /// Less says nothing.
        const LENGTH_MIN: usize = 90;
        let fits = |length: usize| (spent + self.cost(layout, index, length)).fits(self.budget);
        let first = self.entries[index].first_length;
        match self.entries[index].point.form {
            Form::Quote if fits(LENGTH_MIN) => {
                self.longest(layout, index, LENGTH_MIN..first, spent)
            }
            Form::Quote | Form::Line => 0,
        }
    }

    /// The room that is left goes to what was truncated, in the order of importance: up to its share, or
    /// all of it where nothing else needs the room.
    fn lengthen(&self, layout: &mut Layout) {
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
                if !(spent + Cost::of_tokens(ROOM_MIN)).fits(self.budget) {
                    return;
                }
                // The text of one that is not on the page is not looked at.
                if now == 0 {
                    continue;
                }
                let full = if may_be_whole { entry.whole_length() } else { entry.full_length() };
                if now >= full {
                    continue;
                }
                let without = spent.less(self.cost(layout, index, now));
                let longest = self.longest(layout, index, now..full, without);
                spent = without + self.cost(layout, index, longest);
                layout.lengths[index] = longest;
            }
        }
    }

    /// The most characters of a point that fit beside what is spent; the least of the range do.
    fn longest(&self, layout: &Layout, index: usize, range: Range<usize>, spent: Cost) -> usize {
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
    fn covered(&self, layout: &Layout) -> Vec<bool> {
        let shown = Shown::of(self.entries, layout);
        let entries = self.entries.iter().enumerate();
        entries.map(|(index, entry)| shown.has(index, entry)).collect()
    }

    fn cost(&self, layout: &Layout, index: usize, length: usize) -> Cost {
        Cost::of(&self.page.piece(layout, index, length))
    }
}
