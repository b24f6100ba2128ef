//! Builds briefing items from the user's standing instructions, each with the handle that dismisses
//! it.

use super::ItemSource;
use crate::brief::{BriefItem, ItemForm, ItemRank, quote};
use crate::session::instruction::Instruction;

/// Maximum length of an instruction, which is usually a sentence or two.
const LENGTH_MAX: usize = 400;

/// The active instructions that the user gave earlier sessions, in reverse order.
pub fn instruction_items<'i>(active: impl IntoIterator<Item = &'i Instruction>) -> Vec<BriefItem> {
    let origin = ItemSource::new("instructions".to_owned(), &["midstride", "dismiss"]);
    let to_item = |one: &Instruction| {
        let text = format!("{} ({})", quote::inline(&one.text, LENGTH_MAX), one.id.short());
        let item = origin.item(ItemRank::Instruction, "The user's instruction", text);
        BriefItem { form: ItemForm::Line, is_page_subject: true, ..item }
    };
    let mut items: Vec<BriefItem> = active.into_iter().map(to_item).collect();
    items.reverse();
    items
}
