//! Points in the order of importance, each with the room it gets.

use super::material::{Budget, Form, Material, Point, Rank};
use super::visible::Visible;
use super::{boot, form, quote};
use crate::session::report::{Cuts, ELLIPSIS};
use std::borrow::Cow;
use std::cell::OnceCell;

/// No text takes more characters than these.
const LENGTH_MAX: usize = 16_000;
/// A budget of so many tokens is a small page.
const SMALL_PAGE_TOKENS: usize = 500;

/// A point in its place on the page.
#[derive(Clone, Debug)]
pub(super) struct Entry<'m> {
    pub(super) point: Cow<'m, Point>,
    /// Its text as it is quoted. Most of what there is to tell finds no room, and is not looked at.
    body: OnceCell<Visible>,
    /// Where that can be cut.
    cuts: OnceCell<Cuts>,
    /// The characters it gets before any other point gets more.
    pub(super) first_length: usize,
    /// The characters it gets at most.
    length_max: usize,
}

impl<'m> Entry<'m> {
    fn of(point: Cow<'m, Point>, budget: Budget) -> Self {
        let first_length = first_length(point.rank, budget);
        // The beginning of a document says what it is about; more of it follows where room is left.
        let length_max = if point.is_beginning { 0 } else { full_length(point.rank, budget) };
        let length_max = length_max.max(first_length);
        let (body, cuts) = (OnceCell::new(), OnceCell::new());
        Self { point, body, cuts, first_length, length_max }
    }

    /// Without what hides and without lines that say nothing.
    fn body(&self) -> &Visible {
        self.body.get_or_init(|| match self.point.form {
            Form::Line => Visible { text: quote::line(&self.point.text), cut: 0 },
            Form::Quote => Visible::of(&form::plain_lines(&self.point.text), LENGTH_MAX),
        })
    }

    /// The characters that all of it takes, or as many as it may take.
    pub(super) fn full_length(&self) -> usize {
        let length = || self.body().text.chars().count();
        match self.point.form {
            Form::Line => self.first_length,
            Form::Quote => length().clamp(self.first_length, self.length_max),
        }
    }

    /// The characters that all of it takes, where nothing else needs the room.
    pub(super) fn whole_length(&self) -> usize {
        match self.point.form {
            Form::Line => self.first_length,
            Form::Quote => self.body().text.chars().count(),
        }
    }

    /// All of its text.
    pub(super) fn whole(&self) -> &str {
        &self.body().text
    }

    /// Its text within a number of characters.
    pub(super) fn text(&self, characters_max: usize) -> Visible {
        let Visible { text, cut } = self.body();
        let shown = match self.point.form {
            Form::Line => return self.body().clone(),
            Form::Quote if self.point.is_beginning => form::beginning(text, characters_max),
            Form::Quote => form::within(text, &self.cuts, characters_max),
        };
        // The text of the point may be shortened already.
        let is_cut = shown.text.contains(ELLIPSIS);
        Visible { cut: (shown.cut + cut).max(usize::from(is_cut)), ..shown }
    }

    /// Whether it shares a heading with the entry before it on the page.
    pub(super) fn continues(&self, before: &Self) -> bool {
        let (before, point) = (&before.point, &self.point);
        before.what == point.what && before.remark == point.remark && before.source == point.source
    }

    /// What another point on the page may say as well. What leads is said again: it has to be found under
    /// its own heading. So is what another source says.
    pub(super) fn repeatable(&self) -> Option<&str> {
        let leads = self.point.rank < Rank::WrongTurn || !self.point.is_of_page;
        let is_quote = self.point.form == Form::Quote;
        (!leads && is_quote).then(|| self.body().text.as_str()).filter(|body| !body.is_empty())
    }
}

/// The place of a rank on the page. What is said about one piece of work stays together, source by
/// source.
fn order(rank: Rank) -> (u8, Rank) {
    if matches!(rank, Rank::Instruction | Rank::Rejected) {
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
        Rank::Goal => (160, 180),
        Rank::NextAction => (320, 130),
        Rank::Source | Rank::Standing => (160, 60),
        Rank::Report => (160, 160),
        Rank::Constraint => (130, 76),
        Rank::BlockingQuestion | Rank::Rejected | Rank::WrongTurn | Rank::Landmine => (180, 60),
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
        | Rank::Rejected
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
pub(super) fn in_order(material: &Material, budget: Budget) -> Vec<Entry<'_>> {
    let boot = material.boot.iter().flat_map(|boot| boot::points(boot, material.client));
    let points = material.points.iter().map(Cow::Borrowed);
    let mut points: Vec<Cow<'_, Point>> = boot.map(Cow::Owned).chain(points).collect();
    points.sort_by_key(|point| order(point.rank));
    points.into_iter().map(|point| Entry::of(point, budget)).collect()
}
