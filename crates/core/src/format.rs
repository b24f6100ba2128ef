//! The format of a handoff document: its header, its sections, what is wrong with its form, and how
//! it is read, edited and written.

pub mod document;
pub mod finding;
pub mod generated_section;
pub mod header;
pub mod schema;
pub mod section;
pub mod shape;
pub mod stage;
