//! The user's standing instructions, each with the handle that closes it.

use super::ItemSource;
use crate::brief::{BriefItem, ItemForm, ItemRank, quote};
use crate::session::instruction::Instruction;

/// An instruction is a sentence or two.
const LENGTH_MAX: usize = 400;

/// What the user told earlier sessions to keep to.
pub fn instruction_items<'i>(active: impl IntoIterator<Item = &'i Instruction>) -> Vec<BriefItem> {
    let origin = ItemSource::new("instructions".to_owned(), &["midstride", "dismiss"]);
    let point = |one: &Instruction| {
        let text = format!("{} ({})", quote::inline(&one.text, LENGTH_MAX), one.id.short());
        let point = origin.item(ItemRank::Instruction, "The user's instruction", text);
        BriefItem { form: ItemForm::Line, is_page_subject: true, ..point }
    };
    let mut points: Vec<BriefItem> = active.into_iter().map(point).collect();
    points.reverse();
    points
}
