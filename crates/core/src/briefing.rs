//! What a session reads when it starts: the most important points that fit a budget, everything
//! carried in quotation, and what was left out.

mod boot;
mod cost;
mod entry;
mod form;
mod material;
mod page;
pub mod points;
mod quote;
mod visible;

pub use material::{Boot, BootAction, Budget, Material, Occasion, Point, Rank};

use entry::Entry;
use page::{Page, Plan, Trailer, Written};

/// What a session is told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Briefing {
    /// The text; empty if there is nothing to say, or no room to say it.
    pub text: String,
    /// What the text costs, as [`crate::tokens::estimate`] counts.
    pub tokens: u64,
    /// The branch that the text speaks of.
    pub branch: Option<String>,
    /// What the text tells, in its order.
    pub told: Vec<Told>,
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
    /// What it begins with, in one line without anything hidden.
    pub text: String,
    /// Where it comes from.
    pub source: String,
    /// Where in there.
    pub place: Option<String>,
    /// The command that shows it.
    pub show: Vec<String>,
}

impl Briefing {
    /// One line that tells the user what the session was told; none if it was told nothing.
    pub fn line_for_user(&self) -> Option<String> {
        let first = self.told.first()?;
        let mut sources: Vec<&str> = self.told.iter().map(|told| told.source.as_str()).collect();
        sources.sort_unstable();
        sources.dedup();
        let more = match sources.len() - 1 {
            0 => String::new(),
            1 => " and 1 other".to_owned(),
            others => format!(" and {others} others"),
        };
        let points = match self.told.len() {
            1 => "1 point".to_owned(),
            points => format!("{points} points"),
        };
        let left = match self.omitted.len() {
            0 => String::new(),
            left => format!(", {left} left out"),
        };
        let source = quote::label(&first.source);
        Some(format!(
            "midstride told this session {points} from {source}{more} (about {} tokens{left})",
            self.tokens
        ))
    }
}

/// Tells as much of the material as fits, the most important first.
pub fn compose(material: &Material, budget: Budget) -> Briefing {
    let entries = entry::in_order(material, budget);
    let fitting = Fitting::of(material, budget, &entries);
    let (plan, written) = fitting.best().unzip();
    let (told, omitted) = entries.split_at(plan.map_or(0, |plan: Plan| plan.told));
    Briefing {
        tokens: written.as_ref().map_or(0, |written| written.tokens),
        text: written.map(|written| written.text).unwrap_or_default(),
        branch: material.branch.clone(),
        told: told
            .iter()
            .enumerate()
            .map(|(at, entry)| Told::of(entry, plan.map_or(0, |plan| plan.form(at, entry).cut)))
            .collect(),
        omitted: omitted.iter().map(Omitted::of).collect(),
    }
}

impl Told {
    fn of(Entry { point, .. }: &Entry, characters_cut: usize) -> Self {
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
    fn of(Entry { point, short, .. }: &Entry) -> Self {
        Self {
            rank: point.rank,
            what: point.what,
            text: short.text.clone(),
            source: point.source.clone(),
            place: point.place.clone(),
            show: point.show.clone(),
        }
    }
}

/// Finds out how much fits.
struct Fitting<'entries> {
    page: Page<'entries>,
    budget: Budget,
    entries: &'entries [Entry],
    /// No more points than this can fit: each costs a token at least.
    most: usize,
}

impl<'entries> Fitting<'entries> {
    fn of(material: &Material, budget: Budget, entries: &'entries [Entry]) -> Self {
        let most = usize::try_from(budget.tokens).unwrap_or(usize::MAX);
        Self { page: Page::of(material, budget, entries, most), budget, entries, most }
    }

    /// The best text that fits, if any does. Its parts cost no less than the whole; whatever they
    /// are, a budget is kept.
    fn best(&self) -> Option<(Plan, Written)> {
        let mut plan = if self.entries.is_empty() { None } else { self.plan() }?;
        loop {
            let written = self.page.write(&plan);
            if written.fits(self.budget) {
                return Some((plan, written));
            }
            plan.told = plan.told.checked_sub(1)?;
        }
    }

    /// The best plan that fits, if any does. What is left out is told by kind, unless then nothing
    /// could be told at all.
    fn plan(&self) -> Option<Plan> {
        let tells = |plan: &Plan| plan.told > 0;
        let kinds = self.filled(Trailer::Kinds);
        if kinds.as_ref().is_some_and(tells) {
            return kinds;
        }
        let total = self.filled(Trailer::Total);
        total.filter(tells).or(kinds).or(total)
    }

    /// What leads is told in short, then at length; then everything else in short, then at length.
    fn filled(&self, trailer: Trailer) -> Option<Plan> {
        let mut plan = Plan { trailer, told: 0, leading_long: 0, other_long: 0 };
        if !self.fits(&plan) {
            return None;
        }
        let leading = self.entries.iter().filter(|entry| entry.leads()).count();
        plan.told = self.greatest(0, leading.min(self.most), |told| Plan { told, ..plan });
        plan.leading_long = self.greatest(0, plan.told, |long| Plan { leading_long: long, ..plan });
        if plan.told == leading {
            let most = self.entries.len().min(self.most).max(leading);
            plan.told = self.greatest(leading, most, |told| Plan { told, ..plan });
            plan.other_long = self.greatest(0, plan.told, |long| Plan { other_long: long, ..plan });
        }
        Some(plan)
    }

    /// The greatest number with which the plan fits; with the smallest it does.
    fn greatest(&self, fitting: usize, most: usize, plan: impl Fn(usize) -> Plan) -> usize {
        if fitting == most || self.fits(&plan(most)) {
            return most;
        }
        let (mut fitting, mut too_much) = (fitting, most);
        while too_much - fitting > 1 {
            let between = fitting.midpoint(too_much);
            if self.fits(&plan(between)) { fitting = between } else { too_much = between }
        }
        fitting
    }

    fn fits(&self, plan: &Plan) -> bool {
        self.page.fits(plan, self.budget)
    }
}
