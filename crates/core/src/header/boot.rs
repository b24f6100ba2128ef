//! Boot actions: what a session does first. Typed, so that nothing in it can be a shell command.

use super::field;
use crate::shape::{Kind, Shape};

pub(super) static SHAPE: Shape = Shape {
    name: "boot actions",
    main: None,
    identity: &[],
    fields: &[
        field("skill", Kind::List(&Kind::Text), "Skills to load."),
        field("read", Kind::List(&Kind::Text), "Documents to read."),
        field("tasks", Kind::List(&Kind::Text), "Tasks to restore."),
        field("constraint", Kind::List(&Kind::Text), "What to keep to."),
    ],
};
