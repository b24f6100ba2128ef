//! Handoffs: reading one from a document, its lifecycle, its citations and proofs, merging two
//! versions, and the graph between handoffs.

pub mod anchor;
pub mod check;
pub mod citation;
pub mod code_text;
pub mod delivery;
pub mod drift;
pub mod graph;
pub mod lifecycle;
pub mod merge;
pub mod note;
pub mod proof;
pub mod timeline;
pub mod topic;
pub mod trust;
mod view;

pub use view::{Handoff, Location};
