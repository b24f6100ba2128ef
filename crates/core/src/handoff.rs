//! Handoffs: a document seen as one, its lifecycle, what it cites and claims, how two texts of it
//! merge, and how handoffs are connected.

pub mod anchor;
pub mod check;
pub mod citation;
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
