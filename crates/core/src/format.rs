//! The format of a handoff document: its header, its sections, what is wrong with its form, and how
//! it is read, edited and written.

pub mod document;
pub mod finding;
pub mod header;
pub mod insert;
pub mod schema;
pub mod section;
pub mod shape;
pub mod stage;
