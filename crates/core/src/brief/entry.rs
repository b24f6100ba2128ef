//! Briefing items sorted by importance, each with the length it may take.

use super::material::{BriefItem, Budget, ItemForm, ItemRank, Material};
use super::visible::VisibleText;
use super::{excerpt, quote, startup};
use crate::session::report::{CutPoints, ELLIPSIS};
use std::borrow::Cow;
use std::cell::OnceCell;

/// Maximum number of characters of any text.
const LENGTH_MAX: usize = 16_000;
/// The token budget of a small page. Larger pages give each item more space.
const SMALL_PAGE_TOKENS: usize = 500;

/// An item and the length it may take on the page.
#[derive(Clone, Debug)]
pub(super) struct PageEntry<'m> {
    pub(super) item: Cow<'m, BriefItem>,
    /// Its text as quoted on the page. Computed on demand, because most items do not fit on the
    /// page.
    body: OnceCell<VisibleText>,
    /// Where the text can be cut. Computed on demand.
    cuts: OnceCell<CutPoints>,
    /// The characters it gets before any other item gets more.
    pub(super) first_length: usize,
    /// Its maximum number of characters while other items need space.
    length_max: usize,
}

impl<'m> PageEntry<'m> {
    fn new(item: Cow<'m, BriefItem>, budget: Budget) -> Self {
        let first_length = first_length(item.rank, budget);
        // A document's beginning says what it is about. It gets more only if budget remains at the
        // end.
        let length_max = if item.is_beginning { 0 } else { rank_length_max(item.rank, budget) };
        let length_max = length_max.max(first_length);
        let (body, cuts) = (OnceCell::new(), OnceCell::new());
        Self { item, body, cuts, first_length, length_max }
    }

    /// Its text without hidden characters and without lines that have no content.
    fn body(&self) -> &VisibleText {
        self.body.get_or_init(|| match self.item.form {
            ItemForm::Line => {
                VisibleText { text: quote::line(&self.item.text), characters_truncated: 0 }
            }
            ItemForm::Quote => VisibleText::new(&excerpt::plain_text(&self.item.text), LENGTH_MAX),
        })
    }

    /// The length of its text, capped at its maximum.
    pub(super) fn capped_length(&self) -> usize {
        let length = || self.body().text.chars().count();
        match self.item.form {
            ItemForm::Line => self.first_length,
            ItemForm::Quote => length().clamp(self.first_length, self.length_max),
        }
    }

    /// The full length of its text, for when no other item needs the space.
    pub(super) fn total_length(&self) -> usize {
        match self.item.form {
            ItemForm::Line => self.first_length,
            ItemForm::Quote => self.body().text.chars().count(),
        }
    }

    /// Its full text.
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
        // The text may already have been shortened when the item was created.
        let is_cut = shown.text.contains(ELLIPSIS);
        VisibleText {
            characters_truncated: (shown.characters_truncated + cut).max(usize::from(is_cut)),
            ..shown
        }
    }

    /// Whether it shares a heading with the entry before it on the page.
    pub(super) fn continues(&self, before: &Self) -> bool {
        let (before, item) = (&before.item, &self.item);
        before.heading == item.heading
            && before.remark == item.remark
            && before.source == item.source
    }

    /// Its text, if it may be dropped when another item repeats it. Leading ranks are always shown,
    /// because readers look for them under their own heading. Items from sources other than the
    /// page's subject are always shown too.
    pub(super) fn repeatable(&self) -> Option<&str> {
        let leads = self.item.rank < ItemRank::WrongTurn || !self.item.is_page_subject;
        let is_quote = self.item.form == ItemForm::Quote;
        (!leads && is_quote).then(|| self.body().text.as_str()).filter(|body| !body.is_empty())
    }
}

/// The sort key of a rank. Items about the same piece of work stay together, source by source.
fn sort_key(rank: ItemRank) -> (u8, ItemRank) {
    if matches!(rank, ItemRank::Instruction | ItemRank::Rejected) {
        return (0, rank);
    }
    if rank.is_work() { (1, ItemRank::Source) } else { (2, rank) }
}

/// The characters that an item gets first. Larger pages give each item more.
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

/// The maximum number of characters of an item. A request may be an entire document, but its
/// outcome matters more.
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

/// All items of the material, most important first.
pub(super) fn entries_by_rank(material: &Material, budget: Budget) -> Vec<PageEntry<'_>> {
    let steps =
        material.startup.iter().flat_map(|steps| startup::startup_items(steps, &material.tools));
    let items = material.items.iter().map(Cow::Borrowed);
    let mut items: Vec<Cow<'_, BriefItem>> = steps.map(Cow::Owned).chain(items).collect();
    items.sort_by_key(|item| sort_key(item.rank));
    items.into_iter().map(|item| PageEntry::new(item, budget)).collect()
}
