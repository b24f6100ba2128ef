//! The user's standing instructions, each with the handle that closes it.

use super::Origin;
use crate::brief::{Form, Point, Rank, quote};
use crate::session::instruction::Instruction;

/// An instruction is a sentence or two.
const LENGTH_MAX: usize = 400;

/// What the user told earlier sessions to keep to.
pub fn of_instructions<'i>(active: impl IntoIterator<Item = &'i Instruction>) -> Vec<Point> {
    let origin = Origin::of("instructions".to_owned(), &["midstride", "dismiss"]);
    let point = |one: &Instruction| {
        let text = format!("{} ({})", quote::inline(&one.text, LENGTH_MAX), one.id.short());
        let point = origin.point(Rank::Instruction, "The user's instruction", text);
        Point { form: Form::Line, is_of_page: true, ..point }
    };
    let mut points: Vec<Point> = active.into_iter().map(point).collect();
    points.reverse();
    points
}
