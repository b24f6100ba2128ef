//! Points in the order of importance, each with the room it gets.

use super::material::{BriefItem, Budget, ItemForm, ItemRank, Material};
use super::visible::VisibleText;
use super::{excerpt, quote, startup};
use crate::session::report::{CutPoints, ELLIPSIS};
use std::borrow::Cow;
use std::cell::OnceCell;

/// No text takes more characters than these.
const LENGTH_MAX: usize = 16_000;
/// A budget of so many tokens is a small page.
const SMALL_PAGE_TOKENS: usize = 500;

/// A point in its place on the page.
#[derive(Clone, Debug)]
pub(super) struct PageEntry<'m> {
    pub(super) item: Cow<'m, BriefItem>,
    /// Its text as it is quoted. Most of what there is to tell finds no room, and is not looked at.
    body: OnceCell<VisibleText>,
    /// Where that can be cut.
    cuts: OnceCell<CutPoints>,
    /// The characters it gets before any other point gets more.
    pub(super) first_length: usize,
    /// The characters it gets at most.
    length_max: usize,
}

impl<'m> PageEntry<'m> {
    fn new(item: Cow<'m, BriefItem>, budget: Budget) -> Self {
        let first_length = first_length(item.rank, budget);
        // The beginning of a document says what it is about; more of it follows where room is left.
        let length_max = if item.is_beginning { 0 } else { rank_length_max(item.rank, budget) };
        let length_max = length_max.max(first_length);
        let (body, cuts) = (OnceCell::new(), OnceCell::new());
        Self { item, body, cuts, first_length, length_max }
    }

    /// Without what hides and without lines that say nothing.
    fn body(&self) -> &VisibleText {
        self.body.get_or_init(|| match self.item.form {
            ItemForm::Line => {
                VisibleText { text: quote::line(&self.item.text), characters_truncated: 0 }
            }
            ItemForm::Quote => VisibleText::new(&excerpt::plain_text(&self.item.text), LENGTH_MAX),
        })
    }

    /// The characters that all of it takes, or as many as it may take.
    pub(super) fn capped_length(&self) -> usize {
        let length = || self.body().text.chars().count();
        match self.item.form {
            ItemForm::Line => self.first_length,
            ItemForm::Quote => length().clamp(self.first_length, self.length_max),
        }
    }

    /// The characters that all of it takes, where nothing else needs the room.
    pub(super) fn total_length(&self) -> usize {
        match self.item.form {
            ItemForm::Line => self.first_length,
            ItemForm::Quote => self.body().text.chars().count(),
        }
    }

    /// All of its text.
    pub(super) fn full_text(&self) -> &str {
        &self.body().text
    }

    /// Its text within a number of characters.
    pub(super) fn text(&self, characters_max: usize) -> VisibleText {
        let VisibleText { text, characters_truncated: cut } = self.body();
        let shown = match self.item.form {
            ItemForm::Line => return self.body().clone(),
            ItemForm::Quote if self.item.is_beginning => excerpt::truncate(text, characters_max),
            ItemForm::Quote => excerpt::shorten(text, &self.cuts, characters_max),
        };
        // The text of the point may be shortened already.
        let is_cut = shown.text.contains(ELLIPSIS);
        VisibleText {
            characters_truncated: (shown.characters_truncated + cut).max(usize::from(is_cut)),
            ..shown
        }
    }

    /// Whether it shares a heading with the entry before it on the page.
    pub(super) fn continues(&self, before: &Self) -> bool {
        let (before, point) = (&before.item, &self.item);
        before.heading == point.heading
            && before.remark == point.remark
            && before.source == point.source
    }

    /// What another point on the page may say as well. What leads is said again: it has to be found under
    /// its own heading. So is what another source says.
    pub(super) fn repeatable(&self) -> Option<&str> {
        let leads = self.item.rank < ItemRank::WrongTurn || !self.item.is_page_subject;
        let is_quote = self.item.form == ItemForm::Quote;
        (!leads && is_quote).then(|| self.body().text.as_str()).filter(|body| !body.is_empty())
    }
}

/// The place of a rank on the page. What is said about one piece of work stays together, source by
/// source.
fn sort_key(rank: ItemRank) -> (u8, ItemRank) {
    if matches!(rank, ItemRank::Instruction | ItemRank::Rejected) {
        return (0, rank);
    }
    if rank.is_work() { (1, ItemRank::Source) } else { (2, rank) }
}

/// The characters that a point gets first; a larger page has more room for each.
fn first_length(rank: ItemRank, budget: Budget) -> usize {
    let tokens = usize::try_from(budget.tokens).unwrap_or(usize::MAX);
    let pages = (tokens / SMALL_PAGE_TOKENS).clamp(1, 4);
    let (small, more) = match rank {
        ItemRank::Instruction => (400, 0),
        ItemRank::Goal => (160, 180),
        ItemRank::NextAction => (320, 130),
        ItemRank::Source | ItemRank::Status => (160, 60),
        ItemRank::Report => (160, 160),
        ItemRank::Constraint => (130, 76),
        ItemRank::BlockingQuestion
        | ItemRank::Rejected
        | ItemRank::WrongTurn
        | ItemRank::Landmine => (180, 60),
        ItemRank::Failure
        | ItemRank::Task
        | ItemRank::Decision
        | ItemRank::Proof
        | ItemRank::Read => (110, 60),
        ItemRank::File | ItemRank::Rest => (120, 40),
    };
    small + more * (pages - 1)
}

/// The characters that a point gets at most. A request may be a whole document; what became of it
/// matters more.
fn rank_length_max(rank: ItemRank, budget: Budget) -> usize {
    let tokens = usize::try_from(budget.tokens).unwrap_or(usize::MAX);
    match rank {
        ItemRank::Goal => (tokens / 2).min(LENGTH_MAX),
        ItemRank::NextAction | ItemRank::Status => tokens.min(LENGTH_MAX),
        ItemRank::Source
        | ItemRank::Instruction
        | ItemRank::Rejected
        | ItemRank::BlockingQuestion
        | ItemRank::Constraint
        | ItemRank::WrongTurn
        | ItemRank::Landmine
        | ItemRank::Failure
        | ItemRank::Task
        | ItemRank::Decision
        | ItemRank::Proof
        | ItemRank::Read
        | ItemRank::Report
        | ItemRank::File
        | ItemRank::Rest => LENGTH_MAX,
    }
}

/// Everything there is to tell, the most important first.
pub(super) fn entries_by_rank(material: &Material, budget: Budget) -> Vec<PageEntry<'_>> {
    let boot =
        material.startup.iter().flat_map(|boot| startup::startup_items(boot, material.client));
    let points = material.items.iter().map(Cow::Borrowed);
    let mut points: Vec<Cow<'_, BriefItem>> = boot.map(Cow::Owned).chain(points).collect();
    points.sort_by_key(|point| sort_key(point.rank));
    points.into_iter().map(|point| PageEntry::new(point, budget)).collect()
}
