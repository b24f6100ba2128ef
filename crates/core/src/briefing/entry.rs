//! Points in the order of importance, each with the room it gets.

use super::material::{Budget, Form, Material, Point, Rank};
use super::visible::Visible;
use super::{boot, form, quote};

/// No text takes more characters than these.
const LENGTH_MAX: usize = 16_000;
/// A budget of so many tokens is a small page.
const SMALL_PAGE_TOKENS: usize = 500;

/// A point in its place on the page.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) point: Point,
    /// Its text as it is quoted: without lines that say nothing.
    body: String,
    /// The characters it gets before any other point gets more.
    pub(super) first_length: usize,
    /// The characters it gets at most.
    full_length: usize,
}

impl Entry {
    fn of(point: Point, budget: Budget) -> Self {
        let body = match point.form {
            Form::Line => quote::line(&point.text),
            Form::Quote => form::without_empty_lines(&point.text),
        };
        let first_length = first_length(point.rank, budget);
        let most = full_length(point.rank, budget).max(first_length);
        let full_length = match point.form {
            Form::Line => first_length,
            Form::Quote => body.chars().count().clamp(first_length, most),
        };
        Self { point, body, first_length, full_length }
    }

    /// The characters that all of it takes, or as many as it may take.
    pub(super) fn full_length(&self) -> usize {
        self.full_length
    }

    /// Its text within a number of characters.
    pub(super) fn text(&self, characters_max: usize) -> Visible {
        match self.point.form {
            Form::Line => Visible { text: self.body.clone(), cut: 0 },
            Form::Quote => form::within(&self.body, characters_max),
        }
    }

    /// Whether it shares a heading with the entry before it on the page.
    pub(super) fn continues(&self, before: &Self) -> bool {
        let (before, point) = (&before.point, &self.point);
        before.what == point.what && before.remark == point.remark && before.source == point.source
    }

    /// Whether a text that is on the page says all of this already. What leads is said again: it has to
    /// be found under its own heading. So is what another source says.
    pub(super) fn is_in(&self, shown: &str) -> bool {
        let leads = self.point.rank < Rank::WrongTurn || !self.point.is_of_page;
        let body = self.body.trim();
        !leads && self.point.form == Form::Quote && !body.is_empty() && shown.contains(body)
    }
}

/// The place of a rank on the page. What is said about one piece of work stays together, source by
/// source.
fn order(rank: Rank) -> (u8, Rank) {
    if rank == Rank::Instruction {
        return (0, rank);
    }
    if rank.is_work() { (1, Rank::Source) } else { (2, rank) }
}

/// The characters that a point gets first; a larger page has more room for each.
fn first_length(rank: Rank, budget: Budget) -> usize {
    let tokens = usize::try_from(budget.tokens).unwrap_or(usize::MAX);
    let pages = (tokens / SMALL_PAGE_TOKENS).clamp(1, 4);
    let (small, more) = match rank {
        Rank::Instruction => (400, 0),
        Rank::Goal | Rank::NextAction => (220, 160),
        Rank::Source | Rank::Standing => (160, 60),
        Rank::Report => (160, 160),
        Rank::Constraint | Rank::BlockingQuestion | Rank::WrongTurn | Rank::Landmine => (180, 60),
        Rank::Failure | Rank::Task | Rank::Decision | Rank::Proof | Rank::Read => (110, 60),
        Rank::File | Rank::Rest => (120, 40),
    };
    small + more * (pages - 1)
}

/// The characters that a point gets at most. A request may be a whole document; what became of it
/// matters more.
fn full_length(rank: Rank, budget: Budget) -> usize {
    let tokens = usize::try_from(budget.tokens).unwrap_or(usize::MAX);
    match rank {
        Rank::Goal => (tokens / 2).min(LENGTH_MAX),
        Rank::NextAction | Rank::Standing => tokens.min(LENGTH_MAX),
        Rank::Source
        | Rank::Instruction
        | Rank::BlockingQuestion
        | Rank::Constraint
        | Rank::WrongTurn
        | Rank::Landmine
        | Rank::Failure
        | Rank::Task
        | Rank::Decision
        | Rank::Proof
        | Rank::Read
        | Rank::Report
        | Rank::File
        | Rank::Rest => LENGTH_MAX,
    }
}

/// Everything there is to tell, the most important first.
pub(super) fn in_order(material: &Material, budget: Budget) -> Vec<Entry> {
    let boot = material.boot.iter().flat_map(|boot| boot::points(boot, material.client));
    let mut points: Vec<Point> = boot.chain(material.points.iter().cloned()).collect();
    points.sort_by_key(|point| order(point.rank));
    points.into_iter().map(|point| Entry::of(point, budget)).collect()
}
