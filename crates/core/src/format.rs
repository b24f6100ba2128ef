//! The handoff format: header, sections and findings, and how documents are parsed, edited and
//! written.

pub mod document;
pub mod finding;
pub mod generated_section;
pub mod header;
pub mod schema;
pub mod section;
pub mod shape;
pub mod skeleton;
pub mod stage;
